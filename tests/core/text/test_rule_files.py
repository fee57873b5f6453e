"""The tables in `rules/` of rooms are valid, and a wrong one is refused."""

import ast
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from nightwatch_core.code import symptom_fixes
from nightwatch_core.code.symptoms import SymptomRules
from nightwatch_core.text.rule_files import load_rules


def test_a_table_of_another_shape_is_refused():
    with pytest.raises(ValidationError):
        load_rules("languages", SymptomRules)


def test_every_pattern_of_symptom_fixes_is_used():
    tree = ast.parse(Path(symptom_fixes.__file__).read_text())
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert set(symptom_fixes.P) <= texts


def test_no_fragment_is_left_in_a_pattern():
    for rule in symptom_fixes.P.values():
        assert not re.search(r"\{\{\w", rule.pattern)
