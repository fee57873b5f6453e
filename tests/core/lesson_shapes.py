"""Errors, analyses and lessons that the tests of knowledge and patterns share."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace, Window
from nightwatch_core.models.knowledge import CitedLine, Lesson, NightSeen
from nightwatch_core.models.report import Night

FIRST = date(2031, 3, 1)


def night(number: int = 1) -> Night:
    day = datetime(2031, 3, number, 4, tzinfo=UTC)
    window = Window(since=day - timedelta(days=1), until=day)
    return Night(id=f"2031-03-{number:02d}-c0de", window=window, now=day)


def group(fingerprint: str = "v1:aaaaaaaabbbb", **fields: Any) -> ErrorGroup:
    told = {
        "error_class": "Billing::RateMissing",
        "transaction": "Controller/invoices/create",
        "message": "no rate for LU",
        "occurrences": 7,
    }
    return ErrorGroup(fingerprint=fingerprint, source="file", **{**told, **fields})


def case(fingerprint: str = "v1:aaaaaaaabbbb", **fields: Any) -> Case:
    frame = Frame(path="/srv/app/models/rate.rb", line=12, in_app=True, repo_path="app/rate.rb")
    return Case(
        leader=group(fingerprint, **fields),
        others=(group("v1:cccc", occurrences=2),),
        trace=Trace(language="ruby", links=(ExceptionLink(frames=(frame,)),)),
        signature="f1:dddd",
    )


def one_group(fingerprint: str, **fields: Any) -> Case:
    return Case(leader=group(fingerprint, **fields))


def analysis(of: Case | None = None, **fields: Any) -> Analysis:
    told = {
        "title": "No rate for new countries",
        "root_cause": "The lookup in app/rate.rb:12 knows no LU.",
        "confidence": "high",
        "evidence": (
            Evidence(path="app/rate.rb", line=12, quote="RATES.fetch(code)", verified=True),
        ),
        "fix": (Edit(path="app/rate.rb", old="RATES.fetch(code)", new="Rates.of(code)"),),
        "tags": ("missing-data", "Billing"),
        "commit": "f00dfeed",
    }
    return Analysis(case=of or case(), **{**told, **fields})


def lesson(fingerprint: str = "v1:aaaaaaaabbbb", **fields: Any) -> Lesson:
    told = {
        "error_class": "Billing::RateMissing",
        "transaction": "Controller/invoices/create",
        "module": "app/rate.rb",
        "message": "no rate for LU",
        "root_cause": "The lookup knows no LU.",
        "confidence": "high",
        "first_detected": FIRST,
        "nights": seen(1),
        "evidence": (CitedLine(path="app/rate.rb", line=12, quote="RATES", digest="d1"),),
        "commit": "f00dfeed",
    }
    return Lesson(fingerprint=fingerprint, **{**told, **fields})


def seen(*days: int, confidence: str = "high", occurrences: int = 7) -> tuple[NightSeen, ...]:
    return tuple(
        NightSeen(
            date=date(2031, 3, day),
            night=night(day).id,
            occurrences=occurrences,
            verdict="new" if day == days[0] else "known",
            confidence=confidence,
        )
        for day in days
    )
