"""Stack traces of records: texts, lists of lines and lists of frame objects, made one text."""

from collections.abc import Mapping, Sequence

from nightwatch_core.adapters.files.frame_sources import code_of, source_rows
from nightwatch_core.adapters.files.limits import MAX_LINES, SOURCE_FRAMES, STACK_LIMIT
from nightwatch_core.adapters.files.record_values import name_of, number_of, text_of

# Where frame objects keep their parts, best first.
FRAME_FIELDS: dict[str, tuple[str, ...]] = {
    "path": ("abs_path", "absPath", "filepath", "filename", "fileName", "file", "path"),
    "line": ("lineno", "lineNo", "line_number", "lineNumber", "line", "number"),
    "column": ("colno", "colNo", "column_number", "columnNumber", "column", "col"),
    "function": ("function", "functionName", "method", "methodName", "name", "func"),
    "module": ("module", "class", "className", "declaringClass", "namespace"),
    "text": ("formatted",),
}

# How a frame is written, by the end of its path, so that the parsers of traces know it again.
FRAME_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    ((".py",), '  File "{path}", line {line}, in {function}'),
    ((".java", ".kt", ".scala", ".groovy"), "\tat {owned}({path}:{line})"),
    (
        (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue"),
        "    at {function} ({path}:{line}{at_column})",
    ),
    ((".php", ".phtml"), "#{number} {path}({line}): {function}()"),
    ((".cs", ".vb", ".fs"), "   at {owned}() in {path}:line {line}"),
    ((".go",), "{owned}(...)\n\t{path}:{line}"),
    (("",), "  {path}:{line}:in `{function}'"),
)
OWN_FIELDS = ("in_app", "inApp", "in_project", "inProject", "is_application_frame")
_PYTHON_HEAD = "Traceback (most recent call last):"


def stack_text(value: object) -> str:
    """The stack trace as one text; empty where there is none.

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
    """The stack trace, with the exception named in it as its language does where it was not.

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
    pairs = [(_parts(frame), frame) for frame in frames]
    if pairs and pairs[0][0]["path"].endswith(".py"):
        if "formatted" in frames[0] or "filepath" in frames[0]:  # New Relic's: innermost first
            pairs.reverse()  # Python prints the innermost frame last
        innermost = len(pairs) - 1
    elif any("lineno" in frame or "in_app" in frame for frame in frames):
        pairs.reverse()  # Sentry's order is Python's, for every language
        innermost = 0
    else:
        innermost = 0
    with_source = _with_source([frame for _, frame in pairs], innermost)
    return [
        line
        for n, (part, frame) in enumerate(pairs)
        if part["path"] or part["text"]
        for line in _lines(part, frame, n, n in with_source)
    ]


def _with_source(frames: Sequence[Mapping[str, object]], innermost: int) -> frozenset[int]:
    """Which frames keep their source: the application's own nearest to the failure, else any."""
    own = [n for n, one in enumerate(frames) if any(one.get(name) is True for name in OWN_FIELDS)]
    nearest = sorted(own or range(len(frames)), key=lambda n: abs(n - innermost))
    return frozenset(nearest[:SOURCE_FRAMES])


def _parts(frame: Mapping[str, object]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part, names in FRAME_FIELDS.items():
        value = next((frame[name] for name in names if frame.get(name) not in (None, "")), "")
        if part in ("line", "column"):
            value = value.get("number") if isinstance(value, Mapping) else value  # Elastic's
            parts[part] = str(number_of(value) or 0)
        else:
            parts[part] = name_of(value)
    return parts


def _lines(
    part: Mapping[str, str], frame: Mapping[str, object], number: int, with_source: bool
) -> list[str]:
    printed = _line(part, number)
    if not with_source or part["text"]:
        return [printed]
    line = int(part["line"])
    code = code_of(frame, line) if part["path"].lower().endswith(".py") else ""
    return [printed, *([f"    {code}"] if code else []), *source_rows(frame, line)]


def _line(part: Mapping[str, str], number: int) -> str:
    if part["text"]:
        return part["text"]
    owned = ".".join(name for name in (part["module"], part["function"]) if name) or "unknown"
    form = next(form for ends, form in FRAME_FORMS if part["path"].lower().endswith(ends))
    named = {**part, "function": part["function"] or "unknown"}
    column = f":{part['column']}" if part["column"] != "0" else ""
    return form.format(**named, owned=owned, number=number, at_column=column)
