"""What a night would cost with a language model, from what real bugs took."""

from collections.abc import Callable

from nightwatch_core.models.first_look import Estimate
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Usage

Price = Callable[[str, Usage], Usage]  # adds what a model's usage costs

# Seven real bugs of three applications, analysed with a careful reader in the model's place: the
# cheapest and the dearest. A model that thinks writes more than the reader did.
MEASURED_BUGS = 7
CHEAPEST = Usage(
    calls=2, cache_write_tokens=6_592, cache_read_tokens=5_181, output_tokens=1_187, cost=None
)
DEAREST = Usage(
    calls=4, cache_write_tokens=12_912, cache_read_tokens=23_694, output_tokens=1_584, cost=None
)


def estimate(cases: int, options: NightOptions, model: str, price: Price) -> Estimate:
    """Say what `cases` new errors would cost, of which a night takes its first few."""
    errors = min(cases, options.max_errors or 5)
    return Estimate(
        model=model,
        errors=errors,
        least=_times(errors, price(model, CHEAPEST)),
        most=_times(errors, price(model, DEAREST)),
        measured=MEASURED_BUGS,
        cap=options.cost_per_night or None,
    )


def _times(errors: int, usage: Usage) -> Usage:
    return sum([usage] * errors, Usage())
