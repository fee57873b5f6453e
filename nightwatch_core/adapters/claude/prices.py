"""What requests to Claude models cost: list prices with their date.

No interface says them. Where two published pages disagree, the higher price stands here. A model
that is not in the table has no price: its cost is unknown, never zero.
"""

from collections.abc import Mapping
from math import inf

from nightwatch_core.models.batch import TokenPrice
from nightwatch_core.models.usage import Usage
from nightwatch_core.models.value import Value


class Price(Value):
    """USD per million tokens; writing to the cache is priced by the input."""

    input: float
    output: float
    read: float  # from the cache
    up_to: float = inf  # tokens of a prompt this price is for

    @property
    def write(self) -> float:
        """To the cache, for five minutes."""
        return 1.25 * self.input

    @property
    def write_1h(self) -> float:
        """To the cache, for an hour."""
        return 2 * self.input


class PriceList(Value):
    """One model's prices, by length of the prompt, the shortest first."""

    date: str  # they were published or last confirmed
    tiers: tuple[Price, ...]


_HAIKU_4_5 = PriceList(date="2026-08-21", tiers=(Price(input=1, output=5, read=0.10),))
_OPUS_4_5 = PriceList(date="2026-08-21", tiers=(Price(input=5, output=25, read=0.50),))
PRICES: Mapping[str, PriceList] = {
    "claude-haiku-5-5": PriceList(
        date="2026-10-10",
        tiers=(
            Price(input=0.10, output=0.50, read=0.01, up_to=100_000),
            Price(input=0.50, output=2.50, read=0.05),
        ),
    ),
    "claude-sonnet-5-5": PriceList(
        date="2026-09-29", tiers=(Price(input=2, output=10, read=0.20),)
    ),
    "claude-opus-5-5": PriceList(date="2026-09-25", tiers=(Price(input=4, output=20, read=0.20),)),
    "claude-fable-5-1": PriceList(
        date="2026-10-08", tiers=(Price(input=10, output=50, read=0.25),)
    ),
    "claude-sonnet-4-6": PriceList(
        date="2026-08-21", tiers=(Price(input=3, output=15, read=0.30),)
    ),
    "claude-haiku-4-5": _HAIKU_4_5,
    "claude-haiku-4-5-20251001": _HAIKU_4_5,
    "claude-opus-4-5": _OPUS_4_5,
    "claude-opus-4-5-20251101": _OPUS_4_5,
}


def priced(model: str, usage: Usage) -> Usage:
    """Add to one request's usage what it cost and saved, in USD, and the date of the prices.

    >>> priced("claude-opus-5-5", Usage(input_tokens=1000, output_tokens=100)).cost
    0.006
    >>> priced("qwen", Usage(input_tokens=1000)).cost is None
    True
    """
    prices = PRICES.get(model)
    if prices is None:
        return usage.model_copy(update={"cost": None, "saved": None})
    return priced_by(token_prices(model), prices.date, usage)


def token_prices(model: str) -> tuple[TokenPrice, ...]:
    """The list prices as they can be kept; empty where there are none."""
    prices = PRICES.get(model)
    return tuple(
        TokenPrice(
            up_to=None if tier.up_to == inf else int(tier.up_to),
            input=tier.input,
            output=tier.output,
            cache_read=tier.read,
            cache_write=tier.write,
            cache_write_1h=tier.write_1h,
        )
        for tier in (prices.tiers if prices else ())
    )


def priced_by(prices: tuple[TokenPrice, ...], date: str, usage: Usage, share: float = 1.0) -> Usage:
    """One request's usage at a share of these prices; unknown where no price covers it.

    >>> kept = token_prices("claude-opus-5-5")
    >>> priced_by(kept, "2026-09-25", Usage(input_tokens=1000, output_tokens=100), 0.5).cost
    0.003
    """
    covering = (one for one in prices if one.up_to is None or usage.prompt_tokens <= one.up_to)
    price = next(covering, None)
    if price is None:
        return usage.model_copy(update={"cost": None, "saved": None, "priced": ""})
    cached = (
        usage.cache_write_5m_tokens * price.cache_write
        + usage.cache_write_1h_tokens * price.cache_write_1h
        + usage.cache_read_tokens * price.cache_read
    )
    fresh = (usage.cache_write_tokens + usage.cache_read_tokens) * price.input
    rest = usage.input_tokens * price.input + usage.output_tokens * price.output
    per_token = share / 1_000_000
    told = {"cost": (rest + cached) * per_token, "saved": (fresh - cached) * per_token}
    return usage.model_copy(update={**told, "priced": date})
