"""Checks whether a record can be of the code that is read: what it says against what stands there.

A contradiction is meant to be certain. Where a language, a macro or a call by name may explain the
record there is none: to doubt an honest record costs more than to believe a wrong one.
"""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
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
from nightwatch_core.text.plain_text import shortened
from nightwatch_core.text.words import last_segment
from nightwatch_core.traces.placing import ReadFile, has_source

Search = Callable[[str], tuple[SearchHit, ...]]


class AppFrame(NamedTuple):
    """One in-app frame and its file."""

    frame: Frame
    text: str
    rows: tuple[str, ...]
    language: Language
    symptom: Symptom | None  # only where the root error was raised by this very line
    loading: frozenset[str]  # files that were being loaded when it failed
    shares_line: bool  # with another frame: of a native function, which has no line of its own
    read: ReadFile
    search: Search

    @property
    def path(self) -> str:
        """The file in the repository."""
        return self.frame.repo_path

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.frame.line or 0

    @property
    def row(self) -> str:
        """What stands there; empty where the file is shorter."""
        return self.rows[self.line - 1] if 0 < self.line <= len(self.rows) else ""

    @property
    def name(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"

    def around(self, distance: int) -> str:
        """The lines up to `distance` above and below."""
        return "\n".join(self.rows[max(0, self.line - 1 - distance) : self.line + distance])


class AppFrames:
    """The places of a case's own frames, innermost first; files are read when asked for."""

    def __init__(self, case: Case, read: ReadFile, search: Search, most: int) -> None:
        """Look at no more than the innermost `most` frames."""
        self._case, self._read, self._search = case, read, search
        trace = case.trace
        frames = trace.in_app if trace else ()
        own = tuple(dict.fromkeys(f for f in frames if f.repo_path and f.line))
        self.frames = own[:most]

    @cached_property
    def _raising(self) -> Frame | None:
        trace = self._case.trace
        return next(iter(trace.root.frames), None) if trace else None

    @cached_property
    def _symptom(self) -> Symptom:
        trace, leader = self._case.trace, self._case.leader
        root = trace.root if trace else None
        if root and root.error_class:
            return symptom_of(root.error_class, root.message)
        return symptom_of(leader.error_class, leader.message)

    @cached_property
    def _loading(self) -> frozenset[str]:
        trace = self._case.trace
        frames = trace.frames if trace else ()
        top_level = ("<module>", "<main>", "<top (required)>", "{main}", "Object.<anonymous>", "")
        return frozenset(f.repo_path or f.path for f in frames if f.function in top_level)

    def of(self, frame: Frame) -> AppFrame | None:
        """Read a frame's file; None where there is none."""
        text = self._read(frame.repo_path)
        if text is None:
            return None
        language = self._case.trace.language if self._case.trace else ""
        return AppFrame(
            frame=frame,
            text=text,
            rows=lines_of(text),
            language=language_of(frame.repo_path, language),
            symptom=self._symptom if frame == self._raising else None,
            loading=self._loading,
            shares_line=any(
                (item.path, item.line) == (frame.path, frame.line)
                and item.function != frame.function
                for item in self._case.trace.frames
            )
            if self._case.trace
            else False,
            read=self._read,
            search=self._search,
        )

    def all(self) -> Iterator[AppFrame]:
        """Every place that can be read."""
        return (place for frame in self.frames if (place := self.of(frame)))


# Messages that the code excludes: what they say is missing is there, or is not even asked for.

_OF_A_CLASS = re.compile(r" for class |:Class\b|\bmodule '")


_SHAPED = re.compile(  # what gives a class other methods than those it defines
    r"\b(?:undef|undef_method|remove_method|refine|__getattr__|__getattribute__|delattr)\b"
)


_TOP_LEVEL = {  # how a name gets its meaning for the whole file, at its first column
    "python": r"^(?:(?:async )?def|class) {name}\b|^{name}\b[^=\n]*=(?!=)"
    r"|^(?:from \S+ )?import (?:[^\n#]*[\s,])?{name}\b",
    "javascript": r"^(?:export (?:default )?)?(?:async )?"
    r"(?:function\*?|class|const|let|var) {name}\b",
}


_CONDITIONAL = re.compile(
    r"\b(?:if|elif|unless|and|or|not|rescue|except|lambda|yield|try|in|is|while|until|case|when)\b"
    r"|&&|\|\||\?|->|=>|==|!="
)


_PLAIN = re.compile(r"[A-Za-z_$@][\w$]*$")


_OF_NIL = frozenset(  # what nil answers in Ruby and Rails
    ("nil", "to_s", "to_a", "to_h", "to_i", "to_f", "to_json", "as_json", "to_param", "to_query",
     "inspect", "class", "blank", "present", "presence", "try", "then", "tap", "dup", "clone",
     "freeze", "frozen", "hash", "object_id", "send", "public_send", "respond_to", "is_a",
     "kind_of", "instance_of", "itself", "method", "methods", "equal", "eql", "in", "acts_like",
     "html_safe", "extend", "with", "instance_eval", "instance_exec", "display")
)  # fmt: skip


_BY_NAME = re.compile(  # what calls or reads by a name that need not stand there
    r"send|getattr|attrgetter|methodcaller|method|&:|try|eval|constantize|super|yield|delegate"
    r"|\*\*|->\$|import|require|include|sort|sum|min|max|inject|reduce|\bfor\b|each|map|render"
    r"|%|#\{|\bf['\"]|format|str|repr|json|dump|load|copy|next|await|\[\w+\]|\(\*|\.\.\."
)


_IMPLICIT = re.compile(
    r"^(?:to_\w+|each|call|coerce|initialize|new|keys|include\?|then|length|size|next|hash|"
    r"deconstruct\w*|method_missing|respond_to\w*|toString|valueOf|iterator|prototype|__\w+)$"
)


def class_defines_it(place: AppFrame) -> str:
    """The class has the method that the message says it has not."""
    symptom = place.symptom
    if symptom is None or symptom.kind != "unknown member" or not (symptom.owner and symptom.name):
        return ""
    owner = last_segment(symptom.owner.replace("\\", "."))
    is_ours = place.language.name in ("python", "ruby", "php") and re.fullmatch(r"\w+", owner)
    if not is_ours or symptom.name.startswith("__") or _OF_A_CLASS.search(symptom.text):
        return ""
    hits = [
        hit
        for hit in place.search(f"class {owner}")
        if re.match(rf"\s*(?:abstract\s+|final\s+)?class\s+(?:\w+::)*{owner}\b", hit.text)
        and hit.path.endswith(place.language.suffixes)
    ]
    paths = tuple(dict.fromkeys(hit.path for hit in hits))
    if not 0 < len(paths) <= limits.CLASS_FILES:
        return ""
    lines = [_method_line(symptom.name, owner, path, place) for path in paths]
    if not all(lines):
        return ""
    return (
        f"the record says that {owner} has no {symptom.name}, and {paths[0]}:{lines[0]} defines it"
    )


def _method_line(name: str, owner: str, path: str, place: AppFrame) -> int:
    text = place.read(path) or ""
    if _SHAPED.search(text):
        return 0
    defined, rows = definitions_in(path, text), text.split("\n")
    classes = [item for item in defined if item.kind == "class"]
    for cls in (error_class for error_class in classes if error_class.name == owner):
        own = [
            item for item in defined if item.kind == "function" and _innermost(item, classes) == cls
        ]
        depth = min((indent(rows[item.line - 1]) for item in own), default=0)
        for item in own:
            row, above = rows[item.line - 1], rows[item.line - 2] if item.line > 1 else ""
            is_plain = re.match(rf"[\w\s]*\b(?:def|function)\s+{re.escape(name)}(?!\w)", row)
            decorated = above.strip().startswith("@")
            if is_plain and indent(row) == depth and not decorated:
                return item.line
    return 0


def _innermost(definition: Definition, classes: list[Definition]) -> Definition | None:
    around = [cls for cls in classes if cls.line < definition.line <= cls.end]
    return max(around, key=lambda cls: cls.line, default=None)


def file_defines_it(place: AppFrame) -> str:
    """The name that the message says nobody defined is defined for the whole file."""
    symptom = place.symptom
    pattern = _TOP_LEVEL.get(place.language.name)
    if symptom is None or symptom.kind != "undefined name" or not symptom.name or not pattern:
        return ""
    name = re.escape(symptom.name)
    if "free variable" in symptom.text or place.path in place.loading:
        return ""
    if re.search(rf"\bdel\s+{name}\b|\bdeclare\b", place.text):
        return ""
    match = re.search(pattern.format(name=name), place.text, re.MULTILINE)
    if match is None or " type " in match[0]:
        return ""
    line = place.text.count("\n", 0, match.start()) + 1
    return f"the record says that {symptom.name} is not defined, and {place.path}:{line} defines it"


def receiver_was_used(place: AppFrame) -> str:
    """What the message says is nothing was used on the lines before, in the same block."""
    symptom, language = place.symptom, place.language
    if symptom is None or symptom.kind != "none receiver" or not symptom.name or not place.row:
        return ""
    receivers = receivers_of(symptom.name, masked(place.row, language), language)
    if len(receivers) != 1 or not _is_variable(receivers[0], place):
        return ""
    line = _used_above(receivers[0], place)
    if not line:
        return ""
    return (
        f"the record says that {receivers[0]} is {language.none} in {place.name}, "
        f"and line {line} has just used it"
    )


def _is_variable(name: str, place: AppFrame) -> bool:
    if not _PLAIN.match(name) or name in ("self", "this", "cls"):
        return False
    if place.language.name != "ruby" or name.startswith("@"):
        return place.language.name in ("python", "ruby", "javascript", "php")
    return any(re.match(rf"\s*{re.escape(name)}\s*=(?!=)", row) for row in _block(place)[1])


def _block(place: AppFrame) -> tuple[int, list[str]]:
    depth, rows = indent(place.row), []
    for row in place.rows[place.line - 2 :: -1][: limits.MESSAGE_LINES] if place.line > 1 else ():
        if row.strip() and indent(row) < depth:
            break
        rows.append(masked(row, place.language))
    return depth, rows


def _used_above(name: str, place: AppFrame) -> int:
    depth, rows = _block(place)
    word = re.compile(rf"(?<![\w$@.]){re.escape(name)}(?![\w$])")
    joints = "|".join(map(re.escape, sorted({".", "->"} & set(place.language.member))))
    member = re.compile(rf"(?<![\w$@.]){re.escape(name)}(?:{joints})(?P<name>\w+)(?!\w|\?)")
    for distance, row in enumerate(rows, start=1):
        used = member.search(row)
        certain = indent(row) == depth and not _CONDITIONAL.search(row)
        if used and certain and used["name"] not in _OF_NIL and not used["name"].startswith("__"):
            is_set = re.search(rf"(?<![\w$@.]){re.escape(name)}\s*(?:,|=(?!=))", row)
            return 0 if is_set or place.language.name == "php" else place.line - distance
        if word.search(row):
            return 0  # it may have been given another value there
    return 0


def name_is_asked_for(place: AppFrame) -> str:
    """The name of the message stands nowhere in the failing statement or near it."""
    symptom = place.symptom
    kinds = ("none receiver", "unknown member", "undefined name", "unbound local")
    if symptom is None or symptom.kind not in kinds or not _is_name(symptom.name, place.language):
        return ""
    near = place.around(limits.MESSAGE_LINES)
    if re.search(rf"(?<!\w){re.escape(symptom.name.rstrip('?!='))}(?!\w)", near):
        return ""
    if not place.row.strip() or _BY_NAME.search(place.around(limits.STATEMENT_AROUND)):
        return ""
    return f"the record asks for {symptom.name}, which stands nowhere near {place.name}"


def _is_name(name: str, language: Language) -> bool:
    is_plain = re.fullmatch(r"[A-Za-z_$][\w$]*[?!=]?", name[: limits.NAMED_LINE]) is not None
    return is_plain and not _IMPLICIT.match(name) and language.name != "go"


MESSAGE_CONTRADICTIONS: tuple[Callable[[AppFrame], str], ...] = (
    class_defines_it,
    file_defines_it,
    receiver_was_used,
    name_is_asked_for,
)


# What a record says that the code at its line excludes: rules that each give a reason, or none.
#
# A contradiction is meant to be certain. Where a language, a macro or a call by name may explain
# it,
# there is none: to doubt an honest record costs more than to believe a wrong one.

_INLINED = (".kt", ".kts", ".scala")  # compilers number inlined lines beyond the file's end


_TAGS = {  # what holds the code of templates
    (".erb", ".rhtml", ".ejs"): re.compile(r"<%.*?(?:%>|\Z)", re.DOTALL),
    (".php", ".phtml"): re.compile(r"<\?.*?(?:\?>|\Z)", re.DOTALL),
}


_PLAIN_CONTRADICTIONS = re.compile(r"[A-Za-z_$][\w$]*[?!]?$")


_GO_METHOD = re.compile(r"(?:\(\*?\w+\)\.)?(?P<name>\w+)(?:\.func\d+)*(?:\.\d+)*$")


_RUBY_LEVELS = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")


_DEFINES = r"^\s*(?:async\s+)?(?:def|class)\s+{name}\b"


def beyond_the_end(place: AppFrame) -> str:
    """The file is shorter than that."""
    if place.line <= len(place.rows) or place.path.endswith(_INLINED):
        return ""
    return f"{place.path} has {len(place.rows)} lines, and the record fails in line {place.line}"


def beyond_the_column(place: AppFrame) -> str:
    """The line is shorter than that: a bundle failed, not this file."""
    column, width = place.frame.column or 0, len(place.row.encode("utf-16-le", "replace")) // 2
    if column <= width + 2 or place.line > len(place.rows):
        return ""
    return f"{place.name} has {width} characters, and the record fails at {column}"


def blank(place: AppFrame) -> str:
    """Nothing stands there."""
    is_there = 0 < place.line <= len(place.rows)
    return f"{place.name} is blank" if is_there and not place.row.strip() else ""


def comment(place: AppFrame) -> str:
    """Only a comment stands there."""
    text = place.row.strip()
    if not text or not has_grammar(place.path) or not text.startswith(("#", "//", "/*", "*", "=")):
        return ""
    root = parsed(place.path, place.text)
    at = (place.line - 1, len(place.row) - len(place.row.lstrip()))
    node = root.descendant_for_point_range(at, at) if root else None
    is_whole = (node is not None and node.end_point[0] > at[0]) or "*/" not in text
    return f"{place.name} is a comment" if node and node.type == "comment" and is_whole else ""


def markup(place: AppFrame) -> str:
    """A template's line without any code."""
    tag = next((item for ends, item in _TAGS.items() if place.path.endswith(ends)), None)
    if tag is None or not place.row.strip():
        return ""
    begin = sum(len(row) + 1 for row in place.text.split("\n")[: place.line - 1])
    end = begin + len(place.row)
    in_tag = any(item.start() < end and begin < item.end() for item in tag.finditer(place.text))
    return "" if in_tag else f"{place.name} holds markup and no code"


def outside_its_function(place: AppFrame) -> str:
    """The function that the record names stands elsewhere in the file, or is not in it."""
    name = "" if place.shares_line else _function_name(place)
    if not name or not has_grammar(place.path) or place.line > len(place.rows):
        return ""
    defined = definitions_in(place.path, place.text)
    same = [item for item in defined if item.name == name]
    begins_class = any(item.kind == "class" and item.line == place.line for item in defined)
    if begins_class or any(
        (
            item.line <= place.line <= item.end
            or (item.kind == "class" and item.line - 5 <= place.line)
        )
        for item in same
    ):
        return ""  # what a compiler adds to a class has the line of its head
    if same and all(_is_plain_function(item, place) for item in same):
        where = ", ".join(str(item.line) for item in same[:3])
        return f"{place.name} is not in {name}, which {place.path} defines in line {where}"
    is_python = place.language.name == "python" and place.path.endswith(".py")
    if same or not is_python or re.search(_DEFINES.format(name=name), place.text, re.MULTILINE):
        return ""
    return f"{place.path} defines no {name}, in which the record fails"


def _function_name(place: AppFrame) -> str:
    printed = _RUBY_LEVELS.sub("", place.frame.function.strip())
    if place.language.name == "go":
        match = _GO_METHOD.match(printed)
        return match["name"] if match and match["name"] not in ("glob", "init") else ""
    name = re.split(r"[.#:>]", printed)[-1].strip()
    odd = "<" in printed or "$" in printed or "{" in printed or "`" in printed
    return name if _PLAIN_CONTRADICTIONS.match(name) and not odd else ""


def _is_plain_function(definition: Definition, place: AppFrame) -> bool:
    row = (
        place.rows[definition.line - 1][: limits.NAMED_LINE]
        if definition.line <= len(place.rows)
        else ""
    )
    is_macro = place.language.name == "ruby" and not re.search(r"\bdef\b", row)
    return definition.kind == "function" and not is_macro


CONTRADICTIONS: tuple[Callable[[AppFrame], str], ...] = (
    beyond_the_end,
    beyond_the_column,
    blank,
    comment,
    markup,
    outside_its_function,
    *MESSAGE_CONTRADICTIONS,
)


def contradiction(place: AppFrame) -> str:
    """Say what excludes that the record failed at this line; empty where nothing does.

    A line that the record itself holds is believed.
    """
    if place.frame.fit in ("same", "moved"):
        return ""
    return next((reason for rule in CONTRADICTIONS if (reason := rule(place))), "")


# Whether the record of a case is of the commit that is read: its own source, and plausibility.

MISFIT = "the record does not fit this commit: "


def misfit(case: Case, read: ReadFile, search: Search | None = None) -> str:
    """Say why the record of a case is not of the commit that `read` reads; empty where it may be.

    The innermost own frame decides; those around it only where more of them speak against the
    commit than for it. Where the commit is known by a time alone, lines may have moved: one
    that is only implausible is no misfit if a line near it is plausible.
    """
    is_named = case.commit is not None and case.commit.is_named
    places = AppFrames(case, read, search or _nothing, limits.FITTED_PLACES)
    reasons = [(place.frame, _against_file(place, is_named)) for place in places.all()]
    against = [reason for _, reason in reasons if reason]
    holding = sum(frame.fit in ("same", "moved") for frame, _ in reasons)
    if not against or reasons[0][0].fit in ("same", "moved"):
        return ""
    if reasons[0][1] or (len(against) > 1 and len(against) > holding):
        return f"{MISFIT}{against[0]}"
    return ""


def objection(evidence: Evidence, case: Case, read: ReadFile, search: Search) -> str:
    """Say why evidence that quotes the line of a frame cannot be where it failed; else empty."""
    places = AppFrames(case, read, search, limits.FITTED_PLACES)
    at = (evidence.path, evidence.line)
    frame = next((frame for frame in places.frames if (frame.repo_path, frame.line) == at), None)
    place = places.of(frame) if frame else None
    return _against(place) if place else ""


def with_doubts(case: Case, read: ReadFile, search: Search) -> Case:
    """Mark own frames whose lines the code excludes as those of other code: their fit differs."""
    if case.trace is None:
        return case
    places = AppFrames(case, read, search, limits.FITTED_PLACES).all()
    doubted = {place.frame for place in places if place.frame.fit == "unknown" and _against(place)}
    links = tuple(
        link.model_copy(
            update={
                "frames": tuple(
                    frame.model_copy(update={"fit": "differs"}) if frame in doubted else frame
                    for frame in link.frames
                )
            }
        )
        for link in case.trace.links
    )
    return case.model_copy(update={"trace": case.trace.model_copy(update={"links": links})})


def _against(place: AppFrame) -> str:
    if place.frame.fit == "differs" and has_source(place.frame):
        code = shortened(" ".join(place.frame.code.split()), limits.SHOWN_SOURCE)
        printed = f" ({code})" if code else ""
        return f"{place.name} and the file around it do not hold the line of the record{printed}"
    return contradiction(place)


def _against_file(place: AppFrame, is_named: bool) -> str:
    why = _against(place)
    is_certain = is_named or (place.frame.fit == "differs" and has_source(place.frame))
    return why if is_certain or not why or not _may_have_moved(place) else ""


def _may_have_moved(place: AppFrame) -> bool:
    distances = (n for k in range(1, limits.DRIFT + 1) for n in (-k, k))
    near = (place.line + n for n in distances if 0 < place.line + n <= len(place.rows))
    return any(
        not contradiction(place._replace(frame=place.frame.model_copy(update={"line": line})))
        for line in near
    )


def _nothing(_query: str) -> tuple[SearchHit, ...]:
    return ()
