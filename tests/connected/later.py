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
from nightwatch_core.settings import night_options, settings
from tasks.dependencies import Dependencies, using
from tasks.wiring import publishing, reading, services, with_default_ports


class LaterClock(SystemClock):
    """The Clock port, some time ahead."""

    def __init__(self, ahead: timedelta) -> None:
        self._ahead = ahead

    def now(self) -> datetime:
        return super().now() + self._ahead


def worlds(options: NightOptions, clock: LaterClock) -> Dependencies:
    """The real ones, at another time."""
    at = settings()
    errors = services.new_relic(options, at, watermark=None, clock=clock)
    return Dependencies(
        reading=replace(reading(options), clock=clock, errors=errors),
        publishing=replace(publishing(options), nights=NightStore(at.state, clock)),
    )


def nightly_later(ahead: timedelta) -> Callable[..., RunReport]:
    """The night's flow, at another time."""
    from flows.nightly import nightly  # Prefect is made ready before

    def run(**choices: Any) -> RunReport:
        asked = night_options(choices)
        options = with_default_ports(asked)
        filled = {name: value for name, value in options if value != getattr(asked, name)}
        with using(worlds(options, LaterClock(ahead))):
            return nightly(**choices | filled)

    return run


@with_option_flags
def night(ahead: float = 0.0, **choices: Any) -> None:
    """Run one night, so many hours from now."""
    check_options(choices)
    run_and_show(lambda: nightly_later(timedelta(hours=ahead)), choices, verbose=False)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command()(night)
    app()
