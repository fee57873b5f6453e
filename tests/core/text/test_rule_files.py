"""The tables in `rules/` of rooms are valid, and a wrong one is refused."""

import ast
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from nightwatch_core.code import symptom_fixes
from nightwatch_core.code.capabilities import CapabilityRules
from nightwatch_core.code.edit_policy import ProtectedPaths
from nightwatch_core.code.languages import LanguageRules
from nightwatch_core.code.libraries import LibraryRules
from nightwatch_core.code.likely_files import LikelyFileRules
from nightwatch_core.code.symptom_fixes import SymptomFixRules
from nightwatch_core.code.symptoms import SymptomRules
from nightwatch_core.text.rule_files import load_rules
from nightwatch_core.traces.grammar import Grammar
from nightwatch_core.traces.in_app import Libraries

RULES = Path(symptom_fixes.__file__).parent / "rules"
SHAPES = {
    "capabilities": CapabilityRules,
    "languages": LanguageRules,
    "libraries": LibraryRules,
    "protected_paths": ProtectedPaths,
    "symptom_fixes": SymptomFixRules,
    "symptoms": SymptomRules,
    "likely_files": LikelyFileRules,
}


def test_every_table_is_valid_and_has_a_shape():
    assert {path.name.removesuffix(".toml") for path in RULES.iterdir()} == set(SHAPES)
    for name, shape in SHAPES.items():
        assert load_rules(name, shape)
    assert load_rules("grammar", Grammar, "traces")
    assert load_rules("libraries", Libraries, "traces")


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
