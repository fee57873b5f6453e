"""What an error leaves behind that tells it from others: the same of tonight's case and a lesson.

Names survive what changes between two meetings: ids in messages, numbers of compiled closures and
proxies, packages that were renamed, the exception an outer layer wrapped around the first one.
"""

import re
from collections.abc import Iterable
from itertools import islice

from nightwatch_core.intake.fingerprint import FUNCTION_NOISE
from nightwatch_core.models.error import Case, ExceptionLink, Frame
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line

LONGEST_MESSAGE = 200  # characters: as much as a lesson keeps of a message
MOST_CAUSES, MOST_PLACES, MOST_FRAMES = 5, 24, 60
NEAR = 3  # innermost frames of an exception that say where it was raised
_MOST_READ = 400  # frames of a trace that are looked at
_LONGEST_NAME = 120  # characters of a frame's name
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"[/\\]+")


class Footprint(Value):
    """What is compared. Frames are named `module.function`, innermost first, root cause first."""

    error_class: str = ""
    message: str = ""
    transaction: str = ""
    causes: tuple[str, ...] = ()  # "Class: message" of the exceptions it wraps
    places: tuple[str, ...] = ()  # frames nearest to where an exception was raised
    frames: tuple[str, ...] = ()  # of the application; of everything where it has none
    tags: tuple[str, ...] = ()  # of a lesson


def of_case(case: Case) -> Footprint:
    """The footprint of tonight's error."""
    leader, links = case.leader, case.trace.links if case.trace else ()
    return Footprint(
        error_class=line(leader.error_class, _LONGEST_NAME * 2),
        message=line(leader.message, LONGEST_MESSAGE),
        transaction=line(leader.transaction, _LONGEST_NAME * 4),
        causes=_causes(case, links),
        places=_unique(_places(links), MOST_PLACES),
        frames=tuple(islice(_frames(links), MOST_FRAMES)),
    )


def of_lesson(lesson: Lesson) -> Footprint:
    """The footprint a lesson keeps; one of an older form knows no frames."""
    return Footprint(
        error_class=lesson.error_class[: _LONGEST_NAME * 2],
        message=lesson.message[:LONGEST_MESSAGE],
        transaction=lesson.transaction[: _LONGEST_NAME * 4],
        causes=tuple(cause[:LONGEST_MESSAGE] for cause in lesson.causes[:MOST_CAUSES]),
        places=tuple(name[:_LONGEST_NAME] for name in lesson.places[:MOST_PLACES]),
        frames=tuple(name[:_LONGEST_NAME] for name in lesson.frames[:MOST_FRAMES]),
        tags=tuple(tag[:_LONGEST_NAME] for tag in lesson.tags[:30]),
    )


def remembered(case: Case) -> dict[str, tuple[str, ...]]:
    """The fields of a lesson that its footprint needs: causes, places and frames.

    >>> from nightwatch_core.models.error import ErrorGroup
    >>> remembered(Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="E")))
    {'causes': (), 'places': (), 'frames': ()}
    """
    found = of_case(case)
    return {"causes": found.causes, "places": found.places, "frames": found.frames}


def frame_name(frame: Frame) -> str:
    """Class, or folder and file, and function of a frame, without what compilers count up.

    >>> frame_name(Frame(path="shop/orders/views.py", function="show"))
    'orders/views.show'
    >>> frame_name(Frame(path="Worker.java", module="a.b.Worker$fn__4348", function="lambda$run$3"))
    'Worker$fn__.lambda$run'
    """
    name = frame.function.strip()[:_LONGEST_NAME]
    for pattern, replacement in FUNCTION_NOISE:
        name = pattern.sub(replacement, name)
    owner = _owner(frame.module, frame.repo_path or frame.path)
    return line(f"{owner}.{_DIGITS.sub('', name)}".strip("."), _LONGEST_NAME)


def _owner(module: str, path: str) -> str:
    """The class without its package, else the last folder and the file without its ending."""
    simple = re.split(r"::|[.\\/]", module.strip()[-_LONGEST_NAME:])[-1]
    if simple:
        return _DIGITS.sub("", simple)
    folders = _PARTS.split(path.strip()[-_LONGEST_NAME:])[-2:]
    file = folders[-1].partition(".")[0]
    return _DIGITS.sub("", "/".join((*folders[:-1], file)))


def _causes(case: Case, links: tuple[ExceptionLink, ...]) -> tuple[str, ...]:
    """The exceptions of the chain, root cause first, but for the one that was reported."""
    told = (case.leader.error_class, case.leader.message)
    below = (one for one in reversed(links) if (one.error_class, one.message) != told)
    return _unique(
        (
            line(f"{one.error_class}: {one.message}", LONGEST_MESSAGE)
            for one in below
            if one.error_class
        ),
        MOST_CAUSES,
    )


def _frames(links: tuple[ExceptionLink, ...]) -> Iterable[str]:
    frames = tuple(islice(_all(links), _MOST_READ))
    own = tuple(frame for frame in frames if frame.in_app)
    return filter(None, map(frame_name, own or frames))


def _places(links: tuple[ExceptionLink, ...]) -> Iterable[str]:
    """Of every exception the innermost frames, and the innermost of the application."""
    for link in reversed(links):
        frames = link.frames[:_MOST_READ]
        own = tuple(islice((frame for frame in frames if frame.in_app), NEAR))
        yield from map(frame_name, (*frames[:NEAR], *own))


def _all(links: tuple[ExceptionLink, ...]) -> Iterable[Frame]:
    return (frame for link in reversed(links) for frame in link.frames)


def _unique(texts: Iterable[str], most: int) -> tuple[str, ...]:
    return tuple(islice(dict.fromkeys(text for text in texts if text), most))
