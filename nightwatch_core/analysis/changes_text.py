"""History in the first message: who wrote the lines, and the changes before."""

import re
from datetime import timedelta
from itertools import groupby

from nightwatch_core.analysis import limits
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.code import LoggedCommit
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.models.research import CodeChanges, Deployment
from nightwatch_core.text.escaping import block, line
from nightwatch_core.text.plain_text import middle_out, moment

_WHOSE = {"failing": "the line that fails", "sets": "sets what it reads", "caller": "a caller"}
_WHOSE |= {"used": "used there"}
_DOCUMENT = re.compile(r"(?:^|/)docs?/|\.(?:md|rst|txt)$", re.IGNORECASE)
_SHORTLY = timedelta(days=14)


def authors_text(changes: CodeChanges, case: Case, trace: Trace | None) -> str:
    """Write who last changed the case's lines, and what else changed before it began.

    Only libraries that the trace goes through, or that the message names, and only changes of the
    last two weeks to the file in which it fails.
    """
    rows: list[str] = []
    commits: set[str] = set()
    for author in changes.authors:
        sha = author.commit.sha
        by = sha[:10] if sha in commits else _commit(author.commit)
        commits.add(sha)
        rows.append(f"{author.path}:{author.line}, {_WHOSE[author.kind]}: {by}")
    for rename in changes.renames:
        by = f", by {_commit(rename.commit)}" if rename.commit else ""
        rows.append(f"{rename.old} was replaced by {rename.new} in {rename.path}{by}")
    words = _words_of(case, trace)
    libraries = (item for item in changes.dependencies if not words.isdisjoint(_names(item.name)))
    for (path, commit), same in groupby(libraries, key=lambda item: (item.path, item.commit)):
        versions = (f"{item.name} {item.old or 'none'} -> {item.new or 'none'}" for item in same)
        by = f", by {_commit(commit)}" if commit else ""
        rows.append(f"{path}{by}: {', '.join(versions)}")
    onset, top = changes.onset, trace.top if trace else None
    others = [
        change
        for change in changes.candidates
        if onset is not None
        and onset.at - change.merged_at <= _SHORTLY
        and any(not TEST.search(path) and not _DOCUMENT.search(path) for path in change.files)
        and (top is None or top.repo_path in change.files)
        and commits.isdisjoint((change.sha, *change.commits))
    ]
    if others and onset:
        began = f"{moment(onset.at)} ({onset.because})"
        rows.append(
            f"Merged before it began, {began}, and touching these files; nothing is proved:"
        )
    for change in others:
        number = f"#{change.number} " if change.number else ""
        name = f"{change.sha[:10]} {change.merged_at:%Y-%m-%d} {number}{change.title[:100]}"
        rows.append(f"{name}: {', '.join(change.files[:3])}")
    return "\n".join(line(row, 300) for row in rows)


def deployment_text(deployment: Deployment | None) -> str:
    """Write what was deployed before it began: its files, and the changes of some."""
    if deployment is None:
        return ""
    left = deployment.changed - len(deployment.paths)
    more = f" and {left} more" if left > 0 else ""
    head = line(f"{deployment.name}; {deployment.changed} files changed", 300)
    parts = [f"{head}: {line(', '.join(deployment.paths), 1_000)}{more}"]
    left = limits.ALL_DIFFS
    for file in deployment.diffs:
        if left <= 0:
            break
        text = middle_out(block(file.diff, 4 * limits.FILE_DIFF), min(left, limits.FILE_DIFF))
        left -= len(text)
        parts.append(f"{line(file.path, 300)} (+{file.added} -{file.removed})\n{text}")
    return "\n\n".join(parts)


def _words_of(case: Case, trace: Trace | None) -> frozenset[str]:
    texts = [text for group in case.groups for text in (group.error_class, group.message)]
    for link in trace.links if trace else ():
        texts += (link.error_class, link.message)
    for frame in trace.frames if trace else ():
        texts += [frame.code] if frame.in_app else [frame.path, frame.module, frame.code]
    words = " ".join(text[:1_000] for text in texts[:200]).lower()
    return frozenset(re.findall(r"\w+", words)) | frozenset(re.findall(r"[\w-]+", words))


def _names(library: str) -> frozenset[str]:
    """Return the names code may use for a library.

    >>> sorted(_names("python-dateutil"))
    ['dateutil', 'python-dateutil', 'python_dateutil']
    """
    name = re.split(r"[/:]", library.lower())[-1]
    bare = re.sub(r"^(?:python-|py)(?=\w{3})|-(?:python|js)$", "", name)
    return frozenset(item for item in (name, name.replace("-", "_"), bare) if item)


def _commit(commit: LoggedCommit) -> str:
    number = f"#{commit.pull} " if commit.pull else ""
    subject = commit.subject.removesuffix(f" (#{commit.pull})")
    return f"{commit.sha[:10]} {commit.at:%Y-%m-%d} {number}{subject}"
