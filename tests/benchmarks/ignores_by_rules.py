"""Ignore suggestions where only the rules analysed: 20 nights, every error labelled.

A suggestion is right where all that it covers is noise; noise is found where a suggestion covers it
that came after its third night, or after people accepted it. What is a bug here looks like noise in
one thing: its class, its return every night, or that no user is known.
"""

import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from nightwatch_core.intake.ignore_rules import matches
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import IgnoreRules, Lesson, NightSeen, OutcomeEvent
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.patterns.ignore_suggestions import advise, as_group, rule_from
from nightwatch_core.patterns.nights import NightGroups
from nightwatch_core.text.fingerprints import fingerprint

NIGHTS = 20
FIRST = datetime(2031, 1, 1, 4, tzinfo=UTC)
DEPLOY = 8  # the night with the first errors of the second release
WORDS = (
    *("basket", "invoice", "voucher", "parcel", "label", "ledger"),
    *("badge", "courier", "tenant", "widget", "stock", "avatar"),
)


@dataclass(frozen=True)
class Kind:
    """Errors that look alike; `noise` is the label."""

    noise: bool
    classes: tuple[str, ...]
    message: str
    share: float  # of nights on which it comes
    users: int | None = None  # of a night
    first: int = 0  # night
    growth: float = 1.0  # a night
    in_code: bool = True  # the trace has a frame of the application
    accepted: bool = False


KINDS = {
    "client gone": Kind(True, ("ClientDisconnect", "Puma::ClientShutdown"),
                        "client disconnected while {} was sent", 0.9, 4),
    "scanner": Kind(True, ("ActionController::RoutingError",), "No route matches /{}/x.php", 0.8,
                    0, in_code=False),
    "outage": Kind(True, ("Net::ReadTimeout", "httpx.ConnectTimeout"),
                   "no answer from the {} service", 0.35, 1),
    "accepted": Kind(True, ("KeyError", "Shop::Refused"), "the {} was refused by the supplier",
                     0.9, 3, accepted=True),
    "crash": Kind(False, ("TypeError", "KeyError", "Shop::Broken"), "the {} has no total", 0.9, 9),
    "silent job": Kind(False, ("Shop::JobFailed", "ValueError"), "could not write the {} file", 1,
                       0),
    "broken link": Kind(False, ("ActionController::RoutingError",), "No route matches /{}/old",
                        0.9, 7, in_code=False),
    "down for users": Kind(False, ("Net::ReadTimeout",), "no answer from our own {} store", 0.4, 8),
    "stays down": Kind(False, ("Net::OpenTimeout",), "the address of {} is wrong", 1, 1),
    "since a release": Kind(False, ("ClientDisconnect",), "client disconnected: {} took too long",
                            0.95, 5, first=DEPLOY),
    "rises": Kind(False, ("ClientDisconnect",), "client disconnected: slow {} page", 1, 5,
                  growth=1.35),
}  # fmt: skip


@dataclass(frozen=True)
class Error:
    """One error of a kind."""

    name: str
    error_class: str
    message: str
    transaction: str
    rate: float

    @property
    def kind(self) -> Kind:
        """Return its kind."""
        return KINDS[self.name]

    def seen(self, day: int, chance: random.Random) -> ErrorGroup | None:
        """Return what is seen of it on a night."""
        if day < self.kind.first or chance.random() > self.kind.share:
            return None
        mean = self.rate * self.kind.growth ** (day - self.kind.first)
        count = max(1, round(mean * chance.uniform(0.75, 1.25)))
        users = self.kind.users
        return ErrorGroup(
            fingerprint=fingerprint("shop", self.error_class, self.transaction, self.message),
            source="simulated",
            error_class=self.error_class,
            transaction=self.transaction,
            message=self.message,
            occurrences=count,
            users=None if users is None else min(users, count),
            releases=("1",) if day < DEPLOY else ("2",),
        )


def errors(chance: random.Random) -> list[Error]:
    """Return two errors of each kind."""
    made = []
    for name, kind in KINDS.items():
        for word in chance.sample(WORDS, 2):
            place = f"{name.partition(' ')[0]}/{word}"
            rate = chance.uniform(3, 30)
            error_class = chance.choice(kind.classes)
            made.append(Error(name, error_class, kind.message.format(word), place, rate))
    return made


def by_rules(first: int, worlds: int) -> tuple[str, ...]:
    """Return the figures of so many worlds, in words."""
    found, noise, suggested, wrong = Counter[str](), Counter[str](), 0, Counter[str]()
    for seed in range(first, first + worlds):
        chance = random.Random(seed)
        world = errors(chance)
        rules, due = live(world, chance)
        suggested += len(rules)
        for error in world:
            covering = [rule for rule in rules if matches(rule, plain(error))]
            if error.kind.noise and error in due:
                noise[error.name] += 1
                found[error.name] += bool(covering)
            if not error.kind.noise:
                wrong[error.name] += len(covering)
    right, every = sum(found.values()), sum(noise.values())
    bad = sum(wrong.values())
    kinds = ", ".join(f"{name} {found[name]} of {noise[name]}" for name in noise)
    harm = ", ".join(f"{name} {count}" for name, count in wrong.items() if count) or "none"
    return (
        f"by rules alone, {worlds} worlds of {NIGHTS} nights from seed {first}:",
        f"  suggestions {suggested}, precision {(suggested - bad) / (suggested or 1):.3f}, "
        f"recall {right / (every or 1):.3f}",
        f"  noise with a rule: {kinds}",
        f"  bugs under a rule: {harm}",
    )


def live(world: list[Error], chance: random.Random) -> tuple[list, set[Error]]:
    """Let the nights pass; return every different rule, and the noise that should have one."""
    nights: list[NightGroups] = []
    lessons: dict[str, Lesson] = {}
    rules, due = [], set()
    for day in range(NIGHTS):
        until = FIRST + timedelta(days=day)
        window = Window(since=until - timedelta(days=1), until=until)
        shown = [(error, group) for error in world if (group := error.seen(day, chance))]
        for error, group in shown:
            lesson = lessons[group.fingerprint] = remembered(error, group, day, until, lessons)
            is_transient = error.name != "outage" or len(lesson.nights) >= 5
            if error.kind.noise and len(lesson.nights) >= 3 and is_transient:
                due.add(error)
        nights = [NightGroups(window=window, groups=tuple(g for _, g in shown)), *nights]
        night = Night(id=f"{until.date()}-{day}", window=window, now=until)
        options = NightOptions(source="file")
        report = RunReport(night=night, options=options, started=until, finished=until)
        advice = advise(report, tuple(lessons.values()), IgnoreRules(), nights)
        plain_rules = [
            rule_from(item).model_copy(update={"expires": None, "unless_rate_above": None})
            for item in advice.suggestions
        ]
        rules += [rule for rule in plain_rules if not any(_same(rule, item) for item in rules)]
    return rules, due


def _same(rule, other) -> bool:
    return (rule.pattern, rule.match, rule.field) == (other.pattern, other.match, other.field)


def remembered(
    error: Error, group: ErrorGroup, day: int, until: datetime, lessons: dict[str, Lesson]
) -> Lesson:
    """Return the error's lesson with one more night, as the rules leave it."""
    seen = NightSeen(
        date=until.date(),
        night=f"{until.date()}-{day}",
        occurrences=group.occurrences,
        verdict="known",
        confidence="low",
        hours=24,
    )
    old = lessons.get(group.fingerprint) or Lesson(
        fingerprint=group.fingerprint,
        error_class=group.error_class,
        transaction=group.transaction,
        message=group.message,
        module="shop/place.py" if error.kind.in_code else "",
        root_cause="",
        model="rules",
        first_detected=until.date(),
    )
    declined = OutcomeEvent(kind="not planned", number=7, on=until.date(), words=("Known.",))
    outcomes = (declined,) if error.kind.accepted and len(old.nights) >= 2 else ()
    return old.model_copy(
        update={"nights": (*old.nights, seen), "outcomes": old.outcomes or outcomes}
    )


def plain(error: Error) -> ErrorGroup:
    """Return one sighting of an error."""
    return as_group(
        Lesson(
            fingerprint="v1:0",
            error_class=error.error_class,
            transaction=error.transaction,
            message=error.message,
            root_cause="",
            first_detected=FIRST.date(),
        )
    )
