"""No finished turn of a night is paid for twice: whoever asks again finds it in the journal."""

import pytest
from analysis_shapes import OPENING, analysed, answer, asks, says
from journal_runs import JournalRuns
from twins.reading import MemoryModel

from nightwatch_core.errors import TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Capabilities

USAGE = Usage(calls=1, input_tokens=50, cost=0.1)
READ = asks(("read_file", {"path": "a.py"}), usage=USAGE)
REMOTE = Capabilities(model="remote", input_price=1.0, output_price=5.0, context_tokens=10**6)


@pytest.mark.parametrize(
    ("end", "is_off"),
    [
        (says("prose"), False),
        (says(answer()[:90], stop="cut"), False),
        (says("", stop="refused"), False),
        (says("", stop="context exceeded"), False),
        (says(answer(), stop="refused"), False),
        (READ, True),
    ],
)
def test_an_end_that_a_retry_may_better_is_asked_again(end, is_off):
    night, opening = JournalRuns(), OPENING.model_copy(update={"tools_off": is_off})
    night.model(MemoryModel([end])).reply(opening, 5.0)
    again = MemoryModel([end])
    night.model(again).reply(opening, 5.0)
    assert len(again.shown) == 1


class Killed(BaseException):
    pass


def script():
    """Every kind of turn, and a verdict: as a model that keeps no state."""
    cut = asks(("read_file", {"path": "shop/pay.py"}), stop="cut", usage=USAGE)
    paused = says("", stop="paused", usage=USAGE)
    turns = (READ, paused, cut, asks(("blame", {}), usage=USAGE), says(answer(), usage=USAGE))

    def at(shown):
        return turns[sum(turn.kind == "assistant" for turn in shown.turns)]

    return at, len(turns)


@pytest.mark.parametrize("finished", range(6))
def test_killed_at_any_turn_no_finished_turn_is_paid_again(finished):
    at, most = script()
    night, asked = JournalRuns(), []

    def until_killed(shown):
        if len(asked) == finished:
            raise Killed
        asked.append(shown)
        return at(shown)

    def resumed(entry):
        model = night.model(MemoryModel([entry], able=REMOTE))
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
    assert (found.usage.calls, found.iterations) == (most, most)
    paid = [event.usage for event in night.journal.events if event.usage and not event.again]
    assert sum(paid, Usage()) == found.usage, "the journal has what was paid, once"


def test_usage_of_broken_attempts_is_counted_with_the_turn_that_follows():
    trouble = TryLater("cut off")
    trouble.usage = Usage(calls=1, output_tokens=30)
    night = JournalRuns()
    for _ in range(2):
        with pytest.raises(TryLater) as raised:
            night.model(MemoryModel([trouble])).reply(OPENING, 5.0)
        trouble.usage = Usage(calls=1, output_tokens=30)
    assert raised.value is trouble
    for _ in range(2):
        reply = night.model(MemoryModel([READ])).reply(OPENING, 5.0)
        assert reply.usage == USAGE + Usage(calls=2, output_tokens=60)


def test_an_answer_that_masks_have_changed_is_asked_again():
    night = JournalRuns(lambda text: text.replace("hunter2", "<secret-123456>"))
    said = asks(("read_file", {"path": "hunter2"}), usage=USAGE)
    night.model(MemoryModel([said])).reply(OPENING, 5.0)
    again = MemoryModel([READ])
    assert night.model(again).reply(OPENING, 5.0) == READ
    assert "hunter2" not in "".join(line for file in night.files for line in file)


def test_what_only_the_service_reads_comes_back_as_it_was():
    night = JournalRuns(lambda text: text.replace("c2ln", "<secret-123456>"))
    turn = READ.turn.model_copy(update={"opaque": "c2lnbmF0dXJl"})
    said = READ.model_copy(update={"turn": turn})
    night.model(MemoryModel([said])).reply(OPENING, 5.0)
    assert night.model(MemoryModel([])).reply(OPENING, 5.0) == said


def test_a_paid_turn_is_shared_when_it_is_written_and_a_resumed_one_is_not():
    night, other = JournalRuns(), OPENING.model_copy(update={"system": "Another."})
    for _ in range(2):
        night.model(MemoryModel([READ])).reply(OPENING, 5.0)
    with pytest.raises(TryLater):
        night.model(MemoryModel([TryLater("away")])).reply(other, 5.0)
    assert night.shared == [len(night.files[0])]
