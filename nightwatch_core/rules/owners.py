"""Finds where the class or module of a receiver is defined."""

import re

from nightwatch_core.code.line_reading import receivers_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.similar_names import definitions


def owner_of(symptom: Symptom, failing: FailingLine, context: Context) -> SearchHit | None:
    """Find where the receiver's class or module is defined; None where that is not one place."""
    if symptom.module:
        path = module_file(symptom.module, context)
        return SearchHit(path=path, line=1, text="") if path else None
    name = re.split(r"[.:\\]+", symptom.owner)[-1]
    if name:
        defined = definitions(name, failing.language, context.code)
        hits = [h for h in defined.hits if re.match(r"\s*+(?:[\w ]+\s)?(?:class|module)\b", h.text)]
        return hits[0] if len(hits) == 1 else None
    named = (symptom.receiver,) if symptom.receiver else ()
    receivers = named or receivers_of(symptom.name, failing.text, failing.language)
    return _imported(receivers[0], failing, context) if receivers else None


def module_file(dotted: str, context: Context) -> str:
    """Give the file of a dotted module, found among the lines that a search for its name shows."""
    if not re.fullmatch(r"[A-Za-z_][\w.]*", dotted):
        return ""
    path = f"{dotted.replace('.', '/')}.py"
    context.code.lines(path, 1, 20)
    known = context.code.resolved(path)
    return known if context.code.exists(known) and known.endswith(path) else ""


def _imported(receiver: str, failing: FailingLine, context: Context) -> SearchHit | None:
    """The file that a JavaScript module name stands for."""
    lines = context.code.whole(failing.path) if failing.seen else None
    for text in lines or ():
        match = re.match(
            rf"\s*(?:import|const|let|var)\s.*\b{re.escape(receiver)}\b.*['\"](\.[^'\"]+)['\"]",
            text[:500],
        )
        if match:
            return relative_file(match[1], failing.path, context)
    return None


def relative_file(target: str, origin: str, context: Context) -> SearchHit | None:
    """Find the file that a relative JavaScript import at `origin` means; None where it is gone."""
    parts = origin.split("/")[:-1]
    for step in target.split("/"):
        parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
    path = "/".join(parts)
    suffix = "" if "." in path.rsplit("/", 1)[-1] else f".{origin.rsplit('.', 1)[-1]}"
    context.code.lines(path + suffix, 1, 20)
    known = context.code.exists(path + suffix)
    return SearchHit(path=path + suffix, line=1, text="") if known else None
