"""What one pass over files of errors gave."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightwatch_core.adapters.files.entries import Entry
from nightwatch_core.adapters.files.limits import MAX_REJECTS, MAX_SENTENCES
from nightwatch_core.intake.grouping import Tally
from nightwatch_core.intake.limits import GROUPS
from nightwatch_core.models.error import Occurrence, RejectedRecord, Window

A_MOMENT = timedelta(microseconds=1)


@dataclass
class Reading:
    """What one pass over all files gave."""

    tally: Tally
    begin: datetime | None  # records before it are left out
    latest: datetime | None  # times after it cannot be
    app: str = ""  # of records that name none
    rejects: dict[tuple[str, str, str], RejectedRecord] = field(default_factory=dict)
    rejected: int = 0
    harmless: int = 0  # records that are no errors
    older: int = 0
    ahead: int = 0
    opened: int = 0
    shapes: Counter[str] = field(default_factory=Counter)  # records by the name of their shape
    left_out: Counter[str] = field(default_factory=Counter)  # what was not taken, by its reason
    entries: int = 0
    unread: list[str] = field(default_factory=list)  # why files could not be read
    partial: list[str] = field(default_factory=list)

    @property
    def readable(self) -> int:
        """Records that were understood."""
        return self.tally.records + self.harmless + self.older

    def count(self, entry: Entry) -> None:
        """Count one entry of a file."""
        self.entries += 1
        if isinstance(entry, Occurrence):
            self._count_occurrence(entry)
        elif isinstance(entry, RejectedRecord):
            self._count_reject(entry)
        elif isinstance(entry, str):
            self.partial.append(entry)
        else:
            self.harmless += 1

    def _count_reject(self, reject: RejectedRecord) -> None:
        """The same refusal in one file is one, counted at the place where it came first."""
        self.rejected += 1
        key = (reject.place.rpartition(":")[0], reject.reason, reject.text)
        if earlier := self.rejects.get(key):
            self.rejects[key] = earlier.model_copy(update={"count": earlier.count + 1})
        elif len(self.rejects) < MAX_REJECTS:
            self.rejects[key] = reject

    def _count_occurrence(self, seen: Occurrence) -> None:
        last = seen.last_seen
        if last and self.latest and last > self.latest:
            self.ahead += 1
            seen = seen.model_copy(update={"first_seen": None, "last_seen": None})
        elif last and self.begin and last < self.begin:
            self.older += 1
            return
        self.tally.add(seen if seen.app else seen.model_copy(update={"app": self.app}))


def window_of(reading: Reading) -> Window | None:
    """Give the span of the records that count; None where no record says a time."""
    if reading.tally.span is None:
        return None
    first, last = reading.tally.span
    return Window(since=max(first, reading.begin or first), until=last + A_MOMENT)


def rejects_of(reading: Reading) -> tuple[RejectedRecord, ...]:
    """List what could not be read; the last line counts what is not listed."""
    listed = tuple(reading.rejects.values())
    more = reading.rejected - sum(one.count for one in listed)
    reason = f"{more} more records are unreadable; they are not listed"
    return (*listed, *([RejectedRecord(place="", reason=reason, count=more)] if more else []))


def left_out_of(reading: Reading) -> tuple[str, ...]:
    """Count what was not taken though it may matter to somebody, by its reason."""
    return tuple(f"{count:,} {reason}" for reason, count in reading.left_out.most_common())


def missing_of(reading: Reading) -> tuple[str, ...]:
    """Say what else is missing, a sentence each."""
    tally, of_files = reading.tally, tuple(dict.fromkeys((*reading.unread, *reading.partial)))
    missing = list(of_files[:MAX_SENTENCES])
    if len(of_files) > MAX_SENTENCES:
        missing.append(f"{len(of_files) - MAX_SENTENCES:,} more sentences like these")
    if reading.ahead:
        missing.append(f"{reading.ahead} records say a time in the future; counted without a time")
    if tally.left_out:
        missing.append(f"{tally.left_out} records of more than {GROUPS} errors are left out")
    if tally.stacks_left_out:
        missing.append(f"{tally.stacks_left_out} stack traces are left out: too much text")
    return tuple(missing)
