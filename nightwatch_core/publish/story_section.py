"""A fix that was made in several steps: what drafts, issues and reports say of it."""

from collections.abc import Iterator

from nightwatch_core.code import edits as fixing
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import Step, Story
from nightwatch_core.publish.issue_sections import bulleted
from nightwatch_core.publish.told import Told
from nightwatch_core.text.escaping import code_span, fenced, markdown

_TEXT, _DIFF = 600, 6_000  # characters
_HEADS = {
    "whole": "Made in steps, a commit each",
    "part": "Made in steps, and not to the end: this is a part of the fix",
    "not made": "Tried in steps",
}


def in_steps(told: Told) -> str:
    """The steps with what came of each, and what is missing; empty where it was one piece."""
    gate = told.analysis.gate
    if gate is None or gate.story is None:
        return ""
    story = gate.story
    listed = bulleted(_HEADS[story.outcome], (*_lines(story), *map(_line, story.steps)))
    made = next((one.edits for one in reversed(story.steps) if one.edits), ())
    if story.outcome != "not made" or not made:
        return listed
    body = fenced(fixing.diff(made), "diff", _DIFF)
    summary = "What its passed steps would change, which does not stand alone"
    return f"{listed}\n\n<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _lines(story: Story) -> Iterator[str]:
    if story.why:
        yield f"in steps because {markdown(story.why, _TEXT)}"
    if story.plan:
        yield f"before it began: {markdown(story.plan, _TEXT)}"
    if story.because and not story.steps:
        yield f"not begun: {markdown(story.because, _TEXT)}"


def _line(step: Step) -> str:
    title = markdown(step.title, _TEXT)
    told = {
        "passed": f"passed: {title}; accepted by ",
        "failed": f"did not pass: {title} ({markdown(step.because, _TEXT)}); to be accepted by ",
        "not tried": f"not made: {title}; to be accepted by ",
    }
    alone = step.outcome == "passed" and step.because
    more = f"; {markdown(step.because, _TEXT)}" if alone else ""
    return told[step.outcome] + code_span(step.accepted_when) + more


def is_part(analysis: Analysis) -> bool:
    """Whether only some steps of the fix are proposed."""
    gate = analysis.gate
    return gate is not None and gate.story is not None and gate.story.outcome == "part"
