"""Play every night with every design, and put what came of it side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tokens import invented, real
from benchmarks.tokens.baselines import before, seed
from benchmarks.tokens.designs import Design, Outcome
from benchmarks.tokens.ours import ours
from benchmarks.tokens.service import Call, Service
from benchmarks.tokens.words import Night, complaints

from nightwatch_core.adapters.claude.features import priced
from nightwatch_core.models.answer import Usage

DESIGNS: Mapping[str, Design] = {"before": before, "seed design": seed, "ours": ours}
MODEL = "claude-opus-5-5"


@dataclass(frozen=True)
class Played:
    """One error as one design handled it, and its bill."""

    key: str
    right: bool
    calls: tuple[Call, ...]
    usage: Usage  # as the design counted it
    trouble: str
    confidence: str = ""

    @property
    def billed(self) -> Usage:
        """The stand-in's own sum."""
        return sum((used(call) for call in self.calls), Usage())


def all_nights(data: Path = real.EVAL) -> tuple[Night, ...]:
    """Return all nights; raises ValueError where one cannot be played as it is written."""
    nights = (*real.nights(data), *invented.nights())
    wrong = [complaint for night in nights for complaint in complaints(night)]
    if wrong:
        raise ValueError("\n".join(wrong))
    return nights


def play(night: Night, design: Design) -> tuple[tuple[Played, ...], int]:
    """Play one night from a cold cache; returns its errors and the rounds of model calls."""
    with Service(night.scenarios) as service:
        found = design(night, service)
    return played(night, found, service), service.rounds.number


def played(night: Night, found: Sequence[Outcome], service: Service) -> tuple[Played, ...]:
    """Return every error of a night with its outcome and its bill."""
    outcomes = {outcome.key: outcome for outcome in found}
    rows = []
    for scenario in night.scenarios:
        outcome = outcomes.get(scenario.key, Outcome(scenario.key, trouble="not analysed"))
        calls = tuple(call for call in service.calls if call.scenario == scenario.key)
        is_right = outcome.is_right(scenario)
        rows.append(
            Played(
                scenario.key, is_right, calls, outcome.usage, outcome.trouble, outcome.confidence
            )  # fmt: skip
        )
    return tuple(rows)


def used(call: Call) -> Usage:
    """Return the tokens of a call, priced."""
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
