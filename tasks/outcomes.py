"""Door to what became of our issues and pull requests."""

from prefect import task

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import OwnItem
from tasks.policies import PATIENTLY
from tasks.wiring import reading


@task(name="read outcomes", task_run_name="read outcomes", **PATIENTLY)
def read_outcomes(options: NightOptions) -> tuple[OwnItem, ...]:
    """All our issues and pull requests, as they stand tonight."""
    return reading(options).tracker.own_items()
