"""A night without Prefect: the product's own flow, with the enemy as the model."""

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from enemy.mind import Seen, obey
from enemy.table import heard
from enemy.world import Shop
from world import World

from nightwatch_core.adapters.local.quiet import LocalNotifier, SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    ToolCall,
    UserTurn,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.settings import settings
from nightwatch_core.text.plain_text import estimated_tokens
from tasks.ports import PublishingPorts
from tasks.wiring import _outbox, _reading, local

MODEL = "claude-opus-5-5"
ASKED_AGAIN = ("That is not settled", "## An earlier look")  # what only a second look is told
ABLE = Capabilities(model=MODEL, input_price=5.0, output_price=25.0, priced="2026-11-01")


@dataclass
class Enemy:
    """A Model that obeys; keeps which attacks reached it, and what it cost.

    Of its first look it says that it is unsure: every finding gets a second one.
    """

    reached: set[str] = field(default_factory=set)
    spent: dict[str, int] = field(default_factory=dict)  # new tokens by error
    calls: int = 0

    def capabilities(self) -> Capabilities:
        return ABLE

    def reply(self, conversation: Conversation, timeout: float) -> Reply:
        answers = [
            result.text
            for turn in conversation.turns
            if isinstance(turn, ResultsTurn)
            for result in turn.results
        ]
        told = [turn.text for turn in conversation.turns if isinstance(turn, UserTurn)]
        turns = sum(bool(t.calls) for t in conversation.turns if isinstance(t, AssistantTurn))
        may = bool(conversation.tools) and not conversation.tools_off
        seen = Seen(conversation.system, [*told, *answers], answers, turns, may)
        self.reached |= {item.name for item in heard([seen.system, *seen.texts])}
        calls, text = obey(seen)
        if not any(words in item for words in ASKED_AGAIN for item in told):
            text = unsure(text)
        self.calls += 1
        asked = tuple(
            ToolCall(id=f"{turns}_{n}", name=name, arguments=given)
            for n, (name, given) in enumerate(calls)
        )
        usage = Usage(
            calls=1,
            input_tokens=estimated_tokens("".join(seen.texts)) // max(turns, 1),
            output_tokens=min(estimated_tokens(text) + 100, conversation.max_tokens),
            cost=0.01,
        )
        name = conversation.case.fingerprint
        self.spent[name] = self.spent.get(name, 0) + usage.new_tokens
        turn = AssistantTurn(text=text, calls=asked)
        return Reply(turn=turn, stop="tools" if asked else "answer", usage=usage)


def unsure(text: str) -> str:
    """An answer with low confidence; any other text as it is."""
    with suppress(ValueError):
        return json.dumps(json.loads(text) | {"confidence": "low"})
    return text


def choices(shop: Shop, errors: str) -> dict[str, Any]:
    return {
        "source": "file", "code": "checkout", "model": MODEL, "delivery": "local",
        "notify": "local", "errors": errors, "repo": str(shop.repo), "max_errors": 200,
        "max_issues": 100, "max_pull_requests": 100, "total_token_budget": 100_000_000,
        "cost_per_night": 0, "cost_per_error": 0,
    }  # fmt: skip


def play(shop: Shop, day: int, enemy: Enemy) -> RunReport:
    """Run the night after a day; returns its report."""
    chosen, at = choices(shop, str(shop.records(day))), settings()
    options = NightOptions(**chosen)
    ports = _reading(options.model_copy(update={"model": "rules"}), at)
    ports = replace(ports, code=shop.code(), model=enemy, libraries=None)

    def outbox(night: Night):  # type: ignore[no-untyped-def]
        return _outbox(options, at, night)

    writing = PublishingPorts(
        outbox=outbox,
        notifier=LocalNotifier(),
        knowledge=local.knowledge(options, at),
        nights=NightStore(at.state, SystemClock()),
    )
    return World(reading=ports, publishing=writing).night(**chosen)
