"""A small shop whose fix spans three files, its plan, and a model that makes it step by step."""

import json

from analysis_shapes import COMMIT, allowance, analysis
from scripted_sandbox import ScriptedSandbox, unittest_run
from tables import tables_of
from twins.reading import MemoryClock, MemoryCode, MemoryModel

from nightwatch_core.code.edits import apply, fix_digest
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull
from nightwatch_core.proof.asking import ProofBriefing
from nightwatch_core.proof.environment import NightCache


def edit(path, old="", new="", action="edit"):
    return {"path": path, "action": action, "old": old, "new": new}


TREE, MADE, PLANNED = tables_of(__file__).values()
FIX = tuple(Edit(**item) for number in (1, 2, 3) for item in MADE[number][:2])
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
