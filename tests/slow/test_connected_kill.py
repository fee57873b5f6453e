"""kill -9 after every effect on the outside, and the night again: all of it once, nothing twice.

Every night of a chain is killed at its first new effect, so that each is taken up from where the
one before was killed, until one comes to its end: as many kills as there are effects.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from connected import shop
from connected.prefect_server import prefect_server
from connected.world import World

from nightwatch_core.issue_text import read_marker

pytestmark = pytest.mark.slow
ERRORS = (shop.BROKEN_BASKET, shop.NO_RATE)
MOST = 30  # kills
# Beside what people see: labels, trees and commits are named by what they are, twice is once.
VISIBLE = 8  # two issues, branch, draft; a message, two replies, a follow-up


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with prefect_server(tmp_path_factory.mktemp("prefect")) as address:
        yield address


def nothing_twice(world: World) -> None:
    items = [read_marker(one["body"]) for one in world.github.items.values()]
    keys = Counter(marker.key for marker in items if marker)
    assert not [key for key, count in keys.items() if count > 1]
    assert len([one for one in world.github.branches() if one != "main"]) <= 1
    parts = Counter(part for _, part in world.slack.parts())
    assert not [part for part, count in parts.items() if count > 1], world.slack.parts()


@pytest.mark.parametrize("answered", [False, True], ids=["before its answer", "after its answer"])
def test_killed_at_every_effect(answered: bool, tmp_path: Path, server: str) -> None:
    with World(tmp_path, ERRORS, server) as world:
        kills, night = 0, world.night(kill_at=1, answered=answered)
        while night.killed:
            kills += 1
            nothing_twice(world)
            assert kills < MOST, world.bell.effects
            night = world.night(kill_at=1, answered=answered)
        assert night.code == 0, night.output
        assert night.report["night"]["resumed"]
        assert kills == len(world.bell.effects) >= VISIBLE
        nothing_twice(world)
        assert len(world.github.issues()) == 2
        (pull,) = (one for one in world.github.pulls() if read_marker(one["body"]))
        assert "nightwatch" in pull["labels"]
        assert world.github.branches() == ["main", pull["head"]]
        assert world.github.changed("main", pull["head"]) == ["app/models/basket.rb"]
        assert len(world.slack.shown()) == 4
        assert len({night for night, _ in world.slack.parts()}) == 1
        assert len(world.claude.bodies) == 4, "finished analyses are not paid for twice"
