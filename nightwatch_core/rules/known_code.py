"""What a conversation has shown of the code, and what would have to be asked next.

Everything is derived from the conversation: tool results and the previews it started with. Asking
the notebook for something it does not hold gives nothing and notes a wish; the next turn turns the
wishes into tool calls. So a diagnosis is written as if all code were there.
"""

import json
import re
from typing import Any

from nightwatch_core.models.conversation import (
    AssistantTurn,
    Conversation,
    ResultsTurn,
    ToolCall,
    ToolResult,
)
from nightwatch_core.rules.results import (
    Blamed,
    Found,
    read_blame,
    read_excerpt,
    read_hits,
    suggestions,
)

_WINDOW = 90  # lines asked for at once: fits the tool's limit for code of usual width
_WHOLE = 1_200  # files longer than this are not read in full
_PRINTABLE = re.compile(r"[^\x20-\x7e]")


class Notebook:
    """Known lines, searches and blames of one conversation; wishes for what is missing."""

    def __init__(self, conversation: Conversation) -> None:
        """Read everything the conversation holds."""
        self.wishes: list[tuple[str, dict[str, Any]]] = []
        self.rounds = 0
        self._may_ask = frozenset(spec.name for spec in conversation.tools)
        self._lines: dict[str, dict[int, str]] = {}
        self._totals: dict[str, int] = {}
        self._gone: dict[str, tuple[str, ...]] = {}  # with what was suggested instead
        self._answers: dict[str, ToolResult] = {}
        for preview in conversation.research.previews:
            self._note_preview(preview.path, preview.start, preview.text, preview.lines)
        self._note_turns(conversation)

    def lines(self, path: str, start: int, end: int) -> dict[int, str]:
        """The known lines of the range by number; asks for the range where some are missing."""
        path = self.resolved(path)
        start, end = max(start, 1), min(end, self._totals.get(path, end))
        known = self._lines.get(path, {})
        missing = [n for n in range(start, end + 1) if n not in known]
        if missing and path not in self._gone:
            self._wish("read_file", path=path, start=missing[0], end=max(missing[-1], missing[0]))
        return {n: known[n] for n in range(start, end + 1) if n in known}

    def whole(self, path: str) -> tuple[str, ...] | None:
        """Every line of the file; None until all are known, and for ever for a very long file."""
        path = self.resolved(path)
        total = self._totals.get(path)
        if total is None and path not in self._gone:
            self._wish("read_file", path=path)
        if total is None:
            return None
        if total > _WHOLE:
            return None
        known = self._lines.get(path, {})
        missing = [n for n in range(1, total + 1) if n not in known]
        while missing:
            first = missing[0]
            last = max(n for n in missing if n < first + _WINDOW)
            self._wish("read_file", path=path, start=first, end=last)
            missing = [n for n in missing if n > last]
        lines = tuple(known[n] for n in range(1, total + 1) if n in known)
        return lines if len(lines) == total else None

    def search(self, query: str, path: str = "") -> Found:
        """Lines that hold the text; not complete where hits were left out or none were asked for.

        Only plain text of up to 100 characters is searched: names from errors are data.
        """
        if not query.strip() or len(query) > 100 or _PRINTABLE.search(query):
            return Found()
        arguments = {"query": query, **({"path": path} if path else {})}
        answer = self._answer("search_code", **arguments)
        return read_hits(answer.text) if answer and not answer.is_error else Found()

    def blame(self, path: str, line: int) -> Blamed | None:
        """Who last wrote the line."""
        path = self.resolved(path)
        answer = self._answer("blame", path=path, line=line) if path and line > 0 else None
        return read_blame(answer.text) if answer and not answer.is_error else None

    def resolved(self, path: str) -> str:
        """The path itself, or the one file of the same name that was suggested in its place."""
        near = [other for other in self._gone.get(path, ()) if _same_name(other, path)]
        return near[0] if len(near) == 1 else path

    def exists(self, path: str) -> bool:
        """Whether some line of the file is known."""
        return bool(self._lines.get(self.resolved(path)))

    def _answer(self, name: str, **arguments: Any) -> ToolResult | None:
        found = self._answers.get(_key(name, arguments))
        if found is None:
            self._wish(name, **arguments)
        return found

    def _wish(self, name: str, **arguments: Any) -> None:
        wish = (name, arguments)
        asked = _key(name, arguments) in self._answers
        if name in self._may_ask and not asked and wish not in self.wishes:
            self.wishes.append(wish)

    def _note_preview(self, path: str, start: int, text: str, total: int) -> None:
        rows = text.removesuffix("\n").split("\n")
        self._lines.setdefault(path, {}).update(enumerate(rows, max(start, 1)))
        if total:
            self._totals[path] = total

    def _note_turns(self, conversation: Conversation) -> None:
        calls: dict[str, ToolCall] = {}
        for turn in conversation.turns:
            if isinstance(turn, AssistantTurn):
                self.rounds += bool(turn.calls)
                calls.update((call.id, call) for call in turn.calls)
            elif isinstance(turn, ResultsTurn):
                for result in turn.results:
                    self._note(calls.get(result.id), result)

    def _note(self, call: ToolCall | None, result: ToolResult) -> None:
        if call is None:
            return
        key = _key(call.name, call.arguments)
        self._answers.setdefault(key, result)
        path = str(call.arguments.get("path", ""))
        if call.name != "read_file":
            return
        excerpt = read_excerpt(result.text)
        if result.is_error and not excerpt.total:
            self._gone.setdefault(path, suggestions(result.text))
        elif excerpt.total:
            self._lines.setdefault(path, {}).update(excerpt.lines)
            self._totals[path] = excerpt.total


def _key(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps([name, arguments], sort_keys=True, default=str)


def _same_name(one: str, other: str) -> bool:
    return one.rsplit("/", 1)[-1] == other.rsplit("/", 1)[-1]
