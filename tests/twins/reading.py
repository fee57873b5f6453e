"""Neighbours made of memory that are read from: clock, errors, code, agents, model, records."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    Commit,
    CommitDiff,
    Ecosystem,
    FolderEntry,
    Library,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)
from nightwatch_core.models.conversation import (
    AgentSpec,
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
)
from nightwatch_core.models.errors import ErrorGroup, Fetched, Frame, Trace, Window

DAY = datetime(2026, 11, 20, tzinfo=UTC)


@dataclass
class MemoryClock:
    """A Clock that moves only when told; `monotonic` follows it."""

    time: datetime = DAY + timedelta(days=1, hours=2)

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.time.timestamp()

    def pass_by(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@dataclass
class MemoryErrors:
    """An ErrorSource that was told its groups and their traces."""

    groups: Sequence[ErrorGroup] = ()
    known_traces: Mapping[str, tuple[Trace, ...]] = field(default_factory=dict)
    partial: tuple[str, ...] = ()
    fails: Exception | None = None
    deployed: tuple[Release, ...] = ()
    traffic: int | None = None

    def window(self, lookback: timedelta | None, now: datetime) -> Window:
        return Window(since=now - (lookback or timedelta(days=1)), until=now)

    def error_groups(self, window: Window) -> Fetched:
        if self.fails:
            raise self.fails
        return Fetched(
            groups=tuple(self.groups), window=window, partial=self.partial, traffic=self.traffic
        )

    def traces(self, group: ErrorGroup, limit: int = 3) -> tuple[Trace, ...]:
        return self.known_traces.get(group.fingerprint, ())[:limit]

    def releases(self) -> tuple[Release, ...]:
        return self.deployed

    def probe(self) -> str:
        return f"{len(self.groups)} groups in memory"


@dataclass
class MemoryCode:
    """A CodeReader over a dict; notes what was read."""

    files: Mapping[str, str | None] = field(default_factory=dict)  # None: what cannot be read
    at: Commit = Commit(repository="memory", sha="0" * 40, branch="main")
    blames: Mapping[tuple[str, int], Blame] = field(default_factory=dict)
    commits: Sequence[CommitDiff] = ()  # newest first
    reads: list[str] = field(default_factory=list)

    @property
    def commit(self) -> Commit:
        return self.at

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def read_file(self, path: str) -> str | None:
        self.reads.append(path)
        return self.files.get(path)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        hits = (
            SearchHit(path=name, line=number, text=text)
            for name in self.paths()
            if name == path or name.startswith(f"{path.rstrip('/')}/" if path else "")
            for number, text in enumerate((self.files[name] or "").splitlines(), start=1)
            if query and query in text
        )
        return tuple(itertools.islice(hits, limit))

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        head = f"{path.strip('/')}/" if path.strip("/") else ""
        below = [name[len(head) :] for name in self.paths() if name.startswith(head)]
        names = {name.split("/")[0]: "/" in name for name in below}
        return tuple(
            FolderEntry(name=name, kind="folder")
            if is_folder
            else FolderEntry(name=name, kind="file", size=len(self.files[head + name] or ""))
            for name, is_folder in sorted(names.items())
        )

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        lines = range(start, (start if end is None else end) + 1)
        return tuple(self.blames[path, line] for line in lines if (path, line) in self.blames)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        return shown(self.commits, sha, path)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        return logged(self.commits, path, text)[:limit]

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        return tuple(
            file
            for item in part(self.commits, old_sha, new_sha)
            for file in item.files
            if is_below(file.path, path)
        )

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        return between(self.commits, old_sha, new_sha)


def is_below(path: str, folder: str) -> bool:
    """Whether the path is the folder's, or the file itself."""
    return not folder or path == folder or path.startswith(f"{folder.rstrip('/')}/")


def shown(commits: Sequence[CommitDiff], sha: str, path: str = "") -> CommitDiff | None:
    """The one commit of that name, with its files below the path."""
    for item in commits:
        is_short = len(sha) >= 7 and item.commit.sha.startswith(sha)
        if is_short or (item.commit.pull and sha == f"#{item.commit.pull}"):
            files = tuple(file for file in item.files if is_below(file.path, path))
            return item.model_copy(update={"files": files})
    return None


def logged(commits: Sequence[CommitDiff], path: str, text: str) -> tuple[LoggedCommit, ...]:
    """Those below the path with a changed line that holds the text."""
    return tuple(
        item.commit
        for item in commits
        if any(
            is_below(file.path, path)
            and (
                not text
                or any(text in line[1:] for line in file.diff.split("\n") if line[:1] in "+-")
            )
            for file in item.files
        )
    )


def part(commits: Sequence[CommitDiff], old_sha: str, new_sha: str) -> Sequence[CommitDiff]:
    """The commits after the old one, up to the new one."""
    shas = [item.commit.sha for item in commits]
    if old_sha not in shas or new_sha not in shas:
        raise GiveUp("only commits of this history can be compared")
    return commits[shas.index(new_sha) : shas.index(old_sha)]


def between(commits: Sequence[CommitDiff], old_sha: str, new_sha: str) -> tuple[str, ...]:
    """All paths of those."""
    changed = part(commits, old_sha, new_sha)
    return tuple(sorted({file.path for item in changed for file in item.files}))


@dataclass
class MemoryLibraries:
    """A LibraryReader over dicts: files by copy."""

    known: Mapping[Library, Mapping[str, str]] = field(default_factory=dict)

    def copies(self, ecosystem: Ecosystem, package: str) -> tuple[Library, ...]:
        wanted = (ecosystem, package)
        return tuple(item for item in self.known if (item.ecosystem, item.package) == wanted)

    def paths(self, library: Library) -> tuple[str, ...]:
        return tuple(sorted(self.known.get(library, ())))

    def read_file(self, library: Library, path: str) -> str | None:
        return self.known.get(library, {}).get(path)


@dataclass
class MemorySourceMaps:
    """A SourceMaps that was told its maps by bundle, and places by map, line and column."""

    texts: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[tuple[str, int, int], Frame] = field(default_factory=dict)

    def map_of(self, bundle: str) -> str | None:
        return self.texts.get(bundle)

    def original(self, text: str, line: int, column: int) -> Frame | None:
        return self.places.get((text, line, column))


@dataclass
class MemoryHost:
    """A CodeHost of one tree at the head of its branch, and older ones by their releases."""

    code: MemoryCode = field(default_factory=MemoryCode)
    pulls: tuple[MergedPull, ...] = ()
    released: tuple[Release, ...] = ()
    older: Mapping[str, MemoryCode] = field(default_factory=dict)

    def head(self) -> Commit:
        return self.code.at

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        trees = {self.code.at.sha: self.code, **self.older}
        for release, tree in trees.items() if name else ():
            if release == name or (len(name) > 6 and tree.at.sha.startswith(name)):
                return tree.at.model_copy(update={"because": f"release {name}"})
        return self.head() if branches and name and name == self.code.at.branch else None

    def commit_at(self, moment: datetime) -> Commit:
        trees = (self.code, *self.older.values())
        then = [tree.at for tree in trees if tree.at.at and tree.at.at <= moment]
        return max(then, key=lambda commit: str(commit.at), default=self.code.at)

    def reader(self, commit: Commit) -> MemoryCode:
        older = (tree for tree in self.older.values() if tree.at.sha == commit.sha)
        return next(older, self.code)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        return tuple(pull for pull in self.pulls if pull.merged_at >= since)

    def releases(self) -> tuple[Release, ...]:
        return self.released

    def probe(self) -> str:
        return f"{len(self.code.files)} files in memory"


@dataclass
class MemoryAgents:
    """An AgentStore of a few agents."""

    agents: tuple[AgentSpec, ...] = (AgentSpec(name="base-analyzer", prompt="Find the cause."),)

    def names(self) -> tuple[str, ...]:
        return tuple(agent.name for agent in self.agents)

    def agent(self, name: str) -> AgentSpec:
        for agent in self.agents:
            if agent.name == name:
                return agent
        raise StopTheNight(f"there is no agent {name!r}: choose {', '.join(self.names())}")


@dataclass
class MemoryModel:
    """A Model that answers from a script; keeps the conversations it was shown.

    A script entry is a Reply, a text to answer with, an exception to raise, or a function of the
    conversation that gives one of these. The last entry is used again and again.
    """

    script: Sequence[object] = ()
    shown: list[Conversation] = field(default_factory=list)
    able: Capabilities = Capabilities(model="memory", local=True, input_price=0.0, output_price=0.0)

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        if not self.script:
            raise GiveUp("a MemoryModel needs a script")
        entry = self.script[min(len(self.shown), len(self.script) - 1)]
        self.shown.append(conversation)
        if callable(entry):
            entry = entry(conversation)
        if isinstance(entry, Exception):
            raise entry
        if isinstance(entry, Reply):
            return entry
        usage = Usage(calls=1, input_tokens=100, output_tokens=10, cost=0.001)
        return Reply(turn=AssistantTurn(text=str(entry)), usage=usage)

    def capabilities(self) -> Capabilities:
        return self.able

    def probe(self) -> str:
        return self.able.model


@dataclass
class MemoryRecords:
    """Records in a dict."""

    kept: dict[str, str] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        return self.kept.get(key)

    def put(self, key: str, text: str) -> None:
        self.kept[key] = text
