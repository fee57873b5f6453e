from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.memory.rates import looked_at, spread_before
from nightwatch_core.models.errors import Window
from nightwatch_core.models.knowledge import FixWatch, Lesson, NightSeen, OccurrenceCount
from nightwatch_core.models.report import Night, NightKind, NightRecord

BEGIN = datetime(2031, 3, 1, tzinfo=UTC)
KEY = "newrelic||shop|17|Shop"


def at(hours: float) -> datetime:
    return BEGIN + timedelta(hours=hours)


def record(since: datetime, until: datetime, **fields: Any) -> NightRecord:
    key = fields.pop("key", KEY)
    name = fields.pop("id", f"{since.isoformat()}-{until.isoformat()}")
    window = Window.model_construct(since=since, until=until)
    night = Night(id=name, window=window, now=BEGIN, kind=NightKind(key=key))
    told = {"status": "complete", "started": BEGIN, "read_whole": True, "night": night}
    return NightRecord(id=name, **{**told, **fields})


def hours(*records: NightRecord, since: float = 0, until: float = 100) -> float:
    return looked_at(records, KEY, at(since), at(until)).hours


def test_only_the_stretch_counts() -> None:
    assert hours(record(at(-12), at(12)), since=0, until=6) == 6
    assert hours(record(at(0), at(24)), since=24, until=48) == 0
    assert hours(record(at(0), at(24)), since=6, until=6) == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "file|e.json|"},
        {"status": "failed"},
        {"status": "running"},
        {"read_whole": False},
        {"night": None},
    ],
    ids=["another source", "failed", "running", "a part", "no night"],
)
def test_what_was_not_read_whole_does_not_count(fields: dict[str, Any]) -> None:
    assert hours(record(at(0), at(24), **fields)) == 0
    assert hours(record(at(0), at(24), status="degraded")) == 24
    assert looked_at((record(at(0), at(24), key=""),), "", at(0), at(24)).hours == 0


def test_records_that_people_broke_are_skipped() -> None:
    naive = datetime(2031, 3, 1)  # noqa: DTZ001
    broken = (
        record(naive, naive + timedelta(hours=24), id="naive"),
        record(at(0), naive, id="mixed"),
        record(at(24), at(0), id="backwards"),
    )
    assert hours(*broken, record(at(0), at(2))) == 2


def test_a_naive_stretch_is_taken_as_utc() -> None:
    naive = datetime(2031, 3, 1)  # noqa: DTZ001
    found = looked_at((record(at(0), at(24)),), KEY, naive, naive + timedelta(hours=5))
    assert found.hours == 5


def test_time_zones_are_minded() -> None:
    east = timezone(timedelta(hours=9))
    assert hours(record(at(0).astimezone(east), at(24).astimezone(east)), until=10) == 10


def test_traffic_is_known_where_every_night_knows_it() -> None:
    half = record(at(0), at(24), traffic=1_000)
    other = record(at(24), at(48), traffic=500)
    assert looked_at((half, other), KEY, at(12), at(48)).traffic == 1_000
    unknown = other.model_copy(update={"traffic": None})
    assert looked_at((half, unknown), KEY, at(12), at(48)).traffic is None
    assert looked_at((half, unknown), KEY, at(12), at(24)).traffic == 500
    assert looked_at((), KEY, at(12), at(24)).traffic is None


windows = st.tuples(st.integers(0, 200), st.integers(1, 80)).map(
    lambda pair: record(at(pair[0]), at(pair[0] + pair[1]), traffic=pair[1])
)


@given(st.lists(windows, max_size=12), st.randoms())
def test_the_hours_are_those_of_the_union(records: list[NightRecord], chance: Any) -> None:
    union = {
        hour
        for one in records
        if one.night
        for hour in range(200)
        if at(hour) >= one.night.window.since and at(hour) < one.night.window.until
    }
    shuffled = sorted(records, key=lambda _: chance.random())
    found = looked_at(records, KEY, at(0), at(200))
    assert found.hours == pytest.approx(len(union))
    assert looked_at(shuffled, KEY, at(0), at(200)) == found
    assert looked_at((*records, *records), KEY, at(0), at(200)) == found


@pytest.mark.parametrize("zone", [-11, -3, 0, 9, 14])
def test_a_night_is_before_a_merge_in_every_time_zone(zone: int) -> None:
    """Dates of nights are local and a merge's is UTC: only moments tell which came first."""
    nights = tuple(
        NightSeen(date=at(until).date(), night=f"n{until}", occurrences=14, hours=24, verdict="new")
        for until in (12, 36)
    )
    lesson = Lesson(
        fingerprint="v1:a", error_class="E", root_cause="", first_detected=BEGIN, nights=nights
    )
    records = tuple(record(at(until - 24), at(until), id=f"n{until}") for until in (12, 36))
    tonight = Night(id="n60", window=Window(since=at(36), until=at(60)), now=at(60))

    def spread_of(merged: datetime) -> float:
        here = merged.astimezone(timezone(timedelta(hours=zone)))
        watch = FixWatch(number=7, merged_at=here, before=OccurrenceCount(hours=24))
        return spread_before(lesson, watch, records, tonight)

    assert spread_of(at(24)) == spread_of(at(35)) != spread_of(at(37))
