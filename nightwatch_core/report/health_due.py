"""What is due: things that will fail, or mislead, unless somebody sees to them."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta

from nightwatch_core.models.health import ServiceCalls, StateFolder
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.value import Value
from nightwatch_core.text.units import plural, roughly

SOON = timedelta(days=14)  # a sign-in that ends within
OLD_PRICES = timedelta(days=120)
FULL = 0.9  # of the lessons that are kept at hand
LEAST_FREE = 2**30  # bytes; or
LEAST_SHARE = 0.03  # of the disk


class DueFacts(Value):
    """What the rules look at."""

    report: RunReport
    calls: tuple[ServiceCalls, ...]
    state: StateFolder
    lessons: int | None
    model_note: str


def due_sentences(
    report: RunReport,
    calls: Iterable[ServiceCalls],
    state: StateFolder,
    lessons: int | None,
    model_note: str,
) -> tuple[str, ...]:
    """Everything that is due, one sentence each, what is next to fail first."""
    facts = DueFacts(
        report=report, calls=tuple(calls), state=state, lessons=lessons, model_note=model_note
    )
    return tuple(sentence for rule in DUE for sentence in rule(facts))


def _sign_ins(facts: DueFacts) -> Iterator[str]:
    for one in facts.calls:
        left = one.expires - facts.report.finished if one.expires else None
        if one.expires and left is not None and left < SOON:
            verb = "ended" if left < timedelta() else "ends"
            yield f"the sign-in to {one.service} {verb} on {one.expires:%Y-%m-%d}: make a new one"


def _models(facts: DueFacts) -> Iterator[str]:
    if facts.model_note:
        yield f"{facts.report.options.model} {facts.model_note}"


def _disk(facts: DueFacts) -> Iterator[str]:
    state = facts.state
    if state.size and state.free < max(LEAST_FREE, LEAST_SHARE * state.size):
        yield f"{state.free / 2**30:.1f} GiB are free on the disk of the state folder"


def _gaps(facts: DueFacts) -> Iterator[str]:
    if facts.report.night.left_out:
        yield facts.report.night.left_out


def _locks(facts: DueFacts) -> Iterator[str]:
    locks = facts.state.old_locks
    if locks:
        more = f" (and {len(locks) - 1} more)" if len(locks) > 1 else ""
        yield f"{locks[0]}{more} is over an hour old: delete it, if no git runs there"


def _prices(facts: DueFacts) -> Iterator[str]:
    priced = facts.report.accounts.priced
    try:
        age = facts.report.finished.date() - date.fromisoformat(priced)
    except ValueError:
        return
    if age > OLD_PRICES:
        yield f"prices are {roughly(age)} old ({priced}): costs are reckoned with them"


def _lessons(facts: DueFacts) -> Iterator[str]:
    limit = facts.report.options.max_lessons
    if facts.lessons is not None and facts.lessons >= FULL * limit:
        kept = plural(facts.lessons, "lesson")
        yield f"{kept} of {limit:,} at hand: the least useful are archived from there on"


DUE: tuple[Callable[[DueFacts], Iterator[str]], ...] = (
    _sign_ins,
    _models,
    _disk,
    _gaps,
    _locks,
    _prices,
    _lessons,
)
