"""Tells from an error's class and message what kind of failure it is."""

import re

from nightwatch_core.models.errors import Case
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, load_rules

MESSAGE = 2_000  # characters of an error's message that are looked at

_BARE_KEY = re.compile(r"'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|\d{1,20}")


class Wordings(Value):
    """Messages that say that a kind of failure happened."""

    kind: str
    patterns: tuple[Pattern, ...]


class SymptomRules(Value):
    """`rules/symptoms.toml`."""

    hosts: tuple[Pattern, ...]
    databases: tuple[Pattern, ...]
    same: dict[str, str]
    symptoms: tuple[Wordings, ...]


RULES = load_rules("symptoms", SymptomRules)


class Symptom(Value):
    """A kind of failure (`unknown` where no wording fits) and what the message says about it."""

    kind: str
    name: str = ""
    receiver: str = ""
    owner: str = ""
    module: str = ""
    key: str = ""
    keyword: str = ""
    missing: str = ""
    expected: str = ""
    given: str = ""
    relation: str = ""
    use: str = ""
    text: str = ""  # "class: message", bounded


def symptom_of(error_class: str, message: str) -> Symptom:
    """Find the first kind whose wording fits."""
    text = f"{error_class[:200]}: {message[:MESSAGE]}"
    for rule in RULES.symptoms:
        for pattern in rule.patterns:
            if match := pattern.search(text):
                return _symptom(rule.kind, match, text)
    return Symptom(kind="unknown", text=text)


def symptoms_of(case: Case) -> list[Symptom]:
    """Find the kind of each exception, from the root outwards, then that of the group's message."""
    links = reversed(case.trace.links) if case.trace else ()
    words = [(link.error_class, link.message) for link in links]
    words.append((case.leader.error_class, case.leader.message))
    return [symptom_of(*word) for word in words if any(word)]


def host_in(symptom: Symptom) -> str:
    """Return the host that a message names, with its port where it has one; empty for none.

    >>> host_in(Symptom(kind="timeout", text="ReadTimeout: http://pay.example/v1 timed out"))
    'pay.example'
    >>> host_in(Symptom(kind="connection", text="Error 111 connecting to redis:6379. Refused."))
    'redis:6379'
    """
    matches = (pattern.search(symptom.text) for pattern in RULES.hosts)
    return next((match[1].rstrip(".:") for match in matches if match), "")


def _symptom(kind: str, match: re.Match[str], text: str) -> Symptom:
    groups = ((group, value.strip()) for group, value in match.groupdict().items() if value)
    facts = {RULES.same.get(group, group): value for group, value in groups}
    if key := facts.get("key"):
        quoted = _BARE_KEY.match(key)
        facts["key"] = (quoted[0] if quoted else key).strip("'\" ")
    fields = {name: value for name, value in facts.items() if name in Symptom.model_fields}
    return Symptom(kind=kind, text=text, **fields)
