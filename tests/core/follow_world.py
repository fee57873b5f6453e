"""A production that goes on from night to night, for the tests of what becomes of fixes."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from nightwatch_core.memory.occurrences import add_night
from nightwatch_core.memory.outcomes import Tonight, apply_outcomes, follow_lesson
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import Lesson, NightSeen, OutcomeUpdate, PublishedItem
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import Night, NightKind, NightRecord

NAME, KEY = "v1:aaaaaaaabbbb", "newrelic||shop|17|Shop"
BEGIN = datetime(2031, 3, 1, 2, tzinfo=UTC)  # the first night ends
DAY = timedelta(days=1)
OLD = Commit(repository="shop", sha="a" * 40, at=BEGIN - 9 * DAY)
EDIT = Edit(path="app/rate.rb", old="RATES.fetch(code)", new="Rates.of(code)")


def at(number: float) -> datetime:
    """The end of that night; 1 is the first."""
    return BEGIN + (number - 1) * DAY


def night(number: int, key: str = KEY, hours: float = 24) -> Night:
    window = Window(since=at(number) - timedelta(hours=hours), until=at(number))
    name = f"{at(number).date().isoformat()}-c0de"
    return Night(id=name, window=window, now=at(number), kind=NightKind(key=key, scheduled=True))


def record(number: int, **fields: Any) -> NightRecord:
    one = night(number, fields.pop("key", KEY), fields.pop("hours", 24))
    told = {"status": "complete", "started": one.now, "read_whole": True, "night": one}
    return NightRecord(id=one.id, **{**told, **fields})


def group(occurrences: int, **fields: Any) -> ErrorGroup:
    told = {"fingerprint": NAME, "source": "newrelic", "error_class": "KeyError"}
    return ErrorGroup(**{**told, "occurrences": occurrences, **fields})


def tonight(number: int, occurrences: int = 0, **fields: Any) -> Tonight:
    groups = (group(occurrences),) if occurrences else ()
    told = {
        "night": night(number),
        "groups": groups,
        "read_whole": True,
        "commit": OLD,
        "records": tuple(record(one) for one in range(1, number)),
    }
    return Tonight(**{**told, **fields})


def lesson(*occurrences: int, **fields: Any) -> Lesson:
    """Seen on the first nights, so often each."""
    told = {
        "fingerprint": NAME,
        "error_class": "KeyError",
        "root_cause": "no rate",
        "first_detected": date(2031, 3, 1),
        "nights": tuple(seen(number, many) for number, many in enumerate(occurrences, 1) if many),
        "edits": (EDIT,),
        "proposed": tuple(
            PublishedItem(kind=kind, number=number, on=date(2031, 3, 1))
            for kind, number in (("issue", 3), ("pull", 4))
        ),
    }
    return Lesson(**{**told, **fields})


def seen(number: int, occurrences: int) -> NightSeen:
    one = night(number)
    return NightSeen(
        date=at(number).date(), night=one.id, occurrences=occurrences, verdict="known", hours=24
    )


def pull(number: int = 4, **fields: Any) -> OwnItem:
    return OwnItem(**{"kind": "pull", "number": number, "fingerprint": NAME, **fields})


def issue(number: int = 3, **fields: Any) -> OwnItem:
    return OwnItem(**{"kind": "issue", "number": number, "fingerprint": NAME, **fields})


def never(_: Lesson) -> bool:
    return False


class Production:
    """What the world does night by night, and what the lesson keeps of it."""

    def __init__(self, known: Lesson, night: int) -> None:
        self.lesson, self.number = known, night
        self.items: tuple[OwnItem, ...] = ()
        self.commit = OLD
        self.told: list[OutcomeUpdate] = []

    def nights(self, *occurrences: int, **fields: Any) -> list[str]:
        """So many occurrences on the next nights; the outcomes that were told of."""
        return [kind for many in occurrences for kind in self._night(many, **fields)]

    def _night(self, occurrences: int, **fields: Any) -> list[str]:
        self.number += 1
        told = {"commit": self.commit, **fields}
        now = tonight(self.number, occurrences, **told)
        news = follow_lesson(self.lesson, self.items, now, never)
        if news:
            self.told.append(news)
            self.lesson = apply_outcomes(self.lesson, news)
            assert apply_outcomes(self.lesson, news) == self.lesson
        assert follow_lesson(self.lesson, self.items, now, never) is None, (
            "the window is read twice"
        )
        if occurrences:
            nights = add_night(self.lesson.nights, seen(self.number, occurrences))
            update = {"nights": nights, "seen_until": at(self.number)}
            self.lesson = self.lesson.model_copy(update=update)
        return [event.kind for event in news.outcomes] if news else []

    def merge(self, number: int = 4) -> None:
        """In the day after the last night."""
        self.items = (pull(number, state="merged", merged_at=at(self.number) + DAY / 3),)

    def deploy(self) -> None:
        """Now, by a commit that is newer than the merge."""
        self.commit = OLD.model_copy(update={"sha": "b" * 40, "at": at(self.number) + DAY / 2})
