"""Names that nothing defines: misspelt, renamed, moved, not imported, or of another type."""

import re

from nightwatch_core.code.line_reading import parameters, uses
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, quoted
from nightwatch_core.rules.imports import is_import, missing_own, missing_standard, moved
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.owners import module_file, owner_of
from nightwatch_core.rules.renamed_exports import renamed_export
from nightwatch_core.rules.renames import renamed
from nightwatch_core.rules.similar_names import (
    Candidate,
    candidate,
    definitions,
    similar_anywhere,
    similar_in_file,
    suggested,
)

_LOCAL = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(?P<name>\w+)\s*(?::[^=]+)?=(?![=>])")


def undefined_name(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a bare name: its import is missing, it is misspelt, or a function was renamed."""
    name = symptom.name
    known = missing_standard(name, failing, context)
    if known:
        return known
    own = [one for one in _locals(name, failing) if one.misspelt]
    if len(own) == 1:
        return _subject(renamed(name, tuple(own), failing, context, member=False), name)
    defined = definitions(name, failing.language, context.code)
    if defined.hits:
        return _defined_elsewhere(name, defined.hits, defined.complete, failing, context)
    candidates = similar_in_file(name, failing.path, context.code) if failing.seen else ()
    others = similar_anywhere(name, context.code)
    candidates = _together(
        candidates, tuple(one for one in others if _visible(one, failing, context))
    )
    candidates = _suggested_first(symptom, candidates, failing, context)
    finding = renamed(name, candidates, failing, context, member=False)
    return _subject(finding if defined.complete else finding.model_copy(update={"edits": ()}), name)


def unknown_member(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a member its receiver lacks: renamed, misspelt, or the receiver is another."""
    name = symptom.name
    defined = definitions(name, failing.language, context.code)
    owner = owner_of(symptom, failing, context)
    if defined.hits:
        return _on_another(name, defined.hits[0], symptom, owner, failing)
    taken = _taken(symptom, failing, context)
    if taken:
        return taken
    candidates = (
        similar_in_file(name, owner.path, context.code)
        if owner
        else similar_anywhere(name, context.code)
    )
    candidates = _suggested_first(symptom, candidates, failing, context)
    if symptom.module:  # a module's members stand at its top level
        candidates = tuple(one for one in candidates if not one.place.text.startswith((" ", "\t")))
    finding = renamed(name, candidates, failing, context, member=True)
    if not defined.complete or owner is None:
        finding = finding.model_copy(update={"edits": ()})
    if owner and not finding.explained:
        finding = finding + _owner_lacks(name, symptom, owner)
    return _subject(finding, name)


def broken_import(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain an import whose name or module is not there."""
    if not symptom.name:
        missing = symptom.module or symptom.owner
        return Finding(
            because=(f"{failing.place or 'The code'} loads `{missing}`, which cannot be defined.",),
            hypotheses=(
                hypothesis(
                    f"`{missing}` is not installed where this ran, or was moved",
                    because="the trace does not say which",
                ),
            ),
            steps=(
                f"Check that `{missing}` is among the installed dependencies of the release.",
                "Check whether it was moved or renamed, and who still loads the old name.",
            ),
            subject=f"`{missing}` cannot be loaded",
        )
    name = symptom.name
    defined = definitions(name, failing.language, context.code)
    if len(defined.hits) == 1 and defined.complete and symptom.owner:
        return moved(name, symptom.owner, defined.hits[0], failing, context)
    if defined.hits:
        return _defined_elsewhere(name, defined.hits, False, failing, context)
    taken = _taken(symptom, failing, context)
    if taken:
        return taken
    owner = module_file(symptom.owner, context)
    candidates = similar_in_file(name, owner, context.code) if owner else ()
    candidates = candidates or similar_anywhere(name, context.code)
    candidates = _suggested_first(symptom, candidates, failing, context)
    return _subject(renamed(name, candidates, failing, context, member=False), name)


def unbound_local(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a local name that only some ways through the function give a value."""
    name = symptom.name
    given = [
        number
        for number, text in failing.lines.items()
        if failing.top <= number < failing.line
        and (match := _LOCAL.match(text))
        and match["name"] == name
    ]
    note = "gives the name a value on this way only"
    return Finding(
        because=(
            f"`{name}` is read in {failing.place} before every way through the function gives it a "
            "value" + (f"; it is set in line {', '.join(map(str, given))} only." if given else "."),
        ),
        evidence=tuple(quoted(failing.path, n, failing.lines[n], note) for n in given[:3]),
        steps=(
            f"Find the way through {failing.function or 'the function'} that leaves `{name}` out.",
        ),
        tags=("unbound-local",),
        subject=f"`{name}` has no value yet",
        explained=bool(given),
    )


def _locals(name: str, failing: FailingLine) -> tuple[Candidate, ...]:
    """Names of the function around the failing line that are like this one."""
    if not failing.top:
        return ()
    candidates: dict[str, Candidate] = {}
    for number in range(failing.top, failing.line):
        text = failing.lines.get(number, "")
        sets = _LOCAL.match(text)
        names = parameters(failing.lines, number) if number == failing.top else ()
        plain = [re.split(r"[:=\s]", part)[0].lstrip("*&$") for part in names]
        for other in (*plain, *((sets["name"],) if sets else ())):
            place = SearchHit(path=failing.path, line=number, text=text)
            if other and other != name:
                candidates.setdefault(other, candidate(name, other, place))
    return tuple(candidates.values())


def _visible(one: Candidate, failing: FailingLine, context: Context) -> bool:
    """Whether the file can use the name as it is: no language rule, or an import, forbids it."""
    if one.place.path == failing.path or failing.language.name not in ("python", "javascript"):
        return True
    lines = context.code.whole(failing.path) if failing.seen else None
    return any(is_import(text) and uses(one.name, text) for text in lines or ())


def _together(*groups: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    once = {one.name: one for group in reversed(groups) for one in group}
    return tuple(sorted(once.values(), key=lambda one: (-one.ratio, one.name)))


def _taken(symptom: Symptom, failing: FailingLine, context: Context) -> Finding | None:
    """The finding for a name that a JavaScript file takes out of another; None for all others."""
    if failing.language.name != "javascript" or symptom.receiver or symptom.owner:
        return None
    finding = renamed_export(symptom.name, failing, context)
    return _subject(finding, symptom.name) if finding else None


def _suggested_first(
    symptom: Symptom, candidates: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> tuple[Candidate, ...]:
    """The candidates behind the one that the message itself suggests."""
    first = suggested(symptom.name, symptom.meant, failing.language, context.code)
    return first + tuple(one for one in candidates if one.name not in [two.name for two in first])


def _defined_elsewhere(
    name: str, hits: tuple[SearchHit, ...], complete: bool, failing: FailingLine, context: Context
) -> Finding:
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits[:3])
    if len(hits) == 1 and complete and failing.seen:
        known = missing_own(name, hits[0], failing, context)
        if known:
            return known
    return Finding(
        because=(f"`{name}` is defined in {places}, but {failing.path} cannot see it there.",),
        evidence=tuple(quoted(h.path, h.line, h.text, f"defines {name}") for h in hits[:2]),
        hypotheses=(
            hypothesis(
                f"{failing.path} does not import or load `{name}`",
                because=f"it is defined in {places}",
            ),
        ),
        steps=(f"Check how {failing.path} is meant to reach `{name}` ({places}).",),
        tags=("missing-import",),
        subject=f"`{name}` is not visible",
    )


def _on_another(
    name: str, hit: SearchHit, symptom: Symptom, owner: SearchHit | None, failing: FailingLine
) -> Finding:
    whose = f"`{symptom.owner or symptom.receiver or 'the receiver'}`"
    place = f"{hit.path}:{hit.line}"
    return Finding(
        because=(f"`{name}` is defined in {place}, but {whose} does not have it.",),
        evidence=(quoted(hit.path, hit.line, hit.text, f"`{name}` as it is defined"),),
        hypotheses=(
            hypothesis(
                f"the receiver in {failing.place} is another type than the caller expects",
                because=f"{place} defines `{name}`, and {whose} was given",
            ),
        ),
        learnings=(
            Learning(fact=f"`{name}` is defined in {place}.", path=hit.path, line=hit.line),
        ),
        steps=(f"Find out why {whose} reaches {failing.place}.",),
        tags=("wrong-type",),
        subject=f"{whose} has no `{name}`",
        explained=True,
    )


def _owner_lacks(name: str, symptom: Symptom, owner: SearchHit) -> Finding:
    whose = symptom.owner or symptom.module or symptom.receiver
    return Finding(
        because=(f"`{whose}` ({owner.path}) does not define `{name}`.",),
        evidence=(quoted(owner.path, owner.line, owner.text, "the receiver"),)
        if owner.text
        else (),
        explained=True,
    )


def _subject(finding: Finding, name: str) -> Finding:
    because = () if finding.because else (f"Nothing that was read defines `{name}`.",)
    steps = () if finding.steps else (f"Search the history for when `{name}` was last defined.",)
    return finding + Finding(because=because, steps=steps, subject=f"`{name}` is not defined")
