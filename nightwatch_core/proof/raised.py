"""What a run of a test raised, as its recorder wrote it down."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from nightwatch_core.models.gate import RuntimeFact
from nightwatch_core.models.trace import Frame
from nightwatch_core.text.escaping import clean

WORK = "/work/"  # where a tree lies in the sandbox
_RECORDS, _FRAMES, _FACTS, _VALUE, _TEXT = 60, 120, 24, 400, 500


class Raised(NamedTuple):
    """An exception that was raised below a frame of the tree."""

    error_class: str
    message: str
    frames: tuple[Frame, ...]  # innermost first; those of the tree are in-app
    left: frozenset[int]  # which of them it left, as far as that is written down
    facts: tuple[RuntimeFact, ...] = ()


def printed_and_raised(output: str, mark: str) -> tuple[str, tuple[Raised, ...]]:
    """Part what a run printed from what was written down; nothing where the mark is missing."""
    printed, between, written = output.rpartition(f"\n{mark}\n")
    if not between:
        return output, ()
    records = [one for row in written.splitlines()[:2_000] if (one := _loaded(row))]
    left: dict[str, set[int]] = {}
    for one in records:
        if isinstance(one.get("left"), int):
            left.setdefault(str(one.get("id")), set()).add(one["left"])
    whole = (one for one in records if "class" in one)
    read = (_raised(one, left.get(str(one.get("id")), set())) for one in whole)
    return printed, tuple(read)[:_RECORDS]


def _loaded(row: str) -> dict[str, Any] | None:
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _raised(record: dict[str, Any], left: set[int]) -> Raised:
    frames = tuple(_frames(record.get("frames")))
    return Raised(
        _text(record.get("class")),
        _text(record.get("message")),
        frames,
        frozenset(left),
        tuple(_facts(record.get("locals"), frames))[:_FACTS],
    )


def _frames(listed: object) -> Iterator[Frame]:
    for one in listed[:_FRAMES] if isinstance(listed, list) else ():
        path, line, name = one if isinstance(one, list) and len(one) == 3 else ("", 0, "")
        is_inside = _text(path).startswith(WORK) and "/<" not in _text(path)
        inside = _text(path).removeprefix(WORK) if is_inside else ""
        yield Frame(
            path=_text(path),
            line=line if isinstance(line, int) and line > 0 else None,
            function=_text(name),
            in_app=bool(inside),
            repo_path=inside,
        )


def _facts(listed: object, frames: tuple[Frame, ...]) -> Iterator[RuntimeFact]:
    for one in listed if isinstance(listed, list) else ():
        at, name, value = one if isinstance(one, list) and len(one) == 3 else (-1, "", "")
        if isinstance(at, int) and 0 <= at < len(frames) and frames[at].repo_path:
            frame = frames[at]
            yield RuntimeFact(
                path=frame.repo_path,
                line=frame.line or 0,
                function=frame.function,
                name=_text(name),
                value=_text(value)[:_VALUE],
            )


def _text(value: object) -> str:
    return clean(value[:_TEXT].replace("\n", " ")) if isinstance(value, str) else ""
