"""Which words run a test, or a file of them, as each runner names tests; no shell reads them."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from nightwatch_core.code.code_view import inside
from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.kit import Runner, Words
from nightwatch_core.gate.limits import TEST_NAME

_PLACE = re.compile(r"(?P<path>.+\.\w+)(?:::(?P<name>.+)|:(?P<line>\d{1,7})|(?P<group>\[[\d:]+\]))")
_DOTTED = re.compile(r"\w+(\.\w+)+", re.ASCII)
Select = Callable[[Runner, str, str], Words]


class OneTest(NamedTuple):
    """A file of tests, and which of them; empty for all."""

    path: str  # as seen from the project's root
    name: str = ""


def read_test_id(text: str, files: Collection[str]) -> OneTest:
    """Read the id of a test, in any runner's form; raises `GiveUp` where no file of `files` is it.

    >>> read_test_id("tests/test_a.py::T::test_b", ("tests/test_a.py",))
    OneTest(path='tests/test_a.py', name='T::test_b')
    >>> read_test_id("tests.test_a.T.test_b", ("tests/test_a.py",))
    OneTest(path='tests/test_a.py', name='T.test_b')
    """
    text = text.strip()
    place = _PLACE.fullmatch(text)
    path, name = text, ""
    if text not in files and place:
        path, name = place["path"], place["name"] or place["line"] or place["group"]
    elif text not in files and _DOTTED.fullmatch(text):
        path, name = _undotted(text, files)
    path = inside(path) or ""
    if path not in files or path.startswith("-"):
        raise GiveUp("no such file of tests is in the project: name one as find_tests lists it")
    if len(name) > TEST_NAME or not name.isprintable() or name.startswith("-"):
        raise GiveUp(f"a test is named in at most {TEST_NAME} visible characters: file::test")
    return OneTest(path, name)


def words_for(runner: Runner, test: OneTest) -> Words:
    """Return the words that run it; raises `GiveUp` where its runner cannot run one alone."""
    if not test.name:
        return runner.some((test.path,))
    select = _SELECT.get(runner.name) or _SELECT.get(runner.form)
    if select is None:
        raise GiveUp(f"{runner.name} runs all tests at once: name a file alone")
    return select(runner, test.path, test.name)


def _undotted(text: str, files: Collection[str]) -> tuple[str, str]:
    parts = text.split(".")
    for count in range(len(parts), 0, -1):
        path = f"{'/'.join(parts[:count])}.py"
        if path in files:
            return path, ".".join(parts[count:])
    return text, ""


def _pytest(runner: Runner, path: str, name: str) -> Words:
    return runner.some((f"{path}::{name}",))


def _unittest(runner: Runner, path: str, name: str) -> Words:
    *words, module = runner.some((path,))
    return (*words, f"{module}.{name.replace('::', '.')}")


def _rspec(runner: Runner, path: str, name: str) -> Words:
    if name.isdigit() or name.startswith("["):
        return runner.some((f"{path}:{name}" if name.isdigit() else f"{path}{name}",))
    return (*runner.some(()), "-e", name, path)


def _minitest(runner: Runner, path: str, name: str) -> Words:
    if name.isdigit():
        return runner.some((f"{path}:{name}",))
    return (*runner.some((path,)), "-n", name)


def _pattern(option: str) -> Select:
    return lambda runner, path, name: (*runner.some(()), f"{option}{re.escape(name)}", path)


_SELECT: Mapping[str, Select] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "rspec": _rspec,
    "minitest": _minitest,
    "node --test": _pattern("--test-name-pattern="),
    "jest": _pattern("--testNamePattern="),
    "vitest": _pattern("--testNamePattern="),
    "mocha": _pattern("--grep="),
}
