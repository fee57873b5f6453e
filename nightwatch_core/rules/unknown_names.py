"""Names that nothing visible defines: misspelt, renamed, moved, not imported, or not set yet."""

import re

from nightwatch_core.code.bindings import functions_around, parameter_names, sets_of
from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.line_reading import parameters, uses
from nightwatch_core.code.statements import statement_at
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, or_else, quoted
from nightwatch_core.rules.import_rows import importers, is_import
from nightwatch_core.rules.imports import missing_own, missing_standard
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.none_receivers import tree_of
from nightwatch_core.rules.renames import renamed
from nightwatch_core.rules.similar_names import (
    Candidate,
    candidate,
    definitions,
    similar_anywhere,
    similar_in_file,
)
from nightwatch_core.rules.unknown_members import suggested_first

_LOCAL = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(?P<name>\w+)\s*(?::[^=]+)?=(?![=>])")
_STAR = re.compile(r"\s*from\s+\S+\s+import\s+\*")


def undefined_name(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a bare name: its import is missing, it is misspelt, or a function was renamed."""
    name = symptom.name
    known = missing_standard(name, failing, context)
    if known:
        return known
    own = [one for one in _locals(name, failing) if one.misspelt]
    if len(own) == 1:
        finding = renamed(name, tuple(own), failing, context, member=False)
        return or_else(finding, _undefined(name))
    defined = definitions(name, failing.language, context.code)
    if len(defined.hits) == 1 and defined.complete and failing.seen:
        known = missing_own(name, defined.hits[0], failing, context)
        if known:
            return known
    finding = Finding()
    if not defined.hits:
        candidates = _candidates(symptom, failing, context)
        finding = renamed(name, candidates, failing, context, member=False)
    if not finding.explained:
        finding = _unbound(name, failing, context) + finding
        finding = or_else(finding, _elsewhere(name, defined.hits))
    if not defined.complete:
        finding = finding.model_copy(update={"edits": ()})
    return or_else(finding, _undefined(name))


def unbound_local(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a local name that only some ways through the function give a value."""
    name, root = symptom.name, tree_of(failing, context)
    at = statement_at(root, failing.line - 1) if root else None
    function = next(functions_around(at), None) if at else None
    rows = {one.start_point[0] + 1 for one in sets_of(function, name)} if function else set()
    given = sorted(rows)[:3]
    lines = context.code.whole(failing.path) or ()
    note = f"sets `{name}`, and was not run"
    many = " and ".join(f"{failing.path}:{line}" for line in given)
    return Finding(
        because=(
            f"`{name}` has no value yet in {failing.place}: of the function only {many} sets it, "
            "and that was not run before.",
        )
        if len(rows) == len(given)
        else (),
        evidence=tuple(quoted(failing.path, n, lines[n - 1], note) for n in given),
        steps=(
            f"Find the way through {failing.function or 'the function'} that leaves `{name}` out.",
        ),
        tags=("unbound-local",),
        subject=f"`{name}` has no value yet",
        value=f"`{name}` has no value yet",
        explained=bool(given) and len(rows) == len(given),
    )


def _undefined(name: str) -> Finding:
    return Finding(
        subject=f"`{name}` is not defined",
        value=f"`{name}` is not defined",
        unknown=f"what `{name}` stands for",
        steps=(f"Search the history for when `{name}` was last defined.",),
    )


def _unbound(name: str, failing: FailingLine, context: Context) -> Finding:
    """Nothing that the line can see binds the name: by the file's whole tree."""
    root, lines = tree_of(failing, context), context.code.whole(failing.path)
    if root is None or not lines or failing.language.name not in ("python", "javascript"):
        return Finding()
    at = statement_at(root, failing.line - 1)
    if at is None or any(map(_STAR.match, lines)):
        return Finding()
    key = re.compile(rf"\s*['\"]?{re.escape(name)}['\"]?\s*:")  # of an object: binds nothing
    defined = {
        one.name
        for one in definitions_in(failing.path, "\n".join(lines))
        if not key.match(lines[one.line - 1])
    }
    around = (*functions_around(at), root)
    bound = any(name in parameter_names(one) or any(sets_of(one, name)) for one in around)
    if name in defined or bound or any(is_import(row) and uses(name, row) for row in lines):
        return Finding()
    elsewhere, shown = importers(name, failing, context)
    return Finding(
        because=(
            f"{failing.place} uses `{name}`, and nothing that it can see in {failing.path} defines "
            f"or imports it{elsewhere}.",
        ),
        evidence=shown,
        explained=True,
    )


def _elsewhere(name: str, hits: tuple[SearchHit, ...]) -> Finding:
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits[:3])
    step = f"`{name}` is defined in {places}: check whether one of them is meant."
    return Finding(steps=(step,)) if hits else Finding()


def _candidates(symptom: Symptom, failing: FailingLine, context: Context) -> tuple[Candidate, ...]:
    name = symptom.name
    own = similar_in_file(name, failing.path, context.code) if failing.seen else ()
    others = similar_anywhere(name, context.code)
    both = _together(own, tuple(one for one in others if _visible(one, failing, context)))
    return suggested_first(symptom, both, failing, context)


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
