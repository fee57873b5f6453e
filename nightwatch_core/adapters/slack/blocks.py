"""Slack's blocks for the blocks of a report; nothing makes no block.

Links are text, not buttons: a button of an app without a server shows a warning sign.
"""

import re
from collections.abc import Sequence

from pydantic import JsonValue

from nightwatch_core.adapters.slack.limits import HEADER, TABLE, TABLE_ROWS, weight
from nightwatch_core.adapters.slack.mrkdwn import code, fenced, link, mrkdwn, plain, prose, size
from nightwatch_core.report import blocks as report
from nightwatch_core.report.error_rows import Row
from nightwatch_core.report.excerpts import Excerpt, code_text
from nightwatch_core.report.publications import Publication
from nightwatch_core.text.escaping import is_web
from nightwatch_core.text.units import NOT_SHOWN, plural

Block = dict[str, JsonValue]
Blocks = tuple[Block, ...]
COLUMNS: tuple[tuple[str, dict[str, JsonValue]], ...] = (
    ("#", {"align": "right"}),
    ("Error", {"is_wrapped": True}),
    ("Count", {"align": "right"}),
    ("Cause", {"is_wrapped": True}),
    ("Confidence", {"align": "left"}),
    ("Done", {"is_wrapped": True}),
)
_REST = 60  # characters of the line that ends a cut list
_ADDRESS = 200  # characters of an excerpt's address
_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[\w.@+-]+/)+(?=[\w.@+-])")
_REMARK = 230  # characters of what is set apart below prose


def header(text: str) -> Blocks:
    """A large line; `text` may hold anything."""
    shown = plain(text, HEADER)
    words: JsonValue = {"type": "plain_text", "text": shown, "emoji": False}
    return ({"type": "header", "text": words},) if shown else ()


def section(text: str) -> Blocks:
    """Escaped text."""
    return ({"type": "section", "text": _mrkdwn(text)},) if text else ()


def context(text: str) -> Blocks:
    """Escaped text in small print."""
    return ({"type": "context", "elements": [_mrkdwn(text)]},) if text else ()


def table(shown: report.ErrorTable, room: int) -> Blocks:
    """As many rows as `room` characters take, and how many there are more."""
    room = min(room, TABLE) - _REST
    rows = [_cells(*(name for name, _ in COLUMNS))]
    for row in shown.items:
        cells = _row(row)
        room -= weight(cells)
        if room < 0 or len(rows) == TABLE_ROWS:
            break
        rows.append(cells)
    if len(rows) == 1:
        return ()
    settings: list[JsonValue] = [setting for _, setting in COLUMNS]
    filled: Block = {"type": "table", "column_settings": settings, "rows": [*rows]}
    more = len(shown.items) - (len(rows) - 1) + shown.more
    return (filled, *(context(NOT_SHOWN.format(more=more)) if more else ()))


def section_text(shown: report.Section, share: int) -> str:
    """A section under its title in at most `share` characters; empty where it has no blocks."""
    room = share - size(shown.title) - 4
    text = "\n".join(filter(None, (_text(block, room) for block in shown.blocks)))
    return f"*{mrkdwn(shown.title)}*\n{text}" if text and shown.title else text


def _text(block: report.Block, room: int) -> str:
    match block:
        case report.Facts():
            texts = (f"{mrkdwn(fact.name, 60)}: {mrkdwn(fact.text, 150)}" for fact in block.items)
            return " · ".join(texts)
        case report.Paragraphs():
            remark = f"\n_{mrkdwn(block.remark, _REMARK - 30)}_" if block.remark else ""
            return prose(block.text, room - (_REMARK if remark else 0)) + remark
        case report.Verbatim():
            return fenced(block.text, room)
        case report.Command():
            return f"{block.name}: {code(block.text, 400)}"
        case report.Paths():
            return f"{block.name}: {', '.join(code(each, 300) for each in block.items)}"
        case report.Bullets():
            each_room = (room - _REST) // max(1, len(block.items)) - 4
            return bulleted([mrkdwn(each, each_room) for each in block.items], room, block.more)
        case report.Entries():
            return bulleted([_entry(each) for each in block.items], room, block.more)
        case report.Publications():
            return bulleted([publication(each) for each in block.items], room, block.more)
        case report.DropReasons():
            return bulleted([_drop_reason(each) for each in block.items], room, block.more)
        case report.Excerpts():
            each_room = (room - _REST) // max(1, len(block.items))
            texts = (_excerpt(each, each_room) for each in block.items)
            return "\n".join((*texts, *((block.rest,) if block.more else ())))
        case report.ErrorTable() | report.SightTable() | report.Findings() | report.Table():
            return ""  # they have messages of their own, or are left out of Slack's view


def bulleted(texts: Sequence[str], room: int, more: int = 0) -> str:
    """A list of escaped texts in at most `room` characters; `more` are missing already.

    >>> print(bulleted(("a", "b" * 40), 80))
    • a
    • and 1 more: see report.json
    """
    kept: list[str] = []
    for at, each in enumerate(texts):
        room -= size(each) + 3
        if room < _REST:
            more += len(texts) - at
            break
        kept.append(f"• {each}")
    if more:
        kept.append(f"• {NOT_SHOWN.format(more=more)}")
    return "\n".join(kept)


def publication(each: Publication) -> str:
    """Something published, with its address on the web, or why not."""
    name = link(each.text, each.address if is_web(each.address) else "")
    return f"{name}: {mrkdwn(without_folders(each.note), 160)}" if each.note else name


def without_folders(text: str) -> str:
    """The text with files of this machine by their names alone; where they lie is nobody's news.

    >>> without_folders("/var/lib/me/ignore.yml line 4: see https://git.example/a/b.md")
    'ignore.yml line 4: see https://git.example/a/b.md'
    """
    return _FOLDERS.sub("", text)


def whole_lines(text: str, limit: int) -> str:
    r"""The first lines that fit; a line cut in two could leave half a link.

    >>> whole_lines("one\ntwo", 5)
    'one'
    """
    while size(text) > limit:
        text = text.rpartition("\n")[0]
    return text


def _entry(entry: report.Entry) -> str:
    address = entry.address if is_web(entry.address) else ""
    head = link(entry.head, address) if address else f"*{mrkdwn(entry.head, 200)}*"
    text = f": {mrkdwn(without_folders(entry.text), 300)}" if entry.text else ""
    small = f" ({mrkdwn(entry.small, 200)})" if entry.small else ""
    return f"{head}{text}{small}"


def _drop_reason(each: report.DropReason) -> str:
    seen = f"{plural(each.groups, 'group')}, seen {plural(each.count, 'time')}"
    return f"{seen}: {mrkdwn(each.reason, 120)}"


def _excerpt(excerpt: Excerpt, room: int) -> str:
    remark = f" ({mrkdwn(excerpt.remark, 20)})" if excerpt.remark else ""
    note = f": {mrkdwn(excerpt.note, 150)}" if excerpt.note else ""
    linked = is_web(excerpt.address) and size(excerpt.address) <= _ADDRESS
    place = link(excerpt.place, excerpt.address) if linked else code(excerpt.place, 130)
    head = f"{place}{remark}{note}"
    left = room - size(head) - 2
    quoted = fenced(code_text(excerpt.lines), left) if left > _REST else ""
    return f"{head}\n{quoted}" if quoted else head


def _row(row: Row) -> JsonValue:
    where = f" in {row.where}" if row.where else ""
    return _cells(
        str(row.rank),
        plain(f"{row.error}{where}", 110),
        f"{row.count:,}",
        plain(row.cause, 150),
        row.sure,
        plain(row.done, 90),
    )


def _cells(*texts: str) -> JsonValue:
    return [{"type": "raw_text", "text": text or "–"} for text in texts]


def _mrkdwn(text: str) -> Block:
    """`verbatim` keeps Slack from finding addresses and names in the text."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}
