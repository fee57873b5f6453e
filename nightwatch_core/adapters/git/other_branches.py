"""Branches that are not merged, and what they do to some files: of pull requests git knows none."""

from collections.abc import Iterator
from datetime import datetime

from nightwatch_core.adapters.git import command
from nightwatch_core.adapters.git.checkout import LOCAL, REMOTE, Checkout
from nightwatch_core.adapters.git.history import hunks
from nightwatch_core.models.code import ChangedFile, OtherPull

OTHER_BRANCHES = 20  # unmerged ones, whose changes are shown

_FIELDS = ("refname", "objectname", "committerdate:unix", "authorname", "subject", "body")
_DIFF = ("diff-tree", "--merge-base", "-r", "--no-renames", "--no-ext-diff", "--no-textconv")
_END = b"\0\1\0"


def branches_changing(
    checkout: Checkout, paths: tuple[str, ...], since: datetime
) -> tuple[OtherPull, ...]:
    """Return at most 20 branches that change one of the files, newest first, each once.

    The sixty newest that changed `since` then are looked at.
    """
    return tuple(_changing(checkout, tuple(dict.fromkeys(paths)), since))[:OTHER_BRANCHES]


def _changing(checkout: Checkout, paths: tuple[str, ...], since: datetime) -> Iterator[OtherPull]:
    git, seen = checkout.git, set[str]()
    base_name, base = checkout.base()
    own = {f"{LOCAL}{base_name}", f"{REMOTE}{base_name}", f"{REMOTE}HEAD"}
    asked = "%00".join(f"%({field})" for field in _FIELDS)
    listing = git.run(
        *("for-each-ref", "--sort=-committerdate", f"--no-merged={base}"),
        *(f"--count={3 * OTHER_BRANCHES}", f"--format={asked}%00%01%00", LOCAL, REMOTE),
    )
    for record in listing.split(_END)[:-1]:
        ref, tip, at, author, subject, body = record.decode(errors="replace").split("\0", 5)
        moment = command.read_time(at)
        if ref.strip() in own or tip in seen or moment < since:
            continue
        seen.add(tip)
        if files := tuple(_files(git, base, tip, paths)):
            yield OtherPull(
                title=subject[: command.TITLE_CHARACTERS],
                body=body[: command.DIFF_CHARACTERS],
                author=author[: command.NAME_CHARACTERS],
                branch=ref.strip().removeprefix(LOCAL).removeprefix(REMOTE),
                at=moment,
                sha=tip,
                files=files,
            )


def _files(git: command.Git, base: str, tip: str, paths: tuple[str, ...]) -> Iterator[ChangedFile]:
    below = (f":(literal){path}" for path in paths)
    names = git.attempt(
        *_DIFF, "-z", "--name-only", base, tip, "--", *below, timeout=command.QUICK_SECONDS
    )
    for path in names.output.decode(errors="replace").split("\0"):
        if path in paths:
            shown = git.attempt(
                *(*_DIFF, "-p", "-U3", "--no-color", base, tip, "--", f":(literal){path}"),
                timeout=command.QUICK_SECONDS,
                limit=8 * command.DIFF_CHARACTERS,
            )
            yield ChangedFile(path=path, diff=hunks(shown.output.decode(errors="replace")))
