"""Reproductions over real programs: one small project a language, a scripted model, every trick."""

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT
from machine import needs
from proof_worlds import Asked, briefing_of, case_of
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.models.answer import Edit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.proof.crash import crash_of
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import try_out
from nightwatch_core.proof.proving import proved
from nightwatch_core.proof.reproduction import by_model

pytestmark = [pytest.mark.slow]
WORLDS = {name: SimpleNamespace(**fields) for name, fields in tables_of(__file__).items()}


@pytest.fixture(scope="module", params=list(WORLDS))
def world(request, tmp_path_factory):
    yield from made_world(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    yield from made_world("python", tmp_path_factory)


def made_world(name, tmp_path_factory):
    made = WORLDS[name]
    state = tmp_path_factory.mktemp("state")
    needs("sandbox", made.program)
    sandbox, cache = cells.sandbox(state, made.files), NightCache()
    source = next(p for p, text in made.files.items() if made.good[0] in text)

    def prove(*answers, fix="good", by=proved, snippet=""):
        old, new = getattr(made, fix)
        edit = Edit(path=source, old=old, new=new)
        model = Asked(*answers)
        briefing = briefing_of(made.files, made.trace, (edit,), sandbox, cache, model, COMMIT)
        analysis = briefing.analysis.model_copy(update={"snippet": snippet})
        return by(replace(briefing, analysis=analysis)), model

    def answer(expecting=made.expecting):
        test = made.test.format(body=expecting)
        return json.dumps({"test": test, "why_not": ""})

    crash = crash_of(case_of(made.files, made.trace))
    tree = MemoryCode(made.files, COMMIT)
    runs = try_out((source,), tree, sandbox, NightOptions(), cache, crash)
    edits = (Edit(path=source, old=made.good[0], new=made.good[1]),)
    yield SimpleNamespace(name=name, prove=prove, answer=answer, made=made, runs=runs, fix=edits)
    sandbox.close()


def test_a_test_that_raises_production_s_error_is_red_then_green_and_published(world):
    result, model = world.prove(world.answer())
    reproduction = result.reproduction
    assert (result.outcome, reproduction.outcome) == ("passed", "reproduced"), result
    assert reproduction.error_class in reproduction.red
    assert reproduction.green
    assert [edit.path for edit in result.edits if edit.action == "create"] == [world.made.path]
    has_locals = any(fact.name in ("prices", "cart") for fact in reproduction.facts)
    is_plain = bool(world.made.snippet) and "full stack" not in world.name
    assert has_locals == is_plain  # else frames are all that is known
    assert len(model.asked) == 1


def test_a_fix_that_leaves_the_crash_fails(world):
    result, _ = world.prove(world.answer(), "no", fix="wrong")
    assert result.outcome == "failed"
    assert "the crash is still there" in result.text


def test_what_a_test_raises_or_prints_itself_does_not_count(world):
    forged = world.made.printed.format(world.made.trace)
    result, model = world.prove(world.answer(world.made.self_raised), world.answer(forged))
    assert result.outcome == "passed"  # a missing reproduction blocks nothing
    assert result.reproduction.outcome == "not reproduced"
    assert not result.edits
    assert result.reproduction.tries == len(model.asked) == 2


def test_what_go_prints_as_it_ends_is_believed_only_of_its_runtime(tmp_path_factory):
    for world in made_world("Go", tmp_path_factory):
        for body in world.made.forged:
            answer = world.answer(body.format(world.made.trace))
            result, _ = world.prove(answer, answer)
            assert result.reproduction.outcome == "not reproduced", body
            because = result.reproduction.because
            assert re.search("raised (?:by|out)|raises nothing|it says|not panic", because), because


def test_the_second_ask_is_told_what_the_first_run_showed(world):
    harmless = world.made.expecting.replace("[]", "[2]").replace("0", "2")
    harmless = getattr(world.made, "harmless", harmless)
    result, model = world.prove(world.answer(harmless), world.answer())
    assert result.reproduction.outcome == "reproduced"
    assert "does not count" in model.asked[1].turns[-1].text


def test_a_test_that_enters_below_what_the_fix_changes_does_not_count(python):
    python.made.outer = ("average(cart.prices)", "average(cart.prices or [0])")
    shallow = "self.assertEqual(average([]), 0)"
    result, _ = python.prove(python.answer(shallow), python.answer(), fix="outer")
    assert result.reproduction.outcome == "reproduced"
    assert result.reproduction.tries == 2
    assert len(result.reproduction.frames) == 2


def test_what_is_awaited_is_recorded_as_well(python):
    named = "import asyncio\n        from shop.cart import later\n        "
    call = "asyncio.run(later(SimpleNamespace(prices=[])))"
    (reproduction, _), _ = python.prove(python.answer(f"{named}{call}"), by=by_model)
    assert reproduction.outcome == "reproduced", reproduction


def test_a_snippet_that_raised_the_crash_is_the_reproduction_and_nobody_is_asked(world):
    code, runs = world.made.snippet, world.runs
    if not code:
        pytest.skip("snippets of this language are not run")
    assert runs.run_snippet(code).shows_crash
    mended = runs.run_snippet(code, world.fix)
    assert (mended.code, mended.shows_crash) == (0, False), mended
    assert not runs.run_snippet(world.made.self_raised).shows_crash
    result, model = world.prove(snippet=code)
    assert (result.outcome, result.reproduction.outcome) == ("passed", "reproduced"), result
    assert (result.reproduction.snippet, result.edits, model.asked) == (code, (), [])
    assert result.reproduction.green
    wrong, _ = world.prove("no", fix="wrong", snippet=code)
    assert (wrong.outcome, "the crash is still there" in wrong.text) == ("failed", True), wrong
    forged, model = world.prove(world.answer(), snippet=world.made.self_raised)
    assert (forged.reproduction.snippet, len(model.asked)) == ("", 1)
