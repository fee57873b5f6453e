"""Ignore rules for an error that was seen several times, from the narrowest to the widest."""

import re
from collections.abc import Callable, Iterable, Sequence

from nightwatch_core.escaping import line
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.pattern import IgnoreRule

SHORTEST, LONGEST = 16, 120  # characters of a pattern over messages
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary
_WORD_END = re.compile(r"\s+\S*$")
# Classes that anything may be raised as: a rule over one of them would hide what nobody has seen.
ANYTHING = frozenset(
    (
        *("error", "exception", "throwable", "baseexception", "standarderror", "systemexception"),
        *(
            "runtimeerror",
            "runtimeexception",
            "applicationexception",
            "errorexception",
            "fatalerror",
        ),
        *("valueerror", "typeerror", "keyerror", "argumenterror", "nomethoderror"),
        *("nullpointerexception", "illegalstateexception", "illegalargumentexception"),
    )
)


def candidates(seen: Sequence[ErrorGroup]) -> tuple[IgnoreRule, ...]:
    """Rules that cover an error: the whole message, the start of it that never varies, the class.

    `seen` are sightings of one class. A class is the last resort, where no message is fixed enough:
    a rule over one also hides what it is raised for next, and none may be one that anything is
    raised as. A transaction is never proposed: whatever else goes wrong there would be hidden.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> def tried(message: str) -> list[tuple[str, str, str]]:
    ...     one = ErrorGroup(fingerprint="v1:a", source="file", error_class="Rates::Reset",
    ...                      message=message)
    ...     return [(rule.field, rule.match, rule.pattern) for rule in candidates([one])]
    >>> tried("connection was reset by 10.0.0.1")
    [('message', 'prefix', 'connection was reset by')]
    >>> tried("reset by 10.0.0.1")
    [('error_class', 'exact', 'Rates::Reset')]
    """
    if not seen:
        return ()
    by_message = _plain(make(seen) for make in OVER_MESSAGES)
    return by_message or _plain([_class(seen)])


def _whole_message(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    messages = {group.message.strip() for group in seen}
    message = next(iter(messages))
    fits = SHORTEST <= len(message) <= LONGEST and _fixed_start(message) == message
    if len(messages) > 1 or not fits:
        return None
    return IgnoreRule(pattern=message, match="exact", field="message")


def _start_of_message(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    messages = {group.message.strip() for group in seen}
    start = _shared_start(messages)
    if len(messages) > 1:  # the last word may be cut in two
        start = _WORD_END.sub("", start)
    pattern = _fixed_start(start[:LONGEST]).strip()
    if len(pattern) < SHORTEST:
        return None
    return IgnoreRule(pattern=pattern, match="prefix", field="message")


def _class(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    name = seen[0].error_class.strip()
    last = re.split(r"[.:\\/]", name)[-1].lower()
    if not name or last in ANYTHING:
        return None
    return IgnoreRule(pattern=name, match="exact", field="error_class")


# From narrow to wide.
OVER_MESSAGES: tuple[Callable[[Sequence[ErrorGroup]], IgnoreRule | None], ...] = (
    _whole_message,
    _start_of_message,
)


def _shared_start(texts: set[str]) -> str:
    """What all texts begin with.

    >>> _shared_start({"one two", "one three"})
    'one t'
    """
    first, last = min(texts), max(texts)
    same = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    return first[:same]


def _fixed_start(text: str) -> str:
    found = _FIXED_START.match(text)
    return found.group() if found else ""


def _plain(rules: Iterable[IgnoreRule | None]) -> tuple[IgnoreRule, ...]:
    """Rules whose pattern is one line without hidden characters, and fits."""
    return tuple(rule for rule in rules if rule and line(rule.pattern, 300) == rule.pattern)
