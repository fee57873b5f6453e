"""Explain calls with a keyword that their function does not take; mend a renamed keyword."""

import re

from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import arguments, parameters, uses
from nightwatch_core.models.answer import Edit, Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import (
    ALIKE,
    Context,
    FailingLine,
    Finding,
    callers,
    definitions,
    likeness,
    means_something_else,
    quoted,
    slip,
)
from nightwatch_core.rules.names import renamed_in

_MARK = {"python": "=", "ruby": ":", "php": ":"}  # between a keyword and its value


def wrong_arguments(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Compare the call's keyword with the only function that can be meant."""
    if called := _called(symptom, failing, context):
        return called
    function = re.split(r"[.:\\]+", symptom.name)[-1]
    keyword = symptom.keyword
    defined = definitions(function, failing.language, context.code) if function else None
    is_one = defined is not None and len(defined.hits) == 1 and defined.complete
    definition = defined.hits[0] if defined and is_one and uses(function, failing.text) else None
    written = _written(definition, context) if definition else {}
    is_meant = keyword and keyword not in written
    if not definition or not is_meant or any(part.startswith("**") for part in written.values()):
        what = f"`{function}`" if function else "the function that it calls"
        return Finding(
            value=_complaint(symptom),
            steps=(f"Compare the call in {failing.place} with the signature of {what}.",),
            tags=("wrong-arguments",),
        )
    place = f"{definition.path}:{definition.line}"
    takes = ", ".join(written)
    fact = f"`{function}` in {place} takes {takes or 'no arguments'}."
    return Finding(
        because=(
            f"{failing.place} calls `{function}` with arguments that its signature in {place} "
            f"does not accept ({_complaint(symptom)}); it accepts {takes or 'nothing'}.",
        ),
        evidence=(quoted(definition.path, definition.line, definition.text, "the signature"),),
        learnings=(Learning(fact=fact, path=definition.path, line=definition.line),),
        steps=(f"Make the call in {failing.place} fit the signature in {place}.",),
        subject=f"call of `{function}` does not fit its signature",
        explained=True,
    ) + _renamed(keyword, function, definition, failing, context)


def _called(symptom: Symptom, failing: FailingLine, context: Context) -> Finding | None:
    """Say who calls a function with a wrong number: Ruby raises it where the function begins."""
    own = re.match(r"\s*(?:\w+ )?def (?:self\.)?(\w+[?!=]?)", failing.text)
    trace = context.case.trace
    frames = trace.root.frames if trace else ()
    if not (own and failing.seen and failing.language.name == "ruby" and len(frames) > 1):
        return None
    if not (frames[0].line == failing.line and frames[0].in_app and symptom.expected):
        return None
    name, caller = f"`{own[1]}`", frames[1]
    return Finding(
        because=(
            f"{name} in {failing.place} is called with another number of arguments than it takes: "
            f"{_complaint(symptom)}. {caller.place} (`{caller.function}`) calls it.",
        ),
        steps=(f"Make the signature of {name} in {failing.place} fit the call in {caller.place}.",),
        tags=("wrong-arguments",),
        subject=f"{name} is called with another number of arguments",
        explained=True,
    )


def _complaint(symptom: Symptom) -> str:
    if symptom.keyword:
        return f"unknown keyword `{symptom.keyword}`"
    if symptom.missing:
        return f"missing {symptom.missing}"
    if symptom.expected:
        return f"given {symptom.given}, expected {symptom.expected}"
    return symptom.text.split(": ", 1)[-1][:200] or "wrong arguments"


def _written(definition: SearchHit, context: Context) -> dict[str, str]:
    """Return the parameters of a function, as written, by their bare names."""
    start = definition.line
    parts = parameters(context.code.lines(definition.path, start, start + 20), start)
    named = ((re.search(r"\$(\w+)", part) or re.match(r"[*&]*(\w+)", part), part) for part in parts)
    return {match[1]: part for match, part in named if match}


def _renamed(
    keyword: str, function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> Finding:
    free, needed = _unfilled(function, definition, failing, context)
    alone = [name for name in free if [name] in (free, needed)]
    names = [name for name in free if likeness(keyword, name) >= ALIKE or name in alone]
    changes = {name: _replaced_by(keyword, name, definition, context) for name in names}
    sound = [
        name
        for name, made in changes.items()
        if slip(keyword, name)
        or (made and not means_something_else(keyword, name))
        or (made and context.only_renamed(keyword, name, definition.path, made[0]))
    ]
    if len(sound) != 1 or failing.language.name not in _MARK:
        told = [(name, made) for name, made in changes.items() if made]
        if len(told) != 1:
            return Finding()  # neither the spelling nor a change decides
        name, made = told[0]  # it broke the call, whatever the call means
        return Finding(
            because=(f"{made[1]}.",),
            changed=((definition.path, made[0]),),
            steps=(f"Check whether `{keyword}` means `{name}`.",),
        )
    new, change = sound[0], changes[sound[0]]
    called = "is now called" if change else "should read"
    why = change[1] if change else "a typing error"
    statement = f"keyword `{keyword}` {called} `{new}`"
    return Finding(
        because=(f"The keyword `{keyword}` {called} `{new}`: {why}.",),
        edits=_edits(keyword, new, function, failing, context),
        changed=((definition.path, change[0]),) if change else (),
        hypotheses=(Hypothesis(statement=statement, standing="confirmed", because=why),),
        tags=("renamed-symbol" if change else "misspelt-name",),
    )


def _unfilled(
    function: str, definition: SearchHit, failing: FailingLine, context: Context
) -> tuple[list[str], list[str]]:
    """Return the parameters that the call leaves open, and those of them without a default."""
    given = _given(function, failing)
    named = {match[1] for part in given if (match := re.match(r"(\w+)\s*(?:=|:(?!:))", part))}
    written = [*_written(definition, context).items()][len(given) - len(named) :]
    single = [(name, part) for name, part in written if not part.startswith(("*", "&"))]
    free = {name: part for name, part in single if name not in named}
    optional = r"=|:\s*\S+\s*=" if failing.language.name != "ruby" else r"=|:\s*\S"
    return [*free], [name for name, part in free.items() if not re.search(optional, part)]


def _replaced_by(
    keyword: str, name: str, definition: SearchHit, context: Context
) -> tuple[int, str] | None:
    """Return the parameter's line, and the change that replaced the keyword there."""
    start = definition.line
    lines = context.code.lines(definition.path, start, start + 20)
    own = next((n for n in range(start, start + 20) if uses(name, lines.get(n, ""))), start)
    why = context.replaced(keyword, name, definition.path, own)
    return (own, why) if why else None


def _given(function: str, failing: FailingLine) -> tuple[str, ...]:
    call = re.search(rf"(?<![\w$]){re.escape(function)}\s*\(", failing.text)
    return arguments(failing.lines, failing.line, call.end() - 1) if call else ()


def _edits(
    keyword: str, new: str, function: str, failing: FailingLine, context: Context
) -> tuple[Edit, ...]:
    calls = callers(function, context.code)
    if not failing.seen or not calls.complete:
        return ()
    mark = re.escape(_MARK[failing.language.name])
    pattern = re.compile(rf"(?<![\w$.]){re.escape(keyword)}(?=\s*{mark}(?![=:]))")
    rows = (n for n in range(failing.line, failing.line + 30) if n in failing.lines)
    own = next((n for n in rows if pattern.search(failing.lines[n])), None)
    named = (part.split("=")[0].split(":")[0] for part in _given(function, failing))
    if own is None or not any(uses(keyword, part) for part in named):
        return ()
    hits = ((hit.path, hit.line) for hit in calls.hits if pattern.search(hit.text))
    description = f"pass `{new}` instead of `{keyword}`"
    places = {(failing.path, own), *hits}
    return renamed_in(places, keyword, new, description, context, pattern.pattern)
