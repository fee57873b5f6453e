"""Read code: the commits that failed, the one in production, and their trees."""

import logging
from datetime import timedelta
from functools import lru_cache, partial
from typing import Any

from prefect.artifacts import create_markdown_artifact
from prefect.context import TaskRunContext

from nightwatch_core.code.base_branch import base_branch_status, without_later_change
from nightwatch_core.code.failed_commit import Sighting, deployments, failed_commit, sighting_of
from nightwatch_core.code.places import places_of, read_places
from nightwatch_core.code.releases import merged
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import CauseFindings, CodeTonight
from nightwatch_core.models.code import CodePlaces, CodeRead, Commit, MergedPull, Release
from nightwatch_core.models.errors import Case, ErrorGroup, Selection, Trace
from nightwatch_core.ports import CodeHost, CodeReader
from nightwatch_core.settings import Settings
from nightwatch_core.traces.placing import PathIndex
from tasks import wiring
from tasks.records import results
from tasks.runner import attempt, attempt_and_go_on, digest, each, ends, step
from tasks.wiring import prune
from tasks.wiring.opening import OpenNight

log = logging.getLogger(__name__)
LOOK_BACK = timedelta(days=30)  # for pull requests that may have broken something
TREES = 8  # commits whose paths are kept at hand


@step("find the commits")
def pin_code(night: OpenNight, selection: Selection) -> CodeTonight:
    """Find the commit in production, the one fixes are made on, and the releases."""
    ports = night.reading
    host = ports.code
    nothing: tuple[Release, ...] = ()
    deployments_read = attempt("reading deployments", ports.errors.releases, otherwise=nothing)
    since, none = night.begun.window.since - LOOK_BACK, tuple[MergedPull, ...]()
    pulls = attempt("reading merged pulls", host.pulls_merged_since, since, otherwise=none)
    base, tags = host.head(), host.releases()
    groups = (*selection.kept, *(group.group for group in selection.dropped))
    named = frozenset(name for group in groups for name in (group.release, *group.releases))
    deployed = deployments(tags, deployments_read.value, named - {""})
    now = Sighting(
        release=_newest_release(groups), seen=night.begun.window.until, deployed=deployed
    )
    named_commit = night.options.commit
    commit = _chosen(named_commit, host) if named_commit else failed_commit(now, host)
    return CodeTonight(
        commit=commit.model_copy(update={"branch": base.branch}),
        base=base,
        pulls=pulls.value,
        releases=merged(tags, deployments_read.value),
        deployed=deployed,
        trouble="; ".join(filter(None, (deployments_read.trouble, pulls.trouble))),
    )


def commit_of_group(
    night: OpenNight, code: CodeTonight, group: ErrorGroup, traces: tuple[Trace, ...]
) -> Commit:
    """Find the commit of a group's newest trace; the option `commit` wins."""
    if night.options.commit:
        return code.commit
    return failed_commit(sighting_of(group, traces, code.deployed), night.reading.code)


def commit_of_case(case: Case, code: CodeTonight) -> Commit:
    """Return the commit that a case is read at."""
    return case.commit or code.commit


class Trees:
    """Readers of one step, at as many commits as it needs."""

    def __init__(self, night: OpenNight) -> None:
        self._night = night
        self._readers: dict[str, CodeReader] = {}

    def at(self, commit: Commit) -> CodeReader:
        """Return the tree at that commit."""
        if commit.sha not in self._readers:
            self._readers[commit.sha] = reader_of(self._night, commit)
        return self._readers[commit.sha]


def reader_of(night: OpenNight, commit: Commit) -> CodeReader:
    """Return the tree at that commit."""
    return night.reading.code.reader(commit)


def bare_reader_of(night: OpenNight, commit: Commit) -> CodeReader:
    """Return the same with secrets and all: for making drafts, never for showing."""
    return night.bare_code.reader(commit)


_index = lru_cache(maxsize=TREES)(PathIndex)


def index_in(tree: CodeReader) -> PathIndex:
    """Return an index of the tree's paths, made once a commit."""
    return _index(tree.paths())


def _chosen(name: str, host: CodeHost) -> Commit:
    commit = host.commit_of(name, branches=True)
    if commit is None:
        raise StopTheNight(
            f"{ascii(name[:80])} is not a tag, branch or commit of {host.head().repository}: "
            "set `commit` to an existing one, fetch it, or leave it empty"
        )
    return commit.model_copy(update={"because": f"{commit.because}, as chosen", "is_named": True})


def _newest_release(groups: tuple[ErrorGroup, ...]) -> str:
    """The release that failed last: the one that runs now, as far as the errors tell."""
    seen = [group for group in groups if group.release and group.last_seen]
    newest = max(seen, key=lambda g: (g.last_seen is not None, str(g.last_seen)), default=None)
    return newest.release if newest else ""


@step("prune records")
def prune_records() -> None:
    """Delete records that no night used for a month, and the oldest beyond half a gibibyte."""
    try:
        pruned = prune(results())
    except OSError as error:
        raise GiveUp(f"the results in {results()} cannot be pruned: {error}") from error
    log.info(
        "%d records are kept (%.1f MiB), %d were pruned",
        *(pruned.left, pruned.bytes / 2**20, pruned.deleted),
    )


@step("free space")
def free_space(settings: Settings, dry_run: bool) -> tuple[str, ...]:
    """Delete what nobody used for long, and say in the log and in Prefect what that freed."""
    freed = wiring.free_space(settings, results(), dry=dry_run)
    log.info("maintenance: %s", "; ".join(freed))
    rows = "".join(f"- {row}\n" for row in freed)
    create_markdown_artifact(key="nightwatch-maintenance", markdown=rows)
    return freed


# The code that cases failed in: read before anything else, and kept for later nights and workers.


def _places_key(_: TaskRunContext, given: dict[str, Any]) -> str:
    places: CodePlaces = given["places"]
    return f"{places.commit.folder}/places-{digest(*map(str, places.places))}"


@step("read code", "{places.short}", key=_places_key)
def read_code(places: CodePlaces, night: OpenNight) -> CodeRead:
    """Read the files that a case failed in; every night and worker takes them from here."""
    cache = night.code_cache
    if cache is None:
        return CodeRead(commit=places.commit)
    return cache.read_ahead(places.commit, partial(read_places, places))


def read_ahead(night: OpenNight, code: CodeTonight, cases: tuple[Case, ...]) -> None:
    """Read the code of all cases side by side; what cannot be read now is asked for again later."""
    cache = night.code_cache
    if cache is None:
        return
    every = (places_of(case, commit_of_case(case, code)) for case in cases)
    asked = dict.fromkeys(places for places in every if places.places)
    for end in ends(each(read_code, asked, night)):
        if isinstance(end, CodeRead):
            cache.take(end)
        elif isinstance(end, StopTheNight) or not isinstance(end, NightWatchError):
            raise end


# Status of the failing lines on the base branch, which fixes are made on.


@step("compare with the base", "{analysis.case.leader.short}")
def with_base_branch_status(analysis: Analysis, night: OpenNight, code: CodeTonight) -> Analysis:
    """Add to an analysis whether the base branch still has the failing lines."""
    then = reader_of(night, commit_of_case(analysis.case, code))
    now = reader_of(night, code.base or code.commit)
    status = base_branch_status(analysis, then, now)
    compared = analysis.model_copy(update={"base_branch_status": status})
    return without_later_change(compared, then, now)


def compared_with_base(night: OpenNight, findings: CauseFindings) -> CauseFindings:
    """Compare each finding with the base branch, where that is not the code that failed."""
    code, troubles = findings.code, []
    base = code.base or code.commit

    def compared(analysis: Analysis) -> Analysis:
        if commit_of_case(analysis.case, code).sha == base.sha:
            return analysis
        title = analysis.case.leader.short
        end = attempt_and_go_on(
            f"comparing {title} with {base.branch or 'the base'}",
            *(with_base_branch_status, analysis, night, code),
            otherwise=analysis,
        )
        troubles.append(end.trouble or end.stop)
        return end.value

    remembered = tuple(map(compared, findings.memory.known))
    waves = tuple(
        wave.model_copy(update={"analyses": tuple(map(compared, wave.analyses))})
        for wave in findings.waves
    )
    return findings.model_copy(
        update={
            "memory": findings.memory.model_copy(update={"known": remembered}),
            "waves": waves,
            "troubles": (*findings.troubles, *troubles),
        }
    )
