"""A first look in a terminal, in colour and without."""

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from nightwatch_core.first_look import sentences
from nightwatch_core.first_look.limits import ERROR, SHOWN_ERRORS, WHERE
from nightwatch_core.models.first_look import FirstLook, GlancedError
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import first


class FirstLookText:
    """A rich renderable: `Console().print(FirstLookText(look))`."""

    def __init__(self, look: FirstLook) -> None:
        """Take the look; it is laid out when it is printed, for that console's width."""
        self._look = look

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Everything in reading order."""
        look = self._look
        yield from _block("Read", sentences.content_lines(look.contents))
        yield from _block("Not read", sentences.unread_lines(look.contents), "yellow")
        yield from _block("What can be read", sentences.help_lines(look.contents))
        if look.contents.records:
            yield from _block("Errors", sentences.group_lines(look))
            yield Padding(_table(look), (0, 0, 1, 2), expand=False)
            yield from _block("Code", sentences.checkout_lines(look))
        if look.errors:
            yield from _block("A night over it", sentences.cost_lines(look.estimate))


def _block(title: str, lines: Iterable[str], style: str = "") -> Iterator[RenderableType]:
    shown = tuple(lines)
    if shown:
        yield Text(title, "bold underline")
        for text in shown:
            yield Padding(Text(text, style), (0, 0, 0, 2), expand=False)
        yield Text()


def _table(look: FirstLook) -> RenderableType:
    """Errors as a night ranks them, each with the place it leads to below it."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    has_users = any(error.group.users is not None for error in look.errors)
    table.add_column("Times", justify="right", no_wrap=True)
    if has_users:
        table.add_column("Users", justify="right", no_wrap=True)
    table.add_column("Error", overflow="fold")
    shown = first(look.errors, SHOWN_ERRORS)
    for error in shown.items:
        users = "" if error.group.users is None else f"{error.group.users:,}"
        counts = (f"{error.group.occurrences:,}", *([users] if has_users else []))
        table.add_row(*counts, _error(error))
    if look.groups > len(shown.items):
        rest = Text(f"and {look.groups - len(shown.items):,} more", "dim")
        table.add_row(*([""] * (1 + has_users)), rest)
    return table


def _error(error: GlancedError) -> Text:
    words = ": ".join(filter(None, (error.group.error_class, error.group.message)))
    place = Text(line(sentences.place_of(error), WHERE), "dim")
    return Text(line(words, ERROR)).append("\n").append_text(place)
