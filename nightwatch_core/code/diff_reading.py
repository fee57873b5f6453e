"""What a unified diff says: names that were replaced, libraries whose version changed."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from nightwatch_core.code.definitions import defined_name
from nightwatch_core.code.languages import Language
from nightwatch_core.code.line_reading import uses
from nightwatch_core.models.code import ChangedFile
from nightwatch_core.models.research import DependencyChange

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
    """Tell whether a change took a definition away and put one of another name in its hunk.

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
    """Tell whether a file names libraries and their versions."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, one) for one in MANIFESTS)


def dependency_changes(file: ChangedFile) -> tuple[DependencyChange, ...]:
    """List libraries of a manifest or lock file whose version changed, by name.

    >>> diff = "@@ -1 +1 @@\\n-flask==2.1.0\\n+flask==3.0.0"
    >>> file = ChangedFile(path="requirements.txt", diff=diff)
    >>> [(one.name, one.old, one.new) for one in dependency_changes(file)]
    [('flask', '2.1.0', '3.0.0')]
    """
    old, new = _versions(file.diff, "-"), _versions(file.diff, "+")
    return tuple(
        DependencyChange(name=name, old=old.get(name, ""), new=new.get(name, ""), path=file.path)
        for name in sorted(old | new)
        if old.get(name) != new.get(name)
    )


def _versions(diff: str, sign: str) -> dict[str, str]:
    """Libraries of the lines of one side, each with the first version that stands there."""
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
    """The library before a version; that of the entry where the line names a field of it."""
    library = _LIBRARY.search(text.lstrip("\"'-<>&"))
    name = library[0].rstrip("./-@") if library else ""
    return entry if not name or name.lower() in _FIELDS else name


def _replaced(diff: str) -> Iterator[tuple[list[str], list[str]]]:
    """Runs of removed lines with the added ones that follow them."""
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
