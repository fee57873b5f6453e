"""A code host whose readers keep what they read of a commit as records: later nights find it.

The key of a record holds the commit, so it never expires. What a repository tells because something
could not be fetched, or was not found out in time, is no record.
"""

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter

from nightwatch_core.adapters.stores.code_cache import CachedRead, CodeCache, ReadCounter, Source
from nightwatch_core.adapters.stores.traffic import Traffic, watched
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CodeReads,
    Commit,
    CommitDiff,
    FolderEntry,
    LoggedCommit,
    MergedPull,
    Release,
    SearchHit,
)
from nightwatch_core.ports import CodeHost, CodeReader, CountsReads, Records

T = TypeVar("T")


class Form(Generic[T]):
    """How values of a type are written as JSON, and read again."""

    def __init__(self, type: Any) -> None:
        """Take a type that pydantic knows."""
        self._adapter: TypeAdapter[T] = TypeAdapter(type)

    def written(self, value: T) -> Any:
        """Return the value as JSON."""
        return self._adapter.dump_python(value, mode="json")

    def __call__(self, answer: Any) -> T:
        """Return the value that JSON stands for; raises `ValueError` where it stands for none."""
        return self._adapter.validate_python(answer)


_TEXT: Form[str | None] = Form(str | None)
_HITS: Form[tuple[SearchHit, ...]] = Form(tuple[SearchHit, ...])
_BLAMES: Form[tuple[Blame, ...]] = Form(tuple[Blame, ...])
_DIFF: Form[CommitDiff | None] = Form(CommitDiff | None)
_LOG: Form[tuple[LoggedCommit, ...]] = Form(tuple[LoggedCommit, ...])
_CHANGES: Form[tuple[ChangedFile, ...]] = Form(tuple[ChangedFile, ...])
_PATHS: Form[tuple[str, ...]] = Form(tuple[str, ...])


class RecordedHost:
    """A `CodeHost` in front of another one; readers that keep records of their own stay bare."""

    def __init__(self, host: CodeHost, records: Records) -> None:
        """Share one cache between all readers."""
        self._host = host
        self._cache = CodeCache(records)
        self._openings: deque[Traffic] = deque()  # of readers, until one of them tells

    def head(self) -> Commit:
        """Return the newest commit of the base branch."""
        return self._host.head()

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a release; None where no commit goes by that name."""
        return self._host.commit_of(name, branches=branches)

    def commit_at(self, moment: datetime) -> Commit:
        """Return the newest commit that the base branch had then."""
        return self._host.commit_at(moment)

    def reader(self, commit: Commit) -> CodeReader:
        """Return a reader of the caller's own, which counts what it reads."""
        with watched() as traffic:
            reader = self._host.reader(commit)
        if isinstance(reader, CountsReads):
            return reader
        if traffic.requests:
            self._openings.append(traffic)
        return RecordedReader(reader, self._cache, self._openings)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first."""
        return self._host.pulls_merged_since(since)

    def releases(self) -> tuple[Release, ...]:
        """Return releases, newest first."""
        return self._host.releases()

    def probe(self) -> str:
        """Say what is there."""
        return self._host.probe()


class RecordedReader:
    """A `CodeReader` that asks another one only for what no record holds; safe for threads."""

    def __init__(self, reader: CodeReader, cache: CodeCache, openings: deque[Traffic]) -> None:
        """Share the `cache`; what `openings` of readers sent counts where it is asked for first."""
        self._reader = reader
        self._cache = cache
        self._counter = ReadCounter()
        self._openings = openings
        self._records = record_folder(reader.commit)

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._reader.commit

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
        with suppress(IndexError):  # another one was quicker
            while self._openings:
                opened = self._openings.popleft()
                self._counter.add_request(opened.requests, opened.files)
        return self._counter.counts()

    def paths(self) -> tuple[str, ...]:
        """Return every file of the tree, sorted."""
        return self._reader.paths()

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder."""
        return self._reader.list_directory(path)

    def read_file(self, path: str) -> str | None:
        """Return the text at `path`; None where there is no such file, or it is not text."""
        return self._once("read", (path,), _TEXT, lambda: self._reader.read_file(path), path)

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the texts at all `paths`."""
        return {path: self.read_file(path) for path in paths}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        """Take texts of this commit that were read and kept before."""
        for path, text in texts.items():
            read = self._cache.remember(self._key("read", (path,)), text, _TEXT)
            if read.source == "disk":
                self._counter.add_reads((read,), (path,))

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Return lines that hold `query` literally, below folder or file `path`."""
        asked = (query, path, limit)
        return self._once("search", asked, _HITS, lambda: self._reader.search(*asked))

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Return who last wrote the lines, line by line."""
        asked = (path, start, end)
        return self._once("blame", asked, _BLAMES, lambda: self._reader.blame(*asked), path)

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed; None where it is not known."""
        asked = (sha, path)
        return self._once("show", asked, _DIFF, lambda: self._reader.show_commit(*asked))

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first, below `path`; with `text` those that touched it."""
        asked = (path, text, limit)
        return self._once("log", asked, _LOG, lambda: self._reader.history(*asked))

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs between two commits, below `path`."""
        asked = (old_sha, new_sha, path)
        return self._once("compare", asked, _CHANGES, lambda: self._reader.compare(*asked))

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths of files that differ between two commits."""
        asked = (old_sha, new_sha)
        return self._once("changed", asked, _PATHS, lambda: self._reader.paths_changed(*asked))

    def _once(
        self,
        operation: str,
        asked: tuple[object, ...],
        form: Form[T],
        ask: Callable[[], T],
        file: str = "",
    ) -> T:
        """Return what was read, by this reader or another one, tonight or before."""
        lasts_empty = operation in ("read", "search")
        key = self._key(operation, asked)
        with watched() as traffic:
            read = self._cache.read(
                key,
                lambda: form.written(ask()),
                form,
                lambda answer: not traffic.failed and (lasts_empty or bool(answer)),
            )
        self._counter.add_request(traffic.requests, traffic.files)
        source: Source = "git" if read.source == "asked" and not traffic.requests else read.source
        self._counter.add_reads((CachedRead(read.value, source),), (file,) if file else ())
        value: T = read.value
        return value

    def _key(self, operation: str, asked: tuple[object, ...]) -> str:
        words = "\0".join(map(str, asked)).encode(errors="replace")
        return f"{self._records}/{operation}-{hashlib.sha256(words).hexdigest()[:24]}"


def record_folder(commit: Commit) -> str:
    """Return the folder of a commit's records.

    >>> record_folder(Commit(repository="Acme/Shop", sha="1a2b"))
    'code/acme__shop/1a2b'
    """
    name = re.sub(r"[^a-z0-9._-]", "_", commit.repository.lower().replace("/", "__"))
    return f"code/{name[:120].lstrip('.') or 'repository'}/{commit.sha}"
