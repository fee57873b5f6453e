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
from datetime import date
from typing import get_args

import yaml

from nightwatch_core.intake import limits
from nightwatch_core.intake.ignore_rules import complaint
from nightwatch_core.models.pattern import IgnoreRule, IgnoreRules, MatchMode
from nightwatch_core.text.escaping import line
from nightwatch_core.text.frontmatter import composed

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
        problem = _bad_shape(item) or _bad_value(item)
        if problem:
            complaints.append(f"line {_line(item)}: {problem}")
        else:
            rules.append(_rule(item))
    return IgnoreRules(rules=tuple(rules), complaints=tuple(complaints))


def _composed(text: str) -> tuple[yaml.Node | None, str]:
    """The YAML's root, and why there is none."""
    if len(text) > limits.IGNORE_FILE:
        return None, f"longer than {limits.IGNORE_FILE} characters"
    return composed(text.removeprefix("\ufeff"))


def _items(root: yaml.Node | None) -> tuple[list[yaml.Node], list[str]]:
    """The nodes of the rules, and what is wrong around them."""
    complaints: list[str] = []
    if isinstance(root, yaml.MappingNode):
        listed, root = root.value, None
        for key, value in listed:
            if key.value != "ignore":
                complaints.append(
                    f"line {_line(key)}: {_name(key)} is not known here, only 'ignore'"
                )
            elif root is not None:
                complaints.append(f"line {_line(key)}: 'ignore' comes twice, this one is left out")
            else:
                root = value
    if root is None or _is_null(root):
        return [], complaints
    if not isinstance(root, yaml.SequenceNode):
        return [], [*complaints, f"line {_line(root)}: a list of rules is needed"]
    return list(root.value), complaints


def _bad_shape(item: yaml.Node) -> str:
    """Why a node is no mapping of known keys to texts, each once; empty where it is."""
    if not isinstance(item, yaml.MappingNode):
        return f"a rule is a mapping with {', '.join(KEYS)}"
    unknown = next((key for key, _ in item.value if not _is_known(key)), None)
    if unknown is not None:
        return f"{_name(unknown)} is not known, only {', '.join(KEYS)}"
    keys = [key.value for key, _ in item.value]
    twice = next((key for key in KEYS if keys.count(key) > 1), "")
    if twice:
        return f"{twice!r} comes twice"
    no_text = (k.value for k, v in item.value if not isinstance(v, yaml.ScalarNode))
    return next((f"{key!r} has to be text" for key in no_text), "")


def _bad_value(item: yaml.Node) -> str:
    """Why the values of a well-formed rule make no rule; empty where they do."""
    # A bound left empty was not meant as none, so nulls count as texts here.
    written = {key.value: value.value for key, value in item.value}
    day, rate = written.get("expires"), written.get("unless_rate_above")
    for key, value in _texts(item).items():
        if key in CHOICES and value not in CHOICES[key]:
            return f"{key} {line(value, 60)!r} is not known, only {', '.join(CHOICES[key])}"
    if day is not None and not day_from(day):
        return f"expires {line(day, 60)!r} is no day: write it as 2031-12-31, or leave the key out"
    if rate is not None and not rate_from(rate):
        return f"unless_rate_above {line(rate, 60)!r} is no positive number of occurrences a day"
    if len(_texts(item).get("pattern", "")) > limits.PATTERN:
        return f"the pattern has more than {limits.PATTERN} characters"
    rule = _rule(item)
    matches_all = rule.match == "glob" and not rule.pattern.strip("*? ")
    return complaint(rule) or ("the pattern matches every error" if matches_all else "")


def _rule(item: yaml.Node) -> IgnoreRule:
    texts = _texts(item)
    read: dict[str, object] = {
        "reason": line(texts.get("reason", ""), 300),
        "expires": day_from(texts.get("expires", "")),
        "unless_rate_above": rate_from(texts.get("unless_rate_above", "")),
    }
    return IgnoreRule.model_validate({"pattern": "", **texts, **read, "line": _line(item)})


def _texts(item: yaml.Node) -> dict[str, str]:
    """The values as they are written; a key without a value counts as absent."""
    return {key.value: value.value for key, value in item.value if not _is_null(value)}


def _is_known(key: yaml.Node) -> bool:
    return isinstance(key, yaml.ScalarNode) and key.value in KEYS


def _name(key: yaml.Node) -> str:
    is_text = isinstance(key, yaml.ScalarNode)
    return repr(line(key.value, 60)) if is_text else "a key that is not text"


def _is_null(node: yaml.Node) -> bool:
    return bool(node.tag == "tag:yaml.org,2002:null")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
