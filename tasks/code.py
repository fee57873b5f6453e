"""The code: which commits failed, which runs in production, and their trees."""

from datetime import timedelta
from functools import lru_cache

from prefect import task

from nightwatch_core.code.failed_commit import Sighting, deployments, failed_commit
from nightwatch_core.code.releases import merged
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.assignment import CodeTonight
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.error import Case, ErrorGroup, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import CodeHost, CodeReader
from nightwatch_core.traces.path_index import PathIndex
from tasks.futures import attempt
from tasks.policies import KEPT, PATIENTLY
from tasks.wiring import reading

LOOK_BACK = timedelta(days=30)  # for pull requests that may have broken something
TREES = 8  # commits whose paths are kept at hand


@task(
    name="pin the code",
    task_run_name="pin the code",
    **KEPT,
    **PATIENTLY,
)
def pin_code(options: NightOptions, night: Night, selection: Selection) -> CodeTonight:
    """The commit that runs in production, the one fixes are made on, and what was released."""
    ports = reading(options)
    host = ports.code
    nothing: tuple[Release, ...] = ()
    told = attempt("reading deployments", ports.errors.releases, otherwise=nothing)
    base, tags = host.head(), host.releases()
    groups = (*selection.kept, *(one.group for one in selection.dropped))
    named = frozenset(name for group in groups for name in (group.release, *group.releases))
    deployed = deployments(tags, told.value, named - {""})
    now = Sighting(release=_newest_release(groups), seen=night.window.until, deployed=deployed)
    commit = _chosen(options.commit, host) if options.commit else failed_commit(now, host)
    return CodeTonight(
        commit=commit.model_copy(update={"branch": base.branch}),
        base=base,
        pulls=host.pulls_merged_since(night.window.since - LOOK_BACK),
        releases=merged(tags, told.value),
        deployed=deployed,
        trouble=told.trouble,
    )


def commit_of_group(
    options: NightOptions, code: CodeTonight, group: ErrorGroup, traces: tuple[Trace, ...]
) -> Commit:
    """The commit that a group's newest trace is of, and why that one; `options.commit` wins."""
    if options.commit:
        return code.commit
    release = next((trace.release for trace in traces if trace.release), group.release)
    sighting = Sighting(release=release, seen=group.last_seen, deployed=code.deployed)
    return failed_commit(sighting, reading(options).code)


def commit_of_case(case: Case, code: CodeTonight) -> Commit:
    """The commit that a case is read at."""
    return case.commit or code.commit


def reader_of(options: NightOptions, commit: Commit) -> CodeReader:
    """The tree at that commit."""
    return reading(options).code.reader(commit)


def index_of(options: NightOptions, commit: Commit) -> PathIndex:
    """An index of the tree's paths, made once a commit."""
    return _index(reader_of(options, commit).paths())


@lru_cache(maxsize=TREES)
def _index(paths: tuple[str, ...]) -> PathIndex:
    return PathIndex(paths)


def _chosen(name: str, host: CodeHost) -> Commit:
    commit = host.commit_of(name, branches=True)
    if commit is None:
        raise StopTheNight(
            f"{ascii(name[:80])} is no tag, branch or commit of {host.head().repository}: set "
            "`commit` to one that is there, fetch it first, or leave it empty"
        )
    return commit.model_copy(update={"because": f"{commit.because}, as chosen"})


def _newest_release(groups: tuple[ErrorGroup, ...]) -> str:
    """The release that failed last: the one that runs now, as far as the errors tell."""
    seen = [group for group in groups if group.release and group.last_seen]
    newest = max(seen, key=lambda g: (g.last_seen is not None, str(g.last_seen)), default=None)
    return newest.release if newest else ""
