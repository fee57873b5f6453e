"""Reads and writes diffs: renamed names, changed libraries, the lines that two changes share."""

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from itertools import pairwise
from typing import NamedTuple

from nightwatch_core.code.definitions import defined_name
from nightwatch_core.code.edit_policy import PATHS, common_lines
from nightwatch_core.code.edits import apply
from nightwatch_core.code.languages import Language
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.research import DependencyChange
from nightwatch_core.traces.placing import ReadFile

DIFF_AROUND, DIFF_COMPARED = 3, 1_000  # unchanged lines shown; lines that are compared

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,100}[?!]?")
_VERSION = re.compile(r"v?\d{1,9}(?:\.\w{1,40}){1,6}(?:[-+][\w.]{1,60})?")
_LIBRARY = re.compile(r"@?[A-Za-z][\w./@-]{0,150}")
_HEADER = re.compile(  # of an entry of a lock file whose version stands in a line of its own
    r'name\s*[=:]\s*"(?P<name>[^"]{1,150})"|<artifactId>(?P<artifact>[^<]{1,150})<'
    r'|"(?:node_modules/)?(?P<key>@?[\w./-]{1,150})":\s*\{|^"?(?P<yarn>@?[\w./-]{1,150})@'
)
_PARTS = frozenset(("packages", "dependencies", "devDependencies"))  # of lock files, no libraries
_TELLING = 7  # letters and digits of a line that is not in every file
_COMMENTS = ("#", "//", "<!--")
_FIELDS = frozenset(("version", "resolved", "name", "python", "requires-python", "revision"))


def renamed_to(name: str, diff: str) -> str:
    """Return the name that a change put in the place of `name`; empty where it replaced none."""
    for removed, added in _replaced(diff):
        for gone in removed:
            for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", gone):
                before, after = gone[: match.start()], gone[match.end() :]
                for new in added:
                    middle = new[len(before) : len(new) - len(after)]
                    is_same = new == before + middle + after and middle != name
                    if is_same and _IDENTIFIER.fullmatch(middle):
                        return middle
    return ""


def replaces(old: str, new: str, diff: str, language: Language) -> bool:
    """Return whether a change put one name in the place of another, or its definition.

    >>> from nightwatch_core.code.languages import PYTHON
    >>> diff = "@@ -1 +1 @@\\n-def total(a):\\n+def sum_of(a, b):"
    >>> replaces("total", "sum_of", diff, PYTHON), replaces("a", "b", diff, PYTHON)
    (True, False)
    """
    for hunk in diff.split("\n@@"):
        gone, come = (
            {defined_name(row[1:], language) for row in hunk.split("\n") if row[:1] == sign}
            for sign in "-+"
        )
        if old in gone - come and new in come - gone:
            return True
    return renamed_to(old, diff) == new


def is_manifest(path: str) -> bool:
    """Return whether a file names libraries and their versions."""
    rules = (rule for rule in PATHS.files if rule.reason == "is a manifest or lock file")
    return path.endswith((".gradle", ".gradle.kts")) or any(r.match(path.lower()) for r in rules)


def dependency_changes(file: ChangedFile) -> tuple[DependencyChange, ...]:
    """List libraries of a manifest or lock file whose version changed, by name."""
    old, new = _versions(file.diff, "-"), _versions(file.diff, "+")
    return tuple(
        DependencyChange(name=name, old=old.get(name, ""), new=new.get(name, ""), path=file.path)
        for name in sorted(old | new)
        if old.get(name) != new.get(name)
    )


def _versions(diff: str, sign: str) -> dict[str, str]:
    entry, versions = "", dict[str, str]()
    for row in diff.split("\n"):
        text = row[1:].strip()
        if row.startswith("@@"):
            entry = ""
        if header := _HEADER.search(text):
            entry = next(value for value in header.groups() if value)
        version = _VERSION.search(text)
        if row.startswith(sign) and version and not text.startswith(_COMMENTS):
            library = _LIBRARY.search(text[: version.start()].lstrip("\"'-<>&"))
            name = library[0].rstrip("./-@") if library else ""
            is_field = not name or name.lower() in _FIELDS
            versions.setdefault(entry if is_field else name, version[0])
    return {name: version for name, version in versions.items() if name and name not in _PARTS}


def _replaced(diff: str) -> Iterator[tuple[list[str], list[str]]]:
    removed: list[str] = []
    added: list[str] = []
    for row in (*diff.split("\n"), ""):
        if row.startswith("-") and not added:
            removed.append(row[1:].strip())
        elif row.startswith("+"):
            added.append(row[1:].strip())
        else:
            if removed and added:
                yield removed, added
            removed, added = ([row[1:].strip()] if row.startswith("-") else []), []


def numbered_diff(old: list[str], new: list[str]) -> str:
    """Return the changed lines with the lines around them and line numbers, without file names."""
    head = common_lines(old, new)
    tail = common_lines(old[head:][::-1], new[head:][::-1])
    if max(len(old), len(new)) - head - tail > DIFF_COMPARED:
        return "@@ too large to be shown @@"
    return "\n".join([*unified_diff(old, new, n=DIFF_AROUND, lineterm="")][2:])


# Edits as diffs, one a file: with context and line numbers where the file's text is at hand.


def file_diffs(edits: tuple[Edit, ...], read: ReadFile | None = None) -> tuple[ChangedFile, ...]:
    r"""Show what the edits do to each file; `read` gives a file's text, None where there is none.

    Without it, or where the edits do not apply, old and new texts are compared as they are known.
    """
    applied = apply(edits, read) if read and edits else None
    if applied and read and not applied.refusal:
        whole = ((c.path, _lines(read(c.path)), _lines(c.text)) for c in applied.changes)
        return tuple(_changed(path, numbered_diff(old, new)) for path, old, new in whole)
    parts: dict[str, list[str]] = {}
    for edit in edits:
        rows = numbered_diff(_lines(edit.old), _lines(edit.new)).split("\n")
        text = "\n".join("@@" if row.startswith("@@ -") else row for row in rows)
        parts.setdefault(edit.path, []).append(text.removeprefix("@@\n"))
    joined = {path: "\n@@\n".join(filter(None, texts)) for path, texts in parts.items()}
    return tuple(_changed(path, diff) for path, diff in joined.items())


def joined_diff(files: tuple[ChangedFile, ...]) -> str:
    """Return the diffs of several files as one, each under its name."""
    return "\n".join(f"--- a/{file.path}\n+++ b/{file.path}\n{file.diff}" for file in files)


def _changed(path: str, diff: str) -> ChangedFile:
    rows = diff.split("\n")
    added, removed = (sum(row.startswith(mark) for row in rows) for mark in "+-")
    return ChangedFile(path=path, added=added, removed=removed, diff=diff)


def _lines(text: str | None) -> list[str]:
    rows = (text or "").replace("\r\n", "\n").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


# Whether two changes touch the same lines, though they were made on different commits: lines are
# compared by their text, since numbers are those of a commit that nobody has here.


class Change(NamedTuple):
    """The lines of one file that a diff touches, without those that are in every file."""

    path: str
    removed: frozenset[str]
    added: frozenset[str]
    touched: frozenset[str]  # removed, or right above or below what is changed


def change_in(file: ChangedFile, path: str) -> Change:
    """Read what a diff changes in the file that has this path today."""
    rows = [row or " " for row in file.diff.split("\n")]
    removed = [row[1:] for row in rows if row[0] == "-"]
    touched = list(removed)
    for row, other in (*pairwise(rows), *pairwise(rows[::-1])):
        if row[0] in "+-" and other[0] == " ":
            touched.append(other[1:])
    added = (row[1:] for row in rows if row[0] == "+")
    return Change(path, _telling(removed), _telling(added), _telling(touched))


def meet(change: Change, other: Change) -> bool:
    """Return whether both change the same lines of a file, or lines next to each other."""
    if change.path != other.path:
        return False
    if not change.removed and not other.removed:
        return not change.touched.isdisjoint(other.touched)
    return bool(change.removed & other.touched or other.removed & change.touched)


def holds(own: Iterable[Change], other: Iterable[Change]) -> bool:
    """Return whether `own` adds every line that `other` adds, or removes all if that adds none."""
    theirs, ours = {change.path: change for change in own}, tuple(other)
    empty = Change("", frozenset(), frozenset(), frozenset())
    adds = [our for our in ours if our.added]
    if adds:
        return all(add.added <= theirs.get(add.path, empty).added for add in adds)
    gone = [our for our in ours if our.removed]
    return bool(gone) and all(item.removed == theirs.get(item.path, empty).removed for item in gone)


def _telling(lines: Iterable[str]) -> frozenset[str]:
    plain = (" ".join(line.split()) for line in lines)
    return frozenset(line for line in plain if len(re.findall(r"[^\W_]", line)) >= _TELLING)
