"""Whether a conversation still learns something: lines and hits it was not shown before.

A line of a file counts once, whether it came in a preview, a search or a reading. What a tool says
around it (headings, "nothing found", advice) counts for nothing.
"""

import re
from collections.abc import Iterable

from nightwatch_core.analysis.limits import COMPARED_LINE
from nightwatch_core.code.code_view import CUT, MARK
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult, UserTurn

_CODE = ("read_file", "search_code")  # tools that show lines of files
_HEAD = re.compile(r"(?P<path>\S.{0,999}) \(lines \d{1,8}-\d{1,8} of \d{1,8}\)")
_NUMBERED = re.compile(r" {0,8}(?P<line>\d{1,8})\|")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): ")
_SAYINGS = (MARK, "No file is called", "This error came without", "```")  # how other tools say it


def lines_of_opening(opening: Conversation) -> frozenset[str]:
    """Collect what the conversation holds before the first call: `path:line`, or rows of text."""
    said = (turn.text for turn in opening.turns if isinstance(turn, UserTurn))
    places = (
        f"{preview.path}:{number}"
        for preview in opening.research.previews
        for number in range(preview.start, preview.end + 1)
    )
    return frozenset((*places, *_texts("\n".join(said))))


def lines_shown(call: ToolCall, result: ToolResult) -> frozenset[str]:
    r"""Collect the lines and hits in a tool's answer: `path:line` where they have a place.

    >>> call = ToolCall(id="1", name="read_file")
    >>> answer = ToolResult(id="1", name="read_file", text="a.py (lines 7-7 of 9)\n    7| x = 1")
    >>> sorted(lines_shown(call, answer))
    ['a.py:7']
    """
    if result.is_error:
        return frozenset()
    return frozenset((_places if call.name in _CODE else _texts)(result.text))


def _places(text: str) -> Iterable[str]:
    path = ""
    for row in text.split("\n"):
        if head := _HEAD.fullmatch(row):
            path = head["path"]
        elif found := _HIT.match(row) or _NUMBERED.match(row):
            at = found.groupdict().get("path") or path
            part = row[:COMPARED_LINE] if CUT in row else ""  # another part of a long line is new
            yield f"{at}:{found['line']}{part}"


def _texts(text: str) -> Iterable[str]:
    rows = (row.strip()[:COMPARED_LINE] for row in text.split("\n"))
    return (row for row in rows if row and not row.startswith(_SAYINGS))
