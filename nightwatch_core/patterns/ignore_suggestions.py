"""Ignore rules that a person might want: argued with numbers, never added by us.

A class is never called noise because of its name: of the errors that word lists of "transient"
classes would hide, developers had fixed two in three. What counts is what nights have shown, so
every rule is tried on the nights that were, and only one that hides nothing but noise is suggested.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import chain, islice
from statistics import median

from nightwatch_core.intake.default_ports import is_sample
from nightwatch_core.intake.ignore_rules import expired, ignored_by, matcher, matches, per_day
from nightwatch_core.intake.limits import MATCHED_TEXT
from nightwatch_core.intake.selection import severity
from nightwatch_core.memory.follow_up import AFTER_A_MERGE
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.prior_analyses import RULES
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import (
    Backtest,
    IgnoreRule,
    IgnoreRules,
    IgnoreSuggestion,
    Lesson,
)
from nightwatch_core.models.report import SINGLE_RUN, RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.patterns.causes import GENERIC_CLASSES
from nightwatch_core.patterns.detection import telling_tags
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template

# What an ignore rule would have hidden on the nights that were.

NIGHTS_BACK = 30
MOST_READ = 3 * NIGHTS_BACK  # reports; single runs and repeated windows are passed over
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
    for report in islice(chain((tonight,), reports), MOST_READ):
        window, options = report.night.window, report.options
        is_alike = (
            report.status != "failed"
            and not report.night.id.startswith(SINGLE_RUN)
            and is_sample(options) == is_sample(tonight.options)
            and set(options.sources()) == set(tonight.options.sources())
        )
        if is_alike and not any(_overlap(window, item.window) for item in kept):
            kept.append(night_groups(report))
        if len(kept) == NIGHTS_BACK:
            break
    return tuple(kept)


def _overlap(window: Window, other: Window) -> bool:
    shared = min(window.until, other.until) - max(window.since, other.since)
    shorter = min(window.until - window.since, other.until - other.since)
    return shared * 2 > shorter or (window.since, window.until) == (other.since, other.until)


def night_groups(report: RunReport) -> NightGroups:
    """Return all error groups of a report, each once and with only what rules look at."""
    every = (group for case in report.cases for group in case.groups)
    groups = {
        group.fingerprint: ErrorGroup(
            fingerprint=group.fingerprint,
            source=group.source,
            error_class=group.error_class,
            transaction=group.transaction,
            message=group.message[:MATCHED_TEXT],
            occurrences=group.occurrences,
            users=group.users,
        )
        for group in every
    }
    return NightGroups(window=report.night.window, groups=tuple(groups.values()))


def hidden_by(rule: IgnoreRule, nights: Iterable[NightGroups]) -> tuple[NightGroups, ...]:
    """Return the nights with nothing but what the rule would have hidden, whatever its bounds."""
    covers = matcher(rule)
    hidden = ((night, tuple(filter(covers, night.groups))) for night in nights)
    return tuple(night.model_copy(update={"groups": groups}) for night, groups in hidden)


def backtest(hidden: Sequence[NightGroups], lessons: Iterable[Lesson]) -> Backtest:
    """Count what `hidden_by` returned.

    A group counts once, on however many nights it came. `fixed_later` counts the groups whose
    lesson says that a fix of ours was merged. Users of one night are added up over its groups, so
    that one who met two of them counts twice.
    """
    fixed = {name for lesson in lessons if was_fixed(lesson) for name in lesson.names}
    groups = [group for night in hidden for group in night.groups]
    names = {group.fingerprint for group in groups}
    users = [sum(group.users or 0 for group in night.groups) for night in hidden]
    return Backtest(
        nights=len(hidden),
        groups=len(names),
        occurrences=sum(group.occurrences for group in groups),
        fixed_later=len(names & fixed),
        users=max(users) if any(group.users is not None for group in groups) else None,
    )


def rates(hidden: Iterable[NightGroups]) -> tuple[float, ...]:
    """Return occurrences a day on each night with any, all its groups summed."""
    counted = ((sum(group.occurrences for group in n.groups), n.window) for n in hidden)
    return tuple(per_day(count, window) for count, window in counted if count)


def tripwire(seen: Sequence[float]) -> float:
    """Return the rate above which a rule shall not hold: three times the highest seen, at least 10.

    It is rounded up to 1, 2, 3 or 5 and zeros.

    >>> tripwire((4.0, 21.0)), tripwire((0.5,)), tripwire(())
    (100.0, 10.0, 10.0)
    """
    limit = max(LOWEST, HEADROOM * max(seen, default=0.0))
    zeros = 10 ** math.floor(math.log10(limit))
    return float(next(step * zeros for step in _READABLE if step * zeros >= limit))


def is_steady(seen: Sequence[float]) -> bool:
    """Tell whether no night's rate is far above the usual one: an error that jumps is no noise.

    >>> is_steady((20, 31, 25)), is_steady((20, 500, 25)), is_steady((1, 9, 1))
    (True, False, True)
    """
    return not seen or max(seen) <= max(LOWEST, JUMP * median(seen))


def was_fixed(lesson: Lesson) -> bool:
    """Tell whether a fix of ours was merged for it, whatever came of the fix."""
    ends = (*(event.kind for event in lesson.outcomes), *(item.outcome for item in lesson.proposed))
    is_merged = any(kind in AFTER_A_MERGE for kind in (*ends, lesson.outcome))
    return lesson.watch is not None or is_merged


def recoveries(names: frozenset[str], nights: Sequence[NightGroups]) -> int:
    """Count how often an error was gone on the next night that was read; nights newest first."""
    present = [any(group.fingerprint in names for group in night.groups) for night in nights]
    return sum(had and not has for has, had in zip(present, present[1:], strict=False))


# Ignore rules for an error that was seen several times, from the narrowest to the widest.

SHORTEST, LONGEST = 16, 120  # characters of a pattern over messages
_LONGEST_NAME = 300  # characters of a transaction or a class
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary
_WORD_END = re.compile(r"\s+\S*$")
_STEP = re.compile(r"[^\W_]{3}\S*[/.#:]|[/.#:]\S*[^\W_]{3}")  # a name next to another
# A rule over one of them would hide unseen errors.
_GENERIC = frozenset(name.lower() for name in GENERIC_CLASSES)


def candidates(
    seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup] = ()
) -> tuple[IgnoreRule, ...]:
    """Return rules that cover an error: its message, the start of it, its class, its transaction.

    `seen` are sightings of one class, and `of_class` all others of that class, whatever the error.
    Where a message is fixed enough nothing wider is tried. A class has to be one that was seen in
    one transaction, or with one message, and not a generic one. A transaction is the last resort:
    it hides every other error there.
    """
    if not seen:
        return ()
    narrow = _over_messages({group.message.strip() for group in seen})
    wide = chain(_over_class(seen, of_class), _over_transactions(seen))
    return _plain(narrow) or _plain(wide)


def _plain(rules: Iterable[IgnoreRule]) -> tuple[IgnoreRule, ...]:
    """Rules whose pattern is one line without hidden characters, and fits."""
    return tuple(rule for rule in rules if line(rule.pattern, 300) == rule.pattern)


def _over_messages(messages: set[str]) -> Iterator[IgnoreRule]:
    first, last = min(messages), max(messages)
    same = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    start = first[:same]
    if len(messages) > 1:  # the last word may be cut in two
        start = _WORD_END.sub("", start)
    elif SHORTEST <= len(start) <= LONGEST and _FIXED_START.fullmatch(start):
        yield IgnoreRule(pattern=start, match="exact", field="message")
    fixed = _FIXED_START.match(start[:LONGEST])
    pattern = fixed.group().strip() if fixed else ""
    if len(pattern) >= SHORTEST:
        yield IgnoreRule(pattern=pattern, match="prefix", field="message")


def _over_class(seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup]) -> Iterator[IgnoreRule]:
    every = (*seen, *of_class)
    places = {group.transaction.strip() for group in every}
    messages = {message_template(group.message) for group in every}
    name = seen[0].error_class.strip()
    is_narrow = any(len(texts) == 1 and "" not in texts for texts in (places, messages))
    is_generic = re.split(r"[.:\\/]", name)[-1].lower() in _GENERIC
    if name and is_narrow and not is_generic and len(name) <= _LONGEST_NAME:
        yield IgnoreRule(pattern=name, match="exact", field="error_class")


def _over_transactions(seen: Sequence[ErrorGroup]) -> Iterator[IgnoreRule]:
    names = {group.transaction.strip() for group in seen}
    name = next(iter(names))
    if len(names) == 1 and len(name) <= _LONGEST_NAME and _STEP.search(name):
        yield IgnoreRule(pattern=name, match="exact", field="transaction")


# Which errors are noise: seen on three nights or more, and nobody can do much about them.

NIGHTS = 3
RECENT = timedelta(days=30)  # an error not seen for longer needs no rule
RECOVERIES = 2  # times an error has to have gone away by itself to be called transient
TRANSIENT = "transient"  # the tag an analyst gives
ENDED = (  # outcomes after which nobody works on the error
    *("merged", "edited before merge", "closed unmerged", "closed", "not planned"),
    *("verified", "no effect"),
)
KNOWLEDGE = "knowledge"  # the source of a lesson's error as a rule sees it
GRAVE = 1.0  # severity of classes that are never noise
MOST = 10
MOST_TRIED = 50  # errors for which a rule is sought, the most frequent ones
HOLDS = timedelta(days=30)  # how long a suggested rule holds
LOW, PASSES = "no cause was found in the code", "passes by itself"
TOO_FEW = "it was seen on less than three nights"


def suggest_rules(
    report: RunReport,
    lessons: tuple[Lesson, ...],
    rules: IgnoreRules,
    nights: Sequence[NightGroups],
) -> tuple[IgnoreSuggestion, ...]:
    """Suggest rules for errors seen on three nights or more, without a fix, that are noise.

    Such an error is unexplained (its confidence was low on every night), or an analyst who read the
    code calls it transient and it went away by itself twice at least. `nights` are those of
    `comparable_nights`; a rule has to prove itself there:

    - it hides the error on three nights or more, and its rate on none of them jumps,
    - it hides no error that later got a merged fix, or any fix, or that somebody works on,
    - everything else it hides is noise too, or the same failure at another place.

    Nothing is suggested that a rule covers which has not expired: one that does not hold tonight,
    because the error comes too often, is no reason for another. Each rule holds for 30 days, and up
    to a rate. Most occurrences first, at most 10.
    """
    history = _History(report, lessons, rules, nights)
    by_rule: dict[IgnoreRule, list[Lesson]] = {}
    for lesson in history.noise[:MOST_TRIED]:
        if rule := history.narrowest_rule(lesson):
            by_rule.setdefault(rule, []).append(lesson)
    suggestions = [history.suggestion(rule, about) for rule, about in by_rule.items()]
    suggestions.sort(key=lambda item: (-item.backtest.occurrences, item.pattern))
    return tuple(suggestions[:MOST])


def rule_from(suggestion: IgnoreSuggestion) -> IgnoreRule:
    """Return the rule as it would stand in ignore.yml."""
    return IgnoreRule(**suggestion.model_dump(exclude={"evidence", "backtest"}))


def as_group(lesson: Lesson) -> ErrorGroup:
    """Return a lesson's error, as a rule sees it."""
    return ErrorGroup(
        fingerprint=lesson.fingerprint,
        source=KNOWLEDGE,
        error_class=lesson.error_class,
        transaction=lesson.transaction,
        message=lesson.message,
    )


class _History:
    """Tonight's report, the lessons and the comparable nights, newest first."""

    def __init__(
        self,
        report: RunReport,
        lessons: tuple[Lesson, ...],
        rules: IgnoreRules,
        nights: Sequence[NightGroups],
    ) -> None:
        self.today = report.night.window.until.date()
        self.lessons, self.nights = lessons, nights
        self.rules = [rule for rule in rules.rules if not expired(rule, self.today)]
        fixed, transient = set[str](), set[str]()
        for analysis in report.analyses:
            names = {analysis.fingerprint, *analysis.case.aliases}
            fixed |= names if analysis.has_fix else set()
            transient |= names if TRANSIENT in telling_tags(analysis) else set()
        self.fixed, self.transient, self.in_work = fixed, transient, _in_work(report, lessons)
        self.lesson_of = {name: lesson for lesson in lessons for name in lesson.names}
        self.noise = [lesson for lesson in lessons if not self.why_not_noise(lesson)]
        self.noise.sort(key=lambda item: (-_times(item), item.fingerprint))
        self.harmless = {name for lesson in self.noise for name in lesson.names}

    def why_not_noise(self, lesson: Lesson) -> str:
        """The first reason a lesson's error is not noise; empty where it is."""
        transient, low = self._is_transient(lesson), _always_low(lesson)
        proposed = lesson.has_fix or lesson.pr_number is not None or bool(lesson.edits)
        is_fixed = proposed or was_fixed(lesson) or not lesson.names.isdisjoint(self.fixed)
        reasons = (
            (is_fixed, "it has or had a fix"),
            (any(f.kind == "closed" for f in lesson.outcomes), "its issue was closed as done"),
            (not lesson.names.isdisjoint(self.in_work), "somebody works on it"),
            (severity(lesson.error_class) >= GRAVE, "its class is among the gravest"),
            (ignored_by(self.rules, as_group(lesson)) is not None, "a rule covers it"),
            (len({seen.date for seen in lesson.nights}) < NIGHTS, TOO_FEW),
            (
                lesson.model == RULES and not lesson.has_cause and not transient,
                "only the rules analysed it",
            ),
            (not low and not transient, "it is understood, and does not pass by itself"),
            (self.today - last_seen(lesson) > RECENT, "it was not seen for a month"),
        )
        return next((reason for holds, reason in reasons if holds), "")

    def _is_transient(self, lesson: Lesson) -> bool:
        own = {tag.strip().lower() for tag in lesson.tags}
        own -= set(seed_tags(lesson.error_class, lesson.transaction))  # words of a name say nothing
        tagged = TRANSIENT in own or not lesson.names.isdisjoint(self.transient)
        return tagged and recoveries(lesson.names, self.nights) >= RECOVERIES

    def narrowest_rule(self, lesson: Lesson) -> IgnoreRule | None:
        """The first candidate that proves itself on the comparable nights."""
        seen = (group for night in self.nights for group in night.groups)
        past = chain(seen, map(as_group, self.lessons))
        of_class = [group for group in past if group.error_class == lesson.error_class]
        own = [g for g in of_class if g.fingerprint in lesson.names and g.source != KNOWLEDGE]
        rules = candidates(own, of_class)
        return next((rule for rule in rules if self._proves_itself(rule, lesson)), None)

    def _proves_itself(self, rule: IgnoreRule, lesson: Lesson) -> bool:
        hidden = hidden_by(rule, self.nights)
        names = [{group.fingerprint for group in night.groups} for night in hidden]
        if sum(not lesson.names.isdisjoint(item) for item in names) < NIGHTS:
            return False
        if not is_steady(rates(hidden)) or backtest(hidden, self.lessons).fixed_later:
            return False
        learned = (group for group in map(as_group, self.lessons) if matches(rule, group))
        return all(
            group.fingerprint in self.harmless or self._is_same_elsewhere(group, lesson)
            for group in chain(*(night.groups for night in hidden), learned)
        )

    def _is_same_elsewhere(self, group: ErrorGroup, noise: Lesson) -> bool:
        own = self.lesson_of.get(group.fingerprint)
        if own and (self.why_not_noise(own) != TOO_FEW or not _always_low(own)):
            return False
        same = message_template(group.message) == message_template(noise.message)
        return same and group.error_class == noise.error_class

    def suggestion(self, rule: IgnoreRule, about: list[Lesson]) -> IgnoreSuggestion:
        """The rule with its reason, figures and bounds."""
        hidden = hidden_by(rule, self.nights)
        return IgnoreSuggestion(
            pattern=rule.pattern,
            match=rule.match,
            field=rule.field,
            reason=LOW if all(map(_always_low, about)) else PASSES,
            evidence=self._evidence(about),
            expires=self.today + HOLDS,
            unless_rate_above=tripwire(rates(hidden)),
            backtest=backtest(hidden, self.lessons),
        )

    def _evidence(self, lessons: list[Lesson]) -> str:
        seen = [night for lesson in lessons for night in lesson.nights]
        dates = sorted({night.date for night in seen})
        gone = sum(recoveries(i.names, self.nights) for i in lessons if self._is_transient(i))
        outcomes = (event for lesson in lessons for event in lesson.outcomes)
        declined = [event.number for event in outcomes if event.kind == "not planned"]
        parts = (
            f"seen on {len(dates)} nights from {dates[0]} to {dates[-1]}, "
            f"{sum(map(_times, lessons))} times, no fix is known; confidence was low on "
            f"{sum(night.confidence == 'low' for night in seen)} of {len(seen)} sightings",
            f"it went away by itself {gone} times" if gone else "",
            f"issue #{declined[-1]} was closed as not planned" if declined else "",
        )
        titles = "; ".join(as_group(lesson).title for lesson in lessons[:3])
        return line(f"{'; '.join(filter(None, parts))}: {titles}", 600)


def _always_low(lesson: Lesson) -> bool:
    return bool(lesson.nights) and all(seen.confidence == "low" for seen in lesson.nights)


def _times(lesson: Lesson) -> int:
    return sum(seen.occurrences for seen in lesson.nights)


def _in_work(report: RunReport, lessons: Iterable[Lesson]) -> frozenset[str]:
    """Names of errors with an open issue or pull request of ours, or a fix that is being watched.

    What the tracker answered tonight counts. Without an answer lessons do, and an item whose end
    none of them knows is open.
    """
    at = {item.fingerprint for item in report.outcomes if item.state == "open"}
    at |= {receipt.fingerprint for receipt in report.receipts if receipt.number}
    watched = (update for update in report.followed if update.watch and not update.watch.verdict)
    at |= {update.fingerprint for update in watched}
    ours = []
    for lesson in lessons:
        is_published = lesson.issue_number or lesson.pr_number or lesson.proposed or lesson.outcomes
        last = lesson.outcomes[-1].kind if lesson.outcomes else ""
        remembers_open = not report.outcomes and is_published and last not in ENDED
        is_watched = lesson.watch and not lesson.watch.verdict
        if lesson.names & at or is_watched or remembers_open:
            ours.append(lesson)
    return frozenset(at).union(*(lesson.names for lesson in ours))
