"""Which version of a package a repository's lock files name."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.models.code import Ecosystem
from nightwatch_core.traces.path_index import is_vendored

_LONGEST = 5_000_000  # characters of a lock file
_MOST = 10  # lock files of one kind
_PLATFORM = re.compile(r"^v|-(?:x86|arm|aarch|java|universal|linux|darwin).*$")
_VERSION = r"(?P<version>[\w.+!-]{1,60})"


class LockFile(NamedTuple):
    """A kind of file that pins versions; `NAME` in the pattern stands for the package."""

    ecosystem: Ecosystem
    file: re.Pattern[str]
    pattern: str


_TOML = rf'\[\[package\]\]\s+name\s*=\s*"NAME"\s+version\s*=\s*"{_VERSION}"'
LOCK_FILES: tuple[LockFile, ...] = (
    *(
        LockFile("python", re.compile(rf"(?:^|/){name}\.lock$"), f"(?i:{_TOML})")
        for name in ("uv", "poetry", "pdm")
    ),
    LockFile(
        "python",
        re.compile(r"(?:^|/)Pipfile\.lock$"),
        rf'(?i:"NAME"): \{{[^{{}}]{{0,20000}}"version": "=={_VERSION}"',
    ),
    LockFile(
        "python",
        re.compile(r"(?:^|/)(?:requirements[\w.-]*|requirements/[\w.-]+)\.txt$"),
        rf"(?im:^[ \t]*NAME(?:\[[\w, -]*\])?[ \t]*==[ \t]*{_VERSION})",
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)(?:package-lock|npm-shrinkwrap)\.json$"),
        rf'"(?:node_modules/)?NAME": \{{\s{{0,20}}"version": "{_VERSION}"',
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)yarn\.lock$"),
        rf'(?m:^"?NAME@[^\n]{{0,500}}:\n[ \t]+version:?[ \t]+"?{_VERSION})',
    ),
    LockFile(
        "javascript",
        re.compile(r"(?:^|/)pnpm-lock\.yaml$"),
        r"(?m:^[ \t]+['\"]?/?NAME[@/](?P<version>\d[\w.+-]{0,60}))",
    ),
    LockFile(
        "ruby",
        re.compile(r"(?:^|/)(?:Gemfile|gems)\.lock(?:ed)?$"),
        rf"(?m:^ {{4}}NAME \({_VERSION}\))",
    ),
    LockFile(
        "go", re.compile(r"(?:^|/)go\.mod$"), rf"(?m:^(?:require)?[ \t]*NAME[ \t]+{_VERSION})"
    ),
    LockFile(
        "php",
        re.compile(r"(?:^|/)composer\.lock$"),
        rf'"name": "NAME",\s{{0,20}}"version": "v?{_VERSION}"',
    ),
)


def locked_version(
    ecosystem: Ecosystem,
    package: str,
    paths: Iterable[str],
    read: Callable[[str], str | None],
) -> tuple[str, str]:
    """Find the version a lock file names, and that file, the one nearest to the root first.

    >>> files = {"requirements.txt": "Django==5.1\\nrequests[socks]==2.31.0\\n"}
    >>> locked_version("python", "requests", files, files.get)
    ('2.31.0', 'requirements.txt')
    >>> locked_version("ruby", "rails", files, files.get)
    ('', '')
    """
    known = [path for path in paths if not is_vendored(path)]
    spelt = _spelt(ecosystem, package)
    for kind in LOCK_FILES:
        if kind.ecosystem != ecosystem:
            continue
        files = sorted(filter(kind.file.search, known), key=lambda path: (path.count("/"), path))
        for path in files[:_MOST]:
            text = (read(path) or "")[:_LONGEST]
            if match := re.search(kind.pattern.replace("NAME", spelt), text):
                return match["version"], path
    return "", ""


def same_version(one: str, other: str) -> bool:
    """Tell whether two versions are one, whatever stands before or behind them.

    >>> same_version("v1.9.0", "1.9.0"), same_version("1.16.0-x86_64-linux", "1.16.0")
    (True, True)
    >>> same_version("1.9.0", "1.9.1"), same_version("", "1")
    (False, False)
    """
    return bool(one) and _PLATFORM.sub("", one) == _PLATFORM.sub("", other)


def _spelt(ecosystem: Ecosystem, package: str) -> str:
    """The package's name as a pattern; Python takes "-", "_" and "." for one."""
    if ecosystem == "python":
        return "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", package)))
    return re.escape(package)
