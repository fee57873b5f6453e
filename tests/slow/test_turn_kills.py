"""kill -9 at every turn boundary, and the night again: no finished turn is asked for twice.

The analyst reads one file after the other, is not sure, and looks a second time: six turns. It goes
on in its conversation, or, where it quoted a line that is not there, begins a fresh one. Every
night of a chain gets one answer; it is killed when it has kept that, and before it hears another.
Once it is killed before its question is answered: only that turn is asked for again.
"""

import json
import math
import threading
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from connected import mind, shop
from connected.world import World
from services.anthropic import Anthropic

from nightwatch_core.adapters.stores.journal_files import lines_of
from nightwatch_core.journal.reader import read_file
from nightwatch_core.journal.writer import EVENT
from nightwatch_core.models.journal import Event

pytestmark = pytest.mark.slow
TURN = "/v1/messages"
ERROR = shop.BROKEN_BASKET
FIRST_LOOK = ("app/models/order.rb", "app/models/customer.rb", ERROR.path)
SECOND_LOOK = (ERROR.path,)
TURNS = len(FIRST_LOOK) + 1 + len(SECOND_LOOK) + 1  # each look ends with an answer
UNANSWERED = 2  # the turn that is once asked for in vain, counted from 0
ASKED_AGAIN = ("That is not settled", "## An earlier look")  # what only a second look is told
INVENTED = {"path": ERROR.path, "line": 1, "quote": "this.line = stands(nowhere)", "note": ""}
SOON = 120.0  # seconds until the moment to kill has to come
COUNTED = ("calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def investigating(
    body: Any, reads: int, fixes: Mapping[str, str], number: int, invents: bool = False
) -> tuple[list[dict[str, Any]], str]:
    """One file a turn; after the last one an answer, the first look's with low confidence.

    Where it `invents`, the first look's answer quotes a line that is not there.
    """
    content = [m["content"] for m in body["messages"]]
    blocks = [block for item in content if not isinstance(item, str) for block in item]
    asked = sum(block["type"] == "tool_use" for block in blocks)
    again = [text for text in ASKED_AGAIN if text in json.dumps(content)]
    first_look = () if ASKED_AGAIN[1] in again else FIRST_LOOK
    wanted = (*first_look, *(SECOND_LOOK if again else ()))[asked:]
    if wanted:
        call = {"type": "tool_use", "id": f"toolu_{number:04}", "name": "read_file"}
        return [{**call, "input": {"path": wanted[0]}}], "tool_use"
    said, stop = mind.turn(body, reads, fixes, number)
    answer = json.loads(said[0]["text"])
    if not again:
        answer["confidence"] = "low"
        answer["evidence"] += [INVENTED] if invents else []
    return [{"type": "text", "text": json.dumps(answer)}], stop


class Doorkeeper(Anthropic):
    """It answers as many turns as were let in; who asks after that waits until the night is dead.

    `waited` counts such requests by what was asked.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.waited: Counter[str] = Counter()
        self._places = math.inf
        self._over, self._door = threading.Event(), threading.Lock()

    def let_in(self, answers: float) -> None:
        """From now on; ends all waiting."""
        self._over.set()
        self._over, self._places = threading.Event(), answers

    def fault(self, path: str) -> Any:
        if path == TURN:
            with self._door:
                over, self._places = self._over, self._places - 1
                is_let_in = self._places >= 0
            if not is_let_in:
                self.waited[said(self.bodies[-1])] += 1
                over.wait(SOON)
                self.fail("drop", path=path)
        return super().fault(path)

    @property
    def asked(self) -> list[str]:
        """What was asked for, turn by turn."""
        return [said(body) for body in self.bodies]


def said(body: Any) -> str:
    return json.dumps(body, sort_keys=True)


class Turns(World):
    """A world with one error, and nights that are killed between two turns."""

    claude: Doorkeeper

    def __init__(self, folder: Path, prefect: str, *, invents: bool) -> None:
        super().__init__(folder, (ERROR,), prefect)
        self.invents = invents

    def __enter__(self) -> "Turns":
        super().__enter__()
        analyst = partial(investigating, invents=self.invents)
        claude = Doorkeeper(fixes=dict(shop.FIXED), mind=analyst)
        self.claude = self._open.enter_context(claude)
        return self

    def killed_after(self, answers: int) -> list[str]:
        """A night that is killed with `answers` more turns kept; what it asked for."""
        asked, kept = len(self.claude.bodies), len(self.kept())
        waited = self.claude.waited.total()  # who asks on has kept what it was told
        self.claude.let_in(answers)
        night = self.night(
            when=lambda: len(self.kept()) > kept or self.claude.waited.total() > waited
        )
        assert night.killed, night.output
        self.claude.let_in(0)
        return self.claude.asked[asked:]

    def kept(self) -> list[Event]:
        """Turns that a later night finds whole."""
        lines = (
            line
            for path in (self.state / "journal").glob("*.jsonl*")
            if not path.name.startswith(".")
            for line in lines_of(path)
            if line.startswith(EVENT)
        )
        return [
            event
            for event in read_file(lines).events
            if (event.call, event.kind, event.again) == ("reply", "value", False)
        ]


@pytest.mark.parametrize("way", ["going on", "fresh"])
def test_killed_at_every_turn_boundary(tmp_path: Path, server: str, way: str) -> None:
    with Turns(tmp_path, server, invents=way == "fresh") as world:
        finished: list[str] = []
        for turn in range(TURNS):
            for answers in (0, 1) if turn == UNANSWERED else (1,):
                asked = world.killed_after(answers)
                assert not set(asked) & set(finished), "a finished turn was asked for again"
                finished += asked[:answers]
                assert len(world.kept()) == len(finished)
        assert len(set(finished)) == TURNS

        asked = len(world.claude.bodies)
        world.claude.let_in(math.inf)
        night = world.night()
        assert night.code == 0, night.output
        assert len(world.claude.bodies) == asked, "all turns were finished"
        _asked_for_again_where_unanswered(world, finished)
        _paid_once(world, night.report)
        assert night.report["analyses"][0]["second_look"]["way"] == way


def _asked_for_again_where_unanswered(world: Turns, finished: list[str]) -> None:
    """Once for its answer, and once for every time it was killed waiting for that."""
    waited = world.claude.waited
    assert Counter(world.claude.asked) == {turn: 1 + waited[turn] for turn in finished}
    assert waited[finished[UNANSWERED]] >= 1
    print(f"{TURNS} turns, asked for {len(world.claude.asked)} times; waiting: {waited.total()}")


def _paid_once(world: Turns, report: dict[str, Any]) -> None:
    """What the night says it took is what the service bills, over all its beginnings."""
    assert report["night"]["resumed"]
    (analysis,) = report["analyses"]
    assert (analysis["passes"], analysis["iterations"]) == (2, TURNS)
    billed = world.claude.bills.totals
    assert {name: report["usage"][name] for name in COUNTED} == {n: billed[n] for n in COUNTED}
    assert billed["calls"] == TURNS
