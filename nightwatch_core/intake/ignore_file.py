"""ignore.yml: the team's rules for errors that NightWatch leaves alone.

ignore:
  - pattern: "wp-login"          # text to look for, without regard to case
    match: contains              # contains | exact | prefix | glob
    field: any                   # any (class or message) | error_class | message | transaction
    reason: "bots looking for WordPress"
    expires: 2031-12-31          # the last day on which the rule holds; left out: for ever
    unless_rate_above: 50        # occurrences a day beyond which it does not hold; left out: never
"""

import re
from collections.abc import Callable
from datetime import date
from typing import get_args

import yaml

from nightwatch_core.intake.ignore_rules import complaint
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, MatchMode
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import composed

LONGEST_FILE = 262_144  # characters
LONGEST_PATTERN = 500
KEYS = ("pattern", "match", "field", "reason", "expires", "unless_rate_above")
CHOICES: dict[str, tuple[str, ...]] = {
    "match": get_args(MatchMode),
    "field": get_args(IgnoreRule.model_fields["field"].annotation),
}
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_RATE = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)


def day_from(text: str) -> date | None:
    """The day that is written as year, month and day; None for anything else.

    >>> day_from("2031-12-31"), day_from("2031-02-30"), day_from("31.12.2031")
    (datetime.date(2031, 12, 31), None, None)
    """
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def rate_from(text: str) -> float | None:
    """The positive number that is written; None for anything else.

    >>> rate_from("50"), rate_from("0.5"), rate_from("0"), rate_from("1e9"), rate_from("50/day")
    (50.0, 0.5, None, None, None)
    """
    return (float(text) or None) if _RATE.fullmatch(text) else None


def unreadable(text: str) -> str:
    """Why no rule of a text can be read; empty where each stands for itself.

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
        problem = next((said for check in CHECKS if (said := check(item))), "")
        if problem:
            complaints.append(f"line {_line(item)}: {problem}")
        else:
            rules.append(_rule(item))
    return IgnoreRules(rules=tuple(rules), complaints=tuple(complaints))


def _composed(text: str) -> tuple[yaml.Node | None, str]:
    """The YAML's root, and why there is none."""
    if len(text) > LONGEST_FILE:
        return None, f"longer than {LONGEST_FILE} characters"
    return composed(text.removeprefix("\ufeff"))


def _items(root: yaml.Node | None) -> tuple[list[yaml.Node], list[str]]:
    """The nodes of the rules, and what is wrong around them."""
    if root is None or _is_null(root):
        return [], []
    complaints = []
    if isinstance(root, yaml.MappingNode):
        listed, root = root.value, None
        for key, value in listed:
            if key.value != "ignore":
                said = f"{_named(key)} is not known here, only 'ignore'"
                complaints.append(f"line {_line(key)}: {said}")
            elif root is not None:
                complaints.append(f"line {_line(key)}: 'ignore' comes twice, this one is left out")
            else:
                root = value
        if root is None or _is_null(root):
            return [], complaints
    if not isinstance(root, yaml.SequenceNode):
        return [], [*complaints, f"line {_line(root)}: a list of rules is needed"]
    return list(root.value), complaints


def _not_a_mapping(item: yaml.Node) -> str:
    if isinstance(item, yaml.MappingNode):
        return ""
    return f"a rule is a mapping with {', '.join(KEYS)}"


def _bad_key(item: yaml.Node) -> str:
    unknown = next((key for key, _ in item.value if _named(key, quoted=False) not in KEYS), None)
    if unknown is not None:
        return f"{_named(unknown)} is not known, only {', '.join(KEYS)}"
    keys = [key.value for key, _ in item.value]
    twice = next((key for key in KEYS if keys.count(key) > 1), "")
    return f"{twice!r} comes twice" if twice else ""


def _not_text(item: yaml.Node) -> str:
    wrong = next((k.value for k, v in item.value if not isinstance(v, yaml.ScalarNode)), "")
    return f"{wrong!r} has to be text" if wrong else ""


def _bad_choice(item: yaml.Node) -> str:
    for key, value in _texts(item).items():
        if key in CHOICES and value not in CHOICES[key]:
            return f"{key} {line(value, 60)!r} is not known, only {', '.join(CHOICES[key])}"
    return ""


def _bad_day(item: yaml.Node) -> str:
    said = _said(item, "expires")
    if said is None or day_from(said):
        return ""
    return f"expires {line(said, 60)!r} is no day: write it as 2031-12-31, or leave the key out"


def _bad_rate(item: yaml.Node) -> str:
    said = _said(item, "unless_rate_above")
    if said is None or rate_from(said):
        return ""
    return f"unless_rate_above {line(said, 60)!r} is no positive number of occurrences a day"


def _too_long(item: yaml.Node) -> str:
    over = len(_texts(item).get("pattern", "")) > LONGEST_PATTERN
    return f"the pattern has more than {LONGEST_PATTERN} characters" if over else ""


def _never_matches(item: yaml.Node) -> str:
    return complaint(_rule(item))


def _matches_all(item: yaml.Node) -> str:
    rule = _rule(item)
    everything = rule.match == "glob" and not rule.pattern.strip("*? ")
    return "the pattern matches every error" if everything else ""


CHECKS: tuple[Callable[[yaml.Node], str], ...] = (
    _not_a_mapping,
    _bad_key,
    _not_text,
    _bad_choice,
    _bad_day,
    _bad_rate,
    _too_long,
    _never_matches,
    _matches_all,
)


def _rule(item: yaml.Node) -> IgnoreRule:
    said = _texts(item)
    read: dict[str, object] = {
        "reason": line(said.get("reason", ""), 300),
        "expires": day_from(said.get("expires", "")),
        "unless_rate_above": rate_from(said.get("unless_rate_above", "")),
    }
    return IgnoreRule.model_validate({"pattern": "", **said, **read, "line": _line(item)})


def _texts(item: yaml.Node) -> dict[str, str]:
    """The values as they are written; a key without a value counts as absent."""
    return {key.value: value.value for key, value in item.value if not _is_null(value)}


def _said(item: yaml.Node, name: str) -> str | None:
    """What stands behind a key, even if it is nothing: a bound left empty was not meant as none."""
    return next((value.value for key, value in item.value if key.value == name), None)


def _named(key: yaml.Node, *, quoted: bool = True) -> str:
    if not isinstance(key, yaml.ScalarNode):
        return "a key that is not text"
    return repr(line(key.value, 60)) if quoted else str(key.value)


def _is_null(node: yaml.Node) -> bool:
    return bool(node.tag == "tag:yaml.org,2002:null")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
