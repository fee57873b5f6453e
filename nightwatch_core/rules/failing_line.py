"""Finds the failing line: the innermost in-app frame of the root exception, read at this commit."""

from nightwatch_core.code.definitions import function_around
from nightwatch_core.code.languages import language_of
from nightwatch_core.models.error import Case, Frame, Trace
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.finding import FailingLine
from nightwatch_core.rules.known_code import KnownCode

_ABOVE, _BELOW = 50, 30  # lines read around the failing one
_NEAR = 40  # lines a failing line may have moved between the release and this commit


def app_frames(trace: Trace | None) -> tuple[Frame, ...]:
    """In-app frames with a line, those of the root exception first, innermost first."""
    if trace is None:
        return ()
    return tuple(frame for frame in trace.in_app if frame.line and frame.path)[:20]


def failing_line(case: Case, research: ResearchContext, code: KnownCode) -> FailingLine:
    """The place of the failure; without a usable frame, an empty place in the likeliest file."""
    frames = app_frames(case.trace)
    trace_language = case.trace.language if case.trace else ""
    if frames:
        return line_of_frame(frames[0], trace_language, code)
    likely = next(iter(research.likely_files), None)
    path = likely.path if likely else ""
    return FailingLine(path=path, language=language_of(path, trace_language))


def line_of_frame(frame: Frame, trace_language: str, code: KnownCode) -> FailingLine:
    """The place of one frame."""
    path, line = code.resolved(frame.repo_path or frame.path), frame.line or 0
    language = language_of(path, trace_language)
    lines = code.lines(path, line - _ABOVE, line + _BELOW)
    now = _line_now(lines, line, frame.code)
    top = function_around(path, lines, now or line)
    return FailingLine(
        path=path,
        line=now or line,
        function=frame.function,
        text=lines.get(now or line, ""),
        language=language,
        seen=bool(now),
        moved=line in lines and not now,
        lines=lines,
        top=top,
    )


def _line_now(lines: dict[int, str], line: int, printed: str) -> int:
    """Where the printed line stands at this commit: there, or at the one equal line nearby."""
    text = printed.strip()
    if line in lines and (not text or _same(lines[line], text)):
        return line
    moved = [n for n in lines if abs(n - line) <= _NEAR and text and lines[n].strip() == text]
    return moved[0] if len(moved) == 1 else 0


def _same(line: str, printed: str) -> bool:
    """Whether a trace's line is this line; traces may cut it short."""
    return line.strip() == printed or (len(printed) > 20 and printed in line)
