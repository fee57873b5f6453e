"""Put groups with one failing place and meaning into a case, and likely relatives into a family."""

import re
from collections.abc import Callable, Hashable

from nightwatch_core.intake import limits
from nightwatch_core.models.assignment import Traced as TracedGroup
from nightwatch_core.models.errors import Case, ErrorGroup, Family, Frame, Trace
from nightwatch_core.text.fingerprints import frame_signature
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.rule_files import Pattern
from nightwatch_core.text.templates import fixed_words, message_template, says_another_thing
from nightwatch_core.text.transactions import endpoint

# Names that a language gives to code without a name: the line has to tell such places apart.
_NAMELESS = re.compile(
    r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in |Object\.)*"
    r"(?:<(?!(?:cl)?init>)[^>]*>|\(?anonymous(?: function)?\)?|lambda|.*\{closure.*|)$"
)
# Modules that say nothing: everything of an application lies in them.
_COMMON_MODULES = frozenset(("", "main", "app", "api", "src", "views", "tasks", "jobs", "index"))
# What a library tells whoever runs the application, wherever the application called it.
ADVICE = data_table(__package__, "library_advice.toml", dict[str, Pattern])["advice"]

Traced = tuple[ErrorGroup, Trace | None]
Keys = tuple[Hashable, ...]
Rule = Callable[[Case], Keys]


def root_class(group: ErrorGroup, trace: Trace | None) -> str:
    """Return the class of the root exception; without a trace the reported one."""
    return (trace.root.error_class if trace else "") or group.error_class


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def _place(trace: Trace | None) -> tuple[str, str]:
    frame = trace.top if trace else None
    if frame is None or not _path(frame):
        return "", ""
    if not _NAMELESS.match(frame.function[: limits.FUNCTION_NAME]):
        return _path(frame), frame.function
    return (f"{_path(frame)}:{frame.line}", "") if frame.line else ("", "")


def signature(group: ErrorGroup, trace: Trace | None, *, says: bool = False) -> str:
    """Return a name for root class and top in-app frame; empty where the place is unknown.

    Where the place alone would name several cases, what the message `says` belongs to the name.
    """
    path, function = _place(trace)
    words = " ".join(sorted(fixed_words(_message(group, trace)))) if says else ""
    name = f"{root_class(group, trace)} {words}".strip()
    return frame_signature(name, path, function) if path else ""


def cases(traced: tuple[Traced, ...]) -> tuple[Case, ...]:
    """Make one case of all groups that fail in one place with one root class and mean one thing.

    A function that many call fails for different reasons: groups whose messages say another thing
    are cases of their own, unless they came the same way. A library's advice to whoever runs it is
    one case wherever it was raised. A group whose place is unknown is a case of its own. The most
    frequent group of a case leads it and lends it its trace.
    """
    by_place: dict[str, list[list[Traced]]] = {}
    for number, (group, trace) in enumerate(sorted(traced, key=_most_frequent_first)):
        place = _advice(group, trace) or signature(group, trace) or f"alone {number}"
        found = by_place.setdefault(place, [])
        alike = (members for members in found if not _differ(members[0], (group, trace)))
        members = next(alike, None)
        if members is None:
            found.append([(group, trace)])
        elif all(group.fingerprint != other.fingerprint for other, _ in members):
            members.append((group, trace))
    return tuple(
        Case(
            leader=members[0][0],
            others=tuple(group for group, _ in members[1:]),
            trace=members[0][1],
            signature=signature(*members[0], says=len(found) > 1),
        )
        for found in by_place.values()
        for members in found
    )


def _most_frequent_first(traced: Traced) -> tuple[int, float, str]:
    group, _ = traced
    seen = group.last_seen.timestamp() if group.last_seen else 0.0
    return -group.occurrences, -seen, group.fingerprint


def _message(group: ErrorGroup, trace: Trace | None) -> str:
    return (trace.root.message if trace else "") or group.message


def _differ(one: Traced, other: Traced) -> bool:
    return says_another_thing(_message(*one), _message(*other)) and _way(*one) != _way(*other)


def _way(group: ErrorGroup, trace: Trace | None) -> tuple[object, ...]:
    """Say how the failing function came to be called, and where in it it failed."""
    own = trace.in_app[:2] if trace else ()
    return group.transaction, *((_path(frame), frame.function, frame.line) for frame in own)


def _advice(group: ErrorGroup, trace: Trace | None) -> str:
    """Name what a library tells whoever runs it; empty where it speaks of the calling code."""
    frame = next(iter(trace.root.frames), None) if trace else None
    text = message_template(_message(group, trace))
    if frame is None or frame.in_app or not ADVICE.search(text):
        return ""
    return "\n".join((group.app, root_class(group, trace), frame.path, frame.function, text))


def at_its_commit(case: Case, traced: tuple[TracedGroup, ...]) -> Case:
    """Pin a case to the newest commit that its groups failed at, the leader's where all are equal.

    Its trace becomes the one that was placed there: what fails now is what a fix has to mend.
    """
    names = {group.fingerprint: at for at, group in enumerate(case.groups)}
    own = [group for group in traced if group.group.fingerprint in names and group.commit]
    own.sort(key=lambda item: names[item.group.fingerprint])
    with_trace = [item for item in own if item.traces] or own
    newest = max(with_trace, key=_age, default=None)
    if newest is None:
        return case
    trace = newest.traces[0] if newest.traces else case.trace
    return case.model_copy(update={"commit": newest.commit, "trace": trace})


def _age(group: TracedGroup) -> float:
    return group.commit.at.timestamp() if group.commit and group.commit.at else 0.0


def _top_frame(case: Case) -> Keys:
    path, function = _place(case.trace)
    return (frame_signature("", path, function),) if path else ()


def _class_and_file(case: Case) -> Keys:
    top = case.trace.top if case.trace else None
    return ((root_class(case.leader, case.trace), _path(top)),) if top else ()


def _class_and_module(case: Case) -> Keys:
    module = endpoint(case.leader.transaction).module
    if module.lower() in _COMMON_MODULES:
        return ()
    return ((case.leader.app, root_class(case.leader, case.trace), module),)


# What relatives have in common, the closest first: one key or more; none has nothing in common.
RULES: tuple[tuple[str, Rule], ...] = (
    ("same top in-app frame", _top_frame),
    ("same root class and file", _class_and_file),
    ("same class and controller or module", _class_and_module),
)


def families(
    cases: tuple[Case, ...], suspected: Callable[[Case], Keys] = lambda case: ()
) -> tuple[Family, ...]:
    """Put every case into one family of at most five; leaders keep the order of `cases`.

    A case joins the earlier leader it is closest to by RULES, or else one that the same change is
    `suspected` of, or leads a family of its own.
    """
    rules = (*RULES, ("same suspected change", suspected))
    members: list[list[Case]] = []  # the leader first
    reasons: list[dict[str, None]] = []
    led: list[dict[Hashable, list[int]]] = [{} for _ in rules]  # families by what leaders have
    for case in cases:
        own = [key(case) for _, key in rules]
        joined = _closest(own, members, led)
        if joined is None:
            for by_key, keys in zip(led, own, strict=True):
                for key in keys:
                    by_key.setdefault(key, []).append(len(members))
            members.append([case])
            reasons.append({})
        else:
            number, rule = joined
            members[number].append(case)
            reasons[number][rules[rule][0]] = None
    return tuple(
        Family(leader=leader, siblings=tuple(siblings), because="; ".join(why))
        for (leader, *siblings), why in zip(members, reasons, strict=True)
    )


def _closest(
    own: list[Keys], members: list[list[Case]], led: list[dict[Hashable, list[int]]]
) -> tuple[int, int] | None:
    for rule, (keys, by_key) in enumerate(zip(own, led, strict=True)):
        alike = (number for key in keys for number in by_key.get(key, ()))
        if room := [number for number in alike if len(members[number]) < limits.FAMILY]:
            return min(room), rule
    return None
