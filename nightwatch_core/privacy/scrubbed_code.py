"""The code as everybody but a draft's maker sees it: masked, and without secret files."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

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
from nightwatch_core.ports import CodeHost, CodeReader, CountsReads, KeepsFiles
from nightwatch_core.privacy.masks import holds_mask
from nightwatch_core.privacy.scrubber import Scrubber
from nightwatch_core.privacy.secret_files import is_secret_file, refusal
from nightwatch_core.privacy.values import scrubbed

# Lines that only their neighbours tell to be secret: of a key, or the value of a name above.
_TELLING_NOTHING = re.compile(
    r"[\s\"'+,\\n]*[A-Za-z0-9+/=]{40,}[\s\"'+,\\n;]*|\s*[\"']?value[\"']?:.*"
)


class ScrubbedHost:
    """A `CodeHost` whose readers show no secrets."""

    def __init__(self, host: CodeHost, scrubber: Scrubber) -> None:
        """Mask what `host` gives."""
        self._host, self._scrubber = host, scrubber

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
        """Return a reader of the caller's own; it counts and keeps where the host's does."""
        reader = self._host.reader(commit)
        kind = _CountingReader if isinstance(reader, CountsReads) else ScrubbedReader
        return kind(reader, self._scrubber)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first."""
        pulls = self._host.pulls_merged_since(since)
        return tuple(scrubbed(pull, self._scrubber.scrub) for pull in pulls)

    def releases(self) -> tuple[Release, ...]:
        """Return releases, newest first."""
        return self._host.releases()

    def probe(self) -> str:
        """Say what is there."""
        return self._host.probe()


class ScrubbedReader:
    """A `CodeReader` that masks what it shows; secret files are named, and never shown."""

    def __init__(self, reader: CodeReader, scrubber: Scrubber) -> None:
        """Show what `reader` reads."""
        self._reader, self._scrubber = reader, scrubber

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._reader.commit

    def paths(self) -> tuple[str, ...]:
        """Return every file of the tree, sorted."""
        return self._reader.paths()

    def list_directory(self, path: str = "") -> tuple[FolderEntry, ...]:
        """Return the names in a folder."""
        return self._reader.list_directory(path)

    def read_file(self, path: str) -> str | None:
        """Return the masked text at `path`; None where there is none, or it is a secret file."""
        text = None if is_secret_file(path) else self._reader.read_file(path)
        return None if text is None else self._scrubber.scrub(text)

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[SearchHit, ...]:
        """Return masked lines that hold `query`, which may hold masks itself."""
        if is_secret_file(path):
            return ()
        wanted = self._scrubber.masks.unmask(query) if holds_mask(query) else query
        hits = self._reader.search(wanted, path, limit)
        return tuple(self._hit(hit) for hit in hits if not is_secret_file(hit.path))

    def blame(self, path: str, start: int, end: int | None = None) -> tuple[Blame, ...]:
        """Return who last wrote the lines, line by line."""
        if is_secret_file(path):
            return ()
        rows = self._reader.blame(path, start, end)
        return tuple(
            self._blamed(path, row) for row in rows if not is_secret_file(row.path or path)
        )

    def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed; of secret files that they changed alone."""
        shown = self._reader.show_commit(sha, path)
        if shown is None:
            return None
        files = self._changes(shown.files)
        return scrubbed(shown.model_copy(update={"files": files}), self._scrubber.scrub)

    def history(self, path: str = "", text: str = "", limit: int = 20) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first; what secret files held is not searched."""
        if text and is_secret_file(path):
            return ()
        wanted = self._scrubber.masks.unmask(text) if holds_mask(text) else text
        rows = self._reader.history(path, wanted, limit)
        return tuple(scrubbed(row, self._scrubber.scrub) for row in rows)

    def compare(self, old_sha: str, new_sha: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs between two commits, below `path`."""
        return self._changes(self._reader.compare(old_sha, new_sha, path))

    def paths_changed(self, old_sha: str, new_sha: str) -> tuple[str, ...]:
        """Return paths of files that differ between two commits."""
        return self._reader.paths_changed(old_sha, new_sha)

    def _changes(self, files: Iterable[ChangedFile]) -> tuple[ChangedFile, ...]:
        return tuple(
            one.model_copy(update={"diff": f"[{refusal(one.path)}]" if one.diff else ""})
            if is_secret_file(one.path) or is_secret_file(one.old_path)
            else one.model_copy(update={"diff": self._scrubber.scrub(one.diff)})
            for one in files
        )

    def _hit(self, hit: SearchHit) -> SearchHit:
        text = self._line(hit.path, hit.line, hit.text)
        return hit if text == hit.text else hit.model_copy(update={"text": text})

    def _blamed(self, path: str, row: Blame) -> Blame:
        text = self._line(path, row.line, row.text)
        return scrubbed(row.model_copy(update={"text": text}), self._scrubber.scrub)

    def _line(self, path: str, number: int, text: str) -> str:
        """A line as the masked file has it, where it does not tell by itself what it is."""
        if _TELLING_NOTHING.fullmatch(text):
            lines = (self.read_file(path) or "").split("\n")
            return lines[number - 1] if 0 < number <= len(lines) else ""
        return self._scrubber.scrub(text)


class _CountingReader(ScrubbedReader):
    """The same of a reader that counts what it reads, and may keep files."""

    @property
    def code_reads(self) -> CodeReads:
        """What was read since this reader was made."""
        assert isinstance(self._reader, CountsReads)
        return self._reader.code_reads

    def read_files(self, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the masked texts at all `paths`."""
        if not isinstance(self._reader, KeepsFiles):
            return {path: self.read_file(path) for path in paths}
        wanted = tuple(paths)
        texts = self._reader.read_files(tuple(p for p in wanted if not is_secret_file(p)))
        scrub = self._scrubber.scrub
        return {path: None if (text := texts.get(path)) is None else scrub(text) for path in wanted}

    def remember_files(self, texts: Mapping[str, str | None]) -> None:
        """Take texts of this commit that were read and kept before."""
        if isinstance(self._reader, KeepsFiles):
            shown = {path: text for path, text in texts.items() if not is_secret_file(path)}
            self._reader.remember_files(shown)
