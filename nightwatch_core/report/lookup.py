"""Finding one error again in the reports of past nights."""

from collections.abc import Iterable

from nightwatch_core.models.error import Case
from nightwatch_core.models.report import RunReport
from nightwatch_core.text.typed_fingerprints import is_beginning, is_name


def case_of(reports: Iterable[RunReport], fingerprint: str) -> Case | None:
    """The case of that name, from the newest report that has it.

    `fingerprint` is a full name, an alias, or a prefix (with or without "v1:") that fits one case
    only. None where nothing fits, or several do: `cases_like` names those.
    """
    cases = cases_like(reports, fingerprint)
    return cases[0] if len(cases) == 1 else None


def cases_like(reports: Iterable[RunReport], fingerprint: str) -> tuple[Case, ...]:
    """Cases whose name or alias is, or else begins with, `fingerprint`: the newest of each.

    `reports` come newest first; what was dropped or failed is found too. A full name ends the
    search at once.
    """
    near: dict[str, Case] = {}
    if not fingerprint.strip():
        return ()
    for case in (case for report in reports for case in _cases(report)):
        names = (case.fingerprint, *case.aliases)
        if is_name(fingerprint, names):
            return (case,)
        if begun := next((name for name in names if is_beginning(fingerprint, (name,))), None):
            near.setdefault(begun, case)
    return tuple(near.values())


def _cases(report: RunReport) -> Iterable[Case]:
    yield from (analysis.case for analysis in report.analyses)
    yield from (failure.case for failure in report.failures)
    yield from (Case(leader=each.group) for each in report.dropped)
