"""Exceptions and frame objects of records, written as their language prints them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.records import name_of, number_of, text_of
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.traces.excerpts import row
from nightwatch_core.traces.grammar import frame_row
from nightwatch_core.traces.in_app import own_row
from nightwatch_core.traces.parsing import parse

Fields = Mapping[str, object]

# The source that frame objects carry: the failing line and the lines around it, by tracker.

# Lines by their numbers: Sentry, Ignition and Flare, Bugsnag, Honeybadger, Airbrake.
_NUMBERED = ("context", "code_snippet", "codeSnippet", "code", "source", "snippet", "excerpt")
_FAILING = ("context_line", "contextLine", "code")  # the line alone: Sentry, Rollbar


def _source_lines(frame: Fields, line: int) -> dict[int, str]:
    for name in _NUMBERED:
        rows = _numbered(frame.get(name))
        if line in rows:
            return rows
    context, of_line = _mapping(frame.get("context")), _mapping(frame.get("line"))
    code = _first(frame, *_FAILING) or _first(of_line, "context")  # Elastic APM's is of the line
    before = _texts(frame, "pre_context", "preContext") or _texts(context, "pre")
    after = _texts(frame, "post_context", "postContext") or _texts(context, "post")
    if not code and not (before and after):
        return {}
    return dict(enumerate((*before, code, *after), line - len(before)))


def _numbered(value: object) -> dict[int, str]:
    pairs: list[Sequence[object]] = []
    if isinstance(value, Mapping):
        pairs = [*value.items()]
    for item in value if isinstance(value, list) else ():
        if isinstance(item, Mapping):
            number = next((item[n] for n in ("line_number", "lineNumber", "line") if n in item), 0)
            pairs.append((number, _first(item, "text", "code")))
        elif isinstance(item, list) and len(item) == 2:
            pairs.append(item)
    return {number_of(number) or 0: text if isinstance(text, str) else "" for number, text in pairs}


def source_rows(frame: Fields, line: int, language: str) -> list[str]:
    """Write the source of a frame for the parsers of traces; empty where it carries none.

    Python prints the failing line itself, so there it comes first, alone.

    >>> source_rows({"context_line": "  total()", "pre_context": ["def pay():"]}, 7, "ruby")
    ['         6| def pay():', '    >    7|   total()']
    """
    lines = _source_lines(frame, line)
    if line < 1 or line not in lines:
        return []
    near = range(max(1, line - limits.SOURCE_AROUND), line + limits.SOURCE_AROUND + 1)
    rows = [row(n, _cut(lines[n]), failing=n == line) for n in near if n in lines]
    code = _cut(lines[line]).strip() if language == "python" else ""
    return [f"    {code}", *rows] if code else rows


def _mapping(value: object) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _texts(frame: Fields, *names: str) -> tuple[str, ...]:
    lists = (value for name in names if isinstance(value := frame.get(name), list))
    return tuple(text if isinstance(text, str) else "" for text in next(lists, []))


def _first(frame: Fields, *names: str) -> str:
    return next((text for name in names if isinstance(text := frame.get(name), str) and text), "")


def _cut(text: str) -> str:
    """One line, without its end; longer ones lose theirs, which is marked."""
    plain = text.rstrip("\r\n").replace("\r", " ").replace("\n", " ")
    return plain if len(plain) <= limits.SOURCE_LINE else f"{plain[: limits.SOURCE_LINE]}…"


# Frame objects, whoever wrote them: their parts, and how each language prints them.


class Language(Value):
    """The signs of a language and the form of its frames."""

    ends: tuple[str, ...]  # of paths
    form: str
    without_file: str = ""  # the form of a frame without path; empty: it is left out
    platforms: tuple[str, ...]  # what trackers call it where the paths do not tell


class _Frames(Value):
    fields: dict[str, tuple[str, ...]]
    languages: dict[str, Language]


_FRAMES = data_table("nightwatch_core.adapters.files", "frames.toml", _Frames)
_LANGUAGES = _FRAMES.languages
_OTHER = "other"  # stands for the languages that have no form of their own
_OWN_FIELDS = (
    "in_app", "inApp", "in_project", "inProject", "is_application_frame", "isApplicationFrame",
)  # fmt: skip
_PROJECT_ROOTS = ("[PROJECT_ROOT]/", "/PROJECT_ROOT/")  # Honeybadger's and Airbrake's


class RecordFrame(NamedTuple):
    """A frame object and its parts; "" and 0 stand for what it does not say."""

    fields: Fields
    path: str = ""
    line: int = 0
    column: int = 0
    function: str = ""
    module: str = ""
    text: str = ""  # as it was printed

    @property
    def is_own(self) -> bool:
        """Tell whether the tracker calls the frame the application's."""
        named = any(self.fields.get(name) is True for name in _OWN_FIELDS)
        is_elastics = self.fields.get("library_frame") is False
        is_honeybadgers = self.fields.get("context") == "app"
        return named or is_elastics or is_honeybadgers


def record_frame(frame: Fields) -> RecordFrame:
    """Read the parts of a frame object."""
    found: dict[str, object] = {
        part: next((frame[name] for name in names if frame.get(name) not in (None, "")), "")
        for part, names in _FRAMES.fields.items()
    }
    position = found["line"]
    line, column = position, found["column"]
    if isinstance(position, Mapping):  # Elastic's
        line, column = position.get("number"), position.get("column")
    path = name_of(found["path"])
    for root in _PROJECT_ROOTS:
        path = path.removeprefix(root)
    names = (name_of(found[part]) for part in ("function", "module", "text"))
    return RecordFrame(frame, path, number_of(line) or 0, number_of(column) or 0, *names)


def language_of(frames: Sequence[RecordFrame], platform: str = "") -> str:
    """Return the language that most paths end like; the tracker's word where no path decides."""
    paths = [frame.path.lower().partition("?")[0] for frame in frames]
    rows = _LANGUAGES.items()
    counts = Counter(name for path in paths for name, row in rows if path.endswith(row.ends))
    if counts:
        return max(_LANGUAGES, key=lambda name: counts[name])
    word = platform.strip().lower()
    return next((name for name, row in _LANGUAGES.items() if word in row.platforms), _OTHER)


def frame_lines(frames: Sequence[RecordFrame], innermost: int, language: str) -> list[str]:
    """Print frames in their order, with the source that the nearest ones to `innermost` carry."""
    own = [n for n, frame in enumerate(frames) if frame.is_own]
    nearest = sorted(own or range(len(frames)), key=lambda n: abs(n - innermost))
    with_source = frozenset(nearest[: limits.SOURCE_FRAMES])
    lines: list[str] = []
    for n, frame in enumerate(frames):
        printed = frame.text or _printed(frame, n, language)
        if printed:
            lines.append(printed)
        if printed and not frame.text and n in with_source:
            lines += source_rows(frame.fields, frame.line, language)
    return lines


def own_rows(frames: Sequence[RecordFrame]) -> list[str]:
    """Name the frames that the tracker calls the application's; none where all are, or no frame is.

    >>> own = RecordFrame({"in_app": True}, "a.rb", 1)
    >>> own_rows([own, RecordFrame({}, "b.rb")]), own_rows([own])
    (['    in app| a.rb:1'], [])
    """
    own = [frame for frame in frames if frame.is_own]
    if len(own) == len(frames):
        return []
    places = [(frame.path, frame.line) for frame in own if frame.path]
    return [own_row(path, line) for path, line in dict.fromkeys(places)]


def _printed(frame: RecordFrame, number: int, language: str) -> str:
    """Print a frame in the form of its language; empty where it says too little."""
    if language == _OTHER:
        function = frame.function or frame.module
        has_any = frame.path or function
        return frame_row(frame.path, frame.line, frame.column, function) if has_any else ""
    row = _LANGUAGES[language]
    owned = ".".join(filter(None, (frame.module, frame.function)))
    if not frame.path:
        return row.without_file.format(owned=owned) if owned else ""
    if not frame.line and language not in ("python", "java"):
        return ""
    return row.form.format(
        path=frame.path,
        line=frame.line or None,
        function=frame.function.replace("'", "") or "unknown",  # a quote ends the name
        owned=owned or "unknown",
        number=number,
        at_line=f":{frame.line}" if frame.line else "",
        at_column=f":{frame.column}" if frame.column else "",
    )


# Stack traces of records: texts, lists of lines and lists of frame objects, made one text.

_OUTERMOST_FIRST = frozenset(("lineno", "lineNo"))  # Sentry's and Rollbar's names of the line
_PYTHON_HEAD = "Traceback (most recent call last):"


def stack_text(value: object) -> str:
    """Return the stack trace as one text; empty where there is none."""
    if isinstance(value, str):
        return text_of(value, limits.STACK_LIMIT)
    if not isinstance(value, Sequence):
        return ""
    frames = [item for item in value[: limits.MAX_LINES] if isinstance(item, Mapping)]
    lines = [item for item in value[: limits.MAX_LINES] if isinstance(item, str)]
    return text_of("\n".join(_frame_lines(frames) if frames else lines), limits.STACK_LIMIT)


def with_header(stack: str, error_class: str, message: str) -> str:
    """Return the stack trace, with the exception named in it as its language does where it was not.

    >>> with_header("app/cart.rb:7:in `total'", "KeyError", "no total")
    "KeyError: no total\\napp/cart.rb:7:in `total'"
    """
    if not stack or error_class.replace("::", ".").rpartition(".")[2] in stack:
        return stack
    first_line = message.partition("\n")[0]
    header = f"{error_class}: {first_line}" if first_line else error_class
    if 'File "' not in stack:
        return text_of(f"{header}\n{stack}", limits.STACK_LIMIT)
    head = "" if stack.startswith("Traceback") else f"{_PYTHON_HEAD}\n"
    return text_of(f"{head}{stack}\n{header}", limits.STACK_LIMIT)


def _frame_lines(frames: Sequence[Mapping[str, object]]) -> list[str]:
    """Trackers list the innermost frame first, Sentry and Rollbar last; Python prints it last."""
    is_outermost_first = any(_OUTERMOST_FIRST & frame.keys() for frame in frames)
    ordered = list(map(record_frame, frames))
    language = language_of(ordered)
    is_python = language == "python"
    ordered = ordered if is_outermost_first == is_python else ordered[::-1]
    innermost = len(ordered) - 1 if is_python else 0
    return [*own_rows(ordered), *frame_lines(ordered, innermost, language)]


# Exceptions with their chain of causes.

_LIKE_PLACE = re.compile(r"[:(]\d|line \d|#\d|frame: ")
_PYTHON_CAUSE = "The above exception was the direct cause of the following exception:"
_END_OF_CAUSE = "   --- End of inner exception stack trace ---"


class Thrown(NamedTuple):
    """One exception of a record."""

    error_class: str
    message: str
    frames: tuple[RecordFrame, ...] = ()  # innermost first


def thrown(error_class: object, message: object, frames: object, reverse: bool = False) -> Thrown:
    """Make an exception of what a record says, whatever types it has.

    `reverse` is for frames that stand outermost first.

    >>> [frame.path for frame in thrown("KeyError", "no", [{"file": "a.rb"}, "b.rb"]).frames]
    ['a.rb']
    """
    listed = frames if isinstance(frames, list) else []
    objects = [item for item in listed if isinstance(item, Mapping)]
    ordered = objects[::-1] if reverse else objects
    if len(ordered) > limits.MAX_LINES:
        ordered = [*ordered[: limits.MAX_LINES // 2], *ordered[-limits.MAX_LINES // 2 :]]
    name = name_of(error_class)
    words = text_of(message).removeprefix(f"{name}: ")
    return Thrown(name, words, tuple(map(record_frame, ordered)))


def chain_text(chain: Sequence[Thrown], platform: str = "") -> str:
    """Write exceptions, the reported one first, then what caused it; empty without any frame.

    >>> chain_text([thrown("KeyError", "no total", [{"file": "a.rb", "line": 7}])])
    "KeyError: no total\\n  a.rb:7:in `unknown'"
    """
    if len(chain) > limits.MAX_LINKS:
        chain = (*chain[: limits.MAX_LINKS // 2], *chain[-limits.MAX_LINKS // 2 :])
    frames = [frame for item in chain for frame in item.frames]
    if not frames:
        return ""
    language = language_of(frames, platform)
    write = _WRITERS.get(language, _caused_by)
    first, _, rest = write(chain, language).partition("\n")
    return text_of("\n".join((first, *own_rows(frames), rest)), limits.STACK_LIMIT) if rest else ""


def _header(item: Thrown) -> str:
    """Name an exception on one line; a message that would be read as a frame is left out."""
    line = " ".join(item.message.strip().partition("\n")[0].split())[: 2 * limits.NAME_LIMIT]
    name = item.error_class or "unknown"
    header = f"{name}: {line}" if line else name
    return name if _LIKE_PLACE.search(line) and parse(header).links else header


def _caused_by(chain: Sequence[Thrown], language: str) -> str:
    parts = [(_header(item), *frame_lines(item.frames, 0, language)) for item in chain]
    return "\nCaused by: ".join(map("\n".join, parts))


def _python(chain: Sequence[Thrown], language: str) -> str:
    """Python prints causes first, and the innermost frame of each last."""
    parts = []
    for item in reversed(chain):
        frames = frame_lines(item.frames[::-1], len(item.frames) - 1, language)
        parts.append("\n".join((_PYTHON_HEAD, *frames, _header(item))))
    return f"\n\n{_PYTHON_CAUSE}\n\n".join(parts)


def _php(chain: Sequence[Thrown], language: str) -> str:
    """PHP prints causes first, and with a place what was called there: one frame further in."""
    parts = []
    for n, item in enumerate(reversed(chain)):
        word = "Next" if n else "PHP Fatal error:  Uncaught"
        if not item.frames:
            parts.append(f"{word} {_header(item)}")
            continue
        inner = item.frames[0]
        at = f" in {inner.path}:{inner.line}" if inner.path else ""
        called = []
        for callee, caller in pairwise(item.frames):
            name = callee.function or "unknown"
            if callee.module and "::" not in name:
                name = f"{callee.module}::{name}"
            called.append(caller._replace(function=name, module=""))
        rows = frame_lines(called, 0, language)
        rows.append(f"#{len(rows)} [internal function]: {item.frames[-1].function or 'main'}()")
        parts.append("\n".join((f"{word} {_header(item)}{at}", "Stack trace:", *rows)))
    return "\n\n".join(parts)


def _csharp(chain: Sequence[Thrown], language: str) -> str:
    heads = [_header(item) for item in chain]
    frames = [frame_lines(item.frames, 0, language) for item in chain]
    lines = [heads[0], *(f" ---> {head}" for head in heads[1:]), *frames[-1]]
    for outer in reversed(frames[:-1]):
        lines += [_END_OF_CAUSE, *outer]
    return "\n".join(lines)


def _go(chain: Sequence[Thrown], language: str) -> str:
    """Go's errors have no frames of their own: those of the first that has any are for all."""
    return _caused_by([next(item for item in chain if item.frames)], language)


_WRITERS = {"python": _python, "php": _php, "csharp": _csharp, "go": _go}

# The exceptions that stack traces report; traces alike but for a message are parsed once.

ExceptionOf = Callable[[str], ExceptionLink]  # reads a raw stack trace; none is one without frames
_REWRITTEN = ("\\", "&", "\x1b", '["', "\t", "  ")  # what parsers may change in a line


class ReportedExceptions:
    """Asks a parser, and remembers what it said of the lines around a message.

    Of a trace whose first or last line is `class: message`, the other lines say which class it is:
    the next trace with the same other lines differs in its message alone.

    >>> asked = []
    >>> def parser(raw):
    ...     asked.append(raw)
    ...     return ExceptionLink(error_class="E", message=raw.splitlines()[0][3:])
    >>> exceptions = ReportedExceptions(parser)
    >>> [exceptions(f"E: no {n}\\n  at f(a.js:1)").message for n in range(3)], len(asked)
    (['no 0', 'no 1', 'no 2'], 1)
    """

    def __init__(self, parser: ExceptionOf) -> None:
        self._parser = parser
        self._kept: dict[tuple[bool, int], ExceptionLink] = {}

    def __call__(self, raw: str) -> ExceptionLink:
        headers = _headers(raw)
        for key, header in headers:
            earlier = self._kept.get(key)
            message = _message(header, earlier.error_class) if earlier else None
            if earlier and message is not None:
                return earlier.model_copy(update={"message": message})
        exception = self._parser(raw)
        if len(self._kept) >= limits.TRACES_KEPT:
            self._kept.clear()
        name = exception.error_class
        for key, header in headers:
            if name and exception.message == _message(header, name):
                self._kept[key] = exception
        return exception


def _headers(raw: str) -> list[tuple[tuple[bool, int], str]]:
    raw = raw.rstrip("\n")
    first, _, below = raw.partition("\n")
    above, _, last = raw.rpartition("\n")
    lines = (((True, hash(below)), first), ((False, hash(above)), last))
    return [
        (key, line)
        for key, line in lines
        if len(line) <= limits.MESSAGE_LINE and not any(map(line.__contains__, _REWRITTEN))
    ]


def _message(header: str, error_class: str) -> str | None:
    """The message behind a class; None where the line does not begin with it."""
    if header == error_class:
        return ""
    begins = header.startswith(f"{error_class}: ")
    return header[len(error_class) + 2 :].strip() if begins else None
