"""Shapes of documents that TOML files describe: what tells them, and where their fields stand."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.frames import Thrown, chain_text, thrown
from nightwatch_core.adapters.files.records import LOGGED, is_quiet, squeezed
from nightwatch_core.adapters.files.shapes import values
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table


def paths_in(text: str) -> tuple[str, ...]:
    """Split dotted names with bars between them; braces hold alternatives of a part.

    >>> paths_in("id | user.{id,name}")
    ('id', 'user.id', 'user.name')
    """
    parts = [re.split(r"\{(.*?)\}", path.strip()) for path in text.split("|")]
    return tuple(
        "".join(choice)
        for part in parts
        for choice in product(*(p.split(",") if n % 2 else [p] for n, p in enumerate(part)))
    )


Paths = Annotated[tuple[str, ...], BeforeValidator(paths_in)]
Conditions = Annotated[
    tuple[str, ...], BeforeValidator(lambda when: (when,) if isinstance(when, str) else when)
]
Field = Literal[
    "error_class", "message", "title", "stack", "component", "action", "transaction", "method",
    "url", "culprit", "app", "release", "commit", "host", "user", "users", "count", "first_seen",
    "last_seen", "time", "level",
]  # fmt: skip
_EVENT_IDS = ("event_id", "eventID", "error.id", "id", "_id", "uuid", "data.uuid", "insertId")
_VALUES = frozenset(("stack", "method", "url", "users", "count", "first_seen", "last_seen", "time"))
_PLAIN = frozenset(("time", "level", "source"))  # around lines: whatever they are
_KINDS: dict[str, Callable[[object], bool]] = {
    "": lambda value: True,
    "text": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int),
    "object": lambda value: isinstance(value, dict),
    "list": lambda value: isinstance(value, list),
    "items": lambda value: isinstance(value, list) and bool(value),
    "pair": lambda value: isinstance(value, list) and list(map(type, value)) == [str, str],
}


class Exceptions(Value):
    """Where the exceptions of a document are, the reported one first, and their parts.

    Where `each` leads nowhere, the document itself is the exception.
    """

    each: Paths
    error_class: Paths
    message: Paths = ("message",)
    frames: Paths
    cause: str = ""  # an exception within the one that it caused
    outermost_first: bool = False  # the frames

    def chain(self, document: values.Record) -> list[Thrown]:
        found = _decoded(values.at(document, *self.each)) or document
        waiting = values.objects_in(found) or values.objects_in([found])
        chain: list[Thrown] = []
        for item in waiting:
            words = values.at(item, *self.error_class), values.at(item, *self.message)
            chain.append(
                thrown(
                    *words, _decoded(values.at(item, *self.frames)), reverse=self.outermost_first
                )
            )
            if self.cause and len(chain) < limits.MAX_LINKS:
                cause = item.get(self.cause)
                waiting += values.objects_in(cause) or values.objects_in([cause])
        return chain


def _decoded(value: object) -> object:
    """Tables hold lists as texts."""
    return values.json_of(value) if isinstance(value, str) and value[:1] in "[{" else value


class Line(Value):
    """Where a document that is a line of a log says its text, its stream and what surrounds it."""

    text: Paths
    stream: Paths  # all of them
    part: Paths = ()  # says "P" where the next text goes on in the line
    service: Paths = ()  # names the application where `app` does not, with a container's ending
    around: dict[str, Paths]  # by the names that records have

    def surroundings(self, document: values.Record) -> dict[str, object]:
        """Return the fields around the line."""
        envelope = {
            name: values.at(document, *paths)
            if name in _PLAIN
            else values.text_at(document, *paths)
            for name, paths in self.around.items()
        }
        if "path" in envelope:
            envelope["path"] = values.path_of(envelope["path"])
        if self.service and not envelope.get("app"):
            envelope["app"] = values.service_of(values.text_at(document, *self.service))
        return envelope

    def read(self, document: values.Record) -> values.LogLine:
        texts = (text for path in self.text if isinstance(text := values.at(document, path), str))
        stream = " ".join(values.text_at(document, path) for path in self.stream)
        is_part = values.at(document, *self.part) == "P"
        return values.LogLine(next(texts, ""), stream, self.surroundings(document), is_part)


class Description(Value):
    """A shape as its file describes it.

    It is told by conditions with spaces between them; of several such lines one is enough. A
    condition is the dotted name of a field, or several of which one is enough: `a|b.0.c:text`.
    After a colon stands what the field holds: text, list, items (a list that is not empty), pair
    (of texts), object or number; after `=` stand its values.
    """

    name: str = ""  # for people; none where it unpacks what other shapes read
    when: Conditions = ()
    needs: Paths = ()  # instead, where code tells it: fields without which it need not be asked
    inside: Paths = ()  # where the documents stand that it holds
    each: Paths = ()  # where the objects stand that are a record each
    fields: dict[Field, Paths] = {}
    exceptions: Exceptions | None = None
    language: Paths = ()  # of the exceptions
    line: Line | None = None
    squeezed: bool = False  # names are compared without case, dots, dashes and underscores
    kept: Paths = ()  # objects whose fields the record keeps; "." is the document itself
    named: dict[str, Paths] = {}  # further fields by the names of `fields.toml`; "" leaves one out
    is_logged: bool = False  # without a class it is an error that was logged, unless quietly
    is_no_error: bool = False  # counted, and no more

    def chain(self, document: values.Record) -> list[Thrown]:
        return self.exceptions.chain(document) if self.exceptions else []

    def text(self, document: values.Record, name: Field) -> str:
        return values.text_at(document, *self.fields[name])

    def read(
        self, document: values.Record, chain: Sequence[Thrown] | None = None, **own: object
    ) -> values.Record:
        """Read a document as a record; `own` are fields that the description does not find."""
        if self.squeezed:
            document = {squeezed(str(name)): value for name, value in document.items()}
        found = {str(name): _value(document, name, paths) for name, paths in self.fields.items()}
        titled_class, titled_message = values.title_parts(str(found.pop("title", "")))
        component, action = found.pop("component", ""), found.pop("action", "")
        request = values.request_of(found.pop("method", ""), found.get("url", ""))
        culprit = found.pop("culprit", "")
        language = values.text_at(document, *self.language).partition("/")[0]
        chain = self.chain(document) if chain is None else chain
        first = chain[0] if chain else Thrown("", "")
        error_class = first.error_class or found.get("error_class") or titled_class
        is_error = self.is_logged and not is_quiet(found.get("level"))
        if not error_class and is_error and not found.get("stack"):
            error_class = LOGGED
        messages = (
            first.error_class and first.message, found.get("message"), titled_message, first.message
        )  # fmt: skip
        place = f"{component}#{action}" if component and action else component
        words = {
            **found,
            "error_class": error_class,
            "message": next(filter(None, messages), ""),
            "stack": chain_text(chain, language) or found.get("stack"),
            "transaction": place or found.get("transaction") or request or culprit,
            **own,
        }
        record: dict[str, object] = {}
        for path in self.kept:
            record |= document if path == "." else values.inner(document, *path.split("."))
        record |= {name: values.at(document, *paths) for name, paths in self.named.items()}
        event = values.text_at(document, *_EVENT_IDS)
        record |= {"event_id": event} if event else {}
        return {**record, **values.record_of(**words)}

    def unpack(self, document: values.Record, inside: values.Inside) -> Iterator[values.Item]:
        if self.inside:
            inner = (values.value_at(document, path) for path in self.inside)
            held = [value for value in inner if value is not values.MISSING]
            full = [v for v in held if (v and isinstance(v, dict)) or values.objects_in(v)]
            yield from inside(next(iter((*full, *held)), []))
        elif self.line:
            yield self.line.read(document)
        elif self.each:
            found = values.at(document, *self.each)
            yield from map(self.read, values.objects_in(found) or values.objects_in([found]))
        elif self.is_no_error:
            yield values.QUIET
        elif self.fields or self.exceptions or self.named:
            yield self.read(document)


def _value(document: values.Record, name: str, paths: tuple[str, ...]) -> object:
    if name == "user":
        return next(filter(None, (values.someone(values.at(document, path)) for path in paths)), "")
    return values.at(document, *paths) if name in _VALUES else values.text_at(document, *paths)


Unpack = Callable[[values.Record, values.Inside], Iterator[values.Item]]


class Shape(NamedTuple):
    """A shape of JSON documents; only those with a field of `needs` are asked, all for ()."""

    name: str  # for people: "answer of New Relic"
    applies: Callable[[values.Record], bool]
    unpack: Unpack
    needs: tuple[str, ...] = ()


def descriptions(file: str) -> dict[str, Description]:
    """Read a file of descriptions; raises `ValidationError` where one is none."""
    return data_table(__package__, file, dict[str, Description])


def shapes_of(
    described: Mapping[str, Description],
    unpack: Mapping[str, Unpack] = {},  # noqa: B006 (read alone)
    applies: Mapping[str, Callable[[values.Record], bool]] = {},  # noqa: B006
) -> tuple[Shape, ...]:
    """Make the shapes of a file in its order; functions stand for what it does not describe."""
    shapes = []
    for name, row in described.items():
        alternatives = tuple(map(conditions_in, row.when))
        paths = [path for conditions in alternatives for path in conditions[0].paths]
        shapes.append(
            Shape(
                row.name,
                applies.get(name) or partial(_hold, alternatives),
                unpack.get(name) or row.unpack,
                row.needs or tuple(dict.fromkeys((*paths, *(p.partition(".")[0] for p in paths)))),
            )
        )
    return tuple(shapes)


class Condition(NamedTuple):
    """One of the fields holds a value that fits."""

    paths: tuple[str, ...]
    fits: Callable[[object], bool]

    def holds(self, document: values.Record) -> bool:
        found = (values.value_at(document, path) for path in self.paths)
        return any(value is not values.MISSING and self.fits(value) for value in found)


def conditions_in(text: str) -> tuple[Condition, ...]:
    """Read conditions with spaces between them."""
    conditions = []
    for word in text.split():
        names, _, listed = word.partition("=")
        names, _, kind = names.partition(":")
        allowed = frozenset(listed.split(","))
        fits = partial(_is_one_of, allowed) if listed else _KINDS[kind]
        conditions.append(Condition(paths_in(names), fits))
    return tuple(conditions)


def _is_one_of(allowed: frozenset[str], value: object) -> bool:
    return isinstance(value, str) and value in allowed


def _hold(alternatives: Sequence[Sequence[Condition]], document: values.Record) -> bool:
    return any(all(item.holds(document) for item in needed) for needed in alternatives)
