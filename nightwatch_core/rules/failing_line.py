"""Finds the failing line: the innermost in-app frame of the root exception, read at this commit."""

from nightwatch_core.code.definitions import function_around
from nightwatch_core.code.languages import language_of
from nightwatch_core.models.error import Case, Frame, Trace
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.finding import Site
from nightwatch_core.rules.known_code import KnownCode

_ABOVE, _BELOW = 50, 30  # lines read around the failing one
_NEAR = 40  # lines a failing line may have moved between the release and this commit


def app_frames(trace: Trace | None) -> tuple[Frame, ...]:
    """In-app frames with a line, those of the root exception first, innermost first."""
    if trace is None:
        return ()
    return tuple(frame for frame in trace.in_app if frame.line and frame.path)[:20]


def failing_site(case: Case, research: ResearchContext, code: KnownCode) -> Site:
    """The place of the failure; without a usable frame, an empty place in the likeliest file."""
    frames = app_frames(case.trace)
    told = case.trace.language if case.trace else ""
    if frames:
        return site_at(frames[0], told, code)
    likely = next(iter(research.likely_files), None)
    path = likely.path if likely else ""
    return Site(path=path, language=language_of(path, told))


def site_at(frame: Frame, told: str, code: KnownCode) -> Site:
    """The place of one frame."""
    path, line = code.resolved(frame.repo_path or frame.path), frame.line or 0
    language = language_of(path, told)
    lines = code.lines(path, line - _ABOVE, line + _BELOW)
    found = _line_now(lines, line, frame.code)
    top = function_around(path, lines, found or line)
    return Site(
        path=path,
        line=found or line,
        function=frame.function,
        text=lines.get(found or line, ""),
        language=language,
        seen=bool(found),
        moved=line in lines and not found,
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
