"""Read error groups and their traces, and choose what is analysed tonight."""

import logging

from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.analysis.forecast import forecast, forecast_text, worth
from nightwatch_core.code.failed_commit import Repository, place_traces
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.intake import cases as families
from nightwatch_core.intake import ignore_rules as ignoring
from nightwatch_core.intake import limits, selection
from nightwatch_core.intake.selection import Narrowed
from nightwatch_core.models.assignment import CodeTonight, KnownErrors, RecallResult, Traced
from nightwatch_core.models.errors import Case, ErrorGroup, Fetched, Selection
from nightwatch_core.text.plain_text import moment, plural
from tasks.code import Trees, commit_of_group, index_in
from tasks.progress import tell
from tasks.runner import each, ends, key_by_night, step
from tasks.wiring import services
from tasks.wiring.opening import OpenNight
from tasks.workers import on_worker

log = logging.getLogger(__name__)
NOTHING_KNOWN = KnownErrors()


@step("fetch errors")
def fetch_errors(night: OpenNight) -> Fetched:
    """Fetch every error group of the night's window."""
    window = night.begun.window
    fetched = night.reading.errors.error_groups(window)
    errors = plural(sum(group.occurrences for group in fetched.groups), "error")
    since, until = moment(window.since), moment(window.until)
    groups = plural(len(fetched.groups), "group")
    log.info("%s in %s, %s to %s", errors, groups, since, until)
    return fetched


@step("trace", "{group.short}")
def trace_group(group: ErrorGroup, night: OpenNight, code: CodeTonight) -> Traced:
    """Read a group's traces, mapped to the repository as it was at the commit that failed."""
    return on_worker(traced, night, group, code)


def traced(night: OpenNight, group: ErrorGroup, code: CodeTonight) -> Traced:
    """Read a group's traces in this process."""
    ports, trees = night.reading, Trees(night)
    traces = ports.errors.traces(group)
    named = commit_of_group(night, code, group, traces)
    found_in = ports.code, trees.at, index_in, night.options, ports.source_maps, code.releases
    repository = Repository(*found_in)
    placed = place_traces(traces, group, named, code.base or named, repository)
    return Traced(group=group, traces=placed.traces, commit=placed.commit)


def trace_groups(
    night: OpenNight, groups: tuple[ErrorGroup, ...], code: CodeTonight
) -> tuple[Traced, ...]:
    """Read the traces of every group; one whose traces cannot be read is analysed without."""
    runs = ends(each(trace_group, groups, night, code))
    return tuple(_without(group, end) for group, end in zip(groups, runs, strict=True))


def _without(group: ErrorGroup, end: Traced | BaseException) -> Traced:
    if isinstance(end, Traced):
        return end
    if isinstance(end, NightWatchError) and not isinstance(end, StopTheNight):
        return Traced(group=group, trouble=str(end))
    raise end


# The selection: what is analysed tonight.


@step(
    "list known errors",
    key=key_by_night("known", lambda given: (given["night"].options.model_dump_json(),)),
)
def known_errors(night: OpenNight) -> KnownErrors:
    """List the errors that had a lesson when the night began."""
    if night.options.force or not night.options.compound_enabled:
        return KnownErrors()
    index = night.reading.knowledge.index()
    names = {name for e in index.solutions for name in (e.fingerprint, *e.aliases)}
    return KnownErrors(names=tuple(sorted(names)))


@step("select")
def select_groups(
    night: OpenNight, fetched: Fetched, known_groups: KnownErrors = NOTHING_KNOWN
) -> Selection:
    """Drop what the rules ignore, rank the rest, keep the best; every drop has its reason.

    Rules that do not hold tonight drop nothing; the report names them.

    More groups are kept than will be analysed: their traces tell which have one cause.
    """
    every = night.reading.knowledge.ignore_rules()
    rules, notes = ignoring.rules_in_force(every, fetched.groups, fetched.window)
    candidates = limits.GROUPS_A_CASE * (night.options.max_errors or 5)
    names = frozenset(known_groups.names)
    selected = selection.select(fetched.groups, rules, candidates, names)
    return selected.model_copy(update={"rule_notes": notes})


@step("group errors into cases")
def make_cases(traced: tuple[Traced, ...], selected: Selection) -> tuple[Case, ...]:
    """Put groups with one root class, top frame and meaning into one case; the best come first."""
    pairs = ((item.group, item.traces[0] if item.traces else None) for item in traced)
    ranked = sorted(families.cases(tuple(pairs)), key=selection.case_order(selected))
    return tuple(families.at_its_commit(case, traced) for case in ranked)


@step("select new cases")
def narrow(night: OpenNight, selected: Selection, memory: RecallResult) -> Narrowed:
    """Keep the new cases worth most, in a batch's order; known errors take no place."""
    known, unknown = memory.past.known, memory.unknown
    if not selected.is_judged:
        unknown = tuple(sorted(unknown, key=lambda item: -worth(item.case, known)))
    memory = memory.model_copy(update={"unknown": unknown})
    kept = selection.narrow(selected, memory, night.options.max_errors or 5)
    cases = tuple(item.case for item in kept.memory.unknown)
    asks = cases and night.options.model != RULES
    expected = forecast(cases, night.options, known, services.priced) if asks else None
    if expected:
        log.info("forecast: %s", forecast_text(expected))
        tell(forecast_text(expected))
    return kept.model_copy(update={"forecast": expected})
