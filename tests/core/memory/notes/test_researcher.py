"""The learnings researcher: what it finds for an intent, why, and what it ignores."""

from datetime import date

import pytest
from core.lesson_shapes import case, lesson
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.memory.note_reader import as_task
from nightwatch_core.memory.researcher import intent_of, learnings_for_case, relevant_learnings
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.knowledge import Notes, Problem, TaskFile, TaskSection

TABLES = tables_of(__file__)

ALL = tuple(map(TaskFile.model_validate, TABLES["tasks"]))
SILENT = ALL[-1]


def found(intent: str, tasks=ALL, **more):
    return relevant_learnings(intent, tasks, **more)


def test_it_finds_what_fits_and_says_why() -> None:
    (one,) = found("eager loading of a user's organizations")
    assert one.task_id == "task-abc123"
    assert one.relevance > 0.6
    assert one.summary == (
        "Problem: N+1 queries on user.organizations relationship\n"
        "Solution: Added eager loading with includes()\n"
        "Gotcha: Prisma include syntax differs from ActiveRecord\n"
        "Gotcha: CI caches node_modules"
    )
    assert one.source_sections == ("future-agent-notes", "implementation")
    (because,) = one.because
    assert "eager" in because
    assert "organizations" in because


def test_documents_without_notes_tell_by_their_sections() -> None:
    (one,) = found("looking up country rates")
    assert (one.summary, one.source_sections) == (
        "Research: Rates are looked up by country.",
        ("research",),
    )


def test_notes_count_more_than_sections_and_a_bare_title_says_nothing() -> None:
    noted = TaskFile(id="b", notes=(Notes(gotchas=("redis sessions expire",)),))
    planned = TaskFile(id="a", sections=(TaskSection(name="plan", text="redis sessions expire"),))
    ids = [one.task_id for one in found("redis sessions expire", (planned, noted, SILENT))]
    assert ids == ["b", "a"]


def test_rare_words_weigh_more_than_common_ones() -> None:
    common = [
        TaskFile(id=f"c{n:02d}", notes=(Notes(gotchas=("the order form",)),)) for n in range(40)
    ]
    rare = TaskFile(id="z", notes=(Notes(gotchas=("deadlock while importing",)),))
    ids = [one.task_id for one in found("order deadlock", (*common, rare))]
    assert ids[0] == "z"


def test_one_common_word_of_many_is_no_finding() -> None:
    assert found("move the user avatars to object storage with signed urls") == ()


def test_related_tasks_are_followed_once_and_circles_end() -> None:
    tasks = (
        noted("a", "trigram index on names", "b"),
        noted("b", "vacuum after imports", "a", "c", "b", "nowhere"),
        noted("c", "something else"),
    )
    first, second = found("trigram index names", tasks)
    assert (first.task_id, second.task_id) == ("a", "b")
    assert second.relevance == pytest.approx(first.relevance / 2, abs=0.001)
    assert second.because == ("related to a",)
    assert second.summary == "Gotcha: vacuum after imports"


def test_the_best_five_come_first_and_ties_go_by_id() -> None:
    many = [TaskFile(id=f"t{n}", notes=(Notes(gotchas=("edge runtime",)),)) for n in range(9)]
    ids = [one.task_id for one in found("edge runtime", many[::-1])]
    assert ids == ["t0", "t1", "t2", "t3", "t4"]
    assert len(found("edge runtime", many, limit=2)) == 2
    assert found("edge runtime", many, threshold=1.1) == ()


@pytest.mark.parametrize("intent", ["", "  \n", "how do we do this", "x" * 2_001])
def test_an_intent_that_says_nothing_is_told_so(intent: str) -> None:
    with pytest.raises(GiveUp, match="intent"):
        found(intent)


def test_a_lesson_is_seen_as_a_task() -> None:
    task = as_task(
        lesson(
            title="No rate for LU",
            edits=(Edit(path="app/rate.rb", description="Look the rate up by country"),),
            learnings=("Rates live in app/rate.rb",),
            related=("v1:b",),
            promoted=("d1",),
            file="errors/a.md",
        )
    )
    assert (task.id, task.title) == ("v1:aaaaaaaabbbb", "No rate for LU")
    assert task.related_tasks == ("v1:b",)
    (notes,) = task.notes
    assert notes.timestamp == date(2031, 3, 1)
    assert notes.problems[0].root_cause == "The lookup knows no LU."
    assert notes.problems[0].solution == "Look the rate up by country"
    assert notes.gotchas == ("Rates live in app/rate.rb",)
    assert task.promoted == ("d1",)


def test_a_lessons_own_notes_win_but_gotchas_alone_do_not_hide_its_cause() -> None:
    own = Notes(problems=(Problem(what="mine"),))
    assert as_task(lesson(notes=(own,))).notes == (own,)
    gotcha = Notes(gotchas=("mine",))
    assert len(as_task(lesson(notes=(gotcha,))).notes) == 2


def test_a_fix_that_was_rejected_is_no_solution() -> None:
    edits = (Edit(path="a", description="Rescue it"),)
    (notes,) = as_task(lesson(edits=edits, outcome="closed unmerged")).notes
    assert notes.problems[0].solution == "Proposed, then closed unmerged: Rescue it"


def test_a_case_finds_what_was_learned_elsewhere_but_not_its_own_lesson() -> None:
    own, other = lesson(), lesson("v1:other", transaction="Controller/invoices/preview")
    again = lesson("v1:cccc")
    ids = [one.task_id for one in learnings_for_case(case(), map(as_task, (own, again, other)))]
    assert ids == ["v1:other"]
    assert "<" not in intent_of(case(message="no rate for 17 of <b>"))


def noted(id: str, text: str, *related: str) -> TaskFile:
    notes = (Notes(gotchas=(text,)),) if text else ()
    return TaskFile(id=id, file=f"tasks/{id}.md", related_tasks=related, notes=notes)


@pytest.mark.parametrize("link", TABLES["test_links_are_followed_however_people_write_them"])
def test_links_are_followed_however_people_write_them(link: str) -> None:
    tasks = (noted("a", "trigram index on names", link), noted("b", "vacuum after imports"))
    assert [one.task_id for one in found("trigram index names", tasks)] == ["a", "b"]


def test_the_documents_of_a_tasks_own_directory_are_linked_with_it_and_each_other() -> None:
    tasks = (
        noted("auth", "trigram index on names"),
        noted("auth/plan", "sessions expire"),
        noted("authors/plan", "biographies are long"),
    )
    ids = [one.task_id for one in found("trigram index names", tasks)]
    assert ids == ["auth", "auth/plan"]
    assert {one.task_id for one in found("sessions expire", tasks)} == {"auth", "auth/plan"}
    elsewhere = (noted("z", "trigram index on names", "auth/"), *tasks[1:])
    assert [one.task_id for one in found("trigram index names", elsewhere)] == ["z", "auth/plan"]


def test_what_a_cases_own_lesson_names_is_found() -> None:
    own = as_task(lesson(related=("task-rates",)))
    tasks = (own, noted("task-rates", "the vendor rounds half up"), noted("task-x", "css grids"))
    (one,) = learnings_for_case(case(), tasks)
    assert (one.task_id, one.because) == ("task-rates", (f"related to {own.id}",))
    bare = own.model_copy(update={"notes": ()})
    assert [one.task_id for one in learnings_for_case(case(), (bare, *tasks[1:]))] == ["task-rates"]
