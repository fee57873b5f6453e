"""Imports of names or modules that are not there."""

from nightwatch_core.code.definitions import definitions_in
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.rules.findings import FailingLine, Finding, module_file, quoted
from nightwatch_core.rules.imports import moved
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.names import renamed, suggested_first, taken_out
from nightwatch_core.rules.similar_names import definitions, similar_in_file


def broken_import(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain an import whose name or module is not there."""
    if not symptom.name:
        return _missing_module(symptom)
    name = symptom.name
    path = module_file(symptom.owner, context) if symptom.owner else ""
    lines = context.code.whole(path) if path else None
    if lines is not None and symptom.owner:
        own = [one for one in definitions_in(path, "\n".join(lines)) if one.name == name]
        if own:
            return _circular(symptom, path, own[0].line, lines, context)
    defined = definitions(name, failing.language, context.code)
    top = [hit for hit in defined.hits if not hit.text.startswith((" ", "\t"))]
    if len(defined.hits) == 1 and top and defined.complete and lines is not None:
        return moved(name, symptom.owner, top[0], failing, context)
    rest = _unknown(symptom)
    if defined.hits:
        places = ", ".join(f"{hit.path}:{hit.line}" for hit in defined.hits[:3])
        return Finding(steps=(f"`{name}` is defined in {places}.",)) + rest
    taken = taken_out(symptom, failing, context)
    if taken:
        return taken
    candidates = similar_in_file(name, path, context.code) if path else ()
    candidates = suggested_first(symptom, candidates, failing, context)
    return renamed(name, candidates, failing, context, member=False) + rest


def _missing_module(symptom: Symptom) -> Finding:
    missing = symptom.module or symptom.owner
    return Finding(
        value=f"`{missing}` cannot be loaded",
        unknown=f"why `{missing}` cannot be loaded",
        tags=("import",),
        steps=(
            f"Check that `{missing}` is among the installed dependencies of the release.",
            "Check whether it was moved or renamed, and who still loads the old name.",
        ),
    )


def _unknown(symptom: Symptom) -> Finding:
    what = f"`{symptom.name}`" + (f" of `{symptom.owner}`" if symptom.owner else "")
    return Finding(
        subject=f"`{symptom.name}` is not defined",
        value=f"{what} cannot be imported",
        unknown=f"why {what} cannot be imported",
        tags=("import",),
    )


def _circular(
    symptom: Symptom, path: str, line: int, lines: tuple[str, ...], context: Context
) -> Finding:
    """The module does define the name: it was imported before it came to that line."""
    if "partially initialized" not in symptom.text:
        return _unknown(symptom)
    inside = next((f for f in context.app_frames if (f.repo_path or f.path) == path), None)
    by = f"; {path}:{inside.line} was being run, which led to it" if inside else ""
    return Finding(
        because=(
            f"The imports are circular: `{symptom.name}` is defined in {path}:{line}, and "
            f"`{symptom.owner}` had not come to that line when the name was asked for{by}.",
        ),
        evidence=(quoted(path, line, lines[line - 1], f"defines `{symptom.name}`"),),
        tags=("import", "circular-import"),
        subject=f"`{symptom.name}` is imported in a circle",
        steps=(f"Break the circle between {path} and what it imports.",),
        explained=True,
    )
