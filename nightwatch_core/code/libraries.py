"""Libraries: what a path or a name means, and the versions that lock files pin."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.models.code import Ecosystem
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules
from nightwatch_core.traces.placing import is_vendored


class LibraryPlace(NamedTuple):
    """A package, and perhaps a file of it as its ecosystem's frames name it."""

    ecosystem: Ecosystem
    package: str
    path: str = ""
    version: str = ""  # where the path names it


class NamePattern(Value):
    """A way to name a library of an ecosystem."""

    ecosystem: Ecosystem
    pattern: Pattern


class LockFile(Value):
    """A kind of file that pins versions; `NAME` in `entry` stands for the package."""

    ecosystem: Ecosystem
    file: Pattern
    entry: PatternText


class LibraryRules(Value):
    """`rules/libraries.toml`."""

    installed: tuple[NamePattern, ...]
    written: tuple[NamePattern, ...]
    lock_files: tuple[LockFile, ...]


RULES = load_rules("libraries", LibraryRules)
_ECOSYSTEMS = {"typescript": "javascript", "node": "javascript", "golang": "go"}  # by language


def library_places(text: str, language: str = "") -> tuple[LibraryPlace, ...]:
    """List what a text may mean, the likeliest first; empty for what leads out of a package.

    >>> library_places("/srv/lib/python3.11/site-packages/requests/sessions.py")
    (LibraryPlace(ecosystem='python', package='requests', path='requests/sessions.py', version=''),)
    >>> library_places("/usr/lib/python3.11/http/cookiejar.py")[0][1:]
    ('http', 'http/cookiejar.py', '3.11')
    >>> library_places("http.cookiejar", "python")[1][1:]
    ('http', 'http/cookiejar.py', '')
    >>> library_places("/gems/activerecord-7.0.4/lib/a.rb")[0][1:]
    ('activerecord', 'lib/a.rb', '7.0.4')
    >>> library_places("site-packages/../../etc/passwd")
    ()
    """
    plain = text.strip().replace("\\", "/")
    if not plain.isprintable() or len(plain) > 500 or ".." in plain.split("/"):
        return ()
    for rule in RULES.installed:
        if match := rule.pattern.search(plain):
            return (_place(rule.ecosystem, match),)
    written = ((rule.ecosystem, rule.pattern.match(plain)) for rule in RULES.written)
    places = dict.fromkeys(_place(ecosystem, match) for ecosystem, match in written if match)
    if re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", plain) and not plain.endswith(".py"):
        path = f"{plain.replace('.', '/')}.py"
        places[LibraryPlace("python", plain.partition(".")[0], path)] = None
    own = _ECOSYSTEMS.get(language.lower(), language.lower())
    return tuple(sorted(places, key=lambda item: item.ecosystem != own))


def _place(ecosystem: Ecosystem, match: re.Match[str]) -> LibraryPlace:
    named = match.groupdict()
    path, version = named.get("path") or "", named.get("version") or ""
    return LibraryPlace(ecosystem, named["package"], path, version)


# Which version of a package a repository's lock files name.

_LONGEST_LOCK_FILE = 5_000_000  # characters of a lock file
_MOST_LOCK_FILES = 10  # lock files of one kind
_PLATFORM = re.compile(r"^v|-(?:x86|arm|aarch|java|universal|linux|darwin).*$")


def locked_version(
    ecosystem: Ecosystem, package: str, paths: Iterable[str], read: Callable[[str], str | None]
) -> tuple[str, str]:
    """Find the version a lock file names, and that file, the one nearest to the root first."""
    own = [path for path in paths if not is_vendored(path)]
    parts = re.split(r"[-_.]+", package) if ecosystem == "python" else [package]
    name = "[-_.]+".join(map(re.escape, parts))
    for kind in RULES.lock_files:
        if kind.ecosystem != ecosystem:
            continue
        files = sorted(filter(kind.file.search, own), key=lambda path: (path.count("/"), path))
        for path in files[:_MOST_LOCK_FILES]:
            text = (read(path) or "")[:_LONGEST_LOCK_FILE]
            if match := re.search(kind.entry.replace("NAME", name), text):
                return match["version"], path
    return "", ""


def same_version(text: str, other: str) -> bool:
    """Return whether two versions are one, whatever stands before or behind them."""
    return bool(text) and _PLATFORM.sub("", text) == _PLATFORM.sub("", other)
