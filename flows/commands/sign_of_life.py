"""A sign of life while something runs, and how far the reading of large files is."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from nightwatch_core.models.file_contents import ReadingProgress
from tasks.reading_progress import sentence, shown_by

TERMINAL_SECONDS, LINE_SECONDS = 0.2, 15.0  # between two signs


@contextmanager
def sign_of_life(console: Console, text: str) -> Iterator[None]:
    """Show on the console that something runs, and how far the reading of large files is.

    A terminal shows a line that changes; anything else gets a line every so often.
    """
    if not console.is_terminal:
        with shown_by(lambda progress: _print(console, progress), LINE_SECONDS):
            yield
        return
    with console.status(text) as status:

        def show(progress: ReadingProgress) -> None:
            is_done = progress.bytes >= progress.of_bytes
            status.update(text if is_done else Text(f"{sentence(progress).capitalize()} …"))

        with shown_by(show, TERMINAL_SECONDS):
            yield


def _print(console: Console, progress: ReadingProgress) -> None:
    console.print(sentence(progress), markup=False, highlight=False, soft_wrap=True)
