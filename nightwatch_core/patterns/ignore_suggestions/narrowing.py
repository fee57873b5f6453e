"""Ignore rules for an error that was seen several times, from the narrowest to the widest."""

import re
from collections.abc import Callable, Iterable, Sequence

from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.pattern import IgnoreRule
from nightwatch_core.patterns.common_words import GENERIC_CLASSES
from nightwatch_core.text.escaping import line
from nightwatch_core.text.message_templates import message_template

SHORTEST, LONGEST = 16, 120  # characters of a pattern over messages
_LONGEST_NAME = 300  # characters of a transaction or a class
_FIXED_START = re.compile(r"[^\d'\"`<>{}\[\]()#=@/\\]*")  # of a message: up to what may vary
_WORD_END = re.compile(r"\s+\S*$")
_STEP = re.compile(r"[^\W_]{3}\S*[/.#:]|[/.#:]\S*[^\W_]{3}")  # a name below or beside another
_PARENT = re.compile(r".*[/#:]")  # of a transaction: up to its last separator
_STEP_NAME = re.compile(r"[^\W_]{3,}")
# Steps that all transactions of a kind begin with.
_COMMON = (
    "webtransaction othertransaction transaction controller action nested job rails django flask "
    "spring servlet uri get put post head patch delete options http https api"
)
_COMMON_STEPS = frozenset(_COMMON.split())
# A rule over one of them would hide what nobody has seen.
_GENERIC = frozenset(name.lower() for name in GENERIC_CLASSES)


def candidates(
    seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup] = ()
) -> tuple[IgnoreRule, ...]:
    """Rules that cover an error: its message, the start of it, its class, its transaction.

    `seen` are sightings of one class, and `of_class` all others of that class, whatever the error.
    Where a message is fixed enough nothing wider is tried. A class has to be one that was seen in
    one transaction, or with one message, and none that anything is raised as. A transaction is the
    last resort: it hides whatever else goes wrong there.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> def tried(message: str, transaction: str = "") -> list[tuple[str, str, str]]:
    ...     one = ErrorGroup(fingerprint="v1:a", source="file", error_class="Rates::Reset",
    ...                      message=message, transaction=transaction)
    ...     return [(rule.field, rule.match, rule.pattern) for rule in candidates([one])]
    >>> tried("connection was reset by 10.0.0.1")
    [('message', 'prefix', 'connection was reset by')]
    >>> [field for field, _, _ in tried("bot probe /wp.bak", "GET /wp.bak")][:2]
    ['error_class', 'transaction']
    """
    if not seen:
        return ()
    by_message = _plain(make(seen) for make in OVER_MESSAGES)
    wider = (_class(seen, of_class), _transaction(seen), _start_of_transaction(seen))
    return by_message or _plain(wider)


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


def _transaction(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    """The only transaction, unless it is a bare one such as "/" or "GET /"."""
    names = {group.transaction.strip() for group in seen}
    name = next(iter(names))
    if len(names) > 1 or len(name) > _LONGEST_NAME or not _STEP.search(name):
        return None
    return IgnoreRule(pattern=name, match="exact", field="transaction")


def _start_of_transaction(seen: Sequence[ErrorGroup]) -> IgnoreRule | None:
    """What transactions that differ in their last step share, if that has a name of its own."""
    names = {group.transaction.strip() for group in seen}
    matches = [_PARENT.match(name[:_LONGEST_NAME]) for name in names]
    parents = {each.group() if each else "" for each in matches}
    parent = next(iter(parents))
    steps = {step.lower() for step in _STEP_NAME.findall(parent)} - _COMMON_STEPS
    if len(names) == 1 or len(parents) > 1 or not steps:
        return None
    return IgnoreRule(pattern=parent, match="prefix", field="transaction")


def _class(seen: Sequence[ErrorGroup], of_class: Sequence[ErrorGroup]) -> IgnoreRule | None:
    name = seen[0].error_class.strip()
    last = re.split(r"[.:\\/]", name)[-1].lower()
    is_wide = not (_one_place(seen, of_class) or _one_message(seen, of_class))
    if not name or last in _GENERIC or len(name) > _LONGEST_NAME or is_wide:
        return None
    return IgnoreRule(pattern=name, match="exact", field="error_class")


def _one_place(*seen: Sequence[ErrorGroup]) -> bool:
    places = {group.transaction.strip() for groups in seen for group in groups}
    return len(places) == 1 and "" not in places


def _one_message(*seen: Sequence[ErrorGroup]) -> bool:
    messages = {message_template(group.message) for groups in seen for group in groups}
    return len(messages) == 1 and "" not in messages


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
    match = _FIXED_START.match(text)
    return match.group() if match else ""


def _plain(rules: Iterable[IgnoreRule | None]) -> tuple[IgnoreRule, ...]:
    """Rules whose pattern is one line without hidden characters, and fits."""
    return tuple(rule for rule in rules if rule and line(rule.pattern, 300) == rule.pattern)
