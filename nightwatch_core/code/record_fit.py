"""Checks whether a record can be of the code that is read: its lines against what stands there.

A contradiction is certain: where a language, a macro or a call by name may explain a record, there
is none.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.code.code_view import lines_of
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.languages import NAMED_LINE, Language, has_grammar, language_of, parsed
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.text.plain_text import shortened
from nightwatch_core.traces.placing import ReadFile, has_source

FITTED_PLACES = 10  # own frames looked at
DRIFT = 12  # lines by which a line may have moved between the commit that failed and one near it
SHOWN_SOURCE = 120  # characters of a record's line in a reason

MISFIT = "the record does not fit this commit: "
_INLINING = (".kt", ".kts", ".scala")  # compilers number inlined lines beyond the file's end
_FAILS_WHERE_IT_BEGINS = ("javascript", "python")  # a call of several lines: not where it closes
_GO_FUNCTION = re.compile(r"^(?:\(\*?\w+\)\.)?(?P<name>\w+)(?:\.func\d+)*(?:\.\d+)*$")
_RUBY_LEVELS = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")


_TAG = re.compile(r"(?s)<%.*?(?:%>|\Z)")  # around the code of a template


class AppFrame(NamedTuple):
    """One in-app frame with a line, and its file."""

    frame: Frame
    path: str  # in the repository
    line: int
    text: str
    rows: tuple[str, ...]
    language: Language
    shares_line: bool  # with another frame: of a native function, which has no line of its own

    @property
    def row(self) -> str:
        """Return the text of the line; empty where the file is shorter."""
        return self.rows[self.line - 1] if 0 < self.line <= len(self.rows) else ""


def app_frames(case: Case, read: ReadFile) -> Iterator[AppFrame]:
    """Walk the innermost app frames of a case and their files, without those that have no file."""
    trace = case.trace
    if trace is None:
        return
    own = dict.fromkeys(frame for frame in trace.in_app if frame.repo_path and frame.line)
    for frame in tuple(own)[:FITTED_PLACES]:
        if (text := read(frame.repo_path)) is None:
            continue
        same = (f for f in trace.frames if (f.path, f.line) == (frame.path, frame.line))
        yield AppFrame(
            frame=frame,
            path=frame.repo_path,
            line=frame.line or 0,
            text=text,
            rows=lines_of(text),
            language=language_of(frame.repo_path, trace.language),
            shares_line=any(other.function != frame.function for other in same),
        )


def misfit(case: Case, read: ReadFile) -> str:
    """Say why the record of a case is not of the commit that `read` reads; empty where it may be.

    The innermost app frame decides; those around it only where more of them speak against the
    commit than for it. Where the commit is known by a time alone, lines may have moved: one
    that is only implausible is no misfit if a line near it is plausible.
    """
    is_named = case.commit is not None and case.commit.is_named
    reasons = [(place.frame, _against_file(place, is_named)) for place in app_frames(case, read)]
    against = [reason for _, reason in reasons if reason]
    holding = sum(frame.fit in ("same", "moved") for frame, _ in reasons)
    if not against or reasons[0][0].fit in ("same", "moved"):
        return ""
    if reasons[0][1] or (len(against) > 1 and len(against) > holding):
        return f"{MISFIT}{against[0]}"
    return ""


def with_doubts(case: Case, read: ReadFile) -> Case:
    """Mark app frames whose lines the code excludes as those of other code: their fit differs."""
    if case.trace is None:
        return case
    places = app_frames(case, read)
    unknown = (place for place in places if place.frame.fit == "unknown")
    doubted = {place.frame for place in unknown if _contradiction(place)}

    def marked(frame: Frame) -> Frame:
        return frame.model_copy(update={"fit": "differs"}) if frame in doubted else frame

    return case.model_copy(update={"trace": case.trace.with_each(marked)})


def _against_file(place: AppFrame, is_named: bool) -> str:
    if place.frame.fit == "differs" and has_source(place.frame):
        code = shortened(" ".join(place.frame.code.split()), SHOWN_SOURCE)
        printed = f" ({code})" if code else ""
        where = f"{place.path}:{place.line}"
        return f"{where} and the file around it do not hold the line of the record{printed}"
    reason = _contradiction(place)
    if not reason or is_named:
        return reason
    near = range(max(1, place.line - DRIFT), place.line + DRIFT + 1)
    others = (line for line in near if line != place.line and line <= len(place.rows))
    # the line may have moved: another number may be plausible
    is_plausible = any(not _contradiction(place._replace(line=line)) for line in others)
    return "" if is_plausible else reason


def _contradiction(place: AppFrame) -> str:
    if place.frame.fit in ("same", "moved"):
        return ""
    return next((reason for rule in CONTRADICTIONS if (reason := rule(place))), "")


def _beyond_the_end(place: AppFrame) -> str:
    if place.line <= len(place.rows) or place.path.endswith(_INLINING):
        return ""
    return f"{place.path} has {len(place.rows)} lines, and the record fails in line {place.line}"


def _blank_or_comment(place: AppFrame) -> str:
    text, is_there = place.row.strip(), 0 < place.line <= len(place.rows)
    if is_there and not text:
        return f"{place.path}:{place.line} is blank"
    if not has_grammar(place.path) or not text.startswith(("#", "//", "/*", "*", "=")):
        return ""
    root = parsed(place.path, place.text)
    at = (place.line - 1, len(place.row) - len(place.row.lstrip()))
    node = root.descendant_for_point_range(at, at) if root else None
    if node is None or node.type != "comment" or (node.end_point[0] == at[0] and "*/" in text):
        return ""
    return f"{place.path}:{place.line} is a comment"


def _closes_only(place: AppFrame) -> str:
    # elsewhere a runtime may report it: a deferred call, a resource that is closed
    row = place.row.strip() if place.language.name in _FAILS_WHERE_IT_BEGINS else ""
    if not row or row.strip(")]};, "):
        return ""
    return f"{place.path}:{place.line} closes what stands above it (`{row[:SHOWN_SOURCE]}`)"


def _markup(place: AppFrame) -> str:
    if not place.path.endswith((".erb", ".ejs")) or not place.row.strip():
        return ""
    begin = sum(len(row) + 1 for row in place.text.split("\n")[: place.line - 1])
    end = begin + len(place.row)
    if any(tag.start() < end and begin < tag.end() for tag in _TAG.finditer(place.text)):
        return ""
    return f"{place.path}:{place.line} holds markup and no code"


def _outside_its_function(place: AppFrame) -> str:
    """Find a function that stands elsewhere in the file, or is not in it."""
    # JavaScript's engines print the name a function was called by, assigned to, or wrapped under
    is_certain = not place.shares_line and place.language.name != "javascript"
    name = _function_name(place) if is_certain else ""
    if not name or not has_grammar(place.path) or place.line > len(place.rows):
        return ""
    defined = definitions_in(place.path, place.text)
    same = [item for item in defined if item.name == name]
    if any(item.kind == "class" and item.line == place.line for item in defined):
        return ""  # what a compiler adds to a class has the line of its head
    for item in same:
        first = item.line - 5 if item.kind == "class" else item.line
        if first <= place.line and (item.kind == "class" or place.line <= item.end):
            return ""
    heads = [place.rows[item.line - 1][:NAMED_LINE] for item in same]
    has_macro = place.language.name == "ruby" and not all(re.search(r"\bdef\b", h) for h in heads)
    if same and not has_macro and all(item.kind == "function" for item in same):
        lines = ", ".join(str(item.line) for item in same[:3])
        where = f"{place.path}:{place.line}"
        return f"{where} is not in {name}, which {place.path} defines in line {lines}"
    is_python = place.language.name == "python" and place.path.endswith(".py")
    if same or not is_python or re.search(rf"(?m)^\s*(?:async\s+)?def\s+{name}\b", place.text):
        return ""
    return f"{place.path} defines no {name}, in which the record fails"


def _function_name(place: AppFrame) -> str:
    printed = _RUBY_LEVELS.sub("", place.frame.function.strip())
    if place.language.name == "go":
        match = _GO_FUNCTION.match(printed)
        return match["name"] if match and match["name"] not in ("glob", "init") else ""
    name = re.split(r"[.#:>]", printed)[-1].strip()
    is_odd = re.search(r"[<${`]", printed) or not re.match(r"[A-Za-z_$][\w$]*[?!]?$", name)
    return "" if is_odd else name


CONTRADICTIONS: tuple[Callable[[AppFrame], str], ...] = (
    _beyond_the_end,
    _blank_or_comment,
    _closes_only,
    _markup,
    _outside_its_function,
)
