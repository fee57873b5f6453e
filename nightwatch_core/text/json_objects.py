"""Find the JSON object in what a model said, however it is wrapped."""

import json
import re
from collections.abc import Collection
from itertools import islice
from typing import Any

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp

CHARACTERS = 400_000  # of a text that are looked at
_OPENINGS = 500  # braces that may begin an object
_OPENING = re.compile(r'\{\s*"')


def object_in(text: str, fields: Collection[str]) -> dict[str, Any]:
    """Return the last object that holds most of the fields; its keys are spelt as in Python.

    An object inside such a one does not count. Raises `GiveUp` without any.

    >>> object_in('Here: {"answer": {"rootCause": "x", "more": 1}}', ("root_cause",))
    {'root_cause': 'x', 'more': 1}
    """
    decoder, text = json.JSONDecoder(strict=False), text[:CHARACTERS]
    best: dict[str, Any] = {}
    most, end, wrong = 1, 0, "the answer holds no JSON object"
    for opening in islice(_OPENING.finditer(text), _OPENINGS):
        if opening.start() < end:
            continue
        try:
            value, after = decoder.raw_decode(text, opening.start())
        except json.JSONDecodeError as error:
            is_cut = "Unterminated" in error.msg or not text[error.pos : error.pos + 100].strip()
            what = "is cut off" if is_cut else f"is not valid: {error.msg} at character {error.pos}"
            wrong = f"the answer's JSON object {what}"
            continue
        except (ValueError, RecursionError):  # a number of thousands of digits; nested too deep
            wrong = "the answer's JSON object is nested too deep, or holds an endless number"
            continue
        named = {snake(key): item for key, item in value.items()}
        held = len(named.keys() & set(fields))
        end = after if held else end
        if held >= most:
            best, most = named, held
    if not best:
        raise GiveUp(wrong)
    return best


def snake(key: object) -> str:
    """Return the name of a field, however it was spelt.

    >>> snake("rootCause"), snake("Root cause"), snake("root-cause")
    ('root_cause', 'root_cause', 'root_cause')
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(key)[:60])
    return re.sub(r"[\s_-]+", "_", apart.strip()).lower()


def problems_text(problems: ValidationError) -> str:
    """List the first problems of an answer, each with its place, at most 500 characters."""
    return "; ".join(
        f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"
        for problem in problems.errors(include_input=False)[:6]
    )[:500]
