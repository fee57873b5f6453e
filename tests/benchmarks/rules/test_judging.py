"""Statements of an analysis, what needs no judge, and the figures made of verdicts."""

from benchmarks.rules.analysing import Analysed
from benchmarks.rules.cases import Bug, Place, bugs, printed
from benchmarks.rules.judging import judged, row, table, verdicts

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Evidence, Handover, Hypothesis
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.traces import parsing

BUG = Bug(
    id="a", repo="acme/shop", language="python", parent="1" * 40, fix="2" * 40,
    error_class="KeyError", message="'total'", transaction="",
    frames=(Place("/usr/lib/dict.py", 9, "get"), Place("shop/a.py", 7, "pay")),
    fixed=("shop/a.py:3",),
)  # fmt: skip
CASE = Case(leader=ErrorGroup(fingerprint="v1:a", source="test", error_class="KeyError"))
ANALYSIS = Analysis(
    case=CASE,
    title="KeyError: `cart` is empty in shop/a.py:7",
    root_cause="`cart` holds nothing. shop/a.py:7 was last written by 0123456789 (Ann). It lies.",
    confidence="medium",
    evidence=(Evidence(path="shop/a.py", line=7, quote="x", note="the failing line"),),
    hypotheses=(Hypothesis(statement="open"), Hypothesis(statement="said", standing="confirmed")),
    next_steps=("Log `cart`.", "The key is new."),
)
KNOWN = {
    "a": {
        "title: KeyError: `cart` is empty in shop/a.py:7": "true",
        "cause: `cart` holds nothing.": "true",
        "cause: It lies.": "false",
    }
}


def test_what_states_nothing_needs_no_judge_and_what_is_new_is_unjudged():
    one = judged(BUG, Analysed(ANALYSIS, ()), KNOWN)
    assert [said for _, said in one.verdicts] == [
        "true", "true", "none", "false", "none", "", "none", ""
    ]  # fmt: skip
    assert one.texts("") == ("hypothesis: said (confirmed: )", "step: The key is new.")
    assert one.has_cause
    figures = row("all", [one])
    assert (figures.true, figures.false, figures.unjudged, figures.none) == (2, 1, 2, 3)
    assert "| all | 1 | 1 | 1.00 | 5 | 2 | 1 | 2 | 3 | 0.67 |" in table([figures])


def test_a_handover_or_a_weak_word_is_no_cause():
    for more in ({"handover": Handover()}, {"confidence": "low"}):
        one = judged(BUG, Analysed(ANALYSIS.model_copy(update=more), ()), KNOWN)
        assert not one.has_cause


def test_the_kept_bugs_print_as_their_languages_do():
    for bug in bugs():
        trace = parsing.parse(printed(bug, lambda place: "x = 1"), bug.language, ())
        frames = [(frame.path, frame.line) for frame in trace.root.frames]
        assert frames == [(place.printed, place.line) for place in bug.frames] or (
            bug.language == "java" and [line for _, line in frames] == [p.line for p in bug.frames]
        ), bug.id


def test_verdicts_are_of_kept_bugs_and_of_three_kinds():
    kept = {bug.id for bug in bugs()}
    said = {verdict for own in verdicts().values() for verdict in own.values()}
    assert len(kept) == len(bugs())
    assert set(verdicts()) <= kept
    assert said <= {"true", "false", "none"}
