"""Names on the failing value's way that may stand for functions and classes of the application."""

import re
from collections.abc import Callable, Iterable, Iterator

from inflection import camelize, singularize

from nightwatch_core.code.definitions import NameUse, functions_around, uses_in
from nightwatch_core.code.languages import ending_of, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.limits import (
    LINE,
    NEAR_FRAMES,
    NEAR_LINES,
    NEAR_NAMES,
    OWNERS,
    SHORTEST_NAME,
    TEST_FILES,
)
from nightwatch_core.code.syntax import masked, receiver_before
from nightwatch_core.code.value_flow import Step, value_flow
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.text.words import words_error_classes as words
from nightwatch_core.traces.trace_text import passes_on

_CALL = re.compile(r"(?<![\w$@])(?P<name>[A-Za-z_]\w{1,80}[?!]?)(?=\s{0,2}\()")
_RAISES = re.compile(r"\b(?:raise|throw(?: new)?|rescue|except|catch \()\s*$")
_OPENS = re.compile(r"\s{0,2}\(")
_JOINTS = ("?->", "->", "?.", "&.", "::", ".")
_OWN = re.compile(r"(?:self|this|\$this|cls|static|Self|super(?:\(\))?|parent|base)$")
_CLASS = re.compile(r"[A-Z]\w{0,80}(?:(?:::|\.|\\)[A-Z]\w{0,80})*$")
_MADE = re.compile(
    r"(?:=|\bin\b|:)\s{0,4}(?:await |new |&|\*)*(?:[a-z_]\w{0,80}\.)?(?P<name>[A-Z]\w{1,80})\b"
)
_IDENTIFIER = re.compile(r"[@$]{0,2}(\w{1,80})$")

# Names that belong to a language or to everybody: looking for them finds the wrong ones, unless it
# is known whose they are.
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
    """A name on the value's way; `owners` are what it may be a member of, the likeliest first.

    `depth` counts assignments and frames back from the failing statement; `distance` the lines.
    """

    name: str
    path: str
    line: int = 0
    receiver: str = ""  # as written; empty where it stands alone
    owners: tuple[str, ...] = ()
    depth: int = 0
    distance: int = 0
    is_call: bool = False
    sets: str = ""  # what its line sets
    column: int = 0

    @property
    def is_own(self) -> bool:
        """Whether it is called on the object it stands in, or on nothing."""
        return not self.receiver or bool(_OWN.search(self.receiver))

    @property
    def is_telling(self) -> bool:
        """Whether the name alone says enough to look for it anywhere: it has several words."""
        return len(words(self.name)) > 1 or self.name[:1].isupper()


# Whose definition matters more, smaller first: the value that fails was made by a call on its way.
RANK: tuple[Callable[[Use], int], ...] = (
    lambda use: use.depth + (not use.is_call),
    lambda use: use.distance,
    lambda use: use.column,
)


def names_near(case: Case, read: Read, members: tuple[str, ...] = ()) -> tuple[Use, ...]:
    """List the names on the way of the failing value, each once, best first.

    Frames that only pass on are passed over; `members` are names that the message says.
    """
    uses_of: dict[tuple[str, bool], Use] = {}
    for number, frame in enumerate(frames_of(case)):
        text = read(frame.repo_path) or ""
        line = frame.line or 0
        if not 0 < line <= len(text_lines(text)):
            continue
        for use in _of_frame(number, frame.repo_path, text, line, members):
            key = use.name, use.is_own
            uses_of[key] = min((uses_of.get(key, use), use), key=_rank)
    return tuple(sorted(uses_of.values(), key=_rank))[:NEAR_NAMES]


def frames_of(case: Case) -> tuple[Frame, ...]:
    """List the innermost own frames whose lines are known, without those that only pass on."""
    frames = case.trace.in_app if case.trace else ()
    placed = [frame for frame in frames if frame.repo_path and frame.line]
    telling = [frame for frame in placed if not passes_on(frame)] or placed
    once = {(frame.repo_path, frame.line): frame for frame in telling}
    return tuple(once.values())[:NEAR_FRAMES]


def _rank(use: Use) -> tuple[int, ...]:
    return tuple(rule(use) for rule in RANK)


def _of_frame(
    number: int, path: str, text: str, line: int, members: tuple[str, ...]
) -> Iterator[Use]:
    """Names on the statements of the flow, then on the lines just above the failing one."""
    steps = value_flow(path, text, line, members)
    made = {one.sets: one for one in steps if one.sets}
    start = max((one.line for one in functions_around(path, text, line)), default=1)
    above = Step(max(start, line - NEAR_LINES), line, 2)
    for step in (*steps, above) if number == 0 else steps:
        yield from _on(step, step.depth + number, path, text, line, made)


def _on(
    step: Step, depth: int, path: str, text: str, failing: int, made: dict[str, Step]
) -> Iterator[Use]:
    lines = text_lines(text)
    for name, at, column, _ in _names(path, text, step.line, step.end):
        row = lines[at - 1]
        before = row[max(0, column - 200) : column].rstrip()
        joint = next((one for one in _JOINTS if before.endswith(one)), "")
        receiver = receiver_before(before, len(before) - len(joint)) if joint else ""
        use = Use(
            name=name,
            path=path,
            line=at,
            receiver=receiver,
            owners=_owners(receiver, made, lines),
            depth=depth,
            distance=abs(at - failing),
            is_call=bool(_OPENS.match(row, column + len(name))),
            sets=step.sets,
            column=column,
        )
        if column <= LINE and _is_worth_a_look(use) and not _RAISES.search(before):
            yield use


def _is_worth_a_look(use: Use) -> bool:
    """Whether it may lead to what the value is made by; what sets own members is known already."""
    is_known = bool(use.owners) or use.name not in COMMON
    is_field = not use.is_call and bool(use.receiver)
    if is_field and (use.is_own or use.depth > 1) and not use.name[:1].isupper():
        return False
    return is_known and len(use.name) >= SHORTEST_NAME


def _owners(receiver: str, made: dict[str, Step], lines: tuple[str, ...]) -> tuple[str, ...]:
    """What a receiver may be: the class or module it names, the one it was made of, or its name."""
    if not receiver or _OWN.search(receiver):
        return ()
    if _CLASS.search(receiver) and receiver[0].isupper():
        return (receiver,)
    step = made.get(receiver)
    rows = " ".join(lines[step.line - 1 : step.end])[:LINE] if step else ""
    match, last = _MADE.search(rows), _IDENTIFIER.search(receiver)
    name = last[1] if last else ""
    same = camelize(singularize(name)) if len(name) >= SHORTEST_NAME else ""
    owners = (match["name"] if match else "", name if name == receiver else "", same)
    return tuple(dict.fromkeys(one for one in owners if one))[:OWNERS]


def _names(path: str, text: str, first: int, last: int) -> Iterator[NameUse]:
    """Names the lines use; where no tree tells, those that a parenthesis follows."""
    known = uses_in(path, text, first, last)
    yield from known
    for number, row in enumerate(() if known else text_lines(text)[first - 1 : last], start=first):
        for found in _CALL.finditer(masked(row[:LINE], language_of(path))):
            yield NameUse(found["name"], number, found.start())


# Which files test a file: told by their names, as languages and frameworks name them.

_ROLES = frozenset(("test", "tests", "spec", "specs", "it", "unit", "case"))
_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts")


def files_testing(path: str, paths: Iterable[str], limit: int = TEST_FILES) -> tuple[str, ...]:
    """List the tests of a file, the likeliest first: `test_cart.py` before `test_old_cart.py`.

    Their names have all words of the file's name; words that are no folder of the file's are
    counted against them.

    >>> files_testing("shop/cart.py", ("tests/test_cart.py", "tests/test_carts.py", "shop/cart.py"))
    ('tests/test_cart.py',)
    """
    wanted = _words(_stem(path))
    if not wanted or TEST.search(path):
        return ()
    folders = {word for folder in path.split("/")[:-1] for word in _words(folder)}
    ranked = sorted(
        (len(said - wanted - folders), -len(said & (wanted | folders)), -_shared(path, one), one)
        for one in paths
        if TEST.search(one) and _is_alike(path, one) and wanted <= (said := _words(_stem(one)))
    )
    return tuple(one for extra, *_, one in ranked if extra <= len(wanted))[:limit]


def _stem(path: str) -> str:
    return re.split(r"[.](?!.*/)", path.rpartition("/")[2])[0]


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words(name)) - _ROLES


def _is_alike(path: str, other: str) -> bool:
    """Whether both are of one language, as far as endings tell."""
    one, two = ending_of(path), ending_of(other)
    return one == two or (one in _SCRIPTS and two in _SCRIPTS)


def _shared(path: str, other: str) -> int:
    return len({*path.split("/")[:-1]} & {*other.split("/")[:-1]})
