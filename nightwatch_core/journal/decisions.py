"""A night's decisions as one document with one digest: equal nights have equal bytes."""

import json
from collections.abc import Iterable, Mapping
from difflib import unified_diff
from typing import Any

from pydantic import BaseModel

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.knowledge import Lesson, Pattern
from nightwatch_core.models.proposals import Proposal
from nightwatch_core.models.report import RunReport
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural

SHOWN = 200  # characters of a line of decisions


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lines by which the decisions of two nights differ; empty where they are equal."""
    old, new = (json.dumps(item, indent=1, sort_keys=True).splitlines() for item in (before, after))
    rows = list(unified_diff(old, new, n=0, lineterm=""))
    return tuple(line(row, SHOWN) for row in rows[2:] if not row.startswith("@@"))


def counts(decisions: Mapping[str, Any]) -> str:
    """Return the numbers of verdicts, issues, drafts and requests of a night, in a line."""
    kinds = [proposal["kind"] for proposal in decisions["proposals"].values()]
    used = decisions["took"]
    parts = (
        plural(len(decisions["errors"]), "verdict"),
        plural(kinds.count("issue"), "issue"),
        plural(kinds.count("pull"), "draft"),
        plural(sum(kind in ("comment", "reopen", "answer") for kind in kinds), "comment"),
        plural(used["requests"], "request"),
        plural(used["new tokens"], "new token"),
        "cost unknown" if used["USD"] is None else f"${used['USD']:.2f}",
    )
    return ", ".join(parts)


NOT_DECIDED = {"usage", "case", "second_look"}  # fields of an analysis


class Writes:
    """Proposals, lessons and patterns that a night wrote; of those written twice, the last."""

    def __init__(self) -> None:
        self.proposals: dict[str, Proposal] = {}
        self.lessons: dict[str, Lesson] = {}
        self.patterns: dict[str, Pattern] = {}

    def add(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Remember what a call of `name` ("port.method") writes, whether it succeeds or not."""
        match name:
            case "outbox.publish":
                self.proposals[arguments["proposal"].key] = arguments["proposal"]
            case "lessons.write":
                self.lessons[arguments["lesson"].fingerprint] = arguments["lesson"]
            case "lessons.write_pattern":
                self.patterns[arguments["pattern"].slug] = arguments["pattern"]


def decisions(report: RunReport, writes: Writes) -> dict[str, Any]:
    """Return verdicts, dropped errors and skips with their reasons, and everything written.

    Times, and where code was read from, are left out: they differ between equal runs.
    """
    return {
        "status": report.status,
        "commit": report.commit.sha if report.commit else "",
        "base": report.base.sha if report.base else "",
        "errors": _by_name((item.fingerprint, _verdict(item)) for item in report.analyses),
        "failures": _by_name((item.case.fingerprint, _failure(item)) for item in report.failures),
        "dropped": _by_name(
            (item.group.fingerprint, {"error": item.group.title, "reason": item.reason})
            for item in report.dropped
        ),
        "not proposed": [_dump(skip) for skip in report.skips],
        "proposals": _by_name(
            (key, {"kind": item.kind, **_dump(item)}) for key, item in writes.proposals.items()
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
        **_dump(analysis, NOT_DECIDED),
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
    return ((name, _dump(value)) for name, value in values.items())


def _by_name(rows: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    return dict(sorted(rows, key=lambda row: row[0]))
