"""A name without a definition: what it is called now, and every caller that was missed."""

import re
from collections.abc import Callable

from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.line_reading import arguments, masked, parameters, receivers_of, uses
from nightwatch_core.models.answer import Edit, Hypothesis, Learning
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import CANDIDATES, EDITED_FILES
from nightwatch_core.rules.similar_names import Candidate, callers, means_something_else

_DATA = r"\s+\w+\s*:|\s*[A-Z_0-9]+\s*="  # fields and constants, which nobody calls


Mend = Callable[[str, str], tuple[Edit, ...]]  # old name and new name to edits


def renamed(
    name: str,
    candidates: tuple[Candidate, ...],
    failing: FailingLine,
    context: Context,
    member: bool,
    mend: Mend | None = None,
) -> Finding:
    """Explain a rename where exactly one candidate stands up; leave it open where others do.

    `member`: the name belongs to a receiver, so only uses on the same receiver are changed.
    `mend`: how the callers are changed, where that is known better than by searching them.
    """
    elsewhere = _used_elsewhere(name, failing, context) if member else ""
    looked = tuple(
        (one, _objection(name, one, failing, context, elsewhere)) for one in candidates[:CANDIDATES]
    )
    sound = [one for one, objection in looked if not objection]
    if len(sound) > 1:  # the change that made it says which one is meant
        sound = [one for one in sound if _replaced(name, one, context)] or sound
    if len(sound) != 1:
        return Finding(steps=_left_open(name, looked), tags=("undefined-name",))
    new = sound[0]
    others = tuple((one, why) for one, why in looked if one is not new)
    reason = _support(name, new, context)
    if new.is_suggested and _replaced(name, new, context):
        new = new.model_copy(update={"misspelt": False})
    edits = mend(name, new.name) if mend else _edits(name, new, failing, context, member)
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
    """A line that asks another receiver for the name: then it is a name of its own, no slip."""
    mine = set(receivers_of(name, failing.text, failing.language))
    for hit in callers(name, context.code).hits:
        theirs = set(receivers_of(name, hit.text, language_of(hit.path)))
        if theirs and not theirs & mine:
            return f"{hit.path}:{hit.line}"
    return ""


def _objection(
    name: str, one: Candidate, failing: FailingLine, context: Context, elsewhere: str
) -> str:
    """Why this candidate cannot be what was meant; empty where nothing speaks against it."""
    other_meaning = means_something_else(name, one.name)
    if other_meaning and (one.is_suggested or not one.misspelt):
        return f"the names differ in meaning ({other_meaning})"
    if elsewhere and not _replaced(name, one, context):
        return f"{elsewhere} uses `{name}` on something else, so it is a name of its own"
    if not _support(name, one, context):
        return "neither the spelling nor a change says that it was renamed"
    if not _fits(name, one, failing, context):
        return "it takes other arguments than this call gives"
    return ""


def _support(name: str, one: Candidate, context: Context) -> str:
    """What proves a rename: the change that made it, the message, or the spelling."""
    replaced = _replaced(name, one, context)
    if replaced or not (one.is_suggested or one.misspelt):
        return replaced
    return "the message itself suggests it" if one.is_suggested else "the names differ by a slip"


def _replaced(name: str, one: Candidate, context: Context) -> str:
    return context.replaced(name, one.name, one.place.path, one.place.line)


def _fits(name: str, one: Candidate, failing: FailingLine, context: Context) -> bool:
    """Whether the call's arguments fit the candidate's parameters, where both can be counted."""
    call = re.search(rf"(?<![\w$]){re.escape(name)}\(", failing.text)
    if not call:
        return True
    if not re.match(one.language.functions, one.place.text[:1_000]):
        return not re.match(_DATA, one.place.text) or one.language.name != "python"
    given = arguments(failing.lines, failing.line, call.end() - 1)
    start = one.place.line
    lines = context.code.lines(one.place.path, start, start + 10)
    takes = parameters(lines, start)
    if any(text.startswith(("*", "&", "...")) for text in (*given, *takes)):
        return True
    required = [text for text in takes if not re.search(r"=|\?:|:\s*$", text)]
    return len(required) <= len(given) <= len(takes)


def _edits(
    name: str, new: Candidate, failing: FailingLine, context: Context, member: bool
) -> tuple[Edit, ...]:
    """Edits of every missed caller; none where a caller may have been overlooked."""
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
    """Names to be looked at, where none is proved to be meant."""
    return tuple(
        f"Check whether `{name}` means `{one.name}` ({one.place.path}:{one.place.line}): "
        f"{why or 'nothing decides between it and others'}."
        for one, why in looked
    )


def _ruled_out(name: str, looked: tuple[tuple[Candidate, str], ...]) -> tuple[Hypothesis, ...]:
    return tuple(
        hypothesis(
            f"`{name}` means `{one.name}` ({one.place.path}:{one.place.line})",
            standing="ruled out",
            because=why or "a change put another name in its place",
        )
        for one, why in looked
    )
