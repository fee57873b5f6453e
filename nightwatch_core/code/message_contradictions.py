"""Messages that the code excludes: what they say is missing is there, or is not even asked for."""

import re
from collections.abc import Callable

from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.failing_place import FailingPlace
from nightwatch_core.code.languages import Language
from nightwatch_core.code.limits import CLASS_FILES, MESSAGE_LINES, NAMED_LINE, STATEMENT_AROUND
from nightwatch_core.code.line_reading import indent, masked, receivers_of
from nightwatch_core.text.error_classes import last_segment

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
