"""What the first message says of the history: who wrote the lines, and what came before."""

from collections.abc import Iterator
from itertools import groupby

from nightwatch_core.analysis import limits
from nightwatch_core.models.code import ChangedFile, LoggedCommit, MergedPull
from nightwatch_core.models.research import (
    CodeChanges,
    DependencyChange,
    Deployment,
    LineAuthor,
    Rename,
)
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out
from nightwatch_core.text.units import moment

_WHOSE = {"failing": "the line that fails", "caller": "a caller", "used": "used there"}


def authors_text(changes: CodeChanges) -> str:
    """Write who last changed the case's lines, and what else changed before it began."""
    return "\n".join(line(row, 300) for row in _rows(changes))


def deployment_text(deployment: Deployment | None) -> str:
    """Write what was deployed before it began: its files, and the changes of some."""
    if deployment is None:
        return ""
    left = deployment.changed - len(deployment.paths)
    more = f" and {left} more" if left > 0 else ""
    head = line(f"{deployment.name}; {deployment.changed} files changed", 300)
    files = line(", ".join(deployment.paths), 1_000)
    return "\n\n".join((f"{head}: {files}{more}", *_diffs(deployment.diffs)))


def _rows(changes: CodeChanges) -> Iterator[str]:
    yield from map(_author, changes.authors)
    yield from map(_rename, changes.renames)
    for (path, commit), same in groupby(
        changes.dependencies, key=lambda one: (one.path, one.commit)
    ):
        versions = ", ".join(
            f"{one.name} {one.old or 'none'} -> {one.new or 'none'}" for one in same
        )
        yield f"{path}{_by(commit)}: {versions}"
    told = {author.commit.sha for author in changes.authors}
    others = [one for one in changes.candidates if told.isdisjoint((one.sha, *one.commits))]
    if others and changes.onset:
        began = f"{moment(changes.onset.at)} ({changes.onset.because})"
        yield f"Merged before it began, {began}, and touching these files; nothing is proved:"
    yield from map(_candidate, others)


def _author(author: LineAuthor) -> str:
    return f"{author.path}:{author.line}, {_WHOSE[author.kind]}: {_commit(author.commit)}"


def _versions(change: DependencyChange) -> str:
    return f"{change.name} {change.old or 'none'} -> {change.new or 'none'}"


def _rename(rename: Rename) -> str:
    by = _by(rename.commit)
    return f"{rename.old} was replaced by {rename.new} in {rename.path}{by}"


def _candidate(change: MergedPull) -> str:
    number = f"#{change.number} " if change.number else ""
    files = ", ".join(change.files[:3])
    return f"{change.sha[:10]} {change.merged_at:%Y-%m-%d} {number}{change.title[:100]}: {files}"


def _by(commit: LoggedCommit | None) -> str:
    return f", by {_commit(commit)}" if commit else ""


def _commit(commit: LoggedCommit) -> str:
    number = f"#{commit.pull} " if commit.pull else ""
    subject = commit.subject.removesuffix(f" (#{commit.pull})")
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {number}{subject}"


def _diffs(files: tuple[ChangedFile, ...]) -> Iterator[str]:
    left = limits.ALL_DIFFS
    for file in files:
        if left <= 0:
            return
        text = middle_out(block(file.diff, 4 * limits.FILE_DIFF), min(left, limits.FILE_DIFF))
        left -= len(text)
        yield f"{line(file.path, 300)} (+{file.added} -{file.removed})\n{text}"
