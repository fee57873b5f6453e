from analysis_shapes import CART, FIX, analysed, answer, case, says, tree
from core.lesson_shapes import lesson
from twins.reading import MemoryModel

from nightwatch_core.analysis import analyst as fix_alone
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.knowledge import CitedLine, Match, OutcomeEvent, PriorAnalysis
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.text.plain_text import digest

QUOTE = "return sum(line.price for line in lines)"
OWED = lesson(
    "v1:a",
    title="Lines have no price",
    root_cause="shop/pay.py:2 charges what shop/cart.py:2 sums.",
    evidence=(CitedLine(path="shop/cart.py", line=2, quote=QUOTE, digest=digest(CART)),),
    fix_owed="shop/cart.py: the old text occurs 0 times instead of once",
    next_steps=("Look at the till.",),
)


def told(fix_alone=True, kind="same", **more):
    match = Match(score=1.0, because=("same",), kind=kind, doubt="its fix is owed")
    match = match.model_copy(update={"fix_alone": fix_alone})
    return ResearchContext(priors=(PriorAnalysis(lesson=OWED, match=match),), **more)


def asked(*script, **more):
    model = MemoryModel(script)
    return analysed(model, research=told(), **more), model


def fix(*edits, **more):
    changes = [edit.model_dump() for edit in edits]
    return says(answer(title="", root_cause="", evidence=[], file_changes=changes, **more))


def test_only_the_fix_of_the_answer_counts():
    found, model = asked(fix(FIX, confidence="low", fix_confidence="medium"))
    assert (found.fix, found.fix_confidence) == ((FIX,), "medium")
    assert (found.title, found.root_cause) == (OWED.title, OWED.root_cause)
    assert (found.confidence, found.next_steps) == ("high", OWED.next_steps)
    assert found.evidence[0].verified
    assert len(model.shown) == 1


def test_the_message_is_short_and_holds_cause_reason_and_code():
    _, model = asked(fix(FIX))
    [text] = [turn.text for turn in model.shown[0].turns[:1]]
    for part in (OWED.root_cause, OWED.fix_owed, f"2| {CART.splitlines()[1]}", "AttributeError"):
        assert part in text
    assert len(text) < 2_500


def test_all_is_asked_where_nothing_is_owed_or_the_record_fits_no_code():
    assert fix_alone.owed(told()) == OWED
    assert fix_alone.owed(told(fix_alone=False)) is None
    assert fix_alone.owed(told(kind="similar")) is None
    assert fix_alone.owed(told(misfit="the lines are others")) is None
    assert fix_alone.owed(ResearchContext()) is None


NO = OutcomeEvent(kind="closed unmerged", number=7, on=OWED.first_detected, words=("```\nNo.",))
REJECTED = OWED.model_copy(
    update={"fix_owed": "", "outcomes": (NO,), "edits": (FIX,), "outcome": "closed unmerged"}
)


def answered(**more):
    return Answer(**{"title": "", "root_cause": "", "confidence": "low", **more})


def test_after_a_rejection_the_words_and_the_diff_are_told_and_the_place_is_shown():
    research = fix_alone.little_research(REJECTED, (), tree().read_file)
    text = fix_alone.request(case(), REJECTED, research)
    assert "pull request #7 closed unmerged: ``` No." in text
    assert "not to be proposed again unchanged" in text
    assert f"+{FIX.new}" in text
    assert "`confidence: low`" in text
    assert "`confidence: low`" not in fix_alone.request(case(), OWED, research)


def test_the_cause_is_doubted_only_without_a_fix_and_after_a_rejection():
    assert fix_alone.completed(answered(), REJECTED).confidence == "low"
    assert fix_alone.completed(answered(has_fix=True), REJECTED).confidence == "high"
    assert fix_alone.completed(answered(confidence="medium"), REJECTED).confidence == "high"
    assert fix_alone.completed(answered(), OWED).confidence == "high"
