"""The visible score: how near an earlier lesson is by class, transaction and shared tags.

What a night recalls is found by `ranking.search`, which shows this score beside its relevance.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index, IndexEntry, Lesson, Match

LIMIT = 3
THRESHOLD = 0.3
CLASS_POINTS, TRANSACTION_POINTS, TAG_POINTS = 0.5, 0.3, 0.1
# Words that stand in every name and tell nothing.
NOISE = frozenset(
    ("controller", "action", "webtransaction", "othertransaction", "background", "function")
)
SAME = Match(score=1.0, because=("same fingerprint",), kind="same")
SAME_BY_ALIAS = Match(
    score=1.0, because=("same fingerprint", "known under another name"), kind="alias"
)
_LONGEST = 500  # characters of a class or transaction that are looked at
_CLASS_PARTS = re.compile(r"::|\.")
_TRANSACTION_PARTS = re.compile(r"[/:#]")


@lru_cache(maxsize=4_096)
def seed_tags(error_class: str, transaction: str) -> tuple[str, ...]:
    """Split a class and a transaction into words, lowercase, in their order, each once.

    >>> seed_tags("ActiveRecord::RecordNotFound", "Controller/orders/update")
    ('activerecord', 'recordnotfound', 'orders', 'update')
    """
    parts = (
        *_CLASS_PARTS.split(error_class[:_LONGEST]),
        *_TRANSACTION_PARTS.split(transaction[:_LONGEST]),
    )
    words = (part.strip().lower() for part in parts)
    return tuple(dict.fromkeys(word for word in words if word and word not in NOISE))


def names(case: Case) -> frozenset[str]:
    """List every name the case may be known by.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> leader = ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError")
    >>> sorted(names(Case(leader=leader, signature="s1:b")))
    ['s1:b', 'v1:a']
    """
    return frozenset((case.fingerprint, *case.aliases))


def _points(case: Case, entry: IndexEntry) -> Iterator[tuple[float, str]]:
    """What they share, each with its points and in words."""
    leader = case.leader
    if leader.error_class and leader.error_class == entry.error_class:
        yield CLASS_POINTS, f"same class {entry.error_class}"
    if leader.transaction and leader.transaction == entry.transaction:
        yield TRANSACTION_POINTS, f"same transaction {entry.transaction}"
    own = seed_tags(leader.error_class, leader.transaction)
    if shared := [tag for tag in own if tag in entry.tags]:
        yield TAG_POINTS * len(shared), f"shared tags {', '.join(shared)}"


def match(case: Case, entry: IndexEntry) -> Match:
    """Say how near an earlier lesson is: class 0.5, transaction 0.3, 0.1 a shared tag, at most 1.

    A lesson that carries one of the case's names scores 1, whatever else differs.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> case = Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError"))
    >>> near = match(case, IndexEntry(file="", fingerprint="v1:b", error_class="KeyError"))
    >>> near.score, near.because
    (0.5, ('same class KeyError',))
    """
    if entry.fingerprint == case.fingerprint:
        return SAME
    if not names(case).isdisjoint((entry.fingerprint, *entry.aliases)):
        return SAME_BY_ALIAS
    shared = tuple(_points(case, entry))
    score = min(1.0, round(sum(points for points, _ in shared), 2))
    return Match(score=score, because=tuple(reason for _, reason in shared))


def is_same_error(case: Case, lesson: Lesson) -> bool:
    """Whether a lesson that carries one of the case's names may be about the same error.

    Its own fingerprint says so. An alias does where any of their classes is the same: a document
    may claim the name of anything.
    """
    if lesson.fingerprint in names(case):
        return True
    links = case.trace.links if case.trace else ()
    classes = {group.error_class for group in case.groups} | {link.error_class for link in links}
    causes = {cause.partition(": ")[0] for cause in lesson.causes}
    return not classes.isdisjoint({lesson.error_class, *causes})


def recall(
    case: Case, index: Index, limit: int = LIMIT, threshold: float = THRESHOLD
) -> tuple[tuple[IndexEntry, Match], ...]:
    """Find the lessons nearest to the case, best first: the case's own, then similar ones.

    At most `limit`, none scored below `threshold`, and of similar ones none that knows no cause.
    Among equals the one seen last comes first, then the order of file names decides.
    """
    scored = ((entry, match(case, entry)) for entry in index.solutions)
    near = [
        (entry, found)
        for entry, found in scored
        if found.score >= threshold and (found.is_same or not entry.unknown)
    ]
    return tuple(sorted(near, key=lambda pair: _rank(case, *pair))[:limit])


def _rank(case: Case, entry: IndexEntry, found: Match) -> tuple[int, float, int, str]:
    """Own fingerprint, other names, then points (not capped, so that a full score breaks ties)."""
    order = {"same": 0, "alias": 1}.get(found.kind, 2)
    points = sum(points for points, _ in _points(case, entry))
    seen = entry.last_seen.toordinal() if entry.last_seen else 0
    return order, -round(points, 2), -seen, entry.file


def own_entry(case: Case, entries: Iterable[IndexEntry]) -> IndexEntry | None:
    """Find the lesson about this very case; None where it is new."""
    same = [(entry, near) for entry in entries if (near := match(case, entry)).is_same]
    return min(same, key=lambda pair: _rank(case, *pair))[0] if same else None
