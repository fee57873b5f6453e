"""From tonight's case to the lessons that it recalls, and why."""

import heapq
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from nightwatch_core.memory import limits
from nightwatch_core.memory.index import entry_of
from nightwatch_core.memory.limits import MOST_ASKED, MOST_CANDIDATES
from nightwatch_core.models.errors import Case, ExceptionLink, Frame
from nightwatch_core.models.knowledge import IndexEntry, Lesson, Match
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.text.fingerprints import FUNCTION_NOISE
from nightwatch_core.text.plain_text import data_table
from nightwatch_core.text.templates import (
    message_template,
    says_another_thing,
    transaction_template,
)
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
    """Take what is compared from a lesson; words of its class and transaction are tags, too."""
    words = seed_tags(lesson.error_class, lesson.transaction)
    return SearchDocument(
        error_class=lesson.error_class,
        message=lesson.message[: limits.LONGEST_MESSAGE],
        transaction=lesson.transaction,
        causes=lesson.causes[: limits.MOST_CAUSES],
        places=lesson.places[: limits.MOST_PLACES],
        frames=lesson.frames[: limits.MOST_FRAMES],
        tags=(*words, *lesson.tags)[: limits.MOST_TAGS_COMPARED],
    )


def traces_of(case: Case) -> dict[str, tuple[str, ...]]:
    """Fill the fields of a lesson that a search compares: causes, places and frames."""
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
    """Classes without their packages: the error's, its causes', and those its messages name."""
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
    """Return words of the frames: what is left of a name when code is moved or renamed in part."""
    return (word for frame in document.frames for word in _words(frame))


FIELDS = (classes, template, words, transaction, places, names)


Term = tuple[int, str]  # the place of its field in FIELDS, and its text


class Terms(NamedTuple):
    """The terms of an error: how often it has each, and how many of each field."""

    counts: Counter[Term]
    lengths: tuple[int, ...]


def terms_of(document: SearchDocument) -> Terms:
    """List the terms of an error, field by field."""
    texts = [list(field(document))[: limits.MOST_TERMS] for field in FIELDS]
    every = [(at, text) for at, own in enumerate(texts) for text in own if text]
    lengths = Counter(at for at, _ in every)
    return Terms(Counter(every), tuple(lengths[at] for at in range(len(FIELDS))))


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


LEARNED = data_table("nightwatch_core.memory", "recall.toml", Learned)
CALIBRATION = LEARNED.calibration
SATURATION, LENGTH_MATTERS = 1.2, 0.75  # BM25's usual k1 and b
UNTOLD = 0.15  # what a field that a lesson lacks counts; chosen on lessons without their traces


class Corpus(NamedTuple):
    """Number of lessons, average number of terms in each field, and lessons that have each term."""

    lessons: int
    lengths: tuple[float, ...]
    frequencies: Counter[Term]


def worth_of_terms(
    query: Terms, corpus: Corpus, weights: Sequence[float] = LEARNED.weights
) -> dict[Term, float]:
    """Return what each term of the query is worth: the rarer, the more."""
    different = Counter(field for field, _ in query.counts)
    worth = {}
    for term in query.counts:
        boost = weights[term[0]] / math.sqrt(different[term[0]])
        lessons = corpus.frequencies[term]
        worth[term] = boost * math.log1p((corpus.lessons - lessons + 0.5) / (lessons + 0.5))
    return worth


def points(worth: dict[Term, float], terms: Terms, corpus: Corpus) -> list[float]:
    """Return the score of a lesson, or of the error itself, in each field."""
    scores = [0.0] * len(FIELDS)
    slack = [
        SATURATION * (1 - LENGTH_MATTERS + LENGTH_MATTERS * length / (mean or 1))
        for length, mean in zip(terms.lengths, corpus.lengths, strict=True)
    ]
    for term, value in worth.items():
        if count := terms.counts.get(term, 0):
            scores[term[0]] += value * count * (SATURATION + 1) / (count + slack[term[0]])
    return scores


def share(scored: float, own: Sequence[float], lengths: Sequence[int]) -> float:
    """The part (0 to 1) of what the error itself would score; fields a lesson lacks count less."""
    pairs = zip(own, lengths, strict=True)
    possible = sum(points if length else points * UNTOLD for points, length in pairs)
    return min(1.0, scored / possible) if possible else 0.0


def aged(scored: float, days: float) -> float:
    """Return a score less what the time between two sightings speaks against it."""
    return scored - LEARNED.age * math.log1p(abs(days) / 30)


def relevance(share: float) -> float:
    """Return the calibrated relevance of a score, 0 to 1."""
    at = bisect_left(CALIBRATION, (share, -1.0))
    if at == 0 or at == len(CALIBRATION):
        return CALIBRATION[min(at, len(CALIBRATION) - 1)][1]
    (low, before), (high, after) = CALIBRATION[at - 1], CALIBRATION[at]
    return round(before + (after - before) * (share - low) / (high - low), 3)


# The case's own lesson, known by its names.

LIMIT = 3
THRESHOLD = 0.3
# Words that stand in every name and tell nothing.
NOISE = frozenset(
    ("controller", "action", "webtransaction", "othertransaction", "background", "function")
)
SAME = Match(score=1.0, because=("same fingerprint",), kind="same", relevance=1.0)
SAME_BY_ALIAS = Match(
    score=1.0, because=("same fingerprint", "known under another name"), kind="alias", relevance=1.0
)
Recalled = tuple[tuple[IndexEntry, Match], ...]
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
    """List every name the case may be known by."""
    return frozenset((case.fingerprint, *case.aliases))


def own_lessons(case: Case, entries: Iterable[IndexEntry]) -> Recalled:
    """List lessons on this very case: by its fingerprint, then by its other names, newest first."""
    names = names_of_case(case)
    same = [
        (entry, SAME if entry.fingerprint == case.fingerprint else SAME_BY_ALIAS)
        for entry in entries
        if not names.isdisjoint((entry.fingerprint, *entry.aliases))
    ]
    return tuple(sorted(same, key=lambda pair: (pair[1].kind == "alias", *_newest_first(pair[0]))))


def is_same_error(case: Case, lesson: Lesson) -> bool:
    """Tell whether a lesson that carries one of the case's names may be about the same error.

    Its own fingerprint says so. An alias does where any of their classes is the same, a place where
    their messages do not say different things, too: a document may claim the name of anything.
    """
    names = names_of_case(case)
    if lesson.fingerprint in names:
        return True
    by_place = names & {*lesson.aliases} == {case.signature}
    if by_place and all(says_another_thing(g.message, lesson.message) for g in case.groups):
        return False
    links = case.trace.links if case.trace else ()
    classes = {group.error_class for group in case.groups} | {link.error_class for link in links}
    causes = {cause.partition(": ")[0] for cause in lesson.causes}
    return not classes.isdisjoint({lesson.error_class, *causes})


# Search for lessons on similar errors.


class SearchedLesson(NamedTuple):
    """A lesson as a search compares it."""

    entry: IndexEntry
    document: SearchDocument
    terms: Terms


class Near(NamedTuple):
    """A lesson near the query: `rank` sorts (highest first), `share` is what it matched."""

    lesson: SearchedLesson
    rank: float
    share: float


class LessonSearch:
    """Search over the lessons at hand, of which there are at most some hundred: in memory."""

    def __init__(self, lessons: Iterable[Lesson] = ()) -> None:
        documents = ((entry_of(lesson), document_of_lesson(lesson)) for lesson in lessons)
        self.lessons = tuple(SearchedLesson(*both, terms_of(both[1])) for both in documents)
        count = len(self.lessons)
        columns = zip(*(lesson.terms.lengths for lesson in self.lessons), strict=True)
        means = tuple(sum(column) / count for column in columns) or (0.0,) * len(FIELDS)
        have = Counter(term for lesson in self.lessons for term in lesson.terms.counts)
        self.corpus = Corpus(count, means, have)

    def similar(self, case: Case, limit: int = LIMIT, threshold: float = THRESHOLD) -> Recalled:
        """Find the case's own lesson, then those of similar errors, best first, from `threshold`.

        Lessons that know no cause have nothing to say of another error. Ties go to the one seen
        last, then by file name.
        """
        query = document_of_case(case)
        own = own_lessons(case, (lesson.entry for lesson in self.lessons))
        own_files = {entry.file for entry, _ in own}
        results = list(own[:limit])
        seen = [group.last_seen for group in case.groups if group.last_seen]
        for near in self.nearest(query, max(seen).date().toordinal() if seen else 0):
            if len(results) >= limit:
                break
            entry, sure = near.lesson.entry, relevance(near.share)
            if entry.file not in own_files and not entry.unknown and sure >= threshold:
                results.append((entry, compare(query, near.lesson.document, sure)))
        return tuple(results)

    def nearest(self, query: SearchDocument, day: int = 0) -> list[Near]:
        """Rank the lessons that share a term with an error last seen on `day`, best first."""
        terms, found = terms_of(query), []
        worth = worth_of_terms(terms, self.corpus)
        own = points(worth, terms, self.corpus)
        for lesson in self._candidates(worth):
            scored = sum(points(worth, lesson.terms, self.corpus))
            seen = lesson.entry.last_seen.toordinal() if lesson.entry.last_seen else 0
            rank = round(aged(scored, seen - day if seen and day else 0), 9)
            found.append(Near(lesson, rank, share(scored, own, lesson.terms.lengths)))
        return sorted(found, key=lambda near: (-near.rank, *_newest_first(near.lesson.entry)))

    def _candidates(self, worth: dict[Term, float]) -> list[SearchedLesson]:
        """Those that share most of the worthiest terms: the others only crowd the ranking."""
        present = (term for term in worth if term in self.corpus.frequencies)
        worthiest = heapq.nlargest(MOST_ASKED, present, key=lambda term: worth[term])
        pairs = (
            (sum(worth[term] for term in worthiest if term in lesson.terms.counts), at)
            for at, lesson in enumerate(self.lessons)
        )
        best = heapq.nlargest(MOST_CANDIDATES, (pair for pair in pairs if pair[0] > 0))
        return [self.lessons[at] for _, at in best]


def _newest_first(entry: IndexEntry) -> tuple[int, str]:
    return -entry.last_seen.toordinal() if entry.last_seen else 0, entry.file


CLASS_POINTS, TRANSACTION_POINTS, TAG_POINTS = 0.5, 0.3, 0.1
_MOST_NAMED, _LONGEST_QUOTED = 2, 120  # frames, characters of a quoted text
SIMILAR_WORDS = "similar words"  # where nothing is the same as a whole


def compare(query: SearchDocument, lesson: SearchDocument, relevance: float = 0.0) -> Match:
    """Name what both have in common, the strongest first, and score it.

    The score is 0.5 for the class, 0.3 for the transaction and 0.1 for each shared tag, at most 1.
    """
    shared = tuple(_shared_parts(query, lesson))
    return Match(
        score=min(1.0, round(sum(points for points, _ in shared), 2)),
        because=tuple(reason for _, reason in shared) or (SIMILAR_WORDS,),
        relevance=relevance,
    )


def _shared_parts(query: SearchDocument, lesson: SearchDocument) -> Iterator[tuple[float, str]]:
    frames = _shared((*query.places, *query.frames), (*lesson.places, *lesson.frames))
    if frames:
        named = ", ".join(line(name, _LONGEST_QUOTED) for name in frames[:_MOST_NAMED])
        more = f" and {len(frames) - _MOST_NAMED} more" if len(frames) > _MOST_NAMED else ""
        yield 0, f"same frame{'s' if len(frames) > 1 else ''} {named}{more}"
    message = message_template(query.message)
    if message and message == message_template(lesson.message):
        yield 0, f"same message “{line(message, _LONGEST_QUOTED)}”"
    if query.error_class and query.error_class == lesson.error_class:
        yield CLASS_POINTS, f"same class {line(query.error_class, _LONGEST_QUOTED)}"
    outer = {last_segment(query.error_class)} & {last_segment(lesson.error_class)}
    if causes := [name for name in _shared(classes(query), classes(lesson)) if name not in outer]:
        yield 0, f"same cause {line(causes[0], _LONGEST_QUOTED)}"
    own = transaction_template(query.transaction)
    if query.transaction and lesson.transaction and own == transaction_template(lesson.transaction):
        yield TRANSACTION_POINTS, f"same transaction {line(own, _LONGEST_QUOTED)}"
    if tags := _shared(seed_tags(query.error_class, query.transaction), lesson.tags):
        yield TAG_POINTS * len(tags), f"shared tags {', '.join(line(tag, 60) for tag in tags[:5])}"


def _shared(own: Iterable[str], other: Iterable[str]) -> list[str]:
    others = frozenset(other)
    return [name for name in dict.fromkeys(own) if name and name in others]


# Find lessons by a person's words.

_SEARCH_WORD = re.compile(r"\w{2,60}")


def search_lessons(query: str, lessons: Iterable[Lesson]) -> tuple[tuple[Lesson, Match], ...]:
    """Lessons that hold words of the query, those with the largest share first.

    Words are looked for in class, transaction, message, title, cause and tags, and as the
    beginning of a fingerprint. Lessons that know no cause have nothing to tell.
    """
    words = tuple(dict.fromkeys(_SEARCH_WORD.findall(query.lower()[:500])))
    scored = ((lesson, _match(words, lesson)) for lesson in lessons if lesson.has_cause)
    matches = [(lesson, match) for lesson, match in scored if match.because]
    return tuple(sorted(matches, key=lambda pair: (-pair[1].score, pair[0].file)))


def _match(words: tuple[str, ...], lesson: Lesson) -> Match:
    names = (lesson.error_class, lesson.transaction, lesson.message, lesson.title)
    text = " ".join((*names, lesson.root_cause, *lesson.names, *lesson.tags)).lower()
    held = tuple(word for word in words if word in text)
    return Match(score=round(len(held) / max(len(words), 1), 2), because=held)
