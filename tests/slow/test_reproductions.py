"""Reproductions over real programs: one small project a language, a scripted model, every trick."""

import json
from types import SimpleNamespace

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT
from machine import needs
from proof_worlds import Asked, briefing_of

from nightwatch_core.models.answer import Edit
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.proving import proved
from nightwatch_core.proof.reproduction import by_model

pytestmark = [pytest.mark.slow]
PYTHON = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "def average(prices):\n    return sum(prices) / len(prices)\n\n\n"
        "def shown(cart):\n    return f'{average(cart.prices):.2f}'\n\n\n"
        "async def later(cart):\n    import asyncio\n\n"
        "    await asyncio.get_running_loop().run_in_executor(None, len, cart.prices)\n"
        "    return shown(cart)\n"
    ),
    "tests/__init__.py": "",
    "tests/test_sums.py": (  # nothing of it leads near the crash: searching comes to nothing
        "import unittest\n\n\nclass Sums(unittest.TestCase):\n"
        "    def test_two(self):\n        self.assertEqual(sum([2, 4]), 6)\n"
    ),
}
PYTHON_TRACE = """Traceback (most recent call last):
  File "/srv/app/shop/cart.py", line 6, in shown
    return f'{average(cart.prices):.2f}'
  File "/srv/app/shop/cart.py", line 2, in average
    return sum(prices) / len(prices)
ZeroDivisionError: division by zero
"""
PYTHON_TEST = """import unittest
from types import SimpleNamespace
from shop.cart import average, shown


class Empty(unittest.TestCase):
    def test_empty(self):
        {body}
"""
RUBY = {
    "Rakefile": "",
    "lib/cart.rb": "module Cart\n  def self.total(prices) = prices.sum / prices.size\nend\n",
    "test/test_cart.rb": (
        "require 'minitest/autorun'\nrequire 'cart'\n\nclass CartTest < Minitest::Test\n"
        "  def test_two = assert_equal(3, Cart.total([2, 4]))\nend\n"
    ),
}
RUBY_TRACE = (
    "ZeroDivisionError: divided by 0\n  /srv/app/lib/cart.rb:2:in `/'\n"
    "  /srv/app/lib/cart.rb:2:in `total'\n"
)
RUBY_TEST = (
    "require 'minitest/autorun'\nrequire 'cart'\n\nclass EmptyTest < Minitest::Test\n"
    "  def test_empty\n    {body}\n  end\nend\n"
)
NODE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "cart.js": "export const total = (prices) => prices.reduce((a, b) => a + b) / prices.length;\n",
    "test/cart.test.js": (
        "import test from 'node:test';\nimport assert from 'node:assert';\n"
        "import { total } from '../cart.js';\n"
        "test('two', () => assert.equal(total([2, 4]), 3));\n"
    ),
}
NODE_TRACE = """TypeError: Reduce of empty array with no initial value
    at Array.reduce (<anonymous>)
    at total (file:///srv/app/cart.js:1:41)
"""
NODE_TEST = (
    "import test from 'node:test';\nimport assert from 'node:assert';\n"
    "import {{ total }} from '../cart.js';\ntest('empty', () => {{ {body} }});\n"
)
WORLDS = {
    "python": SimpleNamespace(
        program="python3",
        files=PYTHON,
        trace=PYTHON_TRACE,
        path="tests/test_sums_crash.py",
        test=PYTHON_TEST,
        expecting="self.assertEqual(shown(SimpleNamespace(prices=[])), '0.00')",
        good=("sum(prices) / len(prices)", "sum(prices) / max(1, len(prices))"),
        wrong=("sum(prices) / len(prices)", "sum(list(prices)) / len(prices)"),
    ),
    "ruby": SimpleNamespace(
        program="ruby",
        files=RUBY,
        trace=RUBY_TRACE,
        path="test/test_cart_crash.rb",
        test=RUBY_TEST,
        expecting="assert_equal(0, Cart.total([]))",
        good=("prices.sum / prices.size", "prices.empty? ? 0 : prices.sum / prices.size"),
        wrong=("prices.sum / prices.size", "prices.to_a.sum / prices.size"),
    ),
    "javascript": SimpleNamespace(
        program="node",
        files=NODE,
        trace=NODE_TRACE,
        path="test/cart_crash.test.js",
        test=NODE_TEST,
        expecting="assert.equal(total([]), 0);",
        good=(
            "prices.reduce((a, b) => a + b) / prices.length",
            "prices.length ? prices.reduce((a, b) => a + b) / prices.length : 0",
        ),
        wrong=("prices.reduce((a, b) => a + b)", "[...prices].reduce((a, b) => a + b)"),
    ),
}


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

    def prove(*answers, fix="good", by=proved):
        old, new = getattr(made, fix)
        edit = Edit(path=source, old=old, new=new)
        model = Asked(*answers)
        briefing = briefing_of(made.files, made.trace, (edit,), sandbox, cache, model, COMMIT)
        return by(briefing), model

    def answer(expecting=made.expecting):
        test = made.test.format(body=expecting)
        return json.dumps({"test": test, "why_not": ""})

    yield SimpleNamespace(prove=prove, answer=answer, made=made, name=name)
    sandbox.close()


def test_a_test_that_raises_production_s_error_is_red_then_green_and_published(world):
    result, model = world.prove(world.answer())
    reproduction = result.reproduction
    assert (result.outcome, reproduction.outcome) == ("passed", "reproduced"), result
    assert reproduction.error_class in reproduction.red
    assert reproduction.green
    assert [edit.path for edit in result.edits if edit.action == "create"] == [world.made.path]
    assert any(fact.name in ("prices", "cart") for fact in reproduction.facts)
    assert len(model.asked) == 1


def test_a_fix_that_leaves_the_crash_fails(world):
    result, _ = world.prove(world.answer(), "no", fix="wrong")
    assert result.outcome == "failed"
    assert "the crash is still there" in result.text


SELF_RAISED = {
    "python": "raise ZeroDivisionError('division by zero')",
    "ruby": "raise ZeroDivisionError, 'divided by 0'",
    "javascript": "throw new TypeError('Reduce of empty array with no initial value');",
}
PRINTED = {
    "python": "import sys; sys.stderr.write({!r}); self.fail('boom')",
    "ruby": "$stderr.puts {!r}; flunk",
    "javascript": "console.error({!r}); assert.fail('boom');",
}


def test_what_a_test_raises_or_prints_itself_does_not_count(world):
    forged = PRINTED[world.name].format(world.made.trace)
    result, model = world.prove(world.answer(SELF_RAISED[world.name]), world.answer(forged))
    assert result.outcome == "passed"  # a missing reproduction blocks nothing
    assert result.reproduction.outcome == "not reproduced"
    assert not result.edits
    assert result.reproduction.tries == len(model.asked) == 2


def test_the_second_ask_is_told_what_the_first_run_showed(world):
    harmless = world.made.expecting.replace("[]", "[2]").replace("0", "2")
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
