"""See the failing line and the code around it; say what a rule found out."""

import difflib
import re
from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

from tree_sitter import Node

from nightwatch_core.code.definitions import defined_name, definitions_in
from nightwatch_core.code.diffs import replaces
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.suspects import is_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import masked, root_of, uses
from nightwatch_core.models import conversation as chat
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.code import Blame, CommitDiff, SearchHit, Suspect
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.rule_files import Pattern
from nightwatch_core.text.words import words_of_name as words
from nightwatch_core.traces.placing import fitted

# Asking
ROUNDS, QUESTIONS = 10, 8  # turns with questions; tool calls in one turn
READ_LINES = 400  # lines asked for at once: as many as the tool shows
WHOLE_FILE = 6_000  # lines; longer files are not read in full
QUERY = 100  # characters of a text that is searched for

# Reading
LINE = 500  # characters that are looked at
LINES_ABOVE, LINES_BELOW = 50, 30  # around a failing line
HEAD_LINES = 80  # of a file, in which its imports stand
FRAMES = 20  # that are looked at
NONE_CANDIDATES = 12  # expressions of a statement that may be None
CANDIDATES = 3  # similar names looked into

# Saying
EVIDENCE, SENTENCES, STEPS, LEARNINGS = 6, 4, 4, 3  # items of an answer
EDITED_FILES = 8  # files a rename may touch
LONGEST_TITLE = 120  # characters

# Everything is derived from the conversation: the values of tool results, and the previews it
# started with. Asking for something that was not shown gives nothing and notes a question; the next
# turn turns the questions into tool calls. So a rule is written as if all code were there.

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_UNKNOWN = chat.HitsFound(complete=False)


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

    def __init__(self, conversation: chat.Conversation) -> None:
        self.questions: list[Question] = []
        self.rounds = 0
        self._may_ask = frozenset(spec.name for spec in conversation.tools)
        self._lines: dict[str, dict[int, str]] = {}
        self._totals: dict[str, int] = {}
        self._near: dict[str, tuple[str, ...]] = {}  # by a path that is not there: those like it
        self._results: dict[Question, chat.ToolResult] = {}
        for preview in conversation.research.previews:
            rows = preview.text.removesuffix("\n").split("\n")
            self._lines.setdefault(preview.path, {}).update(enumerate(rows, max(preview.start, 1)))
            if preview.lines:
                self._totals[preview.path] = preview.lines
        self._read_turns(conversation)

    def lines(self, path: str, start: int, end: int) -> dict[int, str]:
        """Return the known lines of the range by number; asks for it where some are missing."""
        path = self.resolved(path)
        start, end = max(start, 1), min(end, self._totals.get(path, end))
        found = self._lines.get(path, {})
        missing = [n for n in range(start, end + 1) if n not in found]
        if missing and path not in self._near:
            self._ask("read_file", path=path, start=missing[0], end=missing[-1])
        return {n: found[n] for n in range(start, end + 1) if n in found}

    def whole(self, path: str) -> tuple[str, ...] | None:
        """Return every line of the file; None until all are known, or if it is very long."""
        path = self.resolved(path)
        total = self._totals.get(path)
        if total is None and path not in self._near:
            self._ask("read_file", path=path)
        if total is None or total > WHOLE_FILE:
            return None
        found = self._lines.get(path, {})
        missing = [n for n in range(1, total + 1) if n not in found]
        while missing:
            last = max(n for n in missing if n < missing[0] + READ_LINES)
            self._ask("read_file", path=path, start=missing[0], end=last)
            missing = [n for n in missing if n > last]
        lines = tuple(found[n] for n in range(1, total + 1) if n in found)
        return lines if len(lines) == total else None

    def search(self, query: str, path: str = "") -> chat.HitsFound:
        """Return the lines that hold the text; not complete where some were left out, or not yet.

        Only plain text of up to 100 characters is searched: names from errors are data.
        """
        if not query.strip() or len(query) > QUERY or _UNPRINTABLE.search(query):
            return _UNKNOWN
        result = self._result("search_code", query=query, **({"path": path} if path else {}))
        value = result.value if result else None
        return value if isinstance(value, chat.HitsFound) else _UNKNOWN

    def blame(self, path: str, line: int) -> Blame | None:
        """Return the commit that last wrote the line."""
        path = self.resolved(path)
        result = self._result("blame", path=path, line=line) if path and line > 0 else None
        value = result.value if result else None
        return next(iter(value.blames), None) if isinstance(value, chat.LinesBlamed) else None

    def diff(self, sha: str, path: str) -> str:
        """Return what a commit changed in a file; empty where it is not known."""
        result = self._result("show_commit", id=sha, path=path) if sha and path else None
        shown = result.value if result else None
        return "\n".join(f.diff for f in shown.files) if isinstance(shown, CommitDiff) else ""

    def resolved(self, path: str) -> str:
        """Return the path itself, or the one file of the same name that was suggested instead."""
        near = [other for other in self._near.get(path, ()) if _name(other) == _name(path)]
        return near[0] if len(near) == 1 else path

    def exists(self, path: str) -> bool:
        """Return whether some line of the file is known."""
        return bool(self._lines.get(self.resolved(path)))

    def _result(self, tool: str, **arguments: str | int) -> chat.ToolResult | None:
        result = self._results.get(Question.of(tool, arguments))
        if result is None:
            self._ask(tool, **arguments)
        return result

    def _ask(self, tool: str, **arguments: str | int) -> None:
        asked = Question.of(tool, arguments)
        is_answered = asked in self._results or asked in self.questions
        if tool in self._may_ask and not is_answered:
            self.questions.append(asked)

    def _read_turns(self, conversation: chat.Conversation) -> None:
        calls: dict[str, chat.ToolCall] = {}
        for turn in conversation.turns:
            if isinstance(turn, chat.AssistantTurn):
                self.rounds += bool(turn.calls)
                calls.update((call.id, call) for call in turn.calls)
            elif isinstance(turn, chat.ResultsTurn):
                for result in turn.results:
                    if result.id in calls:
                        self._read(calls[result.id], result)

    def _read(self, call: chat.ToolCall, result: chat.ToolResult) -> None:
        self._results.setdefault(Question.of(call.name, call.arguments), result)
        value = result.value
        if isinstance(value, chat.LinesRead) and value.total:
            self._lines.setdefault(value.path, {}).update(value.lines)
            self._totals[value.path] = value.total
        elif call.name == "read_file" and result.is_error:
            near = value.near if isinstance(value, chat.NothingThere) else ()
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
        """Return what the trace calls its language; empty without a trace."""
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
        return next((s for s in self.research.suspects if is_of(s.pull, blame.sha)), None)

    def newer(self, path: str, line: int, than_path: str, than_line: int) -> str:
        """Say why the first line counts as a later change than the second; empty where it does not.

        Later by its day; on the same day, where a suspect change brought it.
        """
        changed = self.code.blame(path, line)
        kept = self.code.blame(than_path, than_line)
        if changed is None or kept is None or changed.sha == kept.sha:
            return ""
        day, kept_day = changed.at.date(), kept.at.date()
        if day > kept_day or (day == kept_day and self.suspect_of(changed)):
            return f"{path}:{line} was changed by {changed.sha} on {day}"
        return ""

    def added(self, path: str, line: int, text: str) -> bool:
        """Return whether the commit that wrote a line added its text, and did not only move it."""
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

    def only_renamed(self, old: str, new: str, path: str, line: int) -> bool:
        """Return whether a line's commit only renamed it, and where it is used, too."""
        blame, language, name = self.code.blame(path, line), language_of(path), re.escape(old)
        rows = self.code.diff(blame.sha, path).split("\n") if blame else []
        code = [row[:1] + masked(row[1:], language) for row in rows]
        gone = [row[1:] for row in code if row[:1] == "-" and uses(old, row)]
        come = {row[1:] for row in code if row[:1] == "+"}
        declares = rf"{language.functions}|\s*(?:[:@*#]|{name}\s*(?:[(:]|.*,\s*$))"
        is_used = any(not re.match(declares, row) for row in gone)
        whole = rf"(?<![\w$]){name}(?![\w$])"
        return is_used and all(re.sub(whole, new, row) in come for row in gone)


# Definitions of a name, and names that may have taken its place.

ALIKE = 0.6  # difflib ratio from which names are similar
_SLIP = 0.8  # ratio from which one word is another, written wrongly


class Words(Value):
    """`words.toml`."""

    forms: tuple[str, ...]
    telling: frozenset[str]
    negating: tuple[str, ...]
    opposites: tuple[frozenset[str], ...]
    built_in: frozenset[str]
    raised: frozenset[str]
    numbers: Pattern
    shapes: tuple[tuple[Pattern, str, bool], ...]


WORDS = data_table(__package__, "words.toml", Words)


class Candidate(NamedTuple):
    """A definition that may be meant by a name that has none."""

    name: str
    place: SearchHit
    misspelt: bool  # the names differ by a typing error only


def definitions(name: str, language: Language, code: KnownCode) -> chat.HitsFound:
    """List lines outside tests that define the name; `complete` where no other can exist."""
    result = code.search(name)
    if not result.complete:
        parts = [code.search(f"{head}{name}") for head in language.heads]
        hits = tuple(dict.fromkeys(hit for part in (result, *parts) for hit in part.hits))
        result = chat.HitsFound(hits=hits, complete=all(part.complete for part in parts))
    own = (hit for hit in result.hits if _defines(hit, name) and not TEST.search(hit.path))
    return chat.HitsFound(hits=tuple(own), complete=result.complete)


def callers(name: str, code: KnownCode) -> chat.HitsFound:
    """List lines outside tests that use the name in code and do not define it."""
    result = code.search(name)
    own = (h for h in result.hits if not _defines(h, name) and not TEST.search(h.path))
    hits = tuple(h for h in own if uses(name, masked(h.text, language_of(h.path))))
    return chat.HitsFound(hits=hits, complete=result.complete)


def _defines(hit: SearchHit, name: str) -> bool:
    return defined_name(hit.text, language_of(hit.path)) in (name, f"{name}=")


def similar_in_file(name: str, path: str, code: KnownCode) -> tuple[Candidate, ...]:
    """List similar names that a file defines, the most similar first."""
    lines = code.whole(path) or ()
    found: dict[str, Candidate] = {}
    for item in definitions_in(path, "\n".join(lines)) if lines else ():
        is_cased_alike = name[:1].isupper() == item.name[:1].isupper()
        if item.name != name and is_cased_alike and likeness(name, item.name) >= ALIKE:
            place = SearchHit(path=path, line=item.line, text=lines[item.line - 1])
            found.setdefault(item.name, Candidate(item.name, place, slip(name, item.name)))
    return tuple(sorted(found.values(), key=lambda item: (-likeness(name, item.name), item.name)))


def slip(name: str, other: str) -> bool:
    """Return whether one name is the other with one word written wrongly, its first letter right.

    Other forms of a word (plural, past, negation) and other numbers are other names.

    >>> slip("adress_line", "address_line"), slip("userName", "username"), slip("item", "items")
    (True, True, False)
    """
    mine, theirs = ([word.lower() for word in words(item)] for item in (name, other))
    if "".join(mine) == "".join(theirs):
        return name != other
    differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(differing) != 1 or max(len(name), len(other)) <= 4:
        return False
    shorter, longer = sorted(differing[0], key=len)
    another_form = any(longer == shorter + ending for ending in WORDS.forms)
    if another_form or not (shorter + longer).isalpha() or shorter[0] != longer[0]:
        return False
    changed = sum(a != b for a, b in zip(shorter, longer, strict=False))
    is_swapped = changed == 2 and sorted(shorter) == sorted(longer)
    return is_swapped or _ratio(shorter, longer) >= _SLIP


def _ratio(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name[:100], other[:100], autojunk=False).ratio()


def likeness(name: str, other: str) -> float:
    """Return how alike two names are, 0 to 1; one with all words of the other is at least 0.7.

    >>> likeness("recieve_order", "receive_order") > 0.9, likeness("total", "order_total") >= 0.7
    (True, True)
    """
    if not name or not other:
        return 0.0
    mine, theirs = ({word.lower() for word in words(item)} for item in (name, other))
    inside = bool(mine and theirs) and (mine <= theirs or theirs <= mine)
    return max(_ratio(name, other), 0.7 if inside else 0.0)


def means_something_else(name: str, other: str) -> str:
    """Return the words that make one name mean another thing than the other; empty for none.

    >>> means_something_else("start_date", "end_date"), means_something_else("totl", "total")
    ('end, start', '')
    """
    mine, theirs = ({word.lower() for word in words(item)} for item in (name, other))
    gone, come = mine - theirs, theirs - mine
    telling = (gone | come) & WORDS.telling
    for row in WORDS.opposites:
        if gone & row and come & row:
            telling |= (gone | come) & row
    for item, negated in [*product(gone, come), *product(come, gone)]:
        if any(negated == beginning + item for beginning in WORDS.negating):
            telling |= {item, negated}
    return ", ".join(sorted(telling))


class FailingLine(Value):
    """The place of the failure, as far as it was seen.

    `seen`: the line was read at this commit. `moved`: the trace prints another text for the line
    than this commit has, so the code that failed is not the code that was read.
    """

    path: str = ""
    line: int = 0
    function: str = ""
    text: str = ""
    language: Language
    seen: bool = False
    moved: bool = False
    lines: dict[int, str] = {}  # around the line

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def evidence(self, note: str) -> Evidence:
        """Return the failing line as evidence."""
        return quoted(self.path, self.line, self.text, note)


class Finding(Value):
    """Sentences that explain, and their evidence; `explained` where the cause was seen."""

    because: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()  # besides the failing line
    fault: Evidence | None = None  # a better place than the failing line, where one is known
    changed: tuple[tuple[str, int], ...] = ()  # lines whose last change brought the failure
    edits: tuple[Edit, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    learnings: tuple[Learning, ...] = ()
    steps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    subject: str = ""  # for the title: "`order` is None"
    explained: bool = False
    value: str = ""  # what failed, where cause unknown: "`order` is None"
    unknown: str = ""  # what is not known then: "why `order` is None in shop/orders.py:14"

    def __add__(self, other: "Finding") -> "Finding":
        """Join lists in this order; of other fields keep the first that is set."""
        mine, theirs = dict(self), dict(other)
        joined = {
            name: value + theirs[name] if isinstance(value, tuple) else value or theirs[name]
            for name, value in mine.items()
        }
        return Finding(**joined)


def or_else(finding: Finding, rest: Finding) -> Finding:
    """Add a finding; its steps only where cause unknown."""
    return finding + (rest.model_copy(update={"steps": ()}) if finding.explained else rest)


def quoted(path: str, line: int, text: str, note: str) -> Evidence:
    """Return a line that was read as evidence."""
    return Evidence(path=path, line=line, quote=text.strip()[:500], note=note)


def failing_line(context: Context) -> FailingLine:
    """Find the place of the failure; without a usable frame, an empty one in the likeliest file."""
    if context.research.misfit:  # its lines are not those of the code at hand
        return FailingLine(language=language_of("", context.language), moved=True)
    if context.app_frames:
        return line_of_frame(context.app_frames[0], context)
    likely = next(iter(context.research.likely_files), None)
    path = likely.path if likely else ""
    return FailingLine(path=path, language=language_of(path, context.language))


def line_of_frame(frame: Frame, context: Context) -> FailingLine:
    """Read the line of one frame, and the lines around it, at this commit."""
    path, line = context.code.resolved(frame.repo_path or frame.path), frame.line or 0
    lines = context.code.lines(path, line - LINES_ABOVE, line + LINES_BELOW)
    here = fitted(frame, lines)
    now = 0 if here.fit == "differs" or here.line not in lines else here.line or 0
    return FailingLine(
        path=path,
        line=now or line,
        function=frame.function,
        text=lines.get(now or line, ""),
        language=language_of(path, context.language),
        seen=bool(now),
        moved=line in lines and not now,
        lines=lines,
    )


def tree_of(failing: FailingLine, context: Context) -> Node | None:
    """Parse the failing file; None where it is not read in full, or no grammar knows it."""
    lines = context.code.whole(failing.path) if failing.seen else None
    return root_of(failing.path, "\n".join(lines)) if lines else None


def is_import(text: str) -> bool:
    """Return whether a line imports something.

    >>> is_import("from a import b"), is_import("const a = require('a')"), is_import("important()")
    (True, True, False)
    """
    return bool(re.match(r"\s*(?:import|from|require|use)\b|.*\brequire\(", text[:LINE]))


def raised_in_dependency(context: Context) -> str:
    """Return the file and function of a dependency that raised the error; empty for own code."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    if first is None or first.in_app:
        return ""
    function = f" ({first.function[:60]})" if first.function else ""
    return first.path.rsplit("/", 1)[-1][:100] + function


def owner_of(symptom: Symptom, context: Context, language: Language) -> SearchHit | None:
    """Find the class or module of the receiver; None where it is not exactly one place."""
    if symptom.module:
        if not re.fullmatch(r"[A-Za-z_][\w.]*", symptom.module):
            return None
        path = f"{symptom.module.replace('.', '/')}.py"
        context.code.lines(path, 1, 20)
        resolved = context.code.resolved(path)
        is_there = context.code.exists(resolved) and resolved.endswith(path)
        return SearchHit(path=resolved, line=1, text="") if is_there else None
    name = re.split(r"[.:\\]+", symptom.owner)[-1]
    defined = definitions(name, language, context.code).hits if name else ()
    hits = [h for h in defined if re.match(r"\s*+(?:[\w ]+\s)?(?:class|module)\b", h.text)]
    return hits[0] if len(hits) == 1 else None
