"""A local git checkout as the code host: what is there, with no network."""

import re
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from nightwatch_core.adapters.git.command import Git, open_repository, read_time
from nightwatch_core.adapters.git.history import merged_pulls
from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.adapters.stores.code_cache import SingleFlight
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.code import Commit, MergedPull, Release
from nightwatch_core.text.plain_text import release_called

RELEASES = 100
READERS = 8  # commits whose readers are kept

# How releases name commits.

_WHOLE = re.compile(r"[0-9a-f]{7,64}")
_AT_THE_END = re.compile(r"(?:-g|[+@_.-])([0-9a-f]{7,64})$")


def spellings(release: str) -> tuple[str, ...]:
    """Return how tags may spell a release: with and without v, and without Sentry's "app@"."""
    version = release.rpartition("@")[2]
    return release, f"v{release}", release.removeprefix("v"), version, f"v{version}"


def shas_in(release: str) -> tuple[str, ...]:
    """Return what may be a commit's sha, or its beginning, in the name of a release.

    >>> shas_in("0A1B2C3D"), shas_in("v1.4-3-g0a1b2c3d"), shas_in("main")
    (('0a1b2c3d',), ('0a1b2c3d',), ())
    """
    name = release.strip().lower()
    if _WHOLE.fullmatch(name):
        return (name,)
    return tuple(match[1] for match in _AT_THE_END.finditer(name[-100:]))


def tag_text(version: str) -> str:
    """Say why a commit was chosen that a tag names."""
    return f"{release_called(printable(version))} (tag)"


def commit_text(sha: str) -> str:
    """Say why a commit was chosen that a release names itself."""
    return f"release {sha[:10]} (commit)"


def head_text(branch: str) -> str:
    """Say that a branch's head was chosen; an empty name is no branch."""
    return f"head of {printable(branch)}" if branch else "HEAD, which is on no branch"


def newest_text(branch: str, moment: datetime) -> str:
    """Say that the newest commit of a moment was chosen."""
    return f"newest on {printable(branch) if branch else 'HEAD'} at {_minute(moment)}"


def nothing_so_old(moment: datetime) -> str:
    """Say that a history, as far as it was read, begins after a moment."""
    return f"none of its commits that were read is from before {_minute(moment)}"


def printable(text: str) -> str:
    """Return the first 80 characters, what cannot be shown replaced."""
    return "".join(c if c.isprintable() else "?" for c in text.strip()[:80])


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


_REF_FIELDS = ("refname", "objecttype", "objectname", "*objecttype", "*objectname", "creatordate")
LOCAL, REMOTE, TAG = "refs/heads/", "refs/remotes/origin/", "refs/tags/"


class Ref(NamedTuple):
    """A branch or tag, and the commit it stands for."""

    name: str
    sha: str
    at: datetime


class Checkout:
    """A `CodeHost` over the repository of `folder`; raises `StopTheNight` if it is unusable."""

    def __init__(self, folder: Path, base_branch: str = "") -> None:
        """Take a folder; an empty `base_branch` means the one that it has checked out."""
        self._folder = folder
        self._base_branch = base_branch
        self._readers: SingleFlight[str, GitReader] = SingleFlight(READERS)

    @cached_property
    def git(self) -> Git:
        """Return the repository."""
        return open_repository(self._folder)

    @cached_property
    def repository(self) -> str:
        """Return owner/name of the remote `origin`, else the name of the folder."""
        common = self.git.folder / self.git.line("rev-parse", "--git-common-dir")
        folder = common.resolve()
        name = folder.parent.name if folder.name == ".git" else folder.name.removesuffix(".git")
        return owner_and_name(self._origin) or name or "repository"

    @cached_property
    def address(self) -> str:
        """Return its web address; empty where unknown."""
        return web_address(self._origin)

    @cached_property
    def _origin(self) -> str:
        return self.git.attempt("config", "--get", "remote.origin.url").output.decode().strip()

    def head(self) -> Commit:
        branch, sha = self.base()
        return self._commit(sha, head_text(branch))

    def commit_of(self, name: str, *, branches: bool = False) -> Commit | None:
        """Return the commit of a tag, a sha or the one that begins so; else None."""
        name = name.strip()
        tags = {ref.name.removeprefix(TAG): ref.sha for ref in self._refs(TAG)} if name else {}
        for version in spellings(name):
            if version in tags:
                return self._commit(tags[version], tag_text(version))
        if branches and (tips := heads_of(self.heads(), name)):
            return self._commit(tips[0], head_text(name))
        for digits in shas_in(name):
            if sha := self._begins_with(digits):
                return self._commit(sha, commit_text(sha))
        return None

    def commit_at(self, moment: datetime) -> Commit:
        branch, head = self.base()
        listed = self.git.line(
            *("rev-list", "--first-parent", "--max-count=1", "--timestamp"),
            *(f"--before={max(0, int(moment.timestamp()))}", "--end-of-options", head),
        )
        sha = listed.rpartition(" ")[2]
        if not sha:
            return self._commit(head, f"{head_text(branch)}; {nothing_so_old(moment)}")
        return self._commit(sha, newest_text(branch, moment))

    def reader(self, commit: Commit) -> GitReader:
        """Read the tree at that commit; raises `GiveUp` where its sha is not a full one."""
        return self._readers.get(commit.sha, lambda: self._reader(commit))

    def _reader(self, commit: Commit) -> GitReader:
        return GitReader(self.git, commit)

    def pulls_merged_since(self, since: datetime) -> tuple[MergedPull, ...]:
        """Return pull requests merged into the base branch, newest first, at most 200."""
        return merged_pulls(self.git, self.base()[1], since)

    def releases(self) -> tuple[Release, ...]:
        """Return tags of commits, newest first, at most 100."""
        return tuple(
            Release(version=tag.name.removeprefix(TAG), sha=tag.sha, at=tag.at)
            for tag in self._refs(TAG)[:RELEASES]
        )

    def probe(self) -> str:
        commit = self.head()
        files = len(self.reader(commit).paths())
        return f"{commit.repository} at {commit.sha[:10]} ({commit.because}), {files} files"

    def base(self) -> tuple[str, str]:
        """Return name and head of the base branch; the name is empty where HEAD is on no branch."""
        name = self._base_branch
        if not name:
            head = self.git.attempt("symbolic-ref", "--quiet", "HEAD").output
            name = head.decode(errors="replace").strip().removeprefix(LOCAL)
        if not name:
            return "", self.git.line("rev-parse", "--verify", "HEAD^{commit}")
        heads = self.heads()
        if tips := heads_of(heads, name):
            return name, tips[0]
        branches = {ref.removeprefix(LOCAL).removeprefix(REMOTE) for ref in heads} - {"HEAD"}
        if not branches:
            raise StopTheNight(f"{self._folder} has no commits yet: commit the application there")
        raise StopTheNight(
            f"{self._folder} has no branch {printable(name)}: set `base_branch` to one of "
            + ", ".join(sorted(branches)[:10])
        )

    def heads(self) -> dict[str, str]:
        """Return the head of every branch, here and at origin, by the ref's full name."""
        return {ref.name: ref.sha for ref in (*self._refs(LOCAL), *self._refs(REMOTE))}

    def _refs(self, below: str) -> tuple[Ref, ...]:
        """Refs that stand for commits, newest first; read whole, so that no name is passed on."""
        fields = "%00".join(f"%({field})" for field in _REF_FIELDS[:-1])
        listing = self.git.run(
            *("for-each-ref", "--sort=-version:refname", "--sort=-creatordate"),
            *(f"--format={fields}%00%(creatordate:unix)", below),
        )
        refs = (line.split("\0") for line in listing.decode(errors="replace").splitlines())
        return tuple(
            Ref(name, peeled or sha, read_time(at))
            for name, kind, sha, peeled_kind, peeled, at in refs
            if "commit" in (kind, peeled_kind)
        )

    def _begins_with(self, digits: str) -> str:
        """The one commit whose sha begins so; hexadecimal, so not a name of a ref."""
        asked = f"--disambiguate={digits}"
        names = self.git.attempt("rev-parse", asked).output.decode().split()
        kinds = self.git.line("cat-file", "--batch-check", stdin="\n".join(names).encode())
        commits = [line.split()[0] for line in kinds.splitlines() if line.split()[1] == "commit"]
        return commits[0] if len(commits) == 1 else ""

    def _commit(self, sha: str, because: str) -> Commit:
        """Describe the commit; also a release has the branch that pull requests aim at."""
        branch = self.base()[0]
        asked = ("rev-list", "--max-count=1", "--timestamp", "--end-of-options", sha)
        at = read_time(self.git.line(*asked).split(" ")[0])
        return Commit(
            repository=self.repository,
            sha=sha,
            branch=branch,
            at=at,
            address=self.address,
            because=because,
        )


def heads_of(heads: dict[str, str], name: str) -> tuple[str, ...]:
    """Return the heads of branch `name`, here and at origin, among `heads` by full ref names."""
    refs = (f"{LOCAL}{name}", f"{REMOTE}{name}")
    return tuple(dict.fromkeys(heads[ref] for ref in refs if ref in heads))


def owner_and_name(address: str) -> str:
    """Return the owner/name of a remote's address; empty for a folder of this machine.

    >>> owner_and_name("git@github.com:acme/shop.git"), owner_and_name("/srv/git/shop.git")
    ('acme/shop', '')
    """
    if "://" not in address:
        path = address.partition(":")[2] if re.match(r"[^/]+:", address) else ""
    else:
        try:
            path = "" if address.startswith("file:") else urlsplit(address).path
        except ValueError:
            path = ""
    path = path.strip("/").removesuffix(".git")
    return path if re.fullmatch(r"\.?\w[\w.-]*(?:/\.?\w[\w.-]*)+", path, re.ASCII) else ""


def web_address(address: str) -> str:
    """Return where people read a remote at GitHub or GitLab; empty for one that is elsewhere.

    >>> web_address("git@gitlab.example.com:group/sub/shop.git"), web_address("git@a.io:b/c")
    ('https://gitlab.example.com/group/sub/shop/-', '')
    """
    host = re.match(
        r"(?:https://|ssh://)?(?:[^@/\s]+@)?(github\.com|(?:[\w-]+\.)*gitlab\.[\w.-]+)[:/]", address
    )
    name = owner_and_name(address) if host else ""
    if host and host[1] != "github.com":
        return f"https://{host[1]}/{name}/-" if name else ""
    return f"https://github.com/{name}" if name.count("/") == 1 else ""
