import pytest
from core.lesson_shapes import FIRST, analysis, case, lesson, night, one_group, seen

from nightwatch_core.memory.lesson_text import body, document, lesson_of
from nightwatch_core.memory.lessons import lesson_from
from nightwatch_core.memory.occurrences import fix_owed, waits_for, why_unsettled, why_weak
from nightwatch_core.memory.prior_analyses import CaseTonight, news, reused_analysis, turn_of
from nightwatch_core.models.analysis import Ending, RefusedEdit
from nightwatch_core.models.knowledge import CitedLine

DIGESTS = {"app/rate.rb": "d1"}
SLIP = RefusedEdit(path="app/rate.rb", reason="it does not parse: line 3", is_slip=True)
PROTECTED = RefusedEdit(path=".github/workflows/ci.yml", reason="it is in a dot folder")
WRAPPED_UP = Ending(kind="wrapped up", detail="progress")


def weak(on=1, nights=0, earlier=None, **more):
    found = analysis(confidence="low", fix=(), unsettled_nights=nights, **more)
    kept = lesson_from(found, night(on), DIGESTS, (), earlier)
    return kept.model_copy(update={"analyst": "a1"})


def turn(of, on=5, digests=DIGESTS, **more):
    tonight = CaseTonight(case=case(), night=night(on), **{"analyst": "a1", **more})
    return turn_of(of, tonight, lambda path: digests.get(path, ""))


def test_nights_are_counted_from_the_first_weak_one():
    first = weak()
    second = weak(2, nights=1, earlier=first)
    waited = lesson_from(reused_analysis(second, case(), night(3)), night(3), {}, (), second)
    kept = (first, second, waited)
    assert [one.unsettled_nights for one in kept] == [1, 2, 3]
    assert all(f"seen since {FIRST}" in waits_for(one) for one in kept)


def test_another_reason_to_look_begins_the_count_anew():
    anew = weak(9, nights=0, earlier=weak(2, nights=1, earlier=weak()))
    assert anew.unsettled_nights == 1
    assert f"seen since {FIRST}" in waits_for(anew)  # the error, not the look at it


def test_a_proof_ends_the_count():
    proved = lesson_from(analysis(unsettled_nights=3), night(4), DIGESTS, (), weak())
    assert (proved.unsettled_nights, proved.watched) == (0, ())


def test_what_had_no_trace_is_looked_at_with_one():
    unseen = weak().model_copy(update={"watched": ()})
    assert turn(unseen).why == "its confidence was low, and its stack trace was not known"
    assert turn(weak()) is None


def test_what_stays_the_same_is_looked_at_again_once_in_32_nights_and_an_owed_fix_at_once():
    owed = lesson(fix_owed="app/rate.rb: it does not parse", unsettled_nights=1)
    for of, nights in ((weak(), [32, 64]), (owed, [2, 32, 64])):
        due = [
            before + 1
            for before in range(1, 70)
            if turn(of.model_copy(update={"unsettled_nights": before}))
        ]
        assert due == nights
    late = turn(weak().model_copy(update={"unsettled_nights": 31}))
    assert late.why == "its confidence was low, and this is its 32nd night"
    assert (late.nights, late.fix_alone) == (31, False)


def test_it_is_looked_at_again_once_it_rose_or_the_model_changed():
    of = weak().model_copy(update={"nights": seen(1, occurrences=3)})
    assert turn(of) is None
    assert turn(of, analyst="a2").why.endswith("the model or its instructions have changed since")
    assert turn(of, analyst="a2", by_rules=True) is None
    for count, rose in ((10, False), (18, True)):
        tonight = CaseTonight(case=one_group("v1:a", occurrences=count), night=night(5))
        assert bool(news(of, tonight)) is rose
        assert not news(lesson(nights=of.nights), tonight)  # a proved cause asks for more


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
        "seen since 2031-03-01 (its confidence was low), looked at on 1 of 1 night, waiting for "
        "a change of app/rate.rb, a higher rate or another model; "
        "what would settle it: Is the table full?"
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
    assert (kept.root_cause, kept.confidence) == (sound.root_cause, "high")
    assert kept.nights[-1].verdict == "wrapped up"
    assert weak(5, earlier=weak(), ending=WRAPPED_UP).confidence == "low"


def test_watched_files_are_those_of_the_innermost_frames():
    assert weak().watched == (
        CitedLine(path="app/rate.rb", line=1, digest="d1", commit="f00dfeed"),
    )
