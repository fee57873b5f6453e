"""Capabilities of Claude models from the Models API, and how requests use them.

Nothing already sent is edited by us. Clearing and summarising a long conversation happen on the
service's side, and each of them starts the cache anew from the first place it changes: so they come
late, clear much at once, and summarising never comes just before the last answer.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.batch import TokenPrice
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.value import Value

LEAST_COMPACTED = 50_000  # the service's own bound
FULL = 0.7  # of a context that may be used before it is summarised
# Tokens of a prompt. Results are cleared below 100,000 because a longer prompt costs some models
# five times as much.
CLEAR_AT = 80_000  # clear old tool results from this length on …
CLEAR_AT_LEAST = 20_000  # … if so much can be cleared at once …
KEEP_RESULTS = 6  # … but for the last ones
COMPACT_AT = 90_000  # summarise from this length on

FOLDER = files("nightwatch_core.adapters.claude")


class PriceList(Value):
    """Prices of some models, by length of the prompt, the shortest first."""

    models: tuple[str, ...]
    date: str  # when they were published or last confirmed
    tiers: tuple[TokenPrice, ...]


PRICES: Mapping[str, PriceList] = {
    model: prices
    for entry in tomllib.loads((FOLDER / "prices.toml").read_text("utf-8"))["prices"]
    for prices in (PriceList.model_validate(entry),)
    for model in prices.models
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
    return priced_by(prices.tiers, prices.date, usage)


def priced_by(prices: tuple[TokenPrice, ...], date: str, usage: Usage, share: float = 1.0) -> Usage:
    """Add to one request's usage its cost at a share of these prices, None where none covers it.

    >>> prices = PRICES["claude-opus-5-5"].tiers
    >>> priced_by(prices, "2026-09-25", Usage(input_tokens=1000, output_tokens=100), 0.5).cost
    0.003
    """
    size = usage.prompt_tokens
    covering = (price for price in prices if price.up_to is None or size <= price.up_to)
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
    cost, saved = (rest + cached) * per_token, (fresh - cached) * per_token
    return usage.model_copy(update={"cost": cost, "saved": saved, "priced": date})


Json = dict[str, Any]
EFFORTS = ("low", "medium", "high")  # ours, weakest first
CLEAR_RESULTS = "clear_tool_uses_20250919"
COMPACT = "compact_20260112"
EDITING_BETA = "context-management-2025-06-27"
COMPACTING_BETA = "compact-2026-01-12"
TURN_EFFORT_BETA = "mid-conversation-output-config-2026-07-01"
# Models whose effort can change in mid-conversation while the cache stays: no interface says so.
TURN_EFFORT = frozenset({"claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1"})
CURRENT: Mapping[str, str] = {  # the model of a line that takes the place of older ones
    "haiku": "claude-haiku-5-5",
    "sonnet": "claude-sonnet-5-5",
    "opus": "claude-opus-5-5",
    "fable": "claude-fable-5-1",
}
# Replaces the service's own instructions, so it has to repeat what they say.
INSTRUCTIONS = " ".join((FOLDER / "summary_instructions.md").read_text("utf-8").split())


class Features(Value):
    """Features that requests to a model may use; the defaults suit an unknown server."""

    model: str
    listed: bool = False  # the Models API knows it
    adaptive: bool = False  # thinks as much as it needs
    budgeted: bool = False  # thinks within a number of tokens that the request has to name
    efforts: tuple[str, ...] = ()
    structured: bool = False  # answers in a schema, calls tools in theirs
    edits: tuple[str, ...] = ()  # how the service can make room in a conversation
    batch: bool | None = None  # can be asked in batches; None: the Models API does not say
    caching: bool = False  # moves a cache marker along with the conversation
    max_output: int = 8_192
    context: int = 32_768
    lifecycle: str = "active"
    retires: str = ""  # date
    line: str = ""

    def effort(self, most: str) -> str:
        """Return the strongest supported effort up to `most`; empty where there is none.

        >>> Features(model="m", efforts=("low", "high")).effort("medium")
        'low'
        """
        below = EFFORTS[: EFFORTS.index(most) + 1]
        return next((name for name in reversed(below) if name in self.efforts), "")

    @property
    def turn_effort(self) -> bool:
        """Tell whether effort can change in mid-conversation without a new cache."""
        return bool(self.efforts) and self.listed and self.model in TURN_EFFORT

    @property
    def replacement(self) -> str:
        """Return the model to take instead; Opus where the line of this one is unknown."""
        return CURRENT.get(self.line, CURRENT["opus"])


def features_of(model: str, info: Mapping[str, Any]) -> Features:
    """Read an answer of the Models API; whatever is missing counts as not supported.

    >>> features_of("m", {"id": "m", "capabilities": None, "max_tokens": 4096}).max_output
    4096
    """
    can = inside(info, "capabilities")
    thinking, effort = inside(can, "thinking", "types"), inside(can, "effort")
    management = inside(can, "context_management")
    edits = (CLEAR_RESULTS, COMPACT)
    default = Features(model=model)
    return Features(
        model=model,
        listed=True,
        adaptive=_supported(thinking, "adaptive"),
        budgeted=_supported(thinking, "enabled"),
        efforts=tuple(name for name in EFFORTS if _supported(effort, name)),
        structured=_supported(can, "structured_outputs"),
        edits=tuple(name for name in edits if _supported(management, name)),
        batch=_supported(can, "batch") if "batch" in can else None,
        caching=bool(can),
        max_output=number(info, "max_tokens") or default.max_output,
        context=number(info, "max_input_tokens") or default.context,
        lifecycle=str(info.get("lifecycle") or "active"),
        retires=str(info.get("retires_at") or "")[:10],
        line=str(info.get("line") or ""),
    )


def capabilities_of(features: Features) -> Capabilities:
    """Return the model's capabilities; prices are those of a short prompt."""
    prices = PRICES.get(features.model)
    note = f"retires {features.retires}" if features.retires else "will be retired"
    note += f": {features.replacement} takes its place"
    return Capabilities(
        model=features.model,
        input_price=prices.tiers[0].input if prices else None,
        output_price=prices.tiers[0].output if prices else None,
        context_tokens=features.context,
        max_output_tokens=features.max_output,
        note=note if features.lifecycle == "deprecated" else "",
        priced=prices.date if prices else "",
    )


def context_management(features: Features, last: bool) -> Json:
    """Return the request's field of that name; empty where the model supports none of it.

    `last` is a request after which none is planned, or one after a summary that failed: nothing is
    summarised for it.
    """
    edits: list[Json] = []
    if CLEAR_RESULTS in features.edits:
        edits.append(
            {
                "type": CLEAR_RESULTS,
                "trigger": {"type": "input_tokens", "value": CLEAR_AT},
                "keep": {"type": "tool_uses", "value": KEEP_RESULTS},
                "clear_at_least": {"type": "input_tokens", "value": CLEAR_AT_LEAST},
            }
        )
    most = int(features.context * FULL)
    if COMPACT in features.edits and not last and most >= LEAST_COMPACTED:
        trigger = max(min(COMPACT_AT, most), LEAST_COMPACTED)
        edits.append(
            {
                "type": COMPACT,
                "trigger": {"type": "input_tokens", "value": trigger},
                "pause_after_compaction": True,
                "instructions": INSTRUCTIONS,
            }
        )
    return {"edits": edits} if edits else {}


def betas(features: Features) -> list[str]:
    """Return the beta headers, the same for every request of a conversation."""
    edits = context_management(features, last=False).get("edits", ())
    needed = {
        EDITING_BETA: bool(edits),
        COMPACTING_BETA: any(edit["type"] == COMPACT for edit in edits),
        TURN_EFFORT_BETA: features.turn_effort,
    }
    return [name for name, is_needed in needed.items() if is_needed]


def inside(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """Return the value below these names; empty where one of them is not an object."""
    for name in names:
        below = value.get(name)
        value = below if isinstance(below, Mapping) else {}
    return value


def number(value: Mapping[str, Any], name: str) -> int:
    """Return a positive whole number; 0 for anything else."""
    given = value.get(name)
    whole = isinstance(given, int) and not isinstance(given, bool)
    return max(int(str(given)), 0) if whole else 0


def _supported(value: Mapping[str, Any], name: str) -> bool:
    return inside(value, name).get("supported") is True
