"""The report in a terminal: good at 80 columns and at 120, in colour and without."""

from collections.abc import Callable, Iterable

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nightwatch_core.models.report import RunReport
from nightwatch_core.report.code import as_text
from nightwatch_core.report.values import BRIEF, Card, Line, ReportView, Row
from nightwatch_core.report.view import view
from nightwatch_core.text.words import Some, plural

NAME = 28  # columns that a name may claim before it is broken
WIDE = 120  # columns from which the table gives every fact a column of its own
COLOURS = {"high": "green", "medium": "yellow", "low": "red"}
STANDING = {"calm": "bold green", "good": "bold", "degraded": "bold yellow", "failed": "bold red"}
BARS = "▁▂▃▄▅▆▇█"


class NightReport:
    """A rich renderable of one night: `Console().print(NightReport(report))`."""

    def __init__(self, report: RunReport) -> None:
        """Take the report; it is laid out when it is printed, for that console's width."""
        self._view = view(report, BRIEF)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Everything in reading order."""
        for section in SECTIONS:
            yield from section(self._view, options.max_width)


def sparkline(counts: tuple[int, ...]) -> str:
    """Bars as characters; an hour with errors never looks empty.

    >>> sparkline((0, 1, 50, 100))
    ' ▁▄█'
    """
    top = max(counts, default=0)
    steps = len(BARS) - 1
    return "".join(BARS[count * steps // top] if count else " " for count in counts)


def _top(shown: ReportView, width: int) -> Iterable[RenderableType]:
    for text in shown.banner:
        yield Text(text, "dim")
    for text in shown.warnings:
        yield Text(f"! {text}", STANDING[shown.standing])
    yield Text()
    yield Text(shown.headline, STANDING[shown.standing])


def _table(shown: ReportView, width: int) -> Iterable[RenderableType]:
    if not shown.rows.items:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, expand=True)
    wide = width >= WIDE
    table.add_column("#", justify="right", no_wrap=True)
    errors, places = _widths(shown, width)
    table.add_column("Error", width=errors if wide else max(errors, places), overflow="fold")
    if wide:
        table.add_column("Where", width=places, overflow="fold")
    table.add_column("Count", justify="right", no_wrap=True)
    table.add_column("Cause", ratio=9 if wide else 7, overflow="fold")
    table.add_column("Confidence" if wide else "Sure", no_wrap=True)
    table.add_column("Done", ratio=5, overflow="fold")
    for row in shown.rows.items:
        table.add_row(*_cells(row, wide=wide))
    yield Text()
    yield table
    yield from _rest(shown.rows.rest)


def _widths(shown: ReportView, width: int) -> tuple[int, int]:
    """Columns that the names of errors and of transactions need, within reason."""
    most = min(NAME, width * 3 // 10)
    errors = max(len(row.error) for row in shown.rows.items)
    places = max(len(row.where) for row in shown.rows.items)
    return min(most, max(5, errors)), min(most, max(5, places))


def _cells(row: Row, *, wide: bool) -> Iterable[RenderableType]:
    error, where = Text(row.error, "bold"), Text(row.where, "dim")
    yield str(row.rank)
    yield from (error, where) if wide else (Text("\n").join(filter(None, (error, where))),)
    yield f"{row.count:,}"
    yield Text(_cut(row.cause, 130 if wide else 90))
    yield Text(row.confidence, COLOURS[row.confidence])
    yield Text(_cut(row.done, 90), "dim" if row.known else "")


def _cards(shown: ReportView, width: int) -> Iterable[RenderableType]:
    for card in shown.cards.items:
        yield Text()
        yield Text.assemble((f"{card.rank}. ", "bold"), (card.title, "bold"))
        for each in _card(card):
            yield _indented(each, 4)
    yield from _rest(shown.cards.rest)


def _card(card: Card) -> Iterable[RenderableType]:
    where = f" in {card.where}" if card.where else ""
    seen = f" · {card.facts[0].text}" if card.facts else ""
    yield Text(f"{card.error}{where}{seen}", "dim")
    if any(card.hourly):
        yield Text(f"{sparkline(card.hourly)}  by hour", "dim")
    if card.known:
        yield Text(" · ".join(filter(None, (card.known, card.proved))), "cyan")
    if card.news:
        yield Text(card.news, "cyan")
    if card.team:
        yield Text(f"Errors Inbox: {card.team}", "bold yellow" if card.regression else "dim")
    yield Text(card.cause)
    yield from () if card.known else _reasons(card)
    for done in card.done:
        note = " · ".join(filter(None, (done.note, done.address)))
        yield Text(f"→ {done.text}{': ' if note else ''}{note}", "" if done.ok else "dim")
    if card.again:
        yield Text(f"Again: {card.again}", "dim")


def _reasons(card: Card) -> Iterable[RenderableType]:
    """Why we believe the cause, and what can be done."""
    for snippet in card.evidence.items[:3]:
        mark = "✓" if snippet.verified else "·"
        yield Text(f"{mark} {snippet.place}  {snippet.note}".rstrip(), "cyan")
        if snippet.lines:
            yield _indented(Text(as_text(snippet.lines[:4]), "dim", overflow="fold"), 4)
    for label, texts in (("Suspect", card.suspects[:1]), ("Next", card.next_steps[:2])):
        for text in texts:
            yield Text.assemble((f"{label}: ", "bold"), text)
    files = ", ".join(diff.path for diff in card.fix.items)
    confidence = (card.confidence, COLOURS[card.confidence])
    fix = f"yes, in {files}" if files else "no"
    proved = f" ({card.proved})" if card.proved else ""
    yield Text.assemble(("Fix: ", "bold"), fix, ("  Confidence: ", "bold"), confidence, proved)


def _lists(shown: ReportView, width: int) -> Iterable[RenderableType]:
    yield from _list("Failed", shown.failures, style="red")
    yield from _list("Patterns", shown.patterns)
    yield from _list("Ignore rules you might add", shown.suggestions)
    yield from _list("What became of earlier proposals", shown.followed, shown.outcomes)


def _list(name: str, *lists: Some[Line], style: str = "") -> Iterable[RenderableType]:
    if any(lines.items for lines in lists):
        yield from _heading(name)
    for lines in lists:
        for each in lines.items:
            text = f": {each.text}" if each.text else ""
            yield _indented(Text.assemble((each.head, f"bold {style}".strip()), text))
            for small in filter(None, (each.small, *each.more)):
                yield _indented(Text(small, "dim"), 4)
        yield from _rest(lines.rest)


def _dropped(shown: ReportView, width: int) -> Iterable[RenderableType]:
    if not shown.dropped_groups:
        return
    yield from _heading(f"Not analysed: {plural(shown.dropped_groups, 'error group')}")
    for bunch in shown.dropped.items:
        examples = ", ".join(each.error for each in bunch.examples.items)
        more = f" and {bunch.examples.more:,} more" if bunch.examples.more else ""
        head = (f"{bunch.groups:,}  {bunch.reason}", "bold")
        yield _indented(Text.assemble(head, f": {examples}{more}"))
    yield from _rest(shown.dropped.rest)


def _remarks(shown: ReportView, width: int) -> Iterable[RenderableType]:
    if shown.elsewhere.items:
        yield from _heading("Published for other errors")
        for done in shown.elsewhere.items:
            yield _indented(Text(f"{done.text} {done.note} {done.address}".strip()))
        yield from _rest(shown.elsewhere.rest)
    if shown.rejected:
        yield from _heading(f"{plural(shown.rejected, 'record')} could not be read")
        for each in shown.rejects.items:
            yield _indented(Text(f"{each.head}: {each.text}"))
        where = f"all of them in {shown.files[-1]}" if shown.files else shown.rejects.rest
        yield _indented(Text(where, "dim"))
    if shown.complaints.items:
        yield from _heading("To put right")
        for text in shown.complaints.items:
            yield _indented(Text(text, "yellow"))
        yield from _rest(shown.complaints.rest)


def _end(shown: ReportView, width: int) -> Iterable[RenderableType]:
    yield Text()
    if shown.learned:
        yield Text(shown.learned)
    yield Text.assemble(("Used: ", "bold"), shown.spent)
    if shown.code_cache:
        yield Text.assemble(("Code cache: ", "bold"), shown.code_cache)
    if shown.again:
        yield Text.assemble(("One error again: ", "bold"), shown.again)
    if shown.capture:
        yield Text.assemble(("Capture what was learned: ", "bold"), shown.capture)
    if shown.files:
        yield Text.assemble(("Report: ", "bold"), shown.files[0], overflow="fold")


def _heading(text: str) -> Iterable[RenderableType]:
    yield Text()
    yield Text(text, "bold underline")


def _rest(text: str) -> Iterable[RenderableType]:
    if text:
        yield _indented(Text(text, "dim"))


def _indented(each: RenderableType, columns: int = 2) -> RenderableType:
    return Padding(each, (0, 0, 0, columns), expand=False)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


SECTIONS: tuple[Callable[[ReportView, int], Iterable[RenderableType]], ...] = (
    _top,
    _table,
    _cards,
    _lists,
    _dropped,
    _remarks,
    _end,
)
