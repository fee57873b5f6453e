"""Members that a receiver lacks: renamed, misspelt, not set yet, or not loaded."""

import re

from nightwatch_core.code.definitions import definitions_in, functions_around
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.tool_values import HitsFound
from nightwatch_core.rules.findings import FailingLine, Finding, or_else, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import LINE, WRITING_LINES
from nightwatch_core.rules.none_attributes import setting_lines
from nightwatch_core.rules.owners import owner_of
from nightwatch_core.rules.renamed_exports import renamed_export
from nightwatch_core.rules.renames import renamed
from nightwatch_core.rules.similar_names import (
    Candidate,
    definitions,
    similar_anywhere,
    similar_in_file,
    suggested,
)

_BUILT_IN = frozenset(
    (
        *("String", "Array", "Hash", "Integer", "Float", "Object", "Symbol", "Range", "Set"),
        *("Time", "Date", "Module", "Class", "Kernel", "str", "list", "dict", "int", "object"),
    )
)


def unknown_member(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a member its receiver lacks, where one thing is proved; hand on what is defined."""
    name = symptom.name
    defined = definitions(name, failing.language, context.code)
    owner = owner_of(symptom, failing, context)
    if defined.hits:
        return _defined(name, defined, symptom, owner, failing, context)
    taken = taken_out(symptom, failing, context)
    if taken:
        return taken
    if owner and owner.text and symptom.owner in _BUILT_IN:
        return _lacks(name, symptom)  # what it has besides is not in the repository
    candidates = (
        _of_owner(similar_in_file(name, owner.path, context.code), symptom, owner, context)
        if owner
        else similar_anywhere(name, context.code)
    )
    candidates = suggested_first(symptom, candidates, failing, context)
    finding = renamed(name, candidates, failing, context, member=True)
    if not defined.complete or owner is None:
        finding = _only_to_look_at(finding, candidates)
    return or_else(finding, _lacks(name, symptom))


def taken_out(symptom: Symptom, failing: FailingLine, context: Context) -> Finding | None:
    """Explain a name that a JavaScript file takes out of another; None for all others."""
    if failing.language.name != "javascript" or symptom.receiver or symptom.owner:
        return None
    finding = renamed_export(symptom.name, failing, context)
    return or_else(finding, _lacks(symptom.name, symptom)) if finding else None


def suggested_first(
    symptom: Symptom, candidates: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> tuple[Candidate, ...]:
    """Give the candidates behind the one that the message itself suggests."""
    first = suggested(symptom.name, symptom.meant, failing.language, context.code)
    return first + tuple(one for one in candidates if one.name not in [two.name for two in first])


def _lacks(name: str, symptom: Symptom) -> Finding:
    whose = symptom.owner or symptom.module or symptom.receiver
    alone = "is no function" if "is not a " in symptom.text else "is not defined"
    subject = f"`{whose}` has no `{name}`" if whose else f"`{name}` {alone}"
    return Finding(
        subject=subject,
        value=subject,
        unknown=f"why {subject}",
        steps=(f"Search the history for when `{name}` was last defined.",),
    )


def _only_to_look_at(finding: Finding, candidates: tuple[Candidate, ...]) -> Finding:
    """What is only alike, of a receiver that is not known: no cause."""
    if not finding.explained:
        return finding
    one = candidates[0]
    step = f"Check whether `{one.name}` ({one.place.path}:{one.place.line}) is meant."
    return Finding(steps=(step,), tags=("undefined-name",))


def _of_owner(
    candidates: tuple[Candidate, ...], symptom: Symptom, owner: SearchHit, context: Context
) -> tuple[Candidate, ...]:
    """Those of the class itself; of a module, those at its top level."""
    if symptom.module:
        return tuple(one for one in candidates if not one.place.text.startswith((" ", "\t")))
    if not owner.text:
        return candidates
    text = "\n".join(context.code.whole(owner.path) or ())
    end = next((d.end for d in definitions_in(owner.path, text) if d.line == owner.line), 0)
    return tuple(one for one in candidates if owner.line < one.place.line <= end)


def _defined(
    name: str,
    defined: HitsFound,
    symptom: Symptom,
    owner: SearchHit | None,
    failing: FailingLine,
    context: Context,
) -> Finding:
    """The name is defined somewhere: not on this receiver, or not yet."""
    late = _set_later(name, symptom, owner, failing, context) or _not_loaded(
        name, defined, symptom, failing, context
    )
    if late:
        return or_else(late, _lacks(name, symptom))
    members = [hit for hit in defined.hits if _is_member(name, hit, failing)]
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in members[:3])
    steps = (f"`{name}` is defined in {places}: check whether that was expected here.",)
    return Finding(steps=steps if members else (), tags=("wrong-type",)) + _lacks(name, symptom)


def _is_member(name: str, hit: SearchHit, failing: FailingLine) -> bool:
    """Whether a line defines a method or an attribute, no variable, key or function of its own."""
    own, text = re.escape(name), hit.text[:LINE]
    if language_of(hit.path) != failing.language:
        return False
    if failing.language.name == "javascript":
        return bool(re.search(rf"(?:prototype|this)\.{own}\s*=(?!=)", text))
    if failing.language.name == "python":
        return bool(re.match(rf"\s+(?:async\s+)?def\s+{own}\b|\s+self\.{own}\s*[:=]", text))
    return True


def _set_later(
    name: str, symptom: Symptom, owner: SearchHit | None, failing: FailingLine, context: Context
) -> Finding | None:
    """An attribute that only other methods of the class set: they had not run for this object."""
    if failing.language.name != "python" or owner is None or not owner.text:
        return None
    at = failing.model_copy(update={"path": owner.path})
    sets = setting_lines(name, at, context)
    text = "\n".join(context.code.whole(owner.path) or ())
    end = next((d.end for d in definitions_in(owner.path, text) if d.line == owner.line), 0)
    if not sets or len(sets) > WRITING_LINES:
        return None
    is_own = rf"\s*self\.{re.escape(name)}\s*(?::[^=]+)?=(?!=)"
    if not all(owner.line < h.line <= end and re.match(is_own, h.text) for h in sets):
        return None
    methods = [functions_around(owner.path, text, hit.line) for hit in sets]
    if not all(methods) or any(around[-1].name in ("__new__", "__init__") for around in methods):
        return None
    places = " and ".join(
        f"{hit.path}:{hit.line} (`{around[-1].name}`)"
        for hit, around in zip(sets, methods, strict=True)
    )
    return Finding(
        because=(
            f"`{symptom.owner}` gets `{name}` only in {places}, which had not run for the object "
            f"that {failing.place} asks.",
        ),
        evidence=tuple(quoted(h.path, h.line, h.text, f"sets `{name}`") for h in sets),
        subject=f"`{name}` is not set yet",
        steps=(f"Set `{name}` where `{symptom.owner}` is made, or find who leaves that out.",),
        explained=True,
    )


def _not_loaded(
    name: str, defined: HitsFound, symptom: Symptom, failing: FailingLine, context: Context
) -> Finding | None:
    """A Ruby module has the method in a file that is not required where it is asked for."""
    is_module = re.search(r" for (?:module |class )?([A-Z]\w*)(?::Module|:Class|$)", symptom.text)
    if failing.language.name != "ruby" or not is_module or not defined.complete:
        return None
    hit = defined.hits[0]
    text = "\n".join(context.code.whole(hit.path) or ())
    around = [
        one.name
        for one in definitions_in(hit.path, text)
        if one.kind == "class" and one.line < hit.line <= one.end
    ]
    own = re.match(rf"\s*def\s+self\.{re.escape(name)}(?![\w?!])", hit.text)
    if (
        len(defined.hits) != 1
        or not own
        or around[-1:] != [is_module[1]]
        or hit.path == failing.path
    ):
        return None
    stem = hit.path.removesuffix(".rb").split("/lib/")[-1].removeprefix("lib/")
    lines = context.code.whole(failing.path)
    if lines is None or any("require" in row and stem in row for row in lines):
        return None
    return Finding(
        because=(
            f"`{is_module[1]}.{name}` is defined in {hit.path}:{hit.line} alone, which was not "
            f"loaded when {failing.place} asked for it; {failing.path} does not require it.",
        ),
        evidence=(quoted(hit.path, hit.line, hit.text, f"defines `{name}`"),),
        subject=f"`{is_module[1]}.{name}` is not loaded",
        steps=(f"Require {stem} where {failing.path} begins.",),
        explained=True,
    )
