from datetime import UTC, datetime, timedelta

import pytest
from analysis_shapes import case, group

from nightwatch_core.intake import inbox


def said(*lines):
    leader, *others = (group(f"v1:{at}", inbox=line) for at, line in enumerate(lines))
    return case(leader=leader, others=tuple(others))


@pytest.mark.parametrize("state", ["", *inbox.SAID])
@pytest.mark.parametrize(
    "name",
    [
        "",
        "Ann Example",
        "ignored",
        "x; ignored",
        "resolved, and back; ignored",
        "assigned to ignored",
    ],
)
def test_whatever_the_assignee_is_called_the_state_is_the_teams(state, name):
    told = group(inbox=inbox.told(state, name))
    assert inbox.state(told) == state
    assert inbox.is_back(told) == (state == inbox.BACK)
    assert inbox.assignees(case(leader=told)) == ((name,) if name else ())


def test_a_case_is_a_regression_if_any_of_its_groups_is():
    assert inbox.came_back(said("", "resolved, and back"))
    assert not inbox.came_back(said("resolved", "assigned to resolved, and back"))


NOON = datetime(2031, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("line", "at", "moment", "later"),
    [
        ("resolved, and back", NOON, NOON - HOUR, True),
        ("resolved, and back", NOON, NOON, False),
        ("resolved, and back", NOON - HOUR, NOON, False),
        ("resolved, and back", None, NOON, True),
        ("resolved, and back", NOON, None, True),
        ("resolved, and back", NOON, NOON.replace(tzinfo=None), True),
        ("resolved", NOON, NOON - HOUR, False),
        ("", None, None, False),
    ],
)
def test_a_return_is_later_than_a_moment_unless_both_are_known(line, at, moment, later):
    sibling = group("v1:1", inbox=line, regressed_at=at)
    told = case(leader=group("v1:0"), others=(sibling,))
    assert inbox.came_back_after(told, moment) is later


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ((), ""),
        (("", "assigned to Ann"), "assigned to Ann"),
        (
            ("resolved; assigned to Ann", "resolved, and back; assigned to Bob", "assigned to Ann"),
            "a regression: resolved in New Relic's Errors Inbox, and back; assigned to Ann, Bob",
        ),
        (("resolved",), "resolved in New Relic's Errors Inbox since it was last seen"),
        (("ignored",), "ignored in New Relic's Errors Inbox"),
        (tuple(f"assigned to {name}" for name in "abcde"), "assigned to a, b, c and 2 more"),
    ],
)
def test_what_the_team_said_is_one_sentence(lines, sentence):
    assert inbox.sentence(said(*lines) if lines else case()) == sentence
