import threading

import pytest
from analysis_shapes import FILES, OPENING, allowance, answer, asks, case, says, tree
from hypothesis import given
from hypothesis import strategies as st
from twins.reading import MemoryClock, MemoryModel

from nightwatch_core.analysis import tools
from nightwatch_core.analysis.budget import CALLS_A_TURN, TURN_CHARACTERS
from nightwatch_core.analysis.loop import CallHistory, converse, with_results
from nightwatch_core.analysis.previews import preview_text
from nightwatch_core.errors import TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import ToolCall, ToolResult, UserTurn
from nightwatch_core.models.research import Preview, ResearchContext

CART = ("read_file", {"path": "shop/cart.py"})
CART_TEXT = FILES["shop/cart.py"].removesuffix("\n")


def call(tool="read_file", id="c", **arguments):
    return ToolCall(id=id, name=tool, arguments=arguments)


def run(one, known=frozenset()):
    return tools.run(one, tree(), case(), (), known)


def told(before, *calls, turn=1, run_tool=run):
    results, after = with_results(before, calls, run_tool, turn)
    return [result.text for result in results.results], after


def lead(*script, run_tool=run, opening=OPENING, **may):
    model = MemoryModel(list(script))
    may = allowance(**{"iterations": 50, **may})
    return converse(opening, model, run_tool, may, MemoryClock()), model


def test_a_repeated_call_is_not_run_and_is_told_where_the_answer_stands():
    ran = []

    def noting(one, known=frozenset()):
        ran.append(one)
        return run(one)

    first, calls = told(CallHistory(), call(path="shop/cart.py"), turn=3, run_tool=noting)
    again = call(path="shop/cart.py", start=None)
    second, calls = told(calls, again, turn=4, run_tool=noting)
    assert "in your turn 3; the answer there still holds" in second[0]
    assert len(ran) == 1


def test_an_answer_the_model_is_no_longer_sent_is_told_again():
    usage = Usage(calls=1, cleared_tokens=20_000)
    _, model = lead(asks(CART), asks(("blame", {}), usage=usage), asks(CART, usage=usage), answer())
    assert "sum(line.price" in model.shown[3].turns[-1].results[0].text


def test_too_many_calls_at_once_are_answered_but_not_run():
    ran = []

    def noting(one, known=frozenset()):
        ran.append(one)
        return ToolResult(id=one.id, name=one.name, text="    1| x")

    many = [call(id=str(n), path=f"{n}.py") for n in range(CALLS_A_TURN + 30)]
    results, calls = with_results(CallHistory(), tuple(many), noting)
    assert len(ran) == CALLS_A_TURN
    assert [one.id for one in results.results] == [one.id for one in many]
    assert "at most" in results.results[-1].text
    with_results(calls, (many[-1],), noting)
    assert ran[-1] == many[-1], "it may be asked again"


@given(st.lists(st.integers(0, 20_000), max_size=CALLS_A_TURN))
def test_the_answers_of_a_turn_are_bounded_together(lengths):
    def long(one, known=frozenset()):
        line = "x" * 99 + "\n"
        return ToolResult(id=one.id, name=one.name, text=(line * 200)[: lengths[int(one.id)]])

    calls = tuple(call(id=str(n), path=f"{n}.py") for n in range(len(lengths)))
    results, after = with_results(CallHistory(), calls, long)
    texts = [one.text for one in results.results]
    assert sum(map(len, texts)) <= TURN_CHARACTERS
    whole = [n for n, text in enumerate(texts) if len(text) == lengths[n]]
    if sum(lengths) <= TURN_CHARACTERS:
        assert len(whole) == len(lengths)
    for n in set(range(len(lengths))) - set(whole):
        assert "ask for this alone" in texts[n]
        assert lengths[n] > TURN_CHARACTERS // len(lengths)
    assert len(after.answered) == len(whole), "what was shortened may be asked again"


def test_the_widest_answer_is_cut_and_a_file_that_was_asked_for_last():
    sizes = {"read_file": 30_000, "search_code": 6_000, "blame": 900, "history": 7_000}

    def wide(one, known=frozenset()):
        return ToolResult(
            id=one.id, name=one.name, text=("x" * 99 + "\n") * (sizes[one.name] // 100)
        )

    calls = tuple(call(name, name) for name in sizes)
    results, _ = with_results(CallHistory(), calls, wide)
    cut = [len(item.text) < sizes[item.name] for item in results.results]
    assert cut == [False, True, False, True]
    assert sum(len(item.text) for item in results.results) > TURN_CHARACTERS - 500


def test_calls_run_side_by_side_and_come_back_in_order():
    meeting = threading.Barrier(3, timeout=30)

    def together(one, known=frozenset()):
        meeting.wait()
        return ToolResult(id=one.id, name=one.name, text=one.id)

    calls = tuple(call(id=name, path=name) for name in "abc")
    results, _ = with_results(CallHistory(), calls, together)
    assert [one.text for one in results.results] == ["a", "b", "c"]


def test_the_first_failure_in_order_is_raised():
    def unwell(one, known=frozenset()):
        raise TryLater(f"no {one.id}")

    with pytest.raises(TryLater, match="no 1"):
        with_results(CallHistory(), tuple(call(id=str(n), path=str(n)) for n in (1, 2, 3)), unwell)


# What every tool shows, as it is told by the tools themselves.
SHOWN = [
    (call(path="./shop/cart.py"), {"shop/cart.py:1", "shop/cart.py:2"}),
    (call(path="shop/cart.py", start=2), {"shop/cart.py:2"}),
    (call("search_code", query="line.price"), {"shop/cart.py:2"}),
    (call("search_code", query="line.price", context=1), {"shop/cart.py:1", "shop/cart.py:2"}),
    (call("find_files", name="nowhere"), set()),
    (call("search_code", query="nowhere to be found"), set()),
    (call(path="shop/gone.py"), set()),
    (call("search_code", query=""), set()),
    (call("list_directory", path="gone"), set()),
]


@pytest.mark.parametrize("number", range(len(SHOWN)))
def test_lines_and_hits_have_a_place(number):
    one, places = SHOWN[number]
    assert set(run(one).shown) == places


def test_another_part_of_a_long_line_is_new():
    long = tree({"app.min.js": "a" * 3_000 + "needle" + "b" * 3_000 + "thimble"})
    asked = [call("search_code", query=query) for query in ("needle", "thimble")]
    parts = [set(tools.run(one, long, case(), ()).shown) for one in asked]
    assert len(parts[0] | parts[1]) == 2


def previewing(*previews):
    """An opening that shows them, as the first message does."""
    research = ResearchContext(previews=previews)
    told = UserTurn(text="\n\n".join(("It broke.", *map(preview_text, previews))))
    return OPENING.model_copy(update={"research": research, "turns": (told,)})


CART_SHOWN = Preview(path="shop/cart.py", start=1, end=2, text=CART_TEXT, lines=2)


def forever(*calls):
    """A model that never concludes by itself: the same calls in every turn."""
    return lambda shown: says(answer()) if shown.tools_off else asks(*calls)


def test_a_model_that_loops_for_ever_stops_after_three_calls_without_progress():
    ended, model = lead(forever(CART))
    assert (ended.ending.kind, ended.ending.detail) == ("wrapped up", "progress")
    assert len(model.shown) == 5, "one that read, three that brought nothing, the conclusion"
    ended, model = lead(forever(CART), opening=previewing(CART_SHOWN))
    assert len(model.shown) == 4, "what it asks for was shown at first"


def test_other_words_for_the_same_lines_are_no_progress():
    ranges = iter(range(100))

    def nagging(shown):
        if shown.tools_off:
            return says(answer())
        n = next(ranges)
        return asks(
            ("search_code", {"query": f"nothing {n}"}),
            ("read_file", {"path": "./" * n + "shop/cart.py", "end": 2}),
            ("read_file", {"path": f"gone{n}.py"}),
            ("search_code", {"query": "sum(line.price"[: 4 + n]}),
        )

    ended, model = lead(nagging)
    assert ended.ending.detail == "progress"
    assert len(model.shown) == 5
