"""What a night decided, as one document with one digest: equal nights have equal bytes."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.proposal import Proposal
from nightwatch_core.models.report import RunReport

TAKEN = {"usage", "code_reads", "case", "second_look"}  # of an analysis: accounts and inputs


class Writes:
    """What a night meant to write, as it asked for it; of what it wrote twice the last."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.proposals: dict[str, Proposal] = {}
        self.lessons: dict[str, Lesson] = {}
        self.patterns: dict[str, Pattern] = {}

    def hear(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Remember what is written, whatever comes of it; `name` is "port.method"."""
        match name:
            case "outbox.publish":
                self.proposals[arguments["proposal"].key] = arguments["proposal"]
            case "lessons.write":
                self.lessons[arguments["lesson"].fingerprint] = arguments["lesson"]
            case "lessons.write_pattern":
                self.patterns[arguments["pattern"].slug] = arguments["pattern"]


def decisions(report: RunReport, writes: Writes) -> dict[str, Any]:
    """Return verdicts with their reasons, what was dropped and why, and everything to be written.

    Left out is what differs from run to run though nothing was decided: moments, and where code
    was read from.
    """
    return {
        "status": report.status,
        "commit": report.commit.sha if report.commit else "",
        "base": report.base.sha if report.base else "",
        "errors": _by_name((one.fingerprint, _verdict(one)) for one in report.analyses),
        "failures": _by_name((one.case.fingerprint, _failure(one)) for one in report.failures),
        "dropped": _by_name(
            (one.group.fingerprint, {"error": one.group.title, "reason": one.reason})
            for one in report.dropped
        ),
        "not proposed": [_dump(one) for one in report.skips],
        "proposals": _by_name(
            (key, {"kind": one.kind, **_dump(one)}) for key, one in writes.proposals.items()
        ),
        "lessons": _by_name(_dumped(writes.lessons)),
        "patterns": _by_name(_dumped(writes.patterns)),
        "took": {
            "requests": report.usage.calls,
            "new tokens": report.usage.new_tokens,
            "USD": report.usage.cost,
        },
    }


def _verdict(analysis: Analysis) -> dict[str, Any]:
    case, look = analysis.case, analysis.second_look
    return {
        "error": case.leader.title,
        "groups": [group.fingerprint for group in case.groups],
        "commit read": case.commit.sha if case.commit else "",
        **_dump(analysis, TAKEN),
        "second_look": _dump(look, {"usage"}) if look else None,
    }


def _failure(failure: Failure) -> dict[str, Any]:
    return {
        "error": failure.case.leader.title,
        "reason": failure.reason,
        "ending": failure.ending.kind,
    }


def _dump(value: BaseModel, without: set[str] | None = None) -> dict[str, Any]:
    return value.model_dump(mode="json", exclude=without or set(), exclude_defaults=True)


def _dumped(values: Mapping[str, BaseModel]) -> Iterable[tuple[str, dict[str, Any]]]:
    return ((name, _dump(one)) for name, one in values.items())


def _by_name(rows: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return dict(sorted(rows, key=lambda row: row[0]))
