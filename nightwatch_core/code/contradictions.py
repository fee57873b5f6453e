"""What a record says that the code at its line excludes: rules that each give a reason, or none.

A contradiction is meant to be certain. Where a language, a macro or a call by name may explain it,
there is none: to doubt an honest record costs more than to believe a wrong one.
"""

import re
from collections.abc import Callable

from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.failing_place import FailingPlace
from nightwatch_core.code.grammars import has_grammar, parsed
from nightwatch_core.code.limits import NAMED_LINE
from nightwatch_core.code.message_contradictions import MESSAGE_CONTRADICTIONS

_INLINED = (".kt", ".kts", ".scala")  # compilers number inlined lines beyond the file's end
_TAGS = {  # what holds the code of templates
    (".erb", ".rhtml", ".ejs"): re.compile(r"<%.*?(?:%>|\Z)", re.DOTALL),
    (".php", ".phtml"): re.compile(r"<\?.*?(?:\?>|\Z)", re.DOTALL),
}
_PLAIN = re.compile(r"[A-Za-z_$][\w$]*[?!]?$")
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
    return name if _PLAIN.match(name) and not odd else ""


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
