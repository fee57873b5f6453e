"""Compare what a test raised with what production raised.

What a test prints can be made up by it. What it raises is recorded by `recorders/`, and stands
behind the output, after a mark that the test's author does not know.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

from nightwatch_core.analysis.previews import function_rows
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.errors import Case, ExceptionLink, Frame
from nightwatch_core.models.proposals import RuntimeFact
from nightwatch_core.models.value import Value
from nightwatch_core.proof.kits import Read, Words, kits
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.fingerprints import FUNCTION_NOISE
from nightwatch_core.text.plain_text import data_table, shortened, text_lines
from nightwatch_core.traces.parsing import parse

_KEPT = 150_000  # characters of what is written down


class Recorder(Value):
    """A file of `recorders/`, and the shell's words that have programs load it first."""

    file: str
    loads: str
    tells_left: bool = False  # whether it says which frames an exception left


RECORDERS = data_table(__package__, "recorders/recorders.toml", dict[str, Recorder])


def recorded(
    words: Words,
    recorder: Recorder,
    mark: str,
    error_class: str,
    watched: Mapping[str, frozenset[int]] | None = None,
) -> Words:
    """Give the words that run `words`, and then print the mark and what was raised.

    With lines of the tree to be `watched`, it is those of them that ran.
    """
    script = kits().scripts["recorded"].format(loads=recorder.loads, kept=_KEPT)
    text = (files(__package__) / "recorders" / recorder.file).read_text(encoding="utf-8")
    rows = (
        f"{WORK}{path}:{','.join(map(str, sorted(lines)))}"
        for path, lines in (watched or {}).items()
    )
    own = (mark, recorder.file, text, error_class, "\n".join(rows))
    return ("/bin/sh", "-c", script, "sh", *own, *words)


# What a test raised, as its recorder wrote it.

WORK = "/work/"  # where a tree lies in the sandbox
_ROWS = 5_000
_RECORDS, _FRAMES, _FACTS, _VALUE, _TEXT = 60, 120, 24, 400, 500


class Raised(NamedTuple):
    """An exception that was raised below a frame of the tree."""

    error_class: str
    message: str
    frames: tuple[Frame, ...]  # innermost first; those of the tree are in-app
    left: frozenset[int]  # which of them it left, as far as that is written down
    facts: tuple[RuntimeFact, ...] = ()


def printed_and_raised(output: str, mark: str) -> tuple[str, tuple[Raised, ...]]:
    """Part what a run printed from what it raised; nothing where the mark is missing."""
    printed, records = written_rows(output, mark)
    left: dict[str, set[int]] = {}
    for item in records:
        if isinstance(item.get("left"), int):
            left.setdefault(str(item.get("id")), set()).add(item["left"])
    whole = (item for item in records if "class" in item or "trace" in item)
    read = (_raised(item, left.get(str(item.get("id")), set())) for item in whole)
    return printed, tuple(read)[:_RECORDS]


def written_rows(output: str, mark: str) -> tuple[str, list[dict[str, Any]]]:
    """Part what a run printed from what was written down; nothing where the mark is missing."""
    printed, between, written = output.rpartition(f"\n{mark}\n")
    if not between:
        return output, []
    return printed, [item for row in written.splitlines()[:_ROWS] if (item := _loaded(row))]


def _loaded(row: str) -> dict[str, Any] | None:
    try:
        value = json.loads(row)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _raised(record: dict[str, Any], left: set[int]) -> Raised:
    if isinstance(text := record.get("trace"), str):  # as a runtime prints what ends a program
        link = next(iter(parse(text, "go").links), ExceptionLink())
        rows = [[item.path, item.line, item.function] for item in link.frames]
        return Raised(link.error_class, _text(link.message), tuple(_frames(rows)), frozenset())
    frames = tuple(_frames(record.get("frames")))
    return Raised(
        _text(record.get("class")),
        _text(record.get("message")),
        frames,
        frozenset(left),
        tuple(_facts(record.get("locals"), frames))[:_FACTS],
    )


def _frames(listed: object) -> Iterator[Frame]:
    for item in listed[:_FRAMES] if isinstance(listed, list) else ():
        path, line, name = item if isinstance(item, list) and len(item) == 3 else ("", 0, "")
        is_inside = _text(path).startswith(WORK) and "/<" not in _text(path)
        inside = _text(path).removeprefix(WORK) if is_inside else ""
        yield Frame(
            path=_text(path),
            line=line if isinstance(line, int) and line > 0 else None,
            function=_text(name),
            in_app=bool(inside),
            repo_path=inside,
        )


def _facts(listed: object, frames: tuple[Frame, ...]) -> Iterator[RuntimeFact]:
    tests = [n for n, frame in enumerate(frames) if TEST.search(frame.repo_path)]
    inner = frames[: tests[-1] + 1] if tests else frames  # what is further out starts the runner
    for item in listed if isinstance(listed, list) else ():
        at, name, value = item if isinstance(item, list) and len(item) == 3 else (-1, "", "")
        if isinstance(at, int) and 0 <= at < len(inner) and frames[at].repo_path:
            frame = frames[at]
            yield RuntimeFact(
                path=frame.repo_path,
                line=frame.line or 0,
                function=frame.function,
                name=_text(name),
                value=_text(value)[:_VALUE],
            )


def _text(value: object) -> str:
    return clean(value[:_TEXT].replace("\n", " ")) if isinstance(value, str) else ""


# What production raised. Frames of the application are compared, the innermost first: path and
# function, of the innermost one the line, too.

_INNER = re.compile(  # inlined by newer versions, or printed in another line of compiled code
    r"^(?:<(?:listcomp|dictcomp|setcomp|genexpr|anonymous)>|anonymous|eval)?$"
)
_MADE_UP = re.compile(r"(^|/)(unittest/mock|mock/mock|rspec/mocks|mocha|sinon|pytest_mock)\b")
_COMPILED = (".ts", ".tsx", ".jsx", ".mts", ".cts", ".vue", ".svelte")


FULL_STACK = re.compile(r"^(RecursionError|SystemStackError):|call stack size")
_ROUNDS = 3  # that a place is seen at least, where it filled the stack
_MEMBER = re.compile(
    r"(?:attribute|method|variable|constant|property|reading|setting) \(?[`'\"‘](?:\w+[#.])?(\w+)"
    r"|([\w$]+) is not (?:a function|a constructor|iterable)"
)
_DATA = re.compile(r"'[^']{0,200}'|\"[^\"]{0,200}\"|`[^`']{0,200}['`]|<[\w-]{1,80}>|\d+")
_WORD = re.compile(r"[^\W\d_]{2,}")


class Place(NamedTuple):
    """A frame of the tree; with it, those that versions of a language tell apart or not."""

    path: str
    lines: frozenset[int]
    functions: frozenset[str]


class Crash(NamedTuple):
    """The production error."""

    error_class: str
    message: str
    places: tuple[Place, ...]  # innermost first
    is_raised_within: bool  # by the application itself, not by a library that it calls
    is_exact: bool  # its line is that of the commit
    least: int = 1  # of its places a test has to come through, to be about this crash


def crash_of(case: Case) -> Crash | None:
    """Give the crash of a case: its root's, as far out as its own frames go; None without any."""
    links = case.trace.links if case.trace else ()
    link = next((item for item in reversed(links) if any(map(_is_ours, item.frames))), None)
    if link is None:
        return None
    own = tuple(filter(_is_ours, link.frames))
    top = own[0]
    return Crash(
        link.error_class or case.leader.error_class,
        link.message or case.leader.message,
        places_of(own),
        is_raised_within=link.frames[0] == top,
        is_exact=bool(top.line) and top.fit != "differs" and not top.repo_path.endswith(_COMPILED),
    )


def _is_ours(frame: Frame) -> bool:
    return frame.in_app and bool(frame.repo_path)


def places_of(frames: tuple[Frame, ...]) -> tuple[Place, ...]:
    """Put frames together that only some versions of a language print apart."""
    places: list[Place] = []
    waiting: Place | None = None  # what has no name belongs to the frame around it
    for (path, line), same in groupby(frames, key=lambda item: (item.repo_path, item.line)):
        names = [item.function for item in same]
        lines = frozenset([line] if line else [])
        if waiting and waiting.path != path:
            places.append(waiting)
        elif waiting:
            lines |= waiting.lines
        waiting = None
        place = Place(path, lines, frozenset(filter(None, map(_plain, names))))
        if all(map(_INNER.match, names)):
            waiting = place
        elif places and place.functions and places[-1][::2] == place[::2]:  # or recursion
            places[-1] = place._replace(lines=places[-1].lines | lines)
        else:
            places.append(place)
    return (*places, *((waiting,) if waiting else ()))


def _plain(function: str) -> str:
    name = function.strip()
    if _INNER.match(name):
        return ""
    for pattern, replacement in FUNCTION_NOISE:
        name = pattern.sub(replacement, name)
    return re.split(r"[.:#]", name)[-1] if not name.startswith("<") else ""


def simple_class(error_class: str) -> str:
    """Give a class's own name.

    >>> simple_class("django.db.utils:IntegrityError"), simple_class("Shop::Empty")
    ('IntegrityError', 'Empty')
    """
    return re.split(r"[^\w$]+", error_class.strip())[-1]


def unlike(raised: Raised, crash: Crash, exact: bool = True, test: str = "") -> str:
    """Say what tells an exception from production's crash; empty where it is the same.

    `exact` is false where the lines have moved, `test` is the file of the test that ran.
    """
    if simple_class(raised.error_class) != simple_class(crash.error_class):
        return f"{raised.error_class} is raised, not {crash.error_class}"
    at = next((n for n, item in enumerate(raised.frames) if _is_app(item, test)), None)
    if at is None:
        return f"{raised.error_class} is raised outside the application"
    inside = raised.frames[:at]
    if any(_is_test(item, test) for item in inside) and crash.is_raised_within:
        return f"{raised.error_class} is raised by the test itself, not by the application"
    app = tuple(item for item in raised.frames[at:] if _is_app(item, test))
    seen = places_of(app)
    if FULL_STACK.search(f"{simple_class(crash.error_class)}: {crash.message}"):
        return _other_rounds(app, seen, crash)
    if why := _other_place(seen[0], crash.places[0], exact and crash.is_exact):
        return f"{raised.error_class} is raised {why}"
    for item, other in zip(seen[1:], crash.places[1:], strict=False):
        if why := _other_place(item, other, exact=False):
            return f"{raised.error_class} is raised through another caller: it is called {why}"
    if len(seen) < crash.least:
        return f"the test must go through {_label(crash.places[crash.least - 1])}"
    return other_message(raised.message, crash.message, exact)


def _other_rounds(app: tuple[Frame, ...], seen: tuple[Place, ...], crash: Crash) -> str:
    """Say what tells a full stack from production's; where in its rounds it was full is chance."""
    if max(Counter((item.repo_path, item.function) for item in app).values()) < _ROUNDS:
        return "the stack is not full of the application"
    if all(_other_place(seen[0], item, exact=False) for item in crash.places):
        return f"{crash.error_class} is raised in {_label(seen[0])}, not in production's frames"
    least = crash.places[crash.least - 1]
    is_entered = any(not _other_place(item, least, exact=False) for item in seen)
    return "" if is_entered else f"the test must go through {_label(least)}"


def other_message(item: str, other: str, exact: bool = True) -> str:
    """Say why a message is not of production's crash; empty where it may be, with other data.

    >>> other_message("'NoneType' object has no attribute 'tag'", "… has no attribute 'split'")
    "it says 'tag' where production said 'split'"
    >>> other_message("no order 17", "no order 4"), other_message("division by zero", "bad value")
    ('', 'it says "division by zero" where production said "bad value"')
    """
    matches = (_MEMBER.search(text[:2_000]) for text in (item, other))
    members = [match[1] or match[2] for match in matches if match]
    if len(members) == 2:
        same = members[0] == members[1] or not exact  # a fix that only moves it leaves the crash
        return "" if same else f"it says '{members[0]}' where production said '{members[1]}'"
    words, expected = ({*_WORD.findall(_DATA.sub(" ", text[:2_000]))} for text in (item, other))
    if not words or not expected or len(words & expected) * 3 >= min(len(words), len(expected)):
        return ""
    return f'it says "{shortened(item, 80)}" where production said "{shortened(other, 80)}"'


def has_left(raised: Raised, test: str = "") -> bool:
    """Tell whether the exception left the innermost frame of the application."""
    own = (n for n, item in enumerate(raised.frames) if _is_app(item, test))
    return next(own, -1) in raised.left


def _is_test(frame: Frame, test: str) -> bool:
    path = frame.repo_path or frame.path
    return path == test or bool(_MADE_UP.search(path)) or (frame.in_app and bool(TEST.search(path)))


def _is_app(frame: Frame, test: str) -> bool:
    return frame.in_app and not _is_test(frame, test)


def _other_place(item: Place, other: Place, exact: bool) -> str:
    named = item.functions and other.functions
    is_other_line = exact and item.lines and other.lines and not item.lines & other.lines
    is_other_function = named and not item.functions & other.functions
    if item.path != other.path or is_other_function or is_other_line:
        return f"in {_label(item)}, not in {_label(other)}"
    return ""


def _label(place: Place) -> str:
    line = f":{min(place.lines)}" if place.lines else ""
    name = f" ({', '.join(sorted(place.functions))})" if place.functions else ""
    return f"{place.path}{line}{name}"


def entered(raised: Raised, test: str = "") -> int:
    """Count the application's places that a test raises through."""
    return len(places_of(tuple(item for item in raised.frames if _is_app(item, test))))


def entered_frames(crash: Crash, raised: Raised, test: str = "") -> tuple[str, ...]:
    """Name production's frames that a test raised through, innermost first."""
    return tuple(_label(item) for item in crash.places[: entered(raised, test)])


# How far out a test has to enter.

_REFUSAL = re.compile(r"^\s*(?:raise|throw|fail|abort)\b")


def least_places(crash: Crash, fix: tuple[Edit, ...], read: Read) -> int:
    """Count the places that a test comes through: all that the fix changes, at least one.

    Code that only refuses its argument has to be called as production called it.
    """
    changed = [
        number
        for number, place in enumerate(crash.places, start=1)
        if any(_lies_in(edit, place, read) for edit in fix)
    ]
    top = crash.places[0]
    lines = text_lines(read(top.path) or "")
    number = min(top.lines, default=0)
    refuses = 0 < number <= len(lines) and bool(_REFUSAL.match(lines[number - 1]))
    return min(len(crash.places), max(1 + refuses, *changed, 1))


def _lies_in(edit: Edit, place: Place, read: Read) -> bool:
    text = read(place.path) if edit.path == place.path else None
    if not text or not edit.old or edit.old not in text or not place.lines:
        return False
    first, last = function_rows(place.path, text, min(place.lines))
    start = text.count("\n", 0, text.index(edit.old)) + 1
    return not first or (start <= last and start + edit.old.count("\n") >= first)
