"""The bodies of the first message's sections: what is known, as rows of data."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from nightwatch_core.analysis import limits
from nightwatch_core.code.edits import diff
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson, PriorAnalysis
from nightwatch_core.models.outcome import FAILED, TURNED_DOWN, OutcomeEvent
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.models.trace import Trace
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out
from nightwatch_core.text.units import moment


def error_text(case: Case) -> str:
    """Write what is counted of the case, and what each of its groups says."""
    group, left = case.leader, len(case.groups) - limits.GROUPS
    facts = (
        f"occurrences: {case.occurrences}",
        f"users: {group.users}" if group.users is not None else "",
        f"first seen: {moment(group.first_seen)}",
        f"last seen: {moment(group.last_seen)}",
        f"release: {line(group.release, 100)}" if group.release else "",
    )
    seen = [
        f"{line(one.error_class, 200)} in {line(one.transaction, 200) or 'unknown'}: "
        f"{block(one.message, limits.OTHER_MESSAGE if number else limits.MESSAGE)}"
        for number, one in enumerate(case.groups[: limits.GROUPS])
    ]
    more = [f"and {left} more groups of the same cause"] if left > 0 else []
    return "\n".join((*seen, *more, "; ".join(filter(None, facts))))


def preview_texts(previews: Iterable[Preview]) -> tuple[str, ...]:
    """Write previews, the parts of one definition together."""
    same = groupby(previews, key=lambda one: (one.path, one.because, one.until or -one.start))
    return tuple(preview_text(*parts) for _, parts in same)


def preview_text(*parts: Preview) -> str:
    """Write a preview: its place, why it is shown, its lines with their numbers.

    What was left out between its parts, and behind them, is said.
    """
    first, last = parts[0], parts[-1]
    width = len(str(last.end))
    rows: list[str] = []
    for part, after in zip(parts, (*(one.start for one in parts[1:]), last.until + 1), strict=True):
        numbered = enumerate(part.text.split("\n"), start=part.start)
        rows += [f"{number:>{width}}| {text}" for number, text in numbered]
        rows += [_left_out(part.end + 1, after - 1)] if after > part.end + 1 else []
    head = f"{first.path} (lines {first.start}-{last.end} of {first.lines})"
    why = f": {first.because}" if first.because else ""
    return "\n".join((line(head + why, 400), *rows))


def _left_out(start: int, end: int) -> str:
    return f"[{start}-{end} left out]" if end > start else f"[{start} left out]"


def hits_text(hits: tuple[SearchHit, ...]) -> str:
    """Write lines of other places, one a row."""
    return "\n".join(line(f"{hit.path}:{hit.line}: {hit.text.strip()}", 300) for hit in hits)


def files_text(research: ResearchContext, trace: Trace | None) -> str:
    """Name the failing file's tests, and likely files that neither trace nor source shows."""
    shown = {frame.repo_path for frame in (trace.frames if trace else ()) if frame.in_app}
    shown |= {preview.path for preview in research.previews}
    tests = [line(f"tests of it: {', '.join(research.tests)}", 400)] if research.tests else []
    likely = (
        line(f"{one.path}: {'; '.join(one.because)}", 400)
        for one in research.likely_files[: limits.LIKELY_FILES]
        if one.path not in shown
    )
    return "\n".join((*tests, *likely))


def prior_text(prior: PriorAnalysis) -> str:
    """Write an earlier case: what was found, and what became of it."""
    return "\n".join(row for row in _prior(prior) if row)


def _prior(prior: PriorAnalysis) -> Iterator[str]:
    lesson, match = prior.lesson, prior.match
    because = line(", ".join(match.because), 300)
    yield (
        f"{line(lesson.error_class, 200)} in {line(lesson.transaction, 200)} "
        f"(match {match.relevance or match.score:.0%}: {because})"
    )
    yield f"root cause: {line(lesson.root_cause, 1_000) or 'not known'}"
    yield (
        f"confidence {lesson.fix_confidence}, fix {'yes' if lesson.has_fix else 'no'}, "
        f"outcome: {line(lesson.outcome, 100) or 'unknown'}"
    )
    yield f"it no longer fits the code: {line(lesson.stale, 300)}" if lesson.stale else ""
    yield from (failed_fix(event) for event in lesson.fates[-limits.OUTCOME_EVENTS :])
    yield block(prior.summary, 500)
    yield turned_down(lesson)


def failed_fix(event: OutcomeEvent) -> str:
    """Write what people, or production, said to a proposed fix; empty where it did not fail."""
    words = "; ".join((event.because, *event.words[: limits.REVIEW_WORDS])).strip("; ")
    why = f": {line(words, limits.REASON)}" if words else ""
    return f"pull request #{event.number} {event.kind}{why}" if event.kind in FAILED else ""


def turned_down(lesson: Lesson) -> str:
    """Write the fix that failed, so that it is not proposed again; empty where none did."""
    if lesson.outcome not in TURNED_DOWN or not lesson.edits:
        return ""
    changes = middle_out(block(diff(lesson.edits), 3 * limits.REASON), limits.REASON)
    return f"that fix, not to be proposed again unchanged:\n{changes}"
