"""The journal of a night, read: the files of all its processes as one row of events."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.pieces import joined, name_of
from nightwatch_core.journal.writer import EVENT, RUN, text_of
from nightwatch_core.models.journal import Event, RunHeader


@dataclass
class ProcessFile:
    """What one process wrote, as far as it was read; lines may be added."""

    header: RunHeader | None = None
    events: list[Event] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    torn: int = 0  # lines that could not be read: a kill cut them

    def add(self, line: str) -> None:
        """Read another line."""
        try:
            if line[:1] == EVENT:
                self.events.append(Event.model_validate_json(line[1:]))
            elif line[:1] == RUN:
                self.header = RunHeader.model_validate_json(line[1:])
            elif line:
                text = text_of(line)
                self.texts[name_of(text)] = text
        except (ValidationError, ValueError):
            self.torn += 1


def read_file(lines: Iterable[str]) -> ProcessFile:
    """Read the lines of one process."""
    file = ProcessFile()
    for line in lines:
        file.add(line)
    return file


class NightJournal:
    """All files of a night: runs in the order in which they began, events in that of time."""

    def __init__(self, files: Iterable[ProcessFile]) -> None:
        read = [file for file in files if file.header or file.events or file.torn]
        headers = {file.header.run: file.header for file in read if file.header}
        self.runs = tuple(sorted(headers.values(), key=lambda header: header.began))
        self.torn = sum(file.torn for file in read)
        self.texts: Mapping[str, str] = {
            name: text for file in read for name, text in file.texts.items()
        }
        order = {header.run: number for number, header in enumerate(self.runs)}
        rows = [
            (order.get(file.header.run, -1) if file.header else -1, event)
            for file in read
            for event in file.events
        ]
        rows.sort(key=lambda row: (row[0], row[1].at))
        self._rows = rows

    @property
    def events(self) -> tuple[Event, ...]:
        """Return all events."""
        return tuple(event for _, event in self._rows)

    def by_run(self) -> Iterator[tuple[int, Event]]:
        """Return every event with the number of its run, from 0; -1 where that is not known."""
        yield from self._rows

    def value(self, digest: str) -> Any:
        """Return the JSON that a digest names; raises `GiveUp` where it is not there any more."""
        text = self.texts.get(digest)
        if text is None:
            raise GiveUp(f"the journal lacks a text, {digest[:12]}: it was cut, or deleted")
        return joined(json.loads(text), self.texts)
