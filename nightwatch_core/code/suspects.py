"""Changes that are suspected of an error before it is analysed.

A change is suspected that came shortly before and wrote the line that fails, led there or is used
there, replaced the missing name, or brought another version of a library of the trace; or that the
source of the error suspects.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import NamedTuple

from nightwatch_core.code.releases import FirstFailing, ago, fading, first_failing, onset
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models import research
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import LoggedCommit, MergedPull, Release, Suspect
from nightwatch_core.models.errors import Case
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import release_called

SUSPECTS = 3  # items
NEAR_DAYS = 30  # before an error began, in which a change may have brought it

# The commit that an analysis names as the one that brought the cause, looked up in the history.


class NamedChange(NamedTuple):
    """The commit that an answer names, looked up in the history."""

    commit: str = ""  # its full sha; as it was named where nobody could look
    suspects: tuple[Suspect, ...] = ()  # that commit alone
    because: tuple[str, ...] = ()  # why it was dropped


def named_change(text: str, code: CodeReader) -> NamedChange:
    """Look up the commit or pull request that an answer names; nothing where it names none.

    One that is not in the history of the commit that was read is dropped, and says so.
    """
    match = re.search(r"\b[0-9a-f]{7,40}\b|[#!]\d{1,9}\b", text[:300].lower())
    name = match.group() if match else ""
    if not name:
        return NamedChange()
    try:
        shown = code.show_commit(name)
    except (GiveUp, TryLater):  # the answer is paid: what is there of it is kept
        return NamedChange(commit=name)
    if shown is None:
        why = f"{name}, named in the answer, is not a commit in the history that was read"
        return NamedChange(because=(why,))
    change = as_change(shown.commit, *(file.path for file in shown.files))
    if shown.commit.subject.startswith("Merge "):
        title = shown.message.strip().partition("\n")[0] or change.title
        change = change.model_copy(update={"title": title})
    return NamedChange(shown.commit.sha, (Suspect(pull=change, score=1.0),))


def only_named(analysis: Analysis, pulls: Iterable[MergedPull]) -> Analysis:
    """Return the analysis with its own commit as the only suspect: it rules out the others.

    Of `pulls` the one that brought the commit stands for it, and tells its title.
    """
    sha = analysis.suspect_commit.strip().lower()
    candidates = (*pulls, *(suspect.pull for suspect in analysis.suspects))
    brought = next((pull for pull in candidates if is_named(pull, sha)), None)
    if brought is None:
        return analysis.model_copy(update={"suspects": ()})
    is_itself = sha.startswith(("#", "!")) or brought.sha.startswith(sha)
    brings = f"contains {sha[:10]}, named by the analysis"
    because = "the analysis names it as the cause" if is_itself else brings
    suspect = Suspect(pull=brought, score=1.0, because=(because,))
    return analysis.model_copy(update={"suspects": (suspect,)})


def is_of(pull: MergedPull, sha: str) -> bool:
    """Return whether the commit, perhaps shortened, is the pull request's merge or came with it."""
    shas = (pull.sha, *pull.commits)
    return len(sha) >= 7 and any(item.startswith(sha) for item in shas)


def is_named(pull: MergedPull, name: str) -> bool:
    """Return whether a name means the change: its commit, one that it brought, or its number."""
    return is_of(pull, name) or bool(
        pull.number and name in (f"#{pull.number}", f"{pull.sign}{pull.number}")
    )


def proved_change(analysis: Analysis) -> str:
    """Name the change that brought the commit the analysis found; empty where none did.

    Being near, or merged just before, is not enough, and neither is a commit that nobody merged.
    """
    sha = analysis.suspect_commit.strip().lower()
    named = (item.pull.name for item in analysis.suspects if is_named(item.pull, sha))
    return next(named, "")


_NEAR = timedelta(days=NEAR_DAYS)
_LEAST_SUSPECTS = 0.45  # the weaker a proof, the fresher it has to be


class Ground(NamedTuple):
    """Facts of the case that a change is compared with."""

    changes: research.CodeChanges
    onset: research.Onset
    failing: FirstFailing | None
    libraries: str  # paths and modules of the trace's other frames, in small letters
    suspected: tuple[str, ...]  # commits, by the error's source


def _proofs(change: MergedPull, ground: Ground) -> Iterator[tuple[float, str]]:
    """Walk what the change did, the strongest proof first, each with its weight."""
    yield from _wrote(change, ground, 0.95, "failing", "the failing line")
    for rename in ground.changes.renames:
        if rename.commit and is_of(change, rename.commit.sha):
            yield 0.9, f"renames `{rename.old}` to `{rename.new}` in {rename.path}"
            break
    yield from _wrote(change, ground, 0.7, "used", "used on the failing line")
    for library in ground.changes.dependencies:
        plain = library.name.lower().replace("-", "_").lstrip("@")
        is_used = len(plain) > 2 and f"/{plain}/" in ground.libraries
        if is_used and library.commit and is_of(change, library.commit.sha):
            old, new = library.old or "none", library.new or "none"
            yield 0.6, f"changes {library.name} from {old} to {new}"
            break
    if any(is_of(change, sha) for sha in ground.suspected):
        yield 0.55, "is a suspect commit of the error tracker"
    yield from _wrote(change, ground, 0.5, "caller", "a caller of the failing line")


def suspects(
    case: Case,
    changes: research.CodeChanges,
    pulls: Iterable[MergedPull] = (),
    releases: tuple[Release, ...] = (),
    limit: int = SUSPECTS,
) -> tuple[Suspect, ...]:
    """List changes that may have brought the error, the likeliest first; scores 0 to 1.

    A commit that a pull request of `pulls` brought stands under that one. Nothing is suspected
    where nobody knows when the error began.
    """
    if changes.onset is None:
        return ()
    failing = first_failing(case, changes.onset, releases)
    frames = case.trace.frames if case.trace else ()
    outer = (frame for frame in frames if not frame.in_app)
    names = (f"/{frame.path}/{frame.module.replace('.', '/')}/" for frame in outer)
    libraries = "".join(names).lower().replace("-", "_")
    told = case.trace.suspected if case.trace else ()
    ground = Ground(changes, changes.onset, failing, libraries, told)
    candidates = _changes(changes, tuple(pulls), told)
    judged = [suspect for change in candidates if (suspect := _judge(change, ground))]
    judged.sort(key=lambda item: (-item.score, -item.pull.merged_at.timestamp(), item.pull.sha))
    return tuple(judged[: max(0, limit)])


def as_change(commit: LoggedCommit, *files: str) -> MergedPull:
    """Describe a commit as a change; its number is 0 where no pull request is known."""
    return MergedPull(
        number=commit.pull,
        sign=commit.sign,
        title=commit.subject,
        sha=commit.sha,
        author=commit.author,
        merged_at=commit.at,
        files=files,
    )


def _changes(
    changes: research.CodeChanges, pulls: tuple[MergedPull, ...], suspected: tuple[str, ...]
) -> tuple[MergedPull, ...]:
    named: tuple[research.LineAuthor | research.Rename | research.DependencyChange, ...] = (
        *changes.authors,
        *changes.renames,
        *changes.dependencies,
    )
    files: dict[LoggedCommit, list[str]] = {}
    for item in named:
        if commit := item.commit:
            files.setdefault(commit, []).append(item.path)
    found = [
        next((pull for pull in pulls if is_of(pull, commit.sha)), as_change(commit, *paths))
        for commit, paths in files.items()
    ]
    found += [pull for pull in pulls if any(is_of(pull, sha) for sha in suspected)]
    return tuple({change.sha: change for change in found}.values())


def _judge(change: MergedPull, ground: Ground) -> Suspect | None:
    timing = _timing(change, ground)
    proofs = [*_proofs(change, ground)]
    if timing is None or not proofs:
        return None
    factor, when = timing
    score = round(proofs[0][0] * factor, 3)
    because = (*(text for _, text in proofs[:3]), when)
    return Suspect(pull=change, score=score, because=because) if score >= _LEAST_SUSPECTS else None


def _timing(change: MergedPull, ground: Ground) -> tuple[float, str] | None:
    age, failing = ground.onset.at - change.merged_at, ground.failing
    if age < timedelta():
        return None
    if failing and failing.before.at < change.merged_at <= failing.release.at:
        waited = max(timedelta(), ground.onset.at - failing.release.at)
        when = f"{ago(waited)} before {ground.onset.because}"
        release = release_called(failing.release.version)
        return 1.0, f"part of {release}, {failing.because}, made {when}"
    return (fading(age), f"{ago(age)} before {ground.onset.because}") if age <= _NEAR else None


def _wrote(
    change: MergedPull, ground: Ground, weight: float, kind: str, what: str
) -> Iterator[tuple[float, str]]:
    for author in ground.changes.authors:
        if author.kind == kind and is_of(change, author.commit.sha):
            yield weight, f"wrote {author.path}:{author.line}, {what}"
            break


# Merged changes an analyst may want to look at: files that changed against files that fail. Whoever
# touched the same file need not have broken it, so these are candidates and no suspects.

CANDIDATES, COMPARED_FILES = 5, 10  # pull requests; files of a case
_MIN_SCORE = 0.25  # below it nothing is a candidate
_SUSPECTED_SCORE = 0.5  # of what the error's source suspects, at least
_LIKELY_SHARE = 0.5  # a likely file counts this much of a frame's
_USUAL_SIZE = 5  # files; larger pull requests are damped


def candidates(
    case: Case,
    likely: tuple[research.LikelyFile, ...],
    pulls: Iterable[MergedPull],
    limit: int = CANDIDATES,
) -> tuple[MergedPull, ...]:
    """List pull requests that changed files of a case before it began, the likeliest first."""
    began, told = onset(case), case.trace.suspected if case.trace else ()
    merged = [pull for pull in pulls if began is None or pull.merged_at <= began.at]
    weights = _weights(case, likely)
    commonness = Counter(path for pull in merged for path in set(pull.files))
    ranked = []
    for pull in merged:
        missed = 1.0
        for path in weights.keys() & set(pull.files):
            rarity = 1 - 0.3 * math.log(commonness[path]) / math.log(max(2, len(merged)))
            missed *= 1 - 0.9 * weights[path] * rarity
        size = max(1.0, len(pull.files) / _USUAL_SIZE)
        score = (1 - missed) / (1 + 0.5 * math.log10(size))
        score *= fading(began.at - pull.merged_at) if began else 1.0
        score = max(score, _SUSPECTED_SCORE * any(is_of(pull, sha) for sha in told))
        if score >= _MIN_SCORE:
            ranked.append((round(score, 3), pull.merged_at, pull))
    ranked.sort(key=lambda item: (item[0], item[1], item[2].sha), reverse=True)
    return tuple(pull for _, _, pull in ranked[:limit])


def _weights(case: Case, likely: tuple[research.LikelyFile, ...]) -> dict[str, float]:
    """Weigh the files of a case: frames by their rank, then likely files by their score."""
    frames = case.trace.in_app if case.trace else ()
    paths = dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path)
    ranked = enumerate(tuple(paths)[:COMPARED_FILES], start=1)
    weights = {path: rank**-0.5 for rank, path in ranked}
    share = _LIKELY_SHARE if weights else 1.0
    for file in likely[:COMPARED_FILES]:
        weights.setdefault(file.path, share * min(1.0, file.score))
    return weights
