"""What an error leaves behind that tells it from others: the same of tonight's case and a lesson.

Names survive what changes between two meetings: ids in messages, numbers of compiled closures and
proxies, packages that were renamed, the exception an outer layer wrapped around the first one.
"""

import hashlib
import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from nightwatch_core.intake.fingerprint import FUNCTION_NOISE
from nightwatch_core.memory import limits
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.trace import ExceptionLink, Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.escaping import line
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.text.transaction_templates import transaction_template

NEAR = 3  # innermost frames of an exception that say where it was raised
VERSION = 2  # of what is made of an error: an index of another version is rebuilt
# How the name of an error class ends, in a message that quotes it.
CLASS_ENDINGS = ("Exception", "Error", "Failure", "Fault", "Timeout")
_CHUNK = re.compile(r"[\w.:\\$]+")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_PLACEHOLDER = re.compile(r"<[a-z]+>")
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[/\\]+")


class SearchDocument(Value):
    """What is compared. Frames are named `module.function`, innermost first, root cause first."""

    error_class: str = ""
    message: str = ""
    transaction: str = ""
    causes: tuple[str, ...] = ()  # "Class: message" of the exceptions it wraps
    places: tuple[str, ...] = ()  # frames nearest to where an exception was raised
    frames: tuple[str, ...] = ()  # of the application; of everything where it has none
    tags: tuple[str, ...] = ()  # of a lesson


def document_of_case(case: Case) -> SearchDocument:
    """Take what is compared from tonight's error."""
    leader, links = case.leader, case.trace.links if case.trace else ()
    return SearchDocument(
        error_class=line(leader.error_class, limits.LONGEST_FRAME * 2),
        message=line(leader.message, limits.LONGEST_MESSAGE),
        transaction=line(leader.transaction, limits.LONGEST_FRAME * 4),
        causes=_causes(case, links),
        places=_unique(_places(links), limits.MOST_PLACES),
        frames=tuple(islice(_frames(links), limits.MOST_FRAMES)),
    )


def document_of_lesson(lesson: Lesson) -> SearchDocument:
    """Take what is compared from a lesson; one of an older form knows no frames."""
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

    >>> from nightwatch_core.models.error import ErrorGroup
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


def _causes(case: Case, links: tuple[ExceptionLink, ...]) -> tuple[str, ...]:
    """The exceptions of the chain, root cause first, but for the one that was reported."""
    reported = (case.leader.error_class, case.leader.message)
    below = (one for one in reversed(links) if (one.error_class, one.message) != reported)
    return _unique(
        (
            line(f"{one.error_class}: {one.message}", limits.LONGEST_MESSAGE)
            for one in below
            if one.error_class
        ),
        limits.MOST_CAUSES,
    )


def _frames(links: tuple[ExceptionLink, ...]) -> Iterable[str]:
    frames = tuple(islice(_all(links), limits.MOST_FRAMES_READ))
    own = tuple(frame for frame in frames if frame.in_app)
    return filter(None, map(frame_name, own or frames))


def _places(links: tuple[ExceptionLink, ...]) -> Iterable[str]:
    """Of every exception the innermost frames, and the innermost of the application."""
    for link in reversed(links):
        frames = link.frames[: limits.MOST_FRAMES_READ]
        own = tuple(islice((frame for frame in frames if frame.in_app), NEAR))
        yield from map(frame_name, (*frames[:NEAR], *own))


def _all(links: tuple[ExceptionLink, ...]) -> Iterable[Frame]:
    return (frame for link in reversed(links) for frame in link.frames)


def _unique(texts: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(text for text in texts if text), most))


def classes(document: SearchDocument) -> Iterable[str]:
    """Classes without their packages: the error's, its causes', and those its messages name.

    >>> list(classes(SearchDocument(error_class="a.JMSError", message="x.PointerException: null")))
    ['JMSError', 'PointerException']
    """
    yield last_segment(document.error_class)
    yield from (last_segment(cause.partition(": ")[0]) for cause in document.causes)
    yield from (last_segment(chunk) for chunk in _named_classes(document.message))


def template(document: SearchDocument) -> Iterable[str]:
    """The message without what changes from one occurrence to the next."""
    text = message_template(document.message)
    return (text,) if len(text) > 3 else ()


def words(document: SearchDocument) -> Iterable[str]:
    """Words of the message and pairs of neighbours; a class it names is told elsewhere.

    >>> list(words(SearchDocument(message="order 17 has no totalPrice")))
    ['order', 'has', 'no', 'total', 'price', 'order has', 'has no', 'no total', 'total price']
    """
    text = _PLACEHOLDER.sub(" ", message_template(document.message))
    named = set(_named_classes(text))
    single = [w for chunk in _CHUNK.findall(text) if chunk not in named for w in _words(chunk)]
    return (*single, *(f"{one} {other}" for one, other in zip(single, single[1:], strict=False)))


def transaction(document: SearchDocument) -> Iterable[str]:
    """The transaction without ids."""
    return (_DIGITS.sub("", transaction_template(document.transaction)),)


def places(document: SearchDocument) -> Iterable[str]:
    """Where its exceptions were raised."""
    return document.places


def names(document: SearchDocument) -> Iterable[str]:
    """Words of the frames: what is left of a name when code is moved or renamed in part.

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
        """How many terms each field has."""
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
    return [one for one in _CHUNK.findall(text) if one.rstrip(".:\\").endswith(CLASS_ENDINGS)]


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if len(word) > 1]
