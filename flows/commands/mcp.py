"""`nightwatch mcp`: the memory for people's own coding agents."""

from typing import Annotated

import typer

Sample = Annotated[bool, typer.Option("--sample", help="Serve what the sample nights taught.")]


def mcp(sample: Sample = False) -> None:
    """Serve lessons and learnings to a coding agent (MCP over standard input and output).

    Reads only, and never the network. Ends when the agent goes away. Needs the extra `mcp`.
    """
    from tasks.serving import serve

    serve(sample)
