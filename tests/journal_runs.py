"""The journals of a night's runs, in memory."""

from collections.abc import Callable
from datetime import timedelta

from twins.reading import MemoryClock

from nightwatch_core.journal.reader import NightJournal, read_file
from nightwatch_core.journal.recorder import Recorder
from nightwatch_core.journal.resuming import Earlier
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.journal import Event, RunHeader
from nightwatch_core.ports import Model


class JournalRuns:
    """One file a run; what any of them was answered is found again."""

    def __init__(self, scrub: Callable[[str], str] = str) -> None:
        self.files: list[list[str]] = []
        self.scrub, self.clock = scrub, MemoryClock()
        self.shared: list[int] = []  # lines of the journal whenever a paid answer was in it

    @property
    def journal(self) -> NightJournal:
        """What all runs have written."""
        return NightJournal(map(read_file, self.files))

    def of(self, question: Event) -> tuple[Earlier, ...]:
        """What was answered to the question before."""
        journal = self.journal
        key = question.port, question.call, question.exact
        events = [item for item in journal.events if (item.port, item.call, item.exact) == key]
        return tuple(Earlier(event, journal.value(event.answer)) for event in events)

    def model(self, inner: object, name: str = "remote") -> Model:
        """The model of another run."""
        lines: list[str] = []
        self.files.append(lines)
        self.clock.pass_by(timedelta(hours=1).total_seconds())
        header = RunHeader(run=str(len(self.files)), began=self.clock.now())
        recorder = Recorder(
            Journal(lines.extend, header),
            self.scrub,
            self.clock,
            lambda: "analyse",
            self,
            paid=lambda: self.shared.append(len(lines)),
        )
        recorded: Model = recorder.recorded(Model, f"model@{name}", inner)
        return recorded
