"""A small shop whose fix spans three files, its plan, and a model that makes it step by step."""

import json

from analysis_shapes import COMMIT, allowance, analysis
from scripted_sandbox import ScriptedSandbox, unittest_run
from twins.reading import MemoryClock, MemoryCode, MemoryModel

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull
from nightwatch_core.proof.asking import ProofBriefing
from nightwatch_core.proof.environment import NightCache

CASES = "import unittest\nfrom shop.{0} import {1}\n\n\nclass {2}(unittest.TestCase):\n"
TREE = {
    "requirements.txt": "",
    "shop/__init__.py": "",
    "shop/money.py": "def parse(text):\n    return float(text)\n",
    "shop/cart.py": "def total(lines):\n    return sum(line['price'] for line in lines)\n",
    "shop/receipt.py": (
        "from shop.cart import total\n\n\n"
        "def receipt(lines):\n    return 'Total ' + str(total(lines))\n"
    ),
    "tests/__init__.py": "",
    "tests/test_cart.py": (
        CASES.format("cart", "total", "Cart")
        + "    def test_numbers(self):\n"
        + "        self.assertEqual(total([{'price': 2.5}, {'price': 1}]), 3.5)\n"
    ),
    ".github/workflows/ci.yml": "on: push\n",
}
PARSED = "    return float(str(text).replace(',', '.'))\n"
MONEY_TEST = (
    CASES.format("money", "parse", "Money")
    + "    def test_comma(self):\n        self.assertEqual(parse('2,50'), 2.5)\n"
)
RECEIPT_TEST = (
    CASES.format("receipt", "receipt", "Receipt")
    + "    def test_comma(self):\n"
    + "        self.assertEqual(receipt([{'price': '2,50'}]), 'Total 2.50')\n"
)


def edit(path, old="", new="", action="edit"):
    return {"path": path, "action": action, "old": old, "new": new}


MADE = {  # what the model answers to each step
    1: (
        edit("shop/money.py", "    return float(text)\n", PARSED),
        edit("tests/test_money.py", new=MONEY_TEST, action="create"),
    ),
    2: (
        edit("shop/cart.py", "def total", "from shop.money import parse\n\n\ndef total"),
        edit("shop/cart.py", "line['price'] for", "parse(line['price']) for"),
    ),
    3: (
        edit("shop/receipt.py", "str(total(lines))", "format(total(lines), '.2f')"),
        edit("tests/test_receipt.py", new=RECEIPT_TEST, action="create"),
    ),
}
FIX = tuple(Edit(**item) for number in (1, 2, 3) for item in MADE[number][:2])
PLANNED = (
    {"title": "Read prices with a comma", "task": "parse takes '2,50'.",
     "files": ["shop/money.py", "tests/test_money.py"]},
    {"title": "Add prices up as numbers", "task": "total parses each price.",
     "files": ["shop/cart.py"]},
    {"title": "Print two digits", "task": "receipt prints cents.",
     "files": ["shop/receipt.py", "tests/test_receipt.py"]},
)  # fmt: skip
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)


def planned(*steps):
    told = {"title": "", "root_cause": "First what is used.", "confidence": "high"}
    return json.dumps({**told, "steps": list(steps)})


def made(*edits, **more):
    told = {"title": "", "root_cause": "It is made.", "confidence": "high", "has_fix": bool(edits)}
    return json.dumps({**told, "file_changes": list(edits), **more})


def asked_for(conversation):
    """0: the plan; else which step; -1: a step made anew."""
    text = conversation.turns[0].text
    if text.startswith("Plan"):
        return 0
    return int(text[5]) if text.startswith("Step") else -1


def teller(answers=None, plan=None):
    """A model that answers by what it is asked for; `answers` stand in for the good ones."""
    good = {0: planned(*PLANNED), **{number: made(*edits) for number, edits in MADE.items()}}
    told = good | {-1: made()} | (answers or {}) | ({0: plan} if plan is not None else {})
    return MemoryModel([lambda conversation: told[asked_for(conversation)]])


def all_green(_words, _fixed, _times):
    return unittest_run()


def briefing(model, sandbox=None, **more):
    code = more.pop("code", None) or MemoryCode(TREE, COMMIT)
    of = more.pop("of", None) or analysis(fix=FIX, read=("shop/cart.py",))
    changes = apply(of.fix, code.read_file).changes
    draft = DraftPull(
        key="0123456789abcdef", fingerprint="v1:a", branch="nightwatch/0123456789ab", base="main",
        title="t", body="", commit_message="", changes=changes, commit=code.commit.sha,
        fix=fix_digest(of.fix),
    )  # fmt: skip
    told = {
        "options": NightOptions(reproduce=False, story_cost=1.0),
        "clock": MemoryClock(),
        "allowance": allowance(),
        "story": allowance(),
        "cache": NightCache(),
        **more,
    }
    sandbox = sandbox or ScriptedSandbox(all_green)
    return ProofBriefing(
        draft=draft, analysis=of, base=code, failing=code, shown=code, sandbox=sandbox,
        model=model, fence="3fa9", **told,
    )  # fmt: skip
