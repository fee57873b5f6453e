"""Explain names that code no longer finds: renamed or misspelt members, names never imported."""

import re
from collections.abc import Collection, Sequence

from nightwatch_core.code import syntax, value_flow
from nightwatch_core.code.definitions import (
    class_around,
    definitions_in,
    enclosing_functions,
    parameter_names,
    sets_of,
)
from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.models.answer import Edit, Evidence, Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import (
    CANDIDATES,
    EDITED_FILES,
    LINE,
    WORDS,
    Candidate,
    Context,
    FailingLine,
    Finding,
    callers,
    definitions,
    is_import,
    means_something_else,
    or_else,
    owner_of,
    quoted,
    similar_in_file,
    tree_of,
)
from nightwatch_core.rules.none import given_at

_NAMESPACES = frozenset(("Module", "Class", "Kernel"))
_STAR = re.compile(r"\s*from\s+\S+\s+import\s+\*")


def unknown_member(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a member that its receiver lacks, where it was renamed."""
    name, type_of = symptom.name, symptom.owner or symptom.module
    if not type_of or type_of in WORDS.built_in:
        return _of_value(symptom, failing, context)
    lacks = _undefined(name, f"`{type_of}` has no `{name}`")
    defined = definitions(name, failing.language, context.code)
    owner = owner_of(symptom, context, failing.language)
    if defined.hits:  # of other types: a name alone tells nothing
        meant = defined.hits if symptom.module or type_of in _NAMESPACES else ()
        tags = () if symptom.module else ("wrong-type",)
        return Finding(steps=_defined_in(name, meant), tags=tags) + lacks
    if owner is None or not defined.complete or (owner.text and type_of in _NAMESPACES):
        return lacks  # the repository does not show all of its members
    alike = _members_of(owner, similar_in_file(name, owner.path, context.code), symptom, context)
    step = f"No definition of `{name}` was found at this commit: search the history for it."
    return or_else(_renamed(name, alike, failing, context), Finding(steps=(step,)) + lacks)


def _of_value(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the value that has no such member, and where it was given: its name tells nothing."""
    name, receiver, root = symptom.name, symptom.receiver, tree_of(failing, context)
    asked = value_flow.asked_at(root, failing.line - 1, safely=True) if root else ()
    nodes = {value_flow.written(item.value): item.value for item in asked if item.member == name}
    text = next(iter(nodes)) if len(nodes) == 1 else receiver
    given = given_at(nodes[text], failing, context) if text in nodes else ""
    alone = "is not a function" if "is not a " in symptom.text else "is not defined"
    what = f"`{text}` has no `{name}`" if text else f"`{name}` {alone}"
    if symptom.owner:
        lacks = f"`{symptom.owner}` has no `{name}`"
        what = f"`{text}` is of type `{symptom.owner}`" if text else lacks
    return Finding(subject=what, value=what + given, unknown=f"why {what}", tags=("wrong-type",))


def _defined_in(name: str, hits: Sequence[SearchHit]) -> tuple[str, ...]:
    places = ", ".join(f"{hit.path}:{hit.line}" for hit in hits[:3])
    return (f"`{name}` is defined in {places}.",) if hits else ()


def _undefined(name: str, subject: str = "") -> Finding:
    subject = subject or f"`{name}` is not defined"
    return Finding(subject=subject, value=subject, unknown=f"why {subject}")


def _members_of(
    owner: SearchHit, candidates: tuple[Candidate, ...], symptom: Symptom, context: Context
) -> tuple[Candidate, ...]:
    """Keep the members of a class, or what a module defines at its top level."""
    if symptom.module:
        return tuple(item for item in candidates if not item.place.text.startswith((" ", "\t")))
    text = "\n".join(context.code.whole(owner.path) or ())
    end = next((d.end for d in definitions_in(owner.path, text) if d.line == owner.line), 0)
    return tuple(item for item in candidates if owner.line < item.place.line <= end)


# Renames: proved by the change that replaced the name, or by a slip of the keyboard.


def _renamed(
    name: str, candidates: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> Finding:
    """Explain a rename where exactly one candidate remains; list the candidates elsewhere."""
    looked = [(item, _objection(name, item, failing, context)) for item in candidates[:CANDIDATES]]
    sound = [item for item, objection in looked if not objection]
    if len(sound) > 1:  # the change that replaced the name decides
        sound = [item for item in sound if _replaced(name, item, context)] or sound
    if len(sound) != 1:
        steps = tuple(
            f"Check whether `{name}` means `{item.name}` ({item.place.path}:{item.place.line}): "
            f"{why or 'nothing decides between it and others'}."
            for item, why in looked
        )
        return Finding(steps=steps, tags=("undefined-name",))
    new = sound[0]
    path, line = new.place.path, new.place.line
    reason = _support(name, new, context)
    edits = _edits(name, new, failing, context)
    paths = ", ".join(dict.fromkeys(edit.path for edit in edits))
    fact = f"`{new.name}` is defined in {path}:{line}; `{name}` is defined nowhere."
    statement = f"`{name}` {'should read' if new.misspelt else 'is now called'} `{new.name}`"
    step = f"Call `{new.name}` instead of `{name}` in {paths}."
    return Finding(
        because=(
            f"Nothing at this commit defines `{name}`; the name to use is `{new.name}` "
            f"({path}:{line}): {reason}.",
        ),
        evidence=(quoted(path, line, new.place.text, "the name to use"),),
        edits=edits,
        changed=() if new.misspelt else ((path, line),),
        hypotheses=(Hypothesis(statement=statement, standing="confirmed", because=reason),),
        learnings=(Learning(fact=fact, path=path, line=line),),
        steps=(step if edits else f"Check every caller of `{name}` and call `{new.name}`.",),
        tags=("misspelt-name" if new.misspelt else "renamed-symbol",),
        explained=True,
    )


def _objection(name: str, item: Candidate, failing: FailingLine, context: Context) -> str:
    other_meaning = means_something_else(name, item.name)
    if other_meaning and not item.misspelt:
        return f"the names differ in meaning ({other_meaning})"
    if not _replaced(name, item, context):
        mine = set(syntax.receivers_of(name, failing.text, failing.language))
        for hit in callers(name, context.code).hits:
            theirs = set(syntax.receivers_of(name, hit.text, language_of(hit.path)))
            if theirs and not theirs & mine:
                return f"{hit.path}:{hit.line} uses `{name}` of another object"
    if not _support(name, item, context):
        return "neither the spelling nor a change says that it was renamed"
    return "" if _fits(name, item, failing, context) else "it takes other arguments"


def _support(name: str, item: Candidate, context: Context) -> str:
    reason = "a typing error" if item.misspelt else ""
    return _replaced(name, item, context) or reason


def _replaced(name: str, item: Candidate, context: Context) -> str:
    return context.replaced(name, item.name, item.place.path, item.place.line)


def _fits(name: str, item: Candidate, failing: FailingLine, context: Context) -> bool:
    call = re.search(rf"(?<![\w$]){re.escape(name)}\(", failing.text)
    if not call:
        return True
    language = language_of(item.place.path)
    if not re.match(language.functions, item.place.text[:1_000]):
        is_data = re.match(r"\s+\w+\s*:|\s*[A-Z_0-9]+\s*=", item.place.text)
        return not is_data or language.name != "python"
    given = syntax.arguments(failing.lines, failing.line, call.end() - 1)
    start = item.place.line
    takes = syntax.parameters(context.code.lines(item.place.path, start, start + 10), start)
    if any(text.startswith(("*", "&", "...")) for text in (*given, *takes)):
        return True
    required = [text for text in takes if not re.search(r"=|\?:|:\s*$", text)]
    return len(required) <= len(given) <= len(takes)


def _edits(name: str, new: Candidate, failing: FailingLine, context: Context) -> tuple[Edit, ...]:
    """Edit every caller of the same receiver; none where a caller may be overlooked."""
    calls = callers(name, context.code)
    if not failing.seen or not calls.complete:
        return ()
    receivers = set(syntax.receivers_of(name, failing.text, failing.language))
    places = {(failing.path, failing.line)} | {
        (hit.path, hit.line)
        for hit in calls.hits
        if not receivers
        or receivers & {*syntax.receivers_of(name, hit.text, language_of(hit.path))}
    }
    return renamed_in(places, name, new.name, f"call `{new.name}` instead of `{name}`", context)


def renamed_in(
    places: Collection[tuple[str, int]],
    old: str,
    new: str,
    description: str,
    context: Context,
    pattern: str = "",
) -> tuple[Edit, ...]:
    """Replace a name in lines of files; no edit at all where it does not stand in one of them.

    `pattern` is what it looks like there, where the whole name alone is not enough.
    """
    whole_name = re.compile(pattern or rf"(?<![\w$]){re.escape(old)}(?![\w$])")
    paths = dict.fromkeys(path for path, _ in sorted(places))
    edits: list[Edit] = []
    for path in paths if len(paths) <= EDITED_FILES else ():
        lines, changed = context.code.whole(path) or (), {}
        for number in (line for where, line in places if where == path):
            text = lines[number - 1] if number <= len(lines) else ""
            code = syntax.masked(text, language_of(path))
            at = [match.start() for match in whole_name.finditer(code)]
            if not at:
                return ()
            for start in reversed(at):
                text = f"{text[:start]}{new}{text[start + len(old) :]}"
            changed[number] = text
        made = edits_for(path, lines, changed, description)
        if not made:
            return ()
        edits += made
    return tuple(edits)


# Bare names that no import and no statement gives a value.


def undefined_name(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a bare name that nothing visible binds; list its definitions in other files."""
    name, owner = symptom.name, symptom.owner
    hits = definitions(name, failing.language, context.code).hits
    others = [h for h in hits if not h.text[:1].isspace() or _is_within(h, owner, context)]
    rest = _undefined(name).model_copy(update={"unknown": f"what `{name}` stands for"})
    is_bare = f"::{name}" not in failing.text
    elsewhere = Finding(steps=_defined_in(name, others if is_bare else ()))
    return or_else(_unbound(name, failing, context), elsewhere + rest)


def _is_within(hit: SearchHit, owner: str, context: Context) -> bool:
    """Return whether a definition stands in the class that lacks the name, or in one around it."""
    text = "\n".join(context.code.whole(hit.path) or ())
    holder = class_around(hit.path, text, hit.line) if owner else None
    return holder is not None and holder.name in re.split(r"\W+", owner)


def _unbound(name: str, failing: FailingLine, context: Context) -> Finding:
    root, lines = tree_of(failing, context), context.code.whole(failing.path)
    if root is None or not lines or failing.language.name not in ("python", "javascript"):
        return Finding()
    at = syntax.statement_at(root, failing.line - 1)
    if at is None or any(map(_STAR.match, lines)):
        return Finding()
    key = re.compile(rf"\s*['\"]?{re.escape(name)}['\"]?\s*:")  # of an object: binds nothing
    known = definitions_in(failing.path, "\n".join(lines))
    defined = {item.name for item in known if not key.match(lines[item.line - 1])}
    scopes = (*enclosing_functions(at), root)
    bound = any(name in parameter_names(item) or any(sets_of(item, name)) for item in scopes)
    if name in defined or bound or any(is_import(row) and syntax.uses(name, row) for row in lines):
        return Finding()
    importers, shown = _importers(name, failing, context)
    return Finding(
        because=(
            f"{failing.place} uses `{name}`, and nothing that it can see in {failing.path} defines "
            f"or imports it{importers}.",
        ),
        evidence=shown,
        explained=True,
    )


def _importers(
    name: str, failing: FailingLine, context: Context
) -> tuple[str, tuple[Evidence, ...]]:
    own = rf"(?<![\w$.]){re.escape(name)}(?![\w$])(?!\s+as\b)"
    binds = re.compile(
        rf"\s*(?:from\s+\S+\s+)?import\b[^'\"#]*{own}"
        rf"|\s*(?:const|let|var)\b[^=]*{own}[^=]*=\s*require\("
    )
    for hit in context.code.search(name).hits:
        is_other = hit.path != failing.path and not TEST.search(hit.path)
        is_same = language_of(hit.path) == failing.language
        if is_other and is_same and binds.match(hit.text[:LINE]):
            text = f"; {hit.path}:{hit.line} has `{hit.text.strip()[:120]}`"
            return text, (quoted(hit.path, hit.line, hit.text, "how another file imports it"),)
    return "", ()
