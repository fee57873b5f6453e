import json

import pytest
from analysis_shapes import OPENING, allowance, answer, asks, says
from hypothesis import given, settings
from hypothesis import strategies as st
from twins.reading import MemoryClock, MemoryModel

from nightwatch_core.analysis.loop import converse
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Reply,
    ResultsTurn,
    ToolCall,
    ToolResult,
    UserTurn,
)

READ = ("read_file", {"path": "a.py"})
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)


def run(call, known=frozenset()):
    missing = "gone" in str(call.arguments)
    text = f"{call.arguments} (lines 1-1 of 1)\n    1| {call.name}"
    return ToolResult(
        id=call.id, name=call.name, text=text, is_error=missing, missing=missing,
        shown=() if missing else (f"{call.arguments.get('path', 'hit.py')}:1",),
    )  # fmt: skip


def talk(*script, run_tool=run, clock=None, able=None, **may):
    model = MemoryModel(script, **({"able": able} if able else {}))
    ended = converse(OPENING, model, run_tool, allowance(**may), clock or MemoryClock())
    return ended, model


def given_up(*script, run_tool=run, **may):
    model = MemoryModel(script)
    with pytest.raises(GiveUp) as raised:
        converse(OPENING, model, run_tool, allowance(**may), MemoryClock())
    return raised.value, model


def reads(number, usage=None):
    return asks(("read_file", {"path": f"{number}.py"}), usage=usage)


def counting(usage=None):
    """A model that asks for one new file after the other until tools are off."""
    numbers = iter(range(10_000))
    return lambda shown: (
        says(answer(), usage=usage) if shown.tools_off else reads(next(numbers), usage)
    )


def test_tools_are_run_and_their_results_told_in_order():
    calls = (READ, ("search_code", {"query": "x"}), ("read_file", {"path": "b.py"}))
    ended, model = talk(asks(*calls), answer())
    told = model.shown[1].turns[-1]
    assert [result.id for result in told.results] == ["c0", "c1", "c2"]
    assert [result.name for result in told.results] == ["read_file", "search_code", "read_file"]
    assert ended.state.calls.read == ("a.py", "hit.py", "b.py")  # a hit is read, too


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_last_iteration_is_a_wrap_up_whose_answer_counts(most):
    ended, model = talk(counting(), iterations=most)
    assert (ended.ending.kind, ended.ending.detail) == ("wrapped up", "iterations")
    assert len(model.shown) == most
    assert [shown.tools_off for shown in model.shown] == [False] * (most - 1) + [True]
    assert model.shown[-1].turns[-1].effort == "low"
    assert len({shown.effort for shown in model.shown}) == 1
    assert "Time to conclude" in model.shown[-1].turns[-1].text


def test_one_repair_then_the_answer():
    ended, model = talk("I think it is the cart.", answer())
    assert ended.ending.kind == "answered"
    assert model.shown[1].tools_off
    assert "no JSON object" in model.shown[1].turns[-1].text


def test_cut_tool_calls_are_not_run_and_every_one_has_its_result():
    ran = []
    _, model = talk(
        asks(READ, READ, stop="cut"), answer(), run_tool=lambda one, known: ran.append(one)
    )
    assert not ran
    told = model.shown[1].turns[-1]
    assert [(r.id, r.is_error) for r in told.results] == [("c0", True), ("c1", True)]
    assert not model.shown[1].tools_off


def test_a_model_that_asks_for_tools_although_they_are_off_gets_one_chance():
    trouble, model = given_up(asks(READ), iterations=1)
    assert len(model.shown) == 2
    results, words = model.shown[1].turns[-2:]
    assert isinstance(results, ResultsTurn)
    assert results.results[0].is_error
    assert isinstance(words, UserTurn)
    assert "no readable answer" in str(trouble)


CALLS = st.lists(
    st.builds(
        ToolCall,
        id=st.text(min_size=1, max_size=3),
        name=st.sampled_from(("read_file", "blame", "nonsense")),
        arguments=st.dictionaries(
            st.sampled_from(("path", "line", "x")),
            st.none() | st.integers() | st.text(max_size=5) | st.lists(st.integers(), max_size=2),
            max_size=3,
        ),
    ),
    max_size=4,
)
REPLIES = st.lists(
    st.builds(
        Reply,
        turn=st.builds(
            AssistantTurn,
            text=st.sampled_from(("", "prose", answer(), answer()[:50])),
            calls=CALLS.map(tuple),
        ),
        stop=st.sampled_from(("answer", "tools", "cut", "refused", "context exceeded", "paused")),
        usage=st.builds(
            Usage,
            calls=st.just(1),
            input_tokens=st.integers(0, 5_000),
            cost=st.none() | st.floats(0, 0.5),
        ),
    )
    | st.just(TryLater("unwell")),
    min_size=1,
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@given(REPLIES, st.integers(0, 8), st.integers(1, 20_000))
def test_any_script_comes_to_an_end(script, iterations, tokens):
    model = MemoryModel(script)
    may = allowance(iterations=iterations, tokens=tokens)
    ended, trouble = None, None
    try:
        ended = converse(OPENING, model, run, may, MemoryClock())
    except NightWatchError as raised:
        trouble = raised
    assert ended is None or ended.state.iterations == len(model.shown)
    assert trouble is None or (str(trouble) and trouble.usage is not None)
    assert len(model.shown) <= max(iterations, 1) + 1
    for before, after in zip(model.shown, model.shown[1:], strict=False):
        assert after.turns[: len(before.turns)] == before.turns
    for shown in model.shown:
        answered_in_turn(shown)


def answered_in_turn(shown):
    """Every turn with calls is followed by its results, one a call, in their order."""
    for number, turn in enumerate(shown.turns):
        if isinstance(turn, AssistantTurn) and turn.calls:
            told = shown.turns[number + 1]
            assert isinstance(told, ResultsTurn)
            assert [result.id for result in told.results] == [call.id for call in turn.calls]


def test_a_model_that_does_not_even_say_what_it_can_do_is_unreachable():
    class Away(MemoryModel):
        def capabilities(self):
            raise TryLater("529")

    with pytest.raises(TryLater) as ended:
        converse(OPENING, Away(), run, allowance(), MemoryClock())
    assert ended.value.ending.kind == "unreachable"


def test_asking_comes_before_forbidding():
    shown = []

    def stubborn(conversation):
        shown.append((conversation.tools_off, conversation.no_calls))
        return says(answer()) if conversation.no_calls else reads(len(shown))

    ended = talk(stubborn, iterations=3)[0]
    assert ended.ending.kind == "wrapped up"
    assert shown[-2:] == [(True, False), (True, True)]


def talk_of(complain, *script, **may):
    model = MemoryModel(script)
    return converse(OPENING, model, run, allowance(**may), MemoryClock(), complain), model


def no_fix(answer, calls):
    return "" if answer.has_fix else f"no fix, though {len(calls.read)} files were read"


def test_an_answer_that_has_to_be_mended_is_sent_back_once_and_may_read_before():
    ended, model = talk_of(no_fix, answer(), asks(READ), answer(has_fix=True))
    assert ended.answer.has_fix
    assert ended.ending.kind == "answered"
    assert "no fix, though 0 files were read" in model.shown[1].turns[-1].text
    assert not model.shown[1].tools_off


@pytest.mark.parametrize(
    ("after", "kept"),
    [
        ([answer(title="Mended")], "Mended"),
        (["prose", "prose"], "First"),
        ([TryLater("away")], "First"),
        ([GiveUp("no")], "First"),
    ],
)
def test_it_is_sent_back_once_only_and_is_kept_where_nothing_better_comes(after, kept):
    ended, model = talk_of(no_fix, answer(title="First"), *after)
    assert ended.answer.title == (
        "Mended" if len(after) == 1 and "Mended" in str(after) else "First"
    )
    assert len(model.shown) == 1 + len(after)


@pytest.mark.parametrize(
    ("said", "root_cause"),
    [
        ({"has_fix": True, "file_changes": [{"path": "a.py", "new": "x"}]}, "shop/cart.py:2"),
        ({**json.loads(answer()), "root_cause": "", "evidence": [], "title": ""}, "shop/cart.py:2"),
        ({**json.loads(answer()), "root_cause": "Another."}, "Another."),
    ],
)
def test_a_correction_is_the_edits_alone_and_the_rest_of_the_answer_stands(said, root_cause):
    edit = {"path": "a.py", "new": "wrong"}
    first = answer(title="First", has_fix=True, file_changes=[edit])
    ended, _ = talk_of(lambda *_: "mend the edits", first, json.dumps(said))
    assert ended.answer.root_cause.startswith(root_cause)
    assert [edit.new for edit in ended.answer.file_changes] == ["x"] * ("a.py" in str(said))
    assert len(ended.answer.evidence) == 1
    assert ended.answer.confidence == "high"


def test_the_last_turns_are_counted_down():
    model = MemoryModel([counting()], able=REMOTE)
    converse(OPENING, model, run, allowance(iterations=6), MemoryClock())
    told = [shown.turns[-1].text for shown in model.shown if isinstance(shown.turns[-1], UserTurn)]
    assert told[1:-1] == [
        "3 more turns may use tools, then you have to answer.",
        "2 more turns may use tools, then you have to answer.",
        "1 more turn may use tools, then you have to answer.",
    ]
