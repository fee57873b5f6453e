"""Make a branch of a draft pull request with git's plumbing: one commit, or one a step.

Working tree, index and other branches stay untouched; the branch appears last.
"""

import binascii
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from nightwatch_core.adapters.git import command, objects
from nightwatch_core.adapters.git.checkout import LOCAL, Checkout, heads_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import DraftPull, FileChange

COMMITS = 10  # of one draft

# Which changes a draft may make. Listings that name folders give them mode 040000.

_GIT_FOLDER = re.compile(r"\.git|git~\d+")
_SEPARATORS = "\\:\u2044\u2215\u29f5\u29f8"  # the last look like slashes
_UNSEEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")  # categories of characters nobody sees
Base = Mapping[str, objects.Node]


class Refused(GiveUp):
    """The branch cannot be made as proposed; nothing was changed."""


class Made(NamedTuple):
    """A draft's last commit; `is_new` is False where an earlier try had made its branch."""

    sha: str
    is_new: bool


class PathState(NamedTuple):
    """The entry at a path; mode 000000 and no oid if there is none."""

    mode: str
    oid: str


class Step(NamedTuple):
    """One commit: its message, the new texts, and what shall stand where after it."""

    message: str
    changes: tuple[FileChange, ...]
    expected: dict[str, PathState]


def expected_changes(
    changes: tuple[FileChange, ...],
    before: Base,
    content: Callable[[objects.Node], bytes],
    named: Callable[[bytes, objects.Node | None], str],
) -> dict[str, PathState]:
    """Return the state of every changed path; raises `Refused` with the reason.

    `content` reads a file of the base, `named` returns the object name of new content.
    """
    if len(changes) > command.CHANGED_FILES:
        raise Refused(f"{len(changes)} files are more than {command.CHANGED_FILES}")
    if len({change.path.casefold() for change in changes}) < len(changes):
        raise Refused("a file is changed twice")
    expected = {change.path: _wanted(change, before, content, named) for change in changes}
    new = {path: state for path, state in expected.items() if state != state_at(before, path)}
    if not new:
        raise Refused("nothing would change")
    for path in objects.parent_folders(expected):
        if path in expected:
            raise Refused(f"{path[:200]!a} would be both file and folder")
    return new


def expected_steps(
    pull: DraftPull,
    before: Base,
    content: Callable[[objects.Node], bytes],
    named: Callable[[bytes, objects.Node | None], str],
) -> tuple[Step, ...]:
    """Return the commits of a draft, in order; raises `Refused` as `expected_changes`."""
    whole = expected_changes(pull.changes, before, content, named)
    if not pull.commits:
        return (Step(commit_message(pull), pull.changes, whole),)
    if len(pull.commits) > COMMITS:
        raise Refused(f"{len(pull.commits)} commits are more than {COMMITS}")
    now, own, steps = dict(before), set[str](), list[Step]()

    def read(node: objects.Node) -> bytes:
        return b"" if node.oid in own else content(node)  # what we wrote is text

    for commit in pull.commits:
        expected = expected_changes(commit.changes, now, read, named)
        steps.append(Step(plain_message(commit.message or pull.title), commit.changes, expected))
        own |= {state.oid for state in expected.values()}
        for path, state in expected.items():
            now.pop(path, None)
            if state.mode != objects.GONE:
                now[path] = objects.Node(path, state.mode, state.oid, None, path)
    nothing = PathState(objects.GONE, "")
    ended = {path: state_at(now, path) or nothing for step in steps for path in step.expected}
    new = {p: s for p, s in ended.items() if s != (state_at(before, p) or nothing)}
    if new != whole:
        raise Refused("its commits do not match the proposed change")
    return tuple(steps)


def state_at(base: Base, path: str) -> PathState | None:
    """Return what stands at the path; None where nothing or a folder does."""
    node = base.get(path)
    return PathState(node.mode, node.oid) if node and node.mode != objects.FOLDER else None


def check_not_moved(changes: Iterable[FileChange], then: Base, now: Base) -> None:
    """Raise `Refused` where a file changed: edits of another text may mean something else."""
    for change in changes:
        if state_at(then, change.path) != state_at(now, change.path):
            raise Refused(f"base moved: {change.path[:200]!a} changed")


def commit_message(pull: DraftPull) -> str:
    """Return the commit's message, whole characters only; the title where there is none."""
    return plain_message(pull.commit_message.strip() or pull.title)


def plain_message(text: str) -> str:
    """Return a message as git takes it."""
    return text.replace("\0", "").encode(errors="replace").decode()


def _wanted(
    change: FileChange,
    before: Base,
    content: Callable[[objects.Node], bytes],
    named: Callable[[bytes, objects.Node | None], str],
) -> PathState:
    shown = f"{change.path[:200]!a}"
    if why := why_unsafe(change.path):
        raise Refused(f"{shown} {why}")
    node = before.get(change.path)
    node = None if node and node.mode == objects.FOLDER else node
    if node is None and change.text is None:
        raise Refused(f"{shown} does not exist and cannot be deleted")
    if node is None:
        _check_room(change.path, before)
    elif node.mode not in (objects.FILE, objects.EXECUTABLE):
        raise Refused(f"{shown} is a {node.kind}, no plain file")
    if change.text is None:
        return PathState(objects.GONE, "")
    text = _bytes(shown, change.text)
    if node is not None:
        # readers replace bytes that are not UTF-8: written back, more would change than asked
        if (node.size or 0) > command.FILE_BYTES:
            raise Refused(f"{shown} is over {command.FILE_BYTES} bytes")
        try:
            content(node).decode()
        except UnicodeDecodeError as error:
            raise Refused(f"{shown} is not UTF-8") from error
    return PathState(node.mode if node else objects.FILE, named(text, node))


def _check_room(path: str, before: Base) -> None:
    taken = {*before, *objects.parent_folders(before)}
    folded = {name.casefold() for name in taken}
    if path.casefold() in folded:
        raise Refused(f"{path[:200]!a} already exists")
    for folder in objects.parent_folders([path]):
        node = before.get(folder)
        if node and node.mode != objects.FOLDER:
            raise Refused(f"{folder[:200]!a} is a {node.kind}, no folder")
        if folder not in taken and folder.casefold() in folded:
            raise Refused(f"{folder[:200]!a} exists in another spelling")


def _bytes(shown: str, text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"{shown}: the new text holds half a character") from error
    if "\0" in text or len(content) > command.FILE_BYTES:
        raise Refused(f"{shown}: the new text is binary or over {command.FILE_BYTES} bytes")
    return content


def why_unsafe(path: str) -> str:
    """Say why `path` must not be written to a tree; empty where it may.

    The path counts as it is, with compatibility characters folded, and with percent signs decoded.
    """
    spellings = [path]
    for _ in range(3):  # "%25252e" is a dot after three rounds
        path = unicodedata.normalize("NFKC", unquote(path[: command.PATH_CHARACTERS + 1]))
        spellings.append(path)
    return next((why for why, is_unsafe in UNSAFE if any(map(is_unsafe, spellings))), "")


def _is_in_git_folder(path: str) -> bool:
    return any(_GIT_FOLDER.fullmatch(part.rstrip(" .").casefold()) for part in path.split("/"))


UNSAFE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty or too long", lambda path: not 0 < len(path) <= command.PATH_CHARACTERS),
    (
        "contains invisible characters",
        lambda path: any(unicodedata.category(c) in _UNSEEN for c in path),
    ),
    ("is absolute", lambda path: path.startswith(("/", "~")) or path[1:2] == ":"),
    ("holds a backslash or colon", lambda path: any(c in path for c in _SEPARATORS)),
    ("leaves the repository", lambda path: any(not part.strip(" .") for part in path.split("/"))),
    ("is in the git folder", _is_in_git_folder),
    ("looks like an option", lambda path: path.startswith("-")),
)

_AUTHOR = ("NightWatch", "nightwatch@localhost")
_KEPT = "refs/nightwatch/"  # no branches: nobody pushes them unasked
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,199}")
_DIFF = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--end-of-options")
_PATCH = (
    *("diff-tree", "--root", "-p", "--stat", "--pretty=email", "--full-index", "--binary"),
    *("--no-renames", "--no-color", "--no-ext-diff", "--no-textconv"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--end-of-options"),
)


def make_branch(checkout: Checkout, pull: DraftPull, at: datetime) -> Made:
    """Make the pull request's branch on the head of its base, dated `at`; raises `Refused`."""
    git = checkout.git
    ref = f"{_KEPT}{pull.key[:12]}" if pull.as_patch else _ref(git, pull.branch)
    base = _base(checkout, pull.base)
    before = objects.read_tree(git, base)
    _check_not_moved(git, pull, base, before)
    steps = expected_steps(pull, before, partial(_content, git), partial(_written, git))
    commit = base
    for step in steps:
        before_step, commit = commit, commit_tree(git, commit, step.expected, step.message, at)
        if changed(git, before_step, commit) != step.expected:
            raise Refused("the commit would change other files than proposed")
    if pull.as_patch:
        return _kept(git, ref, commit)
    created = git.attempt("update-ref", "--no-deref", "-m", "nightwatch: draft", ref, commit, "")
    if created.code:
        if tip := checkout.heads().get(ref):
            return _made_before(git, pull.branch, tip, steps)
        raise Refused(f"the branch cannot be made: {created.complaint}")
    return Made(commit, is_new=True)


def patch(git: command.Git, commit: str, context: int = 3, commits: int = 1) -> bytes:
    """Return the last commits as mails that `git am` takes, with so many lines around changes."""
    names = [f"{commit}~{back}" for back in reversed(range(commits))]
    return b"".join(git.run(_PATCH[0], f"-U{context}", *_PATCH[1:], name) for name in names)


def changed(git: command.Git, before: str, after: str) -> dict[str, PathState]:
    """Return what differs between two commits, by path.

    A changed mode, or anything but a plain file, is the mode "was → is", which fits nothing.
    """
    fields = git.run(*_DIFF, before, after).decode(errors="replace").split("\0")
    states = {}
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        was, mode, _, oid, _ = about.removeprefix(":").split()
        is_plain = (
            mode in (objects.FILE, objects.GONE) if objects.GONE in (was, mode) else was == mode
        )
        mark = mode if is_plain else f"{was} → {mode}"
        states[path] = PathState(mark, "" if mode == objects.GONE else oid)
    return states


def _kept(git: command.Git, ref: str, commit: str) -> Made:
    """Keep git from dropping a patch's commit, on which no branch stands; the newest counts."""
    was = git.attempt("rev-parse", "--verify", "--quiet", ref).output.decode().strip()
    _do(git, "update-ref", "--no-deref", ref, commit, environment={})
    return Made(commit, is_new=was != commit)


def _ref(git: command.Git, branch: str) -> str:
    ref = f"{LOCAL}{branch}"
    if not _BRANCH.fullmatch(branch) or git.attempt("check-ref-format", ref).code:
        raise Refused(f"{branch[:80]!a} cannot be the name of a branch")
    return ref


def _base(checkout: Checkout, name: str) -> str:
    if not name:
        return checkout.base()[1]
    heads = heads_of(checkout.heads(), name)
    if not heads:
        raise Refused(f"there is no base branch {name[:80]!a}")
    return heads[0]


def _check_not_moved(
    git: command.Git, pull: DraftPull, base: str, now: Mapping[str, objects.Node]
) -> None:
    """The edits were made on `pull.commit`: on another text they may mean something else."""
    if pull.commit == base:
        return
    asked = ("cat-file", "-e", f"{pull.commit}^{{commit}}")
    if not command.is_sha(pull.commit) or git.attempt(*asked).code:
        raise Refused(f"commit {pull.commit[:80]!a} is not in the repository")
    check_not_moved(pull.changes, objects.read_tree(git, pull.commit), now)


def _content(git: command.Git, node: objects.Node) -> bytes:
    return git.run("cat-file", "blob", node.oid)


def _written(git: command.Git, content: bytes, _: objects.Node | None) -> str:
    return git.run("hash-object", "-w", "-t", "blob", "--stdin", stdin=content).decode().strip()


def commit_tree(
    git: command.Git, base: str, expected: Mapping[str, PathState], message: str, at: datetime
) -> str:
    """Return a new commit on `base` (empty: on nothing) at whose paths stands what is wanted."""
    nothing = "0" * (len(base) or 40)
    rows = (f"{state.mode} {state.oid or nothing}\t{path}\0" for path, state in expected.items())
    entries = "".join(rows)
    with tempfile.TemporaryDirectory(prefix="nightwatch-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _do(git, "read-tree", base or "--empty", environment=index)
        _do(git, "update-index", "-z", "--index-info", stdin=entries.encode(), environment=index)
        new = _do(git, "write-tree", environment=index)
    parent = ("-p", base) if base else ()
    asked = ("commit-tree", *parent, "-F", "-", new)
    values = (*_AUTHOR, f"@{int(at.timestamp())} +0000")
    signature = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in zip(("NAME", "EMAIL", "DATE"), values, strict=True)
    }
    return _do(git, *asked, stdin=message.encode(), environment=signature)


def _do(
    git: command.Git, *arguments: str, environment: Mapping[str, str], stdin: bytes = b""
) -> str:
    outcome = git.attempt(*arguments, stdin=stdin, environment=environment)
    if outcome.code:
        raise Refused(f"git {arguments[0]}: {outcome.complaint}")
    return outcome.output.decode().strip()


def _made_before(git: command.Git, branch: str, tip: str, steps: tuple[Step, ...]) -> Made:
    commit = tip
    for step in reversed(steps):
        parents = git.line("rev-parse", f"{commit}^@").split()
        if len(parents) != 1 or changed(git, parents[0], commit) != step.expected:
            raise Refused(f"branch {branch} exists with other content: delete or rename it")
        commit = parents[0]
    return Made(tip, is_new=False)


# Commits as mails that `git am` takes. What a web page may lose (DOS line ends, blanks at a line's
# end, letters beyond ASCII) goes quoted-printable.

_CONTEXTS = (3, 1)  # lines around a change; fewer where what stands there may not be shown
_SIGNATURE = "-- \nNightWatch\n"  # as mails end: what is cut off behind the change is no part of it
_MIME = ("MIME-Version", "Content-Type", "Content-Transfer-Encoding")
_PLAIN = re.compile(r"[\t\x20-\x7e]*")
_MISREAD = re.compile(r"From |[/.]")  # how a line must not begin: a mail's end, a bot's command
_QUOTED = (
    "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
    "Content-Transfer-Encoding: quoted-printable"
)
Text = Mapping[str, tuple[str, bytes]]  # mode and content, by path


def mailed(git: command.Git, commit: str, scrub: Callable[[str], str], commits: int = 1) -> str:
    """Return the last commits as mails, in order; raises `Refused` where masked text would show."""
    names = [f"{commit}~{back}" for back in reversed(range(commits))]
    return "".join(_mail(git, name, scrub) for name in names)


def _mail(git: command.Git, commit: str, scrub: Callable[[str], str]) -> str:
    for context in _CONTEXTS:
        text = patch(git, commit, context).decode("utf-8", "surrogateescape")
        if scrub(text) == text:
            return _sturdy(f"{text}{_SIGNATURE}")
    raise Refused("its lines, or lines next to them, are redacted: a patch cannot show them")


def mailed_changes(
    trees: Sequence[Text], messages: Sequence[str], at: datetime, scrub: Callable[[str], str]
) -> str:
    """Return the changes from each set of files to the next as mails; raises as `mailed`."""
    with tempfile.TemporaryDirectory(prefix="nightwatch-patch-") as folder:
        git = command.new_repository(Path(folder), "main")
        commit = commit_tree(git, "", _blobs_of(git, trees[0]), "Base", at)
        for (before, after), message in zip(pairwise(trees), messages, strict=True):
            gone = {path: PathState("0", "") for path in before if path not in after}
            steps = {**gone, **_blobs_of(git, after)}
            commit = commit_tree(git, commit, steps, message, at)
        return mailed(git, commit, scrub, len(messages))


def _blobs_of(git: command.Git, files: Text) -> dict[str, PathState]:
    asked = ("hash-object", "-w", "-t", "blob", "--stdin")
    return {
        path: PathState(mode or objects.FILE, git.line(*asked, stdin=content))
        for path, (mode, content) in files.items()
    }


def _sturdy(mail: str) -> str:
    head, _, body = mail.partition("\n\n")
    lines = body.split("\n")
    if all(map(_is_sturdy, lines)):
        return mail
    kept = [line for line in head.split("\n") if line.partition(":")[0] not in _MIME]
    return "\n".join((*kept, _QUOTED, "", *map(_quoted, lines)))


def _is_sturdy(line: str) -> bool:
    blank_end = line.endswith((" ", "\t")) and line not in (" ", "-- ")
    return bool(_PLAIN.fullmatch(line)) and not blank_end and not _MISREAD.match(line)


def _quoted(line: str) -> str:
    raw = line.encode("utf-8", "surrogateescape")
    steps = binascii.b2a_qp(raw, istext=False).decode().split("\n")
    return "\n".join(f"={ord(s[0]):02X}{s[1:]}" if _MISREAD.match(s) else s for s in steps)
