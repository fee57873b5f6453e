"""How a night waits for its services."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from nightwatch_core.adapters.local.clock import pause


@dataclass(frozen=True)
class Pace:
    """What makes a pause, and how many seconds a service may be silent."""

    pause: Callable[[float], None] = pause
    silence: float | None = None  # None: as long as its adapter thinks right


AS_EVER = Pace()
_pace: ContextVar[Pace] = ContextVar("pace", default=AS_EVER)


def pace() -> Pace:
    """Return how tonight waits."""
    return _pace.get()


@contextmanager
def at_pace(other: Pace) -> Iterator[None]:
    """Run a block that waits in another way."""
    token = _pace.set(other)
    try:
        yield
    finally:
        _pace.reset(token)
