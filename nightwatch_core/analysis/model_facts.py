"""What no interface says about Claude models: prices with their date, and a few traits.

Where two published pages disagree on a price, the higher one stands here. A model that is not in
the table has no price: its cost is unknown, never zero.
"""

from collections.abc import Mapping
from math import inf

from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.value import Value


class Price(Value):
    """USD per million tokens; caches last five minutes (`write`) or an hour (`write_1h`)."""

    input: float
    output: float
    write: float
    write_1h: float
    read: float
    up_to: float = inf  # tokens of a prompt this price is for


class Facts(Value):
    """One model."""

    prices: tuple[Price, ...]  # by length of the prompt, the shortest first
    priced: str  # date the prices were published or last confirmed
    smallest_cached: int  # tokens: a shorter prefix is not cached, and nobody says so
    forced_tools: bool = False  # tool_choice "any" and "tool" go together with its thinking
    turn_effort: bool = False  # effort can change in mid-conversation and the cache stays


_HAIKU_5_5 = Facts(
    prices=(
        Price(input=0.10, output=0.50, write=0.125, write_1h=0.20, read=0.01, up_to=100_000),
        Price(input=0.50, output=2.50, write=0.625, write_1h=1.00, read=0.05),
    ),
    priced="2026-10-10",
    smallest_cached=512,
)
_SONNET_5_5 = Facts(
    prices=(Price(input=2, output=10, write=2.50, write_1h=4, read=0.20),),
    priced="2026-09-29",
    smallest_cached=512,
    turn_effort=True,
)
_OPUS_5_5 = Facts(
    prices=(Price(input=4, output=20, write=5, write_1h=8, read=0.20),),
    priced="2026-09-25",
    smallest_cached=512,
    turn_effort=True,
)
_FABLE_5_1 = Facts(
    prices=(Price(input=10, output=50, write=12.50, write_1h=20, read=0.25),),
    priced="2026-10-08",
    smallest_cached=512,
    turn_effort=True,
)
_SONNET_4_6 = Facts(
    prices=(Price(input=3, output=15, write=3.75, write_1h=6, read=0.30),),
    priced="2026-08-21",
    smallest_cached=1_024,
    forced_tools=True,
)
_HAIKU_4_5 = Facts(
    prices=(Price(input=1, output=5, write=1.25, write_1h=2, read=0.10),),
    priced="2026-08-21",
    smallest_cached=4_096,
)
_OPUS_4_5 = Facts(
    prices=(Price(input=5, output=25, write=6.25, write_1h=10, read=0.50),),
    priced="2026-08-21",
    smallest_cached=4_096,
)
FACTS: Mapping[str, Facts] = {
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-sonnet-5-5": _SONNET_5_5,
    "claude-opus-5-5": _OPUS_5_5,
    "claude-fable-5-1": _FABLE_5_1,
    "claude-sonnet-4-6": _SONNET_4_6,
    "claude-haiku-4-5": _HAIKU_4_5,
    "claude-haiku-4-5-20251001": _HAIKU_4_5,
    "claude-opus-4-5": _OPUS_4_5,
    "claude-opus-4-5-20251101": _OPUS_4_5,
}
UNKNOWN = Facts(prices=(), priced="", smallest_cached=4_096)
CURRENT: Mapping[str, str] = {  # the model of a line that takes the place of older ones
    "haiku": "claude-haiku-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "fable": "claude-fable-5-1",
}


def facts(model: str) -> Facts:
    """What is known of a model; nothing is promised of others.

    >>> facts("claude-opus-5-5").smallest_cached, facts("qwen").prices
    (512, ())
    """
    return FACTS.get(model, UNKNOWN)


def priced(model: str, usage: Usage) -> Usage:
    """The usage of one request with what it cost and saved; None where the model has no price.

    >>> priced("claude-opus-5-5", Usage(input_tokens=1000, output_tokens=100)).cost
    0.006
    """
    tiers = facts(model).prices
    price = next((one for one in tiers if usage.prompt_tokens <= one.up_to), None)
    if price is None:
        return usage.model_copy(update={"cost": None, "saved": None})
    cached = (
        usage.cache_write_5m_tokens * price.write
        + usage.cache_write_1h_tokens * price.write_1h
        + usage.cache_read_tokens * price.read
    )
    fresh = (usage.cache_write_tokens + usage.cache_read_tokens) * price.input
    rest = usage.input_tokens * price.input + usage.output_tokens * price.output
    return usage.model_copy(
        update={"cost": (rest + cached) / 1_000_000, "saved": (fresh - cached) / 1_000_000}
    )
