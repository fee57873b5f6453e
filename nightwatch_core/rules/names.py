"""Explain names that nothing visible defines: misspelt, renamed, or never imported."""

import re

from nightwatch_core.code.definitions import (
    definitions_in,
    enclosing_functions,
    parameter_names,
    sets_of,
)
from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.code.syntax import (
    arguments,
    masked,
    parameters,
    receivers_of,
    statement_at,
    uses,
)
from nightwatch_core.models.answer import Edit, Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.callees import importers, is_import
from nightwatch_core.rules.findings import (
    CANDIDATES,
    EDITED_FILES,
    LINE,
    Candidate,
    Context,
    FailingLine,
    Finding,
    callers,
    candidate,
    definitions,
    hypothesis,
    means_something_else,
    or_else,
    owner_of,
    quoted,
    similar_anywhere,
    similar_in_file,
    suggested,
)
from nightwatch_core.rules.none import tree_of

# A name without a definition: what it is called now, and every caller that was missed.

_DATA = r"\s+\w+\s*:|\s*[A-Z_0-9]+\s*="  # fields and constants, which nobody calls


def renamed(
    name: str,
    candidates: tuple[Candidate, ...],
    failing: FailingLine,
    context: Context,
    member: bool,
) -> Finding:
    """Explain a rename where exactly one candidate stands up; leave it open where others do.

    `member`: the name belongs to a receiver, so only uses on the same receiver are changed.
    """
    elsewhere = _used_elsewhere(name, failing, context) if member else ""
    looked = tuple(
        (item, _objection(name, item, failing, context, elsewhere))
        for item in candidates[:CANDIDATES]
    )
    sound = [item for item, objection in looked if not objection]
    if len(sound) > 1:  # the change that made it says which one is meant
        sound = [item for item in sound if _replaced(name, item, context)] or sound
    if len(sound) != 1:
        return Finding(steps=_left_open(name, looked), tags=("undefined-name",))
    new = sound[0]
    others = tuple((item, why) for item, why in looked if item is not new)
    reason = _support(name, new, context)
    if new.is_suggested and _replaced(name, new, context):
        new = new.model_copy(update={"misspelt": False})
    edits = _edits(name, new, failing, context, member)
    return _explained(name, new, reason, edits) + Finding(hypotheses=_ruled_out(name, others))


def _explained(name: str, new: Candidate, reason: str, edits: tuple[Edit, ...]) -> Finding:
    path, line = new.place.path, new.place.line
    paths = ", ".join(dict.fromkeys(edit.path for edit in edits))
    fact = f"`{new.name}` is defined in {path}:{line}; `{name}` is defined nowhere."
    statement = f"`{name}` {'should read' if new.misspelt else 'is now called'} `{new.name}`"
    step = f"Call `{new.name}` instead of `{name}` in {paths}."
    return Finding(
        because=(
            f"Nothing at this commit defines `{name}`; `{new.name}` in {path}:{line} is meant: "
            f"{reason}.",
        ),
        evidence=(quoted(path, line, new.place.text, "what it is called"),),
        edits=edits,
        changed=() if new.misspelt else ((path, line),),
        hypotheses=(hypothesis(statement, standing="confirmed", because=reason),),
        learnings=(Learning(fact=fact, path=path, line=line),),
        steps=(step if edits else f"Check every caller of `{name}` and call `{new.name}`.",),
        tags=("misspelt-name" if new.misspelt else "renamed-symbol",),
        explained=True,
    )


def _used_elsewhere(name: str, failing: FailingLine, context: Context) -> str:
    mine = set(receivers_of(name, failing.text, failing.language))
    for hit in callers(name, context.code).hits:
        theirs = set(receivers_of(name, hit.text, language_of(hit.path)))
        if theirs and not theirs & mine:
            return f"{hit.path}:{hit.line}"
    return ""


def _objection(
    name: str, item: Candidate, failing: FailingLine, context: Context, elsewhere: str
) -> str:
    """Say why this candidate cannot be what was meant; empty where nothing speaks against it."""
    other_meaning = means_something_else(name, item.name)
    if other_meaning and (item.is_suggested or not item.misspelt):
        return f"the names differ in meaning ({other_meaning})"
    if elsewhere and not _replaced(name, item, context):
        return f"{elsewhere} uses `{name}` on something else, so it is a name of its own"
    if not _support(name, item, context):
        return "neither the spelling nor a change says that it was renamed"
    if not _fits(name, item, failing, context):
        return "it takes other arguments than this call gives"
    return ""


def _support(name: str, item: Candidate, context: Context) -> str:
    """Return what proves a rename: the change that made it, the message, or the spelling."""
    replaced = _replaced(name, item, context)
    if replaced or not (item.is_suggested or item.misspelt):
        return replaced
    return "the message itself suggests it" if item.is_suggested else "the names differ by a slip"


def _replaced(name: str, item: Candidate, context: Context) -> str:
    return context.replaced(name, item.name, item.place.path, item.place.line)


def _fits(name: str, item: Candidate, failing: FailingLine, context: Context) -> bool:
    call = re.search(rf"(?<![\w$]){re.escape(name)}\(", failing.text)
    if not call:
        return True
    if not re.match(item.language.functions, item.place.text[:1_000]):
        return not re.match(_DATA, item.place.text) or item.language.name != "python"
    given = arguments(failing.lines, failing.line, call.end() - 1)
    start = item.place.line
    lines = context.code.lines(item.place.path, start, start + 10)
    takes = parameters(lines, start)
    if any(text.startswith(("*", "&", "...")) for text in (*given, *takes)):
        return True
    required = [text for text in takes if not re.search(r"=|\?:|:\s*$", text)]
    return len(required) <= len(given) <= len(takes)


def _edits(
    name: str, new: Candidate, failing: FailingLine, context: Context, member: bool
) -> tuple[Edit, ...]:
    """Return edits of every missed caller; none where a caller may have been overlooked."""
    if not failing.seen:
        return ()
    receivers = receivers_of(name, failing.text, failing.language) if member else ()
    calls = callers(name, context.code)
    places = {(hit.path, hit.line) for hit in calls.hits if _same_use(hit, name, receivers)}
    places.add((failing.path, failing.line))
    paths = tuple(dict.fromkeys((failing.path, *sorted(path for path, _ in places))))
    if not calls.complete or len(paths) > EDITED_FILES:
        return ()
    edits: list[Edit] = []
    for path in paths:
        lines = context.code.whole(path)
        at = [line for where, line in places if where == path]
        more = _edits_in(path, lines, at, name, new.name) if lines else ()
        if not more:
            return ()
        edits += more
    return tuple(edits)


def _same_use(hit: SearchHit, name: str, receivers: tuple[str, ...]) -> bool:
    if not receivers:
        return True
    return bool(set(receivers) & set(receivers_of(name, hit.text, language_of(hit.path))))


def _edits_in(
    path: str, lines: tuple[str, ...], numbers: list[int], name: str, new: str
) -> tuple[Edit, ...]:
    language = language_of(path)
    changed = {}
    for number in numbers:
        text = lines[number - 1] if number <= len(lines) else ""
        at = uses(name, masked(text, language)) or uses(name, text)
        if not at:
            return ()
        changed[number] = replaced(text, at, name, new)
    return edits_for(path, lines, changed, f"call `{new}` instead of `{name}`")


def replaced(text: str, at: tuple[int, ...], name: str, new: str) -> str:
    """Give the text with the name at these places replaced.

    >>> replaced("a.b + c.b", (2, 8), "b", "bee")
    'a.bee + c.bee'
    """
    for start in reversed(at):
        text = text[:start] + new + text[start + len(name) :]
    return text


def _left_open(name: str, looked: tuple[tuple[Candidate, str], ...]) -> tuple[str, ...]:
    return tuple(
        f"Check whether `{name}` means `{item.name}` ({item.place.path}:{item.place.line}): "
        f"{why or 'nothing decides between it and others'}."
        for item, why in looked
    )


def _ruled_out(name: str, looked: tuple[tuple[Candidate, str], ...]) -> tuple[Hypothesis, ...]:
    return tuple(
        hypothesis(
            f"`{name}` means `{item.name}` ({item.place.path}:{item.place.line})",
            standing="ruled out",
            because=why or "a change put another name in its place",
        )
        for item, why in looked
    )


# Members that a receiver lacks: renamed or misspelt.

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
        members = [hit for hit in defined.hits if _is_member(name, hit, failing)]
        places = ", ".join(f"{hit.path}:{hit.line}" for hit in members[:3])
        steps = (f"`{name}` is defined in {places}: check whether that was expected here.",)
        return Finding(steps=steps if members else (), tags=("wrong-type",)) + _lacks(name, symptom)
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


def suggested_first(
    symptom: Symptom, candidates: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> tuple[Candidate, ...]:
    """Give the candidates behind the one that the message itself suggests."""
    first = suggested(symptom.name, symptom.meant, failing.language, context.code)
    return first + tuple(
        item for item in candidates if item.name not in [two.name for two in first]
    )


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
    """Return what is only alike, of a receiver that is not known: no cause."""
    if not finding.explained:
        return finding
    item = candidates[0]
    step = f"Check whether `{item.name}` ({item.place.path}:{item.place.line}) is meant."
    return Finding(steps=(step,), tags=("undefined-name",))


def _of_owner(
    candidates: tuple[Candidate, ...], symptom: Symptom, owner: SearchHit, context: Context
) -> tuple[Candidate, ...]:
    """Those of the class itself; of a module, those at its top level."""
    if symptom.module:
        return tuple(item for item in candidates if not item.place.text.startswith((" ", "\t")))
    if not owner.text:
        return candidates
    text = "\n".join(context.code.whole(owner.path) or ())
    end = next((d.end for d in definitions_in(owner.path, text) if d.line == owner.line), 0)
    return tuple(item for item in candidates if owner.line < item.place.line <= end)


def _is_member(name: str, hit: SearchHit, failing: FailingLine) -> bool:
    own, text = re.escape(name), hit.text[:LINE]
    if language_of(hit.path) != failing.language:
        return False
    if failing.language.name == "javascript":
        return bool(re.search(rf"(?:prototype|this)\.{own}\s*=(?!=)", text))
    if failing.language.name == "python":
        return bool(re.match(rf"\s+(?:async\s+)?def\s+{own}\b|\s+self\.{own}\s*[:=]", text))
    return True


_LOCAL = re.compile(r"^\s*(?:(?:const|let|var)\s+)?(?P<name>\w+)\s*(?::[^=]+)?=(?![=>])")
_STAR = re.compile(r"\s*from\s+\S+\s+import\s+\*")


def undefined_name(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Explain a bare name: its import is missing, it is misspelt, or a function was renamed."""
    name = symptom.name
    own = [item for item in _locals(name, failing) if item.misspelt]
    if len(own) == 1:
        finding = renamed(name, tuple(own), failing, context, member=False)
        return or_else(finding, _undefined(name))
    defined = definitions(name, failing.language, context.code)
    finding = Finding()
    if not defined.hits:
        candidates = _candidates(symptom, failing, context)
        finding = renamed(name, candidates, failing, context, member=False)
    if not finding.explained:
        finding = _unbound(name, failing, context) + finding
        places = ", ".join(f"{hit.path}:{hit.line}" for hit in defined.hits[:3])
        step = f"`{name}` is defined in {places}: check whether one of them is meant."
        elsewhere = Finding(steps=(step,)) if defined.hits else Finding()
        finding = or_else(finding, elsewhere)
    if not defined.complete:
        finding = finding.model_copy(update={"edits": ()})
    return or_else(finding, _undefined(name))


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
        item.name
        for item in definitions_in(failing.path, "\n".join(lines))
        if not key.match(lines[item.line - 1])
    }
    around = (*enclosing_functions(at), root)
    bound = any(name in parameter_names(item) or any(sets_of(item, name)) for item in around)
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


def _candidates(symptom: Symptom, failing: FailingLine, context: Context) -> tuple[Candidate, ...]:
    name = symptom.name
    own = similar_in_file(name, failing.path, context.code) if failing.seen else ()
    others = similar_anywhere(name, context.code)
    both = _together(own, tuple(item for item in others if _visible(item, failing, context)))
    return suggested_first(symptom, both, failing, context)


def _locals(name: str, failing: FailingLine) -> tuple[Candidate, ...]:
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


def _visible(item: Candidate, failing: FailingLine, context: Context) -> bool:
    if item.place.path == failing.path or failing.language.name not in ("python", "javascript"):
        return True
    lines = context.code.whole(failing.path) if failing.seen else None
    return any(is_import(text) and uses(item.name, text) for text in lines or ())


def _together(*groups: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    once = {item.name: item for group in reversed(groups) for item in group}
    return tuple(sorted(once.values(), key=lambda item: (-item.ratio, item.name)))
