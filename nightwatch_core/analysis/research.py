"""What the analyst is told besides the error: files, source, suspects, releases, learnings."""

import re
from collections.abc import Callable, Iterable
from functools import cache

from nightwatch_core.analysis import limits
from nightwatch_core.code.called_names import frames_of
from nightwatch_core.code.callees import Search, callees
from nightwatch_core.code.definitions import definition_of
from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.limits import CALLEE_HITS, LINE
from nightwatch_core.code.record_fit import misfit
from nightwatch_core.code.suspects import suspects
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.intake.cases import root_class
from nightwatch_core.memory.notes.researcher import learnings_for_case
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.code import MergedPull, Release
from nightwatch_core.models.error import Case, DroppedGroup
from nightwatch_core.models.knowledge import PriorAnalysis, TaskFile
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.research import LikelyFile, Preview, PreviewKind, ResearchContext
from nightwatch_core.models.trace import Frame
from nightwatch_core.models.value import Value
from nightwatch_core.patterns import patterns_for
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.text.transactions import endpoint
from nightwatch_core.traces.path_index import PathIndex

Read = Callable[[str], str | None]


def gather(
    case: Case,
    index: PathIndex,
    read: Read,
    pulls: Iterable[MergedPull] = (),
    releases: tuple[Release, ...] = (),
    priors: tuple[PriorAnalysis, ...] = (),
    dropped: tuple[DroppedGroup, ...] = (),
    search: Search | None = None,
) -> ResearchContext:
    """Put together what is known before an analysis starts; `read` gives a file's text or None.

    `search` finds lines of the tree that hold a text; without it fewer definitions are found.
    """
    likely, once = likely_files(case, index), cache(read)
    unfit = misfit(case, once, (lambda text: search(text, "", CALLEE_HITS)) if search else None)
    windows = previews(case, likely, once)
    windows += callers(case, once, windows)
    return ResearchContext(
        likely_files=likely,
        previews=(*windows, *callees(case, index, once, search, windows)),
        tests=files_testing(likely[0].path, index) if case.trace and likely else (),
        suspects=() if unfit else suspects(case, likely, pulls, releases),
        misfit=unfit,
        releases=recent_releases(case, releases),
        priors=priors[: limits.PRIORS],
        similar_ignored=similar_ignored(case, dropped),
    )


class PromptLearnings(Value):
    """Everything a night may tell its analysts besides earlier cases: notes, and patterns."""

    tasks: tuple[TaskFile, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    complaints: tuple[str, ...] = ()

    def add_to(self, unknown: UnexplainedCase) -> UnexplainedCase:
        """Add to a case what there is about it, but for what its earlier cases tell already."""
        priors = {prior.lesson.fingerprint for prior in unknown.priors}
        tasks = (one for one in self.tasks if one.id not in priors)
        learnings = learnings_for_case(unknown.case, tasks)
        patterns = patterns_for(unknown.case, self.patterns)
        return unknown.model_copy(update={"learnings": learnings, "patterns": patterns})


def with_learnings(research: ResearchContext, unknown: UnexplainedCase) -> ResearchContext:
    """Add the notes and patterns that were found for the case."""
    learnings = {"learnings": unknown.learnings, "patterns": unknown.patterns}
    return research.model_copy(update=learnings)


def previews(case: Case, likely: tuple[LikelyFile, ...], read: Read) -> tuple[Preview, ...]:
    """Cut windows of likely files: around the failing line, else the action, else the beginning.

    Files that cannot be read are passed over for the next one. Previews that would pass the
    room for all of them are dropped from the tail.
    """
    shown: list[Preview] = []
    for file in likely:
        text = read(file.path) if len(shown) < limits.PREVIEWS else None
        if text is None or not text.strip():
            continue
        line = line_of_interest(case, file.path, text)
        kind: PreviewKind = "failing" if _frame_in(case, file.path) else "guess"
        shown.append(window(file.path, text, line, limits.PREVIEW_LINES, kind))
    while sum(len(preview.text) for preview in shown) > limits.PREVIEW_CHARACTERS:
        shown.pop()
    return tuple(shown)


def callers(case: Case, read: Read, shown: tuple[Preview, ...]) -> tuple[Preview, ...]:
    """Cut small windows around the innermost own frames whose lines were not `shown`."""
    windows: list[Preview] = []
    for frame in frames_of(case):
        text = read(frame.repo_path)
        line = frame.line or 0
        seen = ((one.start, one.end) for one in (*shown, *windows) if one.path == frame.repo_path)
        is_shown = any(start <= line <= end for start, end in seen)
        if text and 0 < line <= len(text_lines(text)) and not is_shown:
            windows.append(window(frame.repo_path, text, line, limits.CALLER_LINES, "frame"))
    return tuple(windows)


def window(path: str, text: str, line: int, lines: int, kind: PreviewKind = "guess") -> Preview:
    """Cut at most `lines` lines with `line` in their middle, as far as the file allows.

    >>> found = window("a.py", "1\\n2\\n3\\n4\\n5\\n", line=4, lines=3)
    >>> found.start, found.end, found.text, found.lines
    (3, 5, '3\\n4\\n5', 5)
    """
    every = text_lines(text)
    start = max(1, min(line - lines // 2, len(every) - lines + 1))
    end = min(len(every), start + lines - 1)
    cut = (" ".join(one.splitlines())[:LINE] for one in every[start - 1 : end])
    shown = "\n".join(cut)
    return Preview(path=path, start=start, end=end, text=shown, lines=len(every), kind=kind)


def line_of_interest(case: Case, path: str, text: str) -> int:
    """Find the line of `path` that an analyst wants to see first; 1 where nothing is known."""
    return next((line for way in INTERESTS if (line := way(case, path, text))), 1)


def _failing_line(case: Case, path: str, text: str) -> int:
    frame = _frame_in(case, path)
    line = (frame.line or 0) if frame else 0
    return line if line <= len(text_lines(text)) else 0


def _failing_function(case: Case, path: str, text: str) -> int:
    frame = _frame_in(case, path)
    return _line_of(re.split(r"[\s.:#$]", frame.function)[-1], path, text) if frame else 0


def _action(case: Case, path: str, text: str) -> int:
    return _line_of(endpoint(case.leader.transaction).action, path, text)


def _line_of(name: str, path: str, text: str) -> int:
    found = definition_of(name, path, text)
    return found.line if found else 0


def _frame_in(case: Case, path: str) -> Frame | None:
    """The innermost frame of a file."""
    frames = (*case.trace.in_app, *case.trace.frames) if case.trace else ()
    return next((frame for frame in frames if frame.repo_path == path), None)


# What makes a line of a file interesting, the best reason first; 0 where it does not hold.
INTERESTS: tuple[Callable[[Case, str, str], int], ...] = (
    _failing_line,
    _failing_function,
    _action,
)


def recent_releases(case: Case, releases: tuple[Release, ...]) -> tuple[Release, ...]:
    """List the last three releases made before the error was last seen, newest first."""
    seen = max((g.last_seen for g in case.groups if g.last_seen), default=None)
    known = (release for release in releases if seen is None or release.at <= seen)
    return tuple(sorted(known, key=lambda release: release.at, reverse=True)[: limits.RELEASES])


def similar_ignored(case: Case, dropped: tuple[DroppedGroup, ...]) -> tuple[DroppedGroup, ...]:
    """List at most three ignored groups of the case's class, or of its message but for names."""
    classes = {last_segment(g.error_class) for g in case.groups}
    classes.add(last_segment(root_class(case.leader, case.trace)))
    templates = {message_template(g.message) for g in case.groups} - {""}

    def alike(group: DroppedGroup) -> bool:
        same_class = last_segment(group.group.error_class) in classes
        return same_class or message_template(group.group.message) in templates

    similar = (one for one in dropped if one.kind == "ignored" and alike(one))
    return tuple(similar)[: limits.IGNORED_KEPT]
