"""Ignore rules that a person might want: argued with numbers, never added by us.

A class is never called noise because of its name: of the errors that word lists of "transient"
classes would hide, developers had fixed two in three. What counts is what nights have shown, so
every rule is tried on the nights that were, and only one that hides nothing but noise is suggested.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import chain, islice
from statistics import median

from nightwatch_core.intake.default_ports import is_sample
from nightwatch_core.intake.ignore_rules import expired, ignored_by, matcher, matches, per_day
from nightwatch_core.intake.limits import MATCHED_TEXT
from nightwatch_core.intake.selection import severity
from nightwatch_core.memory.follow_up import AFTER_A_MERGE
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.memory.reuse import RULES
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import (
    Backtest,
    IgnoreRule,
    IgnoreRules,
    IgnoreSuggestion,
    Lesson,
)
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.patterns.detection import GENERIC_CLASSES
from nightwatch_core.patterns.pattern_text import telling_tags
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template

# What an ignore rule would have hidden on the nights that were.

NIGHTS_BACK = 30
MOST_READ = 3 * NIGHTS_BACK  # reports; single runs and repeated windows are passed over
SINGLE_RUN = "one-"  # how the names of runs for one error begin
QUIET_HOURS = 3  # without the error, after it
HEADROOM = 3  # times the highest rate of the nights that were
LOWEST = 10  # occurrences a day; below it chance alone doubles and triples a rate
JUMP = 5  # times the usual rate: more is news and no noise
_READABLE = (1, 2, 3, 5, 10)


class NightGroups(Value):
    """A night's errors, whether they were analysed or dropped; groups without what takes room."""

    window: Window
    groups: tuple[ErrorGroup, ...] = ()

    @property
    def date(self) -> date:
        """Return the date of the window's end."""
        return self.window.until.date()


def comparable_nights(tonight: RunReport, reports: Iterable[RunReport]) -> tuple[NightGroups, ...]:
    """Return the last 30 nights of the same sources, tonight first; `reports` come newest first.

    At most 90 reports are read, one by one. Passed over are failed nights, runs for one error, and
    nights whose window was read again: the same errors would count twice.
    """
    kept: list[NightGroups] = []
    seen: set[str] = set()
    for report in islice(chain((tonight,), reports), MOST_READ):
        new = report.night.id not in seen and not any(
            _overlap(report.night.window, item.window) for item in kept
        )
        seen.add(report.night.id)
        if new and _alike(report, tonight):
            kept.append(night_groups(report))
        if len(kept) == NIGHTS_BACK:
            break
    return tuple(kept)


def night_groups(report: RunReport) -> NightGroups:
    """Return all error groups a report tells of, each once."""
    cases = (
        *(analysis.case for analysis in report.analyses),
        *(failure.case for failure in report.failures),
    )
    every = chain(
        (group for case in cases for group in case.groups),
        (dropped.group for dropped in report.dropped),
    )
    groups = {group.fingerprint: _slim(group) for group in every}
    return NightGroups(window=report.night.window, groups=tuple(groups.values()))


def backtest(
    rule: IgnoreRule, nights: Iterable[NightGroups], lessons: Iterable[Lesson]
) -> Backtest:
    """Return what the rule would have hidden on those nights, ignoring expiry and rate.

    A group counts once, on however many nights it came. `fixed_later` counts the groups whose
    lesson says that a fix of ours was merged. Users of one night are added up over its groups, so
    that one who met two of them counts twice.
    """
    hidden = [covered(rule, night) for night in nights]
    fixed = {name for lesson in lessons if was_fixed(lesson) for name in lesson.names}
    names = {group.fingerprint for groups in hidden for group in groups}
    users = [sum(g.users for g in groups if g.users is not None) for groups in hidden]
    counted = any(g.users is not None for groups in hidden for g in groups)
    return Backtest(
        nights=len(hidden),
        groups=len(names),
        occurrences=sum(group.occurrences for groups in hidden for group in groups),
        fixed_later=len(names & fixed),
        users=max(users) if counted else None,
    )


def covered(rule: IgnoreRule, night: NightGroups) -> tuple[ErrorGroup, ...]:
    """Return the groups of a night that the rule would have hidden."""
    return tuple(filter(matcher(rule), night.groups))


def only_covered(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[NightGroups, ...]:
    """Return the same nights with nothing but what the rule would have hidden.

    They stand in for the whole nights in `backtest` and `rates` of that rule, and take less time.
    """
    return tuple(night.model_copy(update={"groups": covered(rule, night)}) for night in nights)


def rates(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[float, ...]:
    """Occurrences a day on each night on which the rule covers any, all its groups summed."""
    counted = ((sum(g.occurrences for g in covered(rule, night)), night.window) for night in nights)
    return tuple(per_day(count, window) for count, window in counted if count)


def tripwire(seen: Sequence[float]) -> float:
    """Return the rate above which a rule shall not hold: three times the highest seen, at least 10.

    It is rounded up to 1, 2, 3 or 5 and zeros.

    >>> tripwire((4.0, 21.0)), tripwire((0.5,)), tripwire(())
    (100.0, 10.0, 10.0)
    """
    wanted = max(LOWEST, HEADROOM * max(seen, default=0.0))
    zeros = 10 ** math.floor(math.log10(wanted))
    return float(next(step * zeros for step in _READABLE if step * zeros >= wanted))


def is_steady(seen: Sequence[float]) -> bool:
    """Tell whether no night's rate is far above the usual one: an error that jumps is no noise.

    >>> is_steady((20, 31, 25)), is_steady((20, 500, 25)), is_steady((1, 9, 1))
    (True, False, True)
    """
    return not seen or max(seen) <= max(LOWEST, JUMP * median(seen))


def was_fixed(lesson: Lesson) -> bool:
    """Tell whether a fix of ours was merged for it, whatever came of the fix."""
    ends = (*(fate.kind for fate in lesson.fates), *(item.outcome for item in lesson.proposed))
    return lesson.watch is not None or any(
        kind in AFTER_A_MERGE for kind in (*ends, lesson.outcome)
    )


def recoveries(names: frozenset[str], nights: Sequence[NightGroups]) -> int:
    """Count how often an error disappeared by itself; nights newest first.

    It did where the next night that was looked at was without it, or where it was followed by
    three quiet hours of the same night.
    """
    times, next_has_it = 0, True  # of the night after tonight nothing is known
    for night in nights:
        own = [group for group in night.groups if group.fingerprint in names]
        if own and (not next_has_it or all(map(_calmed, own))):
            times += 1
        next_has_it = bool(own)
    return times


def _calmed(group: ErrorGroup) -> bool:
    return any(group.hourly[:-QUIET_HOURS]) and not any(group.hourly[-QUIET_HOURS:])


def _alike(report: RunReport, tonight: RunReport) -> bool:
    if report.status == "failed" or report.night.id.startswith(SINGLE_RUN):
        return False
    if is_sample(report.options) != is_sample(tonight.options):
        return False
    return set(report.options.sources()) == set(tonight.options.sources())


def _overlap(window: Window, other: Window) -> bool:
    shared = min(window.until, other.until) - max(window.since, other.since)
    shorter = min(window.until - window.since, other.until - other.since)
    return shared * 2 > shorter or (window.since, window.until) == (other.since, other.until)


def _slim(group: ErrorGroup) -> ErrorGroup:
    return ErrorGroup(
        fingerprint=group.fingerprint,
        source=group.source,
        error_class=group.error_class,
        transaction=group.transaction,
        message=group.message[:MATCHED_TEXT],
        occurrences=group.occurrences,
        users=group.users,
        hourly=group.hourly,
    )


# Ignore rules for an error that was seen several times, from the narrowest to the widest.

SHORTEST, LONGEST = 16, 120  # characters of a pattern over messages
_LONGEST_NAME = 300  # characters of a transaction or a class
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary
_WORD_END = re.compile(r"\s+\S*$")
_STEP = re.compile(r"[^\W_]{3}\S*[/.#:]|[/.#:]\S*[^\W_]{3}")  # a name below or beside another
_PARENT = re.compile(r".*[/#:]")  # of a transaction: up to its last separator
_STEP_NAME = re.compile(r"[^\W_]{3,}")
# Steps that all transactions of a kind begin with.
_COMMON = (
    "webtransaction othertransaction transaction controller action nested job rails django flask "
    "spring servlet uri get put post head patch delete options http https api"
)
_COMMON_STEPS = frozenset(_COMMON.split())
# A rule over one of them would hide what nobody has seen.
_GENERIC = frozenset(name.lower() for name in GENERIC_CLASSES)


def candidates(
    seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup] = ()
) -> tuple[IgnoreRule, ...]:
    """Rules that cover an error: its message, the start of it, its class, its transaction.

    `seen` are sightings of one class, and `of_class` all others of that class, whatever the error.
    Where a message is fixed enough nothing wider is tried. A class has to be one that was seen in
    one transaction, or with one message, and none that anything is raised as. A transaction is the
    last resort: it hides whatever else goes wrong there.

    >>> from nightwatch_core.models.errors import ErrorGroup
    >>> def tried(message: str, transaction: str = "") -> list[tuple[str, str, str]]:
    ...     one = ErrorGroup(fingerprint="v1:a", source="file", error_class="Rates::Reset",
    ...                      message=message, transaction=transaction)
    ...     return [(rule.field, rule.match, rule.pattern) for rule in candidates([one])]
    >>> tried("connection was reset by 10.0.0.1")
    [('message', 'prefix', 'connection was reset by')]
    >>> [field for field, _, _ in tried("bot probe /wp.bak", "GET /wp.bak")][:2]
    ['error_class', 'transaction']
    """
    if not seen:
        return ()
    by_message = _plain(make(seen) for make in OVER_MESSAGES)
    wider = (_class(seen, of_class), _transaction(seen), _start_of_transaction(seen))
    return by_message or _plain(wider)


def _whole_message(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    messages = {group.message.strip() for group in seen}
    message = next(iter(messages))
    fits = SHORTEST <= len(message) <= LONGEST and _fixed_start(message) == message
    if len(messages) > 1 or not fits:
        return None
    return IgnoreRule(pattern=message, match="exact", field="message")


def _start_of_message(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    messages = {group.message.strip() for group in seen}
    start = _shared_start(messages)
    if len(messages) > 1:  # the last word may be cut in two
        start = _WORD_END.sub("", start)
    pattern = _fixed_start(start[:LONGEST]).strip()
    if len(pattern) < SHORTEST:
        return None
    return IgnoreRule(pattern=pattern, match="prefix", field="message")


def _transaction(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    """The only transaction, unless it is a bare one such as "/" or "GET /"."""
    names = {group.transaction.strip() for group in seen}
    name = next(iter(names))
    if len(names) > 1 or len(name) > _LONGEST_NAME or not _STEP.search(name):
        return None
    return IgnoreRule(pattern=name, match="exact", field="transaction")


def _start_of_transaction(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    names = {group.transaction.strip() for group in seen}
    matches = [_PARENT.match(name[:_LONGEST_NAME]) for name in names]
    parents = {match.group() if match else "" for match in matches}
    parent = next(iter(parents))
    steps = {step.lower() for step in _STEP_NAME.findall(parent)} - _COMMON_STEPS
    if len(names) == 1 or len(parents) > 1 or not steps:
        return None
    return IgnoreRule(pattern=parent, match="prefix", field="transaction")


def _class(seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup]) -> IgnoreRule | None:
    name = seen[0].error_class.strip()
    last = re.split(r"[.:\\/]", name)[-1].lower()
    is_wide = not (_one_place(seen, of_class) or _one_message(seen, of_class))
    if not name or last in _GENERIC or len(name) > _LONGEST_NAME or is_wide:
        return None
    return IgnoreRule(pattern=name, match="exact", field="error_class")


def _one_place(*seen: Sequence[ErrorGroup]) -> bool:
    places = {group.transaction.strip() for groups in seen for group in groups}
    return len(places) == 1 and "" not in places


def _one_message(*seen: Sequence[ErrorGroup]) -> bool:
    messages = {message_template(group.message) for groups in seen for group in groups}
    return len(messages) == 1 and "" not in messages


# From narrow to wide.
OVER_MESSAGES: tuple[Callable[[Sequence[ErrorGroup]], IgnoreRule | None], ...] = (
    _whole_message,
    _start_of_message,
)


def _shared_start(texts: set[str]) -> str:
    """Return the common prefix of all texts.

    >>> _shared_start({"one two", "one three"})
    'one t'
    """
    first, last = min(texts), max(texts)
    same = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    return first[:same]


def _fixed_start(text: str) -> str:
    match = _FIXED_START.match(text)
    return match.group() if match else ""


def _plain(rules: Iterable[IgnoreRule | None]) -> tuple[IgnoreRule, ...]:
    """Rules whose pattern is one line without hidden characters, and fits."""
    return tuple(rule for rule in rules if rule and line(rule.pattern, 300) == rule.pattern)


# Which errors are noise: seen on three nights or more, and nobody can do much about them.

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
    """Evidence about lessons besides their own text."""

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
    """Return tonight's noise evidence; `nights` are comparable nights, newest first."""
    today = report.night.window.until.date()
    analyses = [
        (analysis, (analysis.fingerprint, *analysis.case.aliases)) for analysis in report.analyses
    ]
    tagged = (names for analysis, names in analyses if TRANSIENT in telling_tags(analysis))
    return NoiseEvidence(
        today=today,
        nights=tuple(nights),
        fixed=_all(names for analysis, names in analyses if analysis.has_fix),
        transient=_all(tagged),
        in_work=in_work(report, lessons),
        rules=tuple(rule for rule in rules.rules if not expired(rule, today)),
        lapsed=tuple(rule for rule in rules.rules if expired(rule, today)),
    )


def _all(names: Iterable[Iterable[str]]) -> frozenset[str]:
    return frozenset(name for item in names for name in item)


def is_transient(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    """Tell whether an analyst calls it transient, and it went away by itself."""
    own = {tag.strip().lower() for tag in lesson.tags}
    own -= set(seed_tags(lesson.error_class, lesson.transaction))  # words of a name say nothing
    called = TRANSIENT in own or bool(lesson.names & tonight.transient)
    return called and recoveries(lesson.names, tonight.nights) >= RECOVERIES


def always_low(lesson: Lesson) -> bool:
    """Tell whether no night found its cause."""
    return bool(lesson.nights) and all(seen.confidence == "low" for seen in lesson.nights)


def why_not_noise(lesson: Lesson, tonight: NoiseEvidence) -> str:
    """Return the reason a lesson's error is not noise; empty where it is."""
    return next((why for why, holds in AGAINST if holds(lesson, tonight)), "")


def _has_fix(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    proposed = lesson.has_fix or lesson.pr_number is not None or bool(lesson.edits)
    return proposed or was_fixed(lesson) or bool(lesson.names & tonight.fixed)


def _was_dealt_with(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return any(fate.kind == "closed" for fate in lesson.fates)


def _in_work(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return bool(lesson.names & tonight.in_work)


def _is_grave(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return severity(lesson.error_class) >= GRAVE


def _is_ignored(lesson: Lesson, tonight: NoiseEvidence) -> bool:
    return ignored_by(tonight.rules, as_group(lesson)) is not None


def _only_rules_looked(lesson: Lesson, tonight: NoiseEvidence) -> bool:
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
    """Return a lesson's error, as a rule sees it."""
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
    at |= {receipt.fingerprint for receipt in report.receipts if receipt.number}
    at |= {
        update.fingerprint
        for update in report.followed
        if update.watch and not update.watch.verdict
    }
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
    last |= {item.number: item.outcome for item in lesson.proposed}
    last |= {fate.number: fate.kind for fate in lesson.fates}
    return any(end not in ENDED for number, end in last.items() if number is not None)


MOST = 10
MOST_TRIED = 50  # errors for which a rule is sought, the most frequent ones
HOLDS = timedelta(days=30)  # how long a suggested rule holds
LOW, PASSES = "no cause was found in the code", "passes by itself"


def suggest_rules(
    report: RunReport,
    lessons: tuple[Lesson, ...],
    rules: IgnoreRules,
    nights: Sequence[NightGroups],
) -> tuple[IgnoreSuggestion, ...]:
    """Rules for errors seen on three nights or more, without a fix, that nobody can do much about.

    Such an error is unexplained (its confidence was low on every night), or an analyst who read the
    code calls it transient and it went away by itself twice at least. `nights` are those of
    `backtest.comparable_nights`; a rule has to prove itself there:

    - it hides the error on three nights or more, and its rate on none of them jumps,
    - it hides no error that later got a merged fix, or any fix, or that somebody is at,
    - everything else it hides is noise too, or the same failure at another place.

    Nothing is suggested that a rule covers which has not expired: one that does not hold tonight,
    because the error comes too often, is no reason for another. Each rule holds for 30 days, and up
    to a rate. Most occurrences first, at most 10.
    """
    evidence = noise_evidence(report, lessons, rules, nights)
    noise = [lesson for lesson in lessons if not why_not_noise(lesson, evidence)]
    noise.sort(key=lambda item: (-_times(item), item.fingerprint))
    by_rule: dict[IgnoreRule, list[Lesson]] = {}
    for lesson in noise[:MOST_TRIED]:
        if rule := _narrowest(lesson, noise, lessons, evidence):
            by_rule.setdefault(rule, []).append(lesson)
    suggestions = (_suggestion(rule, about, lessons, evidence) for rule, about in by_rule.items())
    ranked = sorted(
        suggestions, key=lambda suggestion: (-suggestion.backtest.occurrences, suggestion.pattern)
    )
    return tuple(ranked[:MOST])


def rule_from(suggestion: IgnoreSuggestion) -> IgnoreRule:
    """Return the rule as it would stand in ignore.yml."""
    return IgnoreRule(**suggestion.model_dump(exclude={"evidence", "backtest"}))


def _narrowest(
    lesson: Lesson, noise: list[Lesson], lessons: tuple[Lesson, ...], tonight: NoiseEvidence
) -> IgnoreRule | None:
    names = lesson.names
    past = chain((g for night in tonight.nights for g in night.groups), map(as_group, lessons))
    alike = [group for group in past if group.error_class == lesson.error_class]
    own = [g for g in alike if g.fingerprint in names and g.source != KNOWLEDGE]
    for rule in candidates(own, alike):
        if _proves_itself(rule, lesson, noise, lessons, tonight):
            return rule
    return None


def _proves_itself(
    rule: IgnoreRule,
    lesson: Lesson,
    noise: list[Lesson],
    lessons: tuple[Lesson, ...],
    tonight: NoiseEvidence,
) -> bool:
    names, nights = lesson.names, only_covered(rule, tonight.nights)
    if sum(any(g.fingerprint in names for g in night.groups) for night in nights) < NIGHTS:
        return False
    if not is_steady(rates(rule, nights)) or backtest(rule, nights, lessons).fixed_later:
        return False
    taught = (group for lesson in lessons if matches(rule, group := as_group(lesson)))
    harmless = {name for lesson in noise for name in lesson.names}
    lesson_of = {name: lesson for lesson in lessons for name in lesson.names}
    return all(
        group.fingerprint in harmless
        or _same_elsewhere(group, _known(group, lesson_of), lesson, tonight)
        for group in chain(*(night.groups for night in nights), taught)
    )


def _known(group: ErrorGroup, lesson_of: Mapping[str, Lesson]) -> Lesson | None:
    return lesson_of.get(group.fingerprint)


def _same_elsewhere(
    group: ErrorGroup, known: Lesson | None, noise: Lesson, tonight: NoiseEvidence
) -> bool:
    if known is not None and why_not_noise(known, tonight) != TOO_FEW:
        return False
    if known is not None and not always_low(known):
        return False
    same = message_template(group.message) == message_template(noise.message)
    return same and group.error_class == noise.error_class


def _suggestion(
    rule: IgnoreRule, about: list[Lesson], lessons: tuple[Lesson, ...], tonight: NoiseEvidence
) -> IgnoreSuggestion:
    nights = only_covered(rule, tonight.nights)
    return IgnoreSuggestion(
        pattern=rule.pattern,
        match=rule.match,
        field=rule.field,
        reason=LOW if all(map(always_low, about)) else PASSES,
        evidence=_evidence(about, tonight),
        expires=tonight.today + HOLDS,
        unless_rate_above=tripwire(rates(rule, nights)),
        backtest=backtest(rule, nights, lessons),
    )


def _evidence(lessons: list[Lesson], tonight: NoiseEvidence) -> str:
    dates = sorted({seen.date for lesson in lessons for seen in lesson.nights})
    low = sum(seen.confidence == "low" for lesson in lessons for seen in lesson.nights)
    sightings = sum(len(lesson.nights) for lesson in lessons)
    names = "; ".join(as_group(lesson).title for lesson in lessons[:3])
    times = sum(map(_times, lessons))
    return line(
        f"seen on {len(dates)} nights from {dates[0]} to {dates[-1]}, {times} times, "
        f"no fix is known; confidence was low on {low} of {sightings} sightings"
        f"{''.join(_asides(lessons, tonight))}: {names}",
        600,
    )


def _asides(lessons: list[Lesson], tonight: NoiseEvidence) -> Iterator[str]:
    gone = sum(
        recoveries(lesson.names, tonight.nights)
        for lesson in lessons
        if is_transient(lesson, tonight)
    )
    if gone:
        yield f"; it went away by itself {gone} times"
    declined = [
        fate.number for lesson in lessons for fate in lesson.fates if fate.kind == "not planned"
    ]
    if declined:
        yield f"; issue #{declined[-1]} was closed as not planned"
    lapsed = [ignored_by(tonight.lapsed, as_group(lesson)) for lesson in lessons]
    ended = [rule.expires for rule in lapsed if rule and rule.expires]
    if ended:
        yield f"; was ignored until {max(ended)}"


def _times(lesson: Lesson) -> int:
    return sum(seen.occurrences for seen in lesson.nights)
