"""Names of a case, and what its team said about it."""

from datetime import UTC, datetime, timedelta

import pytest
from analysis_shapes import case, group
from tables import tables_of

from nightwatch_core.models.errors import Case, Triage, triage_texts

TABLES = tables_of(__file__)

NOON = datetime(2031, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_case_is_a_regression_if_any_of_its_groups_is():
    back = group("v1:1", triage=Triage(state="regressed"))
    named = group("v1:1", triage=Triage(state="resolved", assignee="resolved, and back"))
    assert case(leader=group(), others=(back,)).regressed
    assert not case(leader=group(), others=(named,)).regressed


@pytest.mark.parametrize(
    ("state", "at", "moment", "later"),
    [
        ("regressed", NOON, NOON - HOUR, True),
        ("regressed", NOON, NOON, False),
        ("regressed", NOON - HOUR, NOON, False),
        ("regressed", None, NOON, True),
        ("regressed", NOON, None, True),
        ("regressed", NOON, NOON.replace(tzinfo=None), True),
        ("regressed", NOON.replace(tzinfo=None), NOON, True),
        ("resolved", NOON, NOON - HOUR, False),
        ("", None, None, False),
    ],
)
def test_a_return_is_later_than_a_moment_unless_both_are_known(state, at, moment, later):
    sibling = group("v1:1", triage=Triage(state=state), regressed_at=at)
    assert case(leader=group(), others=(sibling,)).regressed_after(moment) is later


@pytest.mark.parametrize(("triages", "sentence"), TABLES["what_the_team_said"])
def test_what_the_team_said_is_one_sentence(triages, sentence):
    given = [
        Triage(state=state, assignee=who, service="Acme", inbox="Issues") for state, who in triages
    ]
    assert triage_texts(given) == ("Issues" if triages else "", sentence)


def test_a_case_goes_by_the_names_of_all_its_groups_each_once():
    others = (group("v1:b"), group("v1:a"))
    found = Case(leader=group("v1:a"), others=others, signature="f1:s")
    assert found.aliases == ("v1:b", "f1:s")
