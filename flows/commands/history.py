"""`nightwatch history` and `nightwatch report`: the nights that were."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nightwatch_core.errors import StopTheNight

NightName = Annotated[str, typer.Argument(help="Name of the night; empty: the newest.")]


def history(limit: Annotated[int, typer.Option(help="Nights to show.")] = 30) -> None:
    """List the nights that were."""
    from tasks.readers import night_store

    table = Table("Night", "Status", "Errors", "Analysed", "Issues", "Drafts", "Cost", box=None)
    for night in night_store().history()[:limit]:
        cost = "unknown" if night.cost is None else f"${night.cost:.2f}"
        numbers = (night.errors, night.analysed, night.issues, night.pulls)
        table.add_row(Text(night.id), night.status, *map(str, numbers), cost)
    Console().print(table)


def report(night: NightName = "") -> None:
    """Show a night's report again."""
    from nightwatch_core.report.terminal import NightReport
    from tasks.readers import night_store

    for kept in night_store().reports():
        if not night or kept.night.id == night:
            Console().print(NightReport(kept))
            return
    raise StopTheNight(f"no night {night[:80]!r} was kept: see `nightwatch history`")
