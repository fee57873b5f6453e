"""Door to the selection: what is analysed tonight."""

from prefect import task

from nightwatch_core import families, selection
from nightwatch_core.models.assignment import Traced
from nightwatch_core.models.error import Fetched, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.selection import Narrowed
from tasks.wiring import reading


@task(name="select")
def select_groups(options: NightOptions, fetched: Fetched) -> Selection:
    """Drop what the rules ignore, rank the rest, keep the best; every drop has its reason.

    More groups are kept than will be analysed: their traces tell which have one cause.
    """
    rules = reading(options).knowledge.ignore_rules()
    candidates = selection.GROUPS_A_CASE * (options.max_errors or 5)
    return selection.select(fetched.groups, rules, candidates, fetched.window)


@task(name="narrow to cases")
def narrow(options: NightOptions, selected: Selection, traced: tuple[Traced, ...]) -> Narrowed:
    """Groups with one root class and one top frame become a case; the best cases are kept."""
    cases = families.cases(
        tuple((one.group, one.traces[0] if one.traces else None) for one in traced)
    )
    return selection.narrowed(selected, cases, options.max_errors or 5)
