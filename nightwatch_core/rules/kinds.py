"""Failures that only their class tells of: words for whoever looks next, no cause."""

import re

from nightwatch_core.code.line_reading import masked
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.value import Value
from nightwatch_core.rules.findings import FailingLine, Finding
from nightwatch_core.rules.known_code import Context


class Kind(Value):
    """Words for one kind: `{place}`, `{call}`, `{who}` and `{relation}` are filled in."""

    because: str
    subject: str
    tags: tuple[str, ...]
    steps: tuple[str, ...]


_STRAY = "Find out which caller gives {place} that value, and where it enters the application."

KINDS: dict[str, Kind] = {
    "missing record": Kind(
        because="{place} asks for a record{relation} that is not there and raises.",
        subject="a record{relation} is missing",
        tags=("missing-record",),
        steps=(
            "Check whether the record was deleted, belongs to somebody else, or was never written.",
            "Decide whether {place} shall answer with not found.",
        ),
    ),
    "lock": Kind(
        because="Two runs of {place}, or of what writes the same data, get in each other's way.",
        subject="concurrent writes collide",
        tags=("race-condition", "database-lock", "transient"),
        steps=(
            "Compare the order in which the transactions around {place} take their locks.",
            "Keep the transaction short, or run it again when the database asks for it.",
        ),
    ),
    "race": Kind(
        because="{place} works on data that something else changes at the same time.",
        subject="shared data changes while it is used",
        tags=("race-condition",),
        steps=("Find who else changes what {place} works on, and copy or lock it.",),
    ),
    "constraint": Kind(
        because="The database refuses what {place} writes{relation}: a constraint does not hold.",
        subject="a database constraint{relation} is violated",
        tags=("database-constraint", "race-condition"),
        steps=(
            "Check whether two requests can write the same row at once at {place}.",
            "Compare the constraint with what the application validates before it writes.",
        ),
    ),
    "pool": Kind(
        because="{place} waits for a connection and the pool has none to give.",
        subject="a connection pool is exhausted",
        tags=("pool", "resource-exhaustion"),
        steps=(
            "Compare the pool's size with the number of threads and jobs that use it.",
            "Look for code that keeps a connection while it waits for something else.",
        ),
    ),
    "timeout": Kind(
        because="{place} waits for {who}, which did not answer in time.",
        subject="{who} does not answer in time",
        tags=("timeout", "transient", "external-api"),
        steps=(
            "Check how {who} was doing when this happened, and how often it fails.",
            "Check the timeouts of the call in {place}: connect and read, below the caller's own.",
            "Retry with backoff where the call may be repeated; else consider a circuit breaker.",
        ),
    ),
    "connection": Kind(
        because="{place} cannot reach {who}, or the connection broke.",
        subject="{who} cannot be reached",
        tags=("connection", "transient", "external-api"),
        steps=(
            "Check how {who} was doing when this happened, and whether its address has changed.",
            "Retry with backoff where the call in {place} may be repeated.",
            "Consider a circuit breaker so that callers fail fast while {who} is away.",
        ),
    ),
    "permission": Kind(
        because="{place} is refused: whoever acts there may not do that.",
        subject="access is refused",
        tags=("permission",),
        steps=(
            "Find out who was refused and whether that is right; a refusal may be correct.",
            "If it is right, answer it as such instead of raising out of {place}.",
        ),
    ),
    "stack": Kind(
        because="The call in {place} goes on calling itself until the stack is full.",
        subject="endless recursion",
        tags=("resource-exhaustion", "recursion"),
        steps=("Find the cycle of calls in the trace and the input that has no end.",),
    ),
    "memory": Kind(
        because="{place} asks for memory that the process does not have.",
        subject="out of memory",
        tags=("resource-exhaustion", "memory"),
        steps=(
            "Find out how much data {place} loads at once, and read it in parts.",
            "Compare the process's memory before and after the request.",
        ),
    ),
    "disk": Kind(
        because="{place} cannot write or open files: the machine has no space or handles left.",
        subject="disk or file handles are exhausted",
        tags=("resource-exhaustion", "disk"),
        steps=(
            "Check free space and open files on the host that reported it.",
            "Check that files opened around {place} are closed.",
        ),
    ),
    "missing file": Kind(
        because="{place} expects a file or folder in another state than it finds it.",
        subject="a file is not as expected",
        tags=("missing-file",),
        steps=("Check who creates and removes it, and whether two processes do so at once.",),
    ),
    "parse error": Kind(
        because="{place} reads text that does not have the form it expects.",
        subject="text cannot be parsed",
        tags=("parse-error",),
        steps=("Keep a sample of the text that failed.", _STRAY),
    ),
    "division by zero": Kind(
        because="{place} divides by something that is zero.",
        subject="division by zero",
        tags=("division-by-zero",),
        steps=("Decide what {place} shall give when there is nothing to divide by.", _STRAY),
    ),
    "assertion": Kind(
        because="{place} states something that did not hold.",
        subject="an assertion does not hold",
        tags=("assertion",),
        steps=(_STRAY,),
    ),
    "frozen": Kind(
        because="{place} changes a value that must not be changed.",
        subject="an unchangeable value is changed",
        tags=("frozen",),
        steps=("Make a copy where the value is to differ, or find who froze it.",),
    ),
    "wrong type": Kind(
        because="{place} is given a value of another type than it works with{types}.",
        subject="a value has the wrong type",
        tags=("wrong-type",),
        steps=(_STRAY,),
    ),
    "unknown": Kind(
        because="{place} raised this; none of the known kinds of failure fits it, so the cause is "
        "not established.",
        subject="cause not established",
        tags=("unknown-cause",),
        steps=(
            "Read {place} and its callers with the input of a failing request at hand.",
            "Log the values that {place} works with.",
        ),
    ),
}


_HOSTS = (  # how messages name the neighbour that failed
    r"https?://([\w.-]{1,100})",
    r"host[=:]\s?'?\"?([\w.-]{1,100})",
    r"(?:connect(?:ion)? to|to host|at host|dial tcp:? (?:lookup )?)\s*\"?([\w.-]{1,100}(?::\d+)?)",
    r"(?:ECONNREFUSED|ETIMEDOUT|ENOTFOUND|ECONNRESET)\s+([\w.:-]{1,100})",
)
_CALL = re.compile(r"((?:[\w@$]+(?:\.|::|->))+[\w?!]+)\s*(?:\(|$| )")


def general(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Say what the class and the message give away, and what to look at: that is no cause."""
    kind = KINDS.get(symptom.kind, KINDS["unknown"])
    call = _call(failing)
    given = f" ({symptom.given} instead of {symptom.expected})" if symptom.expected else ""
    words = {
        "place": failing.place or "the code",
        "call": call,
        "who": neighbour(symptom) or (f"the neighbour behind `{call}`" if call else "a neighbour"),
        "relation": f" of `{symptom.relation}`" if symptom.relation else "",
        "types": given,
    }
    return Finding(
        because=(_sentence(kind.because.format(**words)),),
        subject=kind.subject.format(**words),
        tags=kind.tags,
        steps=tuple(step.format(**words) for step in kind.steps),
        value=kind.subject.format(**words) if kind is not KINDS["unknown"] else "",
    )


def _sentence(text: str) -> str:
    """Starts like a sentence, unless it starts with a place.

    >>> _sentence("the code waits"), _sentence("app/a.py:1 waits")
    ('The code waits', 'app/a.py:1 waits')
    """
    return f"The{text[3:]}" if text.startswith("the ") else text


def neighbour(symptom: Symptom) -> str:
    """Give the host that a message names; empty where it names none.

    >>> neighbour(Symptom(kind="timeout", text="ReadTimeout: http://pay.example/v1 timed out"))
    'pay.example'
    """
    matches = (re.search(pattern, symptom.text, re.IGNORECASE) for pattern in _HOSTS)
    return next((match[1].rstrip(".") for match in matches if match), "")


def _call(failing: FailingLine) -> str:
    """The call of the failing line that most likely leaves the process."""
    match = _CALL.search(masked(failing.text, failing.language))
    return match[1] if match else ""
