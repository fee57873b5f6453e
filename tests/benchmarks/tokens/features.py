"""Ours with one feature taken away, and what each gives: the rows of EFFICIENCY.md."""

from collections.abc import Mapping
from functools import partial

from benchmarks.tokens.designs import OPTIONS, Design
from benchmarks.tokens.ours import Features, ours

from nightwatch_core.adapters.claude.features import Tuning

FLAT = {"max_iterations": 15, "effort": "medium"}  # as the seed was before
FEW_TURNS = 2


def _given(**options: object) -> Features:
    return Features(options=OPTIONS.model_copy(update=options), given=tuple(options))


def _without(features: Features) -> Design:
    return partial(ours, features=features)


def _clearing(at: int | None, least: int = 20_000, keep: int = 6) -> Design:
    tuning = Tuning(clear_at=at, clear_at_least=least, keep_results=keep, compact_at=None)
    return _without(Features(tuning=tuning))


ABLATION: Mapping[str, Design] = {
    "everything": ours,
    "no research in the first message": _without(Features(previews=False)),
    "no findings of earlier nights": _without(Features(priors=False)),
    "siblings not told, all side by side": _without(Features(sharing=False)),
    "no agent files, the built-in prompt": _without(Features(agents=False)),
    "at most 15 turns and medium effort": _without(_given(**FLAT)),
}
CLEARING: Mapping[str, Design] = {
    "never": _clearing(None),
    "80,000 (ours)": _clearing(80_000),
    "30,000, keep 4 (the seed's)": _clearing(30_000, 5_000, 4),
    "20,000, keep 4": _clearing(20_000, 5_000, 4),
    "8,000, keep 4": _clearing(8_000, 1_000, 4),
}
LOOKS: Mapping[str, Design] = {
    "one look": _without(_given(iterations=FEW_TURNS)),
    "and a second": _without(
        Features(options=OPTIONS.model_copy(update={"max_iterations": FEW_TURNS}), again=True)
    ),
}
