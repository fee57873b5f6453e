"""Maintenance: what nobody used for long is deleted once a week."""

from prefect import flow

from nightwatch_core.settings import settings
from tasks.code import free_space
from tasks.night import run_name
from tasks.wiring import one_night


@flow(name="maintenance", flow_run_name=run_name("maintenance"))
def maintenance(dry_run: bool = False) -> tuple[str, ...]:
    """Delete old records, journals, clones, environments and archived lessons.

    It waits until no night runs, and leaves what was used within a day.

    Args:
        dry_run: Only say what would be deleted.
    """
    at = settings()
    with one_night(at):
        return free_space(at, dry_run)
