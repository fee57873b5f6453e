"""Which errors somebody is at: an issue or pull request of ours is open, or a fix is watched."""

from collections.abc import Iterable

from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.report import RunReport

ENDED = (
    *("merged", "edited before merge", "closed unmerged", "closed", "not planned"),
    *("verified", "no effect"),
)


def in_work(report: RunReport, lessons: Iterable[Lesson]) -> frozenset[str]:
    """Names of errors with an open issue or pull request of ours, or a fix that is being watched.

    What the tracker told tonight counts. Where it told nothing, lessons do, and an item whose end
    none of them knows is open.
    """
    at = {item.fingerprint for item in report.outcomes if item.state == "open"}
    at |= {one.fingerprint for one in report.receipts if one.number}
    at |= {one.fingerprint for one in report.followed if one.watch and not one.watch.verdict}
    ours = (
        lesson
        for lesson in lessons
        if lesson.names & at
        or (lesson.watch and not lesson.watch.verdict)
        or (not report.outcomes and _remembers_open(lesson))
    )
    return frozenset(at).union(*(lesson.names for lesson in ours))


def _remembers_open(lesson: Lesson) -> bool:
    last: dict[int | None, str] = {lesson.issue_number: "", lesson.pr_number: ""}
    last |= {one.number: one.outcome for one in lesson.proposed}
    last |= {fate.number: fate.kind for fate in lesson.fates}
    return any(end not in ENDED for number, end in last.items() if number is not None)
