"""Whether a team's ignore rule covers an error group; rules are literal text or globs, no regex.

A rule may end on a day, and may be bound to a rate. One that is over does not hold, and says so.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from fnmatch import translate
from functools import lru_cache

from nightwatch_core.intake import limits
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, MatchMode
from nightwatch_core.text.escaping import line

_DAY, _SHORTEST = timedelta(days=1), timedelta(hours=1)

FIELDS: dict[str, Callable[[ErrorGroup], tuple[str, ...]]] = {
    "error_class": lambda group: (group.error_class,),
    "message": lambda group: (group.message,),
    "transaction": lambda group: (group.transaction,),
    "any": lambda group: (group.error_class, group.message),
}


@lru_cache(maxsize=512)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob))


MODES: dict[MatchMode, Callable[[str, str], bool]] = {  # of a pattern and a text
    "contains": lambda pattern, text: pattern in text,
    "exact": lambda pattern, text: pattern == text.strip(),
    "prefix": lambda pattern, text: text.lstrip().startswith(pattern),
    "glob": lambda pattern, text: _compiled(pattern).match(text.strip()) is not None,
}


def complaint(rule: IgnoreRule) -> str:
    """Why a rule never matches; empty for a rule that holds.

    >>> complaint(IgnoreRule(pattern=" ")), complaint(IgnoreRule(pattern="wp-login"))
    ('the pattern is empty', '')
    >>> complaint(IgnoreRule(pattern="*a" * 9, match="glob"))
    'a glob may have 300 characters and 8 stars'
    """
    pattern = rule.pattern.strip()
    if not pattern:
        return "the pattern is empty"
    greedy = len(pattern) > limits.GLOB or pattern.count("*") > limits.STARS
    if rule.match == "glob" and greedy:
        return f"a glob may have {limits.GLOB} characters and {limits.STARS} stars"
    return ""


def matches(rule: IgnoreRule, group: ErrorGroup) -> bool:
    """Whether the rule covers the group, without regard to case.

    A rule with a `complaint` covers nothing. `any` looks at class and message.
    """
    return matcher(rule)(group)


def matcher(rule: IgnoreRule) -> Callable[[ErrorGroup], bool]:
    """The same as `matches`, made once for many groups."""
    if complaint(rule):
        return lambda group: False
    pattern, covers, texts = rule.pattern.strip().casefold(), MODES[rule.match], FIELDS[rule.field]

    def covered(group: ErrorGroup) -> bool:
        return any(covers(pattern, text[: limits.MATCHED_TEXT].casefold()) for text in texts(group))

    return covered


def ignored_by(rules: Iterable[IgnoreRule], group: ErrorGroup) -> IgnoreRule | None:
    """The first rule that covers the group; None where none does."""
    return next((rule for rule in rules if matches(rule, group)), None)


def named(rule: IgnoreRule) -> str:
    """A rule in words: what it matches, where it stands, until when and why.

    >>> named(IgnoreRule(pattern="wp-login", line=4, reason="bots", expires=date(2031, 12, 31)))
    "contains 'wp-login' (ignore.yml line 4, until 2031-12-31: bots)"
    """
    until = f", until {rule.expires}" if rule.expires else ""
    why = f": {rule.reason}" if rule.reason else ""
    return f"{described(rule)} ({_place(rule)}{until}{why})"


def described(rule: IgnoreRule) -> str:
    """What a rule matches.

    >>> described(IgnoreRule(pattern="Net::*", match="glob", field="error_class"))
    "error_class glob 'Net::*'"
    """
    field = "" if rule.field == "any" else f"{rule.field} "
    return f"{field}{rule.match} {rule.pattern[: limits.QUOTED_PATTERN]!r}"


def summary(rule: IgnoreRule) -> str:
    """A rule on one line for people: what it matches, why, and its bounds.

    >>> summary(IgnoreRule(pattern="wp-login", reason="bots", unless_rate_above=50))
    "contains 'wp-login': bots; for ever, up to 50 a day"
    """
    why = f": {rule.reason}" if rule.reason else ""
    until = f"until {rule.expires}" if rule.expires else "for ever"
    rate = rule.unless_rate_above
    up_to = f"up to {rate:,g} a day" if rate else "whatever the rate"
    return line(f"{described(rule)}{why}; {until}, {up_to}", 600)


def expired(rule: IgnoreRule, today: date) -> bool:
    """Whether the rule's last day is over.

    >>> rule = IgnoreRule(pattern="a", expires=date(2031, 12, 31))
    >>> expired(rule, date(2031, 12, 31)), expired(rule, date(2032, 1, 1))
    (False, True)
    """
    return rule.expires is not None and rule.expires < today


def per_day(occurrences: int, window: Window) -> float:
    """Occurrences a day, from those of a window; one shorter than an hour counts as an hour.

    An export of a minute with three errors is no sign of thousands a day.
    """
    return occurrences * (_DAY / max(window.until - window.since, _SHORTEST))


def rules_in_force(
    rules: IgnoreRules, groups: Sequence[ErrorGroup], window: Window
) -> tuple[IgnoreRules, tuple[str, ...]]:
    """The rules that hold tonight, and a sentence for each one that does not.

    A rule holds to the end of its last day, by the date of the window's end. Its rate is compared
    with all occurrences it covers, summed: an attack or an outage spreads over transactions and
    messages, and each group of it alone would stay below. What an earlier rule covers as well
    counts too, so that the order of the rules does not matter.
    """
    reasons = [_not_holding(rule, groups, window) for rule in rules.rules]
    held = tuple(rule for rule, why in zip(rules.rules, reasons, strict=True) if not why)
    over = [
        line(f"{_place(rule)}, {described(rule)}, {why}", 400)
        for rule, why in zip(rules.rules, reasons, strict=True)
        if why
    ]
    if len(over) > limits.SENTENCES:
        over[limits.SENTENCES :] = [f"{len(over) - limits.SENTENCES} more ignore rules do not hold"]
    return rules.model_copy(update={"rules": held}), tuple(over)


def _not_holding(rule: IgnoreRule, groups: Sequence[ErrorGroup], window: Window) -> str:
    """Why a rule does not hold in this window; empty where it does."""
    is_over = expired(rule, window.until.date())
    if not is_over and rule.unless_rate_above is None:
        return ""
    covered = [group for group in groups if matches(rule, group)]
    times = sum(group.occurrences for group in covered)
    if is_over:
        would = f"; it would have covered {times} of tonight's occurrences" if times else ""
        return f"expired on {rule.expires} and hides nothing any more{would}"
    rate, limit = per_day(times, window), rule.unless_rate_above or 0.0
    if rate <= limit:
        return ""
    errors = "1 error" if len(covered) == 1 else f"{len(covered)} errors"
    return (
        f"does not hold tonight: {rate:,.0f} occurrences a day in {errors}, and it holds up to "
        f"{limit:,g}"
    )


def _place(rule: IgnoreRule) -> str:
    return f"ignore.yml line {rule.line}" if rule.line else "ignore.yml"
