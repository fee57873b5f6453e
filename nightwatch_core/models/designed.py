"""What the documents that NightWatch was designed in name, and what it is called today.

Whoever sets or types one of these names gets what it says, or a sentence that names what to use
instead: none is passed over.
"""

from typing import Literal

from nightwatch_core.models.value import Value

# A variable, a flag, a verb of the command, or a field of an agent file's front matter.
DesignedKind = Literal["setting", "flag", "verb", "agent field"]


class Designed(Value):
    """A name of the design; it works unless it has to be `refused`, with a sentence that helps."""

    kind: DesignedKind
    name: str
    today: str  # what does it now: the same name, or another one
    note: str = ""  # what else differs, one sentence
    refused: str = ""  # what whoever uses it is told to do instead; empty: it works


DESIGNED: tuple[Designed, ...] = (
    Designed(
        kind="setting",
        name="NIGHTWATCH_KNOWLEDGE_DIR",
        today="NIGHTWATCH_KNOWLEDGE_DIR",
        note="`knowledge` unless set; relative folders count from NIGHTWATCH_HOME.",
    ),
    Designed(
        kind="setting", name="NIGHTWATCH_COMPOUND_ENABLED", today="NIGHTWATCH_COMPOUND_ENABLED"
    ),
    Designed(kind="setting", name="NIGHTWATCH_AGENTS_ENABLED", today="NIGHTWATCH_AGENTS_ENABLED"),
    Designed(
        kind="setting", name="NIGHTWATCH_PATTERNS_ENABLED", today="NIGHTWATCH_PATTERNS_ENABLED"
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_MODEL",
        today="NIGHTWATCH_MODEL",
        note="Any model's id, or `rules`; where its price is not known, a cap on USD stops the "
        "night.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_MAX_ITERATIONS",
        today="NIGHTWATCH_MAX_ITERATIONS",
        note="The ceiling; how many turns an error gets is by its class, or NIGHTWATCH_ITERATIONS.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_TOKEN_BUDGET_PER_ERROR",
        today="NIGHTWATCH_TOKEN_BUDGET_PER_ERROR",
        note="120,000 unless set, in new tokens: what is read from the cache does not count.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_TOTAL_TOKEN_BUDGET",
        today="NIGHTWATCH_TOTAL_TOKEN_BUDGET",
        note="1,000,000 unless set, in new tokens.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_USE_COMPACTION",
        today="NIGHTWATCH_USE_COMPACTION",
        note="On unless set, for every model that can; NIGHTWATCH_COMPACT_AT_TOKENS says when.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_BATCH_MODE",
        today="NIGHTWATCH_BATCH_MODE",
        note="NIGHTWATCH_LONG_TAIL asks only about what a night has no room for.",
    ),
    Designed(kind="flag", name="--agent", today="--agent"),
    *(Designed(kind="flag", name=name, today=name) for name in ("--batch", "--collect")),
    Designed(
        kind="verb",
        name="run",
        today="nightwatch night",
        note="`python -m nightwatch run` in the design.",
        refused="it is called `nightwatch night`, with the same flags",
    ),
    Designed(kind="agent field", name="name", today="name"),
    Designed(kind="agent field", name="description", today="description"),
    Designed(kind="agent field", name="model", today="model"),
    Designed(
        kind="agent field",
        name="thinking_budget",
        today="thinking_budget",
        note="For models that take a number; the others take `effort`.",
    ),
    Designed(kind="agent field", name="max_tokens", today="max_tokens"),
    Designed(kind="agent field", name="max_iterations", today="max_iterations"),
    Designed(kind="agent field", name="tools", today="tools"),
)


def refused(kind: DesignedKind) -> dict[str, str]:
    """Return the names of this kind that do nothing, each with what to do instead."""
    return {one.name: one.refused for one in DESIGNED if one.kind == kind and one.refused}
