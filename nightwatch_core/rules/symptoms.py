"""Tells from an error's class and message what kind of failure it is."""

import re

from nightwatch_core.models.value import Value
from nightwatch_core.rules.symptom_classes import NEIGHBOURS_AND_VALUES
from nightwatch_core.rules.symptom_table import NAMES_AND_DATA

_LONGEST = 1_000  # characters that are looked at
_SAME = {  # groups that say the same thing in different wordings
    "old": "name",
    "model": "relation",
    "class": "relation",
    "columns": "relation",
    "column": "relation",
    "actual": "given",
    "got": "given",
    "wanted": "expected",
    "type": "expected",
}
WORDINGS = (*NAMES_AND_DATA, *NEIGHBOURS_AND_VALUES)
_COMPILED = tuple((kind, re.compile(pattern)) for kind, pattern in WORDINGS)
_MEANT = re.compile(r"Did you mean: '(\w{1,100})'\?")
_BARE_KEY = re.compile(r"'[^'\n]{1,100}'|\"[^\"\n]{1,100}\"|\d{1,20}")


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
    meant: str = ""  # what the language suggests instead
    said: str = ""  # "class: message", bounded


def symptom_of(error_class: str, message: str) -> Symptom:
    """The first kind whose wording fits.

    >>> symptom_of("NoMethodError", "undefined method `total' for nil:NilClass").name
    'total'
    >>> symptom_of("KeyError", "'price'").key
    'price'
    >>> symptom_of("PaymentDeclined", "card 1").kind
    'unknown'
    """
    said = f"{error_class[:200]}: {message[:_LONGEST]}"
    for kind, pattern in _COMPILED:
        found = pattern.search(said)
        if found:
            return _symptom(kind, found, said)
    return Symptom(kind="unknown", said=said)


def _symptom(kind: str, found: re.Match[str], said: str) -> Symptom:
    facts = {
        _SAME.get(group, group): value.strip()
        for group, value in found.groupdict().items()
        if value
    }
    if "key" in facts:
        facts["key"] = _bare(facts["key"])
    known = {name: value for name, value in facts.items() if name in Symptom.model_fields}
    meant = _MEANT.search(said)
    return Symptom(kind=kind, said=said, meant=meant[1] if meant else "", **known)


def _bare(key: str) -> str:
    """The key without quotes, and without what the message says after it."""
    quoted = _BARE_KEY.match(key)
    return (quoted[0] if quoted else key).strip("'\" ")
