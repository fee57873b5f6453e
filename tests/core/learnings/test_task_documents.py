"""Task files: read tolerantly, added to without touching what people wrote; notes by rule."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.errors import GiveUp
from nightwatch_core.learnings.task_documents import (
    task_notes,
    task_of,
    with_items,
    with_notes,
    with_promoted,
)
from nightwatch_core.memory.note_reader import notes_in, rendered
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile, TaskSection

TABLES = tables_of(__file__)

NOTES = Notes(timestamp=date(2026, 1, 26), gotchas=("Middleware runs on the edge",))
TASK = TABLES["task"]


def test_a_wikis_link_stays_as_it_is_written_and_is_read():
    text = "---\nrelated_tasks: [[[task-a]]]\n---\n# T\n"
    assert task_of(text, "t/b.md").related_tasks == ("task-a",)
    more = with_items(text, "related_tasks", ("task-a", "task-b"))
    assert more.startswith("---\nrelated_tasks: [[[task-a]], task-b]\n")


def test_a_task_is_read_whole() -> None:
    task = task_of(TASK + rendered(NOTES), "tasks/user-search.md")
    assert (task.id, task.title) == ("user-search", "Add user search")
    assert task.notes == (NOTES,)
    assert task.sections == (
        TaskSection(name="research", text="Users are searched by name."),
        TaskSection(name="plan", text="Use a trigram index."),
        TaskSection(name="implementation", text="Added it."),
    )


def test_notes_go_to_the_very_end_and_nothing_else_changes() -> None:
    assert with_notes(TASK, NOTES) == f"{TASK}\n{rendered(NOTES)}\n"
    assert with_notes("# T", NOTES) == f"# T\n\n{rendered(NOTES)}\n"
    assert with_notes("", NOTES) == f"{rendered(NOTES)}\n"


def test_the_same_notes_are_not_appended_twice() -> None:
    once = with_notes(TASK, NOTES)
    assert with_notes(once, NOTES) == once
    other = Notes(gotchas=("another",))
    assert task_of(with_notes(once, other), "a.md").notes == (NOTES, other)


@pytest.mark.parametrize(("before", "after"), TABLES["related_tasks"])
def test_related_tasks_are_added_where_people_keep_them(before: str, after: str) -> None:
    body = "---\n# T\n"
    changed = with_notes(f"---\n{before}\n{body}", NOTES, ("a", "b"))
    assert changed == f"---\n{after}\n{body}\n{rendered(NOTES)}\n"


def test_windows_line_ends_stay_everywhere() -> None:
    changed = with_notes(TASK.replace("\n", "\r\n"), NOTES, ("a",))
    assert changed.count("\r\n") == changed.count("\n")
    assert task_of(changed, "x.md").related_tasks == ("a",)


def test_a_list_nobody_could_add_to_is_given_up() -> None:
    with pytest.raises(GiveUp, match="related_tasks"):
        with_notes("---\nrelated_tasks: {a: b}\n---\n", NOTES, ("b: c",))


def test_a_file_full_of_sections_takes_no_more() -> None:
    full = "".join(f"{rendered(Notes(gotchas=(f'g{n}',)))}\n" for n in range(20))
    with pytest.raises(GiveUp, match="20 sections"):
        with_notes(full, NOTES)


def test_promoted_learnings_are_remembered() -> None:
    changed = with_promoted(with_promoted(TASK, ("0a1b",)), ("true", "0a1b"))
    assert task_of(changed, "x.md").promoted == ("0a1b", "true")


# Notes by rule: what the sections label, and nothing else.

ON = date(2031, 3, 9)


def drawn(text: str = "", **sections: str) -> Notes:
    named = {"implementation": text} | sections
    parts = (TaskSection(name=name, text=one) for name, one in named.items() if one)
    return task_notes(TaskFile(id="t", sections=tuple(parts)), ON)


def test_labels_in_lines_make_one_problem() -> None:
    (problem,) = drawn(
        "**Problem**: Queries time out under load\n"
        "- **Symptoms:**\n  - 30 s on /users\n  - sequential scans\n"
        "- **Root cause**: no index on `users.organization_id`\n"
        "- **Impact**: nobody saw it\n"
        "- **Fix:** added (organization_id, created_at)\n"
        "- Prevention: run EXPLAIN on new queries\n"
    ).problems
    assert problem == Problem(
        what="Queries time out under load",
        symptoms=("30 s on /users", "sequential scans"),
        root_cause="no index on `users.organization_id`",
        solution="added (organization_id, created_at)",
        prevention="run EXPLAIN on new queries",
    )


def test_labels_in_mid_sentence_are_read() -> None:
    notes = drawn(
        "We lost an hour to one Problem: totals are wrong. Root cause: rates are yearly; "
        "**Solution:** ask for the day's rate.\n"
        "In the end the Decision: use the rates of the day, Alternatives: yearly, monthly. And a "
        "Gotcha: the feed has no `Reason: x` on Sundays\n"
        "- Gotcha: it is cached, the Reason: speed"
    )
    assert notes.problems == (
        Problem(
            what="totals are wrong.",
            root_cause="rates are yearly",
            solution="ask for the day's rate.",
        ),
    )
    assert notes.decisions == (
        Decision(
            choice="use the rates of the day", alternatives="yearly, monthly.", rationale="speed"
        ),
    )
    assert notes.gotchas == ("the feed has no `Reason: x` on Sundays", "it is cached")


def test_words_that_are_no_labels_stay_in_their_sentence() -> None:
    notes = drawn("Problem: the issue: totals, the Prefix: `Fix: x`\nRoot cause: why: rates")
    assert notes.problems == (
        Problem(what="the issue: totals, the Prefix: `Fix: x`", root_cause="why: rates"),
    )


def test_headings_name_what_stands_below_them() -> None:
    notes = drawn(
        "## Problem\nThe import hangs.\n\n## Root Cause\nA lock that is never freed\n"
        "## Solution\n1. Free it\n2. Time it out\n\n## Decisions\n- Used Redis instead of "
        "PostgreSQL because lookups take 1 ms\n- Keep the old table\n\n## Gotchas\n\n"
        "- The edge has no `fs`\n- None\n"
    )
    (hang,) = notes.problems
    assert (hang.what, hang.solution) == ("The import hangs.", "Free it; Time it out")
    assert hang.root_cause == "A lock that is never freed"
    assert notes.decisions == (
        Decision(choice="Used Redis instead of PostgreSQL because lookups take 1 ms"),
        Decision(choice="Keep the old table"),
    )
    assert notes.gotchas == ("The edge has no `fs`",)


def test_elements_are_labels_too() -> None:
    notes = drawn(
        "<issue>Tests failed due to a missing helper.</issue><resolution>Added it.</resolution>\n"
        "<handoff>\n<known-limitations>No retries</known-limitations>\n</handoff>",
        ship="<reflection><key-learning>Rates are yearly</key-learning></reflection>\n"
        "<issues-encountered>None</issues-encountered>",
    )
    assert notes.problems == (
        Problem(what="Tests failed due to a missing helper.", solution="Added it."),
    )
    assert notes.gotchas == ("No retries", "Rates are yearly")


def test_a_fix_in_another_section_belongs_to_the_last_problem() -> None:
    research = "Problem: totals are wrong\nRoot cause: rates are yearly"
    (problem,) = drawn(research, ship="## Fix\nAsk for the day's rate").problems
    assert problem.solution == "Ask for the day's rate"


@pytest.mark.parametrize("text", TABLES["without_labels"])
def test_where_nothing_is_told_nothing_is_noted(text: str) -> None:
    assert drawn(text).empty
    assert drawn(plan=text).empty


_PIECES = ("Problem:", "**Fix**:", "# Decisions", "<issue>", "</issue>", "<gotcha>", "- ", "```",
           "\n", "\n\n", "because", "<winner id=", '"', "\x01", "a", ". ")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=8), max_size=40))
def test_whatever_the_text_the_notes_are_data_that_is_read_back(pieces: list[str]) -> None:
    notes = drawn(" ".join(pieces))
    assert notes.empty or notes_in(rendered(notes)) == (notes,)
