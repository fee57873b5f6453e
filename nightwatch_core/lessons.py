"""What is kept of an analysis: one lesson a case, with its history of nights."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from nightwatch_core.escaping import line
from nightwatch_core.matching import seed_tags
from nightwatch_core.models.analysis import Analysis, Edit, Learning
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Cited, Lesson, NightSeen
from nightwatch_core.models.proposal import Receipt
from nightwatch_core.models.report import Night
from nightwatch_core.retrieval.footprint import remembered

MOST_NIGHTS, MOST_ALIASES, MOST_TAGS = 60, 100, 20
ISSUE_KINDS, PULL_KINDS = ("issue", "comment", "reopen"), ("pull",)
_PUBLISHED = ("done", "already there")
_LONGEST_MESSAGE, _LONGEST_QUOTE, _LONGEST_SLUG = 200, 2_000, 60


def lesson_from(
    analysis: Analysis,
    night: Night,
    digests: Mapping[str, str],
    receipts: tuple[Receipt, ...] = (),
    earlier: Lesson | None = None,
) -> Lesson:
    """The lesson of one analysis, with the history of the `earlier` lesson on the same case.

    `digests` maps a path to the digest of its whole file at the analysed commit. An earlier lesson
    keeps its fingerprint, file and first date; a reused analysis adds only the night and numbers.
    """
    if analysis.ending.kind == "reused" and earlier is not None:
        return _numbered(seen_again(earlier, analysis.case, night), receipts)
    fresh = _fresh(analysis, night, digests).model_copy(update=remembered(analysis.case))
    if earlier is None:
        return _numbered(fresh, receipts)
    same_fix = _changes(analysis.fix) == _changes(earlier.edits)
    merged = fresh.model_copy(
        update={
            **_kept_names(earlier, analysis.case),
            "first_detected": min(earlier.first_detected, fresh.first_detected),
            "file": earlier.file,
            "issue_number": earlier.issue_number,
            "pr_number": earlier.pr_number,
            "outcome": earlier.outcome if same_fix else "",
            "nights": _with_night(earlier.nights, fresh.nights[0]),
            "seen_until": _later(earlier.seen_until, night.window.until),
            "related": tuple(dict.fromkeys((*earlier.related, *fresh.related)))[-MOST_TAGS:],
        }
    )
    return _numbered(merged, receipts)


def seen_again(lesson: Lesson, case: Case, night: Night) -> Lesson:
    """The lesson after one more night on which its error was known and it was used again."""
    seen = NightSeen(
        date=night_date(night),
        night=night.id,
        occurrences=case.occurrences,
        verdict="known",
        confidence=lesson.fix_confidence,
    )
    return lesson.model_copy(
        update={
            **_kept_names(lesson, case),
            "occurrences": case.occurrences,
            "nights": _with_night(lesson.nights, seen),
            "seen_until": _later(lesson.seen_until, night.window.until),
        }
    )


def night_date(night: Night) -> date:
    """The date a night is called by: the one its id starts with, else its window's end.

    >>> from datetime import UTC, datetime
    >>> from nightwatch_core.models.error import Window
    >>> end = datetime(2030, 5, 2, 4, tzinfo=UTC)
    >>> night_date(Night(id="2030-05-01-ab12", window=Window(since=end, until=end), now=end))
    datetime.date(2030, 5, 1)
    """
    try:
        return date.fromisoformat(night.id[:10])
    except ValueError:
        return night.window.until.date()


def file_name(lesson: Lesson) -> str:
    """Where a lesson's document belongs, below the knowledge folder.

    >>> file_name(Lesson(fingerprint="v1:1a2b3c4d5e", error_class="KeyError", root_cause="",
    ...                  transaction="Orders#show", first_detected=date(2030, 5, 1)))
    'errors/2030-05-01_keyerror-orders-show_1a2b3c4d.md'
    """
    name = lesson.fingerprint.rpartition(":")[2].lower()
    short = re.sub(r"[^0-9a-z]", "", name)[:8] or "0"
    about = slug(f"{lesson.error_class}-{lesson.transaction}") or "error"
    return f"errors/{lesson.first_detected.isoformat()}_{about}_{short}.md"


def slug(text: str) -> str:
    """Letters and digits with hyphens between, at most 60.

    >>> slug("ActiveRecord::RecordNotFound-orders/update")
    'activerecord-recordnotfound-orders-update'
    """
    return re.sub(r"[^a-z0-9]+", "-", text[:1_000].lower()).strip("-")[:_LONGEST_SLUG].strip("-")


def _fresh(analysis: Analysis, night: Night, digests: Mapping[str, str]) -> Lesson:
    case, leader = analysis.case, analysis.case.leader
    day = night_date(night)
    seen = NightSeen(
        date=day,
        night=night.id,
        occurrences=case.occurrences,
        verdict="new",
        confidence=analysis.confidence,
    )
    return Lesson(
        fingerprint=case.fingerprint,
        aliases=_aliases(case.aliases, case.fingerprint),
        error_class=leader.error_class,
        transaction=leader.transaction,
        module=_module(analysis),
        message=line(leader.message, _LONGEST_MESSAGE),
        occurrences=case.occurrences,
        title=line(analysis.title or case.title, 120),
        root_cause=analysis.root_cause,
        fix_confidence=analysis.confidence,
        has_fix=analysis.has_fix,
        tags=_tags(analysis),
        first_detected=day,
        run_id=night.id,
        iterations_used=analysis.iterations,
        tokens_used=analysis.usage.new_tokens,
        commit=analysis.commit,
        nights=(seen,),
        seen_until=night.window.until,
        evidence=_cited(analysis, digests),
        edits=analysis.fix,
        next_steps=analysis.next_steps,
        learnings=tuple(_learned(learning) for learning in analysis.learnings),
        related=analysis.related_to[:MOST_TAGS],
    )


def _cited(analysis: Analysis, digests: Mapping[str, str]) -> tuple[Cited, ...]:
    """Only lines that were found in the code: a lesson must not rest on a claim."""
    return tuple(
        Cited(
            path=one.path,
            line=one.line,
            quote=one.quote[:_LONGEST_QUOTE],
            digest=digests.get(one.path, ""),
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


def _aliases(names: Iterable[str], own: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name and name != own))[-MOST_ALIASES:]


def _kept_names(lesson: Lesson, case: Case) -> dict[str, object]:
    names = (*lesson.aliases, case.fingerprint, *case.aliases)
    return {"fingerprint": lesson.fingerprint, "aliases": _aliases(names, lesson.fingerprint)}


def _with_night(nights: tuple[NightSeen, ...], new: NightSeen) -> tuple[NightSeen, ...]:
    """One entry a night, newest last; a night told again keeps its first verdict."""
    told = next((seen for seen in nights if seen.night == new.night), None)
    verdict = told.verdict if told else "known" if new.verdict == "known" else "changed"
    others = (seen for seen in nights if seen.night != new.night)
    entry = new.model_copy(update={"verdict": verdict})
    return tuple(sorted((*others, entry), key=lambda seen: (seen.date, seen.night)))[-MOST_NIGHTS:]


def _later(known: datetime | None, other: datetime) -> datetime:
    """The later moment; people edit documents, so that one may name no time zone and is dropped."""
    return max(known, other) if known and known.tzinfo else other


def _numbered(lesson: Lesson, receipts: tuple[Receipt, ...]) -> Lesson:
    """The lesson with the numbers of what was published for it; a new pull request starts anew."""
    issue = _number(lesson, receipts, ISSUE_KINDS) or lesson.issue_number
    pull = _number(lesson, receipts, PULL_KINDS) or lesson.pr_number
    outcome = lesson.outcome if pull == lesson.pr_number else ""
    return lesson.model_copy(update={"issue_number": issue, "pr_number": pull, "outcome": outcome})


def _number(lesson: Lesson, receipts: tuple[Receipt, ...], kinds: tuple[str, ...]) -> int | None:
    numbers = (
        receipt.number
        for receipt in receipts
        if receipt.kind in kinds
        and receipt.fingerprint in lesson.names
        and receipt.status in _PUBLISHED
    )
    return next((number for number in numbers if number), None)


def _changes(edits: tuple[Edit, ...]) -> list[tuple[str, ...]]:
    """What a fix does to the code, whatever its edits are called."""
    return [(edit.path, edit.action, edit.old, edit.new) for edit in edits]
