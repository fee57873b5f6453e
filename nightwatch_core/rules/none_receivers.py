"""Something is None: which expression, proved by elimination, and then why."""

import re

from tree_sitter import Node

from nightwatch_core.code.dereferences import asked_at
from nightwatch_core.code.null_guards import own_guard
from nightwatch_core.code.statements import root_of
from nightwatch_core.code.symptoms import Symptom
from nightwatch_core.rules.findings import FailingLine, Finding, quoted
from nightwatch_core.rules.go_fields import is_own_field
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import HEAD_LINES, LINE, NONE_CANDIDATES
from nightwatch_core.rules.none_candidates import Candidate, candidates_for, ruled_out
from nightwatch_core.rules.none_origins import cause_of

_PACKAGES = {  # a line of the file's head that imports a whole package
    "go": re.compile(
        r"\s*(?:import\s+(?:\(\s*)?)?(?:(?P<alias>\w+)\s+)?\"(?P<path>[\w./~-]+)\"\s*(?:[;)]|//|$)"
    ),
    "python": re.compile(r"import\s+(?P<path>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$"),
}


_BOXED = re.compile(  # Java's methods whose results are often objects for numbers
    r"get|find|load|read|fetch|value|remove|put|poll|peek|apply|orElse|next|merge|call|invoke|comput"
)
_HIDDEN = re.compile(  # what fails for nothing without asking it for a member
    r"\b(?:foreach|for|switch|lock|synchronized|throw|using|await)\b|\[|[+*/<>-]"
    r"|\(\s*\w+\s*\)\s*\w"
)


def none_receiver(symptom: Symptom, failing: FailingLine, context: Context) -> Finding:
    """Name the expression that was None where only one can be, and where it got its value."""
    none = "null" if " null" in symptom.text else failing.language.none
    if none != failing.language.none:
        language = failing.language.model_copy(update={"none": none})
        failing = failing.model_copy(update={"language": language})
    place, outside = failing.place, raised_outside(context)
    if outside:
        return _unknown(f"what is {none} in {outside}, which {place} led to", place)
    root = tree_of(failing, context)
    if root is None:
        return _unknown(f"what is {none} in {place}", place)
    packages = imported_packages(failing, context)
    candidates = candidates_for(symptom, root, failing.line, failing.language)
    if len(candidates) > NONE_CANDIDATES:
        return _unknown(f"what is {none} in {place}", place)
    possible = tuple(
        one for one in candidates if not ruled_out(one, root, failing.language, packages)
    )
    if not possible or any(not one.text for one in possible):
        return _unknown(f"what is {none} in {place}", place)
    guarded = _guarded(possible, failing, context)
    if guarded:
        return guarded
    is_sure = len(possible) == 1 and _is_complete(symptom, root, failing, candidates)
    if not is_sure or not _is_itself(possible[0], root, failing, context):
        names = ", ".join(f"`{one.text}`" for one in possible[:4])
        return _unknown(f"what is {none} in {place}", place, f"what is used there: {names}")
    return _one(possible[0], root, failing, context)


def tree_of(failing: FailingLine, context: Context) -> Node | None:
    """Parse the failing file; None where it is not read in full, or no grammar knows it."""
    lines = context.code.whole(failing.path) if failing.seen else None
    return root_of(failing.path, "\n".join(lines)) if lines else None


def imported_packages(failing: FailingLine, context: Context) -> frozenset[str]:
    """Name by which the file's head imports whole packages, which are never nothing."""
    pattern = _PACKAGES.get(failing.language.name)
    if pattern is None:
        return frozenset()
    head = context.code.lines(failing.path, 1, HEAD_LINES)
    matches = (pattern.match(text[:LINE]) for text in head.values())
    names = (match["alias"] or package_name(match["path"]) for match in matches if match)
    return frozenset(names)


def package_name(path: str) -> str:
    """Give the name under which code knows an imported package, without the path's version.

    >>> [package_name(path) for path in ("net/http", "x.org/mux/v2", "gopkg.in/yaml.v3", "os.path")]
    ['http', 'mux', 'yaml', 'os.path']
    """
    plain = re.sub(r"[/.]v\d+$", "", path)
    return plain.rsplit("/", 1)[-1]


def _one(candidate: Candidate, root: Node, failing: FailingLine, context: Context) -> Finding:
    none, text = failing.language.none, candidate.text
    finding = Finding(
        because=(f"`{text}` is {none} in {failing.place}.",),
        tags=("none-receiver",),
        subject=f"`{text}` is {none}",
        value=f"`{text}` is {none}",
        unknown=f"why `{text}` is {none} in {failing.place}",
    )
    if candidate.node is not None:
        source = cause_of(candidate.node, root, failing, context)
        value = source.value or finding.value  # what is known of its way says more
        finding = finding.model_copy(update={"value": value}) + source
    step = f"Find out when `{text}` may be {none} before {failing.place} uses it."
    return finding if finding.steps else finding + Finding(steps=(step,))


def _guarded(
    possible: tuple[Candidate, ...], failing: FailingLine, context: Context
) -> Finding | None:
    """The one value that the code itself has found to be nothing before it uses it."""
    lines = [(one, own_guard(one.node)) for one in possible if one.node is not None]
    guards = [(one, line) for one, line in lines if line]
    if len(guards) != 1:
        return None
    (one, line), none = guards[0], failing.language.none
    text = (context.code.whole(failing.path) or ())[line - 1]
    return Finding(
        because=(
            f"{failing.path}:{line} asks whether `{one.text}` is {none}, and {failing.place} uses "
            "it where it is.",
        ),
        evidence=(quoted(failing.path, line, text, "is true where there is nothing"),),
        tags=("none-receiver",),
        subject=f"`{one.text}` is {none}",
        steps=(f"Do not use `{one.text}` below {failing.path}:{line}.",),
        explained=True,
    )


def _is_itself(candidate: Candidate, root: Node, failing: FailingLine, context: Context) -> bool:
    """Whether in Go the value is nil, and no embedded pointer that a field of it goes through."""
    if failing.language.name != "go" or candidate.node is None:
        return True
    asked = [one for one in asked_at(root, failing.line - 1) if one.text == candidate.text]
    members = {one.member for one in asked if one.how == "member"}
    return all(
        is_own_field(candidate.node, member, failing.path, root, context) for member in members
    )


def _unknown(what: str, place: str, value: str = "") -> Finding:
    return Finding(
        tags=("none-receiver",),
        unknown=what,
        value=value,
        steps=(f"Log what {place} uses before it does so.",),
    )


def raised_outside(context: Context) -> str:
    """Name what raised the error in a dependency; empty where our own code did."""
    trace = context.case.trace
    first = next(iter(trace.root.frames), None) if trace else None
    if first is None or first.in_app:
        return ""
    return first.path.rsplit("/", 1)[-1][:100] + (
        f" ({first.function[:60]})" if first.function else ""
    )


def _is_complete(
    symptom: Symptom, root: Node, failing: FailingLine, candidates: tuple[Candidate, ...]
) -> bool:
    """Whether nothing else of the statement can be meant.

    Where the message names no expression, iterating, unboxing or a called value may be meant, too.
    """
    if symptom.name or symptom.receiver or failing.language.name in ("python", "go"):
        return bool(candidates)
    if failing.language.name == "java" and _may_unbox(root, failing.line):
        return False
    return bool(candidates) and not _HIDDEN.search(re.sub(r"->|=>", "", failing.text))


def _may_unbox(root: Node, line: int) -> bool:
    """Whether what a call of a Java statement gives may be unboxed: nothing fails then, too."""
    asked = asked_at(root, line - 1)
    values = [one.value for one in asked]
    results = (
        one.node
        for one in asked
        if one.is_call and one.node not in values and _BOXED.match(one.member)
    )
    return not all(_is_kept(one) for one in results)


def _is_kept(call: Node) -> bool:
    """Whether the result of a call is dropped, or kept as an object."""
    above = call.parent
    if above is None or above.type == "expression_statement":
        return True
    kind = above.parent.child_by_field_name("type") if above.parent is not None else None
    is_object = kind is not None and not re.match(r"integral|floating|boolean", kind.type)
    return above.type == "variable_declarator" and is_object
