"""Ports as data: what can be asked of one, and an object that passes every question on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from inspect import Signature, signature
from types import GenericAlias
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter


class Member(NamedTuple):
    """A method or property of a port."""

    name: str
    returns: Any
    parameters: Signature | None  # None: a property

    @property
    def port(self) -> type | None:
        """The port that it returns, where that is one."""
        is_port = isinstance(self.returns, type) and getattr(self.returns, "_is_protocol", False)
        return self.returns if is_port else None

    @property
    def holds(self) -> bool:
        """Whether it returns something to enter and to leave."""
        return get_origin(self.returns) is AbstractContextManager

    @property
    def streams(self) -> bool:
        """Whether it returns its values one by one."""
        return get_origin(self.returns) is Iterator

    def arguments(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """Return what it was given by the names of its parameters, defaults included."""
        if self.parameters is None:
            return {}
        bound = self.parameters.bind(None, *given, **named)
        bound.apply_defaults()
        return {name: value for name, value in bound.arguments.items() if name != "self"}

    def value(self, plain: Any) -> Any:
        """Return the value that JSON stands for; raises `ValueError` where it stands for none."""
        return _adapter(self.returns).validate_python(plain)


Ask = Callable[[Member, tuple[Any, ...], Mapping[str, Any]], Any]


@lru_cache
def members(port: type) -> tuple[Member, ...]:
    """Return what can be asked of a port."""
    names = [name for name in dir(port) if not name.startswith("_")]
    return tuple(_member(name, getattr(port, name)) for name in names)


def passing(port: type, ask: Ask, *more: type) -> Any:
    """Return an object of a port, and of `more`, that hands every question to `ask`."""
    return _kind((port, *more))(ask)


@lru_cache
def _kind(ports: tuple[type, ...]) -> Callable[[Ask], Any]:
    """A class with all methods in its own body: that is where `isinstance` looks for them."""

    def begin(self: Any, ask: Ask) -> None:
        self._ask = ask

    body = {one.name: _passed(one) for port in ports for one in members(port)}
    return type("Passing", (), {"__init__": begin, **body})


def _passed(member: Member) -> Any:
    def passed(self: Any, *given: Any, **named: Any) -> Any:
        return self._ask(member, given, named)

    return property(passed) if member.parameters is None else passed


def _member(name: str, value: Any) -> Member:
    if isinstance(value, property):
        return Member(name, get_type_hints(value.fget)["return"], None)
    return Member(name, get_type_hints(value)["return"], signature(value))


@lru_cache
def _adapter(returns: Any) -> TypeAdapter[Any]:
    if get_origin(returns) is Iterator:
        returns = GenericAlias(list, get_args(returns))
    return TypeAdapter(returns)
