"""What is kept of an analysis: one lesson a case, with its history of nights."""

import re
from collections.abc import Mapping

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory.lessons.names import short_name
from nightwatch_core.memory.lessons.nights import (
    aliases,
    kept_names,
    later,
    matched,
    night_date,
    seen_again,
    sighting,
    with_night,
)
from nightwatch_core.memory.lessons.numbers import numbered, said
from nightwatch_core.memory.outcomes.tracker_outcomes import answered
from nightwatch_core.memory.recall.search_document import remembered
from nightwatch_core.memory.seed_score import seed_tags
from nightwatch_core.models.analysis import Analysis, Learning
from nightwatch_core.models.knowledge import CitedLine, Lesson
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.text.escaping import line

MOST_TAGS = 20
_LONGEST_MESSAGE, _LONGEST_QUOTE, _LONGEST_SLUG = 200, 2_000, 60


def lesson_from(
    analysis: Analysis,
    night: Night,
    digests: Mapping[str, str],
    receipts: tuple[Receipt, ...] = (),
    earlier: Lesson | None = None,
    traffic: int | None = None,
) -> Lesson:
    """The lesson of one analysis, with the history of the `earlier` lesson on the same case.

    `digests` maps a path to the digest of its whole file at the analysed commit; `traffic` is the
    application's in the night's window. An earlier lesson keeps its fingerprint, file and first
    date; a reused analysis adds only the night and numbers.
    """
    if analysis.ending.kind == "reused" and earlier is not None:
        known = matched(seen_again(earlier, analysis.case, night, "known", traffic), night)
        return numbered(known, analysis, night, receipts)
    fresh = _fresh(analysis, night, digests, traffic)
    fresh = fresh.model_copy(update=remembered(analysis.case))
    if earlier is None:
        return numbered(fresh, analysis, night, receipts)
    same_fix = fix_digest(analysis.fix) == fix_digest(earlier.edits)
    merged = fresh.model_copy(
        update={
            **kept_names(earlier, analysis.case),
            **{name: getattr(earlier, name) for name in _KEPT},
            "first_detected": min(earlier.first_detected, fresh.first_detected),
            "fates": answered(earlier).fates,
            "outcome": earlier.outcome if same_fix else "",
            "nights": with_night(earlier.nights, fresh.nights[0]),
            "seen_until": later(earlier.seen_until, night.window.until),
            "related": tuple(dict.fromkeys((*earlier.related, *fresh.related)))[-MOST_TAGS:],
        }
    )
    return numbered(merged, analysis, night, receipts)


_KEPT = (  # of the earlier lesson, whatever a fresh analysis says
    "file", "issue_number", "pr_number", "proposed", "watch", "matched", "last_matched",
    "notes", "promoted",
)  # fmt: skip


def file_name(lesson: Lesson) -> str:
    """Where a lesson's document belongs, below the knowledge folder.

    >>> from datetime import date
    >>> file_name(Lesson(fingerprint="v1:1a2b3c4d5e", error_class="KeyError", root_cause="",
    ...                  transaction="Orders#show", first_detected=date(2030, 5, 1)))
    'errors/2030-05-01_keyerror-orders-show_1a2b3c4d.md'
    """
    about = slug(f"{lesson.error_class}-{lesson.transaction}") or "error"
    day, short = lesson.first_detected.isoformat(), short_name(lesson.fingerprint)
    return f"errors/{day}_{about}_{short}.md"


def slug(text: str) -> str:
    """Letters and digits with hyphens between, at most 60.

    >>> slug("ActiveRecord::RecordNotFound-orders/update")
    'activerecord-recordnotfound-orders-update'
    """
    return re.sub(r"[^a-z0-9]+", "-", text[:1_000].lower()).strip("-")[:_LONGEST_SLUG].strip("-")


def _fresh(
    analysis: Analysis, night: Night, digests: Mapping[str, str], traffic: int | None
) -> Lesson:
    case, leader = analysis.case, analysis.case.leader
    day, confidence = night_date(night), said(analysis)
    return Lesson(
        fingerprint=case.fingerprint,
        aliases=aliases(case.aliases, case.fingerprint),
        error_class=leader.error_class,
        transaction=leader.transaction,
        module=_module(analysis),
        message=line(leader.message, _LONGEST_MESSAGE),
        occurrences=case.occurrences,
        title=line(analysis.title or case.title, 120),
        root_cause=analysis.root_cause,
        fix_confidence=confidence,
        has_fix=analysis.has_fix,
        tags=_tags(analysis),
        first_detected=day,
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
        evidence=_cited(analysis, digests),
        edits=analysis.fix,
        next_steps=analysis.next_steps,
        learnings=tuple(_learned(learning) for learning in analysis.learnings),
        related=analysis.related_to[:MOST_TAGS],
    )


def _cited(analysis: Analysis, digests: Mapping[str, str]) -> tuple[CitedLine, ...]:
    """Only lines that were found in the code: a lesson must not rest on a claim."""
    return tuple(
        CitedLine(
            path=one.path,
            line=one.line,
            quote=one.quote[:_LONGEST_QUOTE],
            digest=digests.get(one.path, ""),
            commit=analysis.commit,
        )
        for one in analysis.evidence
        if one.verified
    )


def _module(analysis: Analysis) -> str:
    trace = analysis.case.trace
    top = trace.top.repo_path if trace and trace.top else ""
    return next((one.path for one in analysis.evidence if one.path), "") or top


def _tags(analysis: Analysis) -> tuple[str, ...]:
    leader = analysis.case.leader
    said = (line(tag, 40).lower().replace(" ", "-") for tag in analysis.tags)
    seeds = (line(tag, 60) for tag in seed_tags(leader.error_class, leader.transaction))
    return tuple(dict.fromkeys(tag for tag in (*seeds, *said) if tag))[:MOST_TAGS]


def _learned(learning: Learning) -> str:
    place = f"{learning.path}:{learning.line}" if learning.line else learning.path
    return f"{learning.fact} ({place})" if place else learning.fact
