"""What answers of tools show, read back from their texts: lines of files, hits, rows of others."""

import re
from collections.abc import Iterable

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.shown_lines import place
from nightwatch_core.code.code_view import CUT, MARK, inside
from nightwatch_core.code.limits import LINE
from nightwatch_core.models.conversation import Conversation, ToolCall, ToolResult, UserTurn
from nightwatch_core.models.tool_values import LinesRead

_CODE = ("read_file", "search_code", "read_symbol")  # tools that show lines of the repository
_LINES = (*_CODE, "read_library")  # tools that show lines of files
_HEAD = re.compile(r"(?P<path>\S.{0,999}) \(lines \d{1,8}-\d{1,8} of \d{1,8}\)")
_HIT = re.compile(r"(?P<path>[^\s:|][^:|]{0,999}):(?P<line>\d{1,8}): ")
_LISTED = re.compile(r" {0,8}\d{1,8}-\d{1,8} +\S|\S.{0,999}: lines \d")  # of an outline, a count
_SAYINGS = (MARK, "No file is called", "This error came without", "```")  # how other tools say it
NUMBERED = re.compile(r" {0,8}(?P<line>\d{1,8})\|")


def lines_of_opening(opening: Conversation) -> frozenset[str]:
    """Collect what the conversation holds before the first call: `path:line`, or rows of text.

    A line of a preview counts where its row is in the text: not all previews need to be told.
    """
    said = "\n".join(turn.text for turn in opening.turns if isinstance(turn, UserTurn))
    rows = frozenset(row.lstrip() for row in said.split("\n"))
    places = (
        place(preview.path, number)
        for preview in opening.research.previews
        for number, text in enumerate(preview.text.split("\n"), start=preview.start)
        if len(text) < LINE and f"{number}| {text}" in rows
    )
    uses = (
        place(hit.path, hit.line)
        for hit in (*opening.research.other_uses, *opening.research.callers)
        if f"{hit.path}:{hit.line}: {hit.text.strip()}" in rows
    )
    return frozenset((*places, *uses, *_texts(said)))


def lines_shown(call: ToolCall, result: ToolResult) -> frozenset[str]:
    r"""Collect the lines and hits in a tool's answer: `path:line` where they have a place.

    >>> call = ToolCall(id="1", name="read_file")
    >>> answer = ToolResult(id="1", name="read_file", text="a.py (lines 7-7 of 9)\n    7| x = 1")
    >>> sorted(lines_shown(call, answer))
    ['a.py:7']
    """
    if result.is_error:
        return frozenset()
    return frozenset((_places if call.name in _LINES else _texts)(result.text))


def files_read(call: ToolCall, result: ToolResult) -> Iterable[str]:
    """List files of the repository of which the answer shows lines, or that are empty."""
    value = result.value
    if call.name not in _CODE or result.is_error:
        return ()
    if call.name == "read_file":
        is_outline = isinstance(value, LinesRead) and value.total and not value.lines
        path = call.arguments.get("path")
        named = inside(path) if isinstance(path, str) and not is_outline else ""
        return (named,) if named else ()
    return dict.fromkeys(path for path, _, _ in _rows(result.text) if path)


def _places(text: str) -> Iterable[str]:
    for path, line, row in _rows(text):
        # another part of a long line is new; so is what is listed without its text
        part = row[: limits.COMPARED_LINE] if CUT in row else ""
        yield f"{path}:{line}{part}" if path else row


def _rows(text: str) -> Iterable[tuple[str, str, str]]:
    """Path, number and row of every line that is shown; path and number empty for a list."""
    path = ""
    for row in text.split("\n"):
        if head := _HEAD.fullmatch(row):
            path = head["path"]
        elif hit := _HIT.match(row):
            yield hit["path"], hit["line"], row
        elif line := NUMBERED.match(row):
            yield path, line["line"], row
        elif _LISTED.match(row):
            yield "", "", row


def _texts(text: str) -> Iterable[str]:
    rows = (row.strip()[: limits.COMPARED_LINE] for row in text.split("\n"))
    return (row for row in rows if row and not row.startswith(_SAYINGS))
