"""`nightwatch check`: does every neighbour answer?"""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.options import with_option_flags


@with_option_flags
def check(**choices: Any) -> None:
    """Ask every configured neighbour whether it can be reached; exit 1 where one cannot."""
    from nightwatch_core.settings import night_options
    from tasks.readers import probes

    table, failed = Table("Neighbour", "Answer", box=None), False
    for name, answer, well in probes(night_options(choices)):
        failed = failed or not well
        table.add_row(name, Text(answer, style="" if well else "bold red"))
    Console().print(table)
    raise SystemExit(1 if failed else 0)
