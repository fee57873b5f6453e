"""Names near the failing lines that may stand for functions and classes of the application."""

import re
from collections.abc import Callable, Iterator

from nightwatch_core.code.definitions import NameUse, uses_in
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.limits import LINE, NEAR_FRAMES, NEAR_LINES, NEAR_NAMES, SHORTEST_NAME
from nightwatch_core.code.line_reading import masked
from nightwatch_core.models.error import Case
from nightwatch_core.models.trace import Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import text_lines

_CALL = re.compile(r"(?<![\w$@])(?P<name>[A-Za-z_]\w{1,80}[?!]?)(?=\s{0,2}\()")
_OPENS = re.compile(r"\s{0,2}\(")
_OWNER = re.compile(r"((?:[A-Z]\w{0,80}(?:::|\.|\\))+)$")

# Names that belong to a language or to everybody: looking for them finds the wrong ones.
COMMON = frozenset(
    (
        *("and", "assert", "await", "begin", "break", "case", "catch", "class", "const", "def"),
        *("defined?", "delete", "elif", "else", "elsif", "end", "ensure", "except", "export"),
        *("false", "final", "finally", "for", "foreach", "from", "func", "function", "if"),
        *("import", "include", "instanceof", "isset", "lambda", "let", "match", "new", "nil"),
        *("none", "None", "True", "False", "not", "null", "private", "protected", "public"),
        *("raise", "rescue", "return", "self", "static", "super", "switch", "sizeof", "this"),
        *("throw", "throws", "true", "try", "typeof", "undefined", "unless", "until", "using"),
        *("var", "void", "when", "while", "with", "yield", "extends", "module", "require"),
        *("abs", "add", "all", "any", "append", "apply", "bool", "call", "close", "concat"),
        *("contains", "copy", "count", "debug", "dict", "each", "empty", "equals", "error"),
        *("exec", "extend", "fetch", "filter", "find", "first", "float", "format", "get"),
        *("getattr", "hash", "index", "info", "initialize", "insert", "inspect", "int", "items"),
        *("iter", "join", "keys", "last", "len", "length", "list", "log", "map", "max", "merge"),
        *("min", "next", "object", "open", "pop", "print", "push", "put", "puts", "range"),
        *("read", "reduce", "remove", "replace", "round", "run", "select", "send", "set"),
        *("setattr", "size", "slice", "sort", "split", "str", "string", "strip", "sub", "sum"),
        *("test", "then", "toString", "to_i", "to_s", "to_sym", "to_h", "to_a", "trim", "tuple"),
        *("type", "update", "value", "values", "warn", "write", "zip", "nil?", "blank?", "tap"),
        *("present?", "empty?", "isinstance", "hasattr", "enumerate", "sorted", "reversed"),
        *("__init__", "__str__", "hashCode", "valueOf", "parseInt", "parse", "stringify"),
    )
)

Read = Callable[[str], str | None]


class Use(Value):
    """A name near a failing line; `offset` is how many lines below it."""

    name: str
    path: str
    owner: str = ""  # the class it is called on, as written
    frame: int
    offset: int
    is_call: bool
    column: int


# Whose definition matters more, smaller first. The value that fails was made by a call above the
# line that failed: a frame further out, a line below, a name that is no call are a step from that.
RANK: tuple[Callable[[Use], int], ...] = (
    lambda use: use.frame + (use.offset > 0) + (not use.is_call),
    lambda use: abs(use.offset),
    lambda use: use.frame,
    lambda use: use.column,
)


def names_near(case: Case, read: Read) -> tuple[Use, ...]:
    """List the names around the innermost own frames, each once, best first."""
    uses_of: dict[str, Use] = {}
    for number, frame in enumerate(frames_of(case)):
        text = read(frame.repo_path) or ""
        for use in _near(number, frame, frame.line or 0, text) if text else ():
            uses_of[use.name] = min((use, uses_of.get(use.name, use)), key=_rank)
    return tuple(sorted(uses_of.values(), key=_rank))[:NEAR_NAMES]


def frames_of(case: Case) -> tuple[Frame, ...]:
    """List the innermost own frames whose lines are known."""
    frames = case.trace.in_app if case.trace else ()
    once = {(f.repo_path, f.line): f for f in frames if f.repo_path and f.line}
    return tuple(once.values())[:NEAR_FRAMES]


def _rank(use: Use) -> tuple[int, ...]:
    return tuple(rule(use) for rule in RANK)


def _near(number: int, frame: Frame, line: int, text: str) -> Iterator[Use]:
    lines = text_lines(text)
    if not 0 < line <= len(lines):
        return
    first, last = max(1, line - NEAR_LINES), min(line + NEAR_LINES, len(lines))
    for name, at, column, _ in _names(frame.repo_path, text, first, last):
        row = lines[at - 1]
        if name in COMMON or len(name) < SHORTEST_NAME or column > LINE:
            continue
        owner = _OWNER.search(row[max(0, column - 200) : column])
        yield Use(
            name=name,
            path=frame.repo_path,
            owner=owner[1].rstrip(".:\\") if owner else "",
            frame=number,
            offset=at - line,
            is_call=bool(_OPENS.match(row, column + len(name))),
            column=column,
        )


def _names(path: str, text: str, first: int, last: int) -> Iterator[NameUse]:
    """Names the lines use; where no tree tells, those that a parenthesis follows."""
    known = uses_in(path, text, first, last)
    yield from known
    for number, row in enumerate(() if known else text_lines(text)[first - 1 : last], start=first):
        for found in _CALL.finditer(masked(row[:LINE], language_of(path))):
            yield NameUse(found["name"], number, found.start())
