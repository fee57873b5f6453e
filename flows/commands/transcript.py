"""`nightwatch transcript`: what was said between us and the model about one error."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

Fingerprint = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
OfNight = Annotated[str, typer.Option("--night", help="Of this night; empty: the newest one.")]
Full = Annotated[bool, typer.Option("--full", help="Show texts whole, and the system prompt.")]


def transcript(fingerprint: Fingerprint, night: OfNight = "", full: Full = False) -> None:
    """Print the newest conversation about an error."""
    from nightwatch_core.text.transcript_text import shown
    from tasks.wiring import transcripts

    found = transcripts().find(fingerprint.strip(), night.strip())
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    for part in shown(found, full):
        console.print(Text(part.text, part.style), soft_wrap=True)
