"""The commits of a draft whose fix was made in several steps."""

from collections.abc import Callable
from itertools import pairwise

from nightwatch_core.code import edit_policy
from nightwatch_core.code import edits as fixing
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.proposals import DraftCommit, FileChange
from nightwatch_core.publish.issue_text import step_message

_TEST = "Add the test that reproduces the error"
Read = Callable[[str], str | None]
Texts = dict[str, str | None]  # by path, of files that are not as the base has them


def draft_commits(
    analysis: Analysis, applied: fixing.Applied, read: Read, message: str
) -> tuple[DraftCommit, ...]:
    """One commit for each step that passed, and one for what is there besides them: the test.

    Together they are exactly what `applied` changes. None where one commit, with `message`, is all
    there is, or where a step by itself would not be allowed.
    """
    story = analysis.gate.story if analysis.gate else None
    if story is None or story.outcome == "not made":
        return ()
    passed = [step for step in story.steps if step.outcome == "passed"]
    trees: list[Texts] = [{}]
    for step in passed:
        made = fixing.apply(step.edits, read)
        if made.refusal or edit_policy.refused(made.changes, read):
            return ()
        trees.append(_texts(made))
    trees.append(_texts(applied))
    named = zip((*(step.title for step in passed), _TEST), pairwise(trees), strict=True)
    steps = [(title, _changes(before, after, read)) for title, (before, after) in named]
    steps = [(title, changes) for title, changes in steps if changes]
    if len(steps) < 2:
        return ()
    return tuple(
        DraftCommit(message=step_message(title, number, len(steps), message), changes=changes)
        for number, (title, changes) in enumerate(steps, 1)
    )


def _texts(applied: fixing.Applied) -> Texts:
    return {change.path: change.text for change in applied.changes}


def _changes(before: Texts, after: Texts, read: Read) -> tuple[FileChange, ...]:
    paths = dict.fromkeys((*before, *after))
    new = {path: after[path] if path in after else read(path) for path in paths}
    old = {path: before[path] if path in before else read(path) for path in paths}
    return tuple(FileChange(path=path, text=new[path]) for path in paths if old[path] != new[path])
