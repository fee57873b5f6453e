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


def ports(available=LOCAL, **choices):
    night = fill_ports(NightOptions(**choices), available, "claude-x")
    return tuple(getattr(night, port) for port in PORTS)


@pytest.mark.parametrize(
    ("available", "choices", "expected"),
    [
        (LOCAL, {}, "sample sample rules local local"),
        (LOCAL, {"errors": "e.jsonl", "repo": "app"}, "file checkout rules local local"),
        (LOCAL, {"errors": "e.jsonl", "code": "sample"}, "file sample rules local local"),
        (EVERYTHING, {}, "newrelic github claude-x github slack"),
        (EVERYTHING, {"repo": "app"}, "newrelic checkout claude-x github slack"),
        (EVERYTHING, {"errors": "e"}, "file github claude-x github slack"),
        (EVERYTHING, {"errors": "e", "repo": "a"}, "file checkout claude-x github slack"),
        (EVERYTHING, {"source": "sample"}, "sample sample rules local local"),
        (EVERYTHING, {"source": "sample", "model": "claude-y"},
         "sample sample claude-y local local"),
        (EVERYTHING, {"source": "sample", "notify": "slack"}, "sample sample rules local slack"),
        (EVERYTHING, {"source": "sample", "delivery": "github"},
         "sample sample rules github local"),
        (EVERYTHING, {"source": "sample", "repo": "app"}, "sample sample rules local local"),
        (EVERYTHING, {"source": "sample", "repo": "a", "code": "checkout"},
         "sample checkout rules local local"),
        (EVERYTHING, {"model": "rules"}, "newrelic github rules github slack"),
        (EVERYTHING, {"delivery": "local", "notify": "local"},
         "newrelic github claude-x local local"),
        (EVERYTHING, {"source": "newrelic, sample"},
         "newrelic, sample github claude-x github slack"),
        (EVERYTHING, {"source": "file,sample", "errors": "e"},
         "file,sample github claude-x github slack"),
    ],
)  # fmt: skip
def test_empty_ports_are_filled(available, choices, expected):
    assert " ".join(ports(available, **choices)) == expected


@pytest.mark.parametrize(
    ("available", "choices", "words"),
    [
        (LOCAL, {"source": "newrelic"}, ["source 'newrelic'", "file or sample"]),
        (LOCAL, {"source": "sample,splunk"}, ["source 'splunk'"]),
        (LOCAL, {"source": " , "}, ["names none"]),
        (LOCAL, {"source": "file", "repo": "app"}, ["needs --errors"]),
        (LOCAL, {"repo": "app"}, ["needs --errors"]),
        (LOCAL, {"errors": "e"}, ["needs --repo"]),
        (LOCAL, {"code": "checkout"}, ["needs --repo"]),
        (LOCAL, {"model": "claude-y"}, ["model 'claude'", "rules"]),
        (LOCAL, {"model": "gpt"}, ["model 'gpt'"]),
        (LOCAL, {"delivery": "github"}, ["delivery 'github'"]),
        (LOCAL, {"notify": "slack"}, ["notify 'slack'"]),
        (LOCAL, {"source": "file", "code": "svn", "delivery": "fax"},
         ["code 'svn'", "delivery 'fax'", "needs --errors"]),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_work_stops_with_every_problem(available, choices, words):
    with pytest.raises(StopTheNight) as raised:
        fill_ports(NightOptions(**choices), available, "claude-x")
    assert [word for word in words if word not in str(raised.value)] == []


def test_rules_look_at_ten_errors_and_others_at_five():
    def most(**choices):
        return fill_ports(NightOptions(**choices), EVERYTHING, "claude-x").max_errors

    assert (most(model="rules"), most(), most(max_errors=3), most(source="sample")) == (
        10,
        5,
        3,
        10,
    )


def test_only_the_sample_alone_is_the_sample():
    assert is_sample(NightOptions(source=" sample "))
    for source in ("sample,file", "", "file"):
        assert not is_sample(NightOptions(source=source))
