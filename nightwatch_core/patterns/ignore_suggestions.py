"""Ignore rules that a person might want: argued with numbers, never added by us.

A class is never called noise because of its name: of the errors that word lists of "transient"
classes would hide, developers had fixed two in three. What counts is what nights have shown, so
every rule is tried on the nights that were, and only one that hides nothing but noise is suggested.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import chain
from statistics import fmean

from nightwatch_core.intake.ignore_rules import by_message, expired, ignored_by, matches
from nightwatch_core.intake.selection import severity
from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.prior_analyses import RULES
from nightwatch_core.memory.recall import seed_tags
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.knowledge import (
    FEEDBACK,
    IgnoreAdvice,
    IgnoreRule,
    IgnoreRules,
    IgnoreSuggestion,
    Lesson,
    OutcomeEvent,
)
from nightwatch_core.models.report import RunReport
from nightwatch_core.patterns.causes import GENERIC_CLASSES
from nightwatch_core.patterns.detection import telling_tags
from nightwatch_core.patterns.nights import (
    NightGroups,
    Sightings,
    backtest,
    hidden_by,
    is_steady,
    rates,
    recoveries,
    tripwire,
    was_fixed,
)
from nightwatch_core.patterns.signs import CLIENT, OUTSIDE, REQUEST, Sign
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural
from nightwatch_core.text.templates import message_template

# Ignore rules for an error that was seen several times, from the narrowest to the widest.

SHORTEST, LONGEST = 16, 120  # characters of a pattern over messages
_LONGEST_NAME = 300  # characters of a transaction or a class
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary
_WORD_END = re.compile(r"\s+\S*$")
_STEP = re.compile(r"[^\W_]{3}\S*[/.#:]|[/.#:]\S*[^\W_]{3}")  # a name next to another
# A rule over one of them would hide unseen errors.
_GENERIC = frozenset(name.lower() for name in GENERIC_CLASSES)


def candidates(
    seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup] = (), *, whole: bool = False
) -> tuple[IgnoreRule, ...]:
    """Return rules that cover an error: its message, the start of it, its class, its transaction.

    `seen` are sightings of one class, and `of_class` all others of that class, whatever the error.
    Where a message is fixed enough nothing wider is tried. A class has to be one that was seen in
    one transaction, or with one message, and not a generic one. A transaction is the last resort:
    it hides every other error there. With `whole` a message that was always the same is taken as it
    is, whatever looks like a value in it: an address that somebody asks for again and again.
    """
    if not seen:
        return ()
    narrow = _over_messages({group.message.strip() for group in seen}, whole=whole)
    wide = chain(_over_class(seen, of_class), _over_transactions(seen))
    return _plain(narrow) or _plain(wide)


def _plain(rules: Iterable[IgnoreRule]) -> tuple[IgnoreRule, ...]:
    """Rules whose pattern is one line without hidden characters, and fits."""
    return tuple(rule for rule in rules if line(rule.pattern, 300) == rule.pattern)


def _over_messages(messages: set[str], *, whole: bool) -> Iterator[IgnoreRule]:
    first, last = min(messages), max(messages)
    same = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    start = first[:same]
    if len(messages) > 1:  # the last word may be cut in two
        start = _WORD_END.sub("", start)
    elif SHORTEST <= len(start) <= LONGEST and (whole or _FIXED_START.fullmatch(start)):
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
COVERED, OLD = "a rule covers it", "it was not seen for a month"
BY_RULES = (
    "only the rules analysed it, and that it comes back is no reason to hide it: connect a model, "
    "or close its issue as not planned"
)
NO_RULE = "no rule would hide it on three nights, at a steady rate, and nothing else"


_NIGHT = 24.0  # hours that a night looked at, where it is not recorded
MOST_USERS = 1  # of a night, who saw an error that the rules alone call noise
RISING = 7  # newest sightings, of which the later half may not be far above the earlier
RISE = 1.4  # times the earlier half: more is a rise


def advise(
    report: RunReport,
    lessons: tuple[Lesson, ...],
    rules: IgnoreRules,
    nights: Sequence[NightGroups],
) -> IgnoreAdvice:
    """Return suggested rules for errors that are noise, and why the others got none.

    Where a model analysed an error, it has to be unexplained (confidence was low on every night),
    or called transient, and went away by itself twice at least. Where only the rules did, its class
    or message has to say who caused it (signs.toml), and it neither rises, nor began with a
    release, nor fails for several users. An issue that people closed as not planned is a reason by
    itself. `nights` are those of `comparable_nights`; a rule has to prove itself there:

    - it hides the error, in all of its messages, on three nights or more (an accepted error: on
      one), and its rate on none of them jumps,
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
    given = frozenset[str]().union(*(i.names for about in by_rule.values() for i in about))
    return IgnoreAdvice(suggestions=tuple(suggestions[:MOST]), missing=history.missing(given))


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
        self._sightings = Sightings(nights)
        self._closed_by: dict[int | None, str] = {
            item.number: item.closed_by for item in report.outcomes if item.kind == "issue"
        }
        self.lesson_of = {name: lesson for lesson in lessons for name in lesson.names}
        self.reasons = {lesson.fingerprint: self._why_not_noise(lesson) for lesson in lessons}
        self.noise = [lesson for lesson in lessons if not self.reasons[lesson.fingerprint]]
        self.noise.sort(key=lambda item: (-_times(item), item.fingerprint))
        self.harmless = {name for lesson in self.noise for name in lesson.names}

    def _why_not_noise(self, lesson: Lesson) -> str:
        """The first reason a lesson's error is not noise; empty where it is."""
        transient, low = self._is_transient(lesson), _always_low(lesson)
        proposed = lesson.has_fix or lesson.pr_number is not None or bool(lesson.edits)
        is_fixed = proposed or not lesson.names.isdisjoint(self.fixed)
        accepted, only_rules = bool(_accepted(lesson)), _by_rules(lesson)
        reasons = (
            (was_fixed(lesson) or (is_fixed and not accepted), "it has or had a fix"),
            (
                any(f.kind == "closed" for f in lesson.outcomes) and not accepted,
                "its issue was closed as done",
            ),
            (
                not lesson.names.isdisjoint(self.in_work) and not accepted,
                "its issue or pull request is open",
            ),
            (severity(lesson.error_class) >= GRAVE, "its class is among the gravest"),
            (ignored_by(self.rules, as_group(lesson)) is not None, COVERED),
            (_dates(lesson) < NIGHTS and not accepted, TOO_FEW),
            (only_rules and not transient and not self.sign(lesson) and not accepted, BY_RULES),
            (
                not only_rules and not low and not transient and not accepted,
                "it is understood, and does not pass by itself",
            ),
            (self.today - last_seen(lesson) > RECENT, OLD),
        )
        found = next((reason for holds, reason in reasons if holds), "")
        return found or (self._why_news(lesson) if only_rules or accepted else "")

    def sign(self, lesson: Lesson) -> Sign | None:
        """Return the sign of who caused it, of an error that the rules alone analysed."""
        name, groups = lesson.error_class, self._groups(lesson)
        texts = [part.message for group in groups for part in by_message(group)]
        texts = texts or [lesson.message]
        if CLIENT.is_on(name, texts):
            return CLIENT
        if REQUEST.is_on(name, texts) and not lesson.module:
            return REQUEST
        passes = OUTSIDE.is_on(name, texts) and self._recoveries(lesson) >= RECOVERIES
        return OUTSIDE if passes else None

    def _recoveries(self, lesson: Lesson) -> int:
        return recoveries(lesson.names, self.nights)

    def _why_news(self, lesson: Lesson) -> str:
        """Return the reason an error has to stay in sight; empty where it comes as ever."""
        seen = sorted(lesson.nights, key=lambda night: night.date)
        if is_rising([night.occurrences / (night.hours or _NIGHT) for night in seen]):
            return f"it rises: {seen[-1].occurrences:,} times on {seen[-1].date}"
        first = min((night.date for night in seen), default=lesson.first_detected)
        own = [name for group in self._groups(lesson)[-1:] for name in group.releases[:1]]
        before = {
            name
            for night in self.nights
            if night.date < first
            for group in night.groups
            for name in group.releases
        }
        if before and own and own[0] not in before:
            return f"it began with release {line(own[0], 60)}"
        users = self._users(lesson)
        is_exempt = _accepted(lesson) or self.sign(lesson) is CLIENT
        if users is not None and users > MOST_USERS and not is_exempt:
            return f"it fails for users: {users:,} on one night"
        return ""

    def _groups(self, lesson: Lesson) -> list[ErrorGroup]:
        """Return its groups on the comparable nights, newest night first."""
        return [group for _, group in self._sightings.of(lesson.names)]

    def _users(self, lesson: Lesson) -> int | None:
        return self._sightings.most_users(lesson.names)

    def missing(self, given: frozenset[str]) -> tuple[str, ...]:
        """Say why recent errors got no rule, the most frequent reason first."""
        reasons = Counter[str]()
        others = [lesson for lesson in self.lessons if lesson.names.isdisjoint(given)]
        for lesson in others:
            reason = self.reasons[lesson.fingerprint] or NO_RULE
            if reason not in (COVERED, OLD):
                reasons[reason] += 1
        if TOO_FEW in reasons:
            most = max(d for lesson in others if (d := _dates(lesson)) < NIGHTS)
            few = f"a suggestion needs {NIGHTS} nights; {most} so far"
            reasons[few] = reasons.pop(TOO_FEW)
        ranked = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        return tuple(f"{plural(count, 'error')}: {reason}" for reason, count in ranked)

    def _is_transient(self, lesson: Lesson) -> bool:
        own = {tag.strip().lower() for tag in lesson.tags}
        own -= set(seed_tags(lesson.error_class, lesson.transaction))  # words of a name say nothing
        tagged = TRANSIENT in own or not lesson.names.isdisjoint(self.transient)
        return tagged and self._recoveries(lesson) >= RECOVERIES

    def narrowest_rule(self, lesson: Lesson) -> IgnoreRule | None:
        """The first candidate that proves itself on the comparable nights."""
        seen = (group for night in self.nights for group in night.groups)
        past = chain(seen, map(as_group, self.lessons))
        of_class = [group for group in past if group.error_class == lesson.error_class]
        own = [g for g in of_class if g.fingerprint in lesson.names and g.source != KNOWLEDGE]
        parts = [part for group in own for part in by_message(group)]
        asked = _by_rules(lesson) and self.sign(lesson) is REQUEST
        rules = candidates(parts, of_class, whole=asked)
        return next((rule for rule in rules if self._proves_itself(rule, lesson)), None)

    def _proves_itself(self, rule: IgnoreRule, lesson: Lesson) -> bool:
        hidden = hidden_by(rule, self.nights)
        names = [{group.fingerprint for group in night.groups} for night in hidden]
        least = 1 if _accepted(lesson) else NIGHTS
        if sum(not lesson.names.isdisjoint(item) for item in names) < least:
            return False
        own = self._groups(lesson)
        if not all(matches(rule, group) for group in own if group.messages):
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
        if own and (self.reasons[own.fingerprint] != TOO_FEW or not _always_low(own)):
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
            reason=self._reason(about),
            evidence=self._evidence(about),
            expires=self.today + HOLDS,
            unless_rate_above=tripwire(rates(hidden)),
            backtest=backtest(hidden, self.lessons),
        )

    def _reason(self, about: list[Lesson]) -> str:
        if declined := [event for lesson in about if (event := _accepted(lesson))]:
            return f"known and accepted: {self._closing(declined[-1])}"
        if all(map(_by_rules, about)) and (sign := self.sign(about[0])):
            return sign.reason
        return LOW if all(map(_always_low, about)) else PASSES

    def _evidence(self, lessons: list[Lesson]) -> str:
        seen = [night for lesson in lessons for night in lesson.nights]
        dates = sorted({night.date for night in seen})
        read = max(len(dates), sum(night.date >= dates[0] for night in self.nights))
        groups = [group for lesson in lessons for group in self._groups(lesson)]
        per_night = [sum(n.occurrences for n in seen if n.date == day) for day in dates]
        users = [count for lesson in lessons if (count := self._users(lesson)) is not None]
        gone = sum(self._recoveries(i) for i in lessons if self._passes(i))
        declined = [event for lesson in lessons if (event := _accepted(lesson))]
        messages = {part.message for group in groups for part in by_message(group)}
        low = sum(night.confidence == "low" for night in seen)
        parts = (
            f"seen on {len(dates)} of {plural(read, 'night')} from {dates[0]} to {dates[-1]}, "
            f"{plural(sum(per_night), 'time')}, {_span(per_night)} a night, in "
            f"{plural(len({group.transaction for group in groups}), 'transaction')}",
            _affected(max(users)) if users else "",
            "only the rules analysed it, and found no cause"
            if all(map(_by_rules, lessons))
            else f"no fix is known; confidence was low on {low} of {len(seen)} sightings"
            if not declined
            else "",
            f"it went away by itself {plural(gone, 'time')}" if gone else "",
            self._closing(declined[-1]) if declined else "",
            f"the rule covers each of its {len(messages)} messages" if len(messages) > 1 else "",
        )
        titles = "; ".join(as_group(lesson).title for lesson in lessons[:3])
        return line(f"{'; '.join(filter(None, parts))}: {titles}", 600)

    def _closing(self, event: OutcomeEvent) -> str:
        by = f" by @{line(name, 40)}" if (name := self._closed_by.get(event.number)) else ""
        said = f": “{line(event.words[-1], 120)}”" if event.words else ""
        return f"issue #{event.number} was closed as not planned on {event.on}{by}{said}"

    def _passes(self, lesson: Lesson) -> bool:
        return self._is_transient(lesson) or (_by_rules(lesson) and self.sign(lesson) is OUTSIDE)


def is_rising(seen: Sequence[float]) -> bool:
    """Tell whether rates rise: three times in a row, or their later half above the earlier one.

    >>> is_rising((10, 11, 9, 12)), is_rising((4, 7, 13)), is_rising((5, 5, 5, 9, 9, 9))
    (False, True, True)
    >>> is_rising((10, 12, 15)), is_rising((3,)), is_rising(())
    (True, False, False)
    """
    newest, last = seen[-RISING:], seen[-3:]
    half = len(newest) // 2
    in_a_row = len(last) == 3 and last[0] < last[1] < last[2] and last[2] >= RISE * last[0]
    return in_a_row or (bool(half) and fmean(newest[half:]) >= RISE * fmean(newest[:half]))


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,} to {high:,}" if low != high else f"{low:,}"


def _affected(users: int) -> str:
    return f"at most {plural(users, 'user')} a night" if users else "no user affected"


def _by_rules(lesson: Lesson) -> bool:
    return lesson.model == RULES and not lesson.has_cause


def _accepted(lesson: Lesson) -> OutcomeEvent | None:
    """Return the event by which people closed its issue as not planned; None where it is not so."""
    events = [event for event in lesson.outcomes if event.kind not in FEEDBACK]
    return events[-1] if events and events[-1].kind == "not planned" else None


def _dates(lesson: Lesson) -> int:
    return len({seen.date for seen in lesson.nights})


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
