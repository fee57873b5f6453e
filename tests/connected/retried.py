"""A night as a run that Prefect retries: `python tests/connected/retried.py`, then `… --again`.

Each is a process of its own, as a worker starts them. The first leaves the run's id in the folder.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import typer

from flows.commands.night import check_options, run_and_show, with_option_flags
from nightwatch_core.models.report import RunReport

ID = Path("flow-run")


def nightly_again(again: bool) -> Callable[..., RunReport]:
    """The night's flow: a run that is made for it, or the one before after a press on Retry."""
    from prefect.client.orchestration import get_client  # it is made ready before
    from prefect.flow_engine import run_flow
    from prefect.states import AwaitingRetry

    from flows.nightly import nightly

    def run(**choices: Any) -> RunReport:
        given = {name: value for name, value in choices.items() if value is not None}
        with get_client(sync_client=True) as client:
            if not again:
                ID.write_text(str(client.create_flow_run(nightly, parameters=given).id))
            else:
                client.set_flow_run_state(ID.read_text(), AwaitingRetry(), force=True)
            flow_run = client.read_flow_run(ID.read_text())
        report: RunReport = run_flow(nightly, flow_run=flow_run, parameters=given)
        return report

    return run


@with_option_flags
def night(again: bool = False, **choices: Any) -> None:
    """Run one night, or that night's run again."""
    check_options(choices)
    run_and_show(lambda: nightly_again(again), choices, verbose=False)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False)
    app.command()(night)
    app()
