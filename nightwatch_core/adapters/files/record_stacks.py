"""Stack traces of records: texts, lists of lines and lists of frame objects, made one text."""

from collections.abc import Mapping, Sequence

from nightwatch_core.adapters.files.limits import MAX_LINES, STACK_LIMIT
from nightwatch_core.adapters.files.record_values import name_of, number_of, text_of

# Where frame objects keep their parts, best first.
FRAME_FIELDS: dict[str, tuple[str, ...]] = {
    "path": ("abs_path", "absPath", "filepath", "filename", "fileName", "file", "path"),
    "line": ("lineno", "lineNo", "line_number", "lineNumber", "line"),
    "function": ("function", "functionName", "method", "methodName", "name", "func"),
    "module": ("module", "class", "className", "declaringClass", "namespace"),
    "text": ("formatted",),
}

# How a frame is written, by the end of its path, so that the parsers of traces know it again.
FRAME_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    ((".py",), '  File "{path}", line {line}, in {function}'),
    ((".java", ".kt", ".scala", ".groovy"), "\tat {owned}({path}:{line})"),
    ((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".vue"), "    at {function} ({path}:{line}:1)"),
    ((".php", ".phtml"), "#{number} {path}({line}): {function}()"),
    ((".cs", ".vb", ".fs"), "   at {owned}() in {path}:line {line}"),
    ((".go",), "{owned}(...)\n\t{path}:{line}"),
    (("",), "  {path}:{line}:in `{function}'"),
)
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
    parts = [_parts(frame) for frame in frames]
    if parts and parts[0]["path"].endswith(".py"):
        if "formatted" in frames[0] or "filepath" in frames[0]:  # New Relic's: innermost first
            parts.reverse()  # Python prints the innermost frame last
    elif any("lineno" in frame or "in_app" in frame for frame in frames):
        parts.reverse()  # Sentry's order is Python's, for every language
    return [_line(part, n) for n, part in enumerate(parts) if part["path"] or part["text"]]


def _parts(frame: Mapping[str, object]) -> dict[str, str]:
    parts: dict[str, str] = {}
    for part, names in FRAME_FIELDS.items():
        value = next((frame[name] for name in names if frame.get(name) not in (None, "")), "")
        parts[part] = str(number_of(value) or 0) if part == "line" else name_of(value)
    return parts


def _line(part: Mapping[str, str], number: int) -> str:
    if part["text"]:
        return part["text"]
    owned = ".".join(name for name in (part["module"], part["function"]) if name) or "unknown"
    form = next(form for ends, form in FRAME_FORMS if part["path"].lower().endswith(ends))
    named = {**part, "function": part["function"] or "unknown"}
    return form.format(**named, owned=owned, number=number)
