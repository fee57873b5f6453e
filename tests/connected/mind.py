"""The model's mind of the connected nights: it knows nothing but the text it was sent.

It asks for the file it was shown least of, for who else names what is missing, and for what the
commit of the failing line did; it quotes the failing line out of what it was shown, and only where
that line holds what the error's message speaks of: who shows it another commit, or nothing, gets a
refusal. It blames a commit that it saw take away what is missing. Without a trace it says that it
is guessing.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from services.own_frames import own_frames

_HEAD = re.compile(r"^(\S+) \(lines \d+-\d+ of \d+\)(?:: .*)?$")
_NUMBERED = re.compile(r"^ *(\d+)\| ?(.*)$")
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
    blocks = list(_blocks(body))
    told = _TOLD.search("\n".join(b["text"] for b in blocks if b["type"] == "text"))
    if told is None:
        return [], "refusal"
    opening = next(b["text"] for b in blocks if b["type"] == "text" and "## The error" in b["text"])
    if "Only the fix is wanted" in opening:
        return _fix_alone(opening, _spoken_of(told[1]), fixes, body)
    frames = own_frames(opening)
    if not frames:
        return _said(_guess(told[1]), body), "end_turn"
    path, line = frames[0]
    wanted = _spoken_of(told[1])
    if not any(b["type"] == "tool_use" for b in blocks):
        return _questions(frames, wanted, opening, number), "tool_use"
    answered = {b["tool_use_id"]: _text(b) for b in blocks if b["type"] == "tool_result"}
    quote = _line_of([opening, *answered.values()], path, line)
    if quote is None or not wanted or wanted not in quote:
        return [], "refusal"
    suspect = _suspect(blocks, answered, wanted)
    return _said(_finding(path, line, quote, fixes, suspect), body), "end_turn"


def _fix_alone(
    opening: str, wanted: str, fixes: Mapping[str, str], body: Any
) -> tuple[Blocks, str]:
    """The fix of the line that is shown around the known cause, and nothing else."""
    path = ""
    for shown in opening.split("\n"):
        path = head[1] if (head := _HEAD.match(shown)) else path
        row = _NUMBERED.match(shown)
        if path and row and wanted and wanted in row[2]:
            answer = _finding(path, int(row[1]), row[2], fixes, "")
            kept = {name: answer[name] for name in ("confidence", "has_fix", "file_changes")}
            return _said({"title": "", "root_cause": "", **kept}, body), "end_turn"
    return [], "refusal"


def heeding(second: Mapping[str, str]) -> Mind:
    """A mind that proposes its `second` fix where it is told that the first was turned down."""

    def listens(body: Any, reads: int, fixes: Mapping[str, str], number: int) -> tuple[Blocks, str]:
        told = "\n".join(b["text"] for b in _blocks(body) if b["type"] == "text")
        failed = _FAILED.findall(told)
        refused = {old for old, new in fixes.items() if any(new in diff for diff in failed)}
        return turn(body, reads, {**fixes, **{o: second[o] for o in refused & set(second)}}, number)

    return listens


def _questions(frames: list[tuple[str, int]], wanted: str, opening: str, number: int) -> Blocks:
    path, line = frames[0]
    if _line_of([opening], path, line) is not None:  # seen: who calls it is not, or not all of it
        path, line = frames[-1]
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


def _said(answer: dict[str, Any], body: Any) -> Blocks:
    text = json.dumps(answer)
    if not body.get("output_config", {}).get("format"):
        text = f"Here it is:\n```json\n{text}\n```"
    return [{"type": "text", "text": text}]


def _guess(told: str) -> dict[str, Any]:
    first = told.strip().splitlines()[0]
    return {
        **_EMPTY,
        "title": f"No trace of {first[:80]}",
        "root_cause": f"Nothing was seen but the message: {first}",
        "confidence": "low",
        "suggested_next_steps": ["Look into the logs of the service"],
    }


def _finding(
    path: str, line: int, quote: str, fixes: Mapping[str, str], suspect: str
) -> dict[str, Any]:
    old = next((text for text in fixes if text in quote), "")
    change = {"path": path, "action": "edit", "old": quote, "description": "Say what is there."}
    return {
        **_EMPTY,
        "title": f"{path} fails at line {line}",
        "root_cause": f"{path}:{line} is at fault: {quote.strip()}",
        "confidence": "high",
        "has_fix": bool(old),
        "file_changes": [{**change, "new": quote.replace(old, fixes[old])}] if old else [],
        "fix_confidence": "high" if old else None,
        "evidence": [{"path": path, "line": line, "quote": quote, "note": "fails"}],
        "suspect_commit": suspect,
        "suggested_next_steps": [f"Look at {path}"],
    }


_EMPTY: dict[str, Any] = {
    "has_fix": False,
    "fix_confidence": None,
    "question": "",
    "suspect_commit": "",
    **{
        name: []
        for name in ("file_changes", "evidence", "hypotheses", "tags", "learnings", "related_to")
    },
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


def _blocks(body: Any) -> Iterator[dict[str, Any]]:
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(block: Mapping[str, Any]) -> str:
    content = block["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


def _line_of(texts: list[str], path: str, line: int) -> str | None:
    for text in texts:
        inside = False
        for shown in text.split("\n"):
            if head := _HEAD.match(shown):
                inside = head[1] == path
            numbered = _NUMBERED.match(shown)
            if inside and numbered and int(numbered[1]) == line:
                return numbered[2]
    return None
