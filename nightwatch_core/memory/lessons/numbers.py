"""What we published about a lesson's case: the numbers, and what was said with them."""

from collections.abc import Mapping
from typing import Literal

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory.lessons.nights import night_date
from nightwatch_core.memory.outcomes.tracker_outcomes import REOPENED, SHUT, remember
from nightwatch_core.models.analysis import Analysis, Confidence
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import OutcomeEvent, OutcomeUpdate, PublishedItem
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night

MOST_PROPOSED = 40
ISSUE_KINDS, PULL_KINDS = ("issue", "comment", "reopen"), ("pull",)
_PUBLISHED = ("done", "already there")
_PROPOSED: Mapping[str, Literal["issue", "pull"]] = {"issue": "issue", "pull": "pull"}


def numbered(
    lesson: Lesson, analysis: Analysis, night: Night, receipts: tuple[Receipt, ...]
) -> Lesson:
    """The lesson with what was published for it; a new pull request starts anew."""
    own = [
        one
        for one in receipts
        if one.fingerprint in lesson.names and one.status in _PUBLISHED and one.number
    ]
    issue = next((one.number for one in own if one.kind in ISSUE_KINDS), lesson.issue_number)
    pull = next((one.number for one in own if one.kind in PULL_KINDS), lesson.pr_number)
    update = {
        "issue_number": issue,
        "pr_number": pull,
        "outcome": lesson.outcome if pull == lesson.pr_number else "",
        "proposed": _proposed(lesson, analysis, night, own),
    }
    return _opened_again(lesson.model_copy(update=update), night, own)


def _opened_again(lesson: Lesson, night: Night, own: list[Receipt]) -> Lesson:
    """An issue that we opened again tonight: noted at once, so that it is no person's doing."""
    fates = tuple(
        OutcomeEvent(
            kind="reopened",
            number=one.number,
            on=night_date(night),
            night=night.id,
            because=REOPENED,
            answered=True,
        )
        for one in own
        if one.kind == "reopen"
    )
    if not fates:
        return lesson
    outcome = "reopened" if lesson.outcome in SHUT else lesson.outcome
    told = OutcomeUpdate(fingerprint=lesson.fingerprint, fates=fates)
    return remember(lesson, told).model_copy(update={"outcome": outcome})


def _proposed(
    lesson: Lesson, analysis: Analysis, night: Night, own: list[Receipt]
) -> tuple[PublishedItem, ...]:
    """What was published so far, with tonight's issue and pull request, each once."""
    known = {(one.kind, one.number) for one in lesson.proposed}
    new: list[PublishedItem] = []
    for one in own:
        kind = _PROPOSED.get(one.kind)
        if kind and one.number and (kind, one.number) not in known:
            new.append(_as_proposed(kind, one.number, lesson, analysis, night))
    return (*lesson.proposed, *new)[-MOST_PROPOSED:]


def _as_proposed(
    kind: Literal["issue", "pull"], number: int, lesson: Lesson, analysis: Analysis, night: Night
) -> PublishedItem:
    return PublishedItem(
        kind=kind,
        number=number,
        on=night_date(night),
        night=night.id,
        confidence=said(analysis),
        fix=fix_digest(analysis.fix),
        told=lesson.told,
        iterations=lesson.iterations_used,
        tokens=lesson.tokens_used,
        cost=lesson.cost_used,
        model=lesson.model,
    )


def said(analysis: Analysis) -> Confidence:
    """What the analyst said: what we make of it by experience is reckoned anew every night."""
    return analysis.said or analysis.confidence
