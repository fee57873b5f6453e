"""The code: which commit runs in production, and its tree."""

from datetime import timedelta
from functools import lru_cache

from prefect import task

from nightwatch_core.code.releases import merged, sha_of
from nightwatch_core.models.assignment import CodeTonight
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.error import Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.ports import CodeHost, CodeReader
from nightwatch_core.traces.path_index import PathIndex
from tasks.futures import attempt
from tasks.policies import KEPT, PATIENTLY
from tasks.wiring import reading

LOOK_BACK = timedelta(days=30)  # for pull requests that may have broken something


@task(
    name="pin the code",
    task_run_name="pin the code",
    **KEPT,
    **PATIENTLY,
)
def pin_code(options: NightOptions, night: Night, selection: Selection) -> CodeTonight:
    """The commit that runs in production, and what was merged and released before it."""
    ports = reading(options)
    host = ports.code
    nothing: tuple[Release, ...] = ()
    deployed = attempt("reading deployments", ports.errors.releases, otherwise=nothing)
    commit = _in_production(host, _newest_release(selection), deployed.value)
    return CodeTonight(
        commit=commit.model_copy(update={"branch": host.head().branch}),
        pulls=host.pulls_merged_since(night.window.since - LOOK_BACK),
        releases=merged(host.releases(), deployed.value),
        trouble=deployed.trouble,
    )


def reader_of(options: NightOptions, commit: Commit) -> CodeReader:
    """The tree at that commit."""
    return reading(options).code.reader(commit)


def index_of(options: NightOptions, commit: Commit) -> PathIndex:
    """An index of the tree's paths, made once a commit."""
    return _index(reader_of(options, commit).paths())


@lru_cache(maxsize=2)
def _index(paths: tuple[str, ...]) -> PathIndex:
    return PathIndex(paths)


def _in_production(host: CodeHost, release: str, deployed: tuple[Release, ...]) -> Commit:
    """The commit that a deployment names; else the release itself, which may be a tag."""
    sha = sha_of(release, deployed)
    commit = host.head(sha or release)
    if sha and not commit.sha.startswith(sha):  # deployed from elsewhere
        return host.head(release)
    return commit


def _newest_release(selection: Selection) -> str:
    """The release that failed last: the one that runs now, as far as the errors tell."""
    groups = (*selection.kept, *(one.group for one in selection.dropped))
    seen = [group for group in groups if group.release and group.last_seen]
    newest = max(seen, key=lambda g: (g.last_seen is not None, str(g.last_seen)), default=None)
    return newest.release if newest else ""
