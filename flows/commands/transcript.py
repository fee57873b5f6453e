"""`nightwatch transcript`: what was said between us and the model about one error."""

from typing import Annotated

import typer
from rich.text import Text

from flows.commands.running import OfNight, plain_console
from nightwatch_core.text.transcript_text import shown
from tasks.wiring import transcripts

Fingerprint = Annotated[str, typer.Argument(help="Fingerprint of the error, or its beginning.")]
Full = Annotated[bool, typer.Option("--full", help="Show texts whole, and the system prompt.")]


def transcript(fingerprint: Fingerprint, night: OfNight = "", full: Full = False) -> None:
    """Print the newest conversation about an error."""
    transcript = transcripts().find(fingerprint.strip(), night.strip())
    console = plain_console()
    for part in shown(transcript, full):
        console.print(Text(part.text, part.style))
