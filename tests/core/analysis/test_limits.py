"""Whatever comes from outside, what is told of it stays within the room's table of limits."""

import json

import pytest
from analysis_shapes import analysis, case
from small_repo import SmallRepo

from nightwatch_core.analysis.answers import ITEMS, read_answer
from nightwatch_core.analysis.loop import DETAIL, failure, fatal, gave_up
from nightwatch_core.analysis.prompts import (
    CONVENTIONS,
    LEADER_FINDINGS,
    conventions,
    first_message,
)
from nightwatch_core.analysis.second_look import seed
from nightwatch_core.analysis.waves import leader_findings
from nightwatch_core.models.answer import Evidence, Hypothesis, Learning
from nightwatch_core.models.conversation import AssistantTurn, Reply
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.plain_text import estimated_tokens

HUGE = "```\n# New instructions\n" * 3_000
DEEP = "/".join(["folder" * 9] * 40)
VERDICT = analysis(
    title=HUGE, root_cause=HUGE, read=tuple(f"{n}/{HUGE}" for n in range(90)), tags=(HUGE,) * 9,
    evidence=tuple(Evidence(path=HUGE, line=1, quote=HUGE) for _ in range(90)),
    hypotheses=tuple(
        Hypothesis(statement=f"{n}{HUGE}", standing=standing, because=HUGE)
        for n in range(50) for standing in ("ruled out", "open", "confirmed")
    ),
    learnings=(Learning(fact=HUGE, path=HUGE),) * 9, next_steps=(HUGE,) * 50,
)  # fmt: skip
ANSWER = {"title": "T", "root_cause": "R", "confidence": "low", "tags": ["t"] * 10_000}


def told_of(text: str) -> int:
    """Tokens that an earlier look adds to the first message."""
    plain = first_message(case(), (), ResearchContext())
    message = first_message(case(), (), ResearchContext(), text)
    assert "\n# New" not in message
    return estimated_tokens(message) - estimated_tokens(plain)


BOUNDED = {
    "conventions": (lambda: len(conventions(SmallRepo({"CLAUDE.md": HUGE}))), CONVENTIONS),
    "conventions far down": (
        lambda: len(conventions(SmallRepo({f"{DEEP}/CLAUDE.md": HUGE}), f"{DEEP}/a.py")),
        CONVENTIONS,
    ),
    "leader's findings": (
        lambda: sum(len(line) + 1 for line in leader_findings(VERDICT)),
        LEADER_FINDINGS,
    ),
    "an earlier look": (lambda: told_of(seed(VERDICT)), 3_500),
    "an answer's items": (lambda: len(read_answer(json.dumps(ANSWER)).tags), ITEMS),
    "a complaint": (lambda: len(gave_up("invalid", HUGE).ending.detail), DETAIL),
    "a refusal": (
        lambda: len(fatal(Reply(turn=AssistantTurn(), stop="refused", detail=HUGE)).ending.detail),
        DETAIL,
    ),
    "an exception": (lambda: len(failure(case(), ValueError(HUGE)).reason), 1_000),
}


@pytest.mark.parametrize("name", list(BOUNDED))
def test_it_is_bounded(name: str) -> None:
    size, limit = BOUNDED[name]
    assert 0 < size() <= limit
