"""Nights among all four services are replayed from their journals, offline: each comes to the same.

Undisturbed ones, such that were killed and taken up, and such that were finished and then retried
by Prefect; in one process, and with two workers of Dask, each of which writes a file of its own.
"""

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bundles.golden_bundles import clean_environment, run
from connected import mind, shop
from connected.standins import Effect
from connected.world import ROOT, Night, World
from slow.test_turn_kills import Doorkeeper

pytestmark = pytest.mark.slow
SERVICES = ("newrelic", "github", "claude", "slack")


@pytest.fixture
def world(runner: str, tmp_path: Path, server: str) -> Iterator[World]:
    with World(tmp_path, prefect=server) as made:
        claude = Doorkeeper(fixes=dict(shop.FIXED), mind=mind.turn)
        made.claude = made._open.enter_context(claude)
        made.variables = {"NIGHTWATCH_TASK_RUNNER": runner}
        yield made


def undisturbed(world: World) -> Night:
    return world.night()


def killed_in_an_analysis(world: World) -> Night:
    """Two turns are answered, the third never."""
    world.claude.let_in(2)
    night = world.night(when=lambda: world.claude.waited.total() > 0)
    assert night.killed, night.output
    world.claude.let_in(math.inf)
    return world.night()


def killed_while_it_publishes(world: World) -> Night:
    """The second issue is there, and the night has not heard of it."""
    opened = []

    def second(effect: Effect) -> bool:
        opened.extend([effect] * (effect.what == "POST /issues"))
        return len(opened) == 2

    night = world.night(kill=second)
    assert night.killed, night.output
    return world.night()


def finished_and_retried(world: World) -> Night:
    world.program = (str(ROOT / "tests/connected/retried.py"),)
    first = world.night()
    assert first.code == 0, first.output
    bodies = len(world.claude.bodies)
    again = world.night("--again")
    assert len(world.claude.bodies) == bodies, "what was answered is not asked again"
    return again


@pytest.mark.parametrize(
    ("runner", "ends", "runs"),
    [  # undisturbed in one process: test_sealed_nights.py
        ("threads", killed_in_an_analysis, 2),
        ("threads", killed_while_it_publishes, 2),
        ("threads", finished_and_retried, 2),
        ("dask", undisturbed, 1),
        ("dask", killed_in_an_analysis, 2),
        ("dask", finished_and_retried, 2),
    ],
)
def test_a_night_is_replayed_equal(
    ends: Callable[[World], Night], runs: int, world: World, tmp_path: Path
) -> None:
    night = ends(world)
    assert night.code == 0, night.output
    name = night.report["night"]["id"]
    journal = world.journal(name)
    assert len(journal.runs) == runs
    files = {path.name for path in (world.state / "journal").glob(f"{name}~*.jsonl.xz")}
    assert files, "the file of a run that is over is packed"
    if world.variables["NIGHTWATCH_TASK_RUNNER"] == "dask":
        every = [*(world.state / "journal").glob(f"{name}~*.jsonl*")]
        assert len(every) >= runs + 2, "two workers write, too"
    assert not world.published_twice()
    world.forget_requests()
    done = run("replay", name, environment=clean_environment(tmp_path))
    assert done.stdout.startswith("Equal: "), done.stdout + done.stderr
    verdicts = re.match(r"Equal: (\d+) verdicts", done.stdout)
    assert verdicts
    assert int(verdicts[1]) == len(night.report["analyses"]) == len(shop.THREE)
    assert "Missing" not in done.stdout, done.stdout
    assert "no answer for" not in done.stdout, done.stdout
    assert not any(getattr(world, service).requests for service in SERVICES)
