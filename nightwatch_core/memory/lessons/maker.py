"""What is kept of an analysis: one lesson a case, with its history of nights and proposals."""

from collections.abc import Mapping
from typing import Literal

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory import limits
from nightwatch_core.memory.lessons.citations import cited
from nightwatch_core.memory.lessons.no_cause import watched_for, without_claims
from nightwatch_core.memory.outcomes.tracker_outcomes import (
    REOPENED,
    SHUT,
    apply_outcomes,
    mark_answered,
)
from nightwatch_core.memory.recall.search_document import traces_of
from nightwatch_core.memory.recall.seed_score import seed_tags
from nightwatch_core.memory.sightings import (
    add_night,
    add_sighting,
    aliases_of,
    count_match,
    later,
    names_kept,
    night_date,
    sighting,
)
from nightwatch_core.memory.unsettled import counted, fix_owed, why_weak
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Confidence, Learning
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import TURNED_DOWN, OutcomeEvent, OutcomeUpdate, PublishedItem
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.text.escaping import line

_PUBLISHED = ("done", "already there")
_PROPOSED: Mapping[str, Literal["issue", "pull"]] = {"issue": "issue", "pull": "pull"}
_KEPT = (  # of the earlier lesson, whatever a fresh analysis says
    "file", "issue_number", "pr_number", "proposed", "watch", "matched", "last_matched",
    "notes", "promoted", "related_patterns", "pattern_notes",
)  # fmt: skip


def lesson_from(
    analysis: Analysis,
    night: Night,
    digests: Mapping[str, str],
    receipts: tuple[Receipt, ...] = (),
    earlier: Lesson | None = None,
    traffic: int | None = None,
) -> Lesson:
    """Make the lesson of one analysis, with the history of the `earlier` lesson on the same case.

    `digests` maps a path to the digest of its whole file at the analysed commit; `traffic` is the
    application's in the night's window. An earlier lesson keeps its fingerprint, file and first
    date; a reused analysis adds only the night and numbers. One without a cause leaves no claim.
    """
    if analysis.ending.kind == "reused" and earlier is not None:
        seen = add_sighting(earlier, analysis.case, night, "known", traffic)
        seen = counted(seen, analysis.unsettled_nights, earlier, night_date(night))
        return add_publications(count_match(seen, night), analysis, night, receipts)
    lesson = _fresh(analysis, night, digests, traffic)
    if earlier is not None and _proves_less(analysis, lesson, earlier):
        seen = add_sighting(earlier, analysis.case, night, "wrapped up", traffic)
        return add_publications(seen, analysis, night, receipts)
    lesson = counted(lesson, analysis.unsettled_nights, earlier, night_date(night))
    lesson = lesson.model_copy(update=traces_of(analysis.case))
    if earlier is not None:
        lesson = lesson.model_copy(update=_history(earlier, lesson, analysis, night))
    return add_publications(lesson, analysis, night, receipts)


def _proves_less(analysis: Analysis, fresh: Lesson, earlier: Lesson) -> bool:
    """Whether an analysis that was cut short found less than is known."""
    is_cut = analysis.ending.kind == "wrapped up" and not analysis.fix_alone
    return is_cut and bool(why_weak(fresh)) and not why_weak(earlier)


def _history(earlier: Lesson, fresh: Lesson, analysis: Analysis, night: Night) -> dict[str, object]:
    same_fix = fix_digest(analysis.fix) == fix_digest(earlier.edits)
    stays_rejected = analysis.fix_alone and not analysis.has_fix and earlier.outcome in TURNED_DOWN
    return {
        **(_edits_of(earlier) if stays_rejected else {}),
        **names_kept(earlier, analysis.case),
        **{name: getattr(earlier, name) for name in _KEPT},
        "first_detected": min(earlier.first_detected, fresh.first_detected),
        "fates": mark_answered(earlier).fates,
        "outcome": earlier.outcome if same_fix or stays_rejected else "",
        "nights": add_night(earlier.nights, fresh.nights[0]),
        "seen_until": later(earlier.seen_until, night.window.until),
        "related": tuple(dict.fromkeys((*earlier.related, *fresh.related)))[-limits.MOST_TAGS :],
    }


def _edits_of(lesson: Lesson) -> dict[str, object]:
    return {"edits": lesson.edits, "edits_read": lesson.edits_read}


def _fresh(
    analysis: Analysis, night: Night, digests: Mapping[str, str], traffic: int | None
) -> Lesson:
    case, leader = analysis.case, analysis.case.leader
    confidence, files = stated_confidence(analysis), watched_for(analysis, digests)
    analysis = without_claims(analysis)
    return Lesson(
        fingerprint=case.fingerprint,
        aliases=aliases_of(case.aliases, case.fingerprint),
        error_class=leader.error_class,
        transaction=leader.transaction,
        module=_module(analysis),
        message=line(leader.message, limits.LONGEST_MESSAGE),
        occurrences=case.occurrences,
        title=line(analysis.title or case.title, limits.LONGEST_TITLE),
        root_cause=analysis.root_cause,
        fix_confidence=confidence,
        has_fix=analysis.has_fix,
        tags=_tags(analysis),
        first_detected=night_date(night),
        run_id=night.id,
        iterations_used=analysis.iterations,
        tokens_used=analysis.usage.new_tokens,
        cost_used=analysis.usage.cost,
        told=analysis.recalled,
        model=analysis.model,
        commit=analysis.commit,
        nights=(sighting(case, night, "new", confidence, traffic),),
        seen_until=night.window.until,
        analysed_at=night.window.until,
        evidence=cited(analysis, digests),
        edits=analysis.fix,
        edits_read=_edits_read(analysis),
        refused_edits=analysis.refused[: limits.MOST_EDITS_SHOWN],
        question=line(analysis.question, limits.LONGEST_WORDS),
        sure_of_fix=analysis.fix_confidence,
        fix_owed=fix_owed(analysis.has_fix, analysis.refused),
        watched=files,
        next_steps=analysis.next_steps,
        learnings=tuple(map(_learning_text, analysis.learnings)),
        related=analysis.related_to[: limits.MOST_TAGS],
    )


def _edits_read(analysis: Analysis) -> tuple[str, ...]:
    """Files of the fix that the analyst had read."""
    read = {*analysis.read, *(one.path for one in analysis.evidence if one.verified)}
    return tuple(dict.fromkeys(edit.path for edit in analysis.fix if edit.path in read))


def _module(analysis: Analysis) -> str:
    trace = analysis.case.trace
    top = trace.top.repo_path if trace and trace.top else ""
    return next((one.path for one in analysis.evidence if one.path), "") or top


def _tags(analysis: Analysis) -> tuple[str, ...]:
    leader = analysis.case.leader
    own = (line(tag, 40).lower().replace(" ", "-") for tag in analysis.tags)
    seeds = (line(tag, 60) for tag in seed_tags(leader.error_class, leader.transaction))
    return tuple(dict.fromkeys(tag for tag in (*seeds, *own) if tag))[: limits.MOST_TAGS]


def _learning_text(learning: Learning) -> str:
    place = f"{learning.path}:{learning.line}" if learning.line else learning.path
    return f"{learning.fact} ({place})" if place else learning.fact


def add_publications(
    lesson: Lesson, analysis: Analysis, night: Night, receipts: tuple[Receipt, ...]
) -> Lesson:
    """Add what was published for a lesson; a new pull request starts without an outcome."""
    own = [
        one
        for one in receipts
        if not lesson.names.isdisjoint(one.names) and one.status in _PUBLISHED and one.number
    ]
    kinds = [(_item_of(one), one.number) for one in own]
    issue = next((number for kind, number in kinds if kind == "issue"), lesson.issue_number)
    pull = next((number for kind, number in kinds if kind == "pull"), lesson.pr_number)
    update = {
        "issue_number": issue,
        "pr_number": pull,
        "outcome": lesson.outcome if pull == lesson.pr_number else "",
        "proposed": _proposals(lesson, analysis, night, own),
    }
    return _note_reopening(lesson.model_copy(update=update), night, own)


def _item_of(receipt: Receipt) -> Literal["issue", "pull"]:
    """What was made, commented on or reopened."""
    return "pull" if receipt.kind == "pull" else receipt.on


def _note_reopening(lesson: Lesson, night: Night, own: list[Receipt]) -> Lesson:
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
    news = OutcomeUpdate(fingerprint=lesson.fingerprint, fates=fates)
    return apply_outcomes(lesson, news).model_copy(update={"outcome": outcome})


def _proposals(
    lesson: Lesson, analysis: Analysis, night: Night, own: list[Receipt]
) -> tuple[PublishedItem, ...]:
    """What was published so far, with tonight's issue and pull request, each once."""
    earlier = {(one.kind, one.number) for one in lesson.proposed}
    new = tuple(
        PublishedItem(
            kind=kind,
            number=one.number,
            on=night_date(night),
            night=night.id,
            confidence=stated_confidence(analysis),
            fix=one.fix if one.also else fix_digest(analysis.fix),
            told=lesson.told,
            iterations=lesson.iterations_used,
            tokens=lesson.tokens_used,
            cost=lesson.cost_used,
            model=lesson.model,
            has_cause=analysis.has_cause,
        )
        for one in own
        if (kind := _PROPOSED.get(one.kind) or (_item_of(one) if one.also else None))
        and one.number
        and (kind, one.number) not in earlier
    )
    return (*lesson.proposed, *new)[-limits.MOST_PROPOSED :]


def stated_confidence(analysis: Analysis) -> Confidence:
    """The analyst's own confidence: what experience makes of it is reckoned anew every night."""
    return analysis.said or analysis.confidence
