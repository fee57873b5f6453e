"""Match error groups with the team's ignore rules: literal text or globs, no regex.

A rule may end on a day, and may be bound to a rate. One that is over does not hold, and says so.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache

import yaml
from pydantic import ValidationError

from nightwatch_core.intake import limits
from nightwatch_core.models.errors import MESSAGE_LENGTH, ErrorGroup, Occurrence, Window
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules, MatchMode
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import composed, is_absent, problem_text
from nightwatch_core.text.words import last_segment

_DAY, _SHORTEST = timedelta(days=1), timedelta(hours=1)

FIELDS: dict[str, Callable[[ErrorGroup], tuple[str, ...]]] = {
    "error_class": lambda group: (group.error_class,),
    "message": lambda group: (group.message,),
    "transaction": lambda group: (group.transaction,),
    "any": lambda group: (group.error_class, group.message),
    "missing": lambda group: (group.message, group.transaction if is_missing(group) else ""),
}
_MISSING = ("notfound", "routing", "404", "noroute", "not found", "no route")


def is_missing(group: ErrorGroup | Occurrence) -> bool:
    """Tell an error that says that nothing is at an address."""
    text = f"{last_segment(group.error_class)} {group.message[: limits.MATCHED_TEXT]}".casefold()
    return any(word in text for word in _MISSING)


MODES: dict[MatchMode, Callable[[str, str], bool]] = {  # of a pattern and a text
    "contains": lambda pattern, text: pattern in text,
    "exact": lambda pattern, text: pattern == text.strip(),
    "prefix": lambda pattern, text: text.lstrip().startswith(pattern),
    "glob": lambda pattern, text: fnmatchcase(text.strip(), pattern),
}


def complaint(rule: IgnoreRule) -> str:
    """Return the reason a rule never matches; empty for a valid rule."""
    pattern = rule.pattern.strip()
    if not pattern:
        return "the pattern is empty"
    if len(pattern) > limits.PATTERN:
        return f"the pattern has more than {limits.PATTERN} characters"
    greedy = len(pattern) > limits.GLOB or pattern.count("*") > limits.STARS
    if rule.match == "glob" and greedy:
        return f"a glob may have {limits.GLOB} characters and {limits.STARS} stars"
    return ""


def matches(rule: IgnoreRule, group: ErrorGroup) -> bool:
    """Tell whether the rule covers every message of the group, without regard to case.

    A rule with a `complaint` covers nothing. `any` looks at class and message.
    """
    return all(map(matcher(rule), by_message(group)))


@lru_cache(maxsize=1_000)
def matcher(rule: IgnoreRule) -> Callable[[ErrorGroup], bool]:
    """Return a function that tells whether a rule covers the message that a group shows."""
    if complaint(rule):
        return lambda group: False
    pattern, covers, texts = rule.pattern.strip().casefold(), MODES[rule.match], FIELDS[rule.field]

    def covered(group: ErrorGroup) -> bool:
        return any(covers(pattern, text[: limits.MATCHED_TEXT].casefold()) for text in texts(group))

    return covered


def ignored_by(rules: Iterable[IgnoreRule], group: ErrorGroup) -> IgnoreRule | None:
    """Return the first rule that covers the group; None where a message is left by all rules."""
    matchers = [(rule, matcher(rule)) for rule in rules]
    covering = [
        next((rule for rule, covers in matchers if covers(one)), None) for one in by_message(group)
    ]
    return covering[0] if all(covering) else None


def by_message(group: ErrorGroup) -> tuple[ErrorGroup, ...]:
    """Return the group once for each of its messages, with the occurrences of that message.

    A request for "/.env" and one for a real address are one group: a rule for bots may hide the
    first alone.
    """
    if not group.messages:
        return (group,)
    counts = {group.message[:MESSAGE_LENGTH]: 0, **dict(group.messages)}
    return tuple(
        group.model_copy(update={"message": message, "occurrences": count, "messages": ()})
        for message, count in counts.items()
    )


def without_ignored(rules: IgnoreRules, group: ErrorGroup) -> ErrorGroup:
    """Return the group with a message that no rule covers, where it shows one that a rule does."""
    if not group.messages or not ignored_by(rules.rules, group.model_copy(update={"messages": ()})):
        return group
    left = next(one for one in by_message(group) if not ignored_by(rules.rules, one))
    return group.model_copy(update={"message": left.message})


def named(rule: IgnoreRule) -> str:
    """Return a rule in words: what it matches, where it stands, until when and why.

    >>> named(IgnoreRule(pattern="wp-login", line=4, reason="bots", expires=date(2031, 12, 31)))
    "contains 'wp-login' (ignore.yml line 4, until 2031-12-31: bots)"
    """
    until = f", until {rule.expires}" if rule.expires else ""
    why = f": {rule.reason}" if rule.reason else ""
    return f"{described(rule)} ({_place(rule)}{until}{why})"


def described(rule: IgnoreRule) -> str:
    """Describe what a rule matches.

    >>> described(IgnoreRule(pattern="Net::*", match="glob", field="error_class"))
    "error_class glob 'Net::*'"
    """
    field = "" if rule.field == "any" else f"{rule.field} "
    return f"{field}{rule.match} {rule.pattern[: limits.QUOTED_PATTERN]!r}"


def summary(rule: IgnoreRule) -> str:
    """Return a rule on one line for people: what it matches, why, and its bounds.

    >>> summary(IgnoreRule(pattern="wp-login", reason="bots", unless_rate_above=50))
    "contains 'wp-login': bots; for ever, up to 50 a day"
    """
    why = f": {rule.reason}" if rule.reason else ""
    until = f"until {rule.expires}" if rule.expires else "for ever"
    rate = rule.unless_rate_above
    up_to = f"up to {rate:,g} a day" if rate else "whatever the rate"
    return line(f"{described(rule)}{why}; {until}, {up_to}", 600)


def expired(rule: IgnoreRule, today: date) -> bool:
    """Tell whether the rule's last day is over."""
    return rule.expires is not None and rule.expires < today


def per_day(occurrences: int, window: Window) -> float:
    """Return occurrences a day, from those of a window; one shorter than an hour counts as an hour.

    An export of a minute with three errors is no sign of thousands a day.
    """
    return occurrences * (_DAY / max(window.until - window.since, _SHORTEST))


def rules_in_force(
    rules: IgnoreRules, groups: Sequence[ErrorGroup], window: Window
) -> tuple[IgnoreRules, tuple[str, ...]]:
    """Return the rules that hold tonight, and a sentence for each one that does not.

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
    is_over = expired(rule, window.until.date())
    if not is_over and rule.unless_rate_above is None:
        return ""
    covers = matcher(rule)
    covered = [one for group in groups for one in by_message(group) if covers(one)]
    times = sum(group.occurrences for group in covered)
    if is_over:
        would = f"; it would have covered {times} of tonight's occurrences" if times else ""
        return f"expired on {rule.expires} and hides nothing any more{would}"
    rate, limit = per_day(times, window), rule.unless_rate_above or 0.0
    if rate <= limit:
        return ""
    named_errors = {group.fingerprint for group in covered}
    errors = "1 error" if len(named_errors) == 1 else f"{len(named_errors)} errors"
    return (
        f"does not hold tonight: {rate:,.0f} occurrences a day in {errors}, and it holds up to "
        f"{limit:,g}"
    )


def _place(rule: IgnoreRule) -> str:
    return f"ignore.yml line {rule.line}" if rule.line else "ignore.yml"


# ignore.yml: the team's rules for errors that NightWatch leaves alone.
#
# ignore:
#   - pattern: "wp-login"          # text to look for, without regard to case
#     match: contains              # contains | exact | prefix | glob
#     field: any                   # any (class or message) | error_class | message | transaction
#                                  # | missing (message; transaction, too, where nothing is there)
#     reason: "bots looking for WordPress"
#     expires: 2031-12-31          # the last day on which the rule holds; left out: for ever
#     unless_rate_above: 50        # occurrences a day beyond which it does not hold

KEYS = ("pattern", "match", "field", "reason", "expires", "unless_rate_above")
_BOUNDS = ("expires", "unless_rate_above")  # left empty they are wrong: nobody means "for ever"


def unreadable(text: str) -> str:
    """Return the reason no rule of a text can be read; empty otherwise.

    >>> unreadable("ignore: [\\n")
    "line 2: expected the node content, but found '<stream end>'"
    """
    return _composed(text)[1]


def rules_from(text: str) -> IgnoreRules:
    """Read ignore rules: a list under `ignore:`, or a bare list.

    A rule that cannot be read is left out and reported with its line in `complaints`; where the
    file is no YAML at all there are no rules, and one complaint. Never raises.

    >>> rules_from("ignore:\\n- {pattern: wp-login}\\n- {pattern: ''}\\n").complaints
    ('line 3: the pattern is empty',)
    """
    root, problem = _composed(text)
    if problem:
        return IgnoreRules(complaints=(f"{problem}: no rule of the file holds",))
    items, complaints = _items(root)
    rules = []
    for item in items:
        rule = _rule(item)
        if isinstance(rule, IgnoreRule):
            rules.append(rule)
        else:
            complaints.append(f"line {_line(item)}: {rule}")
    return IgnoreRules(rules=tuple(rules), complaints=tuple(complaints))


def _composed(text: str) -> tuple[yaml.Node | None, str]:
    if len(text) > limits.IGNORE_FILE:
        return None, f"longer than {limits.IGNORE_FILE} characters"
    return composed(text.removeprefix("\ufeff"))


def _items(root: yaml.Node | None) -> tuple[list[yaml.Node], list[str]]:
    complaints: list[str] = []
    if isinstance(root, yaml.MappingNode):
        listed, root = root.value, None
        for key, value in listed:
            if key.value != "ignore":
                name = line(str(key.value), 60)
                complaints.append(f"line {_line(key)}: {name!r} is unknown, only 'ignore' is read")
            elif root is not None:
                complaints.append(f"line {_line(key)}: 'ignore' comes twice, this one is left out")
            else:
                root = value
    if root is None or is_absent(root):
        return [], complaints
    if not isinstance(root, yaml.SequenceNode):
        return [], [*complaints, f"line {_line(root)}: a list of rules is needed"]
    return list(root.value), complaints


def _rule(item: yaml.Node) -> IgnoreRule | str:
    """Read a rule; a text says what is wrong with it."""
    pairs = item.value if isinstance(item, yaml.MappingNode) else []
    if not pairs or not all(isinstance(node, yaml.ScalarNode) for pair in pairs for node in pair):
        return f"a rule is a mapping of texts with {', '.join(KEYS)}"
    written: dict[str, object] = {"pattern": "", "line": _line(item)}
    for at, (key, value) in enumerate(pairs):
        if key.value not in KEYS:
            return f"{line(key.value, 60)!r} is unknown, only {', '.join(KEYS)} are read"
        if key.value in [other.value for other, _ in pairs[:at]]:
            return f"{key.value!r} comes twice"
        if not is_absent(value) or key.value in _BOUNDS:
            written[key.value] = line(value.value, 300) if key.value == "reason" else value.value
    try:
        rule = IgnoreRule.model_validate(written)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        return f"{name} {line(str(written[name]), 60)!r}: {problem_text(first)}"
    matches_all = rule.match == "glob" and not rule.pattern.strip("*? ")
    return complaint(rule) or ("the pattern matches every error" if matches_all else rule)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
