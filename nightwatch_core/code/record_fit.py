"""Checks whether a record can be of the code that is read: what it says against what stands there.

A contradiction is meant to be certain. Where a language, a macro or a call by name may explain the
record there is none: to doubt an honest record costs more than to believe a wrong one.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nightwatch_core.code import limits
from nightwatch_core.code.code_view import lines_of
from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.languages import Language, has_grammar, language_of, parsed
from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.code.syntax import indent, masked, receivers_of
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import shortened
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules
from nightwatch_core.text.words import last_segment
from nightwatch_core.traces.placing import ReadFile, has_source

Search = Callable[[str], tuple[SearchHit, ...]]
MISFIT = "the record does not fit this commit: "
_TOP_LEVEL = ("<module>", "<main>", "<top (required)>", "{main}", "Object.<anonymous>", "")


class TemplateTags(Value):
    """Tags around the code of templates."""

    endings: tuple[str, ...]
    pattern: Pattern


class RecordFitRules(Value):
    """`rules/record_fit.toml`."""

    nil_methods: frozenset[str]
    inlining: tuple[str, ...]
    aliasing: tuple[str, ...]
    patterns: dict[str, Pattern]
    top_level: dict[str, PatternText]
    template_tags: tuple[TemplateTags, ...]


RULES = load_rules("record_fit", RecordFitRules)
P = RULES.patterns


class AppFrame(NamedTuple):
    """One in-app frame and its file."""

    frame: Frame
    text: str
    rows: tuple[str, ...]
    language: Language
    symptom: Symptom | None  # only where the root error was raised by this very line
    is_loading: bool  # its file was being loaded when it failed
    shares_line: bool  # with another frame: of a native function, which has no line of its own
    read: ReadFile
    search: Search

    @property
    def path(self) -> str:
        """Return the file in the repository."""
        return self.frame.repo_path

    @property
    def line(self) -> int:
        """Return the line, from 1."""
        return self.frame.line or 0

    @property
    def row(self) -> str:
        """Return the text of the line; empty where the file is shorter."""
        return self.rows[self.line - 1] if 0 < self.line <= len(self.rows) else ""

    @property
    def name(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"

    def around(self, distance: int) -> str:
        """Return the lines up to `distance` above and below."""
        return "\n".join(self.rows[max(0, self.line - 1 - distance) : self.line + distance])


def app_frames(
    case: Case, read: ReadFile, search: Search, at: tuple[str, int] | None = None
) -> Iterator[AppFrame]:
    """Walk the innermost app frames of a case and their files, of one path and line if `at` is set.

    Files are read when their turn comes; frames without a file are left out.
    """
    trace = case.trace
    if trace is None:
        return
    said = trace.root if trace.root.error_class else case.leader
    symptom = symptom_of(said.error_class, said.message)
    loading = {f.repo_path or f.path for f in trace.frames if f.function in _TOP_LEVEL}
    own = dict.fromkeys(frame for frame in trace.in_app if frame.repo_path and frame.line)
    for frame in tuple(own)[: limits.FITTED_PLACES]:
        if at and at != (frame.repo_path, frame.line):
            continue
        if (text := read(frame.repo_path)) is None:
            continue
        same = (f for f in trace.frames if (f.path, f.line) == (frame.path, frame.line))
        yield AppFrame(
            frame=frame,
            text=text,
            rows=lines_of(text),
            language=language_of(frame.repo_path, trace.language),
            symptom=symptom if frame in trace.root.frames[:1] else None,
            is_loading=frame.repo_path in loading,
            shares_line=any(other.function != frame.function for other in same),
            read=read,
            search=search,
        )


def misfit(case: Case, read: ReadFile, search: Search | None = None) -> str:
    """Say why the record of a case is not of the commit that `read` reads; empty where it may be.

    The innermost app frame decides; those around it only where more of them speak against the
    commit than for it. Where the commit is known by a time alone, lines may have moved: one
    that is only implausible is no misfit if a line near it is plausible.
    """
    is_named = case.commit is not None and case.commit.is_named
    reasons = [
        (place.frame, _against_file(place, is_named))
        for place in app_frames(case, read, search or (lambda _query: ()))
    ]
    against = [reason for _, reason in reasons if reason]
    holding = sum(frame.fit in ("same", "moved") for frame, _ in reasons)
    if not against or reasons[0][0].fit in ("same", "moved"):
        return ""
    if reasons[0][1] or (len(against) > 1 and len(against) > holding):
        return f"{MISFIT}{against[0]}"
    return ""


def objection(evidence: Evidence, case: Case, read: ReadFile, search: Search) -> str:
    """Say why evidence that quotes the line of a frame cannot be where it failed; else empty."""
    place = next(app_frames(case, read, search, (evidence.path, evidence.line)), None)
    return _against(place) if place else ""


def with_doubts(case: Case, read: ReadFile, search: Search) -> Case:
    """Mark app frames whose lines the code excludes as those of other code: their fit differs."""
    if case.trace is None:
        return case
    places = app_frames(case, read, search)
    doubted = {place.frame for place in places if place.frame.fit == "unknown" and _against(place)}

    def marked(frame: Frame) -> Frame:
        return frame.model_copy(update={"fit": "differs"}) if frame in doubted else frame

    links = tuple(
        link.model_copy(update={"frames": tuple(map(marked, link.frames))})
        for link in case.trace.links
    )
    return case.model_copy(update={"trace": case.trace.model_copy(update={"links": links})})


def _against(place: AppFrame) -> str:
    if place.frame.fit == "differs" and has_source(place.frame):
        code = shortened(" ".join(place.frame.code.split()), limits.SHOWN_SOURCE)
        printed = f" ({code})" if code else ""
        return f"{place.name} and the file around it do not hold the line of the record{printed}"
    return _contradiction(place)


def _against_file(place: AppFrame, is_named: bool) -> str:
    reason = _against(place)
    if not reason or is_named or (place.frame.fit == "differs" and has_source(place.frame)):
        return reason
    near = range(max(1, place.line - limits.DRIFT), place.line + limits.DRIFT + 1)
    for line in near:  # the line may have moved: another number may be plausible
        frame = place.frame.model_copy(update={"line": line})
        is_other = line != place.line and line <= len(place.rows)
        if is_other and not _contradiction(place._replace(frame=frame)):
            return ""
    return reason


def _contradiction(place: AppFrame) -> str:
    if place.frame.fit in ("same", "moved"):
        return ""
    return next((reason for rule in CONTRADICTIONS if (reason := rule(place))), "")


# The line


def _beyond_the_end(place: AppFrame) -> str:
    if place.line <= len(place.rows) or place.path.endswith(RULES.inlining):
        return ""
    return f"{place.path} has {len(place.rows)} lines, and the record fails in line {place.line}"


def _beyond_the_column(place: AppFrame) -> str:
    column, width = place.frame.column or 0, len(place.row.encode("utf-16-le", "replace")) // 2
    if column <= width + 2 or place.line > len(place.rows):
        return ""
    return f"{place.name} has {width} characters, and the record fails at {column}"


def blank(place: AppFrame) -> str:
    """Find an empty line."""
    is_there = 0 < place.line <= len(place.rows)
    return f"{place.name} is blank" if is_there and not place.row.strip() else ""


def comment(place: AppFrame) -> str:
    """Find a line that is only a comment."""
    text = place.row.strip()
    if not has_grammar(place.path) or not text.startswith(("#", "//", "/*", "*", "=")):
        return ""
    root = parsed(place.path, place.text)
    at = (place.line - 1, len(place.row) - len(place.row.lstrip()))
    node = root.descendant_for_point_range(at, at) if root else None
    if node is None or node.type != "comment":
        return ""
    return f"{place.name} is a comment" if node.end_point[0] > at[0] or "*/" not in text else ""


def markup(place: AppFrame) -> str:
    """Find a template's line without any code."""
    tags = (tag.pattern for tag in RULES.template_tags if place.path.endswith(tag.endings))
    tag = next(tags, None)
    if tag is None or not place.row.strip():
        return ""
    begin = sum(len(row) + 1 for row in place.text.split("\n")[: place.line - 1])
    end = begin + len(place.row)
    in_tag = any(item.start() < end and begin < item.end() for item in tag.finditer(place.text))
    return "" if in_tag else f"{place.name} holds markup and no code"


def _outside_its_function(place: AppFrame) -> str:
    """Find a function that stands elsewhere in the file, or is not in it."""
    is_certain = not place.shares_line and place.language.name not in RULES.aliasing
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
    if same and all(_is_plain_function(item, place) for item in same):
        where = ", ".join(str(item.line) for item in same[:3])
        return f"{place.name} is not in {name}, which {place.path} defines in line {where}"
    is_python = place.language.name == "python" and place.path.endswith(".py")
    defines = rf"(?m)^\s*(?:async\s+)?(?:def|class)\s+{name}\b"
    if same or not is_python or re.search(defines, place.text):
        return ""
    return f"{place.path} defines no {name}, in which the record fails"


def _function_name(place: AppFrame) -> str:
    printed = P["ruby_levels"].sub("", place.frame.function.strip())
    if place.language.name == "go":
        match = P["go_function"].match(printed)
        return match["name"] if match and match["name"] not in ("glob", "init") else ""
    name = re.split(r"[.#:>]", printed)[-1].strip()
    is_odd = re.search(r"[<${`]", printed) or not re.match(r"[A-Za-z_$][\w$]*[?!]?$", name)
    return "" if is_odd else name


def _is_plain_function(definition: Definition, place: AppFrame) -> bool:
    row = "".join(place.rows[definition.line - 1 : definition.line])[: limits.NAMED_LINE]
    is_macro = place.language.name == "ruby" and not re.search(r"\bdef\b", row)
    return definition.kind == "function" and not is_macro


# The message: what it says is missing is there, or is not even asked for


def _class_defines_it(place: AppFrame) -> str:
    """Find the method that the message says the class has not."""
    symptom = place.symptom
    if symptom is None or symptom.kind != "unknown member" or not (symptom.owner and symptom.name):
        return ""
    owner = last_segment(symptom.owner.replace("\\", "."))
    is_ours = place.language.name in ("python", "ruby", "php") and re.fullmatch(r"\w+", owner)
    if not is_ours or symptom.name.startswith("__") or P["of_a_class"].search(symptom.text):
        return ""
    head = re.compile(rf"\s*(?:abstract\s+|final\s+)?class\s+(?:\w+::)*{owner}\b")
    hits = (hit for hit in place.search(f"class {owner}") if head.match(hit.text))
    paths = [*dict.fromkeys(h.path for h in hits if h.path.endswith(place.language.suffixes))]
    if not 0 < len(paths) <= limits.CLASS_FILES:
        return ""
    lines = [_method_line(symptom.name, owner, path, place) for path in paths]
    found = f"{paths[0]}:{lines[0]} defines it"
    return f"the record says that {owner} has no {symptom.name}, and {found}" if all(lines) else ""


def _method_line(name: str, owner: str, path: str, place: AppFrame) -> int:
    """Line of a plain method right in the class; 0 where there is none for sure."""
    text = place.read(path) or ""
    if P["shapes_class"].search(text):
        return 0
    defined, rows = definitions_in(path, text), text.split("\n")
    classes = [item for item in defined if item.kind == "class"]
    functions: dict[Definition, list[Definition]] = {}
    for item in defined:
        around = [cls for cls in classes if cls.line < item.line <= cls.end]
        if item.kind == "function" and around:
            functions.setdefault(max(around, key=lambda cls: cls.line), []).append(item)
    head = re.compile(rf"[\w\s]*\b(?:def|function)\s+{re.escape(name)}(?!\w)")
    for cls, own in functions.items():
        depth = min(indent(rows[item.line - 1]) for item in own)
        for item in own if cls.name == owner else ():
            row, above = rows[item.line - 1], rows[item.line - 2] if item.line > 1 else ""
            is_decorated = above.strip().startswith("@")
            if head.match(row) and indent(row) == depth and not is_decorated:
                return item.line
    return 0


def _file_defines_it(place: AppFrame) -> str:
    """Find the top-level name that the message says nobody defined."""
    symptom = place.symptom
    pattern = RULES.top_level.get(place.language.name)
    if symptom is None or symptom.kind != "undefined name" or not symptom.name or not pattern:
        return ""
    name = re.escape(symptom.name)
    is_unset = re.search(rf"\bdel\s+{name}\b|\bdeclare\b", place.text)
    if "free variable" in symptom.text or place.is_loading or is_unset:
        return ""
    match = re.search(pattern.replace("NAME", name), place.text, re.MULTILINE)
    if match is None or " type " in match[0]:
        return ""
    line = place.text.count("\n", 0, match.start()) + 1
    return f"the record says that {symptom.name} is not defined, and {place.path}:{line} defines it"


def _receiver_was_used(place: AppFrame) -> str:
    """Find a use, on the lines before in the same block, of what the message says is nothing."""
    symptom, language = place.symptom, place.language
    if symptom is None or symptom.kind != "none receiver" or not symptom.name or not place.row:
        return ""
    receivers = receivers_of(symptom.name, masked(place.row, language), language)
    above: list[str] = []
    for row in place.rows[place.line - 2 :: -1][: limits.MESSAGE_LINES] if place.line > 1 else ():
        if row.strip() and indent(row) < indent(place.row):
            break
        above.append(masked(row, language))
    if len(receivers) != 1 or not _is_variable(receivers[0], language, above):
        return ""
    distance = _used_above(receivers[0], place, above)
    told = f"the record says that {receivers[0]} is {language.none} in {place.name}"
    return f"{told}, and line {place.line - distance} has just used it" if distance else ""


def _is_variable(name: str, language: Language, above: list[str]) -> bool:
    if not re.match(r"[A-Za-z_$@][\w$]*$", name) or name in ("self", "this", "cls"):
        return False
    if language.name == "ruby" and not name.startswith("@"):  # else it may be a call
        return any(re.match(rf"\s*{re.escape(name)}\s*=(?!=)", row) for row in above)
    return language.name in ("python", "ruby", "javascript", "php")


def _used_above(name: str, place: AppFrame, above: list[str]) -> int:
    whole = rf"(?<![\w$@.]){re.escape(name)}"
    joints = "|".join(map(re.escape, sorted({".", "->"} & set(place.language.member))))
    member = re.compile(rf"{whole}(?:{joints})(?P<name>\w+)(?!\w|\?)")
    for distance, row in enumerate(above, start=1):
        used = member.search(row)
        is_certain = indent(row) == indent(place.row) and not P["conditional"].search(row)
        is_own = used and used["name"] not in RULES.nil_methods
        if used and is_own and is_certain and not used["name"].startswith("__"):
            is_set = re.search(rf"{whole}\s*(?:,|=(?!=))", row)
            return 0 if is_set or place.language.name == "php" else distance
        if re.search(rf"{whole}(?![\w$])", row):
            return 0  # it may have been given another value there
    return 0


def _name_is_asked_for(place: AppFrame) -> str:
    """Find a message whose name stands nowhere in the failing statement or near it."""
    symptom = place.symptom
    kinds = ("none receiver", "unknown member", "undefined name", "unbound local")
    if symptom is None or symptom.kind not in kinds or place.language.name == "go":
        return ""
    name = symptom.name[: limits.NAMED_LINE]
    if not re.fullmatch(r"[A-Za-z_$][\w$]*[?!=]?", name) or P["implicit"].match(name):
        return ""
    near = place.around(limits.MESSAGE_LINES)
    if re.search(rf"(?<!\w){re.escape(symptom.name.rstrip('?!='))}(?!\w)", near):
        return ""
    if not place.row.strip() or P["by_name"].search(place.around(limits.STATEMENT_AROUND)):
        return ""
    return f"the record asks for {symptom.name}, which stands nowhere near {place.name}"


CONTRADICTIONS: tuple[Callable[[AppFrame], str], ...] = (
    _beyond_the_end,
    _beyond_the_column,
    blank,
    comment,
    markup,
    _outside_its_function,
    _class_defines_it,
    _file_defines_it,
    _receiver_was_used,
    _name_is_asked_for,
)
