"""What asking for one fix may take, of what its error and its night have left."""

from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.usage import Allowance, Usage


def proof_allowance(analysis: Analysis, options: NightOptions, used: Usage) -> Allowance:
    """Say what proving a fix may use when the night has used so much, proofs before it included.

    Its tokens are its own (`proof_budget`); of USD it has what the analysis left of the error's.
    """
    share = split_budget(options, 1, used)[0]
    left = max(0, options.total_token_budget - used.new_tokens)
    cost, spent = share.cost, analysis.usage.cost
    if cost is not None and options.cost_per_error:
        cost = 0.0 if spent is None else min(cost, max(0.0, options.cost_per_error - spent))
    return share.model_copy(update={"tokens": min(options.proof_budget, left), "cost": cost})


def story_allowance(options: NightOptions, used: Usage) -> Allowance | None:
    """Say what a fix may use that is made in several steps; None where none is made so."""
    if not options.story_cost:
        return None
    whole = options.model_copy(update={"cost_per_error": options.story_cost})
    share = split_budget(whole, 1, used)[0]
    capped = options.story_cost if share.cost is None else share.cost
    return share.model_copy(update={"cost": capped})
