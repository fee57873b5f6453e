"""Lessons with decided proposals, for the tests of scoreboard, calibration and reports."""

from datetime import date
from typing import Any

from core.lesson_shapes import lesson

from nightwatch_core.models.knowledge import Lesson, PublishedItem
from nightwatch_core.models.proposals import OwnItem

DAY = date(2031, 3, 1)


def proposed(number: int = 12, outcome: str = "", **fields: Any) -> PublishedItem:
    told: dict[str, Any] = {
        "kind": "pull",
        "on": DAY,
        "night": "n1",
        "confidence": "high",
        "fix": f"fix-{number}",
    }
    return PublishedItem(number=number, outcome=outcome, **{**told, **fields})


def issue(number: int = 11, outcome: str = "", **fields: Any) -> PublishedItem:
    return proposed(number, outcome, **{"kind": "issue", "fix": "", **fields})


def published(*items: PublishedItem, **fields: Any) -> Lesson:
    return lesson(f"v1:{items[0].number:016x}" if items else "v1:0", proposed=items, **fields)


def record(outcomes: str, said: str = "high", start: int = 100, **fields: Any) -> list[Lesson]:
    """A lesson a letter: m(erged), v(erified), e(dited), c(losed unmerged), .(undecided)."""
    names = {"m": "merged", "v": "verified", "e": "edited before merge", "c": "closed unmerged"}
    return [
        published(proposed(start + at, names.get(letter, ""), confidence=said, **fields))
        for at, letter in enumerate(outcomes)
    ]


def drafts(states: str, checks: str) -> tuple[OwnItem, ...]:
    """A draft a letter: m(erged), c(losed), o(pen); its checks p(assed), f(ailed), . not known."""
    names = {"m": "merged", "c": "closed", "o": "open"}
    verdicts = {"p": "passed", "f": "failed", ".": ""}
    values = (
        {"state": names[s], "checks": verdicts[c]} for s, c in zip(states, checks, strict=True)
    )
    return tuple(
        OwnItem.model_validate({"kind": "pull", "number": at, "fingerprint": f"v1:{at}", **each})
        for at, each in enumerate(values, 1)
    )
