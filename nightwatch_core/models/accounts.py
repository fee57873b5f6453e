"""Words for what a night took and how well it was spent."""

from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.value import Value


class Confidences(Value):
    """Verdicts by confidence."""

    high: int = 0
    medium: int = 0
    low: int = 0


class SecondLooks(Value):
    """Second looks, and what they changed."""

    wanted: int = 0  # verdicts that were weak
    made: int = 0
    kept: int = 0  # verdicts that the second look replaced
    surer: int = 0  # thereof: with more confidence than the first
    usage: Usage = Usage()  # within the night's own


class Accounts(Value):
    """One night's accounts; rates are from 0 to 1, None where there was nothing to divide.

    "An error" is one that was analysed tonight or failed to be; reused verdicts took nothing.
    """

    usage: Usage = Usage()
    models: tuple[str, ...] = ()  # who answered
    priced: str = ""  # date of the oldest price that was used
    analysed: int = 0
    failed: int = 0
    reused: int = 0  # known errors whose earlier verdict still stands
    fell_back: int = 0  # answered by the rules model in place of one that was away
    prompt_cache_rate: float | None = None  # share of prompts that was read from the cache
    code_cache_rate: float | None = None
    knowledge_rate: float | None = None  # share of verdicts that earlier nights had helped
    missed: int = 0  # tool calls that named a file that is not there
    truncated: int = 0  # tool results that were shortened
    iterations_per_error: float | None = None
    tokens_per_error: float | None = None  # new tokens: cache reads left out
    cost_per_error: float | None = None  # USD; None also where a price is not known
    confidences: Confidences = Confidences()
    second_looks: SecondLooks = SecondLooks()
