"""Reuse a lesson instead of a new analysis, where it still holds."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

from nightwatch_core.memory.index import file_name
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.memory.occurrences import (
    has_changed,
    is_due,
    night_date,
    nights_before,
    plausible,
    why_unsettled,
    why_weak,
)
from nightwatch_core.memory.outcomes import REOPENED, is_only_rejected, open_trouble
from nightwatch_core.memory.rates import is_spike
from nightwatch_core.models.analysis import Analysis, Ending
from nightwatch_core.models.answer import Evidence, Handover, Learning
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import FAILED, TURNED_DOWN, Lesson, OccurrenceCount
from nightwatch_core.models.report import Night
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import ordinal


class CaseTonight(Value):
    """A lesson's error tonight: what may be news about it."""

    case: Case
    night: Night
    traffic: int | None = None  # the application's transactions in the window; None: not known
    lesson_days: int = 0  # days until a lesson is looked at afresh; 0: never
    by_rules: bool = False  # the rules analyse tonight, no language model

    @property
    def count(self) -> OccurrenceCount:
        """Return the occurrences in the night's window."""
        hours = (self.night.window.until - self.night.window.since) / timedelta(hours=1)
        return OccurrenceCount(
            occurrences=self.case.occurrences, hours=max(hours, 0.0), traffic=self.traffic, nights=1
        )


RULES = "rules"  # as a lesson's model


def news(lesson: Lesson, tonight: CaseTonight) -> str:
    """Return what happened since the lesson and asks for a new analysis; empty for nothing."""
    regressed, *rest = _news_of_the_error(lesson, tonight)
    return next(filter(None, (regressed, open_trouble(lesson), *rest)), "")


def _news_of_the_error(lesson: Lesson, tonight: CaseTonight) -> tuple[str, str, str]:
    """Return a regression, a spike and the lesson's age as far as they are news, else empty."""
    seen, end = lesson.seen_until, tonight.night.window.until
    # The lesson's own nights may have seen it come back: the same return is news once.
    if seen and seen.tzinfo and not plausible(seen, tonight.night):
        seen = tonight.night.window.since
    regressed = "it was resolved, and came back" if tonight.case.regressed_after(seen) else ""
    earlier = [item for item in lesson.nights if item.night != tonight.night.id]
    at = plausible(lesson.analysed_at, tonight.night)
    days = (end - at).days if at else (end.date() - lesson.first_detected).days
    is_old = 0 < tonight.lesson_days < days
    return regressed, is_spike(earlier, tonight.count), f"it is {days} days old" if is_old else ""


def why_unsound(lesson: Lesson, digest_of: Callable[[str], str]) -> str:
    """Return the reason a lesson cannot replace a new analysis tonight; empty where it can.

    `digest_of` gives the digest of a file at tonight's commit, empty where there is no such file;
    it is asked only when nothing else speaks against the lesson.
    """
    lost = "its fix was not kept" if lesson.has_fix and not lesson.edits else ""
    return why_weak(lesson) or lost or _changed_file(lesson, digest_of)


def _changed_file(lesson: Lesson, digest_of: Callable[[str], str]) -> str:
    undated = next((cited.path for cited in lesson.evidence if not cited.digest), "")
    if undated:
        return f"it does not say what {undated} looked like"
    digests = {cited.path: cited.digest for cited in lesson.evidence}
    changed = next((path for path, old in digests.items() if digest_of(path) != old), "")
    return f"{changed} has changed since" if changed else ""


def wants_fix_alone(lesson: Lesson, tonight: CaseTonight, digest_of: Callable[[str], str]) -> bool:
    """Tell whether people rejected its fix, and nothing speaks against the cause it proved.

    `digest_of` as for `why_unsound`. The rules have no other fix to propose.
    """
    return (
        is_only_rejected(lesson)
        and not tonight.by_rules
        and not any(_news_of_the_error(lesson, tonight))
        and not why_unsettled(lesson)
        and not why_unsound(lesson, digest_of)
    )


class Doubt(NamedTuple):
    """Why a lesson does not stand in for a new analysis tonight."""

    why: str
    nights: int = 0  # on which it did not settle its error, where it is only its turn again
    fix_alone: bool = False  # its cause stands: only the fix is asked for


def turn_of(lesson: Lesson, tonight: CaseTonight, digest_of: Callable[[str], str]) -> Doubt | None:
    """Say why an unsettled lesson is looked at again tonight; None where it waits, or is settled.

    `digest_of` as for `why_unsound`.
    """
    if not (why := why_unsettled(lesson)):
        return None
    changed = _changed_file(lesson, digest_of)
    frames = has_changed(lesson, digest_of)
    if reason := changed or (f"{frames} has changed since" if frames else ""):
        return Doubt(reason)
    if (lesson.model == RULES) and not tonight.by_rules:
        return Doubt(f"{why}, and only the rules looked at it")
    before = nights_before(lesson)
    if not is_due(before):
        return None
    turn = f"{why}, and this is its {ordinal(before + 1)} night"
    return Doubt(turn, before, fix_alone=not why_weak(lesson))


def reused_analysis(lesson: Lesson, case: Case, night: Night) -> Analysis:
    """Take the lesson's finding as tonight's analysis, at no cost.

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
        fix=lesson.edits if lesson.has_fix else (),
        read=lesson.edits_read,
        refused=lesson.refused_edits,
        next_steps=lesson.next_steps,
        learnings=tuple(Learning(fact=fact) for fact in lesson.learnings),
        tags=lesson.tags,
        related_to=lesson.related,
        because=(known_since, *filter(None, (why_unsettled(lesson),))),
        known_since=known_since,
        ending=Ending(kind="reused", detail=lesson.file or file_name(lesson)),
        known_as=tuple(sorted(lesson.names)),
        rejected=refused_fixes(lesson),
        failed_pulls=failed_pulls(lesson),
        settled=settled_issues(lesson),
        fix_confidence=lesson.sure_of_fix,
        question=lesson.question,
        unsettled_nights=nights_before(lesson) if why_unsettled(lesson) else 0,
        handover=None if lesson.has_cause else Handover(look_at=lesson.next_steps),
        model="memory",
        commit=lesson.commit,
    )


def refused_fixes(lesson: Lesson) -> tuple[str, ...]:
    """List digests of fixes that people turned down, or that did not help: not proposed unchanged.

    A fix that had helped and was undone may be the right one again.
    """
    refused = (item.fix for item in lesson.proposed if item.outcome in TURNED_DOWN)
    return tuple(dict.fromkeys(fix for fix in refused if fix))


def failed_pulls(lesson: Lesson) -> tuple[int, ...]:
    """List our pull requests that did not settle the error, whatever became of them."""
    pulls = (item for item in lesson.proposed if item.kind == "pull")
    return tuple(pull.number for pull in pulls if pull.outcome in FAILED)


def settled_issues(lesson: Lesson) -> tuple[int, ...]:
    """List issues that we opened again and a person closed again: their word stands."""
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


def _known_since(lesson: Lesson, night: Night) -> str:
    count = len({seen.date for seen in lesson.nights} | {night_date(night)})
    days = f"{MOST_NIGHTS} or more nights" if count > MOST_NIGHTS else f"{ordinal(count)} night"
    nights = f", {days}" if count > 1 else ""
    issue = f", issue #{lesson.issue_number}" if lesson.issue_number else ""
    pull = f", pull request #{lesson.pr_number}" if lesson.pr_number else ""
    since = "known since" if lesson.has_cause else "seen since"
    return f"{since} {lesson.first_detected.isoformat()}{nights}{issue}{pull}"
