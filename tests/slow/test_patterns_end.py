"""No regular expression of the product takes seconds for a short text that somebody made for it."""

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from re import _parser  # type: ignore[attr-defined] # the only way to see what a pattern repeats
from types import ModuleType

import pytest

import flows
import nightwatch_core
import tasks

pytestmark = pytest.mark.slow

LENGTH = 400  # characters: what is quadratic takes no time for them, what is exponential an age
SECONDS = 0.1  # of this process
CALLS = {f"re.{name}" for name in ("compile", "match", "search", "fullmatch", "sub", "finditer")}
SAMPLES = [*"aA0_ .,:;-/\\'\"()[]{}<>=@$#|&*+!?\t\n", "a ", "a.", "a,", ", ", "0_", "''", '""']
SAMPLES += ["[]", "()", "$this->", "a::", "a->", "};", "else ", "a=", "a/", "at a(", "\\n"]


class Late(Exception):
    """A pattern had its time."""


def patterns() -> dict[re.Pattern[str], str]:
    """Every pattern that a module holds or writes down in a call, and where."""
    told: dict[re.Pattern[str], str] = {}
    for package in (nightwatch_core, tasks, flows):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for item in (*held(vars(module), 0), *written(module)):
                told.setdefault(item, found.name)
    return told


def held(value: object, depth: int) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif depth < 5:
        parts: object = value
        if isinstance(value, dict):
            parts = list(value.values())
        elif type(value).__module__.startswith("nightwatch_core") and hasattr(value, "__dict__"):
            parts = list(vars(value).values())
        for part in parts if isinstance(parts, list | tuple | set | frozenset) else ():
            yield from held(part, depth + 1)


def written(module: ModuleType) -> Iterator[re.Pattern[str]]:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) in CALLS:
            first = call.args[0] if call.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield re.compile(first.value)


def repeated(tree: object, before: str = "") -> Iterator[tuple[str, str]]:
    """What each repetition repeats, as a text, and a text that leads to it."""
    for operation, value in tree:  # type: ignore[attr-defined]
        name = str(operation)
        if name.endswith("_REPEAT"):
            yield before, sample(value[2])
            yield from repeated(value[2], before)
        elif name == "SUBPATTERN":
            yield from repeated(value[3], before)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from repeated(branch, before)
        before = (before + sample([(operation, value)]))[:60]


def sample(tree: object) -> str:
    text = ""
    for operation, value in tree:  # type: ignore[attr-defined]
        name = str(operation)
        if name == "LITERAL":
            text += chr(value)
        elif name in ("ANY", "NOT_LITERAL"):
            text += "x"
        elif name == "IN":
            kind, what = value[0]
            first = {"LITERAL": what, "RANGE": what[0] if isinstance(what, tuple) else 0}
            text += chr(first.get(str(kind), 97))
        elif name.endswith("_REPEAT"):
            text += sample(value[2]) * max(value[0], 1)
        elif name == "SUBPATTERN":
            text += sample(value[3])
        elif name == "BRANCH":
            text += sample(value[1][0])
    return text[:60]


def seconds(pattern: re.Pattern[str], text: str) -> float:
    """Time of this process, at most `SECONDS`."""
    began = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        pattern.search(text)
    except Late:
        return SECONDS
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - began


def worst(pattern: re.Pattern[str]) -> str:
    """A text that takes the pattern too long; empty where none was found."""
    own = dict.fromkeys(repeated(_parser.parse(pattern.pattern, pattern.flags)))
    pumps = [("", item) for item in SAMPLES] + [(a, b) for a, b in list(own)[:40] if b]
    for before, unit in pumps:
        text = before + (unit * LENGTH)[:LENGTH] + "\0"
        if seconds(pattern, text) >= SECONDS and seconds(pattern, text) >= SECONDS:
            return text
    return ""


def test_no_pattern_takes_an_age_for_some_hundred_characters() -> None:
    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGPROF, late)
    try:
        assert worst(re.compile(r"(?:a+|b)+c"))  # so that it is seen to find one
        all_of_them = patterns()
        tried = {one.pattern: (where, worst(one)) for one, where in all_of_them.items()}
    finally:
        signal.signal(signal.SIGPROF, before)

    assert len(all_of_them) > 900
    assert {pattern: told for pattern, told in tried.items() if told[1]} == {}
