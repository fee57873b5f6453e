"""Failures that only their class tells of: words for whoever looks next, no cause."""

import re

from nightwatch_core.code.symptoms import Symptom, neighbour
from nightwatch_core.code.syntax import masked
from nightwatch_core.models.value import Value
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context


class Kind(Value):
    """Words for one kind: `{place}`, `{who}` and `{relation}` are filled in."""

    value: str = ""  # what failed, as far as the class tells it
    tags: tuple[str, ...]
    steps: tuple[str, ...]


_STRAY = "Find out which caller gives {place} that value, and where it enters the application."

KINDS: dict[str, Kind] = {
    "missing record": Kind(
        value="{relation}",
        tags=("missing-record",),
        steps=(
            "Check whether the record was deleted, belongs to somebody else, or was never written.",
            "Decide whether {place} shall answer with not found.",
        ),
    ),
    "lock": Kind(
        tags=("race-condition", "database-lock", "transient"),
        steps=(
            "Compare the order in which the transactions around {place} take their locks.",
            "Keep the transaction short, or run it again when the database asks for it.",
        ),
    ),
    "race": Kind(
        tags=("race-condition",),
        steps=("Find who else changes what {place} works on, and copy or lock it.",),
    ),
    "constraint": Kind(
        value="{relation}",
        tags=("database-constraint", "race-condition"),
        steps=(
            "Check whether two requests can write the same row at once at {place}.",
            "Compare the constraint with what the application validates before it writes.",
        ),
    ),
    "pool": Kind(
        tags=("pool", "resource-exhaustion"),
        steps=(
            "Compare the pool's size with the number of threads and jobs that use it.",
            "Look for code that keeps a connection while it waits for something else.",
        ),
    ),
    "timeout": Kind(
        value="{who} does not answer in time",
        tags=("timeout", "transient", "external-api"),
        steps=(
            "Check how {who} was doing when this happened, and how often it fails.",
            "Check the timeouts of the call in {place}: connect and read, below the caller's own.",
            "Retry with backoff where the call may be repeated; else consider a circuit breaker.",
        ),
    ),
    "connection": Kind(
        value="{who} cannot be reached",
        tags=("connection", "transient", "external-api"),
        steps=(
            "Check how {who} was doing when this happened, and whether its address has changed.",
            "Retry with backoff where the call in {place} may be repeated.",
            "Consider a circuit breaker so that callers fail fast while {who} is away.",
        ),
    ),
    "permission": Kind(
        tags=("permission",),
        steps=(
            "Find out who was refused and whether that is right; a refusal may be correct.",
            "If it is right, answer it as such instead of raising out of {place}.",
        ),
    ),
    "stack": Kind(
        tags=("resource-exhaustion", "recursion"),
        steps=("Find the cycle of calls in the trace and the input that has no end.",),
    ),
    "memory": Kind(
        tags=("resource-exhaustion", "memory"),
        steps=(
            "Find out how much data {place} loads at once, and read it in parts.",
            "Compare the process's memory before and after the request.",
        ),
    ),
    "disk": Kind(
        tags=("resource-exhaustion", "disk"),
        steps=(
            "Check free space and open files on the host that reported it.",
            "Check that files opened around {place} are closed.",
        ),
    ),
    "missing file": Kind(
        tags=("missing-file",),
        steps=("Check who creates and removes it, and whether two processes do so at once.",),
    ),
    "parse error": Kind(
        tags=("parse-error",),
        steps=("Keep a sample of the text that failed.", _STRAY),
    ),
    "division by zero": Kind(
        tags=("division-by-zero",),
        steps=("Decide what {place} shall give when there is nothing to divide by.", _STRAY),
    ),
    "assertion": Kind(
        tags=("assertion",),
        steps=(_STRAY,),
    ),
    "frozen": Kind(
        tags=("frozen",),
        steps=("Make a copy where the value is to differ, or find who froze it.",),
    ),
    "wrong type": Kind(
        tags=("wrong-type",),
        steps=(_STRAY,),
    ),
    "unknown": Kind(
        tags=("unknown-cause",),
        steps=(
            "Read {place} and its callers with the input of a failing request at hand.",
            "Log the values that {place} works with.",
        ),
    ),
}


_CALL = re.compile(r"((?:[\w@$]+(?:\.|::|->))+[\w?!]+)\s*(?:\(|$| )")


def general(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Say what the class and the message give away, and what to look at: that is no cause."""
    kind = KINDS.get(symptom.kind, KINDS["unknown"])
    call = _call(failing)
    words = {
        "place": failing.place or "the code",
        "call": call,
        "who": neighbour(symptom) or (f"the neighbour behind `{call}`" if call else "a neighbour"),
        "relation": f"`{symptom.relation}`" if symptom.relation else "",
    }
    return Finding(
        value=kind.value.format(**words),
        tags=kind.tags,
        steps=tuple(step.format(**words) for step in kind.steps),
    )


def _call(failing: FailingLine) -> str:
    """The call of the failing line that most likely leaves the process."""
    match = _CALL.search(masked(failing.text, failing.language))
    return match[1] if match else ""
