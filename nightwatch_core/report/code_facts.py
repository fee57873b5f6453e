"""Commits that a night read: the failing ones, and the base of fixes."""

from collections import Counter
from collections.abc import Iterator

from nightwatch_core.models.code import Commit
from nightwatch_core.models.report import RunReport
from nightwatch_core.report.blocks import Fact
from nightwatch_core.report.excerpts import COMMITS, LONG
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural


def code_facts(report: RunReport) -> Iterator[Fact]:
    """Name the commits; one line where all of it is one commit."""
    commit, base = report.commit, report.base or report.commit
    if commit is None or base is None:
        return
    read = report.commits or (commit,)
    if {item.sha for item in (*read, base)} == {read[0].sha}:
        yield Fact(name="Code", text=line(f"{_where(read[0])}{_why(read[0])}", LONG))
        return
    errors = Counter(sha for sha in _shas(report) if sha)
    for item in read[:COMMITS]:
        count = f", {plural(errors[item.sha], 'error')}" if errors[item.sha] else ""
        yield Fact(name="Code", text=line(f"{_where(item)}{_why(item)}{count}", LONG))
    if len(read) > COMMITS:
        yield Fact(name="Code", text=f"and {plural(len(read) - COMMITS, 'commit')} more")
    yield Fact(name="Fixes", text=line(f"made on {_where(base)}", LONG))


def _shas(report: RunReport) -> Iterator[str]:
    analysed = (analysis.case for analysis in report.analyses)
    cases = (*analysed, *(failure.case for failure in report.failures))
    return (case.commit.sha if case.commit else "" for case in cases)


def _where(commit: Commit) -> str:
    return f"{commit.repository} at {commit.sha[:12]} {commit.branch}".rstrip()


def _why(commit: Commit) -> str:
    return f" ({commit.because})" if commit.because else ""
