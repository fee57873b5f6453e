"""Deal the night's budget to errors before they are analysed in parallel."""

from nightwatch_core.models.analysis import Allowance, Usage
from nightwatch_core.models.options import NightOptions


def deal(options: NightOptions, errors: int, used: Usage | None = None) -> Allowance:
    """What each of `errors` analyses may use, when `used` is gone already.

    >>> deal(NightOptions(total_token_budget=100_000), 4).tokens
    25000
    """
    gone = used or Usage()
    share = max(errors, 1)
    tokens_left = max(options.total_token_budget - gone.new_tokens, 0)
    cost_left = max(options.cost_per_night - (gone.cost or 0.0), 0.0)
    return Allowance(
        iterations=options.max_iterations,
        tokens=min(options.token_budget_per_error, tokens_left // share),
        cost=min(options.cost_per_error, cost_left / share),
        seconds=options.seconds_per_error,
    )
