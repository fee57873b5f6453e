"""A night again, from what was written down of it: without Prefect, whose runs it does not need."""

from flows.nightly import whole_night
from flows.triage import submit_all
from nightwatch_core.models.report import RunReport
from tasks.night import held
from tasks.wiring.opening import OpenNight


def replay_night(night: OpenNight) -> RunReport:
    """Run a night over the record of another one."""
    with held(night):
        return submit_all(night) if night.options.batch_mode else whole_night(night)
