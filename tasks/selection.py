"""The selection: what is analysed tonight."""

from prefect import task

from nightwatch_core.intake import cases as families
from nightwatch_core.intake import ignore_rules as ignoring
from nightwatch_core.intake import limits, selection
from nightwatch_core.intake.selection import Narrowed
from nightwatch_core.models.assignment import KnownErrors, RecallResult, Traced
from nightwatch_core.models.error import Case, Fetched, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from tasks.policies import KEPT, kept_by_night
from tasks.wiring import reading

NOTHING_KNOWN = KnownErrors()


@task(
    name="list known errors",
    task_run_name="list known errors",
    cache_policy=kept_by_night("known", lambda told: (told["options"].model_dump_json(),)),
    **KEPT,
)
def known_errors(options: NightOptions, night: Night) -> KnownErrors:
    """Names of errors that had a lesson when the night began."""
    if not options.compound_enabled or options.force:
        return KnownErrors()
    index = reading(options).knowledge.index()
    names = {name for e in index.solutions for name in (e.fingerprint, *e.aliases)}
    return KnownErrors(names=tuple(sorted(names)))


@task(name="select", task_run_name="select")
def select_groups(
    options: NightOptions, fetched: Fetched, known: KnownErrors = NOTHING_KNOWN
) -> Selection:
    """Drop what the rules ignore, rank the rest, keep the best; every drop has its reason.

    Rules that do not hold tonight drop nothing, and are told.

    More groups are kept than will be analysed: their traces tell which have one cause.
    """
    every = reading(options).knowledge.ignore_rules()
    rules, sentences = ignoring.rules_in_force(every, fetched.groups, fetched.window)
    candidates = limits.GROUPS_A_CASE * (options.max_errors or 5)
    names = frozenset(known.names)
    selected = selection.select(fetched.groups, rules, candidates, fetched.window, names)
    return selected.model_copy(update={"told": sentences})


@task(name="put groups into cases", task_run_name="put groups into cases")
def make_cases(traced: tuple[Traced, ...]) -> tuple[Case, ...]:
    """Groups with one root class and one top frame become one case."""
    cases = families.cases(
        tuple((one.group, one.traces[0] if one.traces else None) for one in traced)
    )
    return tuple(families.at_its_commit(case, traced) for case in cases)


@task(name="narrow to new cases", task_run_name="narrow to new cases")
def narrow(options: NightOptions, selected: Selection, memory: RecallResult) -> Narrowed:
    """Of the cases that are new, the best ones; what is known takes no place from them."""
    return selection.narrow(selected, memory, options.max_errors or 5)
