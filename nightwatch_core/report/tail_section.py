"""The long tail in the report: what batches said, what still runs, what was submitted tonight."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from nightwatch_core.models.batch import Severity
from nightwatch_core.models.long_tail import LongTail, SubmittedBatch
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.blocks import Paragraphs, Section, SightTable, cut, section
from nightwatch_core.report.limits import NAME, TEXT, Limits
from nightwatch_core.report.sight_rows import SightRow, sight_rows
from nightwatch_core.text.escaping import line
from nightwatch_core.text.units import moment, money, plural

_NOTHING = "none is said to need an analysis"
HOW = "Run with --collect to retrieve results."


def long_tail(report: RunReport, limits: Limits) -> Section:
    """The table of the long tail; nothing where no batch had to do with the night."""
    tail, rows = report.long_tail, sight_rows(report)
    title = f"The long tail at first sight: {plural(len(rows), 'error')}"
    said = [Paragraphs(text=line(text, TEXT)) for text in _sentences(tail, rows)]
    table = cut(SightTable, rows[: limits.tail], limits.tail, len(rows))
    return section("long_tail", title if rows else "The long tail at first sight", said, table)


def tail_headline(report: RunReport) -> tuple[str, str]:
    """What there is to say of a night that only submits, or waits; empty for any other."""
    if text := _submitted_text(report):
        return text, "batch submitted"
    tail = report.long_tail
    if tail.running and not (tail.judged or report.errors or report.status == "failed"):
        return "The batch has not ended: nothing could be collected so far.", "still running"
    if tail.judged and not (tail.flagged or report.analyses or report.failures):
        return f"{plural(len(tail.judged), 'error')} judged at first sight: {_NOTHING}.", "judged"
    return "", ""


def _submitted_text(report: RunReport) -> str:
    tail = report.long_tail
    if not report.options.batch_mode or report.status == "failed":
        return ""
    if tail.submitted:
        errors = plural(sum(one.errors for one in tail.submitted), "error")
        cost = f" ({tail.cost})" if tail.cost else ""
        if any(one.id for one in tail.submitted):
            return f"Batch submitted: {errors}{cost}. {HOW}"
        return f"Dry run: a batch of {errors}{cost} was held back."
    if tail.awaited:
        return f"Batch submitted before: {plural(tail.awaited, 'error')} wait for answers. {HOW}"
    return "No batch was submitted: there was no error to ask about."


def _sentences(tail: LongTail, rows: tuple[SightRow, ...]) -> Iterator[str]:
    if tail.judged:
        yield _judged(tail, rows)
    yield from (f"{each[0].upper()}{each[1:]}" for each in tail.running)
    for each in tail.submitted:
        yield _submitted(each, tail.cost)
    if tail.awaited:
        yield f"{plural(tail.awaited, 'error')} of tonight wait for the answer to an earlier batch."


def _judged(tail: LongTail, rows: tuple[SightRow, ...]) -> str:
    """How many were judged how, and what that cost."""
    counted = Counter(one.first_sight.severity for one in tail.judged if one.first_sight)
    words = [f"{counted[name]:,} {name}" for name in get_args(Severity) if counted[name]]
    silent = len(tail.judged) - sum(counted.values())
    flagged = sum(one.flagged for one in tail.judged)
    parts = (
        f"{plural(sum(counted.values()), 'error')} judged in a batch: {', '.join(words) or 'none'}",
        f"{flagged:,} flagged for analysis",
        f"{silent:,} without a judgement" if silent else "",
        f"{money(tail.usage.cost)} at the batch's price",
    )
    return "; ".join(filter(None, parts)) + "."


def _submitted(batch: SubmittedBatch, cost: str) -> str:
    errors = plural(batch.errors, "error")
    if not batch.id:
        return f"{errors} would have been asked about at first sight: {cost}."
    until = f", answers until {moment(batch.expires)}" if batch.expires else ""
    name, model = line(batch.id, NAME), line(batch.model, NAME)
    return f"{errors} submitted to {model} as batch {name}: {cost}{until}."
