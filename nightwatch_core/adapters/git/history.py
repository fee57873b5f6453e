"""History up to one commit; nothing later is shown, and nothing of other branches."""

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache, cached_property
from itertools import islice
from typing import NamedTuple

from nightwatch_core.adapters.git import command
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import (
    Blame,
    ChangedFile,
    CommitDiff,
    LoggedCommit,
    MergedPull,
    PullSign,
)

COMMITS_READ = 5_000  # of a history, newest first
PULL_FILES = 3_000  # GitHub's own limit
PULL_COMMITS = 250  # likewise
PULL_AUTHORS = 3
IGNORED_REVISIONS = 1_000  # that only reformat
COMMIT_BYTES = 1024 * 1024  # of a commit's changes
FORMER_NAMES = 5  # of one file, itself included, whose past is fetched

# Merged pull requests on the first-parent line of a branch.

_FIELDS = ("%H", "%P", "%ct", "%an", "%s", "%b")


class MainlineCommit(NamedTuple):
    """A commit on the branch's first-parent line, with its message."""

    sha: str
    is_merge: bool
    at: str
    author: str
    subject: str
    body: str
    files: tuple[str, ...] = ()


class MergedCommits(NamedTuple):
    """The commits that a merge took along, newest first, and who wrote them."""

    commits: tuple[str, ...] = ()
    authors: str = ""


_GITHUB = re.compile(r"Merge pull request #(\d{1,9})\b")  # its title is in the body
_BITBUCKET = re.compile(r"Merged in .{0,300}? \(pull request #(\d{1,9})\)$")  # likewise
_GITLAB = re.compile(r"^See merge request \S{0,300}!(\d{1,9})\s*$", re.MULTILINE)
_SQUASHED = re.compile(r"^(.{1,1000}) \(#(\d{1,9})\)$")


def pull_of(commit: MainlineCommit) -> tuple[int, str] | None:
    """Return number and title of a commit's pull request; 0 for a merge without a number."""
    subject = commit.subject
    first = next((line.strip() for line in commit.body.splitlines() if line.strip()), "")
    if commit.is_merge and (match := _GITHUB.match(subject)):
        return int(match[1]), first or subject
    if match := _GITLAB.search(commit.body):
        is_titled = commit.is_merge and not first.startswith("See merge request ")
        return int(match[1]), first if is_titled else subject
    if match := _BITBUCKET.match(subject):
        return int(match[1]), first or subject
    if match := _SQUASHED.search(subject):
        return int(match[2]), match[1]
    return (0, subject) if commit.is_merge else None


def _sign(commit: MainlineCommit) -> PullSign:
    """Return what stands before the number of a commit's pull request."""
    is_github = commit.is_merge and _GITHUB.match(commit.subject)
    return "!" if not is_github and _GITLAB.search(commit.body) else "#"


def number_in(subject: str) -> int:
    """Return the pull request that a commit's first line names; 0 where it names none."""
    named = pull_of(MainlineCommit("", True, "", "", subject, ""))
    return named[0] if named else 0


def merged_pulls(git: command.Git, sha: str, since: datetime) -> tuple[MergedPull, ...]:
    """Return the newest 200 pull requests on the first-parent line of `sha`, since a moment.

    The author of a merge is whoever wrote its commits: at most three names.
    """
    start = max(0, int(since.timestamp()))
    asked = ("-m", "--name-only", "--no-renames", "-z", "--no-ext-diff", "--no-textconv")
    return tuple(islice(_pulls(git, sha, *asked, f"--max-age={start}")[0], command.PULLS))


class PullNumber(NamedTuple):
    """A pull request's number, and what stands before it; 0 where none is known."""

    number: int = 0
    sign: PullSign = "#"


def pull_numbers(git: command.Git, sha: str) -> dict[str, PullNumber]:
    """Return pull requests' numbers by the commits they brought, newest first."""
    pulls, merged = _pulls(git, sha, "--no-patch")
    numbers = {pull.sha: PullNumber(pull.number, pull.sign) for pull in pulls if pull.number}
    for own, number in tuple(numbers.items()):
        for commit in merged[own].commits if own in merged else ():
            numbers.setdefault(commit, number)
    return numbers


def _pulls(
    git: command.Git, sha: str, *asked: str
) -> tuple[Iterator[MergedPull], dict[str, MergedCommits]]:
    mark = secrets.token_hex(16)  # no message and no file name can hold it
    shown = f"--format={'%x00'.join((mark, *_FIELDS, ''))}"
    line = ("log", "--first-parent", "--no-color", f"--max-count={COMMITS_READ}", shown, *asked)
    outcome = git.attempt(*line, "--end-of-options", sha, "--")
    merged = _merged_commits(git, sha)
    pulls = (_pull(commit, merged) for commit in _read_log(outcome.output, mark))
    return filter(None, pulls), merged


def _merged_commits(git: command.Git, sha: str) -> dict[str, MergedCommits]:
    listing = git.run(
        *("log", "--no-patch", "--no-color", f"--max-count={COMMITS_READ}"),
        *("--format=%H%x00%P%x00%an", "--end-of-options", sha, "--"),
    )
    rows = [row.split("\0", 2) for row in listing.decode(errors="replace").split("\n")]
    commits = {own: (above.split(), name) for own, above, name in (r for r in rows if len(r) == 3)}
    parents = {own: above for own, (above, _) in commits.items()}
    mainline = [sha]
    while (above := parents.get(mainline[-1])) and above[0] in parents:
        mainline.append(above[0])
    seen, merged = set(mainline), {}
    for merge in reversed(mainline):
        waiting, own = list(parents.get(merge, [])[1:]), []
        while waiting:
            commit = waiting.pop()
            if commit in parents and commit not in seen:
                seen.add(commit)
                own.append(commit)
                waiting += parents[commit]
        written = [commit for commit in own if len(parents[commit]) < 2] or own
        names = (commits[item][1].strip() for item in reversed(written))
        authors = (name[: command.NAME_CHARACTERS] for name in names)
        named = [name for name in dict.fromkeys(authors) if name][:PULL_AUTHORS]
        merged[merge] = MergedCommits(tuple(own), ", ".join(named))
    return merged


def _pull(commit: MainlineCommit, merged: Mapping[str, MergedCommits]) -> MergedPull | None:
    named = pull_of(commit)
    if named is None:
        return None
    commits, authors = merged.get(commit.sha, MergedCommits())
    return MergedPull(
        number=named[0],
        sign=_sign(commit),
        title=named[1][: command.TITLE_CHARACTERS],
        sha=commit.sha,
        author=authors or commit.author,  # who merged did not write it
        merged_at=command.read_time(commit.at),
        files=commit.files[:PULL_FILES],
        commits=commits[:PULL_COMMITS],
    )


def _read_log(output: bytes, mark: str) -> Iterator[MainlineCommit]:
    for record in output.decode(errors="replace").split(f"{mark}\0")[1:]:
        *fields, files = record.split("\0", len(_FIELDS))
        if len(fields) < len(_FIELDS):
            return  # the output was cut here
        sha, parents, at, author, subject, body = fields
        kept = tuple(filter(None, (name.removeprefix("\n") for name in files.split("\0"))))
        yield MainlineCommit(sha, " " in parents, at, author, subject, body, kept)


# Parsers of git's differences.

_REST = "[the rest of this change is not shown]"


class ChangedNode(NamedTuple):
    """One entry of a raw diff: what stood at `path` before and after."""

    before: str
    after: str
    status: str  # A, D, M or T
    path: str

    @property
    def blobs(self) -> tuple[str, ...]:
        """Return the blobs that exist."""
        return tuple(oid for oid in (self.before, self.after) if oid.strip("0"))


def with_sources(
    chosen: tuple[ChangedNode, ...], changed: tuple[ChangedNode, ...]
) -> tuple[ChangedNode, ...]:
    """Add what was deleted by the same commit: a new file may be one of these, renamed."""
    if not any(node.status == "A" for node in chosen):
        return chosen
    gone = (node for node in changed if node.status == "D" and node not in chosen)
    return (*chosen, *gone)[: command.SHOWN_FILES]


def read_raw(output: bytes) -> Iterator[ChangedNode]:
    """Take apart `:mode mode oid oid status NUL path NUL`; only files have texts."""
    fields = iter(output.decode(errors="replace").split("\0"))
    for about in (field.lstrip("\n") for field in fields):
        if about.startswith(":") and (path := next(fields, "")):  # paths may begin so, too
            was, mode, before, after, status = about.removeprefix(":").split()
            old = before if was.startswith("100") else ""
            yield ChangedNode(old, after if mode.startswith("100") else "", status[:1], path)


def read_counts(output: str) -> Iterator[ChangedFile]:
    """Take apart `added TAB removed TAB path NUL`; of a rename the two paths follow."""
    fields = iter(output.split("\0"))
    for field in fields:
        if not field:
            continue
        added, removed, path = field.split("\t", 2)
        old = "" if path else next(fields, "")
        counts = [int(count) if count.isdigit() else 0 for count in (added, removed)]
        name = path or next(fields, "")
        yield ChangedFile(path=name, old_path=old, added=counts[0], removed=counts[1])


def hunks(patch: str) -> str:
    """Return a file's changes from the first hunk on, at most 40,000 characters."""
    start = re.search(r"^@@ ", patch, flags=re.M)
    if not start:
        return ""
    lines: list[str] = []
    room = command.DIFF_CHARACTERS
    for line in patch[start.start() :].rstrip("\n").split("\n"):
        line = line.rstrip("\r")[: command.LINE_CHARACTERS]
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines, _REST))
        lines.append(line)
    return "\n".join(lines)


Obtain = Callable[[Sequence[str]], bool]  # blobs by name; False where they cannot be had

_SHORTENED = re.compile(r"[0-9a-f]{7,64}")
_COMMIT_FIELDS = ("%H", "%an", "%ct", "%s", "%b")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color")
_ALL = ("--no-merges", "--full-history")  # also what a merge did not take over
_CHANGES = ("diff-tree", "-r", "--root", "--no-commit-id", "--diff-merges=first-parent", *_PLAIN)


class History:
    """The commits that `sha` holds; safe for many threads."""

    def __init__(self, git: command.Git, sha: str, obtain: Obtain | None = None) -> None:
        """Ask nothing yet; `obtain` fetches blobs where the repository lacks some."""
        self._git = git
        self._sha = sha
        self._obtain = obtain
        self._listed: set[str] = set()  # commits that a log told: they are part of the history

    @cached_property
    def pulls(self) -> dict[str, PullNumber]:
        """Return pull request numbers by the commits they brought and by their merge commits."""
        return pull_numbers(self._git, self._sha)

    def resolve(self, name: str) -> str:
        """Return the full sha of the commit that is meant, "1a2b3c4" or "#12"; empty where none."""
        name = name.strip().lower()
        if match := re.fullmatch(r"[#!](\d{1,9})", name):
            # Of a pull request the newest stands first: its merge, or the commit it was made to.
            number = int(match[1])
            return next((sha for sha, pull in self.pulls.items() if pull.number == number), "")
        if name in self._listed or not _SHORTENED.fullmatch(name):
            return name if name in self._listed else ""
        names = self._git.attempt("rev-parse", f"--disambiguate={name}").output.decode().split()
        commits = [
            name
            for name in names
            if command.is_sha(name)
            and not self._git.attempt("merge-base", "--is-ancestor", name, self._sha).code
        ]
        return commits[0] if len(commits) == 1 else ""

    def show(self, name: str, path: str = "") -> CommitDiff | None:
        """Return what a commit changed, of at most 50 files; None where it is not known."""
        sha = self.resolve(name)
        if not sha or not _is_path(path):
            return None
        changed = self._changed(sha)
        mark = secrets.token_hex(16)
        fields = "%x00".join((mark, *_COMMIT_FIELDS))
        output = self._git.run("log", "--no-patch", "--max-count=1", f"--format={fields}", sha)
        record = output.decode(errors="replace").partition(f"{mark}\0")[2]
        logged, message = self._read(record), record.split("\0")[-1].strip()
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

        `follow` a file through renames. Raises `GiveUp` where too many files would be looked at.
        """
        if not _is_path(path) or len(text) > command.QUERY_CHARACTERS or not _is_printed(text):
            return ()
        below = (f":(literal){path}",) if path else ()
        if text and self._obtain and not self._obtain(self._missing(below)):
            raise GiveUp("too many old files would have to be fetched: name one file")
        most = f"--max-count={max(1, min(limit, command.LOGGED_COMMITS))}"
        asked = (*_ALL, most, *((f"-S{text}",) if text else ()), self._sha, "--", *below)
        followed = self._logged("--follow", *asked) if follow and path else None
        return self._logged(*asked) or () if followed is None else followed

    def paths_changed(self, old: str, new: str) -> tuple[str, ...]:
        """Return paths that differ, sorted; raises `GiveUp` where a commit is not known."""
        asked = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", *self._both(old, new))
        names = self._git.run(*asked).decode(errors="replace").split("\0")
        return tuple(sorted(name for name in names if name))

    def obtain_past(self, path: str) -> bool:
        """Fetch the file's past, through renames; False where that is too much."""
        if self._obtain is None:
            return True
        names = [path]
        for name in names:
            if not self._obtain(self._missing((f":(literal){name}",))):
                return len(names) > 1
            if len(names) < FORMER_NAMES:
                names += [name for name in self._former_names(path) if name not in names][:1]
        return True

    def _former_names(self, path: str) -> list[str]:
        asked = ("log", "--follow", "--diff-filter=R", "--format=", "--name-status", "-z", "-M")
        outcome = self._git.attempt(*asked, *_PLAIN, self._sha, "--", f":(literal){path}")
        fields = outcome.output.decode(errors="replace").split("\0")
        pairs = zip(fields, fields[1:], strict=False)
        return [old for status, old in pairs if re.fullmatch(r"\n?R\d+", status)]

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
        below = tuple(node for node in changed if _is_below(node.path, path))
        chosen = with_sources(below[: command.SHOWN_FILES], changed)
        blobs = [oid for offer in chosen for oid in offer.blobs]
        if not chosen or (self._obtain and not self._obtain(blobs)):
            return ()
        place = (*commits, "--", *(f":(literal){offer.path}" for offer in chosen))
        names = self._git.run(*_CHANGES, "--numstat", "-z", "-M", *place)
        patch = self._git.attempt(
            *(*_CHANGES, "--patch", "--unified=3", "-M", *place),
            timeout=command.QUICK_SECONDS,
            limit=COMMIT_BYTES,
        )
        texts = re.split(r"^diff --git ", patch.output.decode(errors="replace"), flags=re.M)[1:]
        whole = len(texts) - patch.cut  # the last one was cut somewhere
        return tuple(
            file.model_copy(update={"diff": hunks(texts[index])}) if index < whole else file
            for index, file in enumerate(read_counts(names.decode(errors="replace")))
            if _is_below(file.path, path)
        )

    def _logged(self, *asked: str) -> tuple[LoggedCommit, ...] | None:
        mark = secrets.token_hex(16)  # no message can hold it
        shown = (
            "--no-patch",
            "--no-color",
            "--format=" + "%x00".join((mark, *_COMMIT_FIELDS[:-1])),
        )
        try:
            outcome = self._git.attempt("log", *shown, *asked, timeout=command.QUICK_SECONDS)
        except TryLater as error:
            raise GiveUp(f"that took over {command.QUICK_SECONDS:.0f} s: name a file") from error
        records = outcome.output.decode(errors="replace").split(f"{mark}\0")[1:]
        if outcome.code:
            return None
        commits = tuple(self._read(record) for record in records)
        self._listed.update(commit.sha for commit in commits)
        return commits

    def _read(self, record: str) -> LoggedCommit:
        sha, author, at, subject = record.rstrip("\n").split("\0")[:4]
        pull = self.pulls.get(sha, PullNumber())
        return LoggedCommit(
            sha=sha,
            author=author[: command.NAME_CHARACTERS],
            at=command.read_time(at),
            subject=subject[: command.TITLE_CHARACTERS],
            pull=pull.number,
            sign=pull.sign,
        )

    def _missing(self, below: Sequence[str]) -> list[str]:
        asked = ("rev-list", "--objects", "--missing=print", self._sha, "--", *below)
        printed = self._git.run(*asked).decode(errors="replace").splitlines()
        return [word[1:] for word in printed if word.startswith("?") and command.is_sha(word[1:])]


def _is_printed(text: str) -> bool:
    return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


def _is_path(path: str) -> bool:
    parts = path.split("/")
    is_inside = not path.startswith("/") and ".." not in parts
    return is_inside and len(path) <= command.PATH_CHARACTERS and _is_printed(path)


def _is_below(path: str, folder: str) -> bool:
    folder = folder.removeprefix("./").removesuffix("/")
    return not folder or path == folder or path.startswith(f"{folder}/")


# Blame.

IGNORED_FILE = ".git-blame-ignore-revs"

Blamed = tuple[Blame, int]  # its number in the commit where that made the file as well, else 0

# the next options are tried where old files are missing, or it took too long
LOOKING = (("-w", "-M", "-C"), ("-w", "-M"), ("-w", "--no-follow"))
_COPIES = (
    *("diff-tree", "-r", "-z", "-C80%", "-l100"),
    *("--diff-filter=C", "--name-status", "--no-commit-id"),
)
_INDENTED = (".py", ".pyi", ".pyx", ".coffee", ".haml", ".slim", ".pug", ".sass", ".yml", ".yaml")


def blamed(
    git: command.Git, sha: str, path: str, lines: tuple[int, int], ignored: str = ""
) -> tuple[Blame, ...]:
    """Return who wrote the lines of a file in commit `sha`; empty where git cannot tell.

    Then, where indentation has a meaning, who only indented them. `ignored` is the text of a file
    that lists revisions to look through.
    """
    revisions = "".join(f"{revision}\n" for revision in ignored_revisions(ignored)).encode()
    here = ("-L", f"{lines[0]},{lines[1]}", sha, "--", path)

    def look(options: Sequence[str], place: Sequence[str] = here) -> tuple[Blamed, ...] | None:
        asked = ("blame", "--line-porcelain", "--ignore-revs-file=/dev/stdin", *options, *place)
        with suppress(TryLater):
            outcome = git.attempt(*asked, stdin=revisions, timeout=command.QUICK_SECONDS)
            if not outcome.code:
                return tuple(_rows(outcome.output.decode(errors="replace"), path))
        return None

    @cache
    def source_of(made: str, file: str) -> tuple[Blamed, ...]:
        """Blame the file that was copied to make another one: git follows only what is gone."""
        with suppress(TryLater):
            output = git.attempt(*_COPIES, made, timeout=command.QUICK_SECONDS).output
            _, *fields = output.decode(errors="replace").split("\0")
            if old := dict(zip(fields[1::3], fields[::3], strict=False)).get(file):
                return look(LOOKING[0], (f"{made}^", "--", old)) or ()
        return ()

    def before_copy(row: Blame, born: int) -> Blame:
        source = source_of(row.sha, row.path or path) if born else ()
        same = (item for item, _ in source if item.text.strip() == row.text.strip())
        found = min(same, key=lambda item: abs(item.line - born), default=None)
        return found.model_copy(update={"line": row.line, "text": row.text}) if found else row

    blamed_now = next((seen for options in LOOKING if (seen := look(options)) is not None), ())
    rows = tuple(before_copy(*item) for item in blamed_now)
    wrote = {row.line: row for row in rows}
    counted = look(("-M",)) if path.endswith(_INDENTED) and rows else None
    return rows + tuple(
        row.model_copy(update={"only_indented": True})
        for row, _ in counted or ()
        if row.at > wrote[row.line].at and row.path == wrote[row.line].path
    )


def ignored_revisions(text: str) -> tuple[str, ...]:
    """Return the full shas of a list of revisions, without its comments, at most 1,000."""
    words = (line.partition("#")[0].strip().lower() for line in text.splitlines())
    return tuple(dict.fromkeys(word for word in words if command.is_sha(word)))[:IGNORED_REVISIONS]


def _rows(porcelain: str, path: str) -> Iterator[Blamed]:
    fields: dict[str, str] = {}
    for row in porcelain.split("\n"):
        if not row.startswith("\t"):
            key, _, value = row.partition(" ")
            fields.setdefault("head" if not fields else key, row if not fields else value)
        elif fields:
            born = 0 if "previous" in fields else int(fields["head"].split(" ")[1])
            yield _row(fields, row[1:], path), born
            fields = {}


def _row(fields: Mapping[str, str], text: str, path: str) -> Blame:
    sha, _, line, *_ = fields["head"].split(" ")
    former = fields.get("filename", path)
    return Blame(
        sha=sha,
        author=fields.get("author", "")[: command.NAME_CHARACTERS],
        at=command.read_time(fields.get("committer-time", "")),
        subject=fields.get("summary", "")[: command.TITLE_CHARACTERS],
        line=int(line),
        text=text.rstrip("\r")[: command.LINE_CHARACTERS],
        path="" if former == path or former.startswith('"') else former,  # quoted: odd names
        is_root="boundary" in fields,
    )
