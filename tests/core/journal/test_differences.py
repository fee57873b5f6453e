from tables import tables_of

from nightwatch_core.journal.decisions import counts, differences

TABLES = tables_of(__file__)

NIGHT = TABLES["NIGHT"]


def test_equal_nights_have_no_differences():
    assert differences(NIGHT, dict(NIGHT)) == ()


def test_different_decisions_are_listed_and_hostile_values_are_escaped():
    verdict = {"error": "KeyError in pay", "root_cause": "\x1b[31mno value"}
    found = differences(NIGHT, {**NIGHT, "errors": {"v1:a": verdict}})
    assert [row[0] for row in found] == ["-", "+"]
    assert "no key" in found[0]
    assert "no value" in found[1]
    assert "\x1b" not in found[1]


def test_a_night_is_counted_in_a_line():
    assert counts(NIGHT) == (
        "1 verdict, 1 issue, 0 drafts, 0 comments, 2 requests, 1,200 new tokens, $0.50"
    )
