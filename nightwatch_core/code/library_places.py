"""What of which library a frame, a path or a name means."""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from nightwatch_core.code.suspects import commit_that_fits
from nightwatch_core.models.code import Commit, Ecosystem, Release
from nightwatch_core.models.errors import ErrorGroup, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import CodeHost, CodeReader, SourceMaps
from nightwatch_core.traces.bundles import with_original_places
from nightwatch_core.traces.placing import PathIndex, map_frames, place_frames

_LONGEST = 500  # characters


class LibraryPlace(NamedTuple):
    """A package, and perhaps a file of it as its ecosystem's frames name it."""

    ecosystem: Ecosystem
    package: str
    path: str = ""
    version: str = ""  # where the path names it


_NAME = r"[A-Za-z0-9][\w.-]*"
# Installed files, as traces name them.
_INSTALLED: tuple[tuple[Ecosystem, re.Pattern[str]], ...] = (
    (
        "python",
        re.compile(rf"(?:site|dist)-packages/(?P<path>(?P<package>{_NAME}?)(?:\.pyi?|/.+))$"),
    ),
    (
        "python",
        re.compile(
            r"(?:^|/)(?:lib(?:64)?/python(?P<version>\d\.\d+)|Python\d+/Lib)"
            r"/(?P<path>(?!(?:site|dist)-packages/)(?P<package>\w+)(?:/[\w./-]+)?\.py)$"
        ),
    ),
    (
        "ruby",
        re.compile(
            rf"(?:^|/)gems/(?P<package>{_NAME}?)-(?P<version>\d[\w.]*(?:-[\w-]+)?)/(?P<path>.+)$"
        ),
    ),
    ("javascript", re.compile(rf".*node_modules/(?P<package>(?:@{_NAME}/)?{_NAME})/(?P<path>.+)$")),
    (
        "go",
        re.compile(
            r"(?:^|.*/pkg/mod/)(?P<package>[\w.~!/-]+)@(?P<version>v[\w.+-]+)/(?P<path>.+)$"
        ),
    ),
    ("php", re.compile(rf"(?:^|.*/)vendor/(?P<package>{_NAME}/{_NAME})/(?P<path>.+)$")),
)
# Files and packages, as people write them.
_WRITTEN: tuple[tuple[Ecosystem, re.Pattern[str]], ...] = (
    ("python", re.compile(rf"(?P<path>(?P<package>{_NAME}?)(?:\.py|/.+))$")),
    ("python", re.compile(rf"(?P<package>{_NAME})$")),
    ("javascript", re.compile(rf"(?P<package>(?:@{_NAME}/)?{_NAME})(?:/(?P<path>.+))?$")),
    ("ruby", re.compile(rf"(?P<package>{_NAME})(?:/(?P<path>.+))?$")),
    ("php", re.compile(rf"(?P<package>{_NAME}/{_NAME})(?:/(?P<path>.+))?$")),
    ("go", re.compile(rf"(?P<package>{_NAME}\.[a-z]+(?:/{_NAME}){{1,3}}/v\d+)(?:/(?P<path>.+))?$")),
    ("go", re.compile(rf"(?P<package>{_NAME}\.[a-z]+(?:/{_NAME}){{2}})(?:/(?P<path>.+))?$")),
    ("go", re.compile(rf"(?P<package>{_NAME}\.[a-z]+/{_NAME})(?:/(?P<path>.+))?$")),
)
_OWN_LANGUAGE: dict[str, Ecosystem] = {
    **{"python": "python", "ruby": "ruby", "go": "go", "php": "php", "javascript": "javascript"},
    **{"typescript": "javascript", "node": "javascript", "golang": "go"},
}


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
    if not plain.isprintable() or len(plain) > _LONGEST or ".." in plain.split("/"):
        return ()
    for ecosystem, pattern in _INSTALLED:
        if match := pattern.search(plain):
            return (_place(ecosystem, match),)
    written = (
        _place(ecosystem, match)
        for ecosystem, pattern in _WRITTEN
        if (match := pattern.match(plain))
    )
    own = _OWN_LANGUAGE.get(language.lower())
    known = dict.fromkeys((*written, *_module(plain)))
    return tuple(sorted(known, key=lambda one: one.ecosystem != own))


def _module(text: str) -> tuple[LibraryPlace, ...]:
    """A module as Python imports it: http.cookiejar."""
    if not re.fullmatch(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", text) or text.endswith(".py"):
        return ()
    return (LibraryPlace("python", text.partition(".")[0], f"{text.replace('.', '/')}.py"),)


def _place(ecosystem: Ecosystem, match: re.Match[str]) -> LibraryPlace:
    named = match.groupdict()
    return LibraryPlace(
        ecosystem, named["package"], named.get("path") or "", named.get("version") or ""
    )


# A group's traces put into the repository, at the commit that failed.


class Repository(NamedTuple):
    """Where traces are placed: its trees, their paths, and how paths of traces lead there."""

    host: CodeHost
    tree: Callable[[Commit], CodeReader]
    index_of: Callable[[CodeReader], PathIndex]
    options: NightOptions
    maps: SourceMaps | None = None
    releases: tuple[Release, ...] = ()


def opened(host: CodeHost, options: NightOptions, maps: SourceMaps | None) -> Repository:
    """Open a host's repository: every tree is read once, and its paths are indexed once."""
    trees: dict[str, CodeReader] = {}
    indexes: dict[str, PathIndex] = {}

    def tree(commit: Commit) -> CodeReader:
        if commit.sha not in trees:
            trees[commit.sha] = host.reader(commit)
        return trees[commit.sha]

    def index_of(reader: CodeReader) -> PathIndex:
        sha = reader.commit.sha
        if sha not in indexes:
            indexes[sha] = PathIndex(reader.paths())
        return indexes[sha]

    return Repository(host, tree, index_of, options, maps, host.releases())


class Placed(NamedTuple):
    """Traces with repository paths, and the commit they are of."""

    traces: tuple[Trace, ...]
    commit: Commit


def place_traces(
    traces: Iterable[Trace], group: ErrorGroup, named: Commit, base: Commit, repository: Repository
) -> Placed:
    """Place traces at the commit `named`, or where the source that they print stands nearby.

    A commit that the options name is kept. `base` is the commit whose history is looked at.
    """
    options = repository.options
    traces = _in_the_source(tuple(traces), named, repository)
    commit = named if options.commit else _where_it_fits(traces, group, named, base, repository)
    tree = repository.tree(commit)
    index = repository.index_of(tree)
    placed = tuple(place_frames(trace, index, tree.read_file, options) for trace in traces)
    return Placed(placed, commit)


def _in_the_source(
    traces: tuple[Trace, ...], commit: Commit, repository: Repository
) -> tuple[Trace, ...]:
    """The traces, frames of JavaScript bundles put where their source maps say."""
    if repository.maps is None:
        return traces
    tree = repository.tree(commit)
    index = repository.index_of(tree)
    return with_original_places(traces, repository.maps, index, tree.read_file, repository.options)


def _where_it_fits(
    traces: tuple[Trace, ...],
    group: ErrorGroup,
    commit: Commit,
    base: Commit,
    repository: Repository,
) -> Commit:
    """The commit, or one nearby, that holds the source of the newest trace where it says."""
    if not traces:
        return commit
    index, options = repository.index_of(repository.tree(commit)), repository.options
    return commit_that_fits(
        map_frames(traces[0], index, (), options.app_root),
        commit,
        files=lambda at: repository.tree(at).read_file,
        commit_at=repository.host.commit_at,
        history=repository.tree(base).history,
        releases=repository.releases,
        seen=group.last_seen,
    )
