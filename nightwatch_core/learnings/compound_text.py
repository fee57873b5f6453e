"""What `nightwatch compound` says on its way, in the words of its seed."""

from collections.abc import Sequence

from nightwatch_core.learnings.compound import Drawn
from nightwatch_core.memory.notes.note_layout import rendered
from nightwatch_core.models.learning import FoundLearning, Notes
from nightwatch_core.text.escaping import line
from nightwatch_core.text.transcript_text import used

QUESTION = "Continue documenting? (These will be linked as related)"


def related_text(found: Sequence[FoundLearning]) -> str:
    """Similar learnings that are there already; empty where there are none.

    >>> print(related_text([FoundLearning(task_id="task-1", title="T", relevance=0.5,
    ...                                   summary="Problem: Missing index\\nSolution: Add it")]))
    Found potentially related learnings:
    <BLANKLINE>
    1. task-1: "Missing index"
    """
    if not found:
        return ""
    rows = (f'{n}. {line(one.task_id, 80)}: "{_short(one)}"' for n, one in enumerate(found, 1))
    return "\n".join(("Found potentially related learnings:", "", *rows))


def drawn_text(drawn: Drawn) -> str:
    """The section that would be written, how it came about, and what that took."""
    took = f" It took {used(drawn.usage)}." if drawn.usage.calls else ""
    return f"{drawn.said}{took}\n\n{rendered(drawn.notes)}"


def captured_text(file: str, notes: Notes, options: str = "") -> str:
    """What was written, and how to promote it; `options` are those of the promotion.

    >>> print(captured_text("errors/a.md", Notes(gotchas=("No fs on the edge",))))
    Learnings captured in errors/a.md.
    <BLANKLINE>
    Promote any to CLAUDE.md? (These become "always loaded" context)
    - [Gotcha] No fs on the edge
    Run `nightwatch promote` to choose.
    """
    rows = (
        *(f"- [Problem] {line(problem.what, 120)}" for problem in notes.problems),
        *(f"- [Gotcha] {line(gotcha, 120)}" for gotcha in notes.gotchas),
        *(f"- [Decision] {line(decision.choice, 120)}" for decision in notes.decisions),
    )
    asked = 'Promote any to CLAUDE.md? (These become "always loaded" context)'
    how = f"Run `nightwatch promote{options}` to choose."
    return "\n".join((f"Learnings captured in {file}.", "", asked, *rows, how))


def _short(one: FoundLearning) -> str:
    first = one.summary.split("\n")[0]
    return line(first.partition(": ")[2] or one.title, 120).replace('"', "'")
