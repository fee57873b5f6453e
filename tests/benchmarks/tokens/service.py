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

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tokens import mind
from benchmarks.tokens.rounds import Rounds
from benchmarks.tokens.words import Scenario
from services import anthropic_context
from services.anthropic import Anthropic, _before
from services.anthropic_billing import unmarked
from services.anthropic_rules import bad

from nightwatch_core.code.code_view import MARK

SMALLEST, LOOK_BACK = 512, 20
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


class Service(Anthropic):
    """Plays the scenarios of one night for whoever asks."""

    def __init__(self, scenarios: Sequence[Scenario]) -> None:
        super().__init__()
        self.scenarios, self.calls, self.rounds = scenarios, list[Call](), Rounds()

    def message(self, body: Any, headers: Any, *_: Any) -> Any:
        """The next turn, as the mind has it."""
        model = self._checked(body, headers)
        self.rounds.arrive()
        scenario, (shown, edits) = self._meant(body), anthropic_context.shown(body)
        asked, answer = mind.turn(scenario, shown)
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
        prefixes, marked = _prefixes(body)
        total = prefixes[-1][1]
        found = {
            size
            for end in marked
            for name, size in prefixes[max(end - LOOK_BACK, 0) : end + 1]
            if name in self.rounds.seen
        }
        read = max(found, default=0)
        kept = [prefixes[end] for end in marked if prefixes[end][1] >= SMALLEST]
        self.rounds.fresh |= {name for name, _ in kept}
        written = max(max((size for _, size in kept), default=0) - read, 0)
        said = max(tokens(content), 1)
        self.calls.append(
            Call(
                scenario.key, 1 + sum(item["role"] == "assistant" for item in body["messages"]),
                total - read - written, read, written, said, missed(body),
                sum(tokens([item]) for item in content if item["type"] == "thinking"),
                _shortened(body),
            )
        )  # fmt: skip
        return {
            "input_tokens": total - read - written, "output_tokens": said,
            "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
            "cache_creation": {
                "ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0,
            },
            "service_tier": "standard",
        }  # fmt: skip


def _first(body: Any) -> str:
    """The first message."""
    return "\n".join(text for block in _blocks(body["messages"][0]) for text in _texts(block))


def tokens(value: Any) -> int:
    """How many tokens the texts of a value come to."""
    characters = sum(map(len, _texts(value)))
    blocks = len(value) if isinstance(value, list) else 1
    return -(-characters // PER_TOKEN) + PER_BLOCK * blocks


def _prefixes(body: Any) -> tuple[list[tuple[str, int]], list[int]]:
    """Every prefix with its size, and the numbers of those that end at a cache marker."""
    output = body.get("output_config", {})
    head = [body["model"], body.get("tools"), body.get("system"), output.get("format")]
    choices = [body.get("tool_choice"), body.get("thinking"), output.get("effort")]
    name = _digest("", unmarked(head))
    found, marked = [(name, tokens(head[1:]))], [0] if _is_marked(body.get("system")) else []
    name = _digest(name, choices)
    for message in body["messages"]:
        name = _digest(name, {key: said for key, said in message.items() if key != "content"})
        for block in _blocks(message):
            name = _digest(name, unmarked(block))
            found.append((name, found[-1][1] + tokens(block)))
            marked += [len(found) - 1] if _is_marked(block) else []
    return found, [*marked, *([len(found) - 1] if body.get("cache_control") else [])]


def _blocks(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from (name, *_texts(one)) if name not in ("cache_control", "type") else ()
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _is_marked(value: Any) -> bool:
    blocks = value if isinstance(value, list) else [value]
    return any(isinstance(block, dict) and "cache_control" in block for block in blocks)


def _digest(before: str, value: Any) -> str:
    return hashlib.sha256(f"{before}{json.dumps(value, sort_keys=True)}".encode()).hexdigest()


def _thinking(name: str, size: int) -> dict[str, str]:
    signature = (_digest(name, size) * (size * PER_TOKEN // 64 + 1))[: size * PER_TOKEN]
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
    for block in _blocks(body["messages"][-1]):
        if block.get("type") == "tool_result":
            yield "".join(_texts(block.get("content", ""))), bool(block.get("is_error"))
