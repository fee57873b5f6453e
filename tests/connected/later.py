"""A night as `python flows/nightly.py` runs it, on a later day.

    python tests/connected/later.py --ahead 48 --max-errors 3     # hours from now

The options are filled and the adapters are made as ever; only the clock is another one, wherever a
night asks it for the date. Prefect keeps the machine's time.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import typer

from flows.commands.night import check_options, run_and_show, with_option_flags
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import RunReport
from nightwatch_core.settings import Settings, settings
from tasks import wiring
from tasks.ports import Adapters
from tasks.wiring import services
from tasks.wiring.opening import OpenNight


class LaterClock(SystemClock):
    """The Clock port, some time ahead."""

    def __init__(self, ahead: timedelta) -> None:
        self._ahead = ahead

    def now(self) -> datetime:
        return super().now() + self._ahead


def adapters_at(clock: LaterClock, options: NightOptions, at: Settings) -> Adapters:
    """The real ones, at another time."""
    real = wiring.adapters(options, at)
    errors = services.new_relic(options, at, watermark=None, clock=clock)
    return replace(
        real,
        reading=lambda: replace(real.reading(), clock=clock, errors=errors),
        publishing=lambda: replace(real.publishing(), nights=NightStore(at.state, clock)),
    )


def nightly_later(ahead: timedelta) -> Callable[..., RunReport]:
    """The night's flow, at another time."""
    from prefect import flow  # it is made ready before

    from flows.nightly import whole_night
    from tasks.night import held, nights_options, run_name
    from tasks.parameters import takes_options
    from tasks.workers import NightRunner

    @flow(name="nightly", flow_run_name=run_name("nightly"), task_runner=NightRunner())
    @takes_options
    def nightly(**choices: Any) -> RunReport:
        at = settings()
        with wiring.one_night(at):
            options = nights_options(choices, at)
            adapters = adapters_at(LaterClock(ahead), options, at)
            with held(OpenNight(options, at, adapters, choices=choices)) as night:
                return whole_night(night)

    return nightly  # type: ignore[no-any-return]


@with_option_flags
def night(ahead: float = 0.0, **choices: Any) -> None:
    """Run one night, so many hours from now."""
    check_options(choices)
    run_and_show(lambda: nightly_later(timedelta(hours=ahead)), choices, verbose=False)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command()(night)
    app()
