"""Notes for future agents: by rule, by a model, and what hinders that."""

import json
from datetime import date

import pytest
from core.lesson_shapes import lesson, night
from twins.reading import MemoryModel

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.learnings.compound import (
    draw_by_model,
    draw_by_rule,
    last_published,
    related_text,
    similar,
)
from nightwatch_core.memory.note_reader import add_notes, as_task, draw_notes
from nightwatch_core.models.answer import Allowance, Edit
from nightwatch_core.models.conversation import (
    AssistantTurn,
    Capabilities,
    Reply,
    Transcript,
    TranscriptEntry,
)
from nightwatch_core.models.knowledge import (
    Decision,
    Notes,
    OutcomeEvent,
    Problem,
    PublishedItem,
    TaskFile,
    TaskSection,
)
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.models.report import RunReport

ON = date(2031, 3, 9)
ABLE = Capabilities(model="claude-x", input_price=5.0, output_price=25.0)
MAY = Allowance(iterations=1, tokens=100_000, cost=1.5, seconds=60)
KNOWN = lesson(
    title="No rate for new countries",
    file="errors/a.md",
    edits=(Edit(path="app/rate.rb", description="Look the rate up by country"),),
)
HEARD = Transcript(
    night="n1",
    fingerprint=KNOWN.fingerprint,
    entries=(TranscriptEntry(kind="assistant", text="RATES.fetch raises ``` </script>"),),
)
ANSWER = {
    "problems": [{"what": "New countries have no rate", "solution": "Rates.of falls back"}],
    "decisions": [{"choice": "A default rate", "rationale": "Orders must not fail"}],
    "gotchas": ["Rates are cached for a day"],
}


def asked(model: MemoryModel, target=None, known=KNOWN, heard=HEARD, may=MAY):
    return draw_by_model(target or as_task(KNOWN), known, heard, model, "the prompt", may, ON)


def test_a_model_draws_notes_from_the_transcript() -> None:
    model = MemoryModel([f"Here you are:\n```json\n{json.dumps(ANSWER)}\n```"], able=ABLE)
    drawn = asked(model)
    assert drawn.notes == Notes.model_validate({"timestamp": ON, **ANSWER})
    assert drawn.text == "Drawn by claude-x."
    assert drawn.usage.calls == 1
    (shown,) = model.shown
    assert (shown.system, shown.tools) == ("the prompt", ())
    assert set(shown.answer_schema["properties"]) == set(ANSWER)


def test_what_the_model_is_told_stands_in_a_fence_of_bounded_size() -> None:
    long = HEARD.model_copy(
        update={"entries": (*HEARD.entries, *(TranscriptEntry(kind="user", text="x " * 700),) * 90)}
    )
    model = MemoryModel([json.dumps(ANSWER)], able=ABLE)
    asked(model, heard=long)
    (turn,) = model.shown[0].turns
    assert "root cause: The lookup knows no LU." in turn.text
    assert turn.text.count("````") == 2
    assert len(turn.text) < 50_000


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (TryLater("Claude is overloaded: try again later"), "Claude is overloaded"),
        (StopTheNight("the key is not accepted"), "the key is not accepted"),
        ("no JSON here", "holds no JSON object"),
        ('{"gotchas": "x"}', "does not fit the schema"),
        ('{"gotchas": ["  "]}', "found nothing to note"),
        ("{" * 5_000, "does not fit the schema"),
        (Reply(turn=AssistantTurn(), stop="refused", detail="policy"), "no answer (policy)"),
    ],
)
def test_without_a_readable_answer_the_notes_come_by_rule(script: object, why: str) -> None:
    drawn = asked(MemoryModel([script], able=ABLE))
    assert drawn.notes == draw_notes(KNOWN, ON)
    assert why in drawn.text
    assert drawn.text.startswith("Drawn by rule from the lesson itself: ")


@pytest.mark.parametrize(
    ("able", "may", "heard", "why"),
    [
        (Capabilities(model="rules", local=True), {}, HEARD, "no language model"),
        (ABLE, {"tokens": 4_000}, HEARD, "tokens: raise the token budget"),
        (ABLE, {"cost": 0.01}, HEARD, "it could cost $0.1"),
        (Capabilities(model="own"), {}, HEARD, "the price of own is unknown"),
        (ABLE, {}, None, "no transcript"),
    ],
)
def test_nobody_is_asked_beyond_what_may_be_used_or_without_a_transcript(able, may, heard, why):
    model = MemoryModel([json.dumps(ANSWER)], able=able)
    assert why in asked(model, heard=heard, may=MAY.model_copy(update=may)).text
    assert model.shown == []


def test_a_tasks_notes_are_drawn_from_its_sections_or_not_at_all() -> None:
    task = TaskFile(id="t", title="T", sections=(TaskSection(name="plan", text="Use FTS"),))
    model = MemoryModel([json.dumps(ANSWER)], able=ABLE)
    assert asked(model, task, None, None).notes.gotchas == ("Rates are cached for a day",)
    assert "plan:\nUse FTS" in model.shown[0].turns[0].text
    with pytest.raises(GiveUp, match="label nothing new.*label it there"):
        asked(MemoryModel(["nothing"], able=ABLE), task, None, None)


def test_where_the_model_fails_a_tasks_notes_come_from_its_labels_once() -> None:
    section = TaskSection(name="plan", text="Decision: FTS\nRationale: rows are many.")
    task = TaskFile(id="t", title="T", sections=(section,))
    drawn = asked(MemoryModel(["nothing"], able=ABLE), task, None, None)
    assert drawn.text.startswith("Drawn by rule from the task's own sections: the model's answer")
    assert drawn.notes.decisions == (Decision(choice="FTS", rationale="rows are many."),)
    noted = task.model_copy(update={"notes": (drawn.notes,)})
    with pytest.raises(GiveUp, match="nothing new"):
        draw_by_rule(noted, None, "you chose --no-model", ON)


def test_a_verified_fix_is_noted_with_its_figures() -> None:
    figures = "81 in 7 nights before, 0 in 3 since"
    outcomes = (
        OutcomeEvent(kind="merged", number=4, on=ON),
        OutcomeEvent(kind="verified", number=4, on=ON, because=figures),
    )
    told = {"outcome": "verified", "outcomes": outcomes, "next_steps": ("Alert on missing rates",)}
    notes = draw_notes(KNOWN.model_copy(update=told), ON)
    assert notes.timestamp == ON
    assert notes.problems == (
        Problem(
            what="No rate for new countries",
            symptoms=("Billing::RateMissing: no rate for LU",),
            root_cause="The lookup knows no LU.",
            solution=f"Look the rate up by country (Pull request #4, verified: {figures})",
            prevention="Alert on missing rates",
        ),
    )


def test_notes_are_added_to_a_lesson_once_with_links_to_others() -> None:
    notes = Notes(gotchas=(" x ",))
    once = add_notes(KNOWN, notes, ("v1:other", KNOWN.fingerprint, "task-1"))
    assert once.notes == (Notes(gotchas=("x",)),)
    assert once.related == ("v1:other", "task-1")
    assert add_notes(once, notes, ("task-1",)) == once
    assert len(add_notes(once, Notes(gotchas=("y",))).notes) == 2


def test_a_lesson_takes_no_empty_notes_and_no_more_than_twenty() -> None:
    with pytest.raises(GiveUp, match="nothing to note"):
        add_notes(KNOWN, Notes())
    full = KNOWN.model_copy(update={"notes": tuple(Notes(gotchas=(f"g{n}",)) for n in range(20))})
    with pytest.raises(GiveUp, match="20 sections"):
        add_notes(full, Notes(gotchas=("x",)))


def test_similar_learnings_are_those_of_others() -> None:
    other = as_task(lesson("v1:other", title="No rate for old countries"))
    found = similar(as_task(KNOWN), (as_task(KNOWN), other, TaskFile(id="t")))
    assert [one.task_id for one in found] == ["v1:other"]
    assert similar(TaskFile(id="t", title="the"), (other,)) == ()
    assert related_text(found).startswith(
        'Found potentially related learnings:\n\n1. v1:other: "No rate for old countries'
    )
    assert related_text(()) == ""


def test_the_last_published_item_of_the_newest_night_is_meant() -> None:
    def kept(**statuses: str) -> RunReport:
        receipts = tuple(
            Receipt.model_validate({"key": n, "kind": "issue", "fingerprint": n, "status": status})
            for n, status in statuses.items()
        )
        told = {"night": night(), "options": NightOptions(), "receipts": receipts}
        return RunReport(**told, started=night().now, finished=night().now)

    newest = kept(a="done", b="done", c="refused")
    assert last_published((kept(), newest, kept(old="done"))) == "b"
    with pytest.raises(StopTheNight, match="no night has published"):
        last_published((kept(),))


CALLS = (Edit(path="a.py", old="x", new="y", description="Call y."),)


def test_a_fix_is_only_called_proved_where_it_is_the_one_that_was():
    verified = OutcomeEvent(kind="verified", number=7, on=ON, because="40 a day, now 0")
    for fix, proved in ((fix_digest(CALLS), True), ("f1:another", False)):
        item = PublishedItem(kind="pull", number=7, on=ON, fix=fix)
        known = lesson(edits=CALLS, has_fix=True, outcomes=(verified,), proposed=(item,))
        assert ("verified" in solution(known)) == proved


def test_a_fix_that_failed_after_all_is_told_with_the_words_of_who_turned_it_down():
    verified = OutcomeEvent(kind="verified", number=7, on=ON)
    no = OutcomeEvent(kind="closed unmerged", number=8, on=ON, words=("Rename it back.",))
    said = solution(lesson(edits=CALLS, outcomes=(verified, no), outcome="closed unmerged"))
    assert said == "Proposed, then closed unmerged (“Rename it back.”): Call y."


def solution(known):
    return draw_notes(known, ON).problems[0].solution
