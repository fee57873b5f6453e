"""The report as one HTML page: no scripts, nothing loaded from elsewhere, everything escaped."""

from collections.abc import Iterable
from functools import cache
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from nightwatch_core.models.report import SINGLE_RUN, NightRecord, RunReport
from nightwatch_core.publish.blocks import FULL
from nightwatch_core.report.view import view
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.markers import Permalinks
from nightwatch_core.text.plain_text import moment, money, plural
from nightwatch_core.text.words import pieces

HEIGHT = 36  # of the sparkline, in its own units
PITCH = 5  # from bar to bar
PLOTTED = 90  # nights
UNNAMED = "Nights without errors"  # of which nobody knows the application
LINE_KINDS = {"+": "added", "-": "removed", "@@": "gap", "…": "gap"}


def as_html(report: RunReport) -> str:
    """Return the whole report as one self-contained page."""
    return _environment().get_template("page.html").render(report=view(report, FULL))


class AppNights(NamedTuple):
    """The nights of an application, newest first, and the folders of their reports."""

    app: str
    nights: tuple[tuple[str, NightRecord], ...]

    @property
    def plots(self) -> tuple[tuple[str, tuple[int, ...], tuple[str, ...]], ...]:
        """Return the name, the heights and the labels of each plot, the oldest night first."""
        rows = [record for _, record in reversed(self.nights[:PLOTTED])]
        made = (
            ("Error groups, last night", [row.errors for row in rows], "{:,}"),
            ("Cost, last night", [row.cost or 0.0 for row in rows], "${:,.2f}"),
            ("Fixes merged so far", [*accumulate(row.merged for row in rows)], "{:,}"),
            ("Fixes verified so far", [*accumulate(row.verified for row in rows)], "{:,}"),
        )
        return tuple(
            (
                f"{name}: {text.format(values[-1])}",
                tuple(round(value * 100) for value in values),
                tuple(f"{row.id}: {text.format(v)}" for row, v in zip(rows, values, strict=True)),
            )
            for name, values, text in made
        )


def as_index(nights: Iterable[tuple[str, NightRecord]]) -> str:
    """Return one page of all nights, an application after the other; `nights` come newest first."""
    listed = [(folder, item) for folder, item in nights if not item.id.startswith(SINGLE_RUN)]
    keys = {item.night.kind.key: item.app for _, item in listed if item.night and item.app}
    by_app: dict[str, list[tuple[str, NightRecord]]] = {}
    for folder, item in listed:
        key = item.night.kind.key if item.night else ""
        by_app.setdefault(item.app or keys.get(key, "") or UNNAMED, []).append((folder, item))
    apps = tuple(AppNights(app, tuple(rows)) for app, rows in sorted(by_app.items()))
    return _environment().get_template("index.html").render(apps=apps)


def bars(counts: tuple[int, ...]) -> tuple[tuple[int, int, int], ...]:
    """Return place and height of each bar of a sparkline; small counts stay visible.

    >>> bars((0, 1, 100))
    ((0, 36, 0), (5, 34, 2), (10, 0, 36))
    """
    top = max(counts, default=0) or 1
    heights = (max(2, count * HEIGHT // top) if count > 0 else 0 for count in counts)
    return tuple((at * PITCH, HEIGHT - height, height) for at, height in enumerate(heights))


def prose(text: str, links: Permalinks | None = None) -> Markup:
    """Text with `code in backticks`, paths and names set as code, places and commits as links.

    >>> prose("`a<b` & c in a/b.py:3")
    Markup('<code>a&lt;b</code> &amp; c in <code>a/b.py:3</code>')
    """
    return Markup("").join(
        _code(part, links) if is_code else escape(part) for part, is_code in pieces(text)
    )


def _code(text: str, links: Permalinks | None) -> Markup:
    code = Markup("<code>{}</code>").format(text)
    address = links.code(text) if links else ""
    linked = Markup('<a href="{}" rel="noreferrer">{}</a>')
    return linked.format(address, code) if is_web(address) else code


def address_of(address: str) -> str:
    """Return the link's target if it is an http(s) address or a local file; else nothing.

    >>> address_of("https://git.example/1"), address_of("/tmp/a b.md"), address_of("javascript:x")
    ('https://git.example/1', 'file:///tmp/a%20b.md', '')
    """
    if is_web(address):
        return address
    local = address.startswith("/") and not address.startswith("//")
    return f"file://{quote(address, errors='replace')}" if local else ""


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("nightwatch_core.adapters.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "bars": bars,
        "money": money,
        "moment": moment,
        "prose": prose,
        "href": address_of,
        "plural": plural,
        "line_kind": lambda row: "failing" if row.is_failing else LINE_KINDS.get(row.mark, ""),
        "type": lambda block: type(block).__name__,
    }
    environment.globals |= {"height": HEIGHT, "pitch": PITCH}
    return environment
