"""The table of the long tail: an error judged at first sight in one line, and what came of it."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import get_args

from nightwatch_core.models.batch import ResultKind, Severity
from nightwatch_core.models.long_tail import LongTail, Sighting
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.report.limits import NAME, TEXT, TITLE
from nightwatch_core.text.escaping import line

_ORDER: tuple[str, ...] = get_args(Severity)
_NO_WORD = "–"
# What came of an error that was not judged.
UNJUDGED: dict[ResultKind, str] = {
    "answered": "",
    "refused": "refused by the model",
    "errored": "not answered: the service refused it",
    "expired": "expired before it was answered: it is asked again",
    "canceled": "not answered: the batch was canceled",
    "unreadable": "answered, but not readably: it is asked again",
    "missing": "not answered: no result came for it",
}


class SightRow(Value):
    """A line of the table of the long tail."""

    error: str
    where: str
    count: int
    severity: str
    category: str
    cause: str
    came: str  # what came of it
    flagged: bool = False  # it deserves an analysis


def sight_rows(report: RunReport) -> tuple[SightRow, ...]:
    """One line for every error that was judged, or was to be, tonight or before; worst first."""
    tail, came = report.long_tail, dict(_came_of(report))
    every = sorted(_each_once(tail), key=_place)
    earlier = {one.group.fingerprint for one in (*tail.kept, *tail.waiting)}
    return tuple(_row(one, came, one.group.fingerprint in earlier) for one in every)


def _each_once(tail: LongTail) -> Iterable[Sighting]:
    """Every error by its newest word."""
    every = chain(tail.kept, tail.waiting, tail.judged)
    return {one.group.fingerprint: one for one in every}.values()


def _place(one: Sighting) -> tuple[int, bool, int]:
    worst = _ORDER.index(one.first_sight.severity) if one.first_sight else len(_ORDER)
    return worst, not one.flagged, one.rank


def _row(one: Sighting, came: dict[str, str], is_earlier: bool) -> SightRow:
    sight, group = one.first_sight, one.group
    result = next((came[name] for name in group.names if name in came), "")
    when = f" (judged {one.at:%Y-%m-%d})" if is_earlier else ""
    return SightRow(
        error=line(group.error_class, NAME),
        where=line(group.transaction, NAME),
        count=group.occurrences,
        severity=sight.severity if sight else _NO_WORD,
        category=sight.category.replace("_", " ") if sight else _NO_WORD,
        cause=line(sight.likely_cause, TEXT) if sight else _NO_WORD,
        came=line(f"{_came(one, result)}{when}", TITLE),
        flagged=one.flagged,
    )


def _came(one: Sighting, result: str) -> str:
    """What came of it, said as tonight's analyses tell it, else as its answer does."""
    if one.result and not one.first_sight:
        reason = f" ({one.result.reason})" if one.result.reason else ""
        return f"{UNJUDGED[one.result.kind]}{reason}"
    if result:
        return result
    if one.taken:
        return "analysed since"
    return "to be analysed on a later night" if one.flagged else "nothing further"


def _came_of(report: RunReport) -> Iterator[tuple[str, str]]:
    """What tonight brought for errors by each of their names; what counts most comes last."""
    for dropped in report.dropped:
        if dropped.kind == "ignored":
            yield from ((name, "ignored by now") for name in dropped.group.names)
    for failure in report.failures:
        for group in failure.case.groups:
            yield from ((name, "its analysis failed: see above") for name in group.names)
    for rank, analysis in enumerate(report.analyses, start=1):
        verb = "known already" if analysis.ending.kind == "reused" else "analysed"
        for group in analysis.case.groups:
            yield from ((name, f"{verb}: error {rank} above") for name in group.names)
