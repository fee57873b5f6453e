"""The history of one case's files, read up to the commit the case is read at.

Nothing here fails: where a reader cannot tell, there is less to say, and the analyst can still ask.
"""

from collections.abc import Callable
from datetime import timedelta
from functools import cached_property
from typing import TypeVar

from nightwatch_core.analysis import limits
from nightwatch_core.code.diff_reading import is_manifest
from nightwatch_core.code.limits import NEAR_DAYS
from nightwatch_core.code.onset import FirstFailing, first_failing, onset
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Blame, ChangedFile, CommitDiff, LoggedCommit, Release
from nightwatch_core.models.error import Case
from nightwatch_core.ports import CodeReader

T = TypeVar("T")
_NEAR = timedelta(days=NEAR_DAYS)


class Past:
    """What was changed before a case began; everything is read once, and bounded."""

    def __init__(self, case: Case, code: CodeReader, releases: tuple[Release, ...]) -> None:
        """Ask nothing yet."""
        self.case, self.code, self.releases = case, code, releases
        self.onset = onset(case)
        frames = case.trace.in_app if case.trace else ()
        places = [(f.repo_path, f.line) for f in frames if f.repo_path and f.line]
        self.places = tuple(dict.fromkeys(places))[: limits.BLAMED_FRAMES]
        self.unfit = frozenset((f.repo_path, f.line) for f in frames if f.fit == "differs")
        self.unblamed: set[str] = set()
        self.files = tuple(dict.fromkeys(path for path, _ in self.places))

    @cached_property
    def recent(self) -> tuple[LoggedCommit, ...]:
        """The last commits before the onset, newest first."""
        near = (one for one in self.history("") if self.is_near(one))
        return tuple(near)[: limits.RECENT]

    @cached_property
    def recent_diffs(self) -> tuple[CommitDiff, ...]:
        """What they changed."""
        return tuple(shown for one in self.recent if (shown := self._shown(one.sha)))

    @cached_property
    def released(self) -> FirstFailing | None:
        """The release that brought it, where the commits of it and the one before are known."""
        failing = first_failing(self.case, self.onset, self.releases)
        if failing is None or self.onset is None:
            return None
        is_whole = failing.before.sha and failing.release.sha not in ("", failing.before.sha)
        return failing if is_whole and self.onset.at - failing.release.at <= _NEAR else None

    @cached_property
    def released_paths(self) -> tuple[str, ...]:
        """Everything that differs between the two releases."""
        one, none = self.released, tuple[str, ...]()
        if one is None:
            return none
        return self._known(lambda: self.code.paths_changed(one.before.sha, one.release.sha), none)

    @cached_property
    def released_files(self) -> tuple[ChangedFile, ...]:
        """What differs of the case's own files, and of manifests."""
        own = [path for path in self.files if path in self.released_paths]
        manifests = [path for path in self.released_paths if is_manifest(path)]
        paths = (*own[: limits.HISTORIES], *manifests[: limits.MANIFESTS])
        one = self.released
        return tuple(file for path in paths if one for file in self.compared(one, path))

    def compared(self, one: FirstFailing, path: str = "") -> tuple[ChangedFile, ...]:
        """What differs between the two releases below a path."""
        none = tuple[ChangedFile, ...]()
        return self._known(lambda: self.code.compare(one.before.sha, one.release.sha, path), none)

    def is_near(self, commit: LoggedCommit) -> bool:
        """Whether it was committed shortly before the onset."""
        return self.onset is not None and timedelta() <= self.onset.at - commit.at <= _NEAR

    def blame(self, path: str, start: int, end: int) -> tuple[Blame, ...]:
        """Who wrote the lines; a file of which that is not known is not asked about again."""
        if path in self.unblamed:
            return ()
        blames = self._known(lambda: self.code.blame(path, start, end), tuple[Blame, ...]())
        self.unblamed |= set() if blames else {path}
        return blames

    def history(self, path: str) -> tuple[LoggedCommit, ...]:
        """The last commits of a file, newest first; of all files where there is no path."""
        none = tuple[LoggedCommit, ...]()
        return self._known(lambda: self.code.history(path, "", limits.RECENT_READ), none)

    def read(self, path: str) -> str:
        """Text of a file; empty where that cannot be read."""
        none: str | None = None
        return self._known(lambda: self.code.read_file(path), none) or ""

    def _shown(self, sha: str) -> CommitDiff | None:
        none: CommitDiff | None = None
        return self._known(lambda: self.code.show_commit(sha), none)

    def _known(self, ask: Callable[[], T], otherwise: T) -> T:
        try:
            return ask()
        except (GiveUp, TryLater):
            return otherwise
