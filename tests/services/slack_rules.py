"""What the stand-in for Slack refuses in blocks: written from Slack's reference, not from ours."""

from collections.abc import Iterator
from typing import Any

TEXTS = ("text", "url", "alt_text")


def texts(value: Any) -> Iterator[dict[str, Any]]:
    """Every text object and raw cell, however deep."""
    if isinstance(value, dict):
        if value.get("type") in ("mrkdwn", "plain_text", "raw_text"):
            yield value
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


def total(value: Any) -> int:
    """Characters of a whole message."""
    if isinstance(value, dict):
        return sum(
            len(each) if name in TEXTS and isinstance(each, str) else total(each)
            for name, each in value.items()
        )
    return sum(map(total, value)) if isinstance(value, list) else 0


def refused_blocks(blocks: list[Any]) -> list[str]:
    """Slack's complaints, with their place."""
    wrong = [f"no more than 50 items allowed [json-pointer:/blocks] ({len(blocks)})"] * (
        len(blocks) > 50
    )
    for at, block in enumerate(blocks):
        wrong += [f"{said} [json-pointer:/blocks/{at}]" for said in _wrong(block)]
    tables = [each for each in blocks if isinstance(each, dict) and each.get("type") == "table"]
    if len(tables) > 1:
        wrong.append("only_one_table_allowed")
    if sum(map(total, tables)) > 10_000:
        wrong.append("table cells hold more than 10000 characters")
    return wrong


def _wrong(block: Any) -> Iterator[str]:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "header":
        yield from _text(block.get("text"), 150, ("plain_text",))
    elif kind == "section":
        yield from _text(block.get("text"), 3_000)
    elif kind == "context":
        yield from _many(block.get("elements"), 10)
        for each in block.get("elements") or ():
            yield from _text(each, 3_000)
    elif kind == "table":
        yield from _table(block)
    else:
        yield f"unsupported type: {kind}"


def _table(block: dict[str, Any]) -> Iterator[str]:
    yield from _many(block.get("rows"), 100)
    if len(block.get("column_settings") or ()) > 20:
        yield "no more than 20 column_settings"
    for row in block.get("rows") or ():
        yield from _many(row, 20)
        for cell in row:
            if cell.get("type") not in ("raw_text", "rich_text"):
                yield f"unsupported cell type: {cell.get('type')}"
            elif cell["type"] == "raw_text" and not cell.get("text"):
                yield "must be more than 0 characters"


def _many(items: Any, most: int) -> Iterator[str]:
    if not isinstance(items, list) or not items:
        yield "missing required items"
    elif len(items) > most:
        yield f"no more than {most} items allowed"


def _text(text: Any, most: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        yield f"must be one of {', '.join(kinds)}"
        return
    length = len(text.get("text") or "")
    if not 1 <= length <= most:
        yield f"must be 1 to {most} characters, not {length}"
    allowed = {"type", "text", "verbatim" if text["type"] == "mrkdwn" else "emoji"}
    for extra in sorted(set(text) - allowed):
        yield f"invalid additional property: {extra}"
