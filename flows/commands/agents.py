"""`nightwatch agents`: who can lead an analysis."""

from rich.console import Console
from rich.table import Table
from rich.text import Text


def agents() -> None:
    """List the agent files."""
    from tasks.readers import agent_shelf

    shelf = agent_shelf()
    table = Table("Agent", "Languages", "Description", box=None, pad_edge=False)
    for name in shelf.names():
        agent = shelf.agent(name)
        table.add_row(Text(name), Text(", ".join(agent.languages)), Text(agent.description))
    Console().print(table)
