"""History in the first message: who wrote the lines, and the changes before."""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import groupby

from nightwatch_core.analysis import limits
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.code import ChangedFile, LoggedCommit, MergedPull
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.research import (
    CodeChanges,
    DependencyChange,
    Deployment,
    LineAuthor,
    Rename,
)
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out, moment

_WHOSE = {"failing": "the line that fails", "sets": "sets what it reads", "caller": "a caller"}
_WHOSE |= {"used": "used there"}
_DOCUMENT = re.compile(r"(?:^|/)docs?/|\.(?:md|rst|txt)$", re.IGNORECASE)
_SHORTLY = timedelta(days=14)
_LONGEST, _MOST = 1_000, 200  # characters of a text, texts in which libraries are looked for


def authors_text(changes: CodeChanges, case: Case, trace: Trace | None) -> str:
    """Write who last changed the case's lines, and what else changed before it began.

    Only libraries that the trace goes through, or that the message names, and only changes of the
    last two weeks to the file in which it fails.
    """
    words = _words_of(case, trace)
    libraries = [
        dependency
        for dependency in changes.dependencies
        if not words.isdisjoint(_names(dependency.name))
    ]
    near = [candidate for candidate in changes.candidates if _may_matter(candidate, changes, trace)]
    told = {"dependencies": tuple(libraries), "candidates": tuple(near)}
    return "\n".join(line(row, 300) for row in _rows(changes.model_copy(update=told)))


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
    told: set[str] = set()
    for author in changes.authors:
        yield _author(author, is_told=author.commit.sha in told)
        told.add(author.commit.sha)
    yield from map(_rename, changes.renames)
    for (path, commit), same in groupby(
        changes.dependencies, key=lambda dependency: (dependency.path, dependency.commit)
    ):
        versions = ", ".join(
            f"{item.name} {item.old or 'none'} -> {item.new or 'none'}" for item in same
        )
        yield f"{path}{_by(commit)}: {versions}"
    others = [
        candidate
        for candidate in changes.candidates
        if told.isdisjoint((candidate.sha, *candidate.commits))
    ]
    if others and changes.onset:
        began = f"{moment(changes.onset.at)} ({changes.onset.because})"
        yield f"Merged before it began, {began}, and touching these files; nothing is proved:"
    yield from map(_candidate, others)


def _words_of(case: Case, trace: Trace | None) -> frozenset[str]:
    texts = [text for group in case.groups for text in (group.error_class, group.message)]
    texts += [
        text for link in (trace.links if trace else ()) for text in (link.error_class, link.message)
    ]
    for frame in trace.frames if trace else ():
        texts += [frame.code] if frame.in_app else [frame.path, frame.module, frame.code]
    said = " ".join(text[:_LONGEST] for text in texts[:_MOST]).lower()
    return frozenset(re.findall(r"\w+", said)) | frozenset(re.findall(r"[\w-]+", said))


def _names(library: str) -> frozenset[str]:
    """Return the names code may use for a library.

    >>> sorted(_names("python-dateutil"))
    ['dateutil', 'python-dateutil', 'python_dateutil']
    """
    name = re.split(r"[/:]", library.lower())[-1]
    bare = re.sub(r"^(?:python-|py)(?=\w{3})|-(?:python|js)$", "", name)
    return frozenset(item for item in (name, name.replace("-", "_"), bare) if item)


def _may_matter(change: MergedPull, changes: CodeChanges, trace: Trace | None) -> bool:
    top = trace.top if trace else None
    is_new = changes.onset is not None and changes.onset.at - change.merged_at <= _SHORTLY
    is_code = any(not TEST.search(path) and not _DOCUMENT.search(path) for path in change.files)
    return is_new and is_code and (top is None or top.repo_path in change.files)


def _author(author: LineAuthor, *, is_told: bool) -> str:
    by = author.commit.sha[:10] if is_told else _commit(author.commit)
    return f"{author.path}:{author.line}, {_WHOSE[author.kind]}: {by}"


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
