"""How much of a night each rendering shows; the rest is in report.json."""

from typing import Literal

from nightwatch_core.models.value import Value

# Characters of one text.
NAME, TITLE, TEXT, LONG = 120, 200, 300, 500
CAUSE, MESSAGE, TRACE, QUOTE, EDIT = 6_000, 800, 8_000, 2_000, 30_000
CODE_LINE = 400
DIFF_LINES = 300  # a side; keeps the comparison of hostile texts short
UNPLACED = 20  # error classes that are named
COMMITS = 8  # that a night read and that are named


class Limits(Value):
    """Items of each list, and the kinds of sections that are left out."""

    rows: int = 200
    tail: int = 200  # errors judged at first sight
    findings: int = 200
    reasons: int = 40  # why groups were dropped
    examples: int = 25  # of a reason
    lines: int = 50
    common: int = 20  # patterns, and ignore rules to add
    facts: int = 12  # of one finding, like all below
    evidence: int = 12
    files: int = 10  # of a fix
    code_lines: int = 1_000  # of one excerpt
    suspects: int = 3
    texts: int = 10
    how: int = 12
    handovers: Literal["all", "alone", "none"] = "all"  # errors without a cause shown in detail
    paths: int = 10  # where the report lies
    advice: bool = True  # what whoever runs it might set, and commands to type there
    good_health: bool = True  # of the services, where nobody has to do anything
    without: frozenset[str] = frozenset()
    without_if_known: frozenset[str] = frozenset()


FULL = Limits(without=frozenset({"verdict", "end", "unknown"}))
BRIEF = Limits(
    rows=25,
    tail=15,
    findings=10,
    reasons=8,
    examples=2,
    lines=5,
    common=3,
    evidence=3,
    code_lines=4,
    suspects=1,
    texts=3,
    handovers="alone",
    paths=1,
    without=frozenset(
        {"facts", "message", "fix", "considered", "learned", "capture", "how", "trace"}
        | {"evidence_more", "scoreboard", "run", "files", "proof", "checked"}
    ),
    without_if_known=frozenset({"evidence", "suspects", "next", "verdict", "also", "open"}),
)
