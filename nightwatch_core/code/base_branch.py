"""Compares the failing lines with the base branch: still there, or changed and not yet deployed."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC
from itertools import chain, pairwise, takewhile

from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Analysis, BaseBranchStatus
from nightwatch_core.models.code import LoggedCommit
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import text_lines

_LATER_COMMITS = 20  # of one file, that are looked at


def base_branch_status(
    analysis: Analysis, then: CodeReader, now: CodeReader
) -> BaseBranchStatus | None:
    """Compare the commit that failed (`then`) with the head of the base branch (`now`).

    The failing lines are those of the evidence that was looked up and of the top in-app frame, with
    what stands right above them: a guard changes what a line does. None where both are one commit,
    and where no line is known.
    """
    places = _failing_places(analysis)
    if then.commit.sha == now.commit.sha or analysis.misfit or not places:
        return None
    return (
        _changed(places, then, now)
        or _drifted(places, analysis, then, now)
        or BaseBranchStatus(kind="live")
    )


def without_later_change(analysis: Analysis, then: CodeReader, now: CodeReader) -> Analysis:
    """Name no suspect that came after the code that failed: it may be what mends it."""
    named = analysis.suspect_commit
    if not named or then.show_commit(named) or not now.show_commit(named):
        return analysis
    return analysis.model_copy(update={"suspect_commit": ""})


def _failing_places(analysis: Analysis) -> dict[str, set[int]]:
    """Return the failing lines by file, those of the top frame first."""
    lines: dict[str, set[int]] = {}
    top = analysis.case.trace.top if analysis.case.trace else None
    if top and top.repo_path and top.line and top.fit != "differs":
        lines.setdefault(top.repo_path, set()).add(top.line)
    for evidence in analysis.evidence:
        if evidence.verified and evidence.line:
            quoted = sum(bool(row.strip()) for row in evidence.quote.splitlines()) or 1
            numbers = range(evidence.line, evidence.line + quoted)
            lines.setdefault(evidence.path, set()).update(numbers)
    return lines


def _changed(
    places: dict[str, set[int]], then: CodeReader, now: CodeReader
) -> BaseBranchStatus | None:
    since = (_commits_since(path, lines, then, now) for path, lines in places.items())
    commits = tuple(chain.from_iterable(since))
    if not commits:
        return None
    first = min(commits, key=lambda commit: (commit.at, commit.sha))
    name = f"{first.sign}{first.pull}" if first.pull else f"commit {first.sha[:10]}"
    day = f"{first.at.astimezone(UTC):%Y-%m-%d}"
    return BaseBranchStatus(
        kind="changed",
        pull=first.pull,
        sign=first.sign,
        sha=first.sha,
        detail=f"Already changed on {_branch(now)} by {name} of {day}, awaiting its deploy.",
    )


def _commits_since(
    was: str, lines: set[int], then: CodeReader, now: CodeReader
) -> Iterator[LoggedCommit]:
    old, (path, new) = then.read_file(was), _now(was, now)
    if old is None or old == new:
        return
    if new is None:
        yield from _later(_logged(now, was), then)
        return
    heads = frozenset(definition.line for definition in definitions_in(was, old))
    before, after = _numbered(old), _numbered(new)
    pairs = {(above, text) for (_, above), (_, text) in pairwise([(0, ""), *after])}
    numbers = {text: number for number, text in reversed(after)}
    for (_, above), (line, text) in pairwise([(0, ""), *before]):
        if line not in lines:
            continue
        if text not in numbers:
            changed = tuple(_later(_logged(now, path, text.strip()), then))
        elif line not in heads and (above, text) not in pairs:  # something was put above it
            changed = tuple(_later(_wrote(now, path, max(1, numbers[text] - 1)), then))
        else:
            continue
        yield from changed or tuple(_later(_logged(now, path), then))


def _numbered(text: str) -> list[tuple[int, str]]:
    rows = enumerate(text_lines(text), start=1)
    return [(number, row.rstrip()) for number, row in rows if row.strip()]


def _now(path: str, now: CodeReader) -> tuple[str, str | None]:
    text = now.read_file(path)
    if text is not None:
        return path, text
    for item in now.history(path, limit=1):
        shown = now.show_commit(item.sha)
        for file in shown.files if shown else ():
            if file.old_path == path:
                return file.path, now.read_file(file.path)
    return path, None


def _wrote(now: CodeReader, path: str, line: int) -> tuple[LoggedCommit, ...]:
    return tuple(
        LoggedCommit(
            sha=blame.sha, at=blame.at, subject=blame.subject, pull=blame.pull, sign=blame.sign
        )
        for blame in now.blame(path, line, line)
    )


def _logged(now: CodeReader, path: str, text: str = "") -> tuple[LoggedCommit, ...]:
    with suppress(GiveUp):
        return now.history(path, text, _LATER_COMMITS)
    return ()


def _later(commits: Iterable[LoggedCommit], then: CodeReader) -> Iterator[LoggedCommit]:
    """Walk the first of the commits that the code which failed did not have, at most one."""
    once = {commit.sha: commit for commit in commits}.values()
    newest = sorted(once, key=lambda item: item.at, reverse=True)[:_LATER_COMMITS]
    later = takewhile(lambda commit: then.show_commit(commit.sha) is None, newest)
    yield from tuple(later)[-1:]


def _drifted(
    places: dict[str, set[int]], analysis: Analysis, then: CodeReader, now: CodeReader
) -> BaseBranchStatus | None:
    paths = dict.fromkeys((*places, *(edit.path for edit in analysis.fix)))
    other = [path for path in paths if then.read_file(path) != now.read_file(path)]
    if not other:
        return None
    text = f"{', '.join(other[:3])} on {_branch(now)} differs from the code that failed."
    return BaseBranchStatus(kind="drifted", detail=text)


def _branch(code: CodeReader) -> str:
    return code.commit.branch or "HEAD"
