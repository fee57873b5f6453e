"""The stand-in's model: it knows nothing but the text of the request it was sent.

It looks for the innermost frame of our own code, and for that line among the numbered lines it was
shown. Found, it quotes it; not found, it asks for the file once, and refuses after that.
"""

import json
import re

from services import anthropic_billing

HEAD = re.compile(r"^(\S+) \(lines? \d[^()]* of \d+\)(?:: .*)?$")
NUMBERED = re.compile(r"^ *(\d+)\| ?(.*)$")
_OURS = re.compile(r"^(?P<row>.*?)  <- ours(?:, (?P<place>\S+:\d+))?$", re.MULTILINE)
_PLACE = re.compile(r'(?:File "(?P<file>[^"]+)", line |(?P<path>[^\s:("]+\.\w+):)(?P<line>\d+)')
_SHOWN = re.compile(r"^(\S+) \(lines? \d[^()]* of \d+\)", re.MULTILINE)


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
    quote = line_of(texts, path, line)
    asked = any(block.get("type") == "tool_use" for block in blocks_of(body))
    if not asked and (reads or quote is None) and _may_read(body):
        calls = [
            _call(path, line - 20 * n, f"{number:04}_{n}") for n in range(1, max(reads, 1) + 1)
        ]
        return [{"type": "text", "text": "Let me look."}, *calls], "tool_use"
    if quote is None:
        return [], "refusal"
    return said(finding(path, line, quote, fixes), body), "end_turn"


def said(answer, body):
    """The answer as the request wants it: JSON alone, or among words where it has no schema."""
    text = json.dumps(answer)
    if not body.get("output_config", {}).get("format"):
        text = f"Here it is:\n```json\n{text}\n```"
    return [{"type": "text", "text": text}]


def summary(body):
    """A summary that keeps what it can use: the frame, and the numbered lines with their head."""
    frames, lines = [], []
    for text in _texts(body):
        frames += own_frames(text)[:1]
        quote = line_of([text], *frames[0]) if frames else None
        if quote is not None:
            path, line = frames[0]
            lines += [f"{path} (lines {line}-{line} of {line})", f"{line:>5}| {quote}"]
    told = [f"{path}:{line} in …  <- ours" for path, line in frames[:1]]
    return "<summary>\n" + "\n".join([*told, *lines[:2]]) + "\n</summary>"


def _call(path, start, name):
    given = {"path": path, "start": max(start, 1), "end": max(start, 1) + 40}
    return {"type": "tool_use", "id": f"toolu_{name}", "name": "read_file", "input": given}


def finding(path, line, quote, fixes):
    """An answer that blames this line, and mends it where a fix is known."""
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


def blocks_of(body):
    for message in body["messages"]:
        yield from anthropic_billing.blocks_of(message)


def _texts(body):
    """Everything it was told, by us and by tools."""
    for block in blocks_of(body):
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result" and not block.get("is_error"):
            yield result_text(block)


def result_text(block):
    content = block["content"]
    return content if isinstance(content, str) else content[0]["text"]


def line_of(texts, path, line):
    for text in texts:
        inside = False
        for shown in text.split("\n"):
            if head := HEAD.match(shown):
                inside = head[1] == path
            numbered = NUMBERED.match(shown)
            if inside and numbered and int(numbered[1]) == line:
                return numbered[2]
    return None


def _may_read(body):
    off = body.get("tool_choice", {}).get("type") == "none"
    return not off and any(tool["name"] == "read_file" for tool in body.get("tools", ()))


def own_frames(text: str) -> list[tuple[str, int]]:
    """Paths in the repository and lines, innermost first; of Python the last row is."""
    rows = list(_OURS.finditer(text))
    if any('File "' in one["row"] for one in rows):
        rows.reverse()
    shown = _SHOWN.findall(text)
    frames = []
    for one in rows:
        found = _PLACE.search(one["place"] or one["row"])
        if found:
            path = found["file"] or found["path"]
            ends = [head for head in shown if f"/{path}".endswith(f"/{head}")]
            frames.append((max(ends, key=len, default=path), int(found["line"])))
    return frames
