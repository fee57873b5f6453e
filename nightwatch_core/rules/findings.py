"""See the failing line and the code around it; say what a rule found out."""

import difflib
import re
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple

from nightwatch_core.code.definitions import defined_name, definitions_in, function_around
from nightwatch_core.code.diffs import replaces
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import masked, receivers_of, uses
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.code import Blame, MergedPull, SearchHit, Suspect
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
from nightwatch_core.models.value import Value
from nightwatch_core.text.words import words_error_classes as words
from nightwatch_core.traces.placing import fitted

# Asking
ROUNDS, QUESTIONS = 10, 8  # turns with questions; tool calls in one turn
READ_LINES = 400  # lines asked for at once: as many as the tool shows
WHOLE_FILE = 6_000  # lines; longer files are not read in full
QUERY = 100  # characters of a text that is searched for

# Reading
LINE, MESSAGE = 500, 1_000  # characters that are looked at
LINES_ABOVE, LINES_BELOW = 50, 30  # around a failing line
STATEMENT_LINES, HEAD_LINES, BODY_LINES = 6, 80, 60  # of a statement, imports, a called function
FRAMES, CALLERS = 20, 2  # frames that are looked at; that a parameter is followed outwards
NONE_CANDIDATES = 12  # expressions of a statement that may be None
DEFINING_FILES = 6  # files that may define a name, of which each is read
QUOTED_VALUES, WRITING_LINES = 2, 3  # values of a message; lines that may write one
CANDIDATES, SHORTEST_WORD = 3, 3  # similar names looked into; letters of a word worth a search

# Saying
EVIDENCE, SENTENCES, STEPS, LEARNINGS, KEYS = 6, 4, 4, 3, 12  # items of an answer
EDITED_FILES = 8  # files a rename may touch
HANDED_LINES, HANDED_LINE = 3, 200  # above and below the failing line; characters of each
LONGEST_TITLE = 120  # characters

# Everything is derived from the conversation: the values of tool results, and the previews it
# started with. Asking for something that was not shown gives nothing and notes a question; the next
# turn turns the questions into tool calls. So a rule is written as if all code were there.

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


def same_commit(item: str, other: str) -> bool:
    """Tell whether two ids, perhaps shortened, are of one commit.

    >>> same_commit("0123456789ab", "0123456"), same_commit("", "0123456")
    (True, False)
    """
    shorter, longer = sorted((item, other), key=len)
    return len(shorter) >= 7 and longer.startswith(shorter)


# Definitions of a name, and names that may have taken its place.

ALIKE = 0.6  # difflib ratio from which names are similar
_SLIP = 0.8  # ratio from which one word is another, written wrongly
_FORMS = ("s", "es", "d", "ed", "r", "er", "n", "ing", "ly")  # endings that make another word

UNITS = {
    *("cents", "dollars", "euros", "amount", "percent", "ratio", "bytes", "kb", "mb", "utc"),
    *("ms", "millis", "seconds", "minutes", "hours", "days", "count", "id", "ids", "local"),
}
SHARES = {"percent", "ratio"}  # units that also stand for what they measure
# Words of one row exclude each other; one that is only added or left out says little.
OPPOSITES: tuple[tuple[str, ...], ...] = (
    *(("is", "has"), ("start", "end"), ("start", "stop"), ("min", "max"), ("open", "close")),
    *(("get", "set", "add", "remove"), ("get", "set", "add", "delete"), ("opened", "closed")),
    *(("all", "any", "one", "first", "last"), ("read", "write"), ("old", "new"), ("in", "out")),
    *(("created", "updated", "deleted"), ("enable", "disable"), ("enabled", "disabled")),
    *(("before", "after"), ("next", "previous"), ("next", "prev"), ("from", "to"), ("up", "down")),
    *(("sync", "async"), ("encode", "decode"), ("left", "right"), ("source", "target")),
)
NEGATIONS = {"not", "no", "non", "un", "never", "without", "old"}  # also where only added
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")  # beginnings of words


class Candidate(Value):
    """A definition that may be meant by a name that has none."""

    name: str
    place: SearchHit
    ratio: float
    misspelt: bool  # the names differ by a slip of the keyboard only
    is_suggested: bool = False  # the language itself suggests it in its message
    language: Language


def definitions(name: str, language: Language, code: KnownCode) -> HitsFound:
    """List lines outside tests that define the name; `complete` where no other can exist."""
    result = code.search(name)
    if not result.complete:
        parts = [code.search(f"{head}{name}") for head in language.heads]
        hits = tuple(dict.fromkeys(hit for part in (result, *parts) for hit in part.hits))
        result = HitsFound(hits=hits, complete=all(part.complete for part in parts))
    return HitsFound(
        hits=tuple(hit for hit in result.hits if _defines(hit, name) and not TEST.search(hit.path)),
        complete=result.complete,
    )


def callers(name: str, code: KnownCode) -> HitsFound:
    """List lines outside tests that use the name in code and do not define it."""
    result = code.search(name)
    hits = tuple(
        hit
        for hit in result.hits
        if uses(name, masked(hit.text, language_of(hit.path)))
        and not _defines(hit, name)
        and not TEST.search(hit.path)
    )
    return HitsFound(hits=hits, complete=result.complete)


def _defines(hit: SearchHit, name: str) -> bool:
    return defined_name(hit.text, language_of(hit.path)) in (name, f"{name}=")


def similar_in_file(name: str, path: str, code: KnownCode) -> tuple[Candidate, ...]:
    """List similar names that a file defines."""
    lines = code.whole(path)
    if lines is None:
        return ()
    defined = definitions_in(path, "\n".join(lines))
    places = (SearchHit(path=path, line=item.line, text=lines[item.line - 1]) for item in defined)
    return _alike(name, ((item.name, place) for item, place in zip(defined, places, strict=True)))


def similar_anywhere(name: str, code: KnownCode) -> tuple[Candidate, ...]:
    """List similar names that the repository defines, found by the words of the name."""
    parts = sorted({word.lower() for word in words(name) if len(word) > SHORTEST_WORD}, key=len)
    places = [hit for part in parts[-3:] for hit in code.search(part).hits]
    own = (place for place in places if not TEST.search(place.path))
    return _alike(name, ((defined_name(item.text, language_of(item.path)), item) for item in own))


def _alike(name: str, defined: Iterable[tuple[str, SearchHit]]) -> tuple[Candidate, ...]:
    candidates: dict[str, Candidate] = {}
    for other, place in defined:
        ratio = likeness(name, other)
        if other != name and ratio >= ALIKE and not (name[:1].isupper() ^ other[:1].isupper()):
            candidates.setdefault(other, candidate(name, other, place))
    return tuple(sorted(candidates.values(), key=lambda item: (-item.ratio, item.name)))


def candidate(name: str, other: str, place: SearchHit) -> Candidate:
    """Give the definition of `other` at the place as a candidate for `name`."""
    return Candidate(
        name=other,
        place=place,
        ratio=likeness(name, other),
        misspelt=slip(name, other),
        language=language_of(place.path),
    )


def suggested(name: str, meant: str, language: Language, code: KnownCode) -> tuple[Candidate, ...]:
    """Give the name that the message itself suggests, where it is defined exactly once."""
    mine, theirs = ({word.lower() for word in words(item)} for item in (name, meant))
    numbered = any(char.isdigit() for word in mine ^ theirs for char in word)
    if not meant or meant == name or numbered or name[:1].isupper() ^ meant[:1].isupper():
        return ()
    defined = definitions(meant, language, code)
    if len(defined.hits) != 1 or not defined.complete:
        return ()
    hint = candidate(name, meant, defined.hits[0])
    return (hint.model_copy(update={"is_suggested": True, "misspelt": True}),)


def slip(name: str, other: str) -> bool:
    """Tell whether one name is the other, written wrongly in one word, its first letter right.

    Other forms of a word (plural, past, negation) and other numbers are other names.

    >>> slip("adress_line", "address_line"), slip("userName", "username")
    (True, True)
    >>> [slip(*names) for names in (("item", "items"), ("is_valid", "is_invalid"), ("a1", "a2"))]
    [False, False, False]
    """
    mine, theirs = ([word.lower() for word in words(item)] for item in (name, other))
    if "".join(mine) == "".join(theirs):
        return name != other
    differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(differing) != 1 or max(len(name), len(other)) <= 4:
        return False
    shorter, longer = sorted(differing[0], key=len)
    if not (shorter + longer).isalpha() or shorter[0] != longer[0]:
        return False
    another_form = any(longer == shorter + ending for ending in _FORMS)
    matcher = difflib.SequenceMatcher(None, shorter, longer, autojunk=False)
    return not another_form and (matcher.ratio() >= _SLIP or _swapped(shorter, longer))


def _swapped(item: str, other: str) -> bool:
    differing = [at for at, pair in enumerate(zip(item, other, strict=False)) if pair[0] != pair[1]]
    return len(item) == len(other) and len(differing) == 2 and sorted(item) == sorted(other)


def likeness(name: str, other: str) -> float:
    """Tell how alike two names are, 0 to 1; one that holds all words of the other is at least 0.7.

    >>> likeness("recieve_order", "receive_order") > 0.9, likeness("total", "order_total") >= 0.7
    (True, True)
    """
    if not name or not other:
        return 0.0
    ratio = difflib.SequenceMatcher(None, name[:100], other[:100], autojunk=False).ratio()
    mine, theirs = ({word.lower() for word in words(item)} for item in (name, other))
    inside = bool(mine and theirs) and (mine <= theirs or theirs <= mine)
    return max(ratio, 0.7) if inside else ratio


def means_something_else(name: str, other: str, only: bool = False) -> str:
    """Name the words that make one name mean another thing than the other; empty where none do.

    `only`: nothing else can be meant, so that a word for a share may name the thing itself.

    >>> means_something_else("start_date", "end_date"), means_something_else("totl", "total")
    ('end, start', '')
    >>> means_something_else("round_cents", "round_to_cents")
    ''
    >>> means_something_else("rate", "percent"), means_something_else("rate", "percent", only=True)
    ('percent', '')
    """
    mine, theirs = ({word.lower() for word in words(item)} for item in (name, other))
    gone, come = mine - theirs, theirs - mine
    telling = (gone | come) & ((UNITS - SHARES if only else UNITS) | NEGATIONS)
    for row in OPPOSITES:
        if gone & {*row} and come & {*row}:
            telling |= (gone | come) & {*row}
    for item, negated in [*product(gone, come), *product(come, gone)]:
        if any(negated == beginning + item for beginning in _NEGATING):
            telling |= {item, negated}
    return ", ".join(sorted(telling))


Standing = Literal["confirmed", "open", "ruled out"]


class FailingLine(Value):
    """Where the error came up, as far as it was seen.

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
    top: int = 0  # first line of the function; 0 where it was not seen

    @property
    def place(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path

    def evidence(self, note: str) -> Evidence:
        """Give the failing line as evidence."""
        return Evidence(path=self.path, line=self.line, quote=self.text.strip(), note=note)


class Finding(Value):
    """Sentences that explain, and what they rest on; `explained` where the cause was seen."""

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
    value: str = ""  # what failed, where no cause is known: "`order` is None"
    unknown: str = ""  # what is not known then: "why `order` is None in shop/orders.py:14"

    def __add__(self, other: "Finding") -> "Finding":
        """Both, in this order; the first subject is kept."""
        return Finding(
            because=self.because + other.because,
            evidence=self.evidence + other.evidence,
            fault=self.fault or other.fault,
            changed=self.changed + other.changed,
            edits=self.edits + other.edits,
            hypotheses=self.hypotheses + other.hypotheses,
            learnings=self.learnings + other.learnings,
            steps=self.steps + other.steps,
            tags=self.tags + other.tags,
            subject=self.subject or other.subject,
            explained=self.explained or other.explained,
            value=self.value or other.value,
            unknown=self.unknown or other.unknown,
        )


def or_else(finding: Finding, rest: Finding) -> Finding:
    """Add what is said of every error of a kind; what to look at only where no cause is known."""
    return finding + (rest.model_copy(update={"steps": ()}) if finding.explained else rest)


def quoted(path: str, line: int, text: str, note: str) -> Evidence:
    """Make a line that was read evidence."""
    return Evidence(path=path, line=line, quote=text.strip()[:500], note=note)


def hypothesis(statement: str, because: str, standing: Standing = "open") -> Hypothesis:
    """Make an explanation, left open where nothing else is said."""
    return Hypothesis(statement=statement, because=because, standing=standing)


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
    """Read the line of one frame, and what is around it, at this commit."""
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
        top=function_around(path, lines, now or line),
    )


# Finds where the class or module of a receiver is defined.


def owner_of(symptom: Symptom, failing: FailingLine, context: Context) -> SearchHit | None:
    """Find where the receiver's class or module is defined; None where that is not one place."""
    if symptom.module:
        path = module_file(symptom.module, context)
        return SearchHit(path=path, line=1, text="") if path else None
    name = re.split(r"[.:\\]+", symptom.owner)[-1]
    if name:
        defined = definitions(name, failing.language, context.code)
        hits = [h for h in defined.hits if re.match(r"\s*+(?:[\w ]+\s)?(?:class|module)\b", h.text)]
        return hits[0] if len(hits) == 1 else None
    named = (symptom.receiver,) if symptom.receiver else ()
    receivers = named or receivers_of(symptom.name, failing.text, failing.language)
    return _imported(receivers[0], failing, context) if receivers else None


def module_file(dotted: str, context: Context) -> str:
    """Give the file of a dotted module, found among the lines that a search for its name shows."""
    if not re.fullmatch(r"[A-Za-z_][\w.]*", dotted):
        return ""
    path = f"{dotted.replace('.', '/')}.py"
    context.code.lines(path, 1, 20)
    known = context.code.resolved(path)
    return known if context.code.exists(known) and known.endswith(path) else ""


def _imported(receiver: str, failing: FailingLine, context: Context) -> SearchHit | None:
    lines = context.code.whole(failing.path) if failing.seen else None
    for text in lines or ():
        match = re.match(
            rf"\s*(?:import|const|let|var)\s.*\b{re.escape(receiver)}\b.*['\"](\.[^'\"]+)['\"]",
            text[:500],
        )
        if match:
            return relative_file(match[1], failing.path, context)
    return None


def relative_file(target: str, origin: str, context: Context) -> SearchHit | None:
    """Find the file that a relative JavaScript import at `origin` means; None where it is gone."""
    parts = origin.split("/")[:-1]
    for step in target.split("/"):
        parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
    path = "/".join(parts)
    suffix = "" if "." in path.rsplit("/", 1)[-1] else f".{origin.rsplit('.', 1)[-1]}"
    context.code.lines(path + suffix, 1, 20)
    known = context.code.exists(path + suffix)
    return SearchHit(path=path + suffix, line=1, text="") if known else None


# What a message says of a call, held against the parameters that a function is written with.


def can_be_of(
    symptom: Symptom, written: tuple[str, ...], takes: tuple[str, ...], is_ruby: bool
) -> bool:
    """Tell whether the message can be about a function that takes these parameters."""
    takes_any = any(re.match(r"\*\*|&|\.\.\.|\*\w", part) for part in written)
    if symptom.keyword:
        return symptom.keyword not in takes and not any(p.startswith("**") for p in written)
    if symptom.missing:
        missing = re.findall(r"['\":](\w+)", symptom.missing) or re.findall(r"\w+", symptom.missing)
        return bool(missing) and {*missing} - {"and"} <= {*takes}
    numbers = re.findall(r"\d+", symptom.expected)
    plain = written[: written.index("*")] if "*" in written else written
    if is_ruby:
        plain = tuple(part for part in plain if not re.match(r"\w+:", part))
    return bool(numbers) and not takes_any and int(numbers[-1]) in (len(plain), len(plain) + 1)


def plain_name(parameter: str) -> str:
    """Give the bare name of a parameter; empty for separators.

    >>> plain_name("b: int = 3"), plain_name("*"), plain_name("string $name"), plain_name("a:")
    ('b', '', 'name', 'a')
    """
    php = re.search(r"\$(\w+)", parameter)
    match = php or re.match(r"[*&]*(\w+)", parameter)
    return match[1] if match else ""


def complaint_of(symptom: Symptom) -> str:
    """Say what the message complains of, in a few words."""
    if symptom.keyword:
        return f"unknown keyword `{symptom.keyword}`"
    if symptom.missing:
        return f"missing {symptom.missing}"
    if symptom.expected:
        return f"given {symptom.given}, expected {symptom.expected}"
    return symptom.text.split(": ", 1)[-1][:200] or "wrong arguments"
