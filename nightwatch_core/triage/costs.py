"""Usual and maximal cost of a batch."""

import json
from collections.abc import Sequence

from nightwatch_core.models.batch import Batch, TriageItem
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import estimated_tokens, money, plural
from nightwatch_core.triage.batch_triage import USUAL_ANSWER_TOKENS


class BatchCost(Value):
    """USD of all items, at the batch's share of the list prices; None: no price is known."""

    usual: float | None = 0.0
    most: float | None = 0.0

    def __add__(self, other: "BatchCost") -> "BatchCost":
        """Both together; an unknown price stays unknown."""
        return BatchCost(usual=_sum(self.usual, other.usual), most=_sum(self.most, other.most))

    @property
    def text(self) -> str:
        """For people.

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
    """Reckon what these items cost at the prices, and the share of them, that a batch names."""
    return sum((_one(item.conversation, prices) for item in items), BatchCost())


def affordable(items: Sequence[TriageItem], prices: Batch, left: float | None) -> int:
    """Count the first items that together cannot cost more than `left` USD; None: no cap.

    Where no price is known, none is, unless there is no cap.
    """
    if left is None:
        return len(items)
    spent = 0.0
    for count, item in enumerate(items):
        most = _one(item.conversation, prices).most
        if most is None or (spent := spent + most) > left:
            return count
    return len(items)


def left_over(count: int, left: float | None) -> str:
    """Say why errors were not asked about; empty for none.

    >>> left_over(3, 0.5)
    '3 errors were not asked about at first sight: $0.50 of cost_per_night are left'
    """
    if not count:
        return ""
    verb = "was" if count == 1 else "were"
    return (
        f"{plural(count, 'error')} {verb} not asked about at first sight: {money(left)} of "
        "cost_per_night are left"
    )


def _one(conversation: Conversation, prices: Batch) -> BatchCost:
    turns = [turn.text for turn in conversation.turns if isinstance(turn, UserTurn)]
    texts = (conversation.system, json.dumps(conversation.answer_schema), *turns)
    prompt = sum(map(estimated_tokens, texts))
    price = next(
        (price for price in prices.prices if price.up_to is None or prompt <= price.up_to), None
    )
    if price is None:
        return BatchCost(usual=None, most=None)
    read, share = prompt * price.input, prices.share / 1_000_000
    usual = min(USUAL_ANSWER_TOKENS, conversation.max_tokens)
    return BatchCost(
        usual=(read + usual * price.output) * share,
        most=(read + conversation.max_tokens * price.output) * share,
    )


def _sum(number: float | None, other: float | None) -> float | None:
    return None if number is None or other is None else number + other
