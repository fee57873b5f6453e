from analysis_shapes import AGENT, FILES, analysed, answer, asks
from twins.reading import MemoryModel

from nightwatch_core.analysis.tools import LIMITS_TEXT
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import AnalysisPlan, Capabilities
from nightwatch_core.models.research import Preview, ResearchContext


def run(*script, **more):
    model = MemoryModel(script)
    return analysed(model, **more), model


def test_from_the_question_to_the_verdict():
    usage = Usage(calls=1, input_tokens=10, output_tokens=2, cost=0.25)
    found, model = run(asks(("read_file", {"path": "shop/cart.py"}), usage=usage), answer())
    assert found.evidence[0].verified
    assert found.read == ("shop/cart.py",)
    assert found.iterations == 2
    assert found.usage.new_tokens == 12 + 110
    assert (found.model, found.passes) == ("memory", 1)
    assert FILES["shop/cart.py"].splitlines()[1] in model.shown[1].turns[-1].results[0].text


def test_what_the_model_is_told():
    agent = AGENT.model_copy(update={"tools": ("blame", "read_file"), "max_tokens": 9_000})
    _, model = run(answer(), agent=agent)
    shown = model.shown[0]
    assert shown.system == f"Find the cause.\n\n{LIMITS_TEXT}"
    assert [tool.name for tool in shown.tools] == ["read_file", "blame"]
    assert shown.max_tokens == 9_000
    assert shown.answer_schema["title"] == "Answer"
    assert "AttributeError in cart/show" in shown.turns[0].text


def test_tool_calls_are_counted_and_those_for_files_that_do_not_exist():
    calls = [("read_file", {"path": path}) for path in ("shop/cart.py", "shop/gone.py")]
    found, _ = run(asks(*calls), answer())
    assert (found.tool_calls, found.missed_calls) == (2, 1)
    led, _ = run(asks(*calls), answer(), lead=MemoryModel((asks(*calls), "no answer", "none")))
    assert (led.tool_calls, led.missed_calls) == (2, 1)


def test_what_was_shown_counts_as_read_first():
    preview = Preview(path="shop/pay.py", start=1, end=1, text="x")
    research = ResearchContext(previews=(preview,))
    calls = [("read_file", {"path": path}) for path in ("shop/cart.py", "shop/pay.py")]
    found, _ = run(asks(*calls), answer(), research=research)
    assert found.read == ("shop/pay.py", "shop/cart.py")


def test_a_plan_says_how_but_the_allowance_bounds_its_turns():
    plan = AnalysisPlan(
        model="m", effort="high", iterations=9, max_tokens=7_000, thinking_budget=4_096
    )
    script = (asks(("read_file", {"path": "shop/cart.py"})), answer())
    found, model = run(*script, plan=plan, iterations=2)
    shown = model.shown[0]
    assert (shown.effort, shown.max_tokens, shown.thinking_budget) == ("high", 7_000, 4_096)
    assert found.ending.detail == "iterations"


def test_edits_that_cannot_be_proposed_are_sent_back_once_with_the_reasons():
    edit = {"path": "shop/pay.py", "old": "gateway.charge(card)", "new": "gateway.pay(card)"}
    unread = answer(has_fix=True, file_changes=[edit])
    read = asks(("search_code", {"query": "gateway"}))
    able = Capabilities(model="remote", input_price=5.0, output_price=25.0)
    model = MemoryModel([unread, read, unread], able=able)
    found = analysed(model)
    assert "- shop/pay.py: it was not read" in model.shown[1].turns[-1].text
    assert [one.path for one in found.fix] == ["shop/pay.py"]
    assert (found.refused, found.ending.kind) == ((), "answered")
