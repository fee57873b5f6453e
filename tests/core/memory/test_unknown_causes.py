"""An error without a known cause is remembered as looked at, and nobody learns from it."""

from datetime import date

import pytest
from core import lesson_shapes
from core.lesson_shapes import analysis, case, lesson, night, seen
from core.scoreboard_shapes import issue, published, record

from nightwatch_core.analysis.research import gather
from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.compound import draw_by_rule
from nightwatch_core.learnings.offers import offers
from nightwatch_core.memory.index import entry_of, index_over, index_text
from nightwatch_core.memory.lesson_text import document, lesson_of
from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.note_reader import as_task
from nightwatch_core.memory.occurrences import waits_for
from nightwatch_core.memory.prior_analyses import CaseTonight, reused_analysis, turn_of, with_priors
from nightwatch_core.memory.recall import LessonSearch, search_lessons
from nightwatch_core.memory.scoreboard import calibrated, scoreboard
from nightwatch_core.models.answer import Evidence, Handover, Learning
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.knowledge import Match, Notes, OutcomeEvent, PriorAnalysis
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.patterns import detect
from nightwatch_core.traces.placing import PathIndex

CLAIM = "It must be the moon"
DIGESTS = {"app/rate.rb": "d1", "app/moon.rb": "d2"}


def unknown(**more):
    told = {
        "title": CLAIM,
        "root_cause": f"{CLAIM}.",
        "confidence": "low",
        "fix": (),
        "evidence": (Evidence(path="app/moon.rb", line=3, quote=CLAIM, verified=True),),
        "tags": ("moon",),
        "learnings": (Learning(fact=CLAIM),),
        "question": f"{CLAIM}?",
        "related_to": ("v1:moon",),
        "handover": Handover(unknown=CLAIM, value=CLAIM, look_at=("Log the rate.", CLAIM)),
        **more,
    }
    return analysis(**told)


KEPT = lesson_from(unknown(), night(1), DIGESTS).model_copy(update={"file": "errors/a.md"})


def test_its_document_repeats_nothing_that_was_said():
    text = document(KEPT)
    assert CLAIM not in text
    assert "Cause unknown: the error was analysed, and nothing was proved." in text
    assert lesson_of(text, KEPT.file) == KEPT
    assert (KEPT.has_cause, KEPT.evidence, KEPT.learnings) == (False, (), ())
    assert KEPT.next_steps == ("Log the rate.",)


def test_it_waits_for_its_turn_or_for_another_file():
    tonight = CaseTonight(case=case(), night=night(3))
    waited = lesson_from(reused_analysis(KEPT, case(), night(2)), night(2), {}, (), KEPT)
    assert waits_for(waited).startswith("seen since 2031-03-01, looked at on 1 of 2")
    assert "what would settle it: Log the rate." in waits_for(waited)
    assert turn_of(waited, tonight, DIGESTS.get) is None
    changed = turn_of(waited, tonight, {**DIGESTS, "app/moon.rb": "d3"}.get)
    assert changed.why == "app/moon.rb has changed since"
    again = reused_analysis(waited, case(), night(3))
    assert not again.has_cause
    assert again.known_since.startswith("seen since 2031-03-01")


def test_a_cause_that_was_known_gives_way_once_its_code_is_another():
    earlier = lesson_from(analysis(), night(1), DIGESTS, (Receipt(
        key="k", kind="issue", fingerprint="v1:aaaaaaaabbbb", status="done", number=4
    ),))  # fmt: skip
    kept = lesson_from(unknown(), night(2), DIGESTS, (), earlier)
    assert (kept.root_cause, kept.edits) == (earlier.root_cause, earlier.edits)
    later = lesson_from(unknown(), night(2), DIGESTS, (), earlier, is_other_code=True)
    assert (later.has_cause, later.issue_number, later.edits) == (False, 4, ())
    assert [one.has_cause for one in later.proposed] == [True]


def test_no_other_error_recalls_it_and_its_own_does():
    other = case("v1:zzzz", message="no rate for MT").model_copy(update={"signature": ""})
    other = other.model_copy(update={"others": ()})
    index = index_over((entry_of(KEPT),), ())
    search = LessonSearch((KEPT,))
    assert search.similar(other) == ()
    assert [match.is_same for _, match in search.similar(case())] == [True]
    assert index_text(index).count("unknown: true") == 1
    assert "unknown" not in index_text(index_over((entry_of(lesson(file="b.md")),), ()))


def prior(of, **match):
    return PriorAnalysis(lesson=of, match=Match(score=1, because=(), kind="same", **match))


def test_no_prompt_tells_it_but_what_became_of_a_fix_is_told():
    gone = OutcomeEvent(kind="closed unmerged", number=5, on=date(2031, 3, 2), words=("No.",))
    fixed = KEPT.model_copy(update={"outcomes": (gone,)})
    for own, told in ((KEPT, ()), (fixed, (prior(fixed),)), (lesson(), (prior(lesson()),))):
        found = gather(case(), PathIndex({}), {}.get, priors=(prior(own),))
        assert found.priors == told


def test_its_history_is_kept_beside_a_fresh_analysis():
    meeting = UnexplainedCase(case=case(), priors=(prior(KEPT, unsettled_nights=2, doubt="turn"),))
    fresh = with_priors(unknown(), (meeting,))
    assert (fresh.prior_fingerprints, fresh.unsettled_nights, fresh.news) == ((), 2, "turn")
    assert fresh.known_as


def test_nobody_searches_it_draws_notes_from_it_or_offers_it():
    assert search_lessons("RateMissing", (KEPT,)) == ()
    assert as_task(KEPT).notes == ()
    with pytest.raises(GiveUp, match="nothing to draw notes from"):
        draw_by_rule(as_task(KEPT), KEPT, "you chose --no-model", date(2031, 3, 1))
    noted = KEPT.model_copy(update={"notes": (Notes(gotchas=("The moon is full",)),)})
    assert offers((noted,), (), "") == ()
    assert [one.gotchas for one in as_task(noted).notes] == [("The moon is full",)]


def test_no_pattern_says_more_of_it_than_that_it_comes_back():
    told = {"evidence": (Evidence(path="app/rate.rb", line=12, quote="x", verified=True),)}
    tonight = tuple(
        unknown(of=lesson_shapes.one_group(f"v1:{n}"), confidence="medium", **told)
        for n in range(4)
    )
    kept = tuple(
        lesson(f"v1:{n}", root_cause="", nights=seen(1, 2, 3, 4), module="app/rate.rb")
        for n in range(4)
    )
    assert detect(tonight, ()) == ()
    (pattern,) = detect(tonight, kept)
    assert (pattern.rule, len(pattern.fingerprints)) == ("unexplained", 4)
    assert pattern.description.startswith("Cause unknown. Seen on 4 of 4 nights since ")
    causes = tuple(one.model_copy(update={"handover": None}) for one in tonight)
    assert detect(causes, kept)
    assert detect((), tuple(one.model_copy(update={"root_cause": "Why."}) for one in kept))


def test_the_scoreboard_is_not_charged():
    shut = issue(11, "not planned", confidence="low", has_cause=False)
    assert scoreboard((published(shut),)).found.times == 0
    receipt = Receipt(key="k", kind="issue", fingerprint=KEPT.fingerprint, status="done", number=9)
    asked = lesson_from(unknown(), night(1), DIGESTS, (receipt,))
    assert [one.has_cause for one in asked.proposed] == [False]
    assert lesson_of(document(asked), "").proposed == asked.proposed
    board = scoreboard(record("c" * 12, said="low"))
    assert calibrated(analysis(confidence="low"), board).chance is not None
    assert calibrated(unknown(), board).chance is None
