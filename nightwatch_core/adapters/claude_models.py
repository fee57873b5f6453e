"""What a Claude model can do, as the Models API says it, and what it does not say: the prices.

Prices are those published until 2026-10, in USD per million tokens. Where two pages disagree, the
higher one stands here. A model that is not in the table has no price: its cost is unknown.
"""

from collections.abc import Mapping
from math import inf
from typing import Any

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.value import Value

EFFORTS = ("low", "medium", "high")  # ours, weakest first


class Price(Value):
    """USD per million tokens; `write` and `read` are of the cache that lasts five minutes."""

    input: float
    output: float
    write: float
    read: float
    up_to: float = inf  # tokens of a prompt this price is for


_HAIKU_4_5 = (Price(input=1, output=5, write=1.25, read=0.10),)
_OPUS_4_5 = (Price(input=5, output=25, write=6.25, read=0.50),)
PRICES: Mapping[str, tuple[Price, ...]] = {
    "claude-haiku-5-5": (
        Price(input=0.10, output=0.50, write=0.125, read=0.01, up_to=100_000),
        Price(input=0.50, output=2.50, write=0.625, read=0.05),
    ),
    "claude-sonnet-5-5": (Price(input=2, output=10, write=2.50, read=0.20),),
    "claude-opus-5-5": (Price(input=4, output=20, write=5, read=0.20),),
    "claude-fable-5-1": (Price(input=10, output=50, write=12.50, read=0.25),),
    "claude-sonnet-4-6": (Price(input=3, output=15, write=3.75, read=0.30),),
    "claude-haiku-4-5": _HAIKU_4_5,
    "claude-haiku-4-5-20251001": _HAIKU_4_5,
    "claude-opus-4-5": _OPUS_4_5,
    "claude-opus-4-5-20251101": _OPUS_4_5,
}
CURRENT: Mapping[str, str] = {  # the model of a line that takes the place of older ones
    "haiku": "claude-haiku-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "fable": "claude-fable-5-1",
}


class Able(Value):
    """What requests to a model may hold; the defaults are a server of which nothing is known."""

    model: str
    listed: bool = False  # the Models API knows it
    adaptive: bool = False  # thinks as much as it needs
    budgeted: bool = False  # thinks within a number of tokens that the request has to name
    efforts: tuple[str, ...] = ()
    structured: bool = False  # answers in a schema
    caching: bool = False  # moves a cache marker along with the conversation
    max_output: int = 8_192
    context: int = 32_768
    lifecycle: str = "active"
    retires: str = ""  # date
    line: str = ""

    def effort(self, wanted: str) -> str:
        """The strongest effort it takes that is not above the one wanted; empty: say nothing.

        >>> Able(model="m", efforts=("low", "high")).effort("medium")
        'low'
        """
        below = EFFORTS[: EFFORTS.index(wanted) + 1]
        return next((name for name in reversed(below) if name in self.efforts), "")


def able(model: str, info: Mapping[str, Any]) -> Able:
    """Read an answer of the Models API; whatever is missing counts as not supported.

    >>> able("m", {"id": "m", "capabilities": None, "max_tokens": 4096}).max_output
    4096
    """
    can = _inside(info, "capabilities")
    kinds, effort = _inside(can, "thinking", "types"), _inside(can, "effort")
    plain = Able(model=model)
    return Able(
        model=model,
        listed=True,
        adaptive=_supported(kinds, "adaptive"),
        budgeted=_supported(kinds, "enabled"),
        efforts=tuple(name for name in EFFORTS if _supported(effort, name)),
        structured=_supported(can, "structured_outputs"),
        caching=bool(can),
        max_output=_positive(info.get("max_tokens"), plain.max_output),
        context=_positive(info.get("max_input_tokens"), plain.context),
        lifecycle=str(info.get("lifecycle") or "active"),
        retires=str(info.get("retires_at") or "")[:10],
        line=str(info.get("line") or ""),
    )


def usable(known: Able) -> Able:
    """The same; raises `StopTheNight` naming another model where this one is retired."""
    if known.lifecycle == "retired":
        raise StopTheNight(
            f"the model {known.model} is retired: choose {replacement(known)} with --model or "
            "NIGHTWATCH_MODEL"
        )
    return known


def capabilities(known: Able) -> Capabilities:
    """What the rest of the house wants to know."""
    price = PRICES.get(known.model, (None,))[0]
    return Capabilities(
        model=known.model,
        input_price=price.input if price else None,
        output_price=price.output if price else None,
        context_tokens=known.context,
        max_output_tokens=known.max_output,
        note=_note(known),
    )


def replacement(known: Able) -> str:
    """The model to take instead; the most capable line where its line is not known."""
    return CURRENT.get(known.line, CURRENT["opus"])


def priced(model: str, usage: Usage) -> Usage:
    """The usage of one request with what it cost; None where the model has no price.

    >>> priced("claude-opus-5-5", Usage(input_tokens=1000, output_tokens=100)).cost
    0.006
    """
    prompt = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
    tiers = PRICES.get(model, ())
    price = next((one for one in tiers if prompt <= one.up_to), None)
    if price is None:
        return usage.model_copy(update={"cost": None})
    dollars = (
        usage.input_tokens * price.input
        + usage.output_tokens * price.output
        + usage.cache_write_tokens * price.write
        + usage.cache_read_tokens * price.read
    )
    return usage.model_copy(update={"cost": dollars / 1_000_000})


def _note(known: Able) -> str:
    if known.lifecycle != "deprecated":
        return ""
    when = f"retires {known.retires}" if known.retires else "will be retired"
    return f"{when}: {replacement(known)} takes its place"


def _inside(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """What lies below these names; empty where the way there is not one of objects."""
    for name in names:
        found = value.get(name)
        value = found if isinstance(found, Mapping) else {}
    return value


def _supported(of: Mapping[str, Any], name: str) -> bool:
    return _inside(of, name).get("supported") is True


def _positive(value: object, otherwise: int) -> int:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return int(str(value)) if whole and int(str(value)) > 0 else otherwise
