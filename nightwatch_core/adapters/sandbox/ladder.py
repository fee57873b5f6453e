"""Which confinement holds on this machine: the first that passes a look from inside."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from nightwatch_core.adapters.sandbox import bubblewrap, container, namespaces
from nightwatch_core.adapters.sandbox.cell import Cell, Mount
from nightwatch_core.adapters.sandbox.limits import PROBE_SECONDS
from nightwatch_core.adapters.sandbox.supervision import run_bounded
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.sandbox import Bounds, Run

StartWords = Callable[[Cell], tuple[str, ...]]
_HOLDS = "it holds"
_LOOK = (  # no privilege, no network card but loopback, nothing to write but a place to work in
    "grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status"
    " && ! sed 1,2d /proc/net/dev | grep -qv '^ *lo:'"
    " && echo x > /work/x && ! echo x 2>/dev/null > /usr/nightwatch-probe"
)
_NO_ROOT = "! test -e /root && ! test -e /home && ! test -e /var/lib/dpkg"  # of this machine
NOTHING = (
    "no sandbox holds on this machine: install bubblewrap 0.8 or later (apt-get install "
    "bubblewrap), and allow user namespaces where they are switched off; or "
    "name a container engine and an image"
)


class RunWords(Protocol):
    """Runs words that were made for a cell."""

    def __call__(
        self,
        words: Sequence[str],
        bounds: Bounds,
        enough: Callable[[], bool] | None = None,
    ) -> Run:
        """Run them."""
        ...


class Confinement(NamedTuple):
    """A way to confine, under its name."""

    name: str
    start_words: StartWords  # empty, or `GiveUp`, where it is not to be had
    run: RunWords = run_bounded
    look: str = _NO_ROOT  # what has to be seen from inside besides


LADDER = (
    Confinement(bubblewrap.NAME, bubblewrap.start_words),
    Confinement(namespaces.NAME, namespaces.start_words),
    Confinement(container.NAME, container.start_words, container.run_and_remove, container.LOOK),
)


def first_that_holds(
    mounts: tuple[Mount, ...], ladder: tuple[Confinement, ...] = LADDER, image: str = ""
) -> Confinement:
    """Return the first rung that holds; raises `GiveUp`, with what to do, where none does."""
    seen = []
    for rung in ladder:
        try:
            run = _look(rung, mounts, image)
        except GiveUp as reason:
            seen.append(f"{rung.name}: {reason}")
            continue
        if run and run.went_well and run.output.strip().endswith(_HOLDS):
            return rung
        why = " ".join(run.output.split())[-200:] if run else "not installed"
        seen.append(f"{rung.name}: {why or 'it does not hold'}")
    raise GiveUp(f"{NOTHING} ({'; '.join(seen)})" if seen else NOTHING)


def _look(rung: Confinement, mounts: tuple[Mount, ...], image: str) -> Run | None:
    bounds = Bounds(seconds=PROBE_SECONDS, work_mb=8, temporary_mb=8)
    look = ("/bin/sh", "-c", f"{_LOOK} && {rung.look} && echo {_HOLDS}")
    words = rung.start_words(Cell(look, {"PATH": "/usr/bin:/bin"}, mounts, bounds, image=image))
    return rung.run(words, bounds) if words else None
