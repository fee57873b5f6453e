"""Find lessons by a person's words."""

import re
from collections.abc import Iterable

from nightwatch_core.models.knowledge import Lesson, Match

_WORD = re.compile(r"\w{2,60}")


def search_lessons(query: str, lessons: Iterable[Lesson]) -> tuple[tuple[Lesson, Match], ...]:
    """Lessons that hold words of the query, those with the largest share first.

    Words are looked for in class, transaction, message, title, cause and tags, and as the
    beginning of a fingerprint. Lessons that know no cause have nothing to tell.

    >>> from datetime import date
    >>> cart = Lesson(fingerprint="v1:a", error_class="KeyError", root_cause="total is missing",
    ...               first_detected=date(2026, 11, 20))
    >>> [match.because for _, match in search_lessons("missing price", (cart,))]
    [('missing',)]
    """
    wanted = tuple(dict.fromkeys(_WORD.findall(query.lower()[:500])))
    scored = ((lesson, _match(wanted, lesson)) for lesson in lessons if lesson.has_cause)
    matches = [(lesson, match) for lesson, match in scored if match.because]
    return tuple(sorted(matches, key=lambda pair: (-pair[1].score, pair[0].file)))


def _match(wanted: tuple[str, ...], lesson: Lesson) -> Match:
    names = (lesson.error_class, lesson.transaction, lesson.message, lesson.title)
    text = " ".join((*names, lesson.root_cause, *lesson.names, *lesson.tags)).lower()
    held = tuple(word for word in wanted if word in text)
    return Match(score=round(len(held) / max(len(wanted), 1), 2), because=held)
