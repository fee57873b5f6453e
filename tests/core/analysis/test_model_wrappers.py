"""A model that remembers its turns, and one whose conversations are written down."""

import pytest
from analysis_shapes import OPENING, analysed, answer, asks, case, says
from twins.reading import MemoryModel, MemoryRecords

from nightwatch_core.analysis.model_wrappers import ResumableModel, TranscribedModel
from nightwatch_core.errors import TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Capabilities, ResultsTurn, ToolResult, UserTurn

USAGE = Usage(calls=1, input_tokens=50, cost=0.1)
CALL = ("read_file", {"path": "a.py"})
READ = asks(CALL, usage=USAGE)
REMOTE = Capabilities(model="remote", input_price=1.0, output_price=5.0, context_tokens=10**6)


def test_ends_are_not_kept_so_that_a_retry_may_fare_better():
    off = OPENING.model_copy(update={"tools_off": True})
    for end, opening in (
        (says("prose"), OPENING),
        (says(answer()[:90], stop="cut"), OPENING),
        (says("", stop="refused"), OPENING),
        (says("", stop="context exceeded"), OPENING),
        (says(answer(), stop="refused"), OPENING),
        (READ, off),
    ):
        records = MemoryRecords()
        ResumableModel(MemoryModel([end]), records, "p").reply(opening, 5.0)
        assert not records.kept


class Killed(BaseException):
    pass


def script():
    """Every kind of turn, a weak verdict, and a second look: as a model that keeps no state."""
    cut = asks(("read_file", {"path": "shop/pay.py"}), stop="cut", usage=USAGE)
    first = (READ, says("", stop="paused", usage=USAGE), cut, asks(("blame", {}), usage=USAGE))
    weak = says(answer(evidence=[], confidence="low"), usage=USAGE)
    turns = (*first, weak, READ, says(answer(confidence="high"), usage=USAGE))

    def at(shown):
        looks = "An earlier look" in shown.turns[0].text
        spoken = sum(turn.kind == "assistant" for turn in shown.turns)
        return turns[spoken + 5 * looks]

    return at, len(turns)


@pytest.mark.parametrize("finished", range(8))
def test_killed_at_any_turn_no_finished_turn_is_paid_again(finished):
    at, most = script()
    records, asked = MemoryRecords(), []

    def until_killed(shown):
        if len(asked) == finished:
            raise Killed
        asked.append(shown)
        return at(shown)

    def resumed(entry):
        model = ResumableModel(MemoryModel([entry], able=REMOTE), records, "n1/remote")
        return analysed(model, iterations=9, tokens=10**6, cost=90.0)

    if finished < most:
        with pytest.raises(Killed):
            resumed(until_killed)
    again = []

    def noting(shown):
        again.append(shown)
        return at(shown)

    found = resumed(noting)
    assert len(asked) + len(again) == most, "no turn was asked for twice"
    assert (found.passes, found.usage.calls, found.iterations) == (2, most, most)
    assert found.second_look.kept == "second"


def test_what_broken_attempts_took_is_counted_with_the_turn_that_came_of_them():
    trouble = TryLater("cut off")
    trouble.usage = Usage(calls=1, output_tokens=30)
    records = MemoryRecords()
    for _ in range(2):
        model = ResumableModel(MemoryModel([trouble]), records, "p")
        with pytest.raises(TryLater) as raised:
            model.reply(OPENING, 5.0)
        trouble.usage = Usage(calls=1, output_tokens=30)
    assert raised.value is trouble
    for _ in range(2):
        reply = ResumableModel(MemoryModel([READ]), records, "p").reply(OPENING, 5.0)
        assert reply.usage == USAGE + Usage(calls=2, output_tokens=60)


LOOK = asks(("read_file", {"path": "shop/cart.py"}), usage=USAGE, text="Let me look.")
TOLD = ResultsTurn(
    results=(ToolResult(id="c0", name="read_file", text="gone", is_error=True, missing=True),)
)


class Heard:
    def __init__(self):
        self.lines = []

    def keep(self, night, fingerprint, entry):
        assert (night, fingerprint) == ("n1", "v1:a")
        self.lines.append(entry)

    @property
    def kinds(self):
        return [entry.kind for entry in self.lines]


def test_every_turn_is_said_once():
    heard = Heard()
    model = TranscribedModel(MemoryModel([LOOK, says(answer(), usage=USAGE)]), heard, "n1")
    first = model.reply(OPENING, 5)
    model.reply(OPENING.said(first.turn, TOLD, UserTurn(text="Conclude.")), 5)
    assert heard.kinds == ["opening", "user", "assistant", "results", "user", "assistant"]
    opening, _, asked, told, _, last = heard.lines
    assert opening.opening.error == case().leader.title
    assert (opening.opening.night, opening.opening.look) == ("n1", 1)
    assert (opening.opening.model, opening.opening.system) == ("memory", "Find it.")
    assert (asked.text, asked.stop, asked.usage) == ("Let me look.", "tools", USAGE)
    assert (asked.calls[0].name, asked.calls[0].arguments) == (
        "read_file", {"path": "shop/cart.py"}
    )  # fmt: skip
    assert (told.results[0].text, told.results[0].is_error) == ("gone", True)
    assert (last.text, last.stop) == (answer(), "answer")


def test_a_failure_is_a_line_and_the_same_turn_is_not_told_twice():
    heard = Heard()
    trouble = TryLater("Claude is away: try again later")
    trouble.usage = USAGE

    def unwell(_shown):
        if "failure" not in heard.kinds:
            raise trouble
        return says(answer())

    model = TranscribedModel(MemoryModel([unwell]), heard, "n1")
    with pytest.raises(TryLater):
        model.reply(OPENING, 5)
    assert model.reply(OPENING, 5).stop == "answer"
    assert heard.kinds == ["opening", "user", "failure", "assistant"]
    assert (heard.lines[2].text, heard.lines[2].usage) == (str(trouble), USAGE)
