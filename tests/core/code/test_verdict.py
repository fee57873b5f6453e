"""From an answer to a verdict: evidence, edits, confidence, score and handover."""

from dataclasses import replace

import pytest
from analysis_shapes import DAY, FILES, FIX, analysis, case, group, trace, tree
from twins.reading import MemoryCode

from nightwatch_core.code.verdict import (
    HANDED_LINES,
    HANDED_STEPS,
    SCORE,
    advantage,
    completed,
    verdict,
)
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.answer import Answer, Edit, Evidence, Handover, Hypothesis
from nightwatch_core.models.code import Blame, CommitDiff, LoggedCommit, MergedPull, Suspect
from nightwatch_core.models.research import ResearchContext

QUOTE = Evidence(path="shop/cart.py", line=2, quote="sum(line.price for line in lines)")
NOTHING = ResearchContext()
PAST = tuple(
    CommitDiff(commit=LoggedCommit(sha=name.ljust(40, "0"), at=DAY, subject="Count"))
    for name in ("1a2b3c4d", "abcdef1")
)


def judged(code=None, of=None, read=("shop/cart.py",), **more):
    told = {"title": "No price", "root_cause": "Because.", "confidence": "high", **more}
    return verdict(
        of or case(), Answer(**told), NOTHING, code or replace(tree(), commits=PAST), read
    )


def test_a_full_answer_has_the_full_score():
    best = judged(
        root_cause="shop/cart.py:2 asks for a price.",
        evidence=(QUOTE,),
        has_fix=True,
        file_changes=(FIX,),
        hypotheses=(Hypothesis(statement="S", standing="ruled out"),),
        suspect_commit="1a2b3c4d",
    )
    assert best.score == 1.0
    assert best.confidence == "high"
    assert len(best.because) == len(SCORE)
    assert best.fix == (FIX,)
    assert best.commit == tree().commit.sha


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"title": "T", "root_cause": "The host was moved."}, "no quoted line contains a name"),
        (
            {"has_fix": True, "file_changes": (
                FIX.model_copy(update={"path": ".github/workflows/ci.yml"}),)},
            "its fix was refused",
        ),
    ],
)  # fmt: skip
def test_a_cause_that_its_own_answer_does_not_bear_out_is_of_low_confidence(more, why):
    weak = judged(evidence=(QUOTE,), **more)
    assert weak.confidence == "low"
    assert f"said high, but {why}" in weak.doubt


def test_an_answer_without_anything_has_no_score_and_low_confidence():
    worst = judged(title=" \n ")
    assert (worst.score, worst.confidence) == (0.0, "low")
    assert worst.title == case().title
    assert "said high, but no quoted line was found in the code" in worst.because


def test_only_the_commit_that_the_answer_names_is_suspected():
    at = {"title": "Near", "merged_at": DAY, "number": 7}
    near = Suspect(pull=MergedPull(sha="e" * 40, **at), score=0.9, because=("changes a file",))
    research = ResearchContext(suspects=(near,))
    for text, names in (("abcdef1", ["commit abcdef1000"]), ("", []), ("eeeeeee", [])):
        told = Answer(title="T", root_cause="R", confidence="medium", suspect_commit=text)
        one = verdict(case(), told, research, replace(tree(), commits=PAST))
        assert [suspect.pull.name for suspect in one.suspects] == names
    assert one.suspect_commit == ""
    assert any("eeeeeee, named in the answer, is not a commit" in why for why in one.because)


FIXED = {"fix": (FIX,)}
UNSEEN = {"evidence": (QUOTE,)}


@pytest.mark.parametrize(
    ("first", "second", "by"),
    [
        ({"confidence": "high"}, {"confidence": "medium", **FIXED}, "a fix with verified evidence"),
        ({"confidence": "high", **FIXED}, {"confidence": "high", "score": 1.0}, ""),
        ({"confidence": "low"}, {"confidence": "low", **FIXED, **UNSEEN}, ""),
        ({"confidence": "low", "score": 0.9}, {"confidence": "medium"}, "confidence"),
        ({"score": 0.2}, {"score": 0.3}, "score"),
        ({"score": 0.3}, {"score": 0.3}, ""),
    ],
)
def test_the_better_verdict_by_fix_then_confidence_then_score(first, second, by):
    assert advantage(analysis(**first), analysis(**second)) == by


UNFIT = ResearchContext(misfit="the record does not fit this commit: shop/cart.py:2 is blank")


def test_where_the_record_is_of_other_code_no_place_and_no_change_is_named():
    answer = Answer(
        title="T", root_cause="Because.", confidence="high", has_fix=True, file_changes=(FIX,),
        evidence=(QUOTE,), suspect_commit="1a2b3c4d",
    )  # fmt: skip
    found = verdict(case(), answer, UNFIT, tree(), ("shop/cart.py",))
    assert found.misfit == UNFIT.misfit
    assert not any(one.verified for one in found.evidence)
    assert (found.fix, found.suspects, found.suspect_commit) == ((), (), "")
    assert [one.path for one in found.refused] == ["shop/cart.py"]
    assert found.confidence == "low"


# What is handed on of an error whose cause is not known: read, bounded, and nothing claimed.

WROTE = Blame(sha="a" * 40, author="Ann", at=DAY, subject="Count", line=2, text="", pull=7)
GUESS = {"title": "T", "root_cause": "Perhaps.", "confidence": "low"}


def judged_unknown(research=None, of=None, code=None, **more):
    told = Answer(**{**GUESS, **more})
    return verdict(of or case(), told, research or ResearchContext(), code or tree())


def test_what_is_left_open_is_read_from_the_code():
    code = MemoryCode(FILES, tree().commit, blames={("shop/cart.py", 2): WROTE})
    known = completed(Handover(look_at=("Who calls it?",)), case(), code)
    assert (known.path, known.line, known.first_line) == ("shop/cart.py", 2, 1)
    assert known.lines == tuple(FILES["shop/cart.py"].splitlines())
    assert known.last_change == "Ann, 2026-11-20: Count (#7, aaaaaaaaaa)"
    assert known.look_at == ("Who calls it?",)


LARGE = CommitDiff(commit=LoggedCommit(sha="a" * 40, at=DAY), changed=1_788)


@pytest.mark.parametrize(
    ("wrote", "commits", "told"),
    [
        ({"subject": "Count (#7)"}, (), "Ann, 2026-11-20: Count (#7, aaaaaaaaaa)"),
        ({"is_root": True}, (), ""),
        ({}, (LARGE,), ""),
    ],
)
def test_who_wrote_a_line_is_told_once_and_not_of_imports(wrote, commits, told):
    blames = {("shop/cart.py", 2): WROTE.model_copy(update=wrote)}
    code = MemoryCode(FILES, tree().commit, blames=blames, commits=commits)
    assert completed(Handover(), case(), code).last_change == told


def test_what_the_message_says_is_no_value_of_its_own():
    of = case(
        group(
            error_class="TypeError",
            message="f(): Argument #1 ($a) must be of type string, array given",
        ),
        traced=False,
    )
    assert completed(Handover(), of, tree()).value == ""
    of = case(group(error_class="KeyError", message="'EUR'"), traced=False)
    assert completed(Handover(), of, tree()).value == ""


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
    one = judged_unknown(
        suggested_next_steps=("Log it.",), suspect_commit="abcdef1", question="Whose?"
    )
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
    assert judged_unknown(**more).has_cause


def test_an_answer_with_a_handover_proposes_nothing():
    fix = Edit(path="shop/cart.py", old="line.price", new="line.cost")
    said = {"confidence": "medium", "evidence": (QUOTE,), "has_fix": True, "file_changes": (fix,)}
    one = judged_unknown(handover=Handover(), **said)
    assert (one.has_cause, one.has_fix, one.confidence) == (False, False, "low")
    assert advantage(one, judged_unknown(evidence=(QUOTE,))) == "a known cause"
    assert judged_unknown(ResearchContext(misfit="of other code"), handover=Handover()).misfit
