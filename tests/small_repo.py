"""Miniature repositories and a plain conversation loop for the tests of tools and rules."""

import re
from datetime import UTC, datetime

from twins.reading import MemoryCode

from nightwatch_core.analysis import tools
from nightwatch_core.code.edits import apply
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.code import Blame, ChangedFile, Commit, CommitDiff, LoggedCommit
from nightwatch_core.models.conversation import Conversation, ResultsTurn, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.engine import next_turn


class SmallRepo(MemoryCode):
    """A MemoryCode; `written`: (path, line) to (sha, day), perhaps the old text."""

    def __init__(self, files, written=None, commits=()):
        super().__init__(files, Commit(repository="shop/shop", sha="c" * 40), commits=commits)
        self.written = written or {}

    def blame(self, path, start, end=None):
        rows = (self.files.get(path) or "").split("\n")
        lines = range(start, min(len(rows), end or start) + 1)
        return tuple(
            self._blame(path, line, rows) for line in lines if (path, line) in self.written
        )

    def _blame(self, path, line, rows):
        sha, day = self.written[path, line][:2]
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        return Blame(
            sha=sha, author="Ann", at=at, subject="Change", line=line, text=rows[line - 1],
            is_root=not sha.strip("0"),
        )  # fmt: skip

    def show_commit(self, sha, path=""):
        return super().show_commit(sha, path) or self._replacing(sha, path)

    def _replacing(self, sha, path):
        """The commit of `written` lines that stand in the place of others, where that is told."""
        lines = [
            (line, who[2])
            for (where, line), who in self.written.items()
            if where == path and len(who) > 2 and who[0].startswith(sha)
        ]
        rows = (self.files.get(path) or "").split("\n")
        diff = "\n".join(f"@@ {n} @@\n-{old}\n+{rows[n - 1]}" for n, old in lines if n <= len(rows))
        at = datetime(2026, 2, 1, tzinfo=UTC)
        commit = LoggedCommit(sha=sha, at=at, subject="Change")
        file = ChangedFile(path=path, added=1, removed=1, diff=diff)
        return CommitDiff(commit=commit, files=(file,), changed=1) if diff else None


def frame(path, line, function="", in_app=True, code=""):
    return Frame(
        path=f"/srv/{path}", line=line, function=function, in_app=in_app, code=code,
        repo_path=path if in_app else "",
    )  # fmt: skip


def case(error_class, message, *frames, language="python", causes=()):
    links = (ExceptionLink(error_class=error_class, message=message, frames=frames), *causes)
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class=error_class, message=message,
        transaction="orders/show",
    )  # fmt: skip
    trace = Trace(language=language, links=links) if frames or causes else None
    return Case(leader=group, trace=trace)


def opening(the_case, research=None, **changes):
    return Conversation(
        system="",
        tools=tools.SPECS,
        turns=(UserTurn(text="Explain this error."),),
        case=the_case,
        research=research or ResearchContext(),
    ).model_copy(update=changes)


def explained(the_case, files, written=None, research=None):
    """The answer and every tool call on the way; fails where the talk does not end."""
    repo, talk, calls = SmallRepo(files, written), opening(the_case, research), []
    for _ in range(10):
        turn = next_turn(talk)
        if not turn.calls:
            return Answer.model_validate_json(turn.text), calls
        calls += turn.calls
        results = tuple(tools.run(call, repo, the_case, ()) for call in turn.calls)
        talk = talk.said(turn, ResultsTurn(results=results))
    raise AssertionError("the talk did not come to an answer")


def mended(answer, files):
    """The files after the answer's edits; fails where an edit does not apply."""
    applied = apply(answer.file_changes, files.get)
    assert not applied.refusal, applied.refusal
    return {change.path: change.text for change in applied.changes}


_MARK = re.compile(r"[ \t]*«(\w+)»")


def answered(error_class, message, files, *frames, language="python", written=None, research=None):
    """The rules' answer; a frame is (path, mark, function), innermost first."""
    marks = {
        (path, match[1]): number
        for path, text in files.items()
        for number, row in enumerate(text.split("\n"), start=1)
        for match in _MARK.finditer(row)
    }
    plain = {path: _MARK.sub("", text) for path, text in files.items()}
    at = [frame(path, marks[path, mark], function) for path, mark, function in frames]
    when = {(path, marks[path, mark]): who for (path, mark), who in (written or {}).items()}
    the_case = case(error_class, message, *at, language=language)
    return explained(the_case, plain, when, research)[0]
