"""From tonight's case to the lessons that it recalls, and why."""

import hashlib
import heapq
import math
import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from typing import NamedTuple

from nightwatch_core.intake.fingerprint import FUNCTION_NOISE
from nightwatch_core.memory import limits
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.limits import MOST_ASKED, MOST_CANDIDATES
from nightwatch_core.models.errors import Case, ExceptionLink, Frame
from nightwatch_core.models.knowledge import IndexEntry, Lesson, Match
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.text.templates import message_template, transaction_template
from nightwatch_core.text.words import last_segment

# What an error leaves behind that tells it from others: the same of tonight's case and a lesson.
#
# Names survive what changes between two meetings: ids in messages, numbers of compiled closures and
# proxies, packages that were renamed, the exception an outer layer wrapped around the first one.

NEAR = 3  # innermost frames of an exception that say where it was raised
# How the name of an error class ends, in a message that quotes it.
CLASS_ENDINGS = ("Exception", "Error", "Failure", "Fault", "Timeout")
_CHUNK = re.compile(r"[\w.:\\$]+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PLACEHOLDER = re.compile(r"<[a-z]+>")
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[/\\]+")


class SearchDocument(Value):
    """Compared parts of an error; frames are `module.function`, innermost and root cause first."""

    error_class: str = ""
    message: str = ""
    transaction: str = ""
    causes: tuple[str, ...] = ()  # "Class: message" of the exceptions it wraps
    places: tuple[str, ...] = ()  # frames nearest to where an exception was raised
    frames: tuple[str, ...] = ()  # of the application; of everything where it has none
    tags: tuple[str, ...] = ()  # of a lesson


def document_of_case(case: Case) -> SearchDocument:
    """Take what is compared from tonight's error."""
    leader, links = case.leader, case.trace.links[::-1] if case.trace else ()
    reported = (leader.error_class, leader.message)
    causes = (
        line(f"{link.error_class}: {link.message}", limits.LONGEST_MESSAGE)
        for link in links
        if link.error_class and (link.error_class, link.message) != reported
    )
    every = tuple(islice((f for link in links for f in link.frames), limits.MOST_FRAMES_READ))
    own = tuple(frame for frame in every if frame.in_app)
    return SearchDocument(
        error_class=line(leader.error_class, limits.LONGEST_FRAME * 2),
        message=line(leader.message, limits.LONGEST_MESSAGE),
        transaction=line(leader.transaction, limits.LONGEST_FRAME * 4),
        causes=_unique(causes, limits.MOST_CAUSES),
        places=_unique(_places(links), limits.MOST_PLACES),
        frames=tuple(islice(filter(None, map(frame_name, own or every)), limits.MOST_FRAMES)),
    )


def _places(links: tuple[ExceptionLink, ...]) -> Iterable[str]:
    for link in links:
        frames = link.frames[: limits.MOST_FRAMES_READ]
        own = tuple(islice((frame for frame in frames if frame.in_app), NEAR))
        yield from map(frame_name, (*frames[:NEAR], *own))


def _unique(texts: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(text for text in texts if text), most))


def document_of_lesson(lesson: Lesson) -> SearchDocument:
    """Take what is compared from a lesson; people may have edited it to any length."""
    return SearchDocument(
        error_class=lesson.error_class[: limits.LONGEST_FRAME * 2],
        message=lesson.message[: limits.LONGEST_MESSAGE],
        transaction=lesson.transaction[: limits.LONGEST_FRAME * 4],
        causes=_cut(lesson.causes[: limits.MOST_CAUSES], limits.LONGEST_MESSAGE),
        places=_cut(lesson.places[: limits.MOST_PLACES]),
        frames=_cut(lesson.frames[: limits.MOST_FRAMES]),
        tags=_cut(lesson.tags[: limits.MOST_TAGS_COMPARED]),
    )


def _cut(texts: tuple[str, ...], most: int = limits.LONGEST_FRAME) -> tuple[str, ...]:
    return tuple(text[:most] for text in texts)


def traces_of(case: Case) -> dict[str, tuple[str, ...]]:
    """Fill the fields of a lesson that a search compares: causes, places and frames.

    >>> from nightwatch_core.models.errors import ErrorGroup
    >>> traces_of(Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="E")))
    {'causes': (), 'places': (), 'frames': ()}
    """
    document = document_of_case(case)
    return {"causes": document.causes, "places": document.places, "frames": document.frames}


def frame_name(frame: Frame) -> str:
    """Class, or folder and file, and function of a frame, without what compilers count up.

    >>> frame_name(Frame(path="shop/orders/views.py", function="show"))
    'orders/views.show'
    >>> frame_name(Frame(path="Worker.java", module="a.b.Worker$fn__4348", function="lambda$run$3"))
    'Worker$fn__.lambda$run'
    """
    name = frame.function.strip()[: limits.LONGEST_FRAME]
    for pattern, replacement in FUNCTION_NOISE:
        name = pattern.sub(replacement, name)
    owner = _owner(frame.module, frame.repo_path or frame.path)
    return line(f"{owner}.{_DIGITS.sub('', name)}".strip("."), limits.LONGEST_FRAME)


def _owner(module: str, path: str) -> str:
    """The class without its package, else the last folder and the file without its ending."""
    simple = re.split(r"::|[.\\/]", module.strip()[-limits.LONGEST_FRAME :])[-1]
    if simple:
        return _DIGITS.sub("", simple)
    folders = _PARTS.split(path.strip()[-limits.LONGEST_FRAME :])[-2:]
    file = folders[-1].partition(".")[0]
    return _DIGITS.sub("", "/".join((*folders[:-1], file)))


def classes(document: SearchDocument) -> Iterable[str]:
    """Classes without their packages: the error's, its causes', and those its messages name.

    >>> list(classes(SearchDocument(error_class="a.JMSError", message="x.PointerException: null")))
    ['JMSError', 'PointerException']
    """
    yield last_segment(document.error_class)
    yield from (last_segment(cause.partition(": ")[0]) for cause in document.causes)
    yield from (last_segment(chunk) for chunk in _named_classes(document.message))


def template(document: SearchDocument) -> Iterable[str]:
    """Return the message without what changes from one occurrence to the next."""
    text = message_template(document.message)
    return (text,) if len(text) > 3 else ()


def words(document: SearchDocument) -> Iterable[str]:
    """Return words of the message and pairs of neighbours; a class it names is told elsewhere.

    >>> list(words(SearchDocument(message="order 17 has no totalPrice")))
    ['order', 'has', 'no', 'total', 'price', 'order has', 'has no', 'no total', 'total price']
    """
    text = _PLACEHOLDER.sub(" ", message_template(document.message))
    named = set(_named_classes(text))
    single = [w for chunk in _CHUNK.findall(text) if chunk not in named for w in _words(chunk)]
    return (*single, *(f"{item} {other}" for item, other in zip(single, single[1:], strict=False)))


def transaction(document: SearchDocument) -> Iterable[str]:
    """Return the transaction without ids."""
    return (_DIGITS.sub("", transaction_template(document.transaction)),)


def places(document: SearchDocument) -> Iterable[str]:
    """Return the locations its exceptions were raised at."""
    return document.places


def names(document: SearchDocument) -> Iterable[str]:
    """Return words of the frames: what is left of a name when code is moved or renamed in part.

    >>> list(names(SearchDocument(frames=("orders/views.showOrder",))))
    ['orders', 'views', 'show', 'order']
    """
    return (word for frame in document.frames for word in _words(frame))


FIELDS = (classes, template, words, transaction, places, names)


class Terms(NamedTuple):
    """Numbers of the terms of each of FIELDS, repeated as often as they occur."""

    fields: tuple[tuple[int, ...], ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Return the number of terms of each field."""
        return tuple(map(len, self.fields))

    @property
    def all(self) -> tuple[int, ...]:
        """Of every field, one after the other."""
        return tuple(number for field in self.fields for number in field)


def terms_of(document: SearchDocument) -> Terms:
    """List the terms of an error, field by field."""
    return Terms(
        tuple(
            tuple(_number(at, text) for text in list(field(document))[: limits.MOST_TERMS] if text)
            for at, field in enumerate(FIELDS)
        )
    )


def _number(field: int, text: str) -> int:
    """32 bits: two of a million terms may share one, which moves a score by next to nothing."""
    key = f"{field}\0{text}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest(), "big")


def _named_classes(text: str) -> list[str]:
    return [item for item in _CHUNK.findall(text) if item.rstrip(".:\\").endswith(CLASS_ENDINGS)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if len(word) > 1]


# The share of tonight's error that an earlier lesson has in common.
#
# BM25 of every field (rare terms count more, repeated ones less and less, long fields less),
# weighed by what labelled pairs taught, and divided by the square root of the number of terms asked
# for, so that a long trace does not drown a message.


class Learned(Value):
    """Figures that labelled pairs taught: recall.toml says how."""

    made: str
    how: str
    weights: tuple[float, ...]  # in the order of FIELDS
    age: float
    calibration: tuple[tuple[float, float], ...]


LEARNED = Learned.model_validate(
    tomllib.loads((files(__package__) / "recall.toml").read_text("utf-8"))
)
CALIBRATION = LEARNED.calibration
SATURATION, LENGTH_MATTERS = 1.2, 0.75  # BM25's usual k1 and b
UNTOLD = 0.15  # what a field that a lesson lacks counts; chosen on lessons without their traces


class Corpus(NamedTuple):
    """Number of lessons, and average number of terms in each field."""

    lessons: int
    lengths: tuple[float, ...]


class QueryTerm(NamedTuple):
    """A term asked for: its field, what it is worth, what the error itself would score by it."""

    field: int
    worth: float
    own: float
    lessons: int  # that have it


def query_terms(
    query: Terms,
    corpus: Corpus,
    frequencies: Mapping[int, int],
    weights: Sequence[float] = LEARNED.weights,
) -> dict[int, QueryTerm]:
    """Every term of the query with its worth; `frequencies` are lessons a term, 0 where unknown."""
    terms: dict[int, QueryTerm] = {}
    for field, numbers in enumerate(query.fields):
        counts = Counter(numbers)
        boost = weights[field] / math.sqrt(len(counts) or 1)
        slack = _slack(len(numbers), corpus.lengths[field])
        for number, count in counts.items():
            lessons = min(frequencies.get(number, 0), corpus.lessons)
            worth = boost * math.log1p((corpus.lessons - lessons + 0.5) / (lessons + 0.5))
            own = worth * count * (SATURATION + 1) / (count + slack)
            terms[number] = QueryTerm(field, worth, own, lessons)
    return terms


def points(
    terms: Mapping[int, QueryTerm],
    counts: Mapping[int, int],
    lengths: Sequence[int],
    corpus: Corpus,
) -> list[float]:
    """Return a lesson's score in each field; `counts` is how often it has each term."""
    scores = [0.0] * len(lengths)
    slack = [_slack(length, mean) for length, mean in zip(lengths, corpus.lengths, strict=True)]
    for number in terms.keys() & counts.keys():
        field, worth, _, _ = terms[number]
        count = counts[number]
        scores[field] += worth * count * (SATURATION + 1) / (count + slack[field])
    return scores


def own_points(terms: Mapping[int, QueryTerm], fields: int) -> list[float]:
    """Return the error's own score in each field."""
    scores = [0.0] * fields
    for term in terms.values():
        scores[term.field] += term.own
    return scores


def share(scored: float, own: Sequence[float], lengths: Sequence[int]) -> float:
    """The part (0 to 1) of what the error itself would score; fields a lesson lacks count less.

    >>> share(3.0, (4.0, 4.0), (1, 1)), round(share(3.0, (4.0, 4.0), (1, 0)), 3)
    (0.375, 0.652)
    """
    pairs = zip(own, lengths, strict=True)
    possible = sum(points if length else points * UNTOLD for points, length in pairs)
    return min(1.0, scored / possible) if possible else 0.0


def aged(scored: float, days: float) -> float:
    """Return a score less what the time between two sightings speaks against it.

    >>> aged(5.0, 0), aged(5.0, 365) < aged(5.0, 30) < 5.0
    (5.0, True)
    """
    return scored - LEARNED.age * math.log1p(abs(days) / 30)


def relevance(share: float) -> float:
    """Return the calibrated relevance of a score, 0 to 1.

    >>> relevance(0.0) < relevance(0.3) < relevance(0.6) <= relevance(1.0) <= 1.0
    True
    """
    at = bisect_left(CALIBRATION, (share, -1.0))
    if at == 0 or at == len(CALIBRATION):
        return CALIBRATION[min(at, len(CALIBRATION) - 1)][1]
    (low, before), (high, after) = CALIBRATION[at - 1], CALIBRATION[at]
    return round(before + (after - before) * (share - low) / (high - low), 3)


def _slack(length: int, mean: float) -> float:
    return SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * length / (mean or 1))


# The visible score: how near an earlier lesson is by class, transaction and shared tags.
#
# What a night recalls is found by `LessonSearch`, which shows this score beside its relevance.

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


def names_of_case(case: Case) -> frozenset[str]:
    """List every name the case may be known by.

    >>> from nightwatch_core.models.errors import ErrorGroup
    >>> leader = ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError")
    >>> sorted(names_of_case(Case(leader=leader, signature="s1:b")))
    ['s1:b', 'v1:a']
    """
    return frozenset((case.fingerprint, *case.aliases))


def _points(case: Case, entry: IndexEntry) -> Iterator[tuple[float, str]]:
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

    >>> from nightwatch_core.models.errors import ErrorGroup
    >>> case = Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError"))
    >>> near = match(case, IndexEntry(file="", fingerprint="v1:b", error_class="KeyError"))
    >>> near.score, near.because
    (0.5, ('same class KeyError',))
    """
    if entry.fingerprint == case.fingerprint:
        return SAME
    if not names_of_case(case).isdisjoint((entry.fingerprint, *entry.aliases)):
        return SAME_BY_ALIAS
    shared = tuple(_points(case, entry))
    score = min(1.0, round(sum(points for points, _ in shared), 2))
    return Match(score=score, because=tuple(reason for _, reason in shared))


def is_same_error(case: Case, lesson: Lesson) -> bool:
    """Tell whether a lesson that carries one of the case's names may be about the same error.

    Its own fingerprint says so. An alias does where any of their classes is the same: a document
    may claim the name of anything.
    """
    if lesson.fingerprint in names_of_case(case):
        return True
    links = case.trace.links if case.trace else ()
    classes = {group.error_class for group in case.groups} | {link.error_class for link in links}
    causes = {cause.partition(": ")[0] for cause in lesson.causes}
    return not classes.isdisjoint({lesson.error_class, *causes})


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


_MOST_NAMED, _LONGEST_QUOTED = 2, 120  # frames, characters of a quoted text
Recalled = tuple[tuple[IndexEntry, Match], ...]


class SearchedLesson(NamedTuple):
    """A lesson as a search compares it."""

    entry: IndexEntry
    document: SearchDocument
    lengths: tuple[int, ...]  # terms of each of FIELDS
    counts: Mapping[int, int]  # how often it has each term


class Near(NamedTuple):
    """A lesson near the query: `rank` sorts (highest first), `share` is what it matched."""

    lesson: SearchedLesson
    rank: float
    share: float


class LessonSearch:
    """Search over the lessons at hand, of which there are at most some hundred: in memory."""

    def __init__(self, lessons: Iterable[Lesson] = ()) -> None:
        self.lessons = tuple(map(_searched, lessons))
        self.frequencies = Counter(number for lesson in self.lessons for number in lesson.counts)
        count = len(self.lessons)
        columns = zip(*(lesson.lengths for lesson in self.lessons), strict=True)
        means = tuple(sum(column) / count for column in columns)
        self.corpus = Corpus(count, means or (0.0,) * len(FIELDS))

    def similar(self, case: Case, limit: int = LIMIT, threshold: float = THRESHOLD) -> Recalled:
        """Find the case's own lesson, then those of similar errors, best first, from `threshold`.

        Lessons that know no cause have nothing to say of another error. Ties go to the one seen
        last, then by file name.
        """
        query, own = document_of_case(case), self._own(case)
        own_files = {entry.file for entry, _ in own}
        results = list(own[:limit])
        seen = [group.last_seen for group in case.groups if group.last_seen]
        for near in self.nearest(query, max(seen).date().toordinal() if seen else 0):
            if len(results) >= limit:
                break
            entry, sure = near.lesson.entry, relevance(near.share)
            if entry.file in own_files or entry.unknown or sure < threshold:
                continue
            because = reasons(query, near.lesson.document)
            results.append(
                (entry, Match(score=match(case, entry).score, because=because, relevance=sure))
            )
        return tuple(results)

    def nearest(self, query: SearchDocument, day: int = 0) -> list[Near]:
        """Rank the lessons that share a term with an error last seen on `day`, best first."""
        asked = query_terms(terms_of(query), self.corpus, self.frequencies)
        own, found = own_points(asked, len(FIELDS)), []
        for lesson in self._candidates(asked):
            scored = sum(points(asked, lesson.counts, lesson.lengths, self.corpus))
            seen = lesson.entry.last_seen.toordinal() if lesson.entry.last_seen else 0
            rank = round(aged(scored, seen - day if seen and day else 0), 9)
            found.append(Near(lesson, rank, share(scored, own, lesson.lengths)))
        return sorted(found, key=lambda near: (-near.rank, *_newest_first(near.lesson.entry)))

    def _candidates(self, asked: Mapping[int, QueryTerm]) -> list[SearchedLesson]:
        """Those that share most of the worthiest terms: the others only crowd the ranking."""
        present = (number for number, term in asked.items() if term.lessons)
        worthiest = heapq.nlargest(MOST_ASKED, present, key=lambda number: asked[number].worth)
        pairs = (
            (sum(asked[number].worth for number in worthiest if number in lesson.counts), at)
            for at, lesson in enumerate(self.lessons)
        )
        best = heapq.nlargest(MOST_CANDIDATES, (pair for pair in pairs if pair[0] > 0))
        return [self.lessons[at] for _, at in best]

    def _own(self, case: Case) -> Recalled:
        """Lessons on this very case: by its fingerprint, then by its other names, newest first."""
        matches = ((lesson.entry, match(case, lesson.entry)) for lesson in self.lessons)
        same = [(e, m.model_copy(update={"relevance": 1.0})) for e, m in matches if m.is_same]
        return tuple(
            sorted(same, key=lambda pair: (pair[1].kind == "alias", *_newest_first(pair[0])))
        )


def _searched(lesson: Lesson) -> SearchedLesson:
    document = document_of_lesson(lesson)
    terms = terms_of(document)
    return SearchedLesson(entry_of(lesson), document, terms.lengths, Counter(terms.all))


def _newest_first(entry: IndexEntry) -> tuple[int, str]:
    return -entry.last_seen.toordinal() if entry.last_seen else 0, entry.file


SIMILAR_WORDS = "similar words"  # where nothing is the same as a whole


def reasons(query: SearchDocument, lesson: SearchDocument) -> tuple[str, ...]:
    """Name what both have in common, the strongest first.

    >>> reasons(SearchDocument(error_class="E", message="no 17"), SearchDocument(message="no 4"))
    ('same message “no <n>”',)
    """
    return tuple(_reasons(query, lesson)) or (SIMILAR_WORDS,)


def _reasons(query: SearchDocument, lesson: SearchDocument) -> Iterator[str]:
    frames = _shared((*query.places, *query.frames), (*lesson.places, *lesson.frames))
    if frames:
        named = ", ".join(line(name, _LONGEST_QUOTED) for name in frames[:_MOST_NAMED])
        more = f" and {len(frames) - _MOST_NAMED} more" if len(frames) > _MOST_NAMED else ""
        yield f"same frame{'s' if len(frames) > 1 else ''} {named}{more}"
    message = message_template(query.message)
    if message and message == message_template(lesson.message):
        yield f"same message “{line(message, _LONGEST_QUOTED)}”"
    if query.error_class and query.error_class == lesson.error_class:
        yield f"same class {line(query.error_class, _LONGEST_QUOTED)}"
    outer = {last_segment(query.error_class)} & {last_segment(lesson.error_class)}
    if causes := [name for name in _shared(classes(query), classes(lesson)) if name not in outer]:
        yield f"same cause {line(causes[0], _LONGEST_QUOTED)}"
    own = transaction_template(query.transaction)
    if query.transaction and lesson.transaction and own == transaction_template(lesson.transaction):
        yield f"same transaction {line(own, _LONGEST_QUOTED)}"
    if tags := _shared(seed_tags(query.error_class, query.transaction), lesson.tags):
        yield f"shared tags {', '.join(line(tag, 60) for tag in tags[:5])}"


def _shared(own: Iterable[str], other: Iterable[str]) -> list[str]:
    others = frozenset(other)
    return [name for name in dict.fromkeys(own) if name and name in others]


# Find lessons by a person's words.

_SEARCH_WORD = re.compile(r"\w{2,60}")


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
    wanted = tuple(dict.fromkeys(_SEARCH_WORD.findall(query.lower()[:500])))
    scored = ((lesson, _match(wanted, lesson)) for lesson in lessons if lesson.has_cause)
    matches = [(lesson, match) for lesson, match in scored if match.because]
    return tuple(sorted(matches, key=lambda pair: (-pair[1].score, pair[0].file)))


def _match(wanted: tuple[str, ...], lesson: Lesson) -> Match:
    names = (lesson.error_class, lesson.transaction, lesson.message, lesson.title)
    text = " ".join((*names, lesson.root_cause, *lesson.names, *lesson.tags)).lower()
    held = tuple(word for word in wanted if word in text)
    return Match(score=round(len(held) / max(len(wanted), 1), 2), because=held)
