"""Slack's limits, and how a night is shared out among them.

Nobody documents the limit on a whole message: about 12,000 characters came through and 13,000 did
not, so that we stay well below. Shares sum to less than that: whatever the night held, Slack has
nothing to refuse.
"""

from collections.abc import Mapping

from nightwatch_core.adapters.slack.mrkdwn import size
from nightwatch_core.report.limits import Limits

MESSAGE = 9_000  # characters of all texts and addresses of a message
PLAIN = 3_500  # of the text that stands for the blocks; chat.update refuses 4,000
HEADER = 150
TABLE = 10_000  # characters of all cells
TABLE_ROWS = 100
# Characters of a part; what the parent message has left is the table's.
PARENT = {"trouble": 1_300, "headline": 500, "banner": 500, "failures": 800, "dropped": 700}
PARENT |= {"long_tail": 400, "unreadable": 400, "health": 500, "source": 300, "end": 1_400}
REPLY = {"about": 900, "caveats": 330, "message": 450, "cause": 1_400, "question": 330}
REPLY |= {
    "evidence": 1_170,
    "fix": 1_160,
    "proof": 400,
    "refused": 330,
    "kept back": 250,
    "suspects": 400,
    "open": 330,
    "next": 400,
}
REPLY |= {"twins": 250, "also": 250, "done": 500, "again": 150}
FOLLOW_UP = {"links": 2_500, "outcomes": 1_700, "patterns": 2_300, "suggestions": 2_300}
SHOWN = Limits(
    rows=50,
    tail=0,
    findings=20,
    reasons=6,
    examples=2,
    lines=6,
    common=3,
    facts=5,
    evidence=3,
    files=3,
    code_lines=25,
    suspects=2,
    texts=3,
    handovers="none",
    paths=0,
    advice=False,
    good_health=False,
    without=frozenset(
        {"verdict", "evidence_more", "considered", "learned", "capture", "how", "trace"}
        | {"scoreboard", "run", "files", "complaints", "unknown"}
    ),
)
_COUNTED = frozenset({"text", "url", "alt_text", "title", "value"})


def weight(value: object) -> int:
    """Characters of all texts and addresses of blocks, however deep."""
    if isinstance(value, Mapping):
        return sum(
            size(each) if isinstance(each, str) and key in _COUNTED else weight(each)
            for key, each in value.items()
        )
    return sum(map(weight, value)) if isinstance(value, list | tuple) else 0
