"""Tests of the wordings by which languages tell their failures."""

import tomllib
from pathlib import Path

import pytest

from nightwatch_core.code.symptoms import RULES as SYMPTOMS
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.rules.engine import CATEGORIES, RULES

CASES = tomllib.loads(Path(__file__).with_name("symptom_cases.toml").read_text("utf-8"))["cases"]


@pytest.mark.parametrize(("error_class", "message", "kind", "facts"), CASES)
def test_kinds_and_facts(error_class, message, kind, facts):
    symptom = symptom_of(error_class, message)
    assert symptom.kind == kind
    assert {name: getattr(symptom, name) for name in facts} == facts


def test_a_word_in_a_message_does_not_make_a_bug_transient():
    assert symptom_of("ValueError", "timeout must be positive").kind == "unknown"
    assert symptom_of("InvalidState", "connection id 401 is odd").kind == "unknown"


def test_every_kind_has_a_rule_or_a_category_and_is_reached_by_a_case():
    kinds = {rule.kind for rule in SYMPTOMS.symptoms} | {"unknown"}
    assert kinds == set(RULES) | set(CATEGORIES)
    assert kinds == {kind for _, _, kind, _ in CASES}


def test_hostile_messages_take_no_time():
    for part in ("'", '"', "a.", "Cannot invoke ", "Undefined index ", "((", "Too few arguments "):
        symptom_of(part * 50_000, part * 50_000)
