"""What the tests of many nights look for in a morning's report, in prompts and in messages."""

import re
from collections.abc import Iterator
from typing import Any

from connected import shop
from connected.days import Days
from connected.world import Night

from nightwatch_core.memory.scoreboard import scoreboard
from nightwatch_core.models.knowledge import ConfidenceTier

FENCED = re.compile(r"^(`{3,}\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def passed(night: Night) -> dict[str, Any]:
    """The report of a night in which nothing was in the way."""
    assert night.code == 0, night.told + night.output
    return night.report


def ending(report: dict[str, Any], error: shop.Failing) -> str:
    return str(about(report, error)["ending"]["kind"])


def about(report: dict[str, Any], error: shop.Failing) -> dict[str, Any]:
    found: dict[str, Any]
    (found,) = (
        analysis
        for analysis in report["analyses"]
        if analysis["case"]["leader"]["message"] == error.message
    )
    return found


def fates(report: dict[str, Any], error: shop.Failing) -> list[str]:
    """What became of the proposals about an error, as this night noticed."""
    own = [item for item in report["followed"] if error.path in item["title"]]
    return [fate["kind"] for item in own for fate in item["fates"]]


def done(report: dict[str, Any]) -> list[str]:
    return [receipt["kind"] for receipt in report["receipts"] if receipt["status"] == "done"]


def fences(text: str) -> str:
    """What stands in fences."""
    return "\n".join(found[2] for found in FENCED.finditer(text))


def tier(world: Days) -> ConfidenceTier:
    """The scoreboard's row of findings that were said with high confidence."""
    (found,) = (item for item in scoreboard(world.lessons()).tiers if item.said == "high")
    return found


def lines_about(world: Days, word: str) -> list[str]:
    """Lines of the last night's messages that hold a word."""
    nights = [night for night, _ in world.slack.parts()]
    shown = [m for m, night in zip(world.slack.shown(), nights, strict=True) if night == nights[-1]]
    texts = (text for message in shown for text in _texts(message.blocks))
    return [line for text in texts for line in text.split("\n") if word in line]


def _texts(block: object) -> Iterator[str]:
    if isinstance(block, dict):
        for name, value in block.items():
            if name == "text" and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(block, (list, tuple)):
        for item in block:
            yield from _texts(item)
