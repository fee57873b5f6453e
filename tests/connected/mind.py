"""The model's mind of the connected nights: it knows nothing but the text it was sent.

It asks for the file it was shown least of, for who else names what is missing, and for what the
commit of the failing line did; it quotes the failing line out of what it was shown, and only where
that line holds what the error's message speaks of: who shows it another commit, or nothing, gets a
refusal. It blames a commit that it saw take away what is missing. Without a trace it says it
is guessing.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from services import anthropic_mind as plain

_WROTE = re.compile(r"^(\S+:\d+), the line that fails: ([0-9a-f]{10}) ", re.MULTILINE)
_TOLD = re.compile(r"## The error\n\n```\w*\n(.+?)\n```", re.DOTALL)
# What a message speaks of, and what therefore stands in the failing line.
SPEAKS_OF: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"undefined (?:local variable or )?method '(\w+)'"), r"{}"),
    (re.compile(r"key not found"), "fetch"),
    (re.compile(r"divided by 0"), "/"),
    (re.compile(r"invalid value for Integer"), r"Integer("),
    (re.compile(r"can't be coerced"), "+"),
    (re.compile(r"can't modify frozen"), "<<"),
)
# A fix that an earlier night proposed in vain, as the prompt tells of it: in a fence.
_FAILED = re.compile(r"not to be proposed again unchanged:\n(.+?)^```", re.DOTALL | re.MULTILINE)
Blocks = list[dict[str, Any]]
Mind = Callable[[Any, int, Mapping[str, str], int], tuple[Blocks, str]]


def turn(body: Any, reads: int, fixes: Mapping[str, str], number: int) -> tuple[Blocks, str]:
    """Content blocks and stop reason, as the stand-in for Anthropic asks its mind."""
    blocks = list(plain.blocks_of(body))
    told = _TOLD.search("\n".join(b["text"] for b in blocks if b["type"] == "text"))
    if told is None:
        return [], "refusal"
    opening = next(b["text"] for b in blocks if b["type"] == "text" and "## The error" in b["text"])
    if "Only the fix is wanted" in opening:
        return _fix_alone(opening, _spoken_of(told[1]), fixes, body)
    frames = plain.own_frames(opening)
    if not frames:
        return plain.said(_guess(told[1]), body), "end_turn"
    path, line = frames[0]
    wanted = _spoken_of(told[1])
    if not any(b["type"] == "tool_use" for b in blocks):
        return _questions(frames, wanted, opening, number), "tool_use"
    answered = {
        b["tool_use_id"]: plain.result_text(b) for b in blocks if b["type"] == "tool_result"
    }
    quote = plain.line_of([opening, *answered.values()], path, line)
    if quote is None or not wanted or wanted not in quote:
        return [], "refusal"
    suspect = _suspect(blocks, answered, wanted)
    answer = plain.finding(path, line, quote, fixes) | {"suspect_commit": suspect}
    answer["fix_confidence"] = "high" if answer["has_fix"] else None
    return plain.said(answer, body), "end_turn"


def _fix_alone(
    opening: str, wanted: str, fixes: Mapping[str, str], body: Any
) -> tuple[Blocks, str]:
    """The fix of the line that is shown around the known cause, and nothing else."""
    path = ""
    for shown in opening.split("\n"):
        path = head[1] if (head := plain.HEAD.match(shown)) else path
        row = plain.NUMBERED.match(shown)
        if path and row and wanted and wanted in row[2]:
            answer = plain.finding(path, int(row[1]), row[2], fixes)
            kept = {name: answer[name] for name in ("confidence", "has_fix", "file_changes")}
            return plain.said({"title": "", "root_cause": "", **kept}, body), "end_turn"
    return [], "refusal"


def heeding(second: Mapping[str, str]) -> Mind:
    """A mind that proposes its `second` fix where it is told that the first was turned down."""

    def listens(body: Any, reads: int, fixes: Mapping[str, str], number: int) -> tuple[Blocks, str]:
        told = "\n".join(b["text"] for b in plain.blocks_of(body) if b["type"] == "text")
        failed = _FAILED.findall(told)
        refused = {old for old, new in fixes.items() if any(new in diff for diff in failed)}
        return turn(body, reads, {**fixes, **{o: second[o] for o in refused & set(second)}}, number)

    return listens


def _questions(frames: list[tuple[str, int]], wanted: str, opening: str, number: int) -> Blocks:
    path, line = frames[0]
    if plain.line_of([opening], path, line) is not None:
        path, line = frames[-1]  # who calls it was not shown, or not all of it
    asked: list[tuple[str, dict[str, Any]]] = [
        ("read_file", {"path": path, "start": max(line - 20, 1), "end": line + 20}),
        ("search_code", {"query": wanted}),
    ]
    if wrote := _WROTE.search(opening):
        asked.append(("show_commit", {"id": wrote[2]}))
    calls = [
        {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(asked)
    ]
    return [{"type": "text", "text": "Let me look."}, *calls]


def _guess(told: str) -> dict[str, Any]:
    first = told.strip().splitlines()[0]
    return plain.finding("", 0, "", {}) | {
        "title": f"No trace of {first[:80]}",
        "root_cause": f"Nothing was seen but the message: {first}",
        "confidence": "low",
        "evidence": [],
        "suggested_next_steps": ["Look into the logs of the service"],
    }


def _spoken_of(message: str) -> str:
    for pattern, place in SPEAKS_OF:
        if found := pattern.search(message):
            return place.format(*found.groups())
    return ""


def _suspect(blocks: Blocks, answered: Mapping[str, str], wanted: str) -> str:
    """A commit of which it saw that it takes away what is missing."""
    for block in blocks:
        if block["type"] == "tool_use" and block["name"] == "show_commit":
            rows = answered.get(block["id"], "").split("\n")
            if any(row.startswith("-") and wanted in row for row in rows):
                return str(block["input"]["id"])
    return ""
