"""Explain calls that do not fit their function: renamed keywords, wrong numbers of arguments."""

import re

from nightwatch_core.code.definitions import defined_name, definitions_in
from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import arguments, masked, parameters, uses
from nightwatch_core.models.answer import Edit, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import (
    ALIKE,
    Context,
    FailingLine,
    Finding,
    callers,
    can_be_of,
    complaint_of,
    definitions,
    hypothesis,
    likeness,
    line_of_frame,
    means_something_else,
    plain_name,
    quoted,
    slip,
)
from nightwatch_core.rules.names import replaced

_INITS = ("__init__", "initialize", "constructor", "__construct")
_MARK = {"python": "=", "ruby": ":", "php": ":"}  # between a keyword and its value


def wrong_arguments(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Compare the call with the signature it meets, and mends a renamed keyword."""
    reported = failing
    failing, function = _call_and_function(symptom, failing, context)
    definition = _definition(function, failing, context) if function else None
    if definition is None:
        return _unknown(symptom, failing, function)
    start = definition.line
    lines = context.code.lines(definition.path, start, start + 20)
    written = parameters(lines, start)
    takes = tuple(filter(None, map(plain_name, written)))
    place = f"{definition.path}:{definition.line}"
    if not (
        uses(function, failing.text)
        and can_be_of(symptom, written, takes, failing.language.name == "ruby")
    ):
        return _unknown(symptom, failing, function)
    finding = Finding(
        because=(
            f"{failing.place} calls `{function}` in a way its signature in {place} does not take "
            f"({complaint_of(symptom)}); it takes {', '.join(takes) or 'nothing'}.",
        ),
        evidence=(quoted(definition.path, start, definition.text, "the signature"),),
        fault=failing.evidence("the call") if failing.seen and failing is not reported else None,
        learnings=(
            Learning(
                fact=f"`{function}` in {place} takes {', '.join(takes) or 'no arguments'}.",
                path=definition.path,
                line=start,
            ),
        ),
        steps=(f"Make the call in {failing.place} fit the signature in {place}.",),
        subject=f"call of `{function}` does not fit its signature",
        explained=True,
    )
    if symptom.keyword:
        finding = finding + _renamed(symptom.keyword, function, definition, failing, context)
    return finding


def _unknown(symptom: Symptom, failing: FailingLine, function: str) -> Finding:
    """Return what the message says, where the function that is meant is not proved."""
    what = f"`{function}`" if function else "the function that it calls"
    return Finding(
        value=complaint_of(symptom),
        steps=(f"Compare the call in {failing.place} with the signature of {what}.",),
        tags=("wrong-arguments",),
    )


def _call_and_function(
    symptom: Symptom, failing: FailingLine, context: Context
) -> tuple[FailingLine, str]:
    """Return the line that calls, and the bare name of what it calls.

    Ruby blames the callee's first line, so there the call is one frame further out.
    """
    name = re.split(r"[.:\\]+", symptom.name)[-1]
    own = defined_name(failing.text, failing.language)
    if own and len(context.app_frames) > 1:
        return line_of_frame(context.app_frames[1], context), own
    if name == "__init__":
        return failing, symptom.name.split(".")[-2] if "." in symptom.name else ""
    return failing, name


def _definition(function: str, failing: FailingLine, context: Context) -> SearchHit | None:
    """Return the one definition of the function; of a class, its constructor."""
    defined = definitions(function, failing.language, context.code)
    if len(defined.hits) != 1 or not defined.complete:
        return _innermost(function, context)
    hit = defined.hits[0]
    if not re.match(r"\s*(?:class|struct)\b", hit.text):
        return hit
    lines = context.code.whole(hit.path) or ()
    known = definitions_in(hit.path, "\n".join(lines))
    end = next((item.end for item in known if item.line == hit.line), 0)
    line = next((d.line for d in known if d.name in _INITS and hit.line < d.line <= end), 0)
    return SearchHit(path=hit.path, line=line, text=lines[line - 1]) if line else hit


def _innermost(function: str, context: Context) -> SearchHit | None:
    if not context.app_frames:
        return None
    failing = line_of_frame(context.app_frames[0], context)
    if defined_name(failing.text, failing.language) != function:
        return None
    return SearchHit(path=failing.path, line=failing.line, text=failing.text)


def _renamed(
    keyword: str, function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> Finding:
    mark = _MARK.get(failing.language.name, "")
    free, needed = _unfilled(function, definition, failing, context)
    alone = [name for name in free if [name] in (free, needed)]
    names = [name for name in free if likeness(keyword, name) >= ALIKE or name in alone]
    later = {name: _replaced_by(keyword, name, definition, context) for name in names}
    sound = [
        name
        for name in names
        if slip(keyword, name)
        or (later[name] and not means_something_else(keyword, name, only=name in alone))
    ]
    if len(sound) != 1 or not mark:
        return Finding()  # neither spelling nor a change decides it
    new = sound[0]
    younger = later[new]
    called = "is now called" if younger else "should read"
    why = younger[1] if younger else "the names differ by a slip"
    return Finding(
        because=(f"The keyword `{keyword}` {called} `{new}`: {why}.",),
        edits=_edits(keyword, new, function, mark, failing, context),
        changed=((definition.path, younger[0]),) if younger else (),
        hypotheses=(
            hypothesis(f"keyword `{keyword}` {called} `{new}`", standing="confirmed", because=why),
        ),
        tags=("renamed-symbol" if younger else "misspelt-name",),
    )


def _unfilled(
    function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> tuple[list[str], list[str]]:
    given = _given(function, failing)
    named = {match[1] for part in given if (match := re.match(r"(\w+)\s*(?:=|:(?!:))", part))}
    positional = len(given) - len(named)
    lines = context.code.lines(definition.path, definition.line, definition.line + 20)
    written = [
        (name, part) for part in parameters(lines, definition.line) if (name := plain_name(part))
    ]
    free = [
        (name, part)
        for name, part in written[positional:]
        if name not in named and not part.startswith(("*", "&"))
    ]
    optional = r"^[*&]|=|:\s*\S+\s*=" if failing.language.name != "ruby" else r"^[*&]|=|:\s*\S"
    needed = [name for name, part in free if not re.search(optional, part)]
    return [name for name, _ in free], needed


def _replaced_by(
    keyword: str, name: str, definition: SearchHit, context: Context
) -> tuple[int, str] | None:
    start = definition.line
    lines = context.code.lines(definition.path, start, start + 20)
    own = next((n for n in range(start, start + 20) if uses(name, lines.get(n, ""))), start)
    why = context.replaced(keyword, name, definition.path, own)
    return (own, why) if why else None


def _given(function: str, failing: FailingLine) -> tuple[str, ...]:
    call = re.search(rf"(?<![\w$]){re.escape(function)}\s*\(", failing.text)
    return arguments(failing.lines, failing.line, call.end() - 1) if call else ()


def _edits(
    keyword: str, new: str, function: str, mark: str, failing: FailingLine, context: Context
) -> tuple[Edit, ...]:
    calls = callers(function, context.code)
    if not failing.seen or not calls.complete:
        return ()
    pattern = re.compile(rf"(?<![\w$.]){re.escape(keyword)}(?=\s*{re.escape(mark)}(?![=:]))")
    places = {(hit.path, hit.line) for hit in calls.hits if pattern.search(hit.text)}
    rows = [n for n in range(failing.line, failing.line + 30) if n in failing.lines]
    own = next((n for n in rows if pattern.search(failing.lines[n])), None)
    named = (part.split("=")[0].split(":")[0] for part in _given(function, failing))
    if own is None or not any(uses(keyword, part) for part in named):
        return ()
    places.add((failing.path, own))
    edits: list[Edit] = []
    for path in dict.fromkeys((failing.path, *sorted(path for path, _ in places))):
        lines = context.code.whole(path) or ()
        changed = {
            line: _replaced(row, pattern, keyword, new, masked(row, failing.language))
            for where, line in places
            if where == path and line <= len(lines)
            for row in lines[line - 1 : line]
        }
        more = edits_for(path, lines, changed, f"pass `{new}` instead of `{keyword}`")
        if not more:
            return ()
        edits += more
    return tuple(edits)


def _replaced(text: str, pattern: re.Pattern[str], keyword: str, new: str, code: str) -> str:
    """Replace the keyword in code, which is the line without what strings hold."""
    return replaced(text, tuple(match.start() for match in pattern.finditer(code)), keyword, new)
