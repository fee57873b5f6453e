"""From an answer to a verdict: quotes looked up, edits tried, worth computed by visible rules."""

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import TypeVar

from nightwatch_core.code.candidates import FailingPlace, FailingPlaces, Read, Search
from nightwatch_core.code.cited_steps import unseen_step
from nightwatch_core.code.code_view import inside, lines_of, verified
from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edits import NOBODY, grounds_of, judged, reasons
from nightwatch_core.code.injected_instructions import Strangers
from nightwatch_core.code.languages import Language, has_grammar, parsed
from nightwatch_core.code.limits import (
    CLASS_FILES,
    DRIFT,
    FITTED_PLACES,
    HANDED_LINE,
    HANDED_LINES,
    HANDED_STEPS,
    HANDED_TEXT,
    HANDED_VALUE,
    MESSAGE_LINES,
    NAMED_LINE,
    QUESTION,
    ROOT_CAUSE,
    SHOWN_SOURCE,
    STATEMENT_AROUND,
)
from nightwatch_core.code.suspects import named_change
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.code.syntax import indent, masked, receivers_of
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.analysis import FELL_BACK, Analysis, RefusedEdit
from nightwatch_core.models.answer import Answer, Confidence, Evidence, Handover
from nightwatch_core.models.code import Blame, SearchHit
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment
from nightwatch_core.traces.placing import has_source

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


def class_defines_it(place: FailingPlace) -> str:
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
    if not 0 < len(paths) <= CLASS_FILES:
        return ""
    lines = [_method_line(symptom.name, owner, path, place) for path in paths]
    if not all(lines):
        return ""
    return (
        f"the record says that {owner} has no {symptom.name}, and {paths[0]}:{lines[0]} defines it"
    )


def _method_line(name: str, owner: str, path: str, place: FailingPlace) -> int:
    """The line of a plain instance method right in the class; 0 where there is none for sure."""
    text = place.read(path) or ""
    if _SHAPED.search(text):
        return 0
    defined, rows = definitions_in(path, text), text.split("\n")
    classes = [one for one in defined if one.kind == "class"]
    for cls in (one for one in classes if one.name == owner):
        own = [one for one in defined if one.kind == "function" and _innermost(one, classes) == cls]
        depth = min((indent(rows[one.line - 1]) for one in own), default=0)
        for one in own:
            row, above = rows[one.line - 1], rows[one.line - 2] if one.line > 1 else ""
            is_plain = re.match(rf"[\w\s]*\b(?:def|function)\s+{re.escape(name)}(?!\w)", row)
            decorated = above.strip().startswith("@")
            if is_plain and indent(row) == depth and not decorated:
                return one.line
    return 0


def _innermost(one: Definition, classes: list[Definition]) -> Definition | None:
    around = [cls for cls in classes if cls.line < one.line <= cls.end]
    return max(around, key=lambda cls: cls.line, default=None)


def file_defines_it(place: FailingPlace) -> str:
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


def receiver_was_used(place: FailingPlace) -> str:
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


def _is_variable(name: str, place: FailingPlace) -> bool:
    """Whether the expression is one value all the while: in Ruby a bare name may be a call."""
    if not _PLAIN.match(name) or name in ("self", "this", "cls"):
        return False
    if place.language.name != "ruby" or name.startswith("@"):
        return place.language.name in ("python", "ruby", "javascript", "php")
    return any(re.match(rf"\s*{re.escape(name)}\s*=(?!=)", row) for row in _block(place)[1])


def _block(place: FailingPlace) -> tuple[int, list[str]]:
    """The lines above the failing one in its block, nearest first, deeper ones too."""
    depth, rows = indent(place.row), []
    for row in place.rows[place.line - 2 :: -1][:MESSAGE_LINES] if place.line > 1 else ():
        if row.strip() and indent(row) < depth:
            break
        rows.append(masked(row, place.language))
    return depth, rows


def _used_above(name: str, place: FailingPlace) -> int:
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


def name_is_asked_for(place: FailingPlace) -> str:
    """The name of the message stands nowhere in the failing statement or near it."""
    symptom = place.symptom
    kinds = ("none receiver", "unknown member", "undefined name", "unbound local")
    if symptom is None or symptom.kind not in kinds or not _is_name(symptom.name, place.language):
        return ""
    near = place.around(MESSAGE_LINES)
    if re.search(rf"(?<!\w){re.escape(symptom.name.rstrip('?!='))}(?!\w)", near):
        return ""
    if not place.row.strip() or _BY_NAME.search(place.around(STATEMENT_AROUND)):
        return ""
    return f"the record asks for {symptom.name}, which stands nowhere near {place.name}"


def _is_name(name: str, language: Language) -> bool:
    is_plain = re.fullmatch(r"[A-Za-z_$][\w$]*[?!=]?", name[:NAMED_LINE]) is not None
    return is_plain and not _IMPLICIT.match(name) and language.name != "go"


MESSAGE_CONTRADICTIONS: tuple[Callable[[FailingPlace], str], ...] = (
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


def beyond_the_end(place: FailingPlace) -> str:
    """The file is shorter than that."""
    if place.line <= len(place.rows) or place.path.endswith(_INLINED):
        return ""
    return f"{place.path} has {len(place.rows)} lines, and the record fails in line {place.line}"


def beyond_the_column(place: FailingPlace) -> str:
    """The line is shorter than that: a bundle failed, not this file."""
    column, width = place.frame.column or 0, len(place.row.encode("utf-16-le", "replace")) // 2
    if column <= width + 2 or place.line > len(place.rows):
        return ""
    return f"{place.name} has {width} characters, and the record fails at {column}"


def blank(place: FailingPlace) -> str:
    """Nothing stands there."""
    is_there = 0 < place.line <= len(place.rows)
    return f"{place.name} is blank" if is_there and not place.row.strip() else ""


def comment(place: FailingPlace) -> str:
    """Only a comment stands there."""
    text = place.row.strip()
    if not text or not has_grammar(place.path) or not text.startswith(("#", "//", "/*", "*", "=")):
        return ""
    root = parsed(place.path, place.text)
    at = (place.line - 1, len(place.row) - len(place.row.lstrip()))
    node = root.descendant_for_point_range(at, at) if root else None
    is_whole = node is not None and node.end_point[0] > at[0] or "*/" not in text
    return f"{place.name} is a comment" if node and node.type == "comment" and is_whole else ""


def markup(place: FailingPlace) -> str:
    """A template's line without any code."""
    tag = next((one for ends, one in _TAGS.items() if place.path.endswith(ends)), None)
    if tag is None or not place.row.strip():
        return ""
    begin = sum(len(row) + 1 for row in place.text.split("\n")[: place.line - 1])
    end = begin + len(place.row)
    in_tag = any(one.start() < end and begin < one.end() for one in tag.finditer(place.text))
    return "" if in_tag else f"{place.name} holds markup and no code"


def outside_its_function(place: FailingPlace) -> str:
    """The function that the record names stands elsewhere in the file, or is not in it."""
    name = "" if place.shares_line else _function_name(place)
    if not name or not has_grammar(place.path) or place.line > len(place.rows):
        return ""
    defined = definitions_in(place.path, place.text)
    same = [one for one in defined if one.name == name]
    begins_class = any(one.kind == "class" and one.line == place.line for one in defined)
    if begins_class or any(_may_span(one, place.line) for one in same):
        return ""  # what a compiler adds to a class has the line of its head
    if same and all(_is_plain_function(one, place) for one in same):
        where = ", ".join(str(one.line) for one in same[:3])
        return f"{place.name} is not in {name}, which {place.path} defines in line {where}"
    is_python = place.language.name == "python" and place.path.endswith(".py")
    if same or not is_python or re.search(_DEFINES.format(name=name), place.text, re.MULTILINE):
        return ""
    return f"{place.path} defines no {name}, in which the record fails"


def _function_name(place: FailingPlace) -> str:
    """The function's own name; empty where it has none that the source holds."""
    printed = _RUBY_LEVELS.sub("", place.frame.function.strip())
    if place.language.name == "go":
        match = _GO_METHOD.match(printed)
        return match["name"] if match and match["name"] not in ("glob", "init") else ""
    name = re.split(r"[.#:>]", printed)[-1].strip()
    odd = "<" in printed or "$" in printed or "{" in printed or "`" in printed
    return name if _PLAIN_CONTRADICTIONS.match(name) and not odd else ""


def _may_span(one: Definition, line: int) -> bool:
    return one.line <= line <= one.end or (one.kind == "class" and one.line - 5 <= line)


def _is_plain_function(one: Definition, place: FailingPlace) -> bool:
    """Whether its first and last line are sure: no macro, no value that is made elsewhere."""
    row = place.rows[one.line - 1][:NAMED_LINE] if one.line <= len(place.rows) else ""
    is_macro = place.language.name == "ruby" and not re.search(r"\bdef\b", row)
    return one.kind == "function" and not is_macro


CONTRADICTIONS: tuple[Callable[[FailingPlace], str], ...] = (
    beyond_the_end,
    beyond_the_column,
    blank,
    comment,
    markup,
    outside_its_function,
    *MESSAGE_CONTRADICTIONS,
)


def contradiction(place: FailingPlace) -> str:
    """Say what excludes that the record failed at this line; empty where nothing does.

    A line that the record itself holds is believed.
    """
    if place.frame.fit in ("same", "moved"):
        return ""
    return next((reason for rule in CONTRADICTIONS if (reason := rule(place))), "")


# Whether the record of a case is of the commit that is read: its own source, and plausibility.

MISFIT = "the record does not fit this commit: "


def misfit(case: Case, read: Read, search: Search | None = None) -> str:
    """Say why the record of a case is not of the commit that `read` reads; empty where it may be.

    The innermost own frame decides; those around it only where more of them speak against the
    commit than for it. Where the commit is known by a time alone, lines may have moved: one
    that is only implausible is no misfit if a line near it is plausible.
    """
    is_named = case.commit is not None and case.commit.is_named
    places = FailingPlaces(case, read, search or _nothing, FITTED_PLACES)
    reasons = [(place.frame, _against_file(place, is_named)) for place in places.all()]
    against = [reason for _, reason in reasons if reason]
    holding = sum(frame.fit in ("same", "moved") for frame, _ in reasons)
    if not against or reasons[0][0].fit in ("same", "moved"):
        return ""
    if reasons[0][1] or (len(against) > 1 and len(against) > holding):
        return f"{MISFIT}{against[0]}"
    return ""


def objection(evidence: Evidence, case: Case, read: Read, search: Search) -> str:
    """Say why evidence that quotes the line of a frame cannot be where it failed; else empty."""
    places = FailingPlaces(case, read, search, FITTED_PLACES)
    at = (evidence.path, evidence.line)
    frame = next((one for one in places.frames if (one.repo_path, one.line) == at), None)
    place = places.of(frame) if frame else None
    return _against(place) if place else ""


def with_doubts(case: Case, read: Read, search: Search) -> Case:
    """Mark own frames whose lines the code excludes as those of other code: their fit differs."""
    if case.trace is None:
        return case
    places = FailingPlaces(case, read, search, FITTED_PLACES).all()
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


def _against(place: FailingPlace) -> str:
    if place.frame.fit == "differs" and has_source(place.frame):
        code = shortened(" ".join(place.frame.code.split()), SHOWN_SOURCE)
        printed = f" ({code})" if code else ""
        return f"{place.name} and the file around it do not hold the line of the record{printed}"
    return contradiction(place)


def _against_file(place: FailingPlace, is_named: bool) -> str:
    """What speaks against the line and, of an unnamed commit, against those it may have been."""
    why = _against(place)
    is_certain = is_named or (place.frame.fit == "differs" and has_source(place.frame))
    return why if is_certain or not why or not _may_have_moved(place) else ""


def _may_have_moved(place: FailingPlace) -> bool:
    """Whether a line near it, of another number only, would be plausible."""
    distances = (n for k in range(1, DRIFT + 1) for n in (-k, k))
    near = (place.line + n for n in distances if 0 < place.line + n <= len(place.rows))
    return any(
        not contradiction(place._replace(frame=place.frame.model_copy(update={"line": line})))
        for line in near
    )


def _nothing(_query: str) -> tuple[SearchHit, ...]:
    return ()


# What is known of an error whose cause is not, for whoever looks at it next; nothing is claimed.
#
# Who knows no cause says what it knows. The rest is read here: the failing line with its
# surroundings, the value that failed, and who wrote the line last.

T = TypeVar("T")
_MOST = 2 * HANDED_LINES + 1  # lines


def handover_of(answer: Answer) -> Handover:
    """Give what an answer that knows no cause hands on: what it would look at next.

    >>> handover_of(Answer(title="T", root_cause="", confidence="low", question="Whose?")).look_at
    ('Whose?',)
    """
    given = answer.handover or Handover()
    steps = given.look_at or (*filter(None, (answer.question,)), *answer.suggested_next_steps)
    return given.model_copy(update={"look_at": steps})


def completed(given: Handover, case: Case, code: CodeReader, *, fits: bool = True) -> Handover:
    """Fill in what a handover leaves open, and bound what it holds.

    Where the record does not fit the code (`fits`), the code is not asked: the lines are those that
    the record itself holds. What cannot be read stays empty.
    """
    frame = _failing_frame(case)
    path = given.path or (frame.repo_path or frame.path if frame else "")
    line = given.line or (frame.line or 0 if frame and not given.path else 0)
    is_readable = fits and not (frame and frame.fit == "differs") and bool(path and line)
    lines, first = given.lines, given.first_line or line
    if not lines and is_readable:
        lines, first = _around(code, path, line)
    if not lines and frame and not given.path:
        lines, first = _recorded(frame)
    changed = given.last_change or (_last_change(code, path, line) if is_readable else "")
    return Handover(
        unknown=_line(given.unknown, HANDED_TEXT),
        path=_line(path, HANDED_TEXT),
        line=line,
        lines=tuple(one.replace("\n", " ")[:HANDED_LINE] for one in lines[:_MOST]),
        first_line=first if lines else 0,
        value=_line(given.value or _value(case), HANDED_VALUE),
        last_change=_line(changed, HANDED_TEXT),
        look_at=tuple(_line(one, HANDED_TEXT) for one in given.look_at[:HANDED_STEPS]),
    )


def _failing_frame(case: Case) -> Frame | None:
    """The innermost own frame that is in the repository, else the innermost own one."""
    frames = case.trace.in_app if case.trace else ()
    return next((one for one in frames if one.repo_path), next(iter(frames), None))


def _around(code: CodeReader, path: str, line: int) -> tuple[tuple[str, ...], int]:
    """The line with those around it as they stand in the file, and the number of the first."""
    rows = lines_of(_known(lambda: code.read_file(path), None) or "")
    if line > len(rows):
        return (), 0
    first = max(1, line - HANDED_LINES)
    return rows[first - 1 : line + HANDED_LINES], first


def _recorded(frame: Frame) -> tuple[tuple[str, ...], int]:
    """The same as the record holds them."""
    if not frame.code:
        return (), 0
    before, after = frame.before[-HANDED_LINES:], frame.after[:HANDED_LINES]
    first = max((frame.line or 1) - len(before), 1)
    return (*before, frame.code, *after), first


def _last_change(code: CodeReader, path: str, line: int) -> str:
    blames = _known(lambda: code.blame(path, line), tuple[Blame, ...]())
    if not blames:
        return ""
    wrote = blames[0]
    pull = f"#{wrote.pull}, " if wrote.pull else ""
    return f"{wrote.author}, {wrote.at:%Y-%m-%d}: {wrote.subject} ({pull}{wrote.sha[:10]})"


def _value(case: Case) -> str:
    """What the message says of the value that failed; empty where it says nothing."""
    root = case.trace.root if case.trace else None
    said = (root.error_class, root.message) if root and root.error_class else ()
    symptom = symptom_of(*(said or (case.leader.error_class, case.leader.message)))
    return f"key `{symptom.key}`" if symptom.key else symptom.given


def _line(text: str, limit: int) -> str:
    return shortened(one_line(text[: 4 * limit]), limit)


def _known(ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except (GiveUp, TryLater):
        return otherwise


Rule = Callable[[Analysis], bool]
_RANKS: dict[Confidence, int] = {"low": 0, "medium": 1, "high": 2}


def has_verified_evidence(analysis: Analysis) -> bool:
    """Tell whether a quoted line was found in the code."""
    return any(one.verified for one in analysis.evidence)


def _is_all_verified(analysis: Analysis) -> bool:
    return bool(analysis.evidence) and all(one.verified for one in analysis.evidence)


def _reaches_top_frame(analysis: Analysis) -> bool:
    top = analysis.case.trace.top if analysis.case.trace else None
    quoted = {one.path for one in analysis.evidence if one.verified}
    return top is not None and top.repo_path in quoted


def _names_a_place(analysis: Analysis) -> bool:
    return bool(re.search(r"\w\.\w+:\d+", analysis.root_cause))


def _was_read(analysis: Analysis) -> bool:
    quoted = {one.path for one in analysis.evidence if one.verified}
    return bool(quoted) and quoted <= set(analysis.read)


def _says_what_is_open(analysis: Analysis) -> bool:
    standings = [one.standing for one in analysis.hypotheses]
    return bool(standings) and ("open" not in standings or analysis.confidence != "high")


SCORE: tuple[tuple[float, str, Rule], ...] = (
    (0.25, "a quoted line was found in the code", has_verified_evidence),
    (0.10, "every quoted line was found", _is_all_verified),
    (0.15, "the evidence reaches the top frame's file", _reaches_top_frame),
    (0.10, "the cause names a place", _names_a_place),
    (0.10, "the files quoted from were read", _was_read),
    (0.15, "a fix is proposed and applies", lambda analysis: analysis.has_fix),
    (0.10, "no explanation is open, or the confidence allows for it", _says_what_is_open),
    (0.05, "a suspect change is named", lambda analysis: bool(analysis.suspect_commit)),
)

# Why one verdict is better than another, the weightiest first; the larger value wins.
BETTER: tuple[tuple[str, Callable[[Analysis], float]], ...] = (
    (
        "a fix with verified evidence",
        lambda analysis: analysis.has_fix and has_verified_evidence(analysis),
    ),
    ("a known cause", lambda analysis: analysis.has_cause),
    ("confidence", lambda analysis: _RANKS[analysis.confidence]),
    ("score", lambda analysis: analysis.score),
)


def scored(analysis: Analysis) -> Analysis:
    """Give the analysis with its score and confidence, and the rules that gave them."""
    held = [(points, reason) for points, reason, rule in SCORE if rule(analysis)]
    confidence, why = _confidence(analysis)
    return analysis.model_copy(
        update={
            "score": round(sum(points for points, _ in held), 2),
            "confidence": confidence,
            "doubt": why or analysis.doubt,
            "because": (
                *analysis.because,
                *(f"{reason} (+{points:.2f})" for points, reason in held),
                *((why,) if why else ()),
            ),
        }
    )


def advantage(first: Analysis, second: Analysis) -> str:
    """Name by what the second is better than the first; empty where it is not."""
    for name, value in BETTER:
        if value(first) != value(second):
            return name if value(second) > value(first) else ""
    return ""


def _confidence(analysis: Analysis) -> tuple[Confidence, str]:
    if not has_verified_evidence(analysis) and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but no quoted line was found in the code"
    if analysis.misfit and analysis.confidence != "low":
        return "low", f"said {analysis.confidence}, but {analysis.misfit}"
    return analysis.confidence, ""


def verdict(
    case: Case,
    answer: Answer,
    research: ResearchContext,
    code: CodeReader,
    read: tuple[str, ...] = (),
    lines: Collection[str] | None = None,
    orders: Strangers = NOBODY,
) -> Analysis:
    """Say what the answer is worth: evidence checked against the code, only edits that may stand.

    `read` are the files the model has seen, `lines` what it was shown of them (`path:line`); None:
    not known, then no step is asked for its line. No edit may repeat `orders` from outside.
    """
    evidence = looked_up(answer.evidence, code, case)
    unknown = _knows_no_cause(answer, evidence)
    with_fix = answer.has_fix and not unknown
    draft = _draft(case, answer, evidence, code, read, orders, with_fix=with_fix)
    if unknown:
        draft = _handed_over(draft, answer, code, fits=not research.misfit)
    if research.misfit:
        return scored(unfit(draft, research.misfit))
    return scored(_as_sure_as_shown(draft, lines))


def _draft(
    case: Case,
    answer: Answer,
    evidence: tuple[Evidence, ...],
    code: CodeReader,
    read: tuple[str, ...],
    orders: Strangers,
    *,
    with_fix: bool,
) -> Analysis:
    """What an answer says, as far as it may stand."""
    change = named_change(answer.suspect_commit, code)
    grounds = grounds_of(answer, case, evidence, read, orders)
    fix = judged(answer.file_changes if with_fix else (), code, grounds)
    return Analysis(
        case=case,
        title=shortened(one_line(answer.title), 120) or case.title,
        root_cause=answer.root_cause.strip()[:ROOT_CAUSE],
        confidence=answer.confidence,
        evidence=evidence,
        fix=fix.edits,
        changes=file_diffs(fix.edits, code.read_file),
        refused=fix.refused,
        hypotheses=answer.hypotheses,
        suspects=change.suspects,
        suspect_commit=change.commit,
        next_steps=answer.suggested_next_steps,
        learnings=answer.learnings[:3],
        tags=tuple(tag for tag in answer.tags if tag != FELL_BACK),  # ours alone
        related_to=answer.related_to,
        read=read,
        commit=code.commit.sha,
        fix_confidence=answer.fix_confidence if fix.edits else None,
        question=" ".join(answer.question.split())[:QUESTION],
        because=(*reasons(fix.refused), *change.because),
    )


def _handed_over(draft: Analysis, answer: Answer, code: CodeReader, *, fits: bool) -> Analysis:
    """Of an analysis that knows no cause what is known, and no suspicion."""
    handover = completed(handover_of(answer), draft.case, code, fits=fits)
    none = {"confidence": "low", "suspects": (), "suspect_commit": "", "learnings": ()}
    return draft.model_copy(update={**none, "handover": handover})


def _knows_no_cause(answer: Answer, evidence: tuple[Evidence, ...]) -> bool:
    """Whether an answer says so, or claims nothing that could be looked up or tried.

    What was said with more confidence, and quotes nothing that is there, is weak: it claims.
    """
    claims = answer.confidence != "low" or answer.has_fix or any(one.verified for one in evidence)
    return answer.handover is not None or not claims


def _as_sure_as_shown(draft: Analysis, lines: Collection[str] | None) -> Analysis:
    """High confidence is kept where every step of the cause cites a line that was shown."""
    place = unseen_step(draft, lines) if lines is not None and draft.confidence == "high" else ""
    if not place:
        return draft
    why = f"said high, but {ascii(place)[1:-1]}, which the cause rests on, was not read"
    because = (*draft.because, why)
    return draft.model_copy(update={"confidence": "medium", "doubt": why, "because": because})


def looked_up(
    evidence: tuple[Evidence, ...], code: CodeReader, case: Case | None = None
) -> tuple[Evidence, ...]:
    """Look up every quote in its file; a path that leaves the repository is not asked for.

    What the record of `case` excludes as the line of a frame is not verified, and its note says
    why.
    """
    read = cache(code.read_file)
    paths = {path for one in evidence if (path := inside(one.path))}
    texts = {path: read(path) for path in sorted(paths)}
    quotes = (verified(one, texts.get(inside(one.path) or "")) for one in evidence)
    return tuple(_unless_excluded(one, case, read, code.search) if case else one for one in quotes)


def _unless_excluded(evidence: Evidence, case: Case, read: Read, search: Search) -> Evidence:
    why = objection(evidence, case, read, search) if evidence.verified else ""
    if not why:
        return evidence
    note = f"{evidence.note}; not where it failed: {why}".removeprefix("; ")
    return evidence.model_copy(update={"verified": False, "note": note})


def unfit(analysis: Analysis, why: str) -> Analysis:
    """Take back what an analysis says of places and changes: the record is of other code."""
    refused = (RefusedEdit(path=edit.path, reason=why) for edit in analysis.fix)
    return analysis.model_copy(
        update={
            "evidence": tuple(
                one.model_copy(update={"verified": False}) for one in analysis.evidence
            ),
            "fix": (),
            "changes": (),
            "fix_confidence": None,
            "refused": (*analysis.refused, *refused),
            "suspects": (),
            "suspect_commit": "",
            "confidence": "low",
            "misfit": why,
            "because": (*analysis.because, why),
        }
    )
