"""A commit as a mail that `git am` takes, also after it went through a web page and a clipboard.

What a page or an editor may lose (line ends of DOS, blanks at a line's end, letters beyond ASCII)
goes quoted-printable, as mails do it: git reads it back to the byte.
"""

import binascii
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from nightwatch_core.adapters.git.branch import commit_tree, patch
from nightwatch_core.adapters.git.branch_changes import PathState, Refused
from nightwatch_core.adapters.git.command import Git, new_repository
from nightwatch_core.adapters.git.objects import FILE

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


def mailed(git: Git, commit: str, scrub: Callable[[str], str], commits: int = 1) -> str:
    """Return the last commits, each as a mail, in the order in which they are applied.

    Raises `Refused` where that would show what is masked.
    """
    names = [f"{commit}~{back}" for back in reversed(range(commits))]
    return "".join(_mail(git, name, scrub) for name in names)


def _mail(git: Git, commit: str, scrub: Callable[[str], str]) -> str:
    for context in _CONTEXTS:
        text = patch(git, commit, context).decode("utf-8", "surrogateescape")
        if scrub(text) == text:
            return _sturdy(f"{text}{_SIGNATURE}")
    raise Refused("its lines, or those beside them, hold what is masked: no patch can show them")


def mailed_changes(
    trees: Sequence[Text], messages: Sequence[str], at: datetime, scrub: Callable[[str], str]
) -> str:
    """Return the changes from each set of files to the next as mails, without a repository.

    Raises as `mailed`.
    """
    with tempfile.TemporaryDirectory(prefix="nightwatch-patch-") as folder:
        git = new_repository(Path(folder), "main")
        commit = commit_tree(git, "", _written(git, trees[0]), "Base", at)
        for (before, after), message in zip(pairwise(trees), messages, strict=True):
            commit = commit_tree(git, commit, _steps(git, before, after), message, at)
        return mailed(git, commit, scrub, len(messages))


def _written(git: Git, files: Text) -> dict[str, PathState]:
    asked = ("hash-object", "-w", "-t", "blob", "--stdin")
    return {
        path: PathState(mode or FILE, git.line(*asked, stdin=content))
        for path, (mode, content) in files.items()
    }


def _steps(git: Git, before: Text, after: Text) -> dict[str, PathState]:
    gone = {path: PathState("0", "") for path in before if path not in after}
    return {**gone, **_written(git, after)}


def _sturdy(mail: str) -> str:
    """The mail as it is where nothing can happen to it, else quoted-printable.

    >>> _sturdy("From: a\\nSubject: b\\n\\n-x\\n+y\\n")
    'From: a\\nSubject: b\\n\\n-x\\n+y\\n'
    """
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
    return "\n".join(
        f"={ord(step[0]):02X}{step[1:]}" if _MISREAD.match(step) else step for step in steps
    )
