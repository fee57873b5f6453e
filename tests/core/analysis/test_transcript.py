"""What is written down of a conversation."""

import pytest
from analysis_shapes import answer, asks, case, says
from twins.reading import MemoryModel

from nightwatch_core.analysis.transcript import TranscribedModel
from nightwatch_core.errors import TryLater
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import Conversation, ResultsTurn, ToolResult, UserTurn

USAGE = Usage(calls=1, input_tokens=9)
READ = asks(("read_file", {"path": "shop/cart.py"}), usage=USAGE, text="Let me look.")
TALK = Conversation(system="Find it.", turns=(UserTurn(text="It broke."),), case=case())
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
    model = TranscribedModel(MemoryModel([READ, says(answer(), usage=USAGE)]), heard, "n1")
    first = model.reply(TALK, 5)
    model.reply(TALK.said(first.turn, TOLD, UserTurn(text="Conclude.")), 5)
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


def test_another_conversation_is_a_second_look():
    heard = Heard()
    model = TranscribedModel(MemoryModel([says(answer()), says(answer())]), heard, "n1")
    model.reply(TALK, 5)
    model.reply(TALK.model_copy(update={"turns": (UserTurn(text="Look again."),)}), 5)
    assert heard.kinds == ["opening", "user", "assistant"] * 2
    assert [line.opening.look for line in heard.lines if line.opening] == [1, 2]


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
        model.reply(TALK, 5)
    assert model.reply(TALK, 5).stop == "answer"
    assert heard.kinds == ["opening", "user", "failure", "assistant"]
    assert (heard.lines[2].text, heard.lines[2].usage) == (str(trouble), USAGE)


def test_it_is_the_model_behind_for_everybody_else():
    model = TranscribedModel(MemoryModel([READ]), Heard(), "n1")
    assert model.capabilities() == MemoryModel([]).capabilities()
    assert model.reply(TALK, 5) == READ
