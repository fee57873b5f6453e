"""The report in a terminal: good at 80 columns and at 120, in colour and without."""

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from nightwatch_core.models.report import RunReport
from nightwatch_core.publish import blocks
from nightwatch_core.publish.blocks import BRIEF, Block, Finding, ReportView, Section
from nightwatch_core.publish.finding import NO_CAUSE
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.plain_text import CutList, shortened
from nightwatch_core.text.words import last_segment

WIDE = 100  # columns from which the table has all of its own
COLOURS = {"high": "green", "medium": "yellow", "low": "red"}
STANDING = {"calm": "bold green", "good": "bold", "degraded": "bold yellow", "failed": "bold red"}
STYLES = {"failures": "red", "complaints": "yellow"}  # of what a section lists
BARS = "▁▂▃▄▅▆▇█"
Parts = Iterator[RenderableType]


class NightReport:
    """A rich renderable of one night: `Console().print(NightReport(report))`."""

    def __init__(self, report: RunReport) -> None:
        """Take the report; it is laid out when it is printed, for that console's width."""
        self._view = view(report, BRIEF)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Everything in reading order."""
        yield from _top(self._view)
        for section in self._view.sections:
            yield Text()
            yield from _section(section, options.max_width)


def sparkline(counts: tuple[int, ...]) -> str:
    """Bars as characters; an hour with errors never looks empty.

    >>> sparkline((0, 1, 50, 100))
    ' ▁▄█'
    """
    top = max(counts, default=0)
    steps = len(BARS) - 1
    return "".join(BARS[count * steps // top] if count else " " for count in counts)


def _top(shown: ReportView) -> Parts:
    for text in shown.banner:
        yield Text(text, "dim")
    for text in shown.warnings:
        yield Text(f"! {text}", STANDING[shown.standing])
    yield Text()
    yield Text(" · ".join(filter(None, (shown.title, shown.source))), "dim")
    yield Text(shown.headline, STANDING[shown.standing])


def _section(section: Section, width: int) -> Parts:
    if section.title:
        yield Text(section.title, "bold underline")
    for block in section.blocks:
        columns = 2 if section.title and not isinstance(block, blocks.Findings) else 0
        for part in _block(block, width, STYLES.get(section.kind, "")):
            yield _indented(part, columns)
        if isinstance(block, CutList) and block.rest:
            yield _indented(Text(block.rest, "dim"))


def _block(block: Block, width: int, style: str) -> Iterable[RenderableType]:
    match block:
        case blocks.ErrorTable():
            return (_error_table(block, width),)
        case blocks.Findings():
            return (part for item in block.items for part in _finding(item))
        case blocks.Entries():
            return (part for item in block.items for part in _entry(item, style))
        case blocks.Publications():
            return map(_publication, block.items)
        case blocks.Bullets():
            return (Text(item, style) for item in block.items)
        case blocks.Facts():
            return (_named(fact.name, fact.text) for fact in block.items)
        case blocks.Paragraphs():
            return (Text(block.text),)
        case blocks.Command():
            return (_named(block.name, block.text),)
        case blocks.Excerpts():
            return (part for item in block.items for part in _excerpt(item))
        case blocks.Verbatim() | blocks.Table():
            return ()  # what a terminal has no room for is left out of its view


def _finding(finding: Finding) -> Parts:
    yield Text()
    yield Text(f"{finding.rank}. {finding.title}", "bold")
    for part in (*_about(finding), *_reasons(finding.sections)):
        yield _indented(part, 4)


def _about(finding: Finding) -> Parts:
    if finding.error:
        yield Text(finding.error)
    seen = "".join(f"{text} · " for text in (finding.where, finding.seen) if text)
    if finding.unknown:
        yield Text.assemble((seen, "dim"), (NO_CAUSE, COLOURS["low"]))
        yield Text(finding.gist)
    else:
        yield _sureness(finding, f"{seen}confidence: ")
    if any(finding.hourly):
        yield Text(f"{sparkline(finding.hourly)}  by hour", "dim")
    if finding.known:
        yield Text(finding.known, "cyan")
    if finding.news:
        yield Text(finding.news, "cyan")
    if finding.team:
        yield Text(finding.team, "bold yellow" if finding.regression else "dim")
    yield from (_named(fact.name, fact.text) for fact in finding.glance)


def _sureness(finding: Finding, seen: str) -> Text:
    proved = f" ({finding.proved})" if finding.proved else ""
    confidence = (finding.confidence, COLOURS[finding.confidence])
    of_what = finding.sureness.removeprefix(finding.confidence)
    doubt = f"; {finding.doubt}" if finding.doubt else ""
    return Text.assemble((seen, "dim"), confidence, (f"{of_what}{doubt}{proved}", "dim"))


def _reasons(sections: tuple[Section, ...]) -> Parts:
    """The sections of a finding; a list of one is a line, named as the list."""
    for section in sections:
        for block in section.blocks:
            if not isinstance(block, blocks.Bullets):
                yield from _block(block, 0, "")
            elif len(block.items) == 1:
                yield _named(section.title, block.items[0])
            else:
                yield Text(f"{section.title}:", "bold")
                yield from (_indented(Text(f"- {item}", overflow="fold")) for item in block.items)
            if isinstance(block, CutList) and block.more:
                yield Text(f"and {block.more:,} more in the report", "dim")


def _error_table(table: blocks.ErrorTable, width: int) -> Grid:
    """Columns where there is room for them; else the cells of an error one below the other."""
    grid = Grid(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False, expand=True)
    is_wide = width >= WIDE
    longest = max(len(name) for row in table.items for name in (_short(row.error), row.where))
    names = min(width * 3 // 10, max(5, longest))
    grid.add_column("#", justify="right", no_wrap=True)
    grid.add_column("Error", width=names if is_wide else None, ratio=None if is_wide else 1)
    grid.add_column("Count", justify="right", no_wrap=True)
    if is_wide:
        grid.add_column("Cause", ratio=7)
        grid.add_column("Conf.", no_wrap=True)
        grid.add_column("Done", ratio=5)
    for row in table.items:
        name = Text(shortened(_short(row.error), 3 * names if is_wide else 2 * width), "bold")
        error = Text("\n").join(filter(None, (name, Text(row.where, "dim"))))
        cause = Text(shortened(row.cause, width if is_wide else 2 * width))
        sure = Text(row.sure, "dim" if row.unknown else COLOURS[row.confidence])
        done = Text(row.done, "dim" if row.known else "")
        cells: tuple[Text, ...] = (cause, sure, done)
        if not is_wide:
            note = Text(" · ").join((*((sure,) if not row.unknown else ()), done))
            lines = (name, note) if row.known else (error, cause, note)
            error, cells = Text("\n").join(lines), ()
            if row.known and row.unknown:  # nothing to do about it but wait
                name = Text(shortened(_short(row.error), width * 2 // 5), "bold")
                error = Text(" · ", no_wrap=True, overflow="ellipsis").join((name, done))
        grid.add_row(str(row.rank), error, f"{row.count:,}", *cells)
    return grid


def _short(error: str) -> str:
    """Class without its packages, and message: what a column has room for.

    >>> _short("shop.errors.NotFound: a.b"), _short("Net::ReadTimeout")
    ('NotFound: a.b', 'ReadTimeout')
    """
    name, colon, message = error.partition(": ")
    return f"{last_segment(name)}{colon}{message}"


def _excerpt(excerpt: blocks.Excerpt) -> Parts:
    mark = "✓" if excerpt.verified else "·"
    yield Text(f"{mark} {excerpt.place}  {excerpt.note}".rstrip(), "cyan")
    if excerpt.lines:
        yield _indented(Text(blocks.code_text(excerpt.lines), "dim", overflow="fold"), 4)


def _entry(entry: blocks.Entry, style: str) -> Parts:
    text = f": {entry.text}" if entry.text else ""
    yield Text.assemble((entry.head, f"bold {style}".strip()), text)
    for small in filter(None, (entry.small, *entry.more)):
        yield _indented(Text(small, "dim"))


def _publication(publication: blocks.Publication) -> Text:
    is_ours = publication.state == "published" or is_web(publication.address)
    note = " · ".join(filter(None, (publication.note, publication.address * is_ours)))
    style = "" if publication.state == "published" else "dim"
    return Text(f"→ {publication.text}{': ' if note else ''}{note}", style)


def _named(name: str, text: str) -> Text:
    return Text.assemble((f"{name}: ", "bold"), text, overflow="fold")


def _indented(item: RenderableType, columns: int = 2) -> RenderableType:
    return Padding(item, (0, 0, 0, columns), expand=False) if columns else item
