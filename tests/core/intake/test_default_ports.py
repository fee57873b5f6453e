import pytest

from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import fill_ports, is_sample
from nightwatch_core.models.options import NightOptions

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
PORTS = ("source", "code", "model", "delivery", "notify")


FILLED = """\
here: sample sample rules local local
here errors=e.jsonl repo=app: file checkout rules local local
here errors=e.jsonl code=sample: file sample rules local local
all: newrelic github claude-x github slack
all repo=app: newrelic checkout claude-x github slack
all errors=e: file github claude-x github slack
all errors=e repo=a: file checkout claude-x github slack
all source=sample: sample sample rules local local
all source=sample model=claude-y: sample sample claude-y local local
all source=sample notify=slack: sample sample rules local slack
all source=sample delivery=github: sample sample rules github local
all source=sample repo=app: sample sample rules local local
all source=sample repo=a code=checkout: sample checkout rules local local
all model=rules: newrelic github rules github slack
all delivery=local notify=local: newrelic github claude-x local local
all source=newrelic,sample: newrelic,sample github claude-x github slack
all source=file,sample errors=e: file,sample github claude-x github slack
"""


@pytest.mark.parametrize("row", FILLED.splitlines())
def test_empty_ports_are_filled(row):
    written, _, expected = row.partition(": ")
    there, *choices = written.split()
    options = NightOptions.model_validate(dict(choice.split("=") for choice in choices))
    night = fill_ports(options, LOCAL if there == "here" else EVERYTHING, "claude-x")
    assert " ".join(getattr(night, port) for port in PORTS) == expected


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"source": "newrelic"}, ["source 'newrelic'", "file or sample"]),
        ({"source": "sample,splunk"}, ["source 'splunk'"]),
        ({"source": " , "}, ["names none"]),
        ({"source": "file", "repo": "app"}, ["needs --errors"]),
        ({"repo": "app"}, ["needs --errors"]),
        ({"errors": "e"}, ["needs --repo"]),
        ({"code": "checkout"}, ["needs --repo"]),
        ({"model": "claude-y"}, ["model 'claude'", "rules"]),
        ({"model": "gpt"}, ["model 'gpt'"]),
        ({"delivery": "github"}, ["delivery 'github'"]),
        ({"notify": "slack"}, ["notify 'slack'"]),
        ({"source": "file", "code": "svn", "delivery": "fax"},
         ["code 'svn'", "delivery 'fax'", "needs --errors"]),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_work_stops_with_every_problem(choices, words):
    with pytest.raises(StopTheNight) as raised:
        fill_ports(NightOptions(**choices), LOCAL, "claude-x")
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
