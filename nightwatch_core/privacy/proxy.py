"""One proxy for all ports: it hands every call to a function, which redacts, records or replays."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from inspect import Signature, signature
from types import GenericAlias
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter

P = TypeVar("P")
Transform = Callable[[Any], Any]
Guard = Callable[[], AbstractContextManager[None]]


class Member(NamedTuple):
    """A method or property of a port."""

    name: str
    returns: Any
    parameters: Signature | None  # None: a property

    @property
    def port(self) -> type | None:
        """Return the port protocol that a method returns; None for none."""
        is_port = isinstance(self.returns, type) and getattr(self.returns, "_is_protocol", False)
        return self.returns if is_port else None

    @property
    def holds(self) -> bool:
        """Tell whether it returns a context manager."""
        return get_origin(self.returns) is AbstractContextManager

    @property
    def streams(self) -> bool:
        """Tell whether it returns an iterator."""
        return get_origin(self.returns) is Iterator

    def arguments(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by the names of their parameters, defaults included."""
        if self.parameters is None:
            return {}
        bound = self.parameters.bind(None, *given, **named)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != "self"}

    def value(self, plain: Any) -> Any:
        """Return the value that JSON stands for; raises `ValueError` if it stands for none."""
        return _adapter(self.returns).validate_python(plain)

    def call(self, inner: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return what `inner` answers."""
        value = getattr(inner, self.name)
        return value if self.parameters is None else value(*given, **named)


Ask = Callable[[Member, tuple[Any, ...], Mapping[str, Any]], Any]


@lru_cache
def members(port: type) -> tuple[Member, ...]:
    """Return the methods and properties of a port."""
    found = []
    for name in (name for name in dir(port) if not name.startswith("_")):
        value = getattr(port, name)
        is_property = isinstance(value, property)
        returns = get_type_hints(value.fget if is_property else value)["return"]
        found.append(Member(name, returns, None if is_property else signature(value)))
    return tuple(found)


def passing(port: type, ask: Ask, *more: type) -> Any:
    """Return an object of `port`, and of the ports in `more`, that hands every call to `ask`."""
    return _kind((port, *more))(ask)


def proxied(
    inner: P,
    port: type,
    *more: type,
    arguments: Mapping[str, Transform] | None = None,
    results: Mapping[str, Transform] | None = None,
    replaced: Mapping[str, Callable[..., Any]] | None = None,
    guard: Guard = nullcontext,
) -> P:
    """Return a proxy of `inner`; all mappings are by the name of a method of `port` or of `more`.

    Each argument and the result go through the transforms. A function in `replaced` is called
    instead of the method. Every call runs inside of `guard()`. Raises `ValueError` if a name is
    not one of the port's.
    """
    inputs, outputs, instead = arguments or {}, results or {}, replaced or {}
    names = {member.name for kind in (port, *more) for member in members(kind)}
    if unknown := {*inputs, *outputs, *instead} - names:
        raise ValueError(f"{port.__name__} has no {', '.join(sorted(unknown))}")

    def stream(values: Iterator[Any], change: Transform) -> Iterator[Any]:
        with guard():
            yield from map(change, values)

    def ask(member: Member, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        if change := inputs.get(member.name):
            given = tuple(change(value) for value in given)
            named = {name: change(value) for name, value in named.items()}
        result = outputs.get(member.name, lambda value: value)
        with guard():
            if member.name in instead:
                function = instead[member.name]
                value = function() if member.parameters is None else function(*given, **named)
            else:
                value = member.call(inner, given, named)
            return stream(value, result) if member.streams else result(value)

    made: P = passing(port, ask, *more)
    return made


@lru_cache
def _kind(ports: tuple[type, ...]) -> Callable[[Ask], Any]:
    """Make a class with all methods in its own body: `isinstance` looks for them there."""

    def begin(self: Any, ask: Ask) -> None:
        self._ask = ask

    body = {member.name: _passed(member) for port in ports for member in members(port)}
    return type("Proxy", (), {"__init__": begin, **body})


def _passed(member: Member) -> Any:
    def passed(self: Any, *given: Any, **named: Any) -> Any:
        return self._ask(member, given, named)

    return property(passed) if member.parameters is None else passed


@lru_cache
def _adapter(returns: Any) -> TypeAdapter[Any]:
    if get_origin(returns) is Iterator:
        returns = GenericAlias(list, get_args(returns))
    return TypeAdapter(returns)
