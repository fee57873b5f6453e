"""The JSON object in what a model said, however it is wrapped."""

import json
import re
from collections.abc import Iterator
from typing import Any

from nightwatch_core.analysis.limits import ANSWER_CHARACTERS
from nightwatch_core.errors import GiveUp

_SEARCHED = 4_000_000  # characters that may be read in search of the object
_ATTEMPT = 2_000  # what every attempt costs besides, in characters
_OPENING = re.compile(r'\{\s*"')


def read_object(text: str, fields: tuple[str, ...]) -> dict[str, Any]:
    """Read another answer than an analyst's, as leniently, by the first two fields of it.

    >>> read_object('Here: {"expecting": "x", "more": 1}', ("expecting", "path"))
    {'expecting': 'x'}
    """
    given = object_in(unpacked(text), fields).items()
    return {name: value for key, value in given if (name := snake(key)) in fields}


def unpacked(text: str) -> str:
    """The text, bounded; where it is one JSON text, what that holds.

    >>> unpacked('"{}"'), unpacked('"a" and "b"')
    ('{}', '"a" and "b"')
    """
    inner = loaded(text) if (text := text[:ANSWER_CHARACTERS]).lstrip().startswith('"') else None
    return inner if isinstance(inner, str) else text


def loaded(text: str) -> object:
    """The JSON that the text is; None where it is none."""
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def object_in(text: str, required: tuple[str, ...]) -> dict[str, Any]:
    """Give the last object that holds most of what is required; raises `GiveUp` without any."""
    best, most, wrong = None, 0, "the answer holds no JSON object"
    for candidate, problem in _objects(text, required[:2]):
        wrong = problem or wrong
        held = sum(_has(candidate, name) for name in required)
        if held and held >= most:
            best, most = candidate, held
    if best is None:
        raise GiveUp(wrong)
    return best


def _objects(text: str, wanted: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str]]:
    """Objects that look like an answer, and problems met on the way; none inside another one."""
    decoder, at, effort = json.JSONDecoder(strict=False), 0, 0
    while effort < _SEARCHED and (opening := _OPENING.search(text, at)):
        at = opening.start()
        value, end, problem = _decoded(decoder, text, at)
        effort += end - at + _ATTEMPT
        if isinstance(value, dict) and any(_has(value, name) for name in wanted):
            yield value, ""
            at = end
            continue
        yield {}, problem
        at += 1


def _decoded(decoder: json.JSONDecoder, text: str, at: int) -> tuple[object, int, str]:
    try:
        value, end = decoder.raw_decode(text, at)
    except json.JSONDecodeError as wrong:
        cut = "Unterminated" in wrong.msg or not text[wrong.pos : wrong.pos + 100].strip()
        what = "is cut off" if cut else f"is not valid: {wrong.msg} at character {wrong.pos}"
        return None, max(wrong.pos, at + 1), f"the answer's JSON object {what}"
    except (ValueError, RecursionError):  # a number of thousands of digits; nested too deep
        return None, at + 10 * _ATTEMPT, "the answer's JSON object is not one a person would write"
    return value, end, ""


def _has(candidate: dict[str, Any], name: str) -> bool:
    return any(snake(key) == name for key in candidate)


def snake(key: object) -> str:
    """The name of a field, however it was spelt.

    >>> snake("rootCause"), snake("Root cause"), snake("root-cause")
    ('root_cause', 'root_cause', 'root_cause')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)[:60])
    return re.sub(r"[\s_-]+", "_", apart.strip()).lower()
