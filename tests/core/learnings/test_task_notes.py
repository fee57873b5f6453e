"""Notes drawn by rule from a task's sections: what is labelled there, and nothing else."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.learnings.compound import task_notes
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
        "## Problem\nThe import hangs. It is old.\n\n## Root Cause\nA lock that is never freed\n"
        "## Solution\n1. Free it\n2. Time it out\n\n## Decisions\n- Used Redis instead of "
        "PostgreSQL because lookups take 1 ms\n- Keep the old table\n\n## Gotchas\n\n"
        "- The edge has no `fs`\n- None\n\n## 3. A deadlock in the import\n\nRoot cause: two locks"
    )
    hang, lock = notes.problems
    assert (hang.what, hang.solution) == ("The import hangs.", "Free it; Time it out")
    assert hang.root_cause == "A lock that is never freed"
    assert notes.decisions == (
        Decision(
            choice="Used Redis instead of PostgreSQL",
            alternatives="PostgreSQL",
            rationale="lookups take 1 ms",
        ),
        Decision(choice="Keep the old table"),
    )
    assert notes.gotchas == ("The edge has no `fs`",)
    assert lock == Problem(what="A deadlock in the import", root_cause="two locks")


def test_elements_of_task_files_are_read() -> None:
    notes = drawn(
        '<issues-encountered>\n<issue resolved="true"><description>Tests failed due to a missing '
        "helper.</description>\n<resolution>Added it.</resolution></issue>\n"
        '<issue resolved="false">\n<description>CI is slow</description>\n'
        "<resolution>Tried a cache</resolution>\n</issue>\n</issues-encountered>\n"
        "<deviations-from-plan><deviation><planned>One table</planned><actual>Two tables</actual>"
        "<reason>Rows are locked</reason></deviation></deviations-from-plan>\n"
        "<handoff>\n<known-limitations>No retries</known-limitations>\n</handoff>",
        research='<solution id="A" name="Index">\n<pros>fast</pros>\n</solution>\n'
        '<solution id="B" name="Cache"/>\n<winner id="A" reasoning="Nobody invalidates it"/>',
        ship="<reflection><key-learning>Rates are yearly</key-learning></reflection>\n"
        "<issues-encountered>None</issues-encountered>",
    )
    assert notes.problems == (
        Problem(what="Tests failed", root_cause="a missing helper.", solution="Added it."),
        Problem(what="CI is slow", solution="Not resolved: Tried a cache"),
    )
    index, tables = sorted(notes.decisions, key=lambda one: one.choice)
    assert index == Decision(
        choice="Index", alternatives="Cache", rationale="Nobody invalidates it"
    )
    assert tables == Decision(
        choice="Two tables", alternatives="One table", rationale="Rows are locked"
    )
    assert set(notes.gotchas) == {"No retries", "Rates are yearly"}


def test_plain_sentences_are_understood_where_they_leave_no_doubt() -> None:
    notes = drawn(
        "We chose FTS over LIKE because rows are many. The import timed out because orders had no "
        "index. Fixed by adding one. Turns out that SQLite locks the whole file. It might fail "
        "because of rain. Use tabs. It never fails due to us.\n\n```\nGotcha: not this one\n```"
    )
    assert [one.choice for one in notes.decisions] == ["We chose FTS over LIKE"]
    assert notes.problems == (
        Problem(
            what="The import timed out",
            root_cause="orders had no index.",
            solution="Fixed by adding one.",
        ),
    )
    assert notes.gotchas == ("Turns out that SQLite locks the whole file.",)


def test_the_fix_of_another_section_belongs_to_the_only_open_problem() -> None:
    research = "Problem: totals are wrong\nRoot cause: rates are yearly"
    (problem,) = drawn("## Fix\nAsk for the day's rate", research=research).problems
    assert problem.solution == "Ask for the day's rate"
    two = drawn("Fix: both", research=f"{research}\n\nProblem: slow\nRoot cause: no index")
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
