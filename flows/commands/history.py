"""`nightwatch history` and `nightwatch report`: the nights that were."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.running import show
from nightwatch_core.errors import StopTheNight
from tasks.wiring import nights

NightName = Annotated[
    str, typer.Argument(help="Name of a night or single run; empty: the newest night.")
]


def history(limit: Annotated[int, typer.Option(help="Nights to show.")] = 30) -> None:
    """List the nights that were."""
    names = ("Night", "Status", "Errors", "Known", "Analysed", "Issues", "Drafts", "Cost")
    table = Table(*names, box=None)
    for night in nights().history()[:limit]:
        cost = "unknown" if night.cost is None else f"${night.cost:.2f}"
        known = "–" if night.known is None else night.known
        numbers = (night.errors, known, night.analysed, night.issues, night.pulls)
        table.add_row(Text(night.id), night.status, *map(str, numbers), cost)
    Console().print(table)


def report(night: NightName = "") -> None:
    """Show a night's report again."""
    for kept in nights().reports():
        if kept.night.id == night or not (night or kept.night.id.startswith("one-")):
            show(kept)
            return
    if not night:
        raise StopTheNight("no night was kept yet: run `nightwatch night`")
    raise StopTheNight(f"no night {night[:80]!r} was kept: see `nightwatch history`")
