"""`nightwatch agents`: who can lead an analysis."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nightwatch_core.analysis.agent_specs import agents_of
from tasks.wiring import agent_store


def agents() -> None:
    """List the agent files, and what is wrong with those that cannot be used."""
    files, console = agents_of(agent_store()), Console()
    table = Table("Agent", "Languages", "Description", box=None, pad_edge=False)
    for agent in files.specs:
        table.add_row(Text(agent.name), Text(", ".join(agent.languages)), Text(agent.description))
    console.print(table)
    for complaint in files.complaints:
        console.print(Text(complaint, style="bold red"))
