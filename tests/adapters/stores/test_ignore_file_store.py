"""A rule is added to ignore.yml, and every other character of the file stays."""

import re
from datetime import UTC, date, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of
from threads import at_once
from twins.reading import MemoryClock

from nightwatch_core.adapters.stores.documents import IgnoreFile
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.ignore_rules import rules_from
from nightwatch_core.models.knowledge import IgnoreRule

TABLES = tables_of(__file__)

RULE = IgnoreRule(
    pattern='say "no": # never',
    match="prefix",
    field="message",
    reason="bots: all of them",
    expires=date(2031, 4, 9),
    unless_rate_above=50,
)
LINES = (
    '- pattern: "say \\"no\\": # never"',
    "  match: prefix",
    "  field: message",
    '  reason: "bots: all of them"',
    "  expires: 2031-04-09",
    "  unless_rate_above: 50",
)


def lines(indent=0):
    return "".join(f"{' ' * indent}{line}\n" for line in LINES)


def file_of(tmp_path, text):
    path = tmp_path / "ignore.yml"
    if text is not None:
        path.write_bytes(text.encode())
    return IgnoreFile(path, MemoryClock(datetime(2031, 3, 10, 12, tzinfo=UTC)))


def text_of(file):
    return file.path.read_bytes().decode()


@pytest.mark.parametrize(("before", "after"), TABLES["the_rule_comes_last_and_the_rest_stays"])
def test_the_rule_comes_last_and_the_rest_stays(tmp_path, before, after):
    file = file_of(tmp_path, before)
    added = file.add(RULE)
    assert text_of(file) == re.sub(r"@(\d)\n", lambda found: lines(int(found[1])), after)
    assert added.status == "added"
    assert added.rule.model_copy(update={"line": 0}) == RULE
    assert file.rules().rules[-1] == added.rule


@pytest.mark.parametrize(
    ("before", "why"),
    [*TABLES["what_cannot_be_edited_is_left_as_it_is"], ("# " + "x" * 300_000, "longer than")],
)
def test_what_cannot_be_edited_is_left_as_it_is(tmp_path, before, why):
    file = file_of(tmp_path, before)
    with pytest.raises(StopTheNight) as told:
        file.add(RULE)
    assert text_of(file) == before
    assert "ignore.yml" in str(told.value)
    assert 'pattern: "say' in str(told.value) or why == "cannot be read"
    assert why in str(told.value)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "else.yml").write_text("ignore: []\n")
    file = file_of(tmp_path, None)
    file.path.symlink_to(tmp_path / "else.yml")
    with pytest.raises(StopTheNight, match="it is a link"):
        file.add(RULE)
    assert (tmp_path / "else.yml").read_text() == "ignore: []\n"


def test_twice_is_once(tmp_path):
    file = file_of(tmp_path, "# c\n")
    file.add(RULE)
    before = text_of(file)
    again = file.add(RULE.model_copy(update={"pattern": ' SAY "no": # never ', "reason": "else"}))
    assert again.status == "already there"
    assert again.rule.line == 3
    assert text_of(file) == before


def test_a_rule_our_reader_would_not_take_is_not_written(tmp_path):
    file = file_of(tmp_path, "ignore: []\n")
    for wrong in ("", "*", "a" * 501):
        with pytest.raises(StopTheNight, match="was not changed"):
            file.add(IgnoreRule(pattern=wrong, match="glob"))
    assert text_of(file) == "ignore: []\n"


def test_two_at_once_are_both_written(tmp_path):
    file = file_of(tmp_path, "ignore:\n")
    rules = [RULE.model_copy(update={"pattern": f"number {n}"}) for n in range(8)]
    at_once(*(partial(file.add, rule) for rule in rules))
    assert {rule.pattern for rule in file.rules().rules} == {rule.pattern for rule in rules}


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=40)


@given(TEXTS, TEXTS, st.sampled_from(["", "ignore:\n  - pattern: a\n", "[{pattern: a}]", "# c"]))
def test_any_text_becomes_exactly_that_rule_or_nothing(tmp_path_factory, pattern, reason, before):
    file = file_of(tmp_path_factory.mktemp("any"), before)
    rule = IgnoreRule(pattern=pattern, reason=reason, expires=date(2031, 4, 1))
    try:
        file.add(rule)
    except StopTheNight:
        assert text_of(file) == before
    else:
        *others, last = file.rules().rules
        assert last.model_copy(update={"line": 0}) == rule or pattern.strip().casefold() == "a"
        assert tuple(others) in (rules_from(before).rules, ())
