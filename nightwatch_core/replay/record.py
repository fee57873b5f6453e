"""The record of a night: the same question gets the same answers in the same order."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any, get_args

from pydantic_core import to_jsonable_python

from nightwatch_core import errors
from nightwatch_core.errors import GiveUp, NightWatchError
from nightwatch_core.models.analysis import Ending
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.report import Asked, Bundle, Kind, Told
from nightwatch_core.privacy.proxy import Member
from nightwatch_core.privacy.scrubber import Scrub, without_numbers

# Values are canonical JSON. A long value is a piece of its own, replaced by its digest,
# `{"$": "<sha256>"}`: a turn that ten requests repeat is stored once, and no piece can be changed
# without breaking its digest.

LONG = 400  # characters of JSON from which a value is a piece
REFERENCE = "$"
JOINED = 64_000_000  # characters that one value may have, put together again


def name_of(text: str) -> str:
    """Return the name of a piece, or of any canonical text.

    >>> name_of("[]")[:12]
    '4f53cda18c2b'
    """
    return hashlib.sha256(text.encode("ascii", "backslashreplace")).hexdigest()


def canonical(value: Any) -> str:
    """Return JSON in plain ASCII, its keys sorted, without spaces: half characters are kept.

    >>> canonical({"b": (1, "ä"), "a": None})
    '{"a":null,"b":[1,"\\\\u00e4"]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


class Cutter:
    """Writes values as JSON, and gives what is long to `keep` as pieces: name and text."""

    def __init__(self, text: Callable[[str], str], keep: Callable[[str, str], object]) -> None:
        self._text, self._keep = text, keep

    def cut(self, value: Any) -> str:
        """Return the value's JSON, with the names of pieces in it."""
        return self._inner(to_jsonable_python(value))

    def _inner(self, value: Any) -> str:
        if isinstance(value, str):
            return json.dumps(self._text(value))
        if isinstance(value, dict):
            rows = {}
            for name, item in value.items():
                key = self._text(name)
                escaped = f"{REFERENCE}{key}" if key.startswith(REFERENCE) else key
                rows[escaped] = self._part(item)
            return f"{{{','.join(f'{json.dumps(name)}:{rows[name]}' for name in sorted(rows))}}}"
        if isinstance(value, list):
            return f"[{','.join(map(self._part, value))}]"
        return json.dumps(value)

    def _part(self, value: Any) -> str:
        text = self._inner(value)
        if len(text) < LONG:
            return text
        name = name_of(text)
        self._keep(name, text)
        return canonical({REFERENCE: name})


def references(value: Any) -> Iterator[str]:
    """Return the names of pieces in JSON that was read."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict):
        if set(value) == {REFERENCE}:
            yield str(value[REFERENCE])
            return
        for item in value.values():
            yield from references(item)


def reached(start: Iterable[str], pieces: Mapping[str, str]) -> set[str]:
    """Return the names of all pieces reachable from `start`, missing ones included."""
    names: set[str] = set()
    ahead = list(start)
    while ahead:
        name = ahead.pop()
        if name not in names:
            names.add(name)
            ahead.extend(references(json.loads(pieces.get(name, "null"))))
    return names


def joined(value: Any, pieces: Mapping[str, str], most: int = JOINED) -> Any:
    """Return JSON with its pieces filled in.

    Raises `GiveUp` for a missing piece, and beyond `most` characters: pieces that name each other
    could make a small file a huge value.
    """
    return _Joiner(pieces, most).join(value)


class _Joiner:
    def __init__(self, pieces: Mapping[str, str], most: int) -> None:
        self._pieces, self._left = pieces, most

    def join(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.join(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {REFERENCE}:
            return self.join(json.loads(self._piece(str(value[REFERENCE]))))
        return {
            name[1:] if name.startswith(REFERENCE * 2) else name: self.join(item)
            for name, item in value.items()
        }

    def _piece(self, name: str) -> str:
        if name not in self._pieces:
            raise GiveUp(f"the bundle lacks a piece, {name[:12]}: it was cut, or changed")
        self._left -= len(self._pieces[name])
        if self._left < 0:
            raise GiveUp("a value of the bundle is larger than any night's: it is not ours")
        return self._pieces[name]


IGNORED_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "errors.window": ("lookback", "now"),
    "model.reply": ("timeout",),
    "nights.unfinished": ("kind", "since"),
    "batches.intent": ("now",),
    "batches.newest": ("since",),
}
"""Arguments that differ between runs although the question is the same."""


def named_question(port: str, member: Member, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key of a question: its arguments; for a write, the name of what is written.

    `port` may end in an @ and a commit or model, as "code@1a2b".
    """
    name = f"{port.partition('@')[0]}.{member.name}"
    match name:
        case "outbox.publish":
            return {"kind": arguments["proposal"].kind, "key": arguments["proposal"].key}
        case "lessons.write":
            return {"fingerprint": arguments["lesson"].fingerprint}
        case "lessons.write_pattern":
            return {"slug": arguments["pattern"].slug}
        case "sandbox.run" | "sandbox.prepare":  # the same commit has several reasons
            return {**arguments, "commit": arguments["commit"].sha}
    ignored = IGNORED_ARGUMENTS.get(name, ())
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in arguments.items()
        if name not in ignored
    }


def asking(scrub: Scrub, keep: Any = lambda name, text: None) -> Cutter:
    """Return a cutter for questions: masks lose their numbers, which differ by machine."""
    return Cutter(lambda text: without_numbers(scrub(text)), keep)


class Record:
    """The answers of a bundle; safe for threads."""

    def __init__(self, bundle: Bundle, scrub: Scrub) -> None:
        self._asked = {(a.name, canonical(a.arguments)): a for a in bundle.manifest.asked}
        self._pieces = bundle.pieces
        self._cutter = asking(scrub)
        self._given: dict[tuple[str, str], int] = {}
        self._lock = Lock()
        self.missed: list[str] = []

    def answer(self, port: str, member: Member, arguments: Mapping[str, Any]) -> Told | None:
        """Return the next answer to a question; None for a new question."""
        question = self._cutter.cut(named_question(port, member, arguments))
        key = f"{port}.{member.name}", question
        asked = self._asked.get(key)
        return self._next(key, asked) if asked else None

    def miss(self, port: str, member: Member, arguments: Mapping[str, Any]) -> GiveUp:
        """Note a new question; returns the exception to raise."""
        small = {name: item for name, item in arguments.items() if isinstance(item, str | int)}
        what = f"{port.partition('@')[0]}.{member.name} {json.dumps(small)[:120] if small else ''}"
        self.missed.append(what.strip())
        return GiveUp(f"the record ends here: that night never asked {what.strip()}")

    def value(self, answer: Told, member: Member) -> Any:
        """Return the answer, or raise the recorded exception."""
        plain = joined(answer.json_value, self._pieces)
        if answer.kind == "value":
            return member.value(plain)
        trouble: NightWatchError = getattr(errors, answer.kind)(str(plain["text"]))
        if plain["usage"]:
            trouble.usage = Usage.model_validate(plain["usage"])
        if plain["ending"]:
            trouble.ending = Ending.model_validate(plain["ending"])
        raise trouble

    def _next(self, key: tuple[str, str], asked: Asked) -> Told:
        with self._lock:
            number = self._given.get(key, 0)
            self._given[key] = number + 1
        return asked.answers[min(number, len(asked.answers) - 1)]


def raised(trouble: NightWatchError) -> dict[str, Any]:
    """Return the recorded fields of an exception."""
    return {"text": str(trouble), "usage": trouble.usage, "ending": trouble.ending}


def kind_of(trouble: NightWatchError) -> str:
    """Return the name of an exception, or of its nearest base class among `Kind`."""
    names = [base.__name__ for base in type(trouble).__mro__]
    return next((name for name in names if name in get_args(Kind)), "GiveUp")
