"""What find_tests shows: tests of a file or a name, by their own names and what they mention."""

import re
from collections.abc import Iterable, Sequence

from nightwatch_core.analysis.shown_lines import spans
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, inside, name
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.file_kinds import kind_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.tool_values import PathsFound
from nightwatch_core.text.escaping import line

_LONGEST = 300  # characters of what is asked for
_HITS = 2_000  # lines with a name that are looked at
_NAMES = 4  # of a file that are looked for
_FILES = 15  # of tests that are listed
_LINES = 8  # mentions of a file that are told
_MARKS = re.compile(r"^(?:test|spec)s?[_.-]|[_.-](?:test|spec)s?$", re.IGNORECASE)
_SUFFIX = re.compile(r"(?<=[a-z0-9])(?:Tests?|TestCase|Specs?|IT)$")
_COMMON = frozenset(
    ("index", "main", "app", "__init__", "utils", "util", "helpers", "models", "views", "base")
)
_SEPARATORS = re.compile(r"::|->|[.#\\]")


def find_tests(at: ToolContext, limit: int, target: str) -> ToolAnswer:
    """List existing tests of a file or a symbol, about `limit` characters."""
    target = target.strip()
    if not target or len(target) > _LONGEST or not target.isprintable():
        raise Refusal("Give a path, or the name of a class, function or method.")
    paths = at.code.paths()
    tests = frozenset(path for path in paths if kind_of(path) == "test")
    if not tests:
        return ToolAnswer("This repository has no tests.", PathsFound())
    path = inside(target) or ""
    is_file = path in paths
    names = _names_in(at, path) if is_file else (_SEPARATORS.split(target)[-1],)
    stems = (_stem(path),) if is_file else tuple(map(_stem_of_symbol, _SEPARATORS.split(target)))
    called = sorted(one for one in tests if _tests_stem(one) in stems)
    mentions = _mentions(at, names, tests)
    ranked = sorted(mentions, key=lambda one: (one not in called, -len(mentions[one]), one))
    once = tuple(dict.fromkeys((*called, *ranked)))
    if not once:
        return ToolAnswer(
            f"No test is called after {target!a}, and none mentions it.", PathsFound()
        )
    rows = [_row(one, one in called, mentions.get(one, ())) for one in once[:_FILES]]
    if len(once) > _FILES:
        rows.append(f"{MARK}{len(once) - _FILES} more tests mention it ...]")
    if is_file and names:
        rows.append(f"(looked for {', '.join(names)})")
    return ToolAnswer("\n".join(_within(rows, limit)), PathsFound(paths=once))


def _stem(path: str) -> str:
    """The name of a file in the letters that naming conventions keep; its folder's for "index"."""
    *folders, file = path.split("/")
    stem = file.split(".")[0]
    if stem in _COMMON and folders and stem in ("index", "__init__"):
        stem = folders[-1]
    return _letters(stem)


def _stem_of_symbol(name: str) -> str:
    return _letters(name)


def _tests_stem(path: str) -> str:
    """What a test's file is named after: order for test_order.py, OrderTest.java, order.spec.ts.

    >>> [_tests_stem(p) for p in ("t/test_order.py", "OrderTest.java", "a/order.spec.ts")]
    ['order', 'order', 'order']
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    return _letters(_SUFFIX.sub("", _MARKS.sub("", _MARKS.sub("", stem))))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _names_in(at: ToolContext, path: str) -> tuple[str, ...]:
    """Names that a test of the file would mention: its classes and functions, and itself."""
    text = at.code.read_file(path) or ""
    stem = path.rpartition("/")[2].split(".")[0]
    known = [one for one in definitions_in(path, text) if one.kind != "value"]
    outer = [one for one in known if not any(d.line < one.line <= d.end for d in known)]
    by_kind = sorted(outer, key=lambda one: (one.kind != "class", -(one.end - one.line)))
    own = (stem,) if stem not in _COMMON and len(stem) > 3 else ()
    return tuple(dict.fromkeys((*own, *(one.name for one in by_kind))))[:_NAMES]


def _mentions(
    at: ToolContext, names: Iterable[str], tests: frozenset[str]
) -> dict[str, tuple[int, ...]]:
    """Numbers of lines that hold one of the names as a word, by the path of a test."""
    lines: dict[str, set[int]] = {}
    for wanted in names:
        word = re.compile(rf"(?<![\w$]){re.escape(wanted)}(?![\w$])")
        try:
            hits = at.code.search(wanted, "", _HITS)
        except GiveUp as trouble:
            raise Refusal(f"No search: {line(str(trouble))}. Use find_files.") from None
        for hit in hits:
            if hit.path in tests and word.search(hit.text):
                lines.setdefault(hit.path, set()).add(hit.line)
    return {path: tuple(sorted(numbers)) for path, numbers in lines.items()}


def _row(path: str, is_called: bool, mentions: Sequence[int]) -> str:
    why = "by its name" if is_called else ""
    more = f" and {len(mentions) - _LINES} more" if len(mentions) > _LINES else ""
    where = f"mentions it in lines {spans(mentions[:_LINES])}{more}" if mentions else ""
    return f"{name(path)}: {'; '.join(filter(None, (why, where)))}"


def _within(rows: Sequence[str], limit: int) -> Sequence[str]:
    used = 0
    for number, row in enumerate(rows):
        used += len(row) + 1
        if used > limit:
            return (*rows[:number], f"{MARK}{len(rows) - number} more ...]")
    return rows
