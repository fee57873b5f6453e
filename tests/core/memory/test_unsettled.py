from datetime import date

import pytest
from core.lesson_shapes import FIRST, analysis, case, lesson, night

from nightwatch_core.memory.lesson_text import body, document, lesson_of
from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.occurrences import fix_owed, waits_for, why_unsettled, why_weak
from nightwatch_core.memory.prior_analyses import CaseTonight, reused_analysis, turn_of
from nightwatch_core.models.analysis import Ending, RefusedEdit
from nightwatch_core.models.knowledge import CitedLine

DIGESTS = {"app/rate.rb": "d1"}
SLIP = RefusedEdit(path="app/rate.rb", reason="it does not parse: line 3", is_slip=True)
PROTECTED = RefusedEdit(path=".github/workflows/ci.yml", reason="it is in a dot folder")
WRAPPED_UP = Ending(kind="wrapped up", detail="progress")


def weak(on=1, nights=0, earlier=None, **more):
    found = analysis(confidence="low", fix=(), unsettled_nights=nights, **more)
    return lesson_from(found, night(on), DIGESTS, (), earlier)


def turn(of, on=5, digests=DIGESTS, by_rules=False):
    tonight = CaseTonight(case=case(), night=night(on), by_rules=by_rules)
    return turn_of(of, tonight, lambda path: digests.get(path, ""))


def test_nights_are_counted_from_the_first_weak_one():
    first = weak()
    second = weak(2, nights=1, earlier=first)
    waited = lesson_from(reused_analysis(second, case(), night(3)), night(3), {}, (), second)
    kept = (first, second, waited)
    assert [one.unsettled_nights for one in kept] == [1, 2, 3]
    assert {one.unsettled_since for one in kept} == {FIRST}


def test_another_reason_to_look_begins_the_count_anew():
    anew = weak(9, nights=0, earlier=weak(2, nights=1, earlier=weak()))
    assert (anew.unsettled_nights, anew.unsettled_since) == (1, date(2031, 3, 9))


def test_a_proof_ends_the_count():
    proved = lesson_from(analysis(unsettled_nights=3), night(4), DIGESTS, (), weak())
    assert (proved.unsettled_nights, proved.unsettled_since, proved.watched) == (0, None, ())


def test_its_turn_comes_on_the_second_fourth_and_eighth_night():
    of = weak()
    due = [
        before + 1
        for before in range(1, 20)
        if turn(of.model_copy(update={"unsettled_nights": before}))
    ]
    assert due == [2, 4, 8, 16]
    assert turn(of).why == "its confidence was low, and this is its 2nd night"
    assert (turn(of).nights, turn(of).fix_alone) == (1, False)


@pytest.mark.parametrize("nights", [0, -7, 10**15])
def test_no_document_can_put_the_next_look_off_for_ever(nights):
    of = weak().model_copy(update={"unsettled_nights": nights})
    waits_for(of)
    counts = range(max(nights, 1), max(nights, 1) + 32)
    assert any(turn(of.model_copy(update={"unsettled_nights": count})) for count in counts)


def test_it_is_no_longer_waited_for_once_its_frames_changed_or_a_model_is_there():
    of = weak().model_copy(update={"unsettled_nights": 2, "evidence": ()})
    assert turn(of) is None
    assert turn(of, digests={"app/rate.rb": "d2"}).nights == 0
    ruled = of.model_copy(update={"model": "rules"})
    assert turn(ruled, by_rules=True) is None
    assert turn(ruled).why.endswith("only the rules looked at it")


def test_a_settled_lesson_has_no_turn():
    assert turn(lesson()) is None


def test_it_says_since_when_it_waits_and_for_what():
    of = weak(next_steps=("Is\u202e the table\nfull?",)).model_copy(update={"unsettled_nights": 2})
    assert waits_for(of) == (
        "no proof since 2031-03-01 (its confidence was low): looked at again on the 4th night, "
        "or once app/rate.rb changes; what would settle it: Is the table full?"
    )


def test_a_fix_is_owed_where_slips_alone_felled_it():
    assert fix_owed(False, (SLIP,)) == "app/rate.rb: it does not parse: line 3"
    assert fix_owed(True, (SLIP,)) == ""
    assert fix_owed(False, (SLIP, PROTECTED)) == fix_owed(False, ()) == ""


def test_an_owed_fix_is_said_kept_and_asked_for_alone():
    found = analysis(fix=(), refused=(SLIP,), question="An empty list, or 404?")
    owed = lesson_from(found, night(1), DIGESTS)
    assert why_unsettled(owed).startswith("its fix is owed: app/rate.rb: it does not parse")
    assert (why_weak(owed), turn(owed).fix_alone) == ("", True)
    assert "## Fix Owed" in body(owed)
    assert "An empty list, or 404?" in body(owed)
    assert lesson_of(document(owed), owed.file) == owed
    assert (owed.has_fix, owed.edits) == (False, ())


def test_what_was_wrapped_up_is_kept_where_it_is_proved():
    kept = lesson_from(analysis(ending=WRAPPED_UP), night(1), DIGESTS)
    assert (kept.has_fix, why_unsettled(kept)) == (True, "")


def test_what_was_wrapped_up_without_proof_takes_nothing_from_a_sound_lesson():
    sound = lesson()
    kept = weak(5, earlier=sound, ending=WRAPPED_UP)
    assert (kept.root_cause, kept.fix_confidence) == (sound.root_cause, "high")
    assert kept.nights[-1].verdict == "wrapped up"
    assert weak(5, earlier=weak(), ending=WRAPPED_UP).fix_confidence == "low"


def test_watched_files_are_those_of_the_innermost_frames():
    assert weak().watched == (
        CitedLine(path="app/rate.rb", line=1, digest="d1", commit="f00dfeed"),
    )
