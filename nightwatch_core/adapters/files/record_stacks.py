"""Stack traces of records: texts, lists of lines and lists of frame objects, made one text."""

from collections.abc import Mapping, Sequence

from nightwatch_core.adapters.files.limits import MAX_LINES, STACK_LIMIT
from nightwatch_core.adapters.files.record_frames import (
    frame_lines,
    framed,
    language_of,
    own_rows,
)
from nightwatch_core.adapters.files.record_values import text_of

_OUTERMOST_FIRST = frozenset(("lineno", "lineNo"))  # Sentry's and Rollbar's names of the line
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
