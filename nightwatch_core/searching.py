"""Find lessons by a person's words."""

import re
from collections.abc import Iterable

from nightwatch_core.models.knowledge import IndexEntry, Match

_WORD = re.compile(r"[a-z0-9]{2,40}")


def search_lessons(
    query: str, entries: Iterable[IndexEntry]
) -> tuple[tuple[IndexEntry, Match], ...]:
    """Entries that hold words of the query, those with the largest share first.

    >>> entry = IndexEntry(file="a.md", fingerprint="v1:a", error_class="KeyError", tags=("cart",))
    >>> [match.because for _, match in search_lessons("cart total", (entry,))]
    [('cart',)]
    """
    wanted = tuple(dict.fromkeys(_WORD.findall(query.lower()[:500])))
    scored = ((entry, _match(wanted, entry)) for entry in entries)
    found = [(entry, match) for entry, match in scored if match.because]
    return tuple(sorted(found, key=lambda pair: (-pair[1].score, pair[0].file)))


def _match(wanted: tuple[str, ...], entry: IndexEntry) -> Match:
    text = " ".join((entry.error_class, entry.transaction, entry.fingerprint, *entry.tags)).lower()
    held = tuple(word for word in wanted if word in text)
    return Match(score=round(len(held) / max(len(wanted), 1), 2), because=held)
