"""The rule for errors that come back without a known cause, and the end of such a pattern.

An error is one class at one place with one message. Nothing is claimed about its cause: the pattern
counts, and names the one step that would decide it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from nightwatch_core.memory.occurrences import last_seen
from nightwatch_core.memory.prior_analyses import RULES
from nightwatch_core.memory.rates import was_gone
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.knowledge import Lesson, Pattern
from nightwatch_core.patterns.members import (
    NIGHTS,
    RECENT,
    all_occurrences,
    by_error,
    dates_seen,
    listed,
    most_frequent,
    open_lessons,
    pattern_of_lessons,
)
from nightwatch_core.patterns.nights import NightGroups, Sightings
from nightwatch_core.patterns.signs import CLIENT, REQUEST
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural
from nightwatch_core.text.templates import message_template, says_another_thing
from nightwatch_core.text.transactions import endpoint

UNEXPLAINED = "unexplained"
QUIET = 3  # nights without the error, before it counts as gone
_LONGEST_CLASS, _LONGEST_PLACE, _LONGEST_MESSAGE = 40, 50, 120  # characters
_SHOWN = 11  # of a fingerprint: "v1:" and eight digits


def unexplained(
    analyses: tuple[Analysis, ...], lessons: tuple[Lesson, ...], nights: Sequence[NightGroups] = ()
) -> list[Pattern]:
    """Return the errors without a known cause that came on three nights or more.

    They are put together by root class, place and message. A document with a cause speaks for
    every other document of its error, so that those are left out.
    """
    explained = [held for held in by_error(lessons) if any(item.has_cause for item in held)]
    known = {item.fingerprint for held in explained for item in held}
    by_place: dict[tuple[str, str, str], list[Lesson]] = defaultdict(list)
    recent = (item for item in open_lessons(lessons) if item.fingerprint not in known)
    for lesson in sorted(recent, key=lambda item: item.first_detected):
        by_place[_key(lesson)].append(lesson)
    sightings = Sightings(nights)
    return [
        _pattern(held, nights, sightings)
        for together in by_place.values()
        for held in _by_message(together)
        if len(dates_seen(held)) >= NIGHTS
    ]


def _root_class(lesson: Lesson) -> str:
    return lesson.causes[0].partition(": ")[0] if lesson.causes else lesson.error_class


def _place(lesson: Lesson) -> str:
    """The file and function that failed; without a frame of the application, the transaction."""
    function = lesson.frames[0].rpartition(".")[2] if lesson.frames else ""
    if lesson.module:
        return f"{lesson.module} ({function})" if function else lesson.module
    return lesson.transaction


def _key(lesson: Lesson) -> tuple[str, str, str]:
    """Return class, place and message; of those with a place in the code, messages may vary."""
    if lesson.module:
        return _root_class(lesson), _place(lesson), ""
    called = endpoint(lesson.transaction).module or lesson.transaction
    return _root_class(lesson), called, message_template(lesson.message)


def _by_message(lessons: Iterable[Lesson]) -> list[list[Lesson]]:
    groups: list[list[Lesson]] = []
    for lesson in lessons:
        same = (g for g in groups if not says_another_thing(g[0].message, lesson.message))
        group = next(same, None)
        if group is None:
            groups.append([lesson])
        else:
            group.append(lesson)
    return groups


def _pattern(held: list[Lesson], nights: Sequence[NightGroups], sightings: Sightings) -> Pattern:
    names = frozenset[str]().union(*(lesson.names for lesson in held))
    days, first, users = dates_seen(held), held[0], sightings.most_users(names)
    read = max(len(days), sum(night.date >= days[0] for night in nights))
    routes = most_frequent(
        (*(group.transaction for _, group in sightings.of(names)), *(i.transaction for i in held))
    )
    message = line(message_template(first.message), _LONGEST_MESSAGE)
    name, place = line(_root_class(first), _LONGEST_CLASS), line(_place(first), _LONGEST_PLACE)
    pattern = pattern_of_lessons(
        f"{name} keeps coming back{f' in {place}' if place else ''}",
        held,
        pattern_type="recurring_error",
        description=(
            f"Cause unknown. Seen on {len(days)} of {plural(read, 'night')} since {days[0]}, "
            f"{plural(all_occurrences(held), 'time')}{f', in {listed(routes)}' if routes else ''}."
        ),
        suggestion=_next_step(held),
    )
    because = (
        f"one class, one place and one message: “{message}”" if message else "",
        "" if users is None else f"at most {plural(users, 'user')} a night",
    )
    return pattern.model_copy(update={"because": tuple(filter(None, because))})


def _next_step(held: list[Lesson]) -> str:
    """Name the step that would decide it: first a missing trace, then what its analyst asks for."""
    newest = max(held, key=lambda lesson: (last_seen(lesson), len(lesson.nights)))
    again = f"`nightwatch one {newest.fingerprint[:_SHOWN]}`"
    caused = (
        sign for sign in (CLIENT, REQUEST) if sign.is_on(newest.error_class, (newest.message,))
    )
    if sign := next(caused, None):
        return f"{sign.reason.capitalize()}: see `nightwatch ignore suggestions`."
    asked = line(newest.question or next(iter(newest.next_steps), ""), 250)
    if not newest.frames:
        return f"No stack trace of it was read: log the exception with its trace, then run {again}."
    if newest.model == RULES:
        return f"Only the rules looked at it: connect a model, then run {again}."
    return asked or f"Log the values that {_place(newest)} works with, then run {again}."


# A pattern is opened once, and closed when its error is explained, ignored or gone.


def with_own_titles(found: Iterable[Pattern], before: Sequence[Pattern]) -> list[Pattern]:
    """Return patterns of this rule, each with the title of the document that has its errors.

    A new one whose title another document has gets a digest of its error's name as well.
    """
    own = [pattern for pattern in before if pattern.rule == UNEXPLAINED]
    taken = {pattern.title for pattern in before}
    named = []
    for pattern in found:
        members = set(pattern.fingerprints)
        same = next((item for item in own if not members.isdisjoint(item.fingerprints)), None)
        if same:
            own.remove(same)
        title = same.title if same else pattern.title
        if not same and title in taken:
            digest = hashlib.sha256(pattern.fingerprints[0].encode()).hexdigest()[:6]
            title = f"{title}, error {digest}"
        taken.add(title)
        named.append(pattern.model_copy(update={"title": title}))
    return named


def closings(
    before: Iterable[Pattern],
    lessons: tuple[Lesson, ...],
    nights: Sequence[NightGroups],
    ignored: frozenset[str],
    on: date,
) -> list[Pattern]:
    """Return the open patterns of this rule that end on that date, with the reason.

    `ignored` are the lessons whose errors an ignore rule covers. What was closed on that date is
    returned again, so that a repeated run says the same.
    """
    closed = []
    for pattern in before:
        if pattern.rule != UNEXPLAINED or (pattern.closed and pattern.closed != on):
            continue
        own = frozenset(pattern.fingerprints)
        members = [lesson for lesson in lessons if not own.isdisjoint(lesson.names)]
        if reason := _end(members, nights, ignored, on):
            closed.append(pattern.model_copy(update={"closed": on, "closed_because": reason}))
    return closed


def _end(
    members: list[Lesson], nights: Sequence[NightGroups], ignored: frozenset[str], on: date
) -> str:
    if not members:
        return "its errors are no longer in the memory"
    unknown = [i for held in by_error(members) for i in held if not any(j.has_cause for j in held)]
    if not unknown:
        return "its cause is known"
    if all(lesson.fingerprint in ignored for lesson in unknown):
        return "an ignore rule covers it"
    last = max(map(last_seen, unknown))
    if on - last > RECENT:
        return f"not seen since {last}"
    quiet = [night.window for night in nights if last < night.date <= on]
    hours = sum((window.until - window.since) / timedelta(hours=1) for window in quiet)
    sightings = (seen for lesson in unknown for seen in lesson.nights)
    if len(quiet) >= QUIET and was_gone(sightings, hours):
        return f"not seen on the last {plural(len(quiet), 'night')}, since {last}"
    return ""


def is_news(pattern: Pattern, on: date) -> bool:
    """Tell whether a pattern is reported on that date: one of this rule when it opens or closes."""
    return pattern.rule != UNEXPLAINED or on in (pattern.opened, pattern.closed)
