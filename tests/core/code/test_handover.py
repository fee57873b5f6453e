"""What is handed on of an error whose cause is not known: read, bounded, and nothing claimed."""

import pytest
from analysis_shapes import DAY, FILES, case, group, trace, tree
from twins.reading import MemoryCode

from nightwatch_core.code.limits import HANDED_LINES, HANDED_STEPS
from nightwatch_core.code.verdict import advantage, completed, verdict
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.answer import Answer, Edit, Evidence, Handover
from nightwatch_core.models.code import Blame
from nightwatch_core.models.research import ResearchContext

QUOTE = Evidence(path="shop/cart.py", line=2, quote="sum(line.price for line in lines)")
WROTE = Blame(sha="a" * 40, author="Ann", at=DAY, subject="Count", line=2, text="", pull=7)
GUESS = {"title": "T", "root_cause": "Perhaps.", "confidence": "low"}


def judged(research=None, of=None, code=None, **more):
    told = Answer(**{**GUESS, **more})
    return verdict(of or case(), told, research or ResearchContext(), code or tree())


def test_what_is_left_open_is_read_from_the_code():
    code = MemoryCode(FILES, tree().commit, blames={("shop/cart.py", 2): WROTE})
    known = completed(Handover(look_at=("Who calls it?",)), case(), code)
    assert (known.path, known.line, known.first_line) == ("shop/cart.py", 2, 1)
    assert known.lines == tuple(FILES["shop/cart.py"].splitlines())
    assert known.last_change == "Ann, 2026-11-20: Count (#7, aaaaaaaaaa)"
    assert known.look_at == ("Who calls it?",)


def test_what_is_given_stands():
    given = Handover(
        unknown="why", path="shop/pay.py", line=2, lines=("x",), first_line=2, value="None",
        last_change="Bob",
    )  # fmt: skip
    assert completed(given, case(), tree()) == given


def test_the_value_is_what_the_message_names():
    of = case(group(error_class="KeyError", message="'EUR'"), traced=False)
    assert completed(Handover(), of, tree()).value == "key `EUR`"


def test_a_record_of_other_code_gives_its_own_lines_and_no_author():
    frame = trace().links[0].frames[0]
    held = {"code": "total(x)", "before": ("def f():",), "after": ("", "end")}
    of = case()
    link = of.trace.links[0].model_copy(update={"frames": (frame.model_copy(update=held),)})
    of = of.model_copy(update={"trace": of.trace.model_copy(update={"links": (link,)})})
    code = MemoryCode(FILES, tree().commit, blames={("shop/cart.py", 2): WROTE})
    known = completed(Handover(), of, code, fits=False)
    assert (known.lines, known.first_line) == (("def f():", "total(x)", "", "end"), 1)
    assert known.last_change == ""


def test_code_that_cannot_be_read_leaves_gaps():
    class Gone(MemoryCode):
        def read_file(self, path):
            raise TryLater("away")

        def blame(self, path, start, end=None):
            raise GiveUp("nobody knows")

    known = completed(Handover(), case(), Gone(FILES, tree().commit))
    assert (known.path, known.line, known.lines, known.last_change) == ("shop/cart.py", 2, (), "")
    assert completed(Handover(), case(traced=False), tree()) == Handover()


def test_everything_is_bounded():
    many = ("x\n" * 5_000,) * 500
    given = Handover(path="p" * 9_000, line=1, lines=many, first_line=1, value="v" * 9_000,
                     look_at=many, last_change="l" * 9_000, unknown="u" * 9_000)  # fmt: skip
    known = completed(given, case(), tree())
    assert len(known.lines) <= 2 * HANDED_LINES + 1
    assert len(known.look_at) <= HANDED_STEPS
    assert len(known.model_dump_json()) < 8_000


def test_an_answer_that_claims_nothing_knows_no_cause():
    one = judged(suggested_next_steps=("Log it.",), suspect_commit="abcdef1", question="Whose?")
    assert not one.has_cause
    assert one.handover.look_at == ("Whose?", "Log it.")
    assert (one.suspects, one.suspect_commit, one.learnings) == ((), "", ())
    assert one.root_cause == "Perhaps."  # what was said is kept, and shown as not proved


@pytest.mark.parametrize(
    "more",
    [
        {"evidence": (QUOTE,)},
        {"confidence": "medium"},
        {"has_fix": True, "file_changes": (Edit(path="shop/cart.py", old="line", new="x"),)},
    ],
)
def test_an_answer_that_claims_something_is_weak_at_most(more):
    assert judged(**more).has_cause


def test_an_answer_with_a_handover_proposes_nothing():
    fix = Edit(path="shop/cart.py", old="line.price", new="line.cost")
    said = {"confidence": "medium", "evidence": (QUOTE,), "has_fix": True, "file_changes": (fix,)}
    one = judged(handover=Handover(), **said)
    assert (one.has_cause, one.has_fix, one.confidence) == (False, False, "low")
    assert advantage(one, judged(evidence=(QUOTE,))) == "a known cause"
    assert judged(ResearchContext(misfit="of other code"), handover=Handover()).misfit
