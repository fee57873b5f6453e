"""Follows a value back: assignment, parameter, called function, lookup that found nothing."""

import re

from nightwatch_core.code.definitions import defined_name
from nightwatch_core.code.line_reading import arguments, assignment, body_of, called, parameters
from nightwatch_core.models.answer import Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.tool_values import HitsFound
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, line_of_frame, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import BODY_LINES, CALLERS
from nightwatch_core.rules.similar_names import definitions

_RECORDS = re.compile(
    r"(?:belongs_to|has_one|ForeignKey|OneToOneField|relationship|ManyToOne|attr_\w+)\b"
)


def origin_of(expression: str, failing: FailingLine, context: Context, depth: int = 0) -> Finding:
    """Find where the value of the expression comes from and why it can be None there."""
    if not failing.seen:
        return Finding()
    looked_up = _lookup(expression, failing.line, expression, failing)
    if looked_up:
        return looked_up
    if called(expression) and expression.endswith(")"):
        return _from_function(called(expression), expression, failing, context)
    name = expression.split("[", 1)[0]
    line, value = assignment(name, failing.lines, failing.line, failing.top or failing.line - 30)
    if line:
        return _from_assignment(expression, line, value, failing, context)
    if failing.top and name in _names(parameters(failing.lines, failing.top)):
        return _from_caller(name, failing, context, depth)
    return _from_member(expression, failing, context)


def _names(takes: tuple[str, ...]) -> tuple[str, ...]:
    matches = (re.search(r"(\$?\w+)\s*(?:[:=].*)?$", text.split("=")[0].strip()) for text in takes)
    typed = (re.match(r"[*&]*(\w+)\s*:", text) for text in takes)
    return tuple(m[1] for m in (*matches, *typed) if m)


def _lookup(
    value: str, line: int, expression: str, failing: FailingLine, only: bool = True
) -> Finding | None:
    """The finding where the value is a lookup that gives nothing when nothing is there."""
    if not re.search(failing.language.lookups, value[:500]):
        return None
    none = failing.language.none
    place = f"{failing.path}:{line}"
    text = failing.lines.get(line, "")
    fact = f"`{value[:120]}` in {place} gives {none} where nothing is found."
    return Finding(
        because=(
            f"Its value is looked up in {place} (`{value[:120]}`), which gives {none} where "
            "nothing is found, and nothing between asks for that.",
        ),
        evidence=(quoted(failing.path, line, text, f"may give {none}"),)
        if line != failing.line
        else (),
        hypotheses=(
            hypothesis(
                f"the lookup in {place} found nothing",
                standing="confirmed" if only else "open",
                because=f"it is {'the only' if only else 'one'} source of `{expression}` here",
            ),
        ),
        explained=only,
        learnings=(Learning(fact=fact, path=failing.path, line=line),),
        steps=(
            f"Decide what {failing.function or 'the function'} shall do "
            f"when {place} finds nothing.",
        ),
    )


def _from_assignment(
    expression: str, line: int, value: str, failing: FailingLine, context: Context
) -> Finding:
    earlier, _ = assignment(
        expression.split("[", 1)[0], failing.lines, line, failing.top or line - 30
    )
    looked_up = _lookup(value, line, expression, failing, only=not earlier)
    if looked_up:
        return looked_up
    evidence = (
        quoted(failing.path, line, failing.lines[line], f"`{expression}` gets its value here"),
    )
    place = f"{failing.path}:{line}"
    set_here = Finding(because=(f"It gets its value in {place}.",), evidence=evidence)
    if value.strip(" ;") == failing.language.none:
        return Finding(
            because=(
                f"{place} sets it to {failing.language.none}, and nothing after that changes it "
                "on this way.",
            ),
            evidence=evidence,
            explained=True,
        )
    function = called(value)
    return set_here + _from_function(function, value, failing, context) if function else set_here


def _from_function(function: str, value: str, failing: FailingLine, context: Context) -> Finding:
    """Whether a function of the repository can give nothing, and where."""
    results = definitions(function, failing.language, context.code)
    hit = _nearest(results, failing)
    if hit is None:
        return Finding()
    lines = context.code.lines(hit.path, hit.line, hit.line + BODY_LINES)
    body = body_of(lines, hit.line) if lines else ()
    exits = [n for n in body if n > hit.line and _gives_nothing(lines[n], failing)]
    if exits:
        at = SearchHit(path=hit.path, line=exits[0], text=lines[exits[0]])
        return _through(function, hit, at, len(exits) == 1, failing, context)
    fact = f"`{function}` is defined in {hit.path}:{hit.line}"
    fact += " and may be empty." if _RECORDS.search(hit.text[:500]) else "."
    return Finding(
        because=(f"`{function}` is defined in {hit.path}:{hit.line}.",),
        evidence=(quoted(hit.path, hit.line, hit.text, f"defines `{function}`"),),
        learnings=(Learning(fact=fact, path=hit.path, line=hit.line),),
    )


def _through(
    function: str, hit: SearchHit, at: SearchHit, only: bool, failing: FailingLine, context: Context
) -> Finding:
    """The finding where the function gives nothing in the line `at`."""
    none, place, way = failing.language.none, f"{hit.path}:{hit.line}", f"{at.path}:{at.line}"
    gives = quoted(at.path, at.line, at.text, f"`{function}` gives {none} here")
    newer = context.newer(at.path, at.line, failing.path, failing.line)
    because = f"`{function}` ({place}) can give {none}: {way} does"
    fact = f"`{function}` is defined in {place} and may return {none} ({way})."
    return Finding(
        because=(because + (f"; {newer}, after its caller was written." if newer else "."),),
        evidence=(gives,),
        fault=gives if newer else None,
        changed=((at.path, at.line),) if newer else (),
        explained=True,
        hypotheses=(
            hypothesis(
                f"`{function}` gave {none} by way of {way}",
                standing="confirmed" if only else "open",
                because="it is its only such exit" if only else "it has several exits",
            ),
        ),
        learnings=(Learning(fact=fact, path=hit.path, line=at.line),),
        steps=(f"Decide whether `{function}` may give {none}; if so, {failing.place} has to ask.",),
    )


def _gives_nothing(text: str, failing: FailingLine) -> bool:
    """Whether a line of a function's body ends it with nothing, or with a lookup's result."""
    bounded = text[:500]
    if re.search(failing.language.nothing, bounded):
        return True
    return bool(
        re.match(r"\s*return\b", bounded)
        and re.search(failing.language.lookups, bounded.rstrip(" ;"))
    )


def _nearest(results: HitsFound, failing: FailingLine) -> SearchHit | None:
    """The definition that is meant: the one of the same file, else the only one there is."""
    hits = [hit for hit in results.hits if (hit.path, hit.line) != (failing.path, failing.line)]
    own = [hit for hit in hits if hit.path == failing.path]
    if len(own) == 1:
        return own[0]
    return hits[0] if len(hits) == 1 and results.complete else None


def _from_caller(name: str, failing: FailingLine, context: Context, depth: int) -> Finding:
    """The value is a parameter: what the calling frame gave for it."""
    frames = context.app_frames
    at = next(
        (
            n
            for n, f in enumerate(frames)
            if (f.line, f.function) == (failing.line, failing.function)
        ),
        -1,
    )
    outer = frames[at + 1] if 0 <= at < len(frames) - 1 else None
    if outer is None or depth >= CALLERS:
        return Finding(because=(f"It is a parameter of {failing.function or 'the function'}.",))
    caller = line_of_frame(outer, context)
    function = defined_name(failing.lines.get(failing.top, ""), failing.language)
    given = _given(name, function, failing, caller)
    if not caller.seen:
        return Finding(because=(f"It is a parameter, given by {caller.place}.",))
    finding = Finding(
        because=(
            f"It is a parameter; {caller.place} gave " + (f"`{given}` for it." if given else "it."),
        ),
        evidence=(caller.evidence("calls with that value"),),
    )
    plain = bool(re.fullmatch(r"[\w@$.()\[\]'\"]+", given))
    return finding + origin_of(given, caller, context, depth + 1) if given and plain else finding


def _given(name: str, function: str, failing: FailingLine, caller: FailingLine) -> str:
    """The argument that the caller gives for the parameter; empty where that cannot be told."""
    call = re.search(rf"(?<![\w$]){re.escape(function)}\s*\(", caller.text) if function else None
    if not call:
        return ""
    given = arguments(caller.lines, caller.line, call.end() - 1)
    named = [re.match(rf"{re.escape(name)}\s*[=:]\s*(.+)", part) for part in given]
    keyword = next((found[1] for found in named if found), "")
    takes = _names(parameters(failing.lines, failing.top))
    position = takes.index(name) if name in takes else -1
    return keyword or (given[position] if 0 <= position < len(given) else "")


def _from_member(expression: str, failing: FailingLine, context: Context) -> Finding:
    """The value is a member: its definition, or the line that sets it."""
    member = re.search(r"(\w+[?!]?)$", expression.rstrip("()"))
    if not member or member[1] in (failing.language.none, failing.language.receiver):
        return Finding()
    return _from_function(member[1], expression, failing, context)
