"""Exceptions and frame objects of records, written as their language prints them."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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
Parts = Mapping[str, str]

# The source that frame objects carry: the failing line and the lines around it, by tracker.

# Lines by their numbers: Sentry, Ignition and Flare, Bugsnag, Honeybadger, Airbrake.
_NUMBERED = ("context", "code_snippet", "codeSnippet", "code", "source", "snippet", "excerpt")
_FAILING = ("context_line", "contextLine", "code")  # the line alone: Sentry, Rollbar
_ALONE = ("source_line", "sourceLine", "code_line", "codeLine", "text_line")


class Source(NamedTuple):
    """Lines of source as a record holds them."""

    code: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def _source_of(frame: Fields, line: int) -> Source | None:
    for name in _NUMBERED:
        rows = _numbered(frame.get(name))
        if line in rows:
            above, below = (
                range(line - limits.SOURCE_AROUND, line),
                range(line + 1, line + 1 + limits.SOURCE_AROUND),
            )
            before, after = (tuple(rows[n] for n in near if n in rows) for near in (above, below))
            return Source(rows[line], before, after)
    context, of_line = _mapping(frame.get("context")), _mapping(frame.get("line"))
    code = _first(frame, *_FAILING) or _first(of_line, "context")  # Elastic APM's is of the line
    before = _texts(frame, "pre_context", "preContext") or _texts(context, "pre")
    after = _texts(frame, "post_context", "postContext") or _texts(context, "post")
    code = code if code or (before and after) else _first(frame, *_ALONE)
    return Source(code, before, after) if code or (before and after) else None


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


def source_rows(frame: Fields, line: int) -> list[str]:
    """Write the source of a frame for the parsers of traces; empty where it carries none.

    >>> source_rows({"context_line": "  total()", "pre_context": ["def pay():"]}, 7)
    ['         6| def pay():', '    >    7|   total()']
    """
    source = _source_of(frame, line)
    if source is None or line < 1:
        return []
    before = source.before[-min(limits.SOURCE_AROUND, line - 1) :] if line > 1 else ()
    above = [row(n, _cut(text)) for n, text in enumerate(before, line - len(before))]
    below = [row(n, _cut(t)) for n, t in enumerate(source.after[: limits.SOURCE_AROUND], line + 1)]
    return [*above, row(line, _cut(source.code), failing=True), *below]


def code_of(frame: Fields, line: int) -> str:
    """Give the failing line alone, on one line; empty where the record does not hold it.

    >>> code_of({"code": {"6": "def pay", "7": "  total"}}, 7)
    'total'
    """
    source = _source_of(frame, line)
    return _cut(source.code).strip() if source else ""


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
    """How a language is told, and how it prints a frame."""

    ends: tuple[str, ...]  # of paths
    form: str
    without_file: str = ""  # the form of a frame without path; empty: it is left out
    platforms: tuple[str, ...]  # what trackers call it where the paths do not tell


class _Frames(Value):
    fields: dict[str, tuple[str, ...]]
    languages: dict[str, Language]


_FRAMES = data_table("nightwatch_core.adapters.files", "frames.toml", _Frames)
LANGUAGES = _FRAMES.languages
OTHER = "other"  # stands for the languages that have no form of their own
OWN_FIELDS = (
    "in_app", "inApp", "in_project", "inProject", "is_application_frame", "isApplicationFrame",
)  # fmt: skip
_PROJECT_ROOTS = ("[PROJECT_ROOT]/", "/PROJECT_ROOT/")  # Honeybadger's and Airbrake's


def parts_of(frame: Fields) -> dict[str, str]:
    """Give the parts of a frame as texts; "" and "0" stand for what it does not say.

    >>> parts_of({"file": "a.rb", "line": {"number": 7}})["line"]
    '7'
    """
    parts: dict[str, str] = {}
    for part, names in _FRAMES.fields.items():
        value = next((frame[name] for name in names if frame.get(name) not in (None, "")), "")
        if part in ("line", "column"):
            if isinstance(value, Mapping):  # Elastic's
                column = value.get("column") if part == "line" else None
                parts["column"] = str(number_of(column) or 0)
                value = value.get("number")
            parts[part] = str(number_of(value) or int(parts.get(part, "0")))
        else:
            parts[part] = name_of(value)
    for root in _PROJECT_ROOTS:
        parts["path"] = parts["path"].removeprefix(root)
    return parts


class Framed(NamedTuple):
    """A frame object and its parts as texts."""

    fields: Fields
    parts: Parts


def framed(frame: Fields) -> Framed:
    """Read the parts of a frame, once for all that is written of it."""
    return Framed(frame, parts_of(frame))


def language_of(frames: Sequence[Framed], platform: str = "") -> str:
    """Return the language that most paths end like; the tracker's word where none tells.

    >>> language_of([framed({"path": "a.rb"}), framed({"path": "b.html"})])
    'ruby'
    >>> language_of([framed({"method": "run"})], "Java")
    'java'
    """
    paths = [frame.parts["path"].lower().partition("?")[0] for frame in frames]
    told = Counter(
        next((name for name, row in LANGUAGES.items() if path.endswith(row.ends)), OTHER)
        for path in paths
    )
    del told[OTHER]
    if told:
        return max(LANGUAGES, key=lambda name: told[name])
    word = platform.strip().lower()
    return next((name for name, row in LANGUAGES.items() if word in row.platforms), OTHER)


def frame_lines(frames: Sequence[Framed], innermost: int, language: str) -> list[str]:
    """Print frames as they stand, with the source that the nearest ones to `innermost` carry."""
    with_source = _with_source(frames, innermost)
    return [
        text
        for n, frame in enumerate(frames)
        for text in _lines(frame, n, language, n in with_source)
    ]


def own_rows(frames: Sequence[Framed]) -> list[str]:
    """Say which frames the tracker calls the application's; nothing where it does not tell apart.

    >>> own_rows([framed({"file": "a.rb", "line": 1, "in_app": True}), framed({"file": "b.rb"})])
    ['    in app| a.rb:1']
    """
    own = [frame for frame in frames if is_own(frame.fields)]
    if len(own) == len(frames):
        return []
    places = [(item.parts["path"], int(item.parts["line"])) for item in own if item.parts["path"]]
    return [own_row(path, line) for path, line in dict.fromkeys(places)]


def is_own(frame: Fields) -> bool:
    """Tell whether the tracker calls a frame the application's."""
    return any(frame.get(name) is True for name in OWN_FIELDS)


def _with_source(frames: Sequence[Framed], innermost: int) -> frozenset[int]:
    own = [n for n, frame in enumerate(frames) if is_own(frame.fields)]
    nearest = sorted(own or range(len(frames)), key=lambda n: abs(n - innermost))
    return frozenset(nearest[: limits.SOURCE_FRAMES])


def _lines(item: Framed, number: int, language: str, with_source: bool) -> list[str]:
    part = item.parts
    printed = _line(part, number, language)
    if not printed or not with_source or part["text"]:
        return [printed] if printed else []
    line = int(part["line"])
    code = code_of(item.fields, line) if language == "python" else ""
    return [printed, *([f"    {code}"] if code else []), *source_rows(item.fields, line)]


def _line(part: Parts, number: int, language: str) -> str:
    if part["text"]:
        return part["text"]
    owned = ".".join(name for name in (part["module"], part["function"]) if name) or "unknown"
    if language == OTHER:
        function = part["function"] or part["module"]
        if not (part["path"] or function):
            return ""
        return frame_row(part["path"], int(part["line"]), int(part["column"]), function)
    if not part["path"]:
        has_name = owned != "unknown"
        return LANGUAGES[language].without_file.format(owned=owned) if has_name else ""
    if part["line"] == "0" and language not in ("python", "java"):
        return ""
    named = {
        **part,
        "function": part["function"] or "unknown",
        "line": "None" if part["line"] == "0" else part["line"],
    }
    if language == "ruby":  # a quote ends the name
        named["function"] = named["function"].replace("'", "")
    column = f":{part['column']}" if part["column"] != "0" else ""
    at_line = f":{part['line']}" if part["line"] != "0" else ""
    return LANGUAGES[language].form.format(
        **named, owned=owned, number=number, at_column=column, at_line=at_line
    )


# Stack traces of records: texts, lists of lines and lists of frame objects, made one text.

_OUTERMOST_FIRST = frozenset(("lineno", "lineNo"))  # Sentry's and Rollbar's names of the line
_PYTHON_HEAD = "Traceback (most recent call last):"


def stack_text(value: object) -> str:
    """Return the stack trace as one text; empty where there is none.

    >>> stack_text(["a.rb:1:in `x'", "b.rb:2:in `y'"]).count("\\n")
    1
    >>> stack_text([{"file": "app/cart.rb", "line": 7, "method": "total"}])
    "  app/cart.rb:7:in `total'"
    """
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
    """Sentry and Rollbar list the outermost frame first, for every language; others the innermost.

    Python alone prints the outermost first.
    """
    is_outermost_first = any(_OUTERMOST_FIRST & frame.keys() for frame in frames)
    ordered = [framed(frame) for frame in frames]
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
    frames: tuple[Framed, ...] = ()  # innermost first


def thrown(error_class: object, message: object, frames: object, reverse: bool = False) -> Thrown:
    """Make an exception of what a record says, whatever types it has.

    `reverse` is for frames that stand outermost first.

    >>> [one.parts["path"] for one in thrown("KeyError", "no", [{"file": "a.rb"}, "b.rb"]).frames]
    ['a.rb']
    """
    listed = frames if isinstance(frames, list) else []
    objects = [item for item in listed if isinstance(item, Mapping)]
    ordered = objects[::-1] if reverse else objects
    if len(ordered) > limits.MAX_LINES:
        ordered = [*ordered[: limits.MAX_LINES // 2], *ordered[-limits.MAX_LINES // 2 :]]
    name = name_of(error_class)
    words = text_of(message).removeprefix(f"{name}: ")
    return Thrown(name, words, tuple(framed(item) for item in ordered))


def chain_text(chain: Sequence[Thrown], platform: str = "") -> str:
    """Write exceptions, the reported one first, then what caused it; empty without any frame.

    >>> chain_text([thrown("KeyError", "no total", [{"file": "a.rb", "line": 7}])])
    "KeyError: no total\\n  a.rb:7:in `unknown'"
    """
    chain = _bounded(chain)
    frames = [frame for item in chain for frame in item.frames]
    if not frames:
        return ""
    language = language_of(frames, platform)
    write = _WRITERS.get(language, _caused_by)
    first, _, rest = write(chain, language).partition("\n")
    return text_of("\n".join((first, *own_rows(frames), rest)), limits.STACK_LIMIT) if rest else ""


def _bounded(chain: Sequence[Thrown]) -> Sequence[Thrown]:
    if len(chain) <= limits.MAX_LINKS:
        return chain
    return (*chain[: limits.MAX_LINKS // 2], *chain[-limits.MAX_LINKS // 2 :])


def _header(item: Thrown) -> str:
    """Name an exception on one line; a message that would be read as a frame is left out."""
    line = " ".join(item.message.strip().partition("\n")[0].split())[: 2 * limits.NAME_LIMIT]
    name = item.error_class or "unknown"
    header = f"{name}: {line}" if line else name
    return name if _LIKE_PLACE.search(line) and parse(header).links else header


def _printed(item: Thrown, language: str) -> list[str]:
    return frame_lines(item.frames, 0, language)


def _caused_by(chain: Sequence[Thrown], language: str) -> str:
    parts = ["\n".join((_header(item), *_printed(item, language))) for item in chain]
    return "\nCaused by: ".join(parts)


def _python(chain: Sequence[Thrown], language: str) -> str:
    """Python prints causes first, and the innermost frame of each last."""
    parts = []
    for item in reversed(chain):
        frames = frame_lines(item.frames[::-1], len(item.frames) - 1, language)
        parts.append("\n".join((_PYTHON_HEAD, *frames, _header(item))))
    return f"\n\n{_PYTHON_CAUSE}\n\n".join(parts)


def _php(chain: Sequence[Thrown], language: str) -> str:
    """PHP prints causes first, and beside a place what was called there: one frame further in."""
    parts = []
    for n, item in enumerate(reversed(chain)):
        places = [frame.parts for frame in item.frames]
        word = "Next" if n else "PHP Fatal error:  Uncaught"
        inner = places[0] if places else {"path": ""}
        at = f" in {inner['path']}:{inner['line']}" if inner["path"] else ""
        called = [_called(outer, at) for outer, at in zip(item.frames[1:], places, strict=False)]
        rows = [*frame_lines(called, 0, language)]
        if places:
            rows.append(f"#{len(rows)} [internal function]: {places[-1]['function'] or 'main'}()")
        head = f"{word} {_header(item)}{at}"
        parts.append("\n".join((head, "Stack trace:", *rows) if places else (head,)))
    return "\n\n".join(parts)


def _called(frame: Framed, inner: Mapping[str, str]) -> Framed:
    owner, name = inner["module"], inner["function"] or "unknown"
    function = f"{owner}::{name}" if owner and "::" not in name else name
    return frame._replace(parts={**frame.parts, "function": function, "module": ""})


def _csharp(chain: Sequence[Thrown], language: str) -> str:
    heads = [_header(item) for item in chain]
    frames = [_printed(item, language) for item in chain]
    lines = [heads[0], *(f" ---> {head}" for head in heads[1:]), *frames[-1]]
    for outer in reversed(frames[:-1]):
        lines += [_END_OF_CAUSE, *outer]
    return "\n".join(lines)


def _go(chain: Sequence[Thrown], language: str) -> str:
    """Go's errors have no frames of their own: those of the first that has any stand for all."""
    item = next(item for item in chain if item.frames)
    return "\n".join((_header(item), *_printed(item, language)))


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

    def __init__(self, parser: ExceptionOf, most: int = limits.TRACES_KEPT) -> None:
        """Begin with nothing remembered; at most `most` traces are."""
        self._parser = parser
        self._most = most
        self._kept: dict[tuple[bool, int], ExceptionLink] = {}
        self._whole: dict[int, ExceptionLink] = {}  # by all lines

    def __call__(self, raw: str) -> ExceptionLink:
        """Read the exception that a raw stack trace reports."""
        whole = hash(raw)
        exception = self._whole.get(whole)
        if exception is None:
            exception = self._read(raw)
            if len(self._whole) >= self._most:
                self._whole.clear()
            self._whole[whole] = exception
        return exception

    def _read(self, raw: str) -> ExceptionLink:
        headers = tuple(_headers(raw))
        for key, header in headers:
            known = self._kept.get(key)
            message = _message(header, known.error_class) if known else None
            if known and message is not None:
                return known.model_copy(update={"message": message})
        exception = self._parser(raw)
        for key, header in headers:
            if exception.error_class and _message(header, exception.error_class) == (
                exception.message
            ):
                if len(self._kept) >= self._most:
                    self._kept.clear()
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
