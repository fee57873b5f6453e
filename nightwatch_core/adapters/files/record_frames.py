"""Frame objects of records, whoever wrote them: their parts, and how each language prints them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nightwatch_core.adapters.files.frame_sources import code_of, source_rows
from nightwatch_core.adapters.files.limits import MAX_LINES, NAME_LIMIT, SOURCE_FRAMES, STACK_LIMIT
from nightwatch_core.adapters.files.records import is_loud, name_of, number_of, text_of
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.traces.grammar import frame_row
from nightwatch_core.traces.in_app import own_row

Fields = Mapping[str, object]
Parts = Mapping[str, str]


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
    return frozenset(nearest[:SOURCE_FRAMES])


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
        return text_of(value, STACK_LIMIT)
    if not isinstance(value, Sequence):
        return ""
    frames = [item for item in value[:MAX_LINES] if isinstance(item, Mapping)]
    lines = [item for item in value[:MAX_LINES] if isinstance(item, str)]
    return text_of("\n".join(_frame_lines(frames) if frames else lines), STACK_LIMIT)


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
        return text_of(f"{header}\n{stack}", STACK_LIMIT)
    head = "" if stack.startswith("Traceback") else f"{_PYTHON_HEAD}\n"
    return text_of(f"{head}{stack}\n{header}", STACK_LIMIT)


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


# Records of level error that name no exception: what was logged, and the place that logged it.

LOGGED = "logged error"  # stands for a class where a record names none; no class is called so

# Squeezed names of fields, best first, also of what surrounds the record.
_LOGGERS = ("logger", "loggername", "loglogger", "sourcecontext", "channel", "category", "name")
_ERRORS = ("error", "err", "errormessage", "exceptionmessage", "reason")
_FILES = ("sourcefile", "sourcelocationfile", "logoriginfilename", "codefilepath", "pathname",
          "callerfile", "sourcefilename", "filename", "file",
          "logginggoogleapiscomsourcelocationfile", "aroundsourcefile")  # fmt: skip
_LINES = ("sourceline", "sourcelocationline", "logoriginfileline", "codelineno", "codelinenumber",
          "lineno", "callerline", "sourcelinenumber", "linenumber", "line",
          "logginggoogleapiscomsourcelocationline", "aroundsourceline")  # fmt: skip
_FUNCTIONS = ("sourcefunction", "sourcelocationfunction", "logoriginfunction", "codefunction",
              "codefunctionname", "funcname", "function", "func", "aroundsourcefunction",
              "logginggoogleapiscomsourcelocationfunction")  # fmt: skip
_CALLERS = ("caller", "source", "callsite", "src")  # one text: cart.go:7
_CALLER = re.compile(r"(?P<file>\S{1,400}\.\w{1,5}):(?P<line>\d{1,7})(?::\d{1,5})?$")
# "Cart::Empty: no lines": a qualified name, or one that ends as names of exceptions do.
_NAMED = re.compile(
    r"(?P<name>[A-Z]\w{0,80}(?:(?:::|\.|\\)[A-Z]\w{0,80}){1,8}"
    r"|[A-Z]\w{0,80}(?:Error|Exception|Failure|Invalid|NotFound))(?:: (?P<message>.*))?$",
    re.DOTALL,
)


class Named(NamedTuple):
    """Class and message out of one text."""

    error_class: str
    message: str


def named_in(fields: Mapping[str, object]) -> Named | None:
    """Give the class that stands before the message of an error; None where none does.

    >>> named_in({"error": "Cart::Empty: no lines"})
    Named(error_class='Cart::Empty', message='no lines')
    >>> named_in({"error": "Dial failed: refused"}) is None
    True
    """
    for name in _ERRORS[:2]:
        text = fields.get(name)
        match = _NAMED.match(text) if isinstance(text, str) else None
        if match:
            return Named(match["name"], match["message"] or "")
    return None


def is_logged_error(fields: Mapping[str, object], level: object) -> bool:
    """Tell a record of level error that says where it comes from, or what the error was.

    >>> is_logged_error({"caller": "cart.go:7"}, "error"), is_logged_error({}, "error")
    (True, False)
    """
    if not is_loud(level):
        return False
    names = (*_ERRORS, *_LOGGERS, *_CALLERS, *_FILES)
    return any(isinstance(fields.get(name), str) for name in names)


def message_with_error(fields: Mapping[str, object], message: str) -> str:
    """Give what was logged, and the error it was logged with.

    >>> message_with_error({"err": "no lines"}, "cannot pay")
    'cannot pay: no lines'
    """
    errors = (value for name in _ERRORS if isinstance(value := fields.get(name), str))
    error = next((error.strip() for error in errors), "")
    if not message or not error or error in message:
        return message or error
    return f"{message}: {error}"


def place_of(fields: Mapping[str, object]) -> str:
    r"""Give the place that logged the record, as a stack trace of one frame; empty without one.

    >>> place_of({"caller": "billing/cart.go:7"})
    'unknown(...)\n\tbilling/cart.go:7'
    """
    callers = (value for name in (*_CALLERS, *_FILES) if isinstance(value := fields.get(name), str))
    match = next((m for caller in callers if (m := _CALLER.match(caller[:NAME_LIMIT]))), None)
    file = match["file"] if match else _first(fields, _FILES)
    line = number_of(match["line"] if match else _first(fields, _LINES))
    if not isinstance(file, str) or not line:
        return ""
    return stack_text([{"file": file, "line": line, "function": _first(fields, _FUNCTIONS)}])


def _first(fields: Mapping[str, object], names: tuple[str, ...]) -> object:
    values = (fields[name] for name in names if name in fields)
    return next((value for value in values if isinstance(value, str | int)), None)
