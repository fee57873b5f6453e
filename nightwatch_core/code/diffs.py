"""Reads and writes diffs: renamed names, changed libraries, the lines that two changes share."""

import re
from collections.abc import Iterable, Iterator
from difflib import unified_diff
from fnmatch import fnmatchcase
from itertools import groupby
from typing import NamedTuple

from nightwatch_core.code import limits
from nightwatch_core.code.definitions import defined_name
from nightwatch_core.code.edit_policy import common_lines
from nightwatch_core.code.edits import apply
from nightwatch_core.code.languages import Language
from nightwatch_core.code.syntax import uses
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.research import DependencyChange
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.placing import ReadFile

MANIFESTS = (
    *("requirements*.txt", "pyproject.toml", "poetry.lock", "uv.lock", "Pipfile", "Pipfile.lock"),
    *("package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"),
    *("Gemfile", "Gemfile.lock", "go.mod", "pom.xml", "build.gradle", "build.gradle.kts"),
    *("gradle.lockfile", "libs.versions.toml", "composer.json", "composer.lock"),
    *("*.csproj", "packages.lock.json", "Directory.Packages.props", "Cargo.toml", "Cargo.lock"),
)
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{0,100}[?!]?")
_VERSION = re.compile(r"v?\d{1,9}(?:\.\w{1,40}){1,6}(?:[-+][\w.]{1,60})?")
_LIBRARY = re.compile(r"@?[A-Za-z][\w./@-]{0,150}")
_HEADER = re.compile(  # of an entry of a lock file whose version stands in a line of its own
    r'name\s*[=:]\s*"(?P<name>[^"]{1,150})"|<artifactId>(?P<artifact>[^<]{1,150})<'
    r'|"(?:node_modules/)?(?P<key>@?[\w./-]{1,150})":\s*\{|^"?(?P<yarn>@?[\w./-]{1,150})@'
)
_PARTS = frozenset(("packages", "dependencies", "devDependencies"))  # of lock files, no libraries
_COMMENTS = ("#", "//", "<!--")
_FIELDS = frozenset(("version", "resolved", "name", "python", "requires-python", "revision"))


def renamed_to(name: str, diff: str) -> str:
    """Return the name that a change put in the place of `name`; empty where it replaced none.

    >>> renamed_to("total", "@@ -1,2 +1,2 @@\\n-def total(a):\\n+def sum_of(a):\\n     pass")
    'sum_of'
    """
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
    """Return whether a change took a definition away and put one of another name in its hunk.

    Where neither line defines anything, as for parameters, it is enough that one name is gone from
    the hunk and the other has come.

    >>> from nightwatch_core.code.languages import PYTHON
    >>> diff = "@@ -1 +1 @@\\n-def total(a):\\n+def sum_of(a, b):"
    >>> replaces("total", "sum_of", diff, PYTHON), replaces("a", "b", diff, PYTHON)
    (True, False)
    """
    for hunk in re.split(r"(?m)^@@", diff):
        rows = [row for row in hunk.split("\n") if row[:1] in "+-"]
        gone, come = ([row[1:] for row in rows if row[:1] == sign] for sign in "-+")
        if any(uses(old, row) for row in come) or any(uses(new, row) for row in gone):
            continue
        if any(uses(old, row) for row in gone) and any(uses(new, row) for row in come):
            before = {defined_name(row, language) for row in gone}
            after = {defined_name(row, language) for row in come}
            if (old in before) == (new in after):
                return True
    return False


def is_manifest(path: str) -> bool:
    """Return whether a file names libraries and their versions."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, manifest) for manifest in MANIFESTS)


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
            versions.setdefault(_library(text[: version.start()], entry), version[0])
    return {name: version for name, version in versions.items() if name and name not in _PARTS}


def _library(text: str, entry: str) -> str:
    library = _LIBRARY.search(text.lstrip("\"'-<>&"))
    name = library[0].rstrip("./-@") if library else ""
    return entry if not name or name.lower() in _FIELDS else name


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
    if max(len(old), len(new)) - head - tail > limits.DIFF_COMPARED:
        return "@@ too large to be shown @@"
    return "\n".join([*unified_diff(old, new, n=limits.DIFF_AROUND, lineterm="")][2:])


# Edits as diffs, one a file: with context and line numbers where the file's text is at hand.


def file_diffs(edits: tuple[Edit, ...], read: ReadFile | None = None) -> tuple[ChangedFile, ...]:
    r"""Show what the edits do to each file; `read` gives a file's text, None where there is none.

    Without it, or where the edits do not apply, old and new texts are compared as they are known.
    """
    applied = apply(edits, read) if read and edits else None
    if applied and read and not applied.refusal:
        whole = ((c.path, _lines(read(c.path)), _lines(c.text)) for c in applied.changes)
        return tuple(_changed(path, numbered_diff(old, new)) for path, old, new in whole)
    paths = dict.fromkeys(edit.path for edit in edits)
    parts = {path: [_known(edit) for edit in edits if edit.path == path] for path in paths}
    return tuple(_changed(path, "\n@@\n".join(filter(None, parts[path]))) for path in paths)


def joined_diff(files: tuple[ChangedFile, ...]) -> str:
    """Return the diffs of several files as one, each under its name.

    >>> print(joined_diff((ChangedFile(path="a.py", diff="-x"),)))
    --- a/a.py
    +++ b/a.py
    -x
    """
    return "\n".join(f"--- a/{file.path}\n+++ b/{file.path}\n{file.diff}" for file in files)


def _known(edit: Edit) -> str:
    rows = numbered_diff(_lines(edit.old), _lines(edit.new)).split("\n")
    return "\n".join("@@" if row.startswith("@@ -") else row for row in rows).removeprefix("@@\n")


def _changed(path: str, diff: str) -> ChangedFile:
    rows = diff.split("\n")
    added, removed = (sum(row.startswith(mark) for row in rows) for mark in "+-")
    return ChangedFile(path=path, added=added, removed=removed, diff=diff)


def _lines(text: str | None) -> list[str]:
    rows = (text or "").replace("\r\n", "\n").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


# Which lines of a file two changes touch, though they were made on different commits.
#
# A change is found in today's file by what it takes away and what stands around it, as `patch`
# does:
# numbers of lines are those of a commit that nobody has here.

_HEAD = re.compile(r"@@ -(\d{1,9})")


class Hunk(NamedTuple):
    """Lines of a diff that stand together, each with its mark."""

    start: int  # of its first line in the old file, from 1; 0: not known
    rows: tuple[str, ...]

    def lines(self, *marks: str) -> list[str]:
        """Return its lines with one of these marks, without them."""
        return [row[1:].rstrip() for row in self.rows if row[:1] in marks]


class Span(NamedTuple):
    """Lines from `start` up to `end`, which is none of them, from 0; none where both are one."""

    start: int
    end: int

    def meets(self, other: "Span") -> bool:
        """Return whether they overlap, or one begins where the other ends."""
        return self.start <= other.end and other.start <= self.end


class Change(NamedTuple):
    """The effect of a diff on one file of today."""

    path: str
    spans: tuple[Span, ...]  # of the lines that it changes, where they stand in the file
    removed: frozenset[str]  # lines that tell something, their white space made even
    added: frozenset[str]
    is_whole: bool = True  # all of it was found in the file


def change_in(file: ChangedFile, path: str, text: str) -> Change:
    """Find what a diff changes in `text`, the file as it is today."""
    lines = [row.rstrip() for row in text_lines(text)]
    read = tuple(_hunks(file.diff))[: limits.HUNKS]
    spans = [tuple(_spans(hunk, lines)) for hunk in read]
    return Change(
        path,
        tuple(span for item in spans for span in item),
        _telling(line for hunk in read for line in hunk.lines("-")),
        _telling(line for hunk in read for line in hunk.lines("+")),
        all(spans),
    )


def meet(change: Change, other: Change) -> bool:
    """Return whether both change the same lines of a file, or lines next to each other."""
    if change.path != other.path:
        return False
    by_text = not (change.is_whole and other.is_whole) and not change.removed.isdisjoint(
        other.removed
    )
    return by_text or any(a.meets(b) for a in change.spans for b in other.spans)


def holds(one: Iterable[Change], other: Iterable[Change]) -> bool:
    """Return whether `one` adds every line that `other` adds, or removes all if that adds none."""
    theirs, ours = {change.path: change for change in one}, tuple(other)
    empty = Change("", (), frozenset(), frozenset())
    adds = [our for our in ours if our.added]
    if adds:
        return all(add.added <= theirs.get(add.path, empty).added for add in adds)
    gone = [our for our in ours if our.removed]
    return bool(gone) and all(item.removed == theirs.get(item.path, empty).removed for item in gone)


def _hunks(diff: str) -> Iterator[Hunk]:
    start, rows = 0, list[str]()
    for row in diff.split("\n"):
        if row.startswith("@@"):
            if rows:
                yield Hunk(start, tuple(rows))
            found = _HEAD.match(row)
            start, rows = int(found[1]) if found else 0, []
        elif row[:1] in (" ", "+", "-"):
            rows.append(row)
        elif not row:  # of an empty line of context some leave the mark out
            rows.append(" ")
    if rows:
        yield Hunk(start, tuple(rows))


def _spans(hunk: Hunk, lines: list[str]) -> Iterator[Span]:
    found = _located(hunk, lines)
    if found is None:
        return
    at, rows = found
    for is_change, group in groupby(rows, lambda row: row[:1] != " "):
        old = sum(row[:1] != "+" for row in group)
        if is_change:
            yield Span(at, at + old)
        at += old


def _located(hunk: Hunk, lines: list[str]) -> tuple[int, tuple[str, ...]] | None:
    above = next((n for n, row in enumerate(hunk.rows) if row[:1] != " "), 0)
    below = next((n for n, row in enumerate(hunk.rows[::-1]) if row[:1] != " "), 0)
    for fuzz in range(limits.HUNK_FUZZ + 1):
        first, last = min(fuzz, above), min(fuzz, below)
        rows = hunk.rows[first : len(hunk.rows) - last]
        old = [row[1:].rstrip() for row in rows if row[:1] != "+"]
        if not any(map(_tells, old)):
            return None
        if places := _places(old, lines):
            near = hunk.start - 1 + first
            return min(places, key=lambda place: abs(place - near)), rows
    return None


def _places(block: list[str], lines: list[str]) -> list[int]:
    starts = (n for n, line in enumerate(lines) if line == block[0])
    return [n for n in starts if lines[n : n + len(block)] == block]


def _telling(lines: Iterable[str]) -> frozenset[str]:
    return frozenset(" ".join(line.split()) for line in lines if _tells(line))


def _tells(line: str) -> bool:
    return len(re.findall(r"[^\W_]", line)) >= limits.TELLING_CHARACTERS
