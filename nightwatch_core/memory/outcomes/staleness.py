"""Whether a lesson still fits the code: the files it cites may be gone or rewritten since."""

from collections.abc import Callable, Collection, Iterable

from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.knowledge import CitedLine, Lesson
from nightwatch_core.models.outcome import OutcomeUpdate
from nightwatch_core.traces.frame_mapping import digest

MOST_READ = 200  # files a night


def touched(pulls: Iterable[MergedPull], lessons: Iterable[Lesson]) -> frozenset[str]:
    """Files that lessons cite and that recent pull requests changed, at most `MOST_READ`."""
    cited = {one.path for lesson in lessons for one in lesson.evidence}
    return frozenset(sorted(cited & {file for pull in pulls for file in pull.files})[:MOST_READ])


def stale(
    lesson: Lesson,
    paths: Collection[str],
    changed: Collection[str],
    read: Callable[[str], str | None],
) -> str | None:
    """Why a lesson no longer fits the code; empty where it does again, None for no news.

    `paths` are all files of tonight's tree; only files among `changed` are read.

    >>> from datetime import date
    >>> cited = CitedLine(path="a.py", line=1, digest="d1")
    >>> one = Lesson(fingerprint="v1:1", error_class="E", root_cause="", evidence=(cited,),
    ...              first_detected=date(2030, 5, 1))
    >>> stale(one, (), (), dict().get)
    'a.py is gone'
    """
    if lesson.watch:  # its own fix rewrote what it cites: whether that helped is measured
        changed = ()
    why = next((said for one in lesson.evidence if (said := _why(one, paths, changed, read))), "")
    if not why and lesson.stale:
        unread = any(one.path not in changed for one in lesson.evidence if one.path in lesson.stale)
        why = lesson.stale if unread and _still_there(lesson, paths) else ""
    return None if why == lesson.stale else why


def _why(
    one: CitedLine,
    paths: Collection[str],
    changed: Collection[str],
    read: Callable[[str], str | None],
) -> str:
    if one.path not in paths:
        return f"{one.path} is gone"
    if one.digest and one.path in changed and digest(read(one.path)) != one.digest:
        return f"{one.path} was rewritten"
    return ""


def _still_there(lesson: Lesson, paths: Collection[str]) -> bool:
    """Whether it was rewriting, which only reading the file again can take back."""
    return lesson.stale.endswith("was rewritten") and all(o.path in paths for o in lesson.evidence)


def with_staleness(
    lesson: Lesson, news: OutcomeUpdate | None, why: str | None
) -> OutcomeUpdate | None:
    """What tonight brought for a lesson, and that it no longer fits the code, or does again."""
    if why is None:
        return news
    told = news or OutcomeUpdate(
        fingerprint=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title,
        watch=lesson.watch,
        outcome=lesson.outcome,
    )
    return told.model_copy(update={"stale": why})
