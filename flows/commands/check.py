"""`nightwatch check`: does every neighbour answer?"""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.options import with_option_flags
from flows.commands.running import make_prefect_ready


@with_option_flags
def check(**choices: Any) -> None:
    """Ask every neighbour of a night whether it answers and what it allows; writes nothing there.

    Takes the options of a night. Exit code: 0 where all are well, 1 where one is not.
    """
    from nightwatch_core.settings import night_options, settings

    options = night_options(choices)
    make_prefect_ready(settings().state, verbose=False)
    from tasks.probing import probes

    table = Table("", "Neighbour", "Answer", box=None)
    failed = 0
    with Console(stderr=True).status("Asking …"):
        for name, answer, is_well in probes(options):
            failed += not is_well
            mark = Text("✓", style="green") if is_well else Text("✗", style="bold red")
            table.add_row(mark, name, Text(answer, style="" if is_well else "bold red"))
    console = Console()
    console.print(table)
    if failed:
        console.print(f"\n{failed} of {table.row_count} are not well.", style="bold red")
    raise SystemExit(1 if failed else 0)
