"""Which errors are noise: seen on three nights or more, and nobody can do much about them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

from nightwatch_core.intake.ignore_rules import expired, ignored_by
from nightwatch_core.intake.ranking import severity
from nightwatch_core.memory.recall.seed_score import seed_tags
from nightwatch_core.memory.reuse import RULES
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.patterns.ignore_suggestions.backtest import NightGroups, recoveries, was_fixed
from nightwatch_core.patterns.members import telling_tags

NIGHTS = 3
RECENT = timedelta(days=30)  # an error not seen for longer needs no rule
RECOVERIES = 2  # times an error has to have gone away by itself to be called transient
TRANSIENT = "transient"  # the tag an analyst gives
ENDED = (
    *("merged", "edited before merge", "closed unmerged", "closed", "not planned"),
    *("verified", "no effect"),
)  # outcomes after which nobody is at it
KNOWLEDGE = "knowledge"  # the source of a lesson's error as a rule sees it
GRAVE = 1.0  # severity of classes that are never noise


class NoiseEvidence(Value):
    """What speaks about lessons besides themselves."""

    today: date
    nights: tuple[NightGroups, ...] = ()  # newest first
    fixed: frozenset[str] = frozenset()  # names of errors with a fix proposed tonight
    transient: frozenset[str] = frozenset()  # of errors that an analyst calls transient tonight
    in_work: frozenset[str] = frozenset()  # of errors that somebody is at
    rules: tuple[IgnoreRule, ...] = ()  # not expired
    lapsed: tuple[IgnoreRule, ...] = ()  # expired


def noise_evidence(
    report: RunReport,
    lessons: tuple[Lesson, ...],
    rules: IgnoreRules,
    nights: Sequence[NightGroups],
) -> NoiseEvidence:
    """What is known tonight; `nights` are those of `backtest.comparable_nights`, newest first."""
    today = report.night.window.until.date()
    analyses = [(one, (one.fingerprint, *one.case.aliases)) for one in report.analyses]
    tagged = (names for one, names in analyses if TRANSIENT in telling_tags(one))
    return NoiseEvidence(
        today=today,
        nights=tuple(nights),
        fixed=_all(names for one, names in analyses if one.has_fix),
        transient=_all(tagged),
        in_work=in_work(report, lessons),
        rules=tuple(rule for rule in rules.rules if not expired(rule, today)),
        lapsed=tuple(rule for rule in rules.rules if expired(rule, today)),
    )


def _all(names: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(name for each in names for name in each)


def is_transient(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    """Whether an analyst calls it transient, and it went away by itself."""
    own = {tag.strip().lower() for tag in lesson.tags}
    own -= set(seed_tags(lesson.error_class, lesson.transaction))  # words of a name say nothing
    called = TRANSIENT in own or bool(lesson.names & tonight.transient)
    return called and recoveries(lesson.names, tonight.nights) >= RECOVERIES


def always_low(lesson: Lesson) -> bool:
    """Whether no night found its cause."""
    return bool(lesson.nights) and all(seen.confidence == "low" for seen in lesson.nights)


def why_not_noise(lesson: Lesson, tonight: NoiseEvidence) -> str:
    """Why a lesson's error is not taken for noise; empty where it is."""
    return next((why for why, holds in AGAINST if holds(lesson, tonight)), "")


def _has_fix(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    proposed = lesson.has_fix or lesson.pr_number is not None or bool(lesson.edits)
    return proposed or was_fixed(lesson) or bool(lesson.names & tonight.fixed)


def _was_dealt_with(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    """Whether people closed its issue as done; "not planned" says the contrary."""
    return any(fate.kind == "closed" for fate in lesson.fates)


def _in_work(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return bool(lesson.names & tonight.in_work)


def _is_grave(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return severity(lesson.error_class) >= GRAVE


def _is_ignored(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return ignored_by(tonight.rules, as_group(lesson)) is not None


def _only_rules_looked(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    """Whether only rules found no cause: what they do not know says nothing about the error."""
    return lesson.model == RULES and not lesson.has_cause and not is_transient(lesson, tonight)


def _is_understood(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return not always_low(lesson) and not is_transient(lesson, tonight)


def _is_gone(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    last = max((seen.date for seen in lesson.nights), default=lesson.first_detected)
    return tonight.today - last > RECENT


def _is_rare(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return len({seen.date for seen in lesson.nights}) < NIGHTS


TOO_FEW = "it was seen on less than three nights"
# Why an error is not taken for noise; the first that holds is the reason.
AGAINST: tuple[tuple[str, Callable[[Lesson, NoiseEvidence], bool]], ...] = (
    ("it has or had a fix", _has_fix),
    ("its issue was closed as done", _was_dealt_with),
    ("somebody is at it", _in_work),
    ("its class is among the gravest", _is_grave),
    ("a rule covers it", _is_ignored),
    (TOO_FEW, _is_rare),
    ("only the rules looked at it", _only_rules_looked),
    ("it is understood, and does not pass by itself", _is_understood),
    ("it was not seen for a month", _is_gone),
)


def as_group(lesson: Lesson) -> ErrorGroup:
    """A lesson's error, as a rule sees it."""
    return ErrorGroup(
        fingerprint=lesson.fingerprint,
        source=KNOWLEDGE,
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        message=lesson.message,
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
