"""What a conversation has shown of the code, and what would have to be asked next.

Everything is derived from the conversation: the values of tool results, and the previews it started
with. Asking for something that is not known gives nothing and notes a question; the next turn turns
the questions into tool calls. So a rule is written as if all code were there.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from nightwatch_core.code.diffs import replaces
from nightwatch_core.code.languages import language_of
from nightwatch_core.models.code import Blame, MergedPull, Suspect
from nightwatch_core.models.conversation import (
    AssistantTurn,
    CommitsShown,
    Conversation,
    HitsFound,
    LinesBlamed,
    LinesRead,
    NothingThere,
    ResultsTurn,
    ToolCall,
    ToolResult,
)
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.limits import FRAMES, QUERY, READ_LINES, WHOLE_FILE

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_UNKNOWN = HitsFound(complete=False)


class Question(NamedTuple):
    """A call of a tool; the arguments in the order of their names."""

    tool: str
    arguments: tuple[tuple[str, str | int], ...]

    @classmethod
    def of(cls, tool: str, arguments: Mapping[str, Any]) -> "Question":
        """Make equal questions of equal calls; arguments of other types are none of ours."""
        plain = ((name, value) for name, value in arguments.items() if isinstance(value, str | int))
        return cls(tool, tuple(sorted(plain)))


class KnownCode:
    """Lines, searches and blames that one conversation has shown; questions for what is missing."""

    def __init__(self, conversation: Conversation) -> None:
        """Read everything the conversation holds."""
        self.questions: list[Question] = []
        self.rounds = 0
        self._may_ask = frozenset(spec.name for spec in conversation.tools)
        self._lines: dict[str, dict[int, str]] = {}
        self._totals: dict[str, int] = {}
        self._near: dict[str, tuple[str, ...]] = {}  # by a path that is not there: those like it
        self._results: dict[Question, ToolResult] = {}
        for preview in conversation.research.previews:
            rows = preview.text.removesuffix("\n").split("\n")
            self._lines.setdefault(preview.path, {}).update(enumerate(rows, max(preview.start, 1)))
            if preview.lines:
                self._totals[preview.path] = preview.lines
        self._read_turns(conversation)

    def lines(self, path: str, start: int, end: int) -> dict[int, str]:
        """Give the known lines of the range by number; asks for it where some are missing."""
        path = self.resolved(path)
        start, end = max(start, 1), min(end, self._totals.get(path, end))
        known = self._lines.get(path, {})
        missing = [n for n in range(start, end + 1) if n not in known]
        if missing and path not in self._near:
            self._ask("read_file", path=path, start=missing[0], end=missing[-1])
        return {n: known[n] for n in range(start, end + 1) if n in known}

    def whole(self, path: str) -> tuple[str, ...] | None:
        """Give every line of the file; None until all are known, or if it is very long."""
        path = self.resolved(path)
        total = self._totals.get(path)
        if total is None and path not in self._near:
            self._ask("read_file", path=path)
        if total is None or total > WHOLE_FILE:
            return None
        known = self._lines.get(path, {})
        missing = [n for n in range(1, total + 1) if n not in known]
        while missing:
            last = max(n for n in missing if n < missing[0] + READ_LINES)
            self._ask("read_file", path=path, start=missing[0], end=last)
            missing = [n for n in missing if n > last]
        lines = tuple(known[n] for n in range(1, total + 1) if n in known)
        return lines if len(lines) == total else None

    def search(self, query: str, path: str = "") -> HitsFound:
        """Give the lines that hold the text; not complete where some were left out, or not yet.

        Only plain text of up to 100 characters is searched: names from errors are data.
        """
        if not query.strip() or len(query) > QUERY or _UNPRINTABLE.search(query):
            return _UNKNOWN
        result = self._result("search_code", query=query, **({"path": path} if path else {}))
        value = result.value if result else None
        return value if isinstance(value, HitsFound) else _UNKNOWN

    def blame(self, path: str, line: int) -> Blame | None:
        """Tell who last wrote the line."""
        path = self.resolved(path)
        result = self._result("blame", path=path, line=line) if path and line > 0 else None
        value = result.value if result else None
        return next(iter(value.blames), None) if isinstance(value, LinesBlamed) else None

    def diff(self, sha: str, path: str) -> str:
        """Give what a commit changed in a file; empty where it is not known."""
        result = self._result("show_commit", id=sha, path=path) if sha and path else None
        value = result.value if result else None
        shown = value.diff if isinstance(value, CommitsShown) else None
        return "\n".join(file.diff for file in shown.files) if shown else ""

    def resolved(self, path: str) -> str:
        """Give the path itself, or the one file of the same name that was suggested instead."""
        near = [other for other in self._near.get(path, ()) if _name(other) == _name(path)]
        return near[0] if len(near) == 1 else path

    def exists(self, path: str) -> bool:
        """Tell whether some line of the file is known."""
        return bool(self._lines.get(self.resolved(path)))

    def _result(self, tool: str, **arguments: str | int) -> ToolResult | None:
        known = self._results.get(Question.of(tool, arguments))
        if known is None:
            self._ask(tool, **arguments)
        return known

    def _ask(self, tool: str, **arguments: str | int) -> None:
        asked = Question.of(tool, arguments)
        known = asked in self._results or asked in self.questions
        if tool in self._may_ask and not known:
            self.questions.append(asked)

    def _read_turns(self, conversation: Conversation) -> None:
        calls: dict[str, ToolCall] = {}
        for turn in conversation.turns:
            if isinstance(turn, AssistantTurn):
                self.rounds += bool(turn.calls)
                calls.update((call.id, call) for call in turn.calls)
            elif isinstance(turn, ResultsTurn):
                for result in turn.results:
                    if result.id in calls:
                        self._read(calls[result.id], result)

    def _read(self, call: ToolCall, result: ToolResult) -> None:
        self._results.setdefault(Question.of(call.name, call.arguments), result)
        value = result.value
        if isinstance(value, LinesRead) and value.total:
            self._lines.setdefault(value.path, {}).update(value.lines)
            self._totals[value.path] = value.total
        elif call.name == "read_file" and result.is_error:
            near = value.near if isinstance(value, NothingThere) else ()
            self._near.setdefault(str(call.arguments.get("path", "")), near)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


class Context(NamedTuple):
    """The case, what was gathered about it, and the code seen so far."""

    case: Case
    research: ResearchContext
    code: KnownCode

    @property
    def language(self) -> str:
        """What the trace calls its language; empty without a trace."""
        return self.case.trace.language if self.case.trace else ""

    @property
    def app_frames(self) -> tuple[Frame, ...]:
        """In-app frames with a line, those of the root exception first, innermost first."""
        frames = self.case.trace.in_app if self.case.trace else ()
        return tuple(frame for frame in frames if frame.line and frame.path)[:FRAMES]

    def suspect_of(self, blame: Blame | None) -> Suspect | None:
        """Find the suspect pull request whose merge wrote the line, or took it along."""
        if blame is None:
            return None
        return next((s for s in self.research.suspects if brought(s.pull, blame.sha)), None)

    def newer(self, path: str, line: int, than_path: str, than_line: int) -> str:
        """Say why the first line counts as a later change than the second; empty where it does not.

        Later by its day; on the same day, where a suspect change brought it.
        """
        changed = self.code.blame(path, line)
        kept = self.code.blame(than_path, than_line)
        if changed is None or kept is None or same_commit(changed.sha, kept.sha):
            return ""
        day, kept_day = changed.at.date(), kept.at.date()
        if day > kept_day or (day == kept_day and self.suspect_of(changed)):
            return f"{path}:{line} was changed by {changed.sha} on {day}"
        return ""

    def added(self, path: str, line: int, text: str) -> bool:
        """Tell whether the commit that wrote a line added its text, and did not only move it."""
        blame = self.code.blame(path, line)
        diff = self.code.diff(blame.sha, path) if blame else ""
        rows = {(row[:1], row[1:].strip()) for row in diff.split("\n")}
        return ("+", text.strip()) in rows and ("-", text.strip()) not in rows

    def replaced(self, old: str, new: str, path: str, line: int) -> str:
        """Say which commit put one name in the place of another in a line; empty where none did."""
        blame = self.code.blame(path, line)
        diff = self.code.diff(blame.sha, path) if blame else ""
        if blame is None or not replaces(old, new, diff, language_of(path)):
            return ""
        return f"{blame.sha} of {blame.at.date()} replaced `{old}` by `{new}` in {path}:{line}"


def brought(pull: MergedPull, sha: str) -> bool:
    """Tell whether a pull request's merge is the commit, or took it along."""
    return any(same_commit(own, sha) for own in (pull.sha, *pull.commits))


def same_commit(one: str, other: str) -> bool:
    """Tell whether two ids, perhaps shortened, are of one commit.

    >>> same_commit("0123456789ab", "0123456"), same_commit("", "0123456")
    (True, False)
    """
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 7 and longer.startswith(shorter)
