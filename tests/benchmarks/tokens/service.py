"""The stand-in of the Messages API, led by the mind of the benchmark, with billing of its own.

Billing keeps a cache of prefixes as the service describes it: an entry ends at a cache marker (an
explicit one, or the last block where the request asks for automatic caching) and needs 512 tokens;
a request reads the longest entry found at most 20 blocks before one of its markers; tools, system
and schema come first, then effort, thinking and tool choice, then the messages: a change starts the
cache anew from there. What is written can be read by requests that are sent after the response
began: calls under way at the same time do not see each other's entries.

Time is counted in `rounds`.

Tokens are characters of the texts divided by three, which is what code comes to on today's
tokenizers, and four for every block; thinking is carried by its signature, so that it is paid for
when it is made and read when it is sent back.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.tokens import mind
from benchmarks.tokens.words import Scenario
from services import anthropic_context
from services.anthropic import Anthropic, _before
from services.anthropic_billing import Cache, blocks_of, digest
from services.anthropic_rules import bad

from nightwatch_core.code.code_view import MARK

_WAIT = 60.0  # seconds after which a round begins without those who did not come


@dataclass
class Rounds:
    """Calls of analyses that run side by side, in step: each takes as long as every other."""

    busy: int = 0
    waiting: int = 0
    held: int = 0  # calls that are kept back until a response begins
    number: int = 0
    seen: set[str] = field(default_factory=set)
    fresh: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.turn = threading.Condition()

    def __enter__(self) -> "Rounds":
        with self.turn:
            self.busy += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self.turn:
            self.busy -= 1
            self._begin_if_all_are_here()

    def wait_for(self, others: int, since: int) -> None:
        """Wait until so many have asked, or keep their call back, or round `since` is over."""
        with self.turn:
            self.turn.wait_for(
                lambda: self.number > since or self.waiting + self.held >= others, _WAIT
            )

    def arrive(self) -> None:
        """Wait until all who are busy have asked; what the last round wrote can be read then."""
        with self.turn:
            self.waiting += 1
            now = self.number
            self.turn.notify_all()
            self._begin_if_all_are_here()
            self.turn.wait_for(lambda: self.number > now, _WAIT)

    def _begin_if_all_are_here(self) -> None:
        if self.waiting and self.waiting >= self.busy - self.held:
            self.waiting, self.number = 0, self.number + 1
            self.seen |= self.fresh
            self.turn.notify_all()


class Held:
    """A gate's signal that tells the rounds who keeps a call back."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds, self._calls, self._open = rounds, 0, False

    def wait(self, timeout: float | None = None) -> bool:
        rounds = self._rounds
        with rounds.turn:
            if self._open:
                return True
            self._calls, rounds.held = self._calls + 1, rounds.held + 1
            rounds.turn.notify_all()
            rounds._begin_if_all_are_here()
            if not rounds.turn.wait_for(lambda: self._open, timeout):
                self._calls, rounds.held = self._calls - 1, rounds.held - 1
            return self._open

    def is_set(self) -> bool:
        return self._open

    def set(self) -> None:
        """All of them are about to ask: the next round does not begin without them."""
        with self._rounds.turn:
            self._rounds.held -= self._calls
            self._calls, self._open = 0, True
            self._rounds.turn.notify_all()


PER_TOKEN, PER_BLOCK = 3, 4
NOT_THERE = ("There is no file", "There is no folder")


@dataclass(frozen=True)
class Call:
    """One request as it was billed."""

    scenario: str
    number: int  # of its conversation, 1 is the first
    input: int
    read: int
    written: int
    output: int
    missed: int  # answers to its last calls that said that there is no such file
    thought: int = 0  # thereof, of the output
    cut: int = 0  # answers to its last calls that were shortened


Turn = Callable[[Scenario, dict[str, Any]], tuple[list[mind.Call], str]]


class Service(Anthropic):
    """Plays the scenarios of one night for whoever asks."""

    def __init__(self, scenarios: Sequence[Scenario], turn: Turn = mind.turn) -> None:
        super().__init__()
        self.scenarios, self.calls, self.rounds = scenarios, list[Call](), Rounds()
        self.turn = turn
        self._cache = Cache(tokens)
        self._cache.known, self._cache.fresh = self.rounds.seen, self.rounds.fresh

    def message(self, body: Any, headers: Any, *_: Any) -> Any:
        """The next turn, as the mind has it."""
        model = self._checked(body, headers)
        self.rounds.arrive()
        scenario, (shown, edits) = self._meant(body), anthropic_context.shown(body)
        asked, answer = self.turn(scenario, shown)
        thought = mind.thinking(body, answering=not asked)
        with self._lock:
            self._number += 1
            name = f"{self._number:05}"
        content = [
            *([_thinking(name, thought)] if thought else []),
            *([{"type": "text", "text": answer}] if answer else []),
            *(
                {"type": "tool_use", "id": f"toolu_{name}_{n}", "name": tool, "input": given}
                for n, (tool, given) in enumerate(asked)
            ),
        ]
        with self._lock:
            usage = self.bill(scenario, shown, content)
            self._remember(body, content)
        return {
            "id": f"msg_{name}", "type": "message", "role": "assistant", "model": model["id"],
            "content": content, "stop_reason": "tool_use" if asked else "end_turn",
            "stop_sequence": None, "stop_details": None, "usage": usage,
            "context_management": {"applied_edits": edits} if edits else None,
        }  # fmt: skip

    def _meant(self, body: Any) -> Scenario:
        """The error the first message is about: the one whose message and transaction it says."""
        first = _first(body)
        found = [
            scenario
            for scenario in self.scenarios
            if scenario.transaction in first and _told(scenario, first)
        ]
        if not found:
            raise bad("messages.0: no error of this night is told here")
        return max(found, key=lambda one: len(one.message))

    def _remember(self, body: Any, content: Any) -> None:
        """So that the stand-in can tell an edited history from its own."""
        key = _before(body, len(body["messages"]))
        self._issued.setdefault(key, []).append(content)

    def bill(self, scenario: Scenario, body: Any, content: Any) -> dict[str, Any]:
        """Bill one answered request; returns the `usage` of its response."""
        usage = self._cache.usage(body, max(tokens(content), 1))
        self.calls.append(
            Call(
                scenario.key, 1 + sum(item["role"] == "assistant" for item in body["messages"]),
                usage["input_tokens"], usage["cache_read_input_tokens"],
                usage["cache_creation_input_tokens"], usage["output_tokens"], missed(body),
                sum(tokens([item]) for item in content if item["type"] == "thinking"),
                _shortened(body),
            )
        )  # fmt: skip
        return {**usage, "service_tier": "standard"}


def _first(body: Any) -> str:
    """The first message."""
    return "\n".join(text for block in blocks_of(body["messages"][0]) for text in _texts(block))


def tokens(value: Any) -> int:
    """How many tokens the texts of a value come to."""
    characters = sum(map(len, _texts(value)))
    blocks = len(value) if isinstance(value, list) else 1
    return -(-characters // PER_TOKEN) + PER_BLOCK * blocks


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from (name, *_texts(one)) if name not in ("cache_control", "type") else ()
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _thinking(name: str, size: int) -> dict[str, str]:
    signature = (digest([name, size]) * (size * PER_TOKEN // 32 + 1))[: size * PER_TOKEN]
    return {"type": "thinking", "thinking": "", "signature": signature}


def _told(scenario: Scenario, first: str) -> bool:
    return scenario.message.splitlines()[0][:100] in first


def missed(body: Any) -> int:
    """Answers to the last calls that said that there is no such file."""
    return sum(text.startswith(NOT_THERE) for text, is_error in _answers(body) if is_error)


def _shortened(body: Any) -> int:
    return sum(f"\n{MARK}" in text for text, _ in _answers(body))


def _answers(body: Any) -> Iterator[tuple[str, bool]]:
    """What the tools last called said, and whether as an error."""
    for block in blocks_of(body["messages"][-1]):
        if block.get("type") == "tool_result":
            yield "".join(_texts(block.get("content", ""))), bool(block.get("is_error"))
