"""The stand-in's model: it knows nothing but the text of the request it was sent.

It looks for the innermost frame of our own code, and for that line among the numbered lines it was
shown. Found, it quotes it; not found, it asks for the file once, and refuses after that.
"""

import json
import re

from services.own_frames import own_frames

_HEAD = re.compile(r"^(\S+) \(lines \d+-\d+ of \d+\)(?:: .*)?$")
_NUMBERED = re.compile(r"^ *(\d+)\| ?(.*)$")


def turn(body, reads, fixes, number):
    """Content blocks and stop reason.

    With `reads` it asks for the file that often at once, even where it was shown it. `fixes` are
    changes it knows how to make: text of a line, and what to write instead.
    """
    texts = list(_texts(body))
    frames = own_frames("\n".join(texts))
    if not frames:
        return [], "refusal"
    path, line = frames[0]
    quote = _line_of(texts, path, line)
    asked = any(block.get("type") == "tool_use" for block in _blocks(body))
    if not asked and (reads or quote is None) and _may_read(body):
        calls = [
            _call(path, line - 20 * n, f"{number:04}_{n}") for n in range(1, max(reads, 1) + 1)
        ]
        return [{"type": "text", "text": "Let me look."}, *calls], "tool_use"
    if quote is None:
        return [], "refusal"
    answer = json.dumps(_answer(path, line, quote, fixes))
    if not body.get("output_config", {}).get("format"):
        answer = f"Here it is:\n```json\n{answer}\n```"
    return [{"type": "text", "text": answer}], "end_turn"


def summary(body):
    """A summary that keeps what it can use: the frame, and the numbered lines with their head."""
    frames, lines = [], []
    for text in _texts(body):
        frames += own_frames(text)[:1]
        quote = _line_of([text], *frames[0]) if frames else None
        if quote is not None:
            path, line = frames[0]
            lines += [f"{path} (lines {line}-{line} of {line})", f"{line:>5}| {quote}"]
    told = [f"{path}:{line} in …  <- ours" for path, line in frames[:1]]
    return "<summary>\n" + "\n".join([*told, *lines[:2]]) + "\n</summary>"


def _call(path, start, name):
    given = {"path": path, "start": max(start, 1), "end": max(start, 1) + 40}
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "read_file", "input": given}


def _answer(path, line, quote, fixes):
    old = next((text for text in fixes if text in quote), "")
    change = {"path": path, "action": "edit", "old": quote, "description": "As it should be."}
    changes = [{**change, "new": quote.replace(old, fixes[old])}] if old else []
    return {
        "title": f"{path} fails at line {line}",
        "root_cause": f"{path}:{line} is at fault: {quote.strip()}",
        "confidence": "high",
        "has_fix": bool(changes),
        "file_changes": changes,
        "fix_confidence": "medium" if changes else None,
        "question": "",
        "evidence": [{"path": path, "line": line, "quote": quote, "note": "fails"}],
        "hypotheses": [],
        "suspect_commit": "",
        "tags": [],
        "learnings": [],
        "related_to": [],
        "suggested_next_steps": [f"Look at {path}"],
    }


def _blocks(body):
    for message in body["messages"]:
        content = message["content"]
        yield from [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(body):
    """Everything it was told, by us and by tools."""
    for block in _blocks(body):
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result" and not block.get("is_error"):
            content = block["content"]
            yield content if isinstance(content, str) else content[0]["text"]


def _line_of(texts, path, line):
    for text in texts:
        inside = False
        for shown in text.split("\n"):
            if head := _HEAD.match(shown):
                inside = head[1] == path
            numbered = _NUMBERED.match(shown)
            if inside and numbered and int(numbered[1]) == line:
                return numbered[2]
    return None


def _may_read(body):
    off = body.get("tool_choice", {}).get("type") == "none"
    return not off and any(tool["name"] == "read_file" for tool in body.get("tools", ()))
