"""Play every night with every design, and put what came of it side by side."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.citations import Cited
from benchmarks.tokens import invented, real
from benchmarks.tokens.baselines import before, before_cut, before_traced, seed
from benchmarks.tokens.designs import Design, Outcome
from benchmarks.tokens.ours import ours
from benchmarks.tokens.service import Call, Service
from benchmarks.tokens.words import Night, complaints

from nightwatch_core.adapters.claude.features import priced
from nightwatch_core.models.answer import Usage

DESIGNS: Mapping[str, Design] = {
    "before": before,
    "before, cut": before_cut,
    "before, cut and traced": before_traced,
    "seed design": seed,
    "ours": ours,
}
MODEL = "claude-opus-5-5"


@dataclass(frozen=True)
class Played:
    """One error as one design handled it, and how the stand-in billed it."""

    night: str
    key: str
    right: bool
    calls: tuple[Call, ...]
    usage: Usage  # as the design counted it
    seconds: float
    trouble: str
    cited: Cited | None = None  # of its first message
    confidence: str = ""

    @property
    def billed(self) -> Usage:
        """The stand-in's own sum."""
        return sum((used(call) for call in self.calls), Usage())

    @property
    def late(self) -> tuple[Call, ...]:
        """Calls from the third of a conversation on."""
        return tuple(call for call in self.calls if call.number >= 3)


def all_nights(data: Path = real.EVAL) -> tuple[Night, ...]:
    """The scenarios, checked; raises where one cannot be played as it is written."""
    nights = (*real.nights(data), *invented.nights())
    wrong = [complaint for night in nights for complaint in complaints(night)]
    if wrong:
        raise ValueError("\n".join(wrong))
    return nights


def play(night: Night, design: Design) -> tuple[Played, ...]:
    """One night from a cold cache."""
    return play_counting(night, design)[0]


def play_counting(night: Night, design: Design) -> tuple[tuple[Played, ...], int]:
    """The same, and how many rounds of model calls it took."""
    began = time.perf_counter()
    with Service(night.scenarios) as service:
        found = design(night, service)
    seconds = (time.perf_counter() - began) / max(len(night.scenarios), 1)
    return played(night, found, service, seconds), service.rounds.number


def played(
    night: Night, found: Sequence[Outcome], service: Service, seconds: float = 0.0
) -> tuple[Played, ...]:
    """What was found of each error, beside how the stand-in billed it."""
    outcomes = {one.key: one for one in found}
    return tuple(
        _played(night, number, outcomes, service, seconds) for number in range(len(night.scenarios))
    )


def _played(
    night: Night, number: int, outcomes: Mapping[str, Outcome], service: Service, seconds: float
) -> Played:
    scenario = night.scenarios[number]
    outcome = outcomes.get(scenario.key, Outcome(scenario.key, trouble="not analysed"))
    mine = tuple(call for call in service.calls if call.scenario == scenario.key)
    return Played(
        night.name, scenario.key, outcome.is_right(scenario), mine, outcome.usage, seconds,
        outcome.trouble, service.cited.get(scenario.key), outcome.confidence,
    )  # fmt: skip


def used(call: Call) -> Usage:
    """One call's tokens, priced."""
    return priced(
        MODEL,
        Usage(
            calls=1,
            input_tokens=call.input,
            output_tokens=call.output,
            cache_write_tokens=call.written,
            cache_read_tokens=call.read,
            cost=None,
        ),
    )
