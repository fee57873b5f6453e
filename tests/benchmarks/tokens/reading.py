"""What a request shows: texts told and found, lines with their numbers, calls already made."""

import re
from dataclasses import dataclass, field
from typing import Any

_HEAD = re.compile(r"^([\w@.~+/-]+\.\w{1,10})(?:[ :].*)?$")
_PROSE = 160  # characters of a row that make it more than a frame or a hit
_NUMBERED = re.compile(r"^ *(\d{1,6})\| ?(.*)$")


@dataclass
class Shown:
    """Everything a mind can know: `told` by us or tools, never by itself."""

    told: str = ""
    found: str = ""  # the same without answers that are errors
    lines: dict[str, dict[int, str]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def number(self, path: str, text: str) -> int:
        """The line of `path` on which a text was shown; 1 where it came without numbers."""
        known = self.lines.get(path, {})
        return next((number for number, shown in known.items() if text in shown), 1)

    def places(self, path: str, symbol: str) -> list[int]:
        """Lines of the file that were named together with the symbol, in their order.

        A frame or a hit counts before a place that a longer text mentions, perhaps of another
        error, and the line that defines the name before its other lines.
        """
        name = re.escape(path.rpartition("/")[2])
        place = re.compile(rf'(?<![\w.-]){name}(?:", line |:)(\d+)')
        rows = [row for row in self.told.split("\n") if symbol in row]
        rows.sort(key=lambda row: len(row) > _PROSE)
        named = [int(found[1]) for row in rows for found in place.finditer(row)]
        defines = re.compile(rf"\b(?:def|function|Object)\s+{re.escape(symbol)}\b")
        known = [(n, text) for n, text in self.lines.get(path, {}).items() if symbol in text]
        known.sort(key=lambda one: not defines.search(one[1]))
        defined = [n for n, text in known if defines.search(text)]
        seen = [n for n in named if n not in {number for number, _ in known}]
        return list(dict.fromkeys((*seen, *defined, *named, *(n for n, _ in known))))

    def asked(self, name: str, **given: Any) -> bool:
        """Whether a call was made with these arguments, whatever else it held."""
        return any(
            tool == name and all(said.get(key) == value for key, value in given.items())
            for tool, said in self.calls
        )


def shown(body: dict[str, Any]) -> Shown:
    """Read a request of the Messages API."""
    seen, told, found = Shown(), [], []
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_use":
                seen.calls.append((block["name"], block["input"]))
            elif message["role"] == "user":
                text = _text(block)
                told.append(text)
                found += [] if block.get("is_error") else [text]
    seen.told, seen.found = "\n".join(told), "\n".join(found)
    path = ""
    for row in seen.found.split("\n"):
        if head := _HEAD.match(row):
            path = head[1]
        elif path and (numbered := _NUMBERED.match(row)):
            seen.lines.setdefault(path, {})[int(numbered[1])] = numbered[2]
    return seen


def _text(block: dict[str, Any]) -> str:
    if block["type"] == "text":
        return str(block["text"])
    content = block.get("content", "")
    if isinstance(content, str):
        return content
    return "\n".join(str(item.get("text", "")) for item in content)
