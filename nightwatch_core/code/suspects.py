"""Which changes are suspected of an error before anybody has analysed it.

A change is suspected for what it did: it wrote the line that fails, one that led there, or what is
used there; it replaced the name that is missing; it brought another version of a library that the
trace goes through. And it came shortly before the error began. Having touched the same file is no
reason.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from nightwatch_core.code.edits import apply
from nightwatch_core.code.limits import (
    HUNK_FUZZ,
    HUNKS,
    NEAR_DAYS,
    NEIGHBOUR_COMMITS,
    NEIGHBOUR_FILES,
    NEIGHBOUR_RELEASES,
    RELEASES,
    SUSPECTS,
    TELLING_CHARACTERS,
)
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
    Suspect,
)
from nightwatch_core.models.errors import Case, Frame, Trace
from nightwatch_core.models.research import CodeChanges, DependencyChange, LineAuthor, Onset, Rename
from nightwatch_core.models.value import Value
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.placing import ReadFile, fitted, has_source, lines_of

# When an error began, and the release that brought it, as far as its record tells.

_HOUR = timedelta(hours=1)
_FRESH = timedelta(days=1)
_HALF_LIFE_DAYS = 14.0
_RISES, _LEAST = 5.0, 10  # times the rate before; occurrences after it
_SURE = 15.0  # log-likelihood gained by two rates over one: days and nights alone gain less


class FirstFailing(Value):
    """The release that failed first, and the last one before it."""

    before: Release
    release: Release
    because: str


def onset(case: Case) -> Onset | None:
    """Say when the case began: first seen, unless its rate clearly rose since; None where unknown.

    What was seen before the hours that were counted, and then rose, began anew when it rose.
    """
    groups = case.groups
    first = min((group.first_seen for group in groups if group.first_seen), default=None)
    last = max((group.last_seen for group in groups if group.last_seen), default=None)
    hours = hourly(case)
    counted = _start(last, hours)
    rise = rise_of(hours) if counted else None
    if rise and counted and (first is None or first < counted):
        before, after = rise.before, rise.after
        because = f"its hourly rate rose from {before:.1f} to {after:.1f}"
        return Onset(at=counted + rise.hour * _HOUR, because=because)
    if first:
        return Onset(at=first, because="first seen")
    return Onset(at=last, because="last seen") if last else None


class Rise(Value):
    """A change of rate: from which hour on, and the mean occurrences an hour before and after."""

    hour: int
    before: float
    after: float


def rise_of(hours: Sequence[int]) -> Rise | None:
    """Find the hour at which two rates explain the counts best; None where one does nearly as well.

    >>> rise_of((1, 0, 2, 1, 0, 1, 30, 28, 35))
    Rise(hour=6, before=0.8333333333333334, after=31.0)
    >>> rise_of((3, 5, 2, 4, 6, 3)) is None
    True
    """
    splits = range(1, len(hours))
    gain, hour = max(((_gain(hours, split), split) for split in splits), default=(0.0, 0))
    if gain < _SURE:
        return None
    before, after = sum(hours[:hour]) / hour, sum(hours[hour:]) / (len(hours) - hour)
    is_rise = after >= _RISES * before and sum(hours[hour:]) >= _LEAST
    return Rise(hour=hour, before=before, after=after) if is_rise else None


def hourly(case: Case) -> tuple[int, ...]:
    """Add up the hours of all groups, which end together."""
    counts = [group.hourly for group in case.groups if group.hourly]
    length = max(map(len, counts), default=0)
    padded = ((0,) * (length - len(one)) + one for one in counts)
    return tuple(map(sum, zip(*padded, strict=True)))


def first_failing(
    case: Case, began: Onset | None, releases: tuple[Release, ...]
) -> FirstFailing | None:
    """Find the release that failed first; where the error names none, the one running then.

    None where nobody knows which one came before it.
    """
    ordered = sorted(releases, key=lambda release: release.at)
    versions = next((group.releases for group in case.groups if group.releases), ())
    named = [n for n, one in enumerate(ordered) if versions and one.version == versions[0]]
    running = [n for n, one in enumerate(ordered) if began and one.at <= began.at]
    place = next(iter(named), next(reversed(running), None))
    if not place:
        return None
    because = "the first one failing" if named else "which was running when it was first seen"
    return FirstFailing(before=ordered[place - 1], release=ordered[place], because=because)


def fading(age: timedelta) -> float:
    """Return how much a change of that age still counts: 1 for a day, 0.6 for ever."""
    days = max(0.0, (age - _FRESH).total_seconds() / 86_400)
    return 0.6 + 0.4 * math.pow(0.5, days / _HALF_LIFE_DAYS)


def ago(age: timedelta) -> str:
    """Say a length of time for people.

    >>> ago(timedelta(minutes=12)), ago(timedelta(hours=2, minutes=40)), ago(timedelta(days=3))
    ('12 min', '2 h', '3 days')
    """
    minutes = int(age.total_seconds() // 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // 1440} days"


def _start(last: datetime | None, hours: Sequence[int]) -> datetime | None:
    """When the counted hours began: the last one that counts holds the last sighting."""
    ends = [hour for hour, count in enumerate(hours) if count]
    if last is None or not ends:
        return None
    return last.replace(minute=0, second=0, microsecond=0) - ends[-1] * _HOUR


def _gain(hours: Sequence[int], split: int) -> float:
    parts = (hours[:split], hours[split:])
    return sum(_likelihood(part) for part in parts) - _likelihood(hours)


def _likelihood(hours: Sequence[int]) -> float:
    """The log-likelihood of counts at their mean rate, as far as it depends on the rate."""
    total = sum(hours)
    return total * math.log(total / len(hours)) - total if total else 0.0


# Deployments and tags as one list of releases, and the commit that a version stands for.

_SHA = re.compile(r"[0-9a-f]{7,64}")


def _as_it_is(version: str) -> str:
    return version


def _bare(version: str) -> str:
    """Without the application of "shop@1.2" and the v of "v1.2"."""
    return version.rpartition("@")[2].removeprefix("v")


# How two names may be one version; the first way that finds any wins.
SPELLINGS: tuple[Callable[[str], str], ...] = (_as_it_is, _bare)


def merged(tagged: Iterable[Release], deployed: Iterable[Release]) -> tuple[Release, ...]:
    """Join both lists as one, newest first, at most 200; `sha` is empty where nobody knows it.

    A release that was deployed is listed once for each time it replaced another one, at the time
    and under the name of its deployment, with the sha of its tag. A tag that no deployment names
    stands for itself.
    """
    tags = tuple(tagged)
    known: list[Release] = []
    for release in sorted(deployed, key=lambda one: one.at):
        full = release.model_copy(update={"sha": _full(release, tags)})
        again = known and (known[-1].version, known[-1].sha) == (full.version, full.sha)
        known += [] if again else [full]
    rest = (tag for tag in tags if not any(_same(tag, one) for one in known))
    releases = sorted((*known, *rest), key=lambda one: (one.at, one.version), reverse=True)
    return tuple(releases[:RELEASES])


def sha_of(version: str, deployed: Iterable[Release]) -> str:
    """Give the commit that was deployed last under this version; empty where no deployment tells.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 11, 20, tzinfo=UTC)
    >>> sha_of("1.2", (Release(version="v1.2", sha="0A1B2C3D", at=at),))
    '0a1b2c3d'
    """
    known = [one for one in deployed if _commit(one.sha)]
    for spelling in SPELLINGS if version.strip() else ():
        wanted = spelling(version.strip())
        same = [one for one in known if spelling(one.version.strip()) == wanted]
        if same:
            return _commit(max(same, key=lambda one: one.at).sha)
    return ""


def _full(release: Release, tags: tuple[Release, ...]) -> str:
    """The whole sha of a deployment, where a tag knows it; whoever deploys may write anything."""
    sha = _commit(release.sha)
    if sha:
        return next((tag.sha for tag in tags if tag.sha.startswith(sha)), sha)
    return sha_of(release.version, tags)


def _same(tag: Release, release: Release) -> bool:
    if release.sha:
        return tag.sha == release.sha
    return _bare(tag.version) == _bare(release.version)


def _commit(text: str) -> str:
    """A sha, whole or shortened; empty for anything else."""
    wanted = text.strip().lower()
    return wanted if _SHA.fullmatch(wanted) else ""


# The commit whose files hold the source that a record printed, where the one at hand does not.

_CLOCKS = timedelta(hours=1)  # by which the clocks of committers and servers may differ
_SHA_NEIGHBOUR_COMMITS = 40

History = Callable[[str], tuple[LoggedCommit, ...]]
Files = Callable[[Commit], ReadFile]
CommitAt = Callable[[datetime], Commit]  # the newest of the base branch then


def commit_that_fits(
    trace: Trace,
    commit: Commit,
    files: Files,
    history: History,
    commit_at: CommitAt,
    releases: Iterable[Release] = (),
    seen: datetime | None = None,
) -> Commit:
    """Choose the commit at which the trace's own source stands where the trace says.

    It is `commit`, unless another one that touched the files, or a release, fits better; those
    nearest before `seen` are looked at first, and of the commits between two that touched the files
    the newest is taken. `trace` has repository paths and its printed lines.
    """
    frames = tuple(f for f in trace.frames if f.repo_path and f.line and has_source(f))
    best = _worth(frames, files(commit)) if frames else _ALL
    if best == _ALL:
        return commit
    touching = _touching(frames, commit, history)
    chosen = commit
    for other in _neighbours(touching, commit, releases, seen):
        worth = _worth_or_none(frames, files, other)
        if worth > best:
            best, chosen = worth, other
        if best == _ALL:
            break
    newest = _newest_alike(chosen, touching, commit_at) if chosen in touching else None
    if newest and _worth_or_none(frames, files, newest) == best:
        return newest
    return chosen


def _newest_alike(chosen: Commit, touching: Sequence[Commit], commit_at: CommitAt) -> Commit | None:
    """The newest commit before the files were changed again."""
    later = [one.at for one in touching if one.at and chosen.at and one.at > chosen.at]
    newest = commit_at(min(later) - timedelta(seconds=1)) if later else None
    if newest is None or not (newest.at and chosen.at) or newest.at <= chosen.at:
        return None
    because = f"{chosen.because}, and until it was changed again"
    return newest.model_copy(update={"branch": chosen.branch, "because": because})


Worth = tuple[bool, float, float]  # the innermost frame stands there; shares that do, that differ
_ALL: Worth = (True, 1.0, 0.0)


def _worth(frames: tuple[Frame, ...], read: ReadFile) -> Worth:
    fits = [fitted(frame, lines_of(read(frame.repo_path) or "")).fit for frame in frames]
    telling = [fit for fit in fits if fit != "unknown"]
    if not telling:
        return _ALL  # nothing that another commit could hold better
    share = fits.count("same") / len(telling)
    return telling[0] == "same", share, -fits.count("differs") / len(telling) or 0.0


def _worth_or_none(frames: tuple[Frame, ...], files: Files, commit: Commit) -> Worth:
    try:
        return _worth(frames, files(commit))
    except GiveUp:  # a release whose commit is not there
        return False, 0.0, -1.0


def _neighbours(
    touching: Sequence[Commit],
    commit: Commit,
    releases: Iterable[Release],
    seen: datetime | None,
) -> tuple[Commit, ...]:
    """Commits that touched the frames' files, and releases; the nearest before `seen` first."""
    moment = seen or commit.at

    def order(one: Commit) -> tuple[bool, timedelta]:
        if moment is None or one.at is None:
            return False, timedelta()
        return one.at > moment + _CLOCKS, abs(moment - one.at)

    nearest = sorted(touching, key=order)[:NEIGHBOUR_COMMITS]
    released = sorted(_released(commit, releases), key=order)[:NEIGHBOUR_RELEASES]
    found = {one.sha: one for one in (*released, *nearest) if one.sha != commit.sha}
    return tuple(sorted(found.values(), key=order))


def _touching(frames: tuple[Frame, ...], commit: Commit, history: History) -> tuple[Commit, ...]:
    """Commits that touched the first few of the frames' files."""
    paths = tuple(dict.fromkeys(frame.repo_path for frame in frames))[:NEIGHBOUR_FILES]
    logged = {one.sha: (path, one) for path in paths for one in _logged(path, history)}
    return tuple(
        commit.model_copy(
            update={
                "sha": sha,
                "at": one.at,
                "because": f"the record's source stands in {path} as of {sha[:10]}",
            }
        )
        for sha, (path, one) in logged.items()
    )


def _released(commit: Commit, releases: Iterable[Release]) -> Iterator[Commit]:
    for release in releases:
        if len(release.sha) == _SHA_NEIGHBOUR_COMMITS:
            because = f"the record's source stands like this in release {release.version[:60]}"
            told = {"sha": release.sha, "at": release.at, "because": because}
            yield commit.model_copy(update=told)


def _logged(path: str, history: History) -> tuple[LoggedCommit, ...]:
    try:
        return history(path)
    except GiveUp:
        return ()


# The commit that an analysis names as the one that brought the cause, looked up in the history.

SHORTEST_SHA = 7
_NAMED = "the analysis names it as what brought the fault"


class NamedChange(NamedTuple):
    """What an answer's words on a commit come to."""

    commit: str = ""  # its full sha; as it was named where nobody could look
    suspects: tuple[Suspect, ...] = ()  # that commit alone
    because: tuple[str, ...] = ()  # why it was dropped


def named_change(text: str, code: CodeReader) -> NamedChange:
    """Look up the commit or pull request that an answer names; nothing where it names none.

    One that is not in the history of the commit that was read is dropped, and says so.
    """
    name = commit_name(text)
    if not name:
        return NamedChange()
    try:
        shown = code.show_commit(name)
    except (GiveUp, TryLater):  # the answer is paid: what is there of it is kept
        return NamedChange(commit=name)
    if shown is None:
        why = f"{name}, which the answer names, is no commit of the history that was read"
        return NamedChange(because=(why,))
    return NamedChange(shown.commit.sha, (Suspect(pull=as_pull(shown), score=1.0),))


def commit_name(text: str) -> str:
    """Return the commit or pull request that is named; empty for prose.

    >>> commit_name("commit 1a2b3c4d5e"), commit_name("#12"), commit_name("the last one")
    ('1a2b3c4d5e', '#12', '')
    """
    match = re.search(r"\b[0-9a-f]{7,40}\b|#\d{1,9}\b", text[:300].lower())
    return match.group() if match else ""


def as_pull(shown: CommitDiff) -> MergedPull:
    """Describe a commit as what it brought; its number is 0 where no pull request is known."""
    commit = shown.commit
    merge = re.match(r"Merge\b", commit.subject) and shown.message.partition("\n")[0].strip()
    return MergedPull(
        number=commit.pull,
        title=merge or commit.subject,
        sha=commit.sha,
        author=commit.author,
        merged_at=commit.at,
        files=tuple(file.path for file in shown.files),
    )


def only_named(analysis: Analysis, pulls: Iterable[MergedPull]) -> Analysis:
    """Give the analysis with its own commit as the only suspect: what was near is ruled out by it.

    Of `pulls` the one that brought the commit stands for it, and tells its title.
    """
    sha = analysis.suspect_commit.strip().lower()
    known = (*pulls, *(one.pull for one in analysis.suspects))
    brought = next((pull for pull in known if is_named(pull, sha)), None)
    if brought is None:
        return analysis.model_copy(update={"suspects": ()})
    suspect = Suspect(pull=brought, score=1.0, because=(_named(brought, sha),))
    return analysis.model_copy(update={"suspects": (suspect,)})


def is_of(pull: MergedPull, sha: str) -> bool:
    """Tell whether the commit, perhaps shortened, is the pull request's merge or came with it."""
    known = (pull.sha, *pull.commits)
    return len(sha) >= SHORTEST_SHA and any(one.startswith(sha) for one in known)


def is_named(pull: MergedPull, name: str) -> bool:
    """Tell whether a name means the change: its commit, one that it brought, or its number."""
    return is_of(pull, name) or bool(pull.number and name == f"#{pull.number}")


def proved_change(analysis: Analysis) -> str:
    """Name the change that brought the commit the analysis found; empty where none did.

    Being near, or merged just before, is not enough, and neither is a commit that nobody merged.
    """
    sha = analysis.suspect_commit.strip().lower()
    return next((one.pull.name for one in analysis.suspects if is_named(one.pull, sha)), "")


def _named(pull: MergedPull, sha: str) -> str:
    """A commit of its own shows what a pull request brought; its merge is just its name."""
    return (
        _NAMED
        if sha.startswith("#") or pull.sha.startswith(sha)
        else f"brought {sha[:10]}, which the analysis names"
    )


_NEAR = timedelta(days=NEAR_DAYS)
_LEAST_SUSPECTS = 0.45  # the weaker a proof, the fresher it has to be
_NAME = 3  # characters a library's name needs to be told from chance


class Ground(NamedTuple):
    """What a change is compared with."""

    changes: CodeChanges
    onset: Onset
    failing: FirstFailing | None
    libraries: str  # paths and modules of the trace's other frames, in small letters


Proof = Callable[[MergedPull, Ground], str]  # what the change did; empty where it did not


def _wrote_failing_line(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "failing", "wrote {place}, the line that fails")


def _replaced_missing_name(change: MergedPull, ground: Ground) -> str:
    renames = (one for one in ground.changes.renames if one.commit and _did(change, one.commit))
    return next((f"renames `{one.old}` to `{one.new}` in {one.path}" for one in renames), "")


def _wrote_what_is_used(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "used", "wrote {place}, which is used there")


def _changed_library(change: MergedPull, ground: Ground) -> str:
    for one in ground.changes.dependencies:
        is_used = len(one.name) >= _NAME and f"/{plain_name(one.name)}/" in ground.libraries
        if is_used and one.commit and _did(change, one.commit):
            return f"changes {one.name} from {one.old or 'none'} to {one.new or 'none'}"
    return ""


def _wrote_a_caller(change: MergedPull, ground: Ground) -> str:
    return _wrote(change, ground, "caller", "wrote {place}, which led there")


# What a change may have done, and how much that says.
PROOFS: tuple[tuple[float, Proof], ...] = (
    (0.95, _wrote_failing_line),
    (0.9, _replaced_missing_name),
    (0.7, _wrote_what_is_used),
    (0.6, _changed_library),
    (0.5, _wrote_a_caller),
)


def suspects(
    case: Case,
    changes: CodeChanges,
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
    ground = Ground(changes, changes.onset, failing, _libraries(case))
    known = _changes(changes, tuple(pulls))
    judged = [suspect for change in known if (suspect := _judge(change, ground))]
    judged.sort(key=lambda one: (-one.score, -one.pull.merged_at.timestamp(), one.pull.sha))
    return tuple(judged[: max(0, limit)])


def plain_name(library: str) -> str:
    """Return a library's name as folders spell it.

    >>> plain_name("Flask-SQLAlchemy"), plain_name("@scope/left-pad")
    ('flask_sqlalchemy', 'scope/left_pad')
    """
    return library.lower().replace("-", "_").lstrip("@")


def as_change(commit: LoggedCommit, *files: str) -> MergedPull:
    """Describe a commit as a change; its number is 0 where no pull request is known."""
    return MergedPull(
        number=commit.pull,
        title=commit.subject,
        sha=commit.sha,
        author=commit.author,
        merged_at=commit.at,
        files=files,
    )


def _changes(changes: CodeChanges, pulls: tuple[MergedPull, ...]) -> tuple[MergedPull, ...]:
    """What did something that may count: each commit, or the pull request that brought it, once."""
    named: tuple[LineAuthor | Rename | DependencyChange, ...] = (
        *changes.authors,
        *changes.renames,
        *changes.dependencies,
    )
    files: dict[LoggedCommit, list[str]] = {}
    for one in named:
        if commit := one.commit:
            files.setdefault(commit, []).append(one.path)
    found = (
        next((pull for pull in pulls if is_of(pull, commit.sha)), as_change(commit, *paths))
        for commit, paths in files.items()
    )
    return tuple({change.sha: change for change in found}.values())


def _judge(change: MergedPull, ground: Ground) -> Suspect | None:
    timing = _timing(change, ground)
    proofs = [(weight, text) for weight, proof in PROOFS if (text := proof(change, ground))]
    if timing is None or not proofs:
        return None
    factor, when = timing
    score = round(proofs[0][0] * factor, 3)
    because = (*(text for _, text in proofs[:3]), when)
    return Suspect(pull=change, score=score, because=because) if score >= _LEAST_SUSPECTS else None


def _timing(change: MergedPull, ground: Ground) -> tuple[float, str] | None:
    """How near the change is to the onset, and in what words; None where it is not."""
    age, failing = ground.onset.at - change.merged_at, ground.failing
    if age < timedelta():
        return None
    if failing and failing.before.at < change.merged_at <= failing.release.at:
        waited = max(timedelta(), ground.onset.at - failing.release.at)
        when = f"{ago(waited)} before {ground.onset.because}"
        return 1.0, f"part of release {failing.release.version}, {failing.because}, made {when}"
    return (fading(age), f"{ago(age)} before {ground.onset.because}") if age <= _NEAR else None


def _wrote(change: MergedPull, ground: Ground, kind: str, text: str) -> str:
    own = (one for one in ground.changes.authors if one.kind == kind and _did(change, one.commit))
    return next((text.format(place=_place(one)) for one in own), "")


def _place(author: LineAuthor) -> str:
    return f"{author.path}:{author.line}"


def _did(change: MergedPull, commit: LoggedCommit) -> bool:
    return is_of(change, commit.sha)


def _libraries(case: Case) -> str:
    frames = case.trace.frames if case.trace else ()
    names = (f"/{one.path}/{one.module.replace('.', '/')}/" for one in frames if not one.in_app)
    return "".join(names).lower().replace("-", "_")


# A tree in which some edits were made, read like any other.


class ChangedCode:
    """A `CodeReader` of a tree with edits made; its history, and who wrote what, are the tree's."""

    def __init__(self, code: CodeReader, edits: tuple[Edit, ...]) -> None:
        """Make the edits on what `code` reads; raises `GiveUp` where they cannot be made."""
        applied = apply(edits, code.read_file, code.paths())
        if edits and applied.refusal:
            raise GiveUp(applied.refusal)
        self._code = code
        self._texts = {change.path: change.text for change in applied.changes}

    @property
    def commit(self) -> Commit:
        """Return the commit of the tree."""
        return self._code.commit

    def paths(self) -> tuple[str, ...]:
        """Return every file that is there now, sorted."""
        there = {path for path, text in self._texts.items() if text is not None}
        return tuple(sorted(there.union(self._code.paths()) - (self._texts.keys() - there)))

    def read_file(self, path: str) -> str | None:
        """Return the text as it is now."""
        return self._texts[path] if path in self._texts else self._code.read_file(path)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Find lines as they are now, those of changed files first."""
        new = tuple(
            SearchHit(path=name, line=number, text=line)
            for name, text in self._texts.items()
            if not path or name == path or name.startswith(f"{path.rstrip('/')}/")
            for number, line in enumerate((text or "").splitlines(), 1)
            if query in line
        )
        rest = self._code.search(query, path, limit)
        return (*new, *(hit for hit in rest if hit.path not in self._texts))[:limit]

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder, as the tree has them."""
        return self._code.list_directory(path)

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Return who last wrote lines of the tree."""
        return self._code.blame(path, start, end)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed."""
        return self._code.show_commit(sha, path)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits of the tree."""
        return self._code.history(path, text, limit)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs between two commits."""
        return self._code.compare(old_sha, new_sha, path)

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths that differ between two commits."""
        return self._code.paths_changed(old_sha, new_sha)


# Which lines of a file two changes touch, though they were made on different commits.
#
# A change is found in today's file by what it takes away and what stands around it, as `patch`
# does:
# numbers of lines are those of a commit that nobody has here.

_HEAD = re.compile(r"@@ -(\d{1,9})")


class Hunk(NamedTuple):
    """Lines of a diff that stand together, each with its mark."""

    start: int  # of its first line in the old file, from 1; 0: not known
    rows: tuple[str, ...]

    def lines(self, *marks: str) -> list[str]:
        """Its lines with one of these marks, without them."""
        return [row[1:].rstrip() for row in self.rows if row[:1] in marks]


class Span(NamedTuple):
    """Lines from `start` up to `end`, which is none of them, from 0; none where both are one."""

    start: int
    end: int

    def meets(self, other: "Span") -> bool:
        """Whether they overlap, or one begins where the other ends."""
        return self.start <= other.end and other.start <= self.end


class Change(NamedTuple):
    """What a diff does to one file of today."""

    path: str
    spans: tuple[Span, ...]  # of the lines that it changes, where they stand in the file
    removed: frozenset[str]  # lines that tell something, their white space made even
    added: frozenset[str]
    is_whole: bool = True  # all of it was found in the file


def change_in(file: ChangedFile, path: str, text: str) -> Change:
    """Find what a diff changes in `text`, the file as it is today.

    >>> diff = ChangedFile(path="a", diff="@@ -9,2 +9,2 @@\\n b\\n-an old line\\n+new")
    >>> change_in(diff, "a", "a\\nb\\nan old line\\n").spans
    (Span(start=2, end=3),)
    """
    lines = [row.rstrip() for row in text_lines(text)]
    read = tuple(_hunks(file.diff))[:HUNKS]
    spans = [tuple(_spans(hunk, lines)) for hunk in read]
    return Change(
        path,
        tuple(span for each in spans for span in each),
        _telling(line for hunk in read for line in hunk.lines("-")),
        _telling(line for hunk in read for line in hunk.lines("+")),
        all(spans),
    )


def meet(one: Change, other: Change) -> bool:
    """Whether both change the same lines of a file, or lines next to each other."""
    if one.path != other.path:
        return False
    by_text = not (one.is_whole and other.is_whole) and not one.removed.isdisjoint(other.removed)
    return by_text or any(a.meets(b) for a in one.spans for b in other.spans)


def holds(one: Iterable[Change], other: Iterable[Change]) -> bool:
    """Whether `one` brings every line that `other` does, or takes away all where that adds none.

    >>> a = Change("a", (), frozenset({"an old line"}), frozenset({"new line", "more"}))
    >>> holds([a], [a._replace(added=frozenset({"new line"}))]), holds([a], [])
    (True, False)
    """
    theirs, ours = {each.path: each for each in one}, tuple(other)
    empty = Change("", (), frozenset(), frozenset())
    adds = [each for each in ours if each.added]
    if adds:
        return all(each.added <= theirs.get(each.path, empty).added for each in adds)
    gone = [each for each in ours if each.removed]
    return bool(gone) and all(each.removed == theirs.get(each.path, empty).removed for each in gone)


def _hunks(diff: str) -> Iterator[Hunk]:
    start, rows = 0, list[str]()
    for row in diff.split("\n"):
        if row.startswith("@@"):
            if rows:
                yield Hunk(start, tuple(rows))
            found = _HEAD.match(row)
            start, rows = int(found[1]) if found else 0, []
        elif row[:1] in (" ", "+", "-"):
            rows.append(row)
        elif not row:  # of an empty line of context some leave the mark out
            rows.append(" ")
    if rows:
        yield Hunk(start, tuple(rows))


def _spans(hunk: Hunk, lines: list[str]) -> Iterator[Span]:
    """The stretches that it changes; none where it is not found."""
    found = _place_touched_lines(hunk, lines)
    if found is None:
        return
    at, rows = found
    for is_change, group in groupby(rows, lambda row: row[:1] != " "):
        old = sum(row[:1] != "+" for row in group)
        if is_change:
            yield Span(at, at + old)
        at += old


def _place_touched_lines(hunk: Hunk, lines: list[str]) -> tuple[int, tuple[str, ...]] | None:
    """Where its old lines stand, nearest to where they stood; less and less of what is around."""
    above = next((n for n, row in enumerate(hunk.rows) if row[:1] != " "), 0)
    below = next((n for n, row in enumerate(hunk.rows[::-1]) if row[:1] != " "), 0)
    for fuzz in range(HUNK_FUZZ + 1):
        first, last = min(fuzz, above), min(fuzz, below)
        rows = hunk.rows[first : len(hunk.rows) - last]
        old = [row[1:].rstrip() for row in rows if row[:1] != "+"]
        if not any(map(_tells, old)):
            return None
        if places := _places(old, lines):
            near = hunk.start - 1 + first
            return min(places, key=lambda place: abs(place - near)), rows
    return None


def _places(block: list[str], lines: list[str]) -> list[int]:
    starts = (n for n, line in enumerate(lines) if line == block[0])
    return [n for n in starts if lines[n : n + len(block)] == block]


def _telling(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(line.split()) for line in lines if _tells(line))


def _tells(line: str) -> bool:
    return len(re.findall(r"[^\W_]", line)) >= TELLING_CHARACTERS
