"""Which confinement holds on this machine: the first that passes a look from inside."""

from collections.abc import Callable
from typing import NamedTuple

from nightwatch_core.adapters.sandbox import bubblewrap, namespaces
from nightwatch_core.adapters.sandbox.cell import Cell, Mount
from nightwatch_core.adapters.sandbox.limits import PROBE_SECONDS
from nightwatch_core.adapters.sandbox.supervision import run_bounded
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.sandbox import Bounds

StartWords = Callable[[Cell], tuple[str, ...]]
_HOLDS = "it holds"
_LOOK = (  # no privilege, no network card but loopback, no file of this machine, a place to work in
    "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status"
    " && ! sed 1,2d /proc/net/dev | grep -qv '^ *lo:'"
    " && ! test -e /root && ! test -e /home && ! test -e /var/lib/dpkg"
    " && echo x > /work/x && ! echo x 2>/dev/null > /usr/nightwatch-probe"
    f" && echo {_HOLDS}"
)
NOTHING = (
    "no sandbox holds on this machine: install bubblewrap 0.8 or later (apt-get install "
    "bubblewrap), and allow user namespaces where they are switched off"
)


class Confinement(NamedTuple):
    """A way to confine, under its name."""

    name: str
    start_words: StartWords


LADDER = (
    Confinement(bubblewrap.NAME, bubblewrap.start_words),
    Confinement(namespaces.NAME, namespaces.start_words),
)


def first_that_holds(
    mounts: tuple[Mount, ...], ladder: tuple[Confinement, ...] = LADDER
) -> Confinement:
    """Return the first rung that holds; raises `GiveUp`, with what to do, where none does."""
    bounds = Bounds(seconds=PROBE_SECONDS, work_mb=8, temporary_mb=8)
    cell = Cell(("/bin/sh", "-c", _LOOK), {"PATH": "/usr/bin:/bin"}, mounts, bounds)
    seen = []
    for rung in ladder:
        words = rung.start_words(cell)
        run = run_bounded(words, bounds) if words else None
        if run and run.went_well and run.output.strip().endswith(_HOLDS):
            return rung
        why = " ".join(run.output.split())[-200:] if run else "not installed"
        seen.append(f"{rung.name}: {why or 'it does not hold'}")
    raise GiveUp(f"{NOTHING} ({'; '.join(seen)})" if seen else NOTHING)
