"""Whether a lesson may stand in for a new analysis, and the analysis it then gives."""

from collections.abc import Callable
from datetime import timedelta

from nightwatch_core.memory.lessons.file_names import file_name
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.memory.nights import night_date, plausible
from nightwatch_core.memory.outcomes.rates import is_spike
from nightwatch_core.memory.outcomes.tracker_outcomes import REOPENED, open_trouble
from nightwatch_core.models.analysis import Analysis, Ending, Evidence, Learning
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import FAILED, TURNED_DOWN, OccurrenceCount
from nightwatch_core.models.report import Night
from nightwatch_core.models.value import Value


class CaseTonight(Value):
    """A lesson's error tonight: what may be news about it."""

    case: Case
    night: Night
    traffic: int | None = None  # the application's transactions in the window; None: not known
    lesson_days: int = 0  # days until a lesson is looked at afresh; 0: never

    @property
    def count(self) -> OccurrenceCount:
        """How often the error came in the night's window."""
        hours = (self.night.window.until - self.night.window.since) / timedelta(hours=1)
        return OccurrenceCount(
            occurrences=self.case.occurrences, hours=max(hours, 0.0), traffic=self.traffic, nights=1
        )


def _no_root_cause(lesson: Lesson, _: Callable[[str], str]) -> str:
    return "" if lesson.root_cause.strip() else "it names no root cause"


def _low_confidence(lesson: Lesson, _: Callable[[str], str]) -> str:
    return "its confidence was low" if lesson.fix_confidence == "low" else ""


def _no_evidence(lesson: Lesson, _: Callable[[str], str]) -> str:
    return "" if lesson.evidence else "it cites no line of code"


def _lost_edits(lesson: Lesson, _: Callable[[str], str]) -> str:
    lost = lesson.has_fix and not lesson.edits
    return "its fix was not kept" if lost else ""


def _undated_file(lesson: Lesson, _: Callable[[str], str]) -> str:
    loose = next((cited.path for cited in lesson.evidence if not cited.digest), "")
    return f"it does not say what {loose} looked like" if loose else ""


def _changed_file(lesson: Lesson, digest_of: Callable[[str], str]) -> str:
    digests = {cited.path: cited.digest for cited in lesson.evidence}
    changed = next((path for path, old in digests.items() if digest_of(path) != old), "")
    return f"{changed} has changed since" if changed else ""


def _regression(lesson: Lesson, meeting: CaseTonight) -> str:
    """The lesson's own nights may have seen it come back: the same return is news once."""
    seen = lesson.seen_until
    if seen and seen.tzinfo and not plausible(seen, meeting.night):
        seen = meeting.night.window.since
    is_new = meeting.case.regressed_after(seen)
    return "it was resolved, and came back" if is_new else ""


def _outcome(lesson: Lesson, meeting: CaseTonight) -> str:
    return open_trouble(lesson)


def _spike(lesson: Lesson, meeting: CaseTonight) -> str:
    earlier = [seen for seen in lesson.nights if seen.night != meeting.night.id]
    return is_spike(earlier, meeting.count)


def _old(lesson: Lesson, meeting: CaseTonight) -> str:
    """Lessons of an older form do not say when they were analysed: they are as old as they are."""
    if not meeting.lesson_days:
        return ""
    at, end = plausible(lesson.analysed_at, meeting.night), meeting.night.window.until
    days = (end - at).days if at else (end.date() - lesson.first_detected).days
    return f"it is {days} days old" if days > meeting.lesson_days else ""


NEWS: tuple[Callable[[Lesson, CaseTonight], str], ...] = (_regression, _outcome, _spike, _old)
"""What happened since the lesson, and speaks against the soundest one."""

DOUBTS: tuple[Callable[[Lesson, Callable[[str], str]], str], ...] = (
    _no_root_cause,
    _low_confidence,
    _no_evidence,
    _lost_edits,
    _undated_file,
    _changed_file,
)


def news(lesson: Lesson, meeting: CaseTonight) -> str:
    """What happened since the lesson that wants a new analysis; empty for nothing."""
    return next(filter(None, (told(lesson, meeting) for told in NEWS)), "")


def still_sound(
    lesson: Lesson, digest_of: Callable[[str], str], meeting: CaseTonight | None = None
) -> tuple[bool, str]:
    """Whether a lesson may stand in for a new analysis of a case tonight, and why (not).

    `digest_of` gives the digest of a file at tonight's commit, empty where there is no such file;
    it is asked only when nothing else speaks against the lesson.
    """
    if meeting and (reason := news(lesson, meeting)):
        return False, reason
    for doubt in DOUBTS:
        if reason := doubt(lesson, digest_of):
            return False, reason
    files = len({cited.path for cited in lesson.evidence})
    return True, f"{'the file' if files == 1 else f'all {files} files'} it cites did not change"


def reused_analysis(lesson: Lesson, case: Case, night: Night) -> Analysis:
    """The lesson's finding as tonight's analysis, at no cost.

    Its evidence comes unverified and its score is 0: a document is never trusted for these; look
    the quotes up and compute the score as for any other answer.
    """
    known_since = _known_since(lesson, night)
    return Analysis(
        case=case,
        title=lesson.title or case.title,
        root_cause=lesson.root_cause,
        confidence=lesson.fix_confidence,
        evidence=tuple(Evidence(path=c.path, line=c.line, quote=c.quote) for c in lesson.evidence),
        fix=lesson.edits,
        next_steps=lesson.next_steps,
        learnings=tuple(Learning(fact=fact) for fact in lesson.learnings),
        tags=lesson.tags,
        related_to=lesson.related,
        because=(known_since,),
        known_since=known_since,
        ending=Ending(kind="reused", detail=lesson.file or file_name(lesson)),
        known_as=tuple(sorted(lesson.names)),
        rejected=refused_fixes(lesson),
        failed_pulls=failed_pulls(lesson),
        settled=settled(lesson),
        model="memory",
        commit=lesson.commit,
    )


def refused_fixes(lesson: Lesson) -> tuple[str, ...]:
    """Digests of fixes that people turned down, or that did not help: not proposed unchanged.

    A fix that had helped and was undone may be the right one again.
    """
    refused = (one.fix for one in lesson.proposed if one.outcome in TURNED_DOWN)
    return tuple(dict.fromkeys(fix for fix in refused if fix))


def failed_pulls(lesson: Lesson) -> tuple[int, ...]:
    """Our pull requests that did not settle the error, whatever became of them."""
    pulls = (one for one in lesson.proposed if one.kind == "pull")
    return tuple(one.number for one in pulls if one.outcome in FAILED)


def settled(lesson: Lesson) -> tuple[int, ...]:
    """Issues that we opened again and a person closed again: their word stands without news."""
    shut: dict[int, bool] = {}
    opened: set[int] = set()
    for fate in lesson.fates:
        if fate.kind in ("merged", "edited before merge"):  # another fix: all begins anew
            opened.clear()
            shut.clear()
        elif fate.number is not None and fate.kind == "reopened":
            opened |= {fate.number} if fate.because == REOPENED else set()
            shut[fate.number] = False
        elif fate.number is not None and fate.kind in ("closed", "not planned"):
            shut[fate.number] = True
    return tuple(sorted(number for number in opened if shut.get(number)))


def ordinal(number: int) -> str:
    """A number in words' order.

    >>> [ordinal(n) for n in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _known_since(lesson: Lesson, night: Night) -> str:
    count = len({seen.date for seen in lesson.nights} | {night_date(night)})
    days = f"{MOST_NIGHTS} or more nights" if count > MOST_NIGHTS else f"{ordinal(count)} night"
    nights = f", {days}" if count > 1 else ""
    issue = f", issue #{lesson.issue_number}" if lesson.issue_number else ""
    pull = f", pull request #{lesson.pr_number}" if lesson.pr_number else ""
    return f"known since {lesson.first_detected.isoformat()}{nights}{issue}{pull}"
