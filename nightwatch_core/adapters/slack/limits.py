"""What Slack refuses: every limit of the blocks we send, checked before it is asked.

slack_sdk checks some of them, and only for its own classes; nobody documents the limit on a whole
message: about 12,000 characters came through and 13,000 did not, so that we stay well below.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nightwatch_core.adapters.slack.mrkdwn import size

Block = Mapping[str, Any]
BUDGET = 9_000  # characters of all texts and addresses of a message
FALLBACK = 3_500  # of the text that stands for the blocks; chat.update refuses 4,000
LIMITS: Mapping[str, int] = {
    "blocks": 50,
    "block_id": 255,
    "header": 150,
    "section": 3_000,
    "fields": 10,
    "field": 2_000,
    "context": 10,
    "context text": 3_000,
    "actions": 25,
    "button": 75,
    "button url": 3_000,
    "button value": 2_000,
    "action_id": 255,
    "tables": 1,
    "table rows": 100,
    "table columns": 20,
    "table characters": 10_000,
}
_SHOWN = frozenset({"text", "url", "alt_text", "title", "value"})
_KEYS: Mapping[str, frozenset[str]] = {
    "header": frozenset({"text"}),
    "section": frozenset({"text", "fields", "accessory", "expand"}),
    "context": frozenset({"elements"}),
    "divider": frozenset(),
    "actions": frozenset({"elements"}),
    "table": frozenset({"rows", "column_settings"}),
}


def complaints(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Why Slack would refuse these blocks, or we would not risk it; empty when all is well."""
    return tuple(_all(blocks))


def weight(value: object) -> int:
    """Characters of all texts and addresses, however deep."""
    if isinstance(value, Mapping):
        return sum(
            size(each) if isinstance(each, str) and key in _SHOWN else weight(each)
            for key, each in value.items()
        )
    return sum(map(weight, value)) if isinstance(value, list | tuple) else 0


def _all(blocks: Sequence[Block]) -> Iterator[str]:
    yield from _count("blocks", len(blocks), "blocks", 1)
    if (total := weight(blocks)) > BUDGET:
        yield f"blocks: {total:,} characters in all, at most {BUDGET:,}"
    tables = [each for each in blocks if each.get("type") == "table"]
    yield from _count("blocks", len(tables), "tables", 0)
    cells = sum(weight(table.get("rows")) for table in tables)
    yield from _count("blocks", cells, "table characters", 0)
    names = [each["block_id"] for each in blocks if "block_id" in each]
    if len(set(names)) < len(names):
        yield "blocks: a block_id is used twice"
    for at, each in enumerate(blocks):
        yield from _block(f"blocks/{at}", each)


def _block(place: str, block: Block) -> Iterator[str]:
    kind = block.get("type")
    check = _CHECKS.get(kind) if isinstance(kind, str) else None
    if check is None or not isinstance(kind, str):
        yield f"{place}: no block of type {kind!r} is sent"
        return
    for key in sorted(set(block) - _KEYS[kind] - {"type", "block_id"}):
        yield f"{place}/{key}: not a field of a {kind}"
    if "block_id" in block:
        yield from _string(f"{place}/block_id", block["block_id"], "block_id")
    yield from check(place, block)


def _header(place: str, block: Block) -> Iterator[str]:
    yield from _text(f"{place}/text", block.get("text"), "header", ("plain_text",))


def _section(place: str, block: Block) -> Iterator[str]:
    fields = block.get("fields")
    if "text" in block or fields is None:
        yield from _text(f"{place}/text", block.get("text"), "section")
    if fields is not None:
        yield from _each(f"{place}/fields", fields, "fields", _field)
    if "accessory" in block:
        yield from _button(f"{place}/accessory", block["accessory"])


def _field(place: str, field: object) -> Iterator[str]:
    yield from _text(place, field, "field")


def _context(place: str, block: Block) -> Iterator[str]:
    yield from _each(f"{place}/elements", block.get("elements"), "context", _context_text)


def _context_text(place: str, element: object) -> Iterator[str]:
    yield from _text(place, element, "context text")


def _divider(place: str, block: Block) -> Iterator[str]:
    yield from ()


def _actions(place: str, block: Block) -> Iterator[str]:
    yield from _each(f"{place}/elements", block.get("elements"), "actions", _button)


def _button(place: str, button: object) -> Iterator[str]:
    if not isinstance(button, Mapping) or button.get("type") != "button":
        yield f"{place}: only buttons are sent"
        return
    yield from _text(f"{place}/text", button.get("text"), "button", ("plain_text",))
    for key, limit in (("url", "button url"), ("value", "button value"), ("action_id",) * 2):
        if key in button:
            yield from _string(f"{place}/{key}", button[key], limit)


def _table(place: str, block: Block) -> Iterator[str]:
    yield from _each(f"{place}/rows", block.get("rows"), "table rows", _row)
    settings = block.get("column_settings", ())
    yield from _count(f"{place}/column_settings", len(settings), "table columns", 0)
    for at, each in enumerate(settings):
        if each is not None and (
            set(each) - {"align", "is_wrapped"}
            or each.get("align", "left") not in ("left", "center", "right")
            or not isinstance(each.get("is_wrapped", False), bool)
        ):
            yield f"{place}/column_settings/{at}: neither alignment nor wrapping"
    rows = block.get("rows")
    if isinstance(rows, list | tuple) and len({len(row) for row in rows if row}) > 1:
        yield f"{place}/rows: rows of different lengths"


def _row(place: str, row: object) -> Iterator[str]:
    yield from _each(place, row, "table columns", _cell)


def _cell(place: str, cell: object) -> Iterator[str]:
    if not isinstance(cell, Mapping) or cell.get("type") != "raw_text" or len(cell) != 2:
        yield f"{place}: only raw_text is sent"
        return
    yield from _string(f"{place}/text", cell.get("text"), "table characters")


def _text(
    place: str, text: object, limit: str, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")
) -> Iterator[str]:
    if not isinstance(text, Mapping) or text.get("type") not in kinds:
        yield f"{place}: must be {' or '.join(kinds)}"
        return
    own = "verbatim" if text["type"] == "mrkdwn" else "emoji"
    for key in sorted(set(text) - {"type", "text", own}):
        yield f"{place}/{key}: not a field of {text['type']}"
    yield from _string(f"{place}/text", text.get("text"), limit)


def _string(place: str, text: object, limit: str) -> Iterator[str]:
    if isinstance(text, str):
        yield from _count(place, size(text), limit, 1)
    else:
        yield f"{place}: must be text"


def _each(
    place: str, items: object, limit: str, check: Callable[[str, object], Iterator[str]]
) -> Iterator[str]:
    if not isinstance(items, list | tuple):
        yield f"{place}: must be a list"
        return
    yield from _count(place, len(items), limit, 1)
    for at, each in enumerate(items):
        yield from check(f"{place}/{at}", each)


def _count(place: str, count: int, limit: str, least: int) -> Iterator[str]:
    if not least <= count <= LIMITS[limit]:
        yield f"{place}: {count:,}, but {least:,} to {LIMITS[limit]:,} are allowed ({limit})"


_CHECKS: Mapping[str, Callable[[str, Block], Iterator[str]]] = {
    "header": _header,
    "section": _section,
    "context": _context,
    "divider": _divider,
    "actions": _actions,
    "table": _table,
}
