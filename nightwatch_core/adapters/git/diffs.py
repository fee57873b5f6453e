"""Takes apart what git prints of differences."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from nightwatch_core.adapters.git.limits import DIFF_CHARACTERS, LINE_CHARACTERS, SHOWN_FILES
from nightwatch_core.models.code import ChangedFile

_REST = "[the rest of this change is not shown]"


class ChangedNode(NamedTuple):
    """One entry of a raw diff: what stood at `path` before and after."""

    before: str
    after: str
    status: str  # A, D, M or T
    path: str

    @property
    def blobs(self) -> tuple[str, ...]:
        """Those that there are."""
        return tuple(oid for oid in (self.before, self.after) if oid.strip("0"))


def with_sources(
    chosen: tuple[ChangedNode, ...], changed: tuple[ChangedNode, ...]
) -> tuple[ChangedNode, ...]:
    """Add what was deleted by the same commit: a new file may be one of these, renamed."""
    if not any(one.status == "A" for one in chosen):
        return chosen
    gone = (one for one in changed if one.status == "D" and one not in chosen)
    return (*chosen, *gone)[:SHOWN_FILES]


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
    room = DIFF_CHARACTERS
    for line in patch[start.start() :].rstrip("\n").split("\n"):
        line = line.rstrip("\r")[:LINE_CHARACTERS]
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines, _REST))
        lines.append(line)
    return "\n".join(lines)
