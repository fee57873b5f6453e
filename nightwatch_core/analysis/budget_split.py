"""Deal the night's budget to errors before they are analysed in parallel."""

from nightwatch_core.models.analysis import Allowance, Usage
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions

USEFUL = 45_000  # tokens: a long first message, told again at the end, and an answer
_READ, _WRITTEN = 40_000, 5_000  # how they are priced


def deal(
    options: NightOptions, errors: int, used: Usage | None = None, able: Capabilities | None = None
) -> tuple[Allowance, ...]:
    """What each of `errors` analyses may use, the best ranked first, when `used` is gone already.

    All that are dealt anything get the same; but where that would be too little to find anything
    out, the worst ranked get nothing, instead of all too little. `able` says what is too little in
    USD. A cost of None is no cap, which is what `cost_per_night` 0 means.

    >>> [one.tokens for one in deal(NightOptions(total_token_budget=100_000), 4)]
    [50000, 50000, 0, 0]
    """
    gone = used or Usage()
    tokens = max(options.total_token_budget - gone.new_tokens, 0)
    dollars = _dollars(options, gone)
    useful = min(USEFUL, options.token_budget_per_error)
    served = errors if able and able.local else _served(errors, tokens, useful)
    served = max(served, 1)
    if dollars is not None:
        served = min(served, _served(errors, dollars, _useful_dollars(options, able)))
    share = Allowance(
        iterations=options.max_iterations,
        tokens=min(options.token_budget_per_error, tokens // served),
        cost=None if dollars is None else min(_cap(options), dollars / served),
        seconds=options.seconds_per_error,
    )
    nothing = share.model_copy(update={"tokens": 0, "cost": None if dollars is None else 0.0})
    return (*(share,) * min(served, errors), *(nothing,) * (errors - served))


def _served(errors: int, pool: float, useful: float) -> int:
    """How many get something: as many as can get what is useful, the best ranked in any case."""
    enough = int(pool / useful) if useful > 0 else errors
    return max(1, min(errors, enough))


def _dollars(options: NightOptions, gone: Usage) -> float | None:
    """What is left of the night's USD; an unknown price counts as all of it."""
    if options.cost_per_night <= 0:
        return None
    if gone.cost is None:
        return 0.0
    return max(options.cost_per_night - gone.cost, 0.0)


def _cap(options: NightOptions) -> float:
    return options.cost_per_error or options.cost_per_night


def _useful_dollars(options: NightOptions, able: Capabilities | None) -> float:
    if able is None or able.local:
        return 0.0
    read, written = (able.input_price or 0.0) * _READ, (able.output_price or 0.0) * _WRITTEN
    return min((read + written) / 1_000_000, _cap(options))
