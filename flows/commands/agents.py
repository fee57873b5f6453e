"""`nightwatch agents`: who can lead an analysis."""

from rich.console import Console
from rich.table import Table
from rich.text import Text


def agents() -> None:
    """List the agent files, and what is wrong with those that cannot be used."""
    from nightwatch_core.analysis.specs import agents_of
    from tasks.readers import agent_shelf

    found, console = agents_of(agent_shelf()), Console()
    table = Table("Agent", "Languages", "Description", box=None, pad_edge=False)
    for agent in found.specs:
        table.add_row(Text(agent.name), Text(", ".join(agent.languages)), Text(agent.description))
    console.print(table)
    for complaint in found.complaints:
        console.print(Text(complaint, style="bold red"))
