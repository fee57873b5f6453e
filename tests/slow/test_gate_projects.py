"""The gate over real programs: one small project a language, good fixes and bad ones."""

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT
from machine import needs

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, FileChange
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import gated

pytestmark = [pytest.mark.slow]
PYTHON = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total(prices):\n    return sum(prices) / len(prices)\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": (
        "import unittest\nfrom shop.cart import total\n\n\n"
        "class Cart(unittest.TestCase):\n"
        "    def test_two(self):\n        self.assertEqual(total([2, 4]), 3)\n\n"
        "    def test_old(self):\n        self.assertEqual(total([1]), 2)\n"
    ),
}
RUBY = {
    "Rakefile": "",
    "lib/cart.rb": "module Cart\n  def self.total(prices) = prices.sum / prices.size\nend\n",
    "test/test_cart.rb": (
        "require 'minitest/autorun'\nrequire 'cart'\n\nclass CartTest < Minitest::Test\n"
        "  def test_two = assert_equal(3, Cart.total([2, 4]))\n"
        "  def test_old = assert_equal(2, Cart.total([1]))\nend\n"
    ),
}
NODE = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}',
    "cart.js": "export const total = (prices) => prices.reduce((a, b) => a + b) / prices.length;\n",
    "test/cart.test.js": (
        "import test from 'node:test';\nimport assert from 'node:assert';\n"
        "import { total } from '../cart.js';\n"
        "test('two', () => assert.equal(total([2, 4]), 3));\n"
        "test('old', () => assert.equal(total([1]), 2));\n"
    ),
}
LANGUAGES = {
    "python": (
        *("python3", PYTHON, "shop/cart.py"),
        {
            "good": "def total(prices):\n    return sum(prices) / max(1, len(prices))\n",
            "wrong": "def total(prices):\n    return sum(prices)\n",
            "syntax": "def total(prices):\n    yield 1\nreturn 3\n",
            "running": "import no_such_module\n\n\ndef total(prices):\n    return 3\n",
            "ending": "import os\n\nos._exit(0)\n",
        },
    ),
    "ruby": (
        *("ruby", RUBY, "lib/cart.rb"),
        {
            "good": "module Cart\n  def self.total(p) = p.empty? ? 0 : p.sum / p.size\nend\n",
            "wrong": "module Cart\n  def self.total(prices) = prices.sum\nend\n",
            "syntax": "module Cart\n  def self.total(prices\nend\n",
            "running": "module Cart\n  def self.total(prices) = prices.summ\nend\n",
            "ending": "exit!(0)\n",
        },
    ),
    "javascript": (
        *("node", NODE, "cart.js"),
        {
            "good": "export const total = (p) => p.reduce((a, b) => a + b, 0) / (p.length || 1);\n",
            "wrong": "export const total = (prices) => prices[0];\n",
            "syntax": "export const total = (prices) => {;\n",
            "running": "export const total = (prices) => prices.sum();\n",
            "ending": "process.exit(0);\nexport const total = 1;\n",
        },
    ),
}


class Tree:
    commit = COMMIT

    def __init__(self, files):
        self.files = files

    def paths(self):
        return tuple(sorted(self.files))

    def read_file(self, path):
        return self.files.get(path)


def asked(sandbox, files, cache, path, text):
    draft = DraftPull(
        **{"key": "k", "fingerprint": "v1:a", "branch": "b", "base": "main", "title": "t"},
        **{"body": "", "commit_message": "", "commit": COMMIT.sha},
        changes=(FileChange(path=path, text=text),),
    )
    return gated(draft, Tree(files), sandbox, NightOptions(), cache)


@pytest.fixture(scope="module", params=list(LANGUAGES))
def project(request, tmp_path_factory):
    """Asks the gate about a text of the language's file; the base is run once for all of them."""
    program, files, path, texts = LANGUAGES[request.param]
    state = tmp_path_factory.mktemp("state")
    needs("sandbox", program)
    sandbox, cache = cells.sandbox(state, files), NightCache()

    yield lambda name: asked(sandbox, files, cache, path, texts[name])
    sandbox.close()


def test_a_good_fix_passes_and_what_was_red_before_is_named(project):
    result = project("good")
    assert result.outcome == "passed", result
    assert len(result.preexisting) == 1
    assert "old" in result.preexisting[0]


@pytest.mark.parametrize("name", ["wrong", "syntax", "running", "ending"])
def test_a_bad_fix_fails_with_what_is_wrong(project, name):
    result = project(name)
    assert result.outcome == "failed", result
    assert result.text


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("<%= form_with do |f| %>\n<% if @lines %>x<% end %>\n<% end %>\n", True),
        ("<% if @lines %>\n", False),
    ],
)
def test_a_template_is_parsed_by_what_renders_it(text, passes, tmp_path):
    needs("sandbox", "ruby")
    files = {**RUBY, "views/cart.erb": "<%= @lines %>\n"}
    sandbox = cells.sandbox(tmp_path, files)
    result = asked(sandbox, files, NightCache(), "views/cart.erb", text)
    sandbox.close()
    assert result.checks[0].name == "syntax"
    assert (result.checks[0].outcome == "passed") == passes
