"""Notes drawn by rule from a task's sections: what is labelled there, and nothing else."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.learnings.task_notes import task_notes
from nightwatch_core.memory.note_reader import notes_in, rendered
from nightwatch_core.models.knowledge import Decision, Notes, Problem, TaskFile, TaskSection

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


def test_the_fix_of_another_section_belongs_to_the_only_open_problem() -> None:
    research = "Problem: totals are wrong\nRoot cause: rates are yearly"
    (problem,) = drawn(research, ship="## Fix\nAsk for the day's rate").problems
    assert problem.solution == "Ask for the day's rate"
    two = drawn(f"{research}\n\nProblem: slow\nRoot cause: no index", ship="Fix: both")
    assert [one.solution for one in two.problems] == ["", ""]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Add an endpoint for users. It should be fast.",
        "## Problem\nUsers cannot search.\n\n## Approach\nAn index.",
        "Gotchas: none\nDecision: TBD\nIssues: n/a",
        "<!-- Decision: [what was chosen] -->\n<gotcha>[Surprise]</gotcha>",
        '## Options\n<solution id="A" name="Index">\nadd it\n</solution>',
        "```yaml\nDecision: x\n```",
        "Fix: typo",
    ],
)
def test_where_nothing_is_told_nothing_is_noted(text: str) -> None:
    assert drawn(text).empty
    assert drawn(plan=text).empty


_PIECES = ("Problem:", "**Fix**:", "# Decisions", "<issue>", "</issue>", "<gotcha>", "- ", "```",
           "\n", "\n\n", "because", "<winner id=", '"', "\x01", "a", ". ")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=8), max_size=40))
def test_whatever_the_text_the_notes_are_data_that_is_read_back(pieces: list[str]) -> None:
    notes = drawn(" ".join(pieces))
    assert notes.empty or notes_in(rendered(notes)) == (notes,)


def test_long_and_hostile_sections_are_quickly_read() -> None:
    parts = ("Problem: x ", "<issue ", "**a", "- **Root cause**: y\n", '<solution id="A" name="B">')
    for part in parts:
        drawn(part * (60_000 // len(part)))
