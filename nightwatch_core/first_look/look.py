"""Look at files of errors as a night would, without analysing anything."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nightwatch_core.code.failed_commit import deployments, failed_commit, sighting_of
from nightwatch_core.code.placed_traces import Repository, place_traces
from nightwatch_core.code.record_fit import misfit
from nightwatch_core.errors import GiveUp
from nightwatch_core.first_look.limits import RELEASES, TRACED
from nightwatch_core.intake.cases import cases
from nightwatch_core.intake.selection import select
from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import Case, ErrorGroup
from nightwatch_core.models.first_look import Estimate, FirstLook, FoundRelease, GlancedError
from nightwatch_core.models.pattern import IgnoreRules
from nightwatch_core.models.trace import Trace
from nightwatch_core.ports import FileSource

Place = Callable[[ErrorGroup, tuple[Trace, ...]], tuple[tuple[Trace, ...], Commit | None]]


def first_look(
    source: FileSource,
    repository: Repository | None,
    now: datetime,
    lookback: timedelta | None,
    cost_of: Callable[[int], Estimate],
) -> FirstLook:
    """Read the files and place the traces of the best ranked groups; `cost_of` takes cases.

    Raises `StopTheNight` where a file or the checkout cannot be read at all.
    """
    contents = source.contents()
    if not contents.records:
        return FirstLook(contents=contents)
    window = source.window(lookback, now)
    groups = source.error_groups(window).groups
    ranked = select(groups, IgnoreRules(), TRACED, window).kept
    place = _placing(repository, groups)
    glanced, traced = [], []
    for group in ranked:
        traces, commit = place(group, source.traces(group, 1))
        newest = next(iter(traces), None)
        glanced.append(_glanced(group, newest, commit, repository))
        traced.append((group, newest))
    made = len(cases(tuple(traced)))
    return FirstLook(
        contents=contents,
        groups=len(groups),
        errors=tuple(glanced),
        cases=made,
        releases=_releases(groups, repository),
        base=repository.host.head() if repository else None,
        estimate=cost_of(made),
    )


def _placing(repository: Repository | None, groups: tuple[ErrorGroup, ...]) -> Place:
    if repository is None:
        return lambda _, traces: (traces, None)
    host, base = repository.host, repository.host.head()
    deployed = deployments(host.releases(), (), _named(groups))

    def place(
        group: ErrorGroup, traces: tuple[Trace, ...]
    ) -> tuple[tuple[Trace, ...], Commit | None]:
        commit = _chosen(repository) or failed_commit(sighting_of(group, traces, deployed), host)
        return place_traces(traces, group, commit, base, repository)

    return place


def _chosen(repository: Repository) -> Commit | None:
    name = repository.options.commit
    if not name:
        return None
    commit = repository.host.commit_of(name, branches=True)
    if commit is None:
        raise GiveUp(f"{ascii(name[:80])} is no tag, branch or commit of the checkout")
    return commit


def _glanced(
    group: ErrorGroup, trace: Trace | None, commit: Commit | None, repository: Repository | None
) -> GlancedError:
    if trace is None:
        return GlancedError(group=group, commit=commit)
    case = Case(leader=group, trace=trace, commit=commit)
    read = repository.tree(commit).read_file if repository and commit else None
    return GlancedError(
        group=group,
        language=trace.language,
        top=trace.top,
        frames=len(trace.frames),
        own=len(trace.in_app),
        placed=sum(bool(frame.repo_path) for frame in trace.frames),
        commit=commit,
        misfit=misfit(case, read) if read else "",
    )


def _named(groups: tuple[ErrorGroup, ...]) -> frozenset[str]:
    return frozenset(name for group in groups for name in (group.release, *group.releases) if name)


def _releases(
    groups: tuple[ErrorGroup, ...], repository: Repository | None
) -> tuple[FoundRelease, ...]:
    """The releases that most groups failed in, and their commits."""
    counts = dict.fromkeys(sorted(_named(groups)), 0)
    for group in groups:
        for name in {group.release, *group.releases} & counts.keys():
            counts[name] += 1
    most = sorted(counts, key=lambda name: -counts[name])[:RELEASES]
    return tuple(
        FoundRelease(name=name, commit=repository.host.commit_of(name) if repository else None)
        for name in most
    )
