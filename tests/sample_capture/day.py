"""The sample's day: who sends what to the application, and when."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import yaml

SEED = 1117
SINCE = datetime(2026, 11, 17, 4, tzinfo=UTC)
UNTIL = SINCE + timedelta(days=1)
RELEASES = (  # what ran, and from when on
    ("v2026.11.3", SINCE),
    ("v2026.11.4", datetime(2026, 11, 17, 12, 34, 10, tzinfo=UTC)),
)
WEB_HOSTS = ("web-1", "web-2")
JOB_HOST = "jobs-1"
STAFF = "tok-901"
REGULARS = range(1, 81)  # live in a zone, bought what is still sold
LOYAL = range(81, 101)  # bought something that has been withdrawn since
REMOTE = range(101, 113)  # live where no depot delivers
PEOPLE = {
    "loyal": LOYAL,
    "remote": REMOTE,
    "pays_well": range(1, 81, 2),
    "pays_with_challenge": range(4, 81, 4),
}
WITHDRAWN = (14, 27, 41)


def _hours(weights: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(weights.get(hour, 0) for hour in range(24))


SHOP = (2, 1, 0, 0, 1, 3, 6, 9, 11, 12, 11, 10, 9, 8, 8, 9, 12, 15, 16, 14, 10, 7, 4, 3)
HOURS = {
    "office": _hours({7: 2, 8: 4, 9: 5, 10: 4, 11: 3, 12: 1, 13: 4, 14: 4, 15: 3}),
    "round_the_clock": (1,) * 24,
    "carrier_slow": _hours({9: 1, 10: 6, 11: 9, 12: 2, 16: 1, 17: 5, 18: 3}),
    "carrier_resets": _hours({10: 1, 11: 3, 18: 2, 22: 1}),
    "carrier_maintenance": _hours({5: 4, 20: 5}),
    "imports_run_long": _hours({6: 1, 7: 3}),
}


@dataclass(frozen=True)
class Step:
    """One thing that happens: a request, a job (`JOB`), or a supplier's feed (`FEED`)."""

    at: datetime
    host: str
    call: str
    target: str
    token: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    carrier: str = "well"
    locked: bool = False


@dataclass(frozen=True)
class Traffic:
    """Requests of one kind; braces in the path and the fields are filled in for each of them."""

    count: int
    call: str
    path: str
    people: range = REGULARS
    fields: Mapping[str, str] = field(default_factory=dict)
    hours: tuple[int, ...] = SHOP
    carrier: str = "well"
    locked: bool = False
    shops_first: bool = False
    token: str | None = None

    def steps(self, random: Random) -> Iterator[Step]:
        for _ in range(self.count):
            hour = random.choices(range(24), self.hours)[0]
            offset = timedelta(
                hours=(hour - SINCE.hour) % 24, milliseconds=random.randrange(3600000)
            )
            person = random.choice(self.people)
            values = _values(person, random)
            step = Step(
                at=SINCE + offset,
                host=random.choice(WEB_HOSTS),
                call=self.call,
                target=self.path.format_map(values),
                token=f"tok-{person}" if self.token is None else self.token,
                fields={name: text.format_map(values) for name, text in self.fields.items()},
                carrier=self.carrier,
                locked=self.locked,
            )
            if self.shops_first:
                yield _shopping(step, values["product"])
            yield step


def _values(person: int, random: Random) -> dict[str, str]:
    return {
        "first": str(1000 + 2 * person),
        "second": str(1001 + 2 * person),
        "product": str(random.choice([n for n in range(1, 61) if n not in WITHDRAWN])),
        "withdrawn": str(random.choice(WITHDRAWN)),
        "chilled": str(random.randrange(1301, 1307)),
        "card": f"tok_3ds_{person}" if person % 4 == 0 else f"tok_visa_{person}",
        "postcode": random.choice(("17489", "01067", "39104", "99084")),
        "price": random.choice(("3,50", "12,90", "21,40")),
    }


def _shopping(step: Step, product: str) -> Step:
    """The request before this one: its sender puts something into the basket."""
    return Step(
        at=step.at - timedelta(seconds=9),
        host=step.host,
        call="POST",
        target="/checkout/lines",
        token=step.token,
        fields={"product": product, "quantity": "2"},
    )


def _traffic(row: dict[str, Any]) -> Traffic:
    named = {"people": PEOPLE, "hours": HOURS}
    return Traffic(
        **{key: named[key][value] if key in named else value for key, value in row.items()}
    )


_ROWS = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
TRAFFIC = tuple(map(_traffic, _ROWS))


def _jobs(random: Random) -> Iterator[Step]:
    def job(name: str, minutes: int, carrier: str = "well", locked: bool = False) -> Step:
        late = timedelta(minutes=minutes, milliseconds=random.randrange(400, 2600))
        return Step(SINCE + late, JOB_HOST, "JOB", name, carrier=carrier, locked=locked)

    for hour in range(24):
        yield job("StockImport", hour * 60 + 5, locked=hour in (2, 3))
        yield job("PaymentRetry", hour * 60 + 25)
        if hour % 2 == 0:
            yield job("InvoiceMailer", hour * 60 + 10)
        if 1 <= hour < 16:
            yield job("LabelPrinter", hour * 60 + 40)
        if hour in (4, 8, 12):
            yield job("SlotReminder", hour * 60)
        slow, resets = hour in (6, 7, 13, 14), hour in (18, 20)
        mood = "slow" if slow else "reset" if resets else "well"
        yield job("TrackingPoll", hour * 60 + 15, mood)
        yield job("TrackingPoll", hour * 60 + 45, mood)
    yield job("NightlyDigest", 22 * 60 + 30)


def _staff() -> Iterator[Step]:
    for product, minutes in zip(WITHDRAWN, (1, 3, 161), strict=True):
        path = f"/admin/products/{product}/withdraw"
        yield Step(SINCE + timedelta(minutes=minutes), "web-1", "POST", path, STAFF)
    for version, minutes in (("points", 2), ("commas", 302), ("longer", 662)):
        yield Step(SINCE + timedelta(minutes=minutes), JOB_HOST, "FEED", version)


def steps() -> list[Step]:
    """The whole day, in order."""
    random = Random(SEED)
    day = [step for traffic in TRAFFIC for step in traffic.steps(random)]
    day += [*_jobs(random), *_staff()]
    return sorted(day, key=lambda step: step.at)
