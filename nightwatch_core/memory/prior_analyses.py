"""Reuse earlier lessons for the cases of a night, or recall them as context for an analysis."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import NamedTuple

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import fix_digest, grounds_of, judged, reasons
from nightwatch_core.code.verdict import completed, looked_up, scored, with_failing_line
from nightwatch_core.memory import occurrences
from nightwatch_core.memory.index import file_name
from nightwatch_core.memory.lesson_text import summary
from nightwatch_core.memory.limits import MOST_NIGHTS
from nightwatch_core.memory.outcomes import REOPENED, is_only_rejected, open_trouble, why_no_news
from nightwatch_core.memory.rates import RISE, SPIKE, is_spike, was_gone
from nightwatch_core.memory.recall import SAME_BY_ALIAS, is_same_error
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.models import knowledge
from nightwatch_core.models.analysis import FELL_BACK, Analysis, Ending, Failure
from nightwatch_core.models.answer import Evidence, Handover, Learning
from nightwatch_core.models.assignment import (
    Assignment,
    UnansweredAssignment,
    UnexplainedCase,
    WaveResult,
)
from nightwatch_core.models.errors import Case
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import digest, moment, ordinal, plural, shortened

# Whether a lesson still holds.


class CaseTonight(Value):
    """A lesson's error tonight: what may be news about it."""

    case: Case
    night: Night
    traffic: int | None = None  # the application's transactions in the window; None: not known
    nights: tuple[NightRecord, ...] = ()  # that read all errors of the same sources
    lesson_days: int = 0  # days until a lesson is looked at afresh; 0: never
    by_rules: bool = False  # the rules analyse tonight, no language model
    analyst: str = ""  # digest of tonight's model and instructions

    @property
    def count(self) -> knowledge.OccurrenceCount:
        """Return the occurrences in the night's window."""
        hours = (self.night.window.until - self.night.window.since) / timedelta(hours=1)
        return knowledge.OccurrenceCount(
            occurrences=self.case.occurrences, hours=max(hours, 0.0), traffic=self.traffic, nights=1
        )


RULES = "rules"  # as a lesson's model


def news(lesson: knowledge.Lesson, tonight: CaseTonight) -> str:
    """Return what happened since the lesson and asks for a new analysis; empty for nothing."""
    regressed, *rest = _news_of_the_error(lesson, tonight)
    return next(filter(None, (regressed, open_trouble(lesson), *rest)), "")


def _news_of_the_error(lesson: knowledge.Lesson, tonight: CaseTonight) -> tuple[str, str, str]:
    """Return a regression, a comeback or spike, and the lesson's age; empty what is no news."""
    seen, end = lesson.seen_until, tonight.night.window.until
    # The lesson's own nights may have seen it come back: the same return is news once.
    if seen and seen.tzinfo and not occurrences.plausible(seen, tonight.night):
        seen = tonight.night.window.since
    earlier = [item for item in lesson.nights if item.night != tonight.night.id]
    regressed = "it was resolved, and came back" if tonight.case.regressed_after(seen) else ""
    windows = [item.night.window for item in tonight.nights if item.night]
    hours = [  # without it; windows of files overlap by minutes, so from when it was seen
        (window.until - max(window.since, seen)) / timedelta(hours=1)
        for window in windows
        if seen and window.until > seen
    ]
    at = occurrences.plausible(lesson.analysed_at, tonight.night)
    days = (end - at).days if at else (end.date() - lesson.first_detected).days
    is_old = 0 < tonight.lesson_days < days
    more = is_spike(earlier, tonight.count, RISE if occurrences.why_weak(lesson) else SPIKE)
    if was_gone(earlier, sum(hours)):
        more = f"it came back, after {plural(len(hours), 'night')} without it"
    return regressed, more, f"it is {days} days old" if is_old else ""


def why_unsound(lesson: knowledge.Lesson, digest_of: Callable[[str], str]) -> str:
    """Return the reason a lesson cannot replace a new analysis tonight; empty where it can.

    `digest_of` gives the digest of a file at tonight's commit, empty where there is no such file;
    it is asked only when nothing else speaks against the lesson.
    """
    lost = "its fix was not kept" if lesson.has_fix and not lesson.edits else ""
    return occurrences.why_weak(lesson) or lost or _changed_file(lesson, digest_of)


def _changed_file(lesson: knowledge.Lesson, digest_of: Callable[[str], str]) -> str:
    undated = next((cited.path for cited in lesson.evidence if not cited.digest), "")
    if undated:
        return f"it does not say what {undated} looked like"
    digests = {cited.path: cited.digest for cited in lesson.evidence}
    changed = next((path for path, old in digests.items() if digest_of(path) != old), "")
    return f"{changed} has changed since" if changed else ""


def wants_fix_alone(
    lesson: knowledge.Lesson, tonight: CaseTonight, digest_of: Callable[[str], str]
) -> bool:
    """Tell whether people rejected its fix, and nothing speaks against the cause it proved.

    `digest_of` as for `why_unsound`. The rules have no other fix to propose.
    """
    return (
        is_only_rejected(lesson)
        and not tonight.by_rules
        and not any(_news_of_the_error(lesson, tonight))
        and not occurrences.why_unsettled(lesson)
        and not why_unsound(lesson, digest_of)
    )


class Doubt(NamedTuple):
    """Why a lesson does not stand in for a new analysis tonight."""

    why: str
    nights: int = 0  # on which it did not settle its error, where it is only its turn again
    fix_alone: bool = False  # its cause stands: only the fix is asked for


def turn_of(
    lesson: knowledge.Lesson, tonight: CaseTonight, digest_of: Callable[[str], str]
) -> Doubt | None:
    """Say why an unsettled lesson is looked at again tonight; None where it waits, or is settled.

    `digest_of` as for `why_unsound`.
    """
    if not (why := occurrences.why_unsettled(lesson)):
        return None
    frames = occurrences.has_changed(lesson, digest_of)
    changed = _changed_file(lesson, digest_of) or (f"{frames} has changed since" if frames else "")
    if changed:
        return Doubt(changed)
    is_blind = occurrences.why_weak(lesson) and not lesson.watched  # a service may have been away
    if is_blind and any(map(digest_of, occurrences.watched_files(tonight.case))):
        return Doubt(f"{why}, and its stack trace was not known")
    if lesson.model == RULES and not tonight.by_rules:
        return Doubt(f"{why}, and only the rules looked at it")
    if not tonight.by_rules and lesson.analyst not in ("", tonight.analyst):
        return Doubt(f"{why}, and the model or its instructions have changed since")
    if not occurrences.is_due(lesson):
        return None
    before = occurrences.nights_before(lesson)
    turn = f"{why}, and this is its {ordinal(before + 1)} night"
    return Doubt(turn, before, fix_alone=not occurrences.why_weak(lesson))


def reused_analysis(lesson: knowledge.Lesson, case: Case, night: Night) -> Analysis:
    """Take the lesson's finding as tonight's analysis, at no cost.

    Its evidence comes unverified and its score is 0: a document is never trusted for these; look
    the quotes up and compute the score as for any other answer.
    """
    known_since = _known_since(lesson, case, night)
    why_unsettled = occurrences.why_unsettled(lesson)
    return Analysis(
        case=case,
        title=lesson.title or case.title,
        root_cause=lesson.root_cause,
        confidence=lesson.confidence,
        evidence=tuple(Evidence(path=c.path, line=c.line, quote=c.quote) for c in lesson.evidence),
        fix=lesson.edits if lesson.has_fix else (),
        read=lesson.edits_read,
        refused=lesson.refused_edits,
        next_steps=lesson.next_steps,
        learnings=tuple(Learning(fact=fact) for fact in lesson.learnings),
        tags=lesson.tags,
        related_to=lesson.related,
        because=(known_since, why_unsettled) if why_unsettled else (known_since,),
        known_since=known_since,
        ending=Ending(kind="reused", detail=lesson.file or file_name(lesson)),
        known_as=tuple(sorted(lesson.names)),
        rejected=refused_fixes(lesson),
        failed_pulls=failed_pulls(lesson),
        settled=settled_issues(lesson),
        fix_confidence=lesson.fix_confidence,
        question=lesson.question,
        unsettled_nights=occurrences.nights_before(lesson) if why_unsettled else 0,
        handover=None if lesson.has_cause else Handover(look_at=lesson.next_steps),
        model="memory",
        commit=lesson.commit,
    )


def refused_fixes(lesson: knowledge.Lesson) -> tuple[str, ...]:
    """List digests of fixes that people turned down, or that did not help: not proposed unchanged.

    A fix that had helped and was undone may be the right one again.
    """
    refused = (item.fix for item in lesson.proposed if item.outcome in knowledge.TURNED_DOWN)
    return tuple(dict.fromkeys(fix for fix in refused if fix))


def failed_pulls(lesson: knowledge.Lesson) -> tuple[int, ...]:
    """List our pull requests that did not settle the error, whatever became of them."""
    pulls = (item for item in lesson.proposed if item.kind == "pull")
    return tuple(pull.number for pull in pulls if pull.outcome in knowledge.FAILED)


def settled_issues(lesson: knowledge.Lesson) -> tuple[int, ...]:
    """List issues that we opened again and a person closed again: their word stands."""
    shut: dict[int, bool] = {}
    opened: set[int] = set()
    for event in lesson.outcomes:
        if event.kind in ("merged", "edited before merge"):  # another fix: all begins anew
            opened.clear()
            shut.clear()
        elif event.number is not None and event.kind == "reopened":
            opened |= {event.number} if event.because == REOPENED else set()
            shut[event.number] = False
        elif event.number is not None and event.kind in ("closed", "not planned"):
            shut[event.number] = True
    return tuple(sorted(number for number in opened if shut.get(number)))


def _known_since(lesson: knowledge.Lesson, case: Case, night: Night) -> str:
    count = len({seen.date for seen in lesson.nights} | {occurrences.night_date(night)})
    days = f"{ordinal(count)} night" if count <= MOST_NIGHTS else f"{MOST_NIGHTS} or more nights"
    nights = f", {days}" if count > 1 else ""
    issue = f", issue #{lesson.issue_number}" if lesson.issue_number else ""
    pull = f", pull request {lesson.pr_sign}{lesson.pr_number}" if lesson.pr_number else ""
    since = "known since" if lesson.has_cause else "seen since"
    last = occurrences.aware(case.last_seen) if case.last_seen else night.window.until
    is_old = night.window.until - last > timedelta(days=1)  # in a file that grows
    seen = f", last seen {moment(last)}" if is_old else ""
    return f"{since} {lesson.first_detected.isoformat()}{nights}{seen}{issue}{pull}"


# What is recalled of a case.

ReadLesson = Callable[[str], knowledge.Lesson | None]
Similar = Callable[[Case], tuple[tuple[knowledge.IndexEntry, knowledge.Match], ...]]


@dataclass(frozen=True)
class Memory:
    """Where lessons are looked up; `with_news` adds to a lesson what tonight brought for it."""

    read: ReadLesson
    similar: Similar
    archived: Callable[[frozenset[str]], knowledge.Lesson | None] | None = None
    with_news: Callable[[knowledge.Lesson], knowledge.Lesson] = lambda lesson: lesson


def recall_case(
    tonight: CaseTonight, memory: Memory, code: CodeReader, afresh: bool
) -> Analysis | UnexplainedCase:
    """Reuse the analysis of a lesson on this very case that still holds, else list what resembles.

    `afresh`: no lesson is reused.
    """
    priors: list[knowledge.PriorAnalysis] = []
    for lesson, match in _lessons(tonight.case, memory):
        if {seen.night for seen in lesson.nights} == {tonight.night.id}:
            continue  # a night that is resumed must not meet its own lessons as memories
        if match.is_same and not afresh:
            outcome = _reused(lesson, tonight, code)
            if isinstance(outcome, Analysis):
                return outcome
            match = _doubted(match, outcome, is_same_error(tonight.case, lesson))
        if not lesson.has_cause and not match.is_same:
            continue  # it knows nothing to tell
        priors.append(knowledge.PriorAnalysis(lesson=lesson, match=match, summary=summary(lesson)))
    # Own lessons, then similar ones as they were ranked, those that fit the code before others.
    priors.sort(key=lambda item: not item.match.is_same and bool(item.lesson.stale))
    return UnexplainedCase(case=tonight.case, priors=tuple(priors))


def _lessons(case: Case, memory: Memory) -> Iterable[tuple[knowledge.Lesson, knowledge.Match]]:
    """The case's own lesson first, from the archive where it is not at hand, then similar ones."""
    matches = memory.similar(case)
    if memory.archived and not any(match.is_same for _, match in matches):
        archived = memory.archived(names(case))
        if archived:
            yield memory.with_news(archived), SAME_BY_ALIAS
    for entry, match in matches:
        lesson = memory.read(entry.file)
        if lesson:
            yield memory.with_news(lesson), match


def _doubted(match: knowledge.Match, doubt: Doubt, same_error: bool) -> knowledge.Match:
    update: dict[str, object] = {
        "doubt": doubt.why,
        "because": (*match.because, f"but {doubt.why}"),
        "unsettled_nights": doubt.nights,
        "fix_alone": doubt.fix_alone,
    }
    if not same_error:
        because = ("shares a name", f"but {doubt.why}")
        update |= {"kind": "shared name", "because": because, "relevance": 0.0}
    return match.model_copy(update=update)


def with_priors(analysis: Analysis, unexplained: Iterable[UnexplainedCase]) -> Analysis:
    """Add to a fresh analysis what memory had told about its case."""
    cases = (case for case in unexplained if case.case.fingerprint == analysis.fingerprint)
    priors = next((case.priors for case in cases), ())
    own = next((prior for prior in priors if prior.match.is_same), None)
    fingerprints = tuple(prior.lesson.fingerprint for prior in priors if prior.lesson.has_cause)
    update: dict[str, object] = {"prior_fingerprints": fingerprints}
    if own:
        refused = refused_fixes(own.lesson)
        doubt = own.match.doubt
        if doubt == open_trouble(own.lesson):  # the report has the reviewers' words already
            doubt = open_trouble(own.lesson, quotes=False)
        again = ("this fix was rejected or did not help before",)
        update |= {
            "known_as": tuple(sorted(own.lesson.names)),
            "rejected": refused,
            "failed_pulls": failed_pulls(own.lesson),
            "another_cause": _is_another_cause(analysis, own.lesson),
            "news": doubt,
            "unsettled_nights": own.match.unsettled_nights,
            "because": (*analysis.because, *(again if fix_digest(analysis.fix) in refused else ())),
        }
    return analysis.model_copy(update=update)


def _is_another_cause(analysis: Analysis, lesson: knowledge.Lesson) -> bool:
    """Tell whether both prove a cause, and by other lines than those that the error ran through."""
    trace = analysis.case.trace
    passed = {(frame.repo_path, frame.line) for frame in trace.in_app} if trace else set()
    ran = {(e.path, e.quote.strip()) for e in analysis.evidence if (e.path, e.line) in passed}
    now = {(e.path, e.quote.strip()) for e in analysis.evidence if e.verified} - ran
    before = {(cited.path, cited.quote.strip()) for cited in lesson.evidence} - ran
    proved = analysis.has_cause and lesson.has_cause and bool(now and before)
    return proved and now.isdisjoint(before)


def checked(analysis: Analysis, code: CodeReader) -> Analysis:
    """Put a remembered analysis to the same tests as any other: quotes, fix and score."""
    evidence = looked_up(analysis.evidence, code)
    fix = judged(analysis.fix, code, grounds_of(analysis, analysis.case, evidence, analysis.read))
    update = {
        "evidence": evidence,
        "fix": fix.edits,
        "changes": file_diffs(fix.edits, code.read_file),
        "refused": (*analysis.refused, *fix.refused),
        "because": (*analysis.because, *reasons(fix.refused)),
        "handover": completed(analysis.handover, analysis.case, code)
        if analysis.handover
        else None,
    }
    found = scored(analysis.model_copy(update=update))
    return with_failing_line(found, code) if found.has_cause else found


def _reused(lesson: knowledge.Lesson, tonight: CaseTonight, code: CodeReader) -> Analysis | Doubt:
    """The lesson's analysis, or why it may not stand in for a new one."""
    if occurrences.why_weak(lesson):  # it is looked at again by turns, however old it is
        tonight = tonight.model_copy(update={"lesson_days": 0})
    digest_of = cache(lambda path: digest(code.read_file(path)))
    reason = news(lesson, tonight)
    if reason and not _outweighs_the_rules(lesson, tonight):
        cited = reused_analysis(lesson, tonight.case, tonight.night).evidence
        alone = wants_fix_alone(lesson, tonight, digest_of) and any(
            evidence.verified for evidence in looked_up(cited, code, tonight.case)
        )
        return Doubt(reason, fix_alone=alone)
    if not is_same_error(tonight.case, lesson):
        return Doubt("it is another error, and shares only a name with it")
    analysis = reused_analysis(lesson, tonight.case, tonight.night)
    if reason:
        because = (*analysis.because, f"{reason}; the rules would prove less than its lesson")
        analysis = analysis.model_copy(update={"because": because})
    if why := why_no_news(lesson, tonight.night.window.until):
        because = (*analysis.because, why)
        update = {"fix": (), "waiting": why, "unsettled_nights": 0, "because": because}
        return checked(analysis.model_copy(update=update), code)
    if doubt := turn_of(lesson, tonight, digest_of):
        return doubt
    if occurrences.why_weak(lesson):
        update = {"waiting": occurrences.waits_for(lesson)}
        return checked(analysis.model_copy(update=update), code)
    if reason := why_unsound(lesson, digest_of):
        return Doubt(reason)
    analysis = checked(analysis, code)
    if not any(evidence.verified for evidence in analysis.evidence):
        return Doubt("none of its quotes stands in the code")
    if lesson.has_fix and (analysis.refused or not analysis.has_fix):
        return Doubt("its fix no longer applies")
    return analysis


def _outweighs_the_rules(lesson: knowledge.Lesson, tonight: CaseTonight) -> bool:
    """Tell whether a night by rules is to leave a model's lesson alone, whatever is new."""
    is_of_a_model = lesson.model not in ("", RULES)
    settles = not occurrences.why_weak(lesson) and not open_trouble(lesson)
    return tonight.by_rules and is_of_a_model and settles


# What the rules answer where the model could not be reached, or paid, told apart from its own.

STANDS_IN = ("unreachable", "budget gone")  # endings after which the rules are asked
_NEXT = "{said}, because: {why}. Analyse this error again once the model can be asked."


def unanswered_assignments(
    wave: WaveResult, asked: Sequence[Assignment]
) -> tuple[UnansweredAssignment, ...]:
    """Return the assignments of a wave whose model was away, with what it took to find out."""
    away = {
        failure.case.fingerprint: failure
        for failure in wave.failures
        if failure.ending.kind in STANDS_IN
    }
    return tuple(
        UnansweredAssignment(assignment=assignment, failure=away[assignment.case.fingerprint])
        for assignment in asked
        if assignment.case.fingerprint in away
    )


def mark_fallback(analysis: Analysis, failure: Failure) -> Analysis:
    """The stand-in's analysis, which says that it is one and why, and what the model had used."""
    why = line(failure.reason, 300).rstrip(".")
    step = _NEXT.format(said=FELL_BACK.capitalize(), why=why)
    update = {
        "by_fallback": True,
        "tags": (FELL_BACK, *analysis.tags),
        "next_steps": (step, *analysis.next_steps),
        "usage": failure.usage + analysis.usage,
    }
    return analysis.model_copy(update=update)


def lasting(analyses: Iterable[Analysis]) -> tuple[Analysis, ...]:
    """Analyses worth a lesson: what rules answered must not keep the model from the case."""
    return tuple(analysis for analysis in analyses if not analysis.by_fallback)


def merge_waves(wave: WaveResult, instead: WaveResult) -> WaveResult:
    """Return the wave, its failures replaced by what was answered instead."""
    answered = {analysis.fingerprint for analysis in instead.analyses}
    left = tuple(failure for failure in wave.failures if failure.case.fingerprint not in answered)
    stopped = wave.stopped or instead.stopped
    return WaveResult(analyses=(*wave.analyses, *instead.analyses), failures=left, stopped=stopped)


def fallback_summary(analyses: Iterable[Analysis]) -> str:
    """Return a sentence for the report where the rules answered; empty where they did not."""
    stood = [analysis for analysis in analyses if analysis.by_fallback]
    if not stood:
        return ""
    why = stood[0].next_steps[0] if stood[0].next_steps else ""
    first = shortened(line(stood[0].case.leader.short), 60)
    more = f" and {plural(len(stood) - 1, 'more error')}" if len(stood) > 1 else ""
    return f"the model was away for {first}{more}, and rules answered: {why}"
