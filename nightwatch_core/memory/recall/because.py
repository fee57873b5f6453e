"""Why a lesson was recalled, in words."""

from collections.abc import Callable, Iterable

from nightwatch_core.memory.recall.search_document import Footprint
from nightwatch_core.memory.recall.terms import classes
from nightwatch_core.memory.seed_score import seed_tags
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template, transaction_template

_MOST_NAMED, _LONGEST = 2, 120  # frames, characters of a quoted text


def _frames(query: Footprint, lesson: Footprint) -> str:
    shared = _shared((*query.places, *query.frames), (*lesson.places, *lesson.frames))
    named = ", ".join(line(name, _LONGEST) for name in shared[:_MOST_NAMED])
    more = f" and {len(shared) - _MOST_NAMED} more" if len(shared) > _MOST_NAMED else ""
    return f"same frames {named}{more}" if len(shared) > 1 else f"same frame {named}" * len(shared)


def _message(query: Footprint, lesson: Footprint) -> str:
    own, other = message_template(query.message), message_template(lesson.message)
    return f"same message “{line(own, _LONGEST)}”" if own and own == other else ""


def _class(query: Footprint, lesson: Footprint) -> str:
    same = query.error_class and query.error_class == lesson.error_class
    return f"same class {line(query.error_class, _LONGEST)}" if same else ""


def _cause(query: Footprint, lesson: Footprint) -> str:
    """A class that one of them wraps, or names in its message."""
    outer = {last_segment(query.error_class)} & {last_segment(lesson.error_class)}
    shared = [name for name in _shared(classes(query), classes(lesson)) if name not in outer]
    return f"same cause {line(shared[0], _LONGEST)}" if shared else ""


def _transaction(query: Footprint, lesson: Footprint) -> str:
    own, other = transaction_template(query.transaction), transaction_template(lesson.transaction)
    told = query.transaction and lesson.transaction and own == other
    return f"same transaction {line(own, _LONGEST)}" if told else ""


def _tags(query: Footprint, lesson: Footprint) -> str:
    shared = _shared(seed_tags(query.error_class, query.transaction), lesson.tags)
    return f"shared tags {', '.join(line(tag, 60) for tag in shared[:5])}" if shared else ""


REASONS: tuple[Callable[[Footprint, Footprint], str], ...] = (
    _frames,
    _message,
    _class,
    _cause,
    _transaction,
    _tags,
)
SIMILAR_WORDS = "similar words"  # where nothing is the same as a whole


def because(query: Footprint, lesson: Footprint) -> tuple[str, ...]:
    """What both have in common, the strongest first.

    >>> because(Footprint(error_class="KeyError", message="no 17"), Footprint(message="no 4"))
    ('same message “no <n>”',)
    """
    found = tuple(filter(None, (reason(query, lesson) for reason in REASONS)))
    return found or (SIMILAR_WORDS,)


def _shared(own: Iterable[str], other: Iterable[str]) -> list[str]:
    there = frozenset(other)
    return [name for name in dict.fromkeys(own) if name and name in there]
