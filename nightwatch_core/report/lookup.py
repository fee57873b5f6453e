"""Finding one error again in the reports of past nights."""

from collections.abc import Iterable

from nightwatch_core.models.error import Case
from nightwatch_core.models.report import RunReport

SHORTEST = 4  # characters of a prefix, without the version


def case_of(reports: Iterable[RunReport], fingerprint: str) -> Case | None:
    """The case of that name, from the newest report that has it.

    `fingerprint` is a full name, an alias, or a prefix (with or without "v1:") that fits one case
    only. None where nothing fits, or several do: `cases_like` names those.
    """
    found = cases_like(reports, fingerprint)
    return found[0] if len(found) == 1 else None


def cases_like(reports: Iterable[RunReport], fingerprint: str) -> tuple[Case, ...]:
    """Cases whose name or alias is, or else begins with, `fingerprint`: the newest of each.

    `reports` come newest first; what was dropped or failed is found too. A full name ends the
    search at once.
    """
    wanted = fingerprint.strip().lower()
    near: dict[str, Case] = {}
    if not wanted:
        return ()
    for case in (case for report in reports for case in _cases(report)):
        names = [name.lower() for name in (case.fingerprint, *case.aliases)]
        if wanted in names or wanted in map(_bare, names):
            return (case,)
        begun = next((name for name in names if _begins(name, wanted)), None)
        if begun and len(_bare(wanted)) >= SHORTEST:
            near.setdefault(begun, case)
    return tuple(near.values())


def _cases(report: RunReport) -> Iterable[Case]:
    yield from (analysis.case for analysis in report.analyses)
    yield from (failure.case for failure in report.failures)
    yield from (Case(leader=each.group) for each in report.dropped)


def _begins(name: str, wanted: str) -> bool:
    return name.startswith(wanted) or _bare(name).startswith(wanted)


def _bare(name: str) -> str:
    """The name without its version.

    >>> _bare("v1:ab12"), _bare("ab12")
    ('ab12', 'ab12')
    """
    return name.partition(":")[2] or name
