"""Plan of a night's batches: questions, usual and maximal cost."""

import json
from collections.abc import Sequence

from nightwatch_core.models.assignment import Sighting
from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.conversation import UserTurn
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import estimated_tokens, money, plural
from nightwatch_core.triage.batch_triage import USUAL_ANSWER_TOKENS


class BatchCost(Value):
    """USD of all items, at the batch's share of the list prices; None: no price is known."""

    usual: float | None = 0.0
    most: float | None = 0.0

    @property
    def text(self) -> str:
        """Return the cost for people.

        >>> BatchCost(usual=0.21, most=1.5).text, BatchCost(usual=None, most=None).text
        ('about $0.21, at most $1.50', 'price unknown')
        >>> BatchCost(usual=0.001, most=0.004).text, BatchCost(usual=0.001, most=0.02).text
        ('under $0.01', 'at most $0.02')
        """
        if self.usual is None or self.most is None:
            return "price unknown"
        usual, most = money(self.usual), money(self.most)
        about = f"about {usual}, " if self.usual >= 0.01 and usual != most else ""
        return f"{about}at most {most}" if self.most >= 0.01 else most


def cost_of(items: Sequence[TriageItem], prices: Batch) -> BatchCost:
    """Return the cost of these items at the prices of a batch; an unknown price stays unknown."""
    usual = most = 0.0
    for item in items:
        talk = item.conversation
        turns = [turn.text for turn in talk.turns if isinstance(turn, UserTurn)]
        texts = (talk.system, json.dumps(talk.answer_schema), *turns)
        prompt = sum(map(estimated_tokens, texts))
        fitting = (row for row in prices.prices if row.up_to is None or prompt <= row.up_to)
        if (price := next(fitting, None)) is None:
            return BatchCost(usual=None, most=None)
        answer = min(USUAL_ANSWER_TOKENS, talk.max_tokens)
        share = prices.share / 1_000_000
        usual += (prompt * price.input + answer * price.output) * share
        most += (prompt * price.input + talk.max_tokens * price.output) * share
    return BatchCost(usual=usual, most=most)


class Questions(Value):
    """Errors to ask about, and earlier words on others that still hold."""

    items: tuple[TriageItem, ...] = ()
    kept: tuple[Sighting, ...] = ()
    complaint: str = ""  # about the agent file


class Plan(Value):
    """Questions to submit, their cost, and the number beyond the budget."""

    items: tuple[TriageItem, ...] = ()
    cost: BatchCost = BatchCost()
    over: str = ""


def plan(items: tuple[TriageItem, ...], prices: Batch, left: float | None) -> Plan:
    """Take as many of the items, best first, as cannot cost more than `left` USD; None: all."""
    count = len(items)
    if left is not None:
        spent, count = 0.0, 0
        for item in items:
            most = cost_of((item,), prices).most
            if most is None or (spent := spent + most) > left:
                break
            count += 1
    over = ""
    if rest := len(items) - count:
        were = plural(rest, "error was", "errors were")
        budget = f"{money(left)} of cost_per_night are left"
        over = f"{were} not asked about at first sight: {budget}"
    return Plan(items=items[:count], cost=cost_of(items[:count], prices), over=over)
