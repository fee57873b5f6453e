"""`nightwatch batches`: the batches that were submitted."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from nightwatch_core.text.plain_text import moment
from tasks.wiring.services import kept_batches

NONE = "No batch was submitted yet: `nightwatch night --batch` submits one."


def batches() -> None:
    """List the batches that were submitted, newest first, and those that wait to be collected.

    Asks no service: `nightwatch night --collect` does.
    """
    store, console = kept_batches(), Console()
    table = Table("Night", "Submitted", "Batch", "Model", "Errors", "Collected by", box=None)
    submitted = store.batches()
    for batch in reversed(submitted):
        cells = (batch.night, moment(batch.submitted), batch.id or "perhaps submitted", batch.model)
        count = str(len(batch.fingerprints))
        collected = batch.collected_by or ("read, not reported" if batch.results else "not yet")
        table.add_row(*map(Text, (*cells, count, collected)))
    console.print(table if submitted else NONE)
    for complaint in store.complaints():
        console.print(Text(complaint, style="bold red"))
