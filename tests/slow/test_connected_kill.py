"""kill -9 after every effect on the outside, and the night again: all of it once, nothing twice.

Every night of a chain is killed at its first new effect, so that each is taken up from where the
one before was killed, until one comes to its end: as many kills as there are effects.

Killed before the answer arrives, nothing of an effect is known here; that is tried at all of them.
Killed after it, what is written down next is missing; that is tried where something is written, but
for the last message: a night may be over before the kill comes.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from connected import shop
from connected.standins import Effect
from connected.world import World

from nightwatch_core.text.markers import read_marker

pytestmark = pytest.mark.slow
ERRORS = (shop.BROKEN_BASKET, shop.NO_RATE)
MOST = 30  # kills
MESSAGES = 3  # the night's, two replies
EFFECTS = 2 + 5 + MESSAGES  # issues; tree, commit, branch, draft and its labels
WRITTEN_DOWN = ("POST /issues", "chat.postMessage")  # the first are drafts' labels, too


def nothing_twice(world: World) -> None:
    assert not world.published_twice()
    assert len([branch for branch in world.github.branches() if branch != "main"]) <= 1


def anything(effect: Effect) -> bool:
    return True


def written_down(effect: Effect) -> bool:
    return effect.what.startswith(WRITTEN_DOWN)


def but_the_last(
    at: Callable[[Effect], bool], world: World, answered: bool
) -> Callable[[Effect], bool]:
    def holds(effect: Effect) -> bool:
        told = sum(effect.what.startswith("chat.postMessage") for effect in world.bell.effects)
        return at(effect) and not (answered and told == MESSAGES)

    return holds


@pytest.mark.parametrize(
    ("at", "answered", "effects"),
    [
        pytest.param(anything, False, EFFECTS, id="before the answer"),
        pytest.param(written_down, True, 2 + 1 + MESSAGES - 1, id="after the answer"),
    ],
)
def test_killed_at_every_effect(
    at: Callable[[Effect], bool], answered: bool, effects: int, tmp_path: Path, server: str
) -> None:
    with World(tmp_path, ERRORS, server) as world:
        at = but_the_last(at, world, answered)
        kills, night = 0, world.night(kill=at, answered=answered)
        while night.killed:
            kills += 1
            nothing_twice(world)
            assert kills < MOST, world.bell.effects
            night = world.night(kill=at, answered=answered)
        assert night.code == 0, night.output
        assert night.report["night"]["resumed"]
        # After an answer, the next effect may come before the kill, and is then not killed at.
        assert effects - 2 * answered <= kills <= effects, world.bell.effects
        nothing_twice(world)
        assert len(world.github.issues()) == 2
        (pull,) = (pull for pull in world.github.pulls() if read_marker(pull["body"]))
        assert "nightwatch" in pull["labels"]
        assert world.github.branches() == ["main", pull["head"]]
        assert world.github.changed("main", pull["head"]) == ["app/models/basket.rb"]
        assert len(world.slack.shown()) == MESSAGES
        assert len({night for night, _ in world.slack.parts()}) == 1
        assert len(world.claude.bodies) == 4, "finished analyses are not paid for twice"
