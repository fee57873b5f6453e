import pytest
from tables import tables_of

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import fill_ports, is_sample
from nightwatch_core.models.options import NightOptions

TABLES = tables_of(__file__)

LOCAL = {
    "source": frozenset({"file", "sample"}),
    "code": frozenset({"checkout", "sample"}),
    "model": frozenset({"rules"}),
    "delivery": frozenset({"local"}),
    "notify": frozenset({"local"}),
}
EVERYTHING = {
    "source": LOCAL["source"] | {"newrelic"},
    "code": LOCAL["code"] | {"github"},
    "model": LOCAL["model"] | {"claude"},
    "delivery": LOCAL["delivery"] | {"github"},
    "notify": LOCAL["notify"] | {"slack"},
}
TWO = EVERYTHING | {"source": EVERYTHING["source"] | {"sentry"}}
AVAILABLE = {"here": LOCAL, "all": EVERYTHING, "two": TWO}
PORTS = ("source", "code", "model", "delivery", "notify", "lead_model")


@pytest.mark.parametrize("row", TABLES["filled"])
def test_empty_ports_are_filled(row):
    written, _, expected = row.partition(": ")
    there, *choices = written.split()
    options = NightOptions.model_validate(dict(choice.split("=") for choice in choices))
    night = fill_ports(options, AVAILABLE[there], "claude-x")
    assert " ".join(getattr(night, port) for port in PORTS).rstrip() == expected


@pytest.mark.parametrize(("choices", "words"), TABLES["impossible_choices"])
def test_a_choice_that_cannot_work_stops_with_every_problem(choices, words):
    lacking = {"claude": ("ANTHROPIC_API_KEY",)}
    with pytest.raises(StopTheNight) as raised:
        fill_ports(NightOptions(**choices), LOCAL, "claude-x", lacking, ("claude-x", "claude-y"))
    assert [word for word in words if word not in str(raised.value)] == []


def test_rules_look_at_ten_errors_and_others_at_five():
    def most(**choices):
        return fill_ports(NightOptions(**choices), EVERYTHING, "claude-x").max_errors

    assert (most(model="rules"), most(source="sample"), most(), most(max_errors=3)) == (
        10,
        10,
        5,
        3,
    )


def test_only_the_sample_alone_is_the_sample():
    assert is_sample(NightOptions(source=" sample "))
    for source in ("sample,file", "", "file"):
        assert not is_sample(NightOptions(source=source))
