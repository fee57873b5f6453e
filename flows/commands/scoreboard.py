"""`nightwatch scoreboard`: how right earlier analyses proved, and how sure they had said to be."""

from itertools import islice
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.running import Sample
from nightwatch_core.intake.default_ports import SAMPLE, is_sample
from nightwatch_core.memory.lessons.all_lessons import archived_lessons, lessons_in
from nightwatch_core.memory.outcomes.draft_rate import with_drafts
from nightwatch_core.memory.outcomes.scoreboard import scoreboard as scoreboard_of
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.outcome import Scoreboard
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.report.blocks import Table as Cells
from nightwatch_core.report.scoreboard_text import reliability, sentences, sorts
from tasks.wiring import knowledge_of, nights

LOOKED_THROUGH = 30  # reports
AsJson = Annotated[bool, typer.Option("--json", help="Print it as JSON.")]


def scoreboard(sample: Sample = False, as_json: AsJson = False) -> None:
    """Show how right earlier analyses proved, by what they said, knew and cost."""
    knowledge = knowledge_of(NightOptions(source=SAMPLE if sample else "file"))
    lessons = (*lessons_in(knowledge), *archived_lessons(knowledge))
    board = with_drafts(scoreboard_of(lessons), _own_items(sample=sample))
    if as_json:
        typer.echo(board.model_dump_json(indent=2))
    else:
        draw(board, Console())


def _own_items(*, sample: bool) -> tuple[OwnItem, ...]:
    """Our issues and pull requests as the newest night of this kind found them."""
    newest = islice(nights().reports(), LOOKED_THROUGH)
    kept = (one.outcomes for one in newest if is_sample(one.options) == sample)
    return next(filter(None, kept), ())


def draw(board: Scoreboard, console: Console) -> None:
    """Both tables and what they say; only the sentence that says when, before there is anything."""
    if board.found.times:
        for table in (reliability(board), sorts(board)):
            console.print(_drawn(table))
            console.print()
    for sentence in sentences(board):
        console.print(Text(sentence))


def _drawn(cells: Cells) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    for at, name in enumerate(cells.columns):
        table.add_column(Text(name), justify="right" if at else "left", overflow="fold")
    for row in cells.rows:
        table.add_row(*map(Text, row))
    return table
