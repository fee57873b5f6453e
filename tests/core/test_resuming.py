from analysis_shapes import allowance, answer, asks, case, says

from nightwatch_core.adapters.memory import MemoryClock, MemoryModel, MemoryRecords
from nightwatch_core.agent.loop import converse
from nightwatch_core.agent.resuming import ResumableModel
from nightwatch_core.models.analysis import Usage
from nightwatch_core.models.conversation import Conversation, ToolResult, UserTurn

OPENING = Conversation(system="Find it.", turns=(UserTurn(text="It broke."),), case=case())
USAGE = Usage(calls=1, input_tokens=50, cost=0.1)
READ = asks(("read_file", {"path": "a.py"}), usage=USAGE)


def lead(model, records, opening=OPENING):
    def run(call):
        return ToolResult(id=call.id, name=call.name, text="x = 1")

    return converse(
        opening, ResumableModel(model, records, "turns/n"), run, allowance(), MemoryClock()
    )


def test_turns_that_were_finished_are_not_asked_for_again():
    records, model = MemoryRecords(), MemoryModel([READ, answer()])
    first = lead(model, records)
    again = MemoryModel([answer()])
    assert lead(again, records) == first
    assert len(again.shown) == 1
    assert all(key.startswith("turns/n/") for key in records.kept)


def test_what_was_spent_is_counted_again():
    records = MemoryRecords()
    lead(MemoryModel([READ, answer()]), records)
    assert lead(MemoryModel([answer()]), records).talk.usage.input_tokens == 150


def test_another_conversation_is_another_turn():
    records = MemoryRecords()
    lead(MemoryModel([READ, answer()]), records)
    for changed in (
        {"system": "Find it well."},
        {"effort": "high"},
        {"turns": (UserTurn(text="Other."),)},
    ):
        model = MemoryModel([READ, answer()])
        lead(model, records, OPENING.model_copy(update=changed))
        assert len(model.shown) == 2


def test_ends_are_not_kept_so_that_a_retry_may_fare_better():
    for end in (says("prose"), says("", stop="refused"), says("", stop="cut"), says(answer())):
        records = MemoryRecords()
        ResumableModel(MemoryModel([end]), records, "p").reply(OPENING, 5.0)
        assert not records.kept


def test_damaged_records_are_asked_for_again():
    records = MemoryRecords()
    lead(MemoryModel([READ, answer()]), records)
    for damage in ("", "{", '{"turn": 1}', "null", '{"version": 2}'):
        records.kept = dict.fromkeys(records.kept, damage)
        model = MemoryModel([READ, answer()])
        assert lead(model, records).answer
        assert len(model.shown) == 2


def test_half_characters_in_a_turn_do_not_break_it():
    records = MemoryRecords()
    said = asks(("search_code", {"query": "\ud800"}), text="half \udc00")
    model = ResumableModel(MemoryModel([said]), records, "p")
    assert model.reply(OPENING, 5.0) == said
    fresh = ResumableModel(MemoryModel(["other"]), records, "p")
    assert fresh.reply(OPENING, 5.0) == said
    fresh.reply(OPENING.said(said.turn), 5.0)


def test_it_can_do_what_the_model_behind_can():
    assert ResumableModel(MemoryModel(["x"]), MemoryRecords(), "p").capabilities().local
