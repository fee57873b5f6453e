"""Words for what an analysis uses, and what it may."""

from nightwatch_core.models.value import Value


class Usage(Value):
    """What was used: tokens as the service bills them, money in USD (None: price unknown).

    Input, output and cache hold everything, summarising included; fields that say "thereof" name a
    part of them. `cleared_tokens` were said earlier and no longer sent to the model: prompts of
    `uncleared_tokens` were that much shorter.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    cost: float | None = 0.0
    cache_write_1h_tokens: int = 0  # thereof, of what was written: kept for an hour, not 5 minutes
    thinking_tokens: int = 0  # thereof, of the output; 0 where the service does not say
    compaction_tokens: int = 0  # thereof: what summarising the conversation took
    compactions: int = 0
    cleared_tokens: int = 0
    uncleared_tokens: int = 0  # of prompts before something was cleared from them
    untold_clearings: int = 0  # prompts long enough for it, without a word of what was cleared
    saved: float | None = 0.0  # what reading from the cache saved, less what writing to it added
    priced: str = ""  # date of the oldest price that was used; empty: none was

    @property
    def new_tokens(self) -> int:
        """Tokens that count against budgets: cache reads are free.

        >>> Usage(input_tokens=5, output_tokens=2, cache_read_tokens=90).new_tokens
        7
        """
        return self.input_tokens + self.output_tokens + self.cache_write_tokens

    @property
    def prompt_tokens(self) -> int:
        """Everything that was sent, cached or not."""
        return self.input_tokens + self.cache_write_tokens + self.cache_read_tokens

    @property
    def cache_write_5m_tokens(self) -> int:
        """What was written for five minutes."""
        return self.cache_write_tokens - self.cache_write_1h_tokens

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; an unknown price stays unknown."""
        counts = {
            name: getattr(self, name) + getattr(other, name)
            for name in type(self).model_fields
            if name not in ("cost", "saved", "priced")
        }
        return Usage(
            **counts,
            cost=_sum(self.cost, other.cost),
            saved=_sum(self.saved, other.saved),
            priced=min(filter(None, (self.priced, other.priced)), default=""),
        )


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


class Allowance(Value):
    """What one analysis may use; a `cost` of None is no cap on USD."""

    iterations: int  # of one conversation; a second look may take as many again
    tokens: int
    cost: float | None
    seconds: int
