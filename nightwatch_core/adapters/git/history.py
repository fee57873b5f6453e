"""What was committed up to one commit: what each commit changed, and which changed what.

Nothing later is told, and nothing on other branches: who reads a commit of yesterday must not see
what was fixed today.
"""

import re
import secrets
from collections.abc import Callable, Sequence
from functools import cached_property

from nightwatch_core.adapters.git.command import Git, is_sha, read_time
from nightwatch_core.adapters.git.diffs import (
    ChangedNode,
    hunks,
    read_counts,
    read_raw,
    with_sources,
)
from nightwatch_core.adapters.git.limits import (
    COMMIT_BYTES,
    FORMER_NAMES,
    LOGGED_COMMITS,
    NAME_CHARACTERS,
    PATH_CHARACTERS,
    QUERY_CHARACTERS,
    QUICK_SECONDS,
    SHOWN_FILES,
    TITLE_CHARACTERS,
)
from nightwatch_core.adapters.git.merged_pulls import pull_numbers
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import ChangedFile, CommitDiff, LoggedCommit

Obtain = Callable[[Sequence[str]], bool]  # blobs by name; False where they cannot be had

_SHORTENED = re.compile(r"[0-9a-f]{7,64}")
_FIELDS = ("%H", "%an", "%ct", "%s", "%b")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_ALL = ("--no-merges", "--full-history")  # also what a merge did not take over
_CHANGES = ("diff-tree", "-r", "--root", "--no-commit-id", "--diff-merges=first-parent", *_PLAIN)


class History:
    """The commits that `sha` holds; safe for many threads.

    `obtain` fetches blobs where the repository lacks some, None where it has all of them.
    """

    def __init__(self, git: Git, sha: str, obtain: Obtain | None = None) -> None:
        """Ask nothing yet; `sha` is a full one."""
        self._git = git
        self._sha = sha
        self._obtain = obtain
        self._listed: set[str] = set()  # commits that a log told: they are part of the history

    @cached_property
    def pulls(self) -> dict[str, int]:
        """Numbers of pull requests by the commits they brought, and by what merged them."""
        return pull_numbers(self._git, self._sha)

    def resolve(self, name: str) -> str:
        """Return the full sha of the commit that is meant, "1a2b3c4" or "#12"; empty where none."""
        name = name.strip().lower()
        if number := re.fullmatch(r"#(\d{1,9})", name):
            # Of a pull request the newest stands first: its merge, or the commit it was made to.
            return next((sha for sha, pull in self.pulls.items() if pull == int(number[1])), "")
        if name in self._listed or not _SHORTENED.fullmatch(name):
            return name if name in self._listed else ""
        names = self._git.attempt("rev-parse", f"--disambiguate={name}").output.decode().split()
        commits = [one for one in names if is_sha(one) and self._holds(one)]
        return commits[0] if len(commits) == 1 else ""

    def show(self, name: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed, of at most 50 files; None where it is not known."""
        sha = self.resolve(name)
        if not sha or not _is_path(path):
            return None
        changed = self._changed(sha)
        logged, message = self._message(sha)
        files = self._files((sha,), changed, path)
        return CommitDiff(commit=logged, message=message, files=files, changed=len(changed))

    def compare(self, old: str, new: str, path: str = "") -> tuple[ChangedFile, ...]:
        """Return what differs, of at most 50 files; raises `GiveUp` where a commit is not known."""
        if not _is_path(path):
            return ()
        commits = self._both(old, new)
        return self._files(commits, self._changed(*commits), path)

    def log(
        self, path: str = "", text: str = "", limit: int = 20, *, follow: bool = False
    ) -> tuple[LoggedCommit, ...]:
        """Return commits, newest first, without merges; `text` is what they added or removed.

        `follow` a file through renames, as far back as its old texts are there. Raises `GiveUp`
        where the texts of too many files would have to be fetched or looked at.
        """
        if not _is_path(path) or len(text) > QUERY_CHARACTERS or not _is_printed(text):
            return ()
        below = (f":(literal){path}",) if path else ()
        if text and self._obtain and not self._obtain(self._missing(below)):
            raise GiveUp("too many old files would have to be fetched: name one file")
        most = f"--max-count={max(1, min(limit, LOGGED_COMMITS))}"
        asked = (*_ALL, most, *((f"-S{text}",) if text else ()), self._sha, "--", *below)
        followed = self._logged("--follow", *asked) if follow and path else None
        return self._logged(*asked) or () if followed is None else followed

    def paths_changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return paths that differ, sorted; raises `GiveUp` where a commit is not known."""
        asked = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", *self._both(old, new))
        names = self._git.run(*asked).decode(errors="replace").split("\0")
        return tuple(sorted(name for name in names if name))

    def obtain_past(self, path: str) -> bool:
        """Fetch what tells who wrote the file's lines, through renames; False where it is too much.

        Without what stood beside it, lines that came from elsewhere are not seen as such.
        """
        if self._obtain is None:
            return True
        names = [path]
        for name in names:
            below = (f":(literal){name}",)
            if not self._obtain(self._missing(below)):
                return len(names) > 1
            self._obtain(self._missing_beside(below))
            if len(names) < FORMER_NAMES:
                names += [one for one in self._former_names(path) if one not in names][:1]
        return True

    def _former_names(self, path: str) -> list[str]:
        """Return earlier names of a file, newest first, as far back as its texts are there."""
        asked = ("log", "--follow", "--diff-filter=R", "--format=", "--name-status", "-z", "-M")
        outcome = self._git.attempt(*asked, *_PLAIN, self._sha, "--", f":(literal){path}")
        fields = outcome.output.decode(errors="replace").split("\0")
        pairs = zip(fields, fields[1:], strict=False)
        return [old for status, old in pairs if re.fullmatch(r"\n?R\d+", status)]

    def _missing_beside(self, below: Sequence[str]) -> list[str]:
        """Return what commits of a file replaced elsewhere: blobs it may have come from."""
        asked = ("log", "--format=", "--raw", "-z", "--no-abbrev", "--no-renames", "--full-diff")
        output = self._git.run(*asked, *_PLAIN, self._sha, "--", *below)
        before = sorted({one.before for one in read_raw(output) if one.before.strip("0")})
        names = "".join(f"{oid}\n" for oid in before).encode()
        listed = self._git.run("cat-file", "--batch-check=%(objectname)", stdin=names).decode()
        return [row.split()[0] for row in listed.splitlines() if row.endswith(" missing")]

    def _holds(self, sha: str) -> bool:
        # What is no commit, or not there, is no ancestor either.
        return not self._git.attempt("merge-base", "--is-ancestor", sha, self._sha).code

    def _both(self, old: str, new: str) -> tuple[str, str]:
        commits = self.resolve(old), self.resolve(new)
        if not all(commits):
            raise GiveUp("only commits of this history can be compared")
        return commits

    def _changed(self, *commits: str) -> tuple[ChangedNode, ...]:
        asked = (*_CHANGES, "--raw", "-z", "--no-abbrev", "--no-renames", *commits)
        return tuple(read_raw(self._git.run(*asked)))

    def _files(
        self, commits: Sequence[str], changed: tuple[ChangedNode, ...], path: str
    ) -> tuple[ChangedFile, ...]:
        """The changes of one commit, or between two, below `path`."""
        below = tuple(one for one in changed if _is_below(one.path, path))
        chosen = with_sources(below[:SHOWN_FILES], changed)
        blobs = [oid for one in chosen for oid in one.blobs]
        if not chosen or (self._obtain and not self._obtain(blobs)):
            return ()
        place = (*commits, "--", *(f":(literal){one.path}" for one in chosen))
        names = self._git.run(*_CHANGES, "--numstat", "-z", "-M", *place)
        patch = self._git.attempt(
            *(*_CHANGES, "--patch", "--unified=3", "-M", *place),
            timeout=QUICK_SECONDS,
            limit=COMMIT_BYTES,
        )
        texts = re.split(r"^diff --git ", patch.output.decode(errors="replace"), flags=re.M)[1:]
        whole = len(texts) - patch.cut  # the last one was cut somewhere
        return tuple(
            file.model_copy(update={"diff": hunks(texts[index])}) if index < whole else file
            for index, file in enumerate(read_counts(names.decode(errors="replace")))
            if _is_below(file.path, path)
        )

    def _message(self, sha: str) -> tuple[LoggedCommit, str]:
        mark = secrets.token_hex(16)
        fields = "%x00".join((mark, *_FIELDS))
        output = self._git.run("log", "--no-patch", "--max-count=1", f"--format={fields}", sha)
        record = output.decode(errors="replace").partition(f"{mark}\0")[2]
        return self._read(record), record.split("\0")[-1].strip()

    def _logged(self, *asked: str) -> tuple[LoggedCommit, ...] | None:
        mark = secrets.token_hex(16)  # no message can hold it
        shown = ("--no-patch", "--no-color", "--format=" + "%x00".join((mark, *_FIELDS[:-1])))
        try:
            outcome = self._git.attempt("log", *shown, *asked, timeout=QUICK_SECONDS)
        except TryLater as error:
            raise GiveUp(f"that took over {QUICK_SECONDS:.0f} s: name a file") from error
        records = outcome.output.decode(errors="replace").split(f"{mark}\0")[1:]
        if outcome.code:
            return None
        commits = tuple(self._read(record) for record in records)
        self._listed.update(one.sha for one in commits)
        return commits

    def _read(self, record: str) -> LoggedCommit:
        sha, author, at, subject = record.rstrip("\n").split("\0")[:4]
        return LoggedCommit(
            sha=sha,
            author=author[:NAME_CHARACTERS],
            at=read_time(at),
            subject=subject[:TITLE_CHARACTERS],
            pull=self.pulls.get(sha, 0),
        )

    def _missing(self, below: Sequence[str]) -> list[str]:
        asked = ("rev-list", "--objects", "--missing=print", self._sha, "--", *below)
        printed = self._git.run(*asked).decode(errors="replace").splitlines()
        return [word[1:] for word in printed if word.startswith("?") and is_sha(word[1:])]


def _is_printed(text: str) -> bool:
    return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


def _is_path(path: str) -> bool:
    parts = path.split("/")
    is_inside = not path.startswith("/") and ".." not in parts
    return is_inside and len(path) <= PATH_CHARACTERS and _is_printed(path)


def _is_below(path: str, folder: str) -> bool:
    folder = folder.removeprefix("./").removesuffix("/")
    return not folder or path == folder or path.startswith(f"{folder}/")
