"""Names that nothing defines: misspelt, renamed, moved, not imported, or of another type."""

import re

from nightwatch_core.code.source import parameters, uses
from nightwatch_core.models.analysis import Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.context import Context
from nightwatch_core.rules.destructured import renamed_export
from nightwatch_core.rules.finding import Finding, Site, quoted
from nightwatch_core.rules.imports import is_import, missing_own, missing_standard, moved
from nightwatch_core.rules.owners import module_file, owner_of
from nightwatch_core.rules.renames import renamed
from nightwatch_core.rules.symbols import (
    Candidate,
    candidate,
    definitions,
    similar_anywhere,
    similar_in_file,
    suggested,
)
from nightwatch_core.rules.symptoms import Symptom

_LOCAL = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(?P<name>\w+)\s*(?::[^=]+)?=(?![=>])")


def undefined_name(symptom: Symptom, site: Site, context: Context) -> Finding:
    """A bare name: an import that is missing, a local name misspelt, or a function renamed."""
    name = symptom.name
    known = missing_standard(name, site, context)
    if known:
        return known
    own = [one for one in _locals(name, site) if one.misspelt]
    if len(own) == 1:
        return _subject(renamed(name, tuple(own), site, context, member=False), name)
    found = definitions(name, site.language, context.code)
    if found.hits:
        return _defined_elsewhere(name, found.hits, found.complete, site, context)
    candidates = similar_in_file(name, site.path, context.code) if site.seen else ()
    others = similar_anywhere(name, context.code)
    candidates = _together(candidates, tuple(one for one in others if _visible(one, site, context)))
    candidates = _told_first(symptom, candidates, site, context)
    finding = renamed(name, candidates, site, context, member=False)
    return _subject(finding if found.complete else finding.model_copy(update={"edits": ()}), name)


def unknown_member(symptom: Symptom, site: Site, context: Context) -> Finding:
    """A member its receiver does not have: renamed, misspelt, or the receiver is something else."""
    name = symptom.name
    found = definitions(name, site.language, context.code)
    owner = owner_of(symptom, site, context)
    if found.hits:
        return _on_another(name, found.hits[0], symptom, owner, site)
    taken = _taken(symptom, site, context)
    if taken:
        return taken
    candidates = (
        similar_in_file(name, owner.path, context.code)
        if owner
        else similar_anywhere(name, context.code)
    )
    candidates = _told_first(symptom, candidates, site, context)
    if symptom.module:  # a module's members stand at its top level
        candidates = tuple(one for one in candidates if not one.place.text.startswith((" ", "\t")))
    finding = renamed(name, candidates, site, context, member=True)
    if not found.complete or owner is None:
        finding = finding.model_copy(update={"edits": ()})
    if owner and not finding.explained:
        finding = finding + _owner_lacks(name, symptom, owner)
    return _subject(finding, name)


def broken_import(symptom: Symptom, site: Site, context: Context) -> Finding:
    """An import whose name or module is not there."""
    if not symptom.name:
        missing = symptom.module or symptom.owner
        return Finding(
            because=(f"{site.place or 'The code'} loads `{missing}`, which cannot be found.",),
            hypotheses=(
                Hypothesis(
                    statement=f"`{missing}` is not installed where this ran, or was moved",
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
    found = definitions(name, site.language, context.code)
    if len(found.hits) == 1 and found.complete and symptom.owner:
        return moved(name, symptom.owner, found.hits[0], site, context)
    if found.hits:
        return _defined_elsewhere(name, found.hits, False, site, context)
    taken = _taken(symptom, site, context)
    if taken:
        return taken
    owner = module_file(symptom.owner, context)
    candidates = similar_in_file(name, owner, context.code) if owner else ()
    candidates = candidates or similar_anywhere(name, context.code)
    candidates = _told_first(symptom, candidates, site, context)
    return _subject(renamed(name, candidates, site, context, member=False), name)


def unbound_local(symptom: Symptom, site: Site, context: Context) -> Finding:
    """A local name that only some ways through the function give a value."""
    name = symptom.name
    given = [
        number
        for number, text in site.lines.items()
        if site.top <= number < site.line
        and (found := _LOCAL.match(text))
        and found["name"] == name
    ]
    note = "gives the name a value on this way only"
    return Finding(
        because=(
            f"`{name}` is read in {site.place} before every way through the function gives it a "
            "value" + (f"; it is set in line {', '.join(map(str, given))} only." if given else "."),
        ),
        evidence=tuple(quoted(site.path, n, site.lines[n], note) for n in given[:3]),
        steps=(
            f"Find the way through {site.function or 'the function'} that leaves `{name}` out.",
        ),
        tags=("unbound-local",),
        subject=f"`{name}` has no value yet",
        explained=bool(given),
    )


def _locals(name: str, site: Site) -> tuple[Candidate, ...]:
    """Names of the function around the failing line that are like this one."""
    if not site.top:
        return ()
    found: dict[str, Candidate] = {}
    for number in range(site.top, site.line):
        text = site.lines.get(number, "")
        sets = _LOCAL.match(text)
        names = parameters(site.lines, number) if number == site.top else ()
        plain = [re.split(r"[:=\s]", part)[0].lstrip("*&$") for part in names]
        for other in (*plain, *((sets["name"],) if sets else ())):
            place = SearchHit(path=site.path, line=number, text=text)
            if other and other != name:
                found.setdefault(other, candidate(name, other, place))
    return tuple(found.values())


def _visible(one: Candidate, site: Site, context: Context) -> bool:
    """Whether the file can use the name as it is: no language rule, or an import, forbids it."""
    if one.place.path == site.path or site.language.name not in ("python", "javascript"):
        return True
    lines = context.code.whole(site.path) if site.seen else None
    return any(is_import(text) and uses(one.name, text) for text in lines or ())


def _together(*groups: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    once = {one.name: one for group in reversed(groups) for one in group}
    return tuple(sorted(once.values(), key=lambda one: (-one.ratio, one.name)))


def _taken(symptom: Symptom, site: Site, context: Context) -> Finding | None:
    """The finding for a name that a JavaScript file takes out of another; None for all others."""
    if site.language.name != "javascript" or symptom.receiver or symptom.owner:
        return None
    found = renamed_export(symptom.name, site, context)
    return _subject(found, symptom.name) if found else None


def _told_first(
    symptom: Symptom, candidates: tuple[Candidate, ...], site: Site, context: Context
) -> tuple[Candidate, ...]:
    """The candidates behind the one that the message itself suggests."""
    told = suggested(symptom.name, symptom.meant, site.language, context.code)
    return told + tuple(one for one in candidates if one.name not in [t.name for t in told])


def _defined_elsewhere(
    name: str, hits: tuple[SearchHit, ...], complete: bool, site: Site, context: Context
) -> Finding:
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits[:3])
    if len(hits) == 1 and complete and site.seen:
        known = missing_own(name, hits[0], site, context)
        if known:
            return known
    return Finding(
        because=(f"`{name}` is defined in {places}, but {site.path} cannot see it there.",),
        evidence=tuple(quoted(h.path, h.line, h.text, f"defines {name}") for h in hits[:2]),
        hypotheses=(
            Hypothesis(
                statement=f"{site.path} does not import or load `{name}`",
                because=f"it is defined in {places}",
            ),
        ),
        steps=(f"Check how {site.path} is meant to reach `{name}` ({places}).",),
        tags=("missing-import",),
        subject=f"`{name}` is not visible",
    )


def _on_another(
    name: str, hit: SearchHit, symptom: Symptom, owner: SearchHit | None, site: Site
) -> Finding:
    whose = f"`{symptom.owner or symptom.receiver or 'the receiver'}`"
    place = f"{hit.path}:{hit.line}"
    return Finding(
        because=(f"`{name}` is defined in {place}, but {whose} does not have it.",),
        evidence=(quoted(hit.path, hit.line, hit.text, f"`{name}` as it is defined"),),
        hypotheses=(
            Hypothesis(
                statement=f"the receiver in {site.place} is another type than the caller expects",
                because=f"{place} defines `{name}`, and {whose} was given",
            ),
        ),
        learnings=(
            Learning(fact=f"`{name}` is defined in {place}.", path=hit.path, line=hit.line),
        ),
        steps=(f"Find out why {whose} reaches {site.place}.",),
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
