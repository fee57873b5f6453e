"""What a Claude model can do, as the Models API says it; what it does not say is in model_facts."""

from collections.abc import Mapping
from typing import Any

from nightwatch_core.analysis.model_facts import CURRENT, facts
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.value import Value

EFFORTS = ("low", "medium", "high")  # ours, weakest first
CLEAR_THINKING = "clear_thinking_20251015"
CLEAR_RESULTS = "clear_tool_uses_20250919"
COMPACT = "compact_20260112"


class Able(Value):
    """What requests to a model may hold; the defaults are a server of which nothing is known."""

    model: str
    listed: bool = False  # the Models API knows it
    adaptive: bool = False  # thinks as much as it needs
    budgeted: bool = False  # thinks within a number of tokens that the request has to name
    efforts: tuple[str, ...] = ()
    structured: bool = False  # answers in a schema, calls tools in theirs
    edits: tuple[str, ...] = ()  # how the service can make room in a conversation
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

    @property
    def thinks(self) -> bool:
        """Whether it can be asked to think."""
        return self.adaptive or self.budgeted

    @property
    def turn_effort(self) -> bool:
        """Whether effort can change in mid-conversation without a new cache."""
        return bool(self.efforts) and self.listed and facts(self.model).turn_effort


def able(model: str, info: Mapping[str, Any]) -> Able:
    """Read an answer of the Models API; whatever is missing counts as not supported.

    >>> able("m", {"id": "m", "capabilities": None, "max_tokens": 4096}).max_output
    4096
    """
    can = _inside(info, "capabilities")
    kinds, effort = _inside(can, "thinking", "types"), _inside(can, "effort")
    room = _inside(can, "context_management")
    plain = Able(model=model)
    return Able(
        model=model,
        listed=True,
        adaptive=_supported(kinds, "adaptive"),
        budgeted=_supported(kinds, "enabled"),
        efforts=tuple(name for name in EFFORTS if _supported(effort, name)),
        structured=_supported(can, "structured_outputs"),
        edits=tuple(
            name for name in (CLEAR_THINKING, CLEAR_RESULTS, COMPACT) if _supported(room, name)
        ),
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
    known_facts = facts(known.model)
    price = next(iter(known_facts.prices), None)
    return Capabilities(
        model=known.model,
        input_price=price.input if price else None,
        output_price=price.output if price else None,
        context_tokens=known.context,
        max_output_tokens=known.max_output,
        note=_note(known),
        priced=known_facts.priced,
    )


def replacement(known: Able) -> str:
    """The model to take instead; the most capable line where its line is not known."""
    return CURRENT.get(known.line, CURRENT["opus"])


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
