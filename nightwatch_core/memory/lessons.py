"""Lessons: one for each case, with its history of nights and proposals."""

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import chain
from typing import Literal

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory import limits, occurrences
from nightwatch_core.memory.note_reader import add_notes, draw_notes
from nightwatch_core.memory.outcomes import (
    REOPENED,
    SHUT,
    apply_outcomes,
    mark_answered,
    open_trouble,
)
from nightwatch_core.memory.prior_analyses import RULES, lasting
from nightwatch_core.memory.recall import is_same_error, traces_of
from nightwatch_core.memory.recall import names_of_case as names
from nightwatch_core.memory.scoreboard import NOMINAL
from nightwatch_core.models import knowledge
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Confidence
from nightwatch_core.models.code import sign_of
from nightwatch_core.models.errors import Case
from nightwatch_core.models.proposals import Receipt
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.text.escaping import line

# Lists of which several lessons on one error have each entry once.
_UNITED = ("outcomes", "proposed", "notes", "related", "promoted")


def merge_lessons(lessons: tuple[knowledge.Lesson, ...]) -> knowledge.Lesson:
    """Make one lesson of several on one fingerprint; `ValueError` for none.

    The newest analysis stays, with the histories of all. A merge that was interrupted is finished
    by doing it again.
    """
    if not lessons:
        raise ValueError("no lessons to unite")

    def age(lesson: knowledge.Lesson) -> tuple[date, date, str]:
        at = lesson.analysed_at
        analysed = at.date() if at else lesson.first_detected
        return analysed, occurrences.last_seen(lesson), lesson.file

    old_first = sorted(lessons, key=age)
    newest = old_first[-1]
    names = (name for item in old_first for name in (item.fingerprint, *item.aliases))
    nights = {(seen.date, seen.night): seen for item in old_first for seen in item.nights}
    last: dict[str, object] = {
        field: next((value for item in old_first[::-1] if (value := getattr(item, field))), None)
        for field in ("issue_number", "pr_number", "pr_sign", "watch")
    }
    outcomes = (item.outcome for item in old_first[::-1] if item.outcome)
    return newest.model_copy(
        update={
            **{
                field: tuple(dict.fromkeys(chain(*(getattr(item, field) for item in old_first))))
                for field in _UNITED
            },
            **last,
            "aliases": occurrences.aliases_of(names, newest.fingerprint),
            "first_detected": min(item.first_detected for item in lessons),
            "nights": tuple(nights[key] for key in sorted(nights))[-limits.MOST_NIGHTS :],
            "matched": max(item.matched for item in lessons),
            "outcome": newest.outcome if newest.pr_number else next(outcomes, ""),
        }
    )


# What is remembered of an error whose cause is not known: that it was looked at, and no claim.

STEPS = 1  # that whoever waits for its next turn is told


def without_claims(analysis: Analysis) -> Analysis:
    """Return an analysis without a cause as a lesson keeps it; any other as it is.

    The next night has to know that it was looked at, so that it does not pay for it again, and
    what would settle it. Nothing else is kept: nobody learns from what was not proved.
    """
    if analysis.handover is None:
        return analysis
    steps = analysis.handover.look_at or analysis.next_steps
    return analysis.model_copy(
        update={
            "title": analysis.case.title,
            "root_cause": "",
            "evidence": (),
            "fix": (),
            "refused": (),
            "tags": (),
            "learnings": (),
            "related_to": (),
            "question": "",
            "next_steps": steps[:STEPS],
        }
    )


def watched_for(analysis: Analysis, digests: Mapping[str, str]) -> tuple[knowledge.CitedLine, ...]:
    """Cite the files whose change is a reason to look again: also those that were quoted in vain.

    `analysis` is the one with its claims.
    """
    paths = list(occurrences.watched_files(analysis.case))
    if not analysis.has_cause:
        paths += [cited.path for cited in analysis.evidence if cited.verified]
    return tuple(
        knowledge.CitedLine(path=path, line=1, digest=digests[path], commit=analysis.commit)
        for path in dict.fromkeys(paths)
        if path in digests
    )


_PUBLISHED = ("done", "already there")
_KEPT = (  # of the earlier lesson, whatever a fresh analysis says
    "file", "issue_number", "pr_number", "pr_sign", "proposed", "watch", "matched", "last_matched",
    "notes", "promoted", "related_patterns", "pattern_notes",
)  # fmt: skip


def lesson_from(
    analysis: Analysis,
    night: Night,
    digests: Mapping[str, str],
    receipts: tuple[Receipt, ...] = (),
    earlier: knowledge.Lesson | None = None,
    traffic: int | None = None,
    *,
    is_other_code: bool = False,
) -> knowledge.Lesson:
    """Make the lesson of one analysis, with the history of the `earlier` lesson on the same case.

    `digests` maps a path to the digest of its whole file at the analysed commit; `traffic` is the
    application's in the night's window. An earlier lesson keeps its fingerprint, file and first
    date; a reused analysis adds only the night and numbers. One without a cause leaves no claim.
    An earlier lesson that proved more stays, unless it `is_other_code` that it cites.
    """
    if analysis.ending.kind == "reused" and earlier is not None:
        seen = occurrences.add_sighting(earlier, analysis.case, night, "known", traffic)
        seen = occurrences.counted(seen, analysis.unsettled_nights)
        return add_publications(occurrences.count_match(seen, night), analysis, night, receipts)
    lesson = _fresh(analysis, night, digests, traffic)
    is_cut = analysis.ending.kind == "wrapped up" and not analysis.fix_alone
    is_weak = bool(occurrences.why_weak(lesson))
    if earlier is not None and is_cut and is_weak and not occurrences.why_weak(earlier):
        seen = occurrences.add_sighting(earlier, analysis.case, night, "wrapped up", traffic)
        return add_publications(seen, analysis, night, receipts)
    if earlier is not None and not is_other_code and _outweighs(earlier, lesson):
        seen = _looked_again(earlier, lesson, analysis, night, digests, traffic)
        return add_publications(seen, analysis, night, receipts)
    lesson = occurrences.counted(lesson, analysis.unsettled_nights)
    lesson = lesson.model_copy(update=traces_of(analysis.case))
    if earlier is not None:
        lesson = lesson.model_copy(update=_history(earlier, lesson, analysis, night))
    return add_publications(lesson, analysis, night, receipts)


LOOKED_AGAIN = "looked again"  # verdict of a night whose answer proved less than the lesson


def _outweighs(earlier: knowledge.Lesson, fresh: knowledge.Lesson) -> bool:
    """Tell whether an earlier lesson on the same code proved more than a fresh one.

    One that quotes no line proves nothing, however sure its file says it is. What production showed
    or people said speaks against it; then the answer of a model, which was told so, takes its place
    whatever it proves, and the rules' answer the place of one by rules.
    """
    if not earlier.evidence:
        return False
    if open_trouble(earlier) and (fresh.model != RULES or earlier.model == RULES):
        return False
    return _strength(earlier) > _strength(fresh)


def _strength(lesson: knowledge.Lesson) -> tuple[bool, float, bool, bool]:
    """Rank what a lesson proves: a cause, how sure, by quoted lines, and a fix that stands."""
    is_sure = NOMINAL[lesson.confidence] if lesson.has_cause else 0.0
    has_fix = lesson.has_fix and lesson.outcome not in knowledge.TURNED_DOWN
    return lesson.has_cause, is_sure, bool(lesson.evidence), has_fix


def _looked_again(
    earlier: knowledge.Lesson,
    fresh: knowledge.Lesson,
    analysis: Analysis,
    night: Night,
    digests: Mapping[str, str],
    traffic: int | None,
) -> knowledge.Lesson:
    """Add a look that proved less to a lesson.

    A model has read the code as it is now, and need not read it again the next night. What the
    rules looked at still awaits a model.
    """
    seen = occurrences.add_sighting(earlier, analysis.case, night, LOOKED_AGAIN, traffic)
    if fresh.model == RULES and earlier.model != RULES:
        return seen
    evidence = tuple(
        cited.model_copy(update={"digest": digests[cited.path], "commit": analysis.commit})
        if digests.get(cited.path)
        else cited
        for cited in earlier.evidence
    )
    update = {"evidence": evidence, "watched": fresh.watched, "analysed_at": fresh.analysed_at}
    seen = mark_answered(seen.model_copy(update=update))
    return occurrences.counted(seen, analysis.unsettled_nights)


def _history(
    earlier: knowledge.Lesson, fresh: knowledge.Lesson, analysis: Analysis, night: Night
) -> dict[str, object]:
    same_fix = fix_digest(analysis.fix) == fix_digest(earlier.edits)
    has_no_fix = analysis.fix_alone and not analysis.has_fix
    stays_rejected = has_no_fix and earlier.outcome in knowledge.TURNED_DOWN
    return {
        **({"edits": earlier.edits, "edits_read": earlier.edits_read} if stays_rejected else {}),
        **occurrences.names_kept(earlier, analysis.case),
        **{name: getattr(earlier, name) for name in _KEPT},
        "first_detected": min(earlier.first_detected, fresh.first_detected),
        "outcomes": mark_answered(earlier).outcomes,
        "outcome": earlier.outcome if same_fix or stays_rejected else "",
        "nights": occurrences.add_night(earlier.nights, fresh.nights[0]),
        "seen_until": occurrences.later(earlier.seen_until, night.window.until),
        "related": tuple(dict.fromkeys((*earlier.related, *fresh.related)))[-limits.MOST_TAGS :],
    }


def _fresh(
    analysis: Analysis, night: Night, digests: Mapping[str, str], traffic: int | None
) -> knowledge.Lesson:
    case, leader = analysis.case, analysis.case.leader
    confidence, files = stated_confidence(analysis), watched_for(analysis, digests)
    analysis = without_claims(analysis)
    top = case.trace.top.repo_path if case.trace and case.trace.top else ""
    module = next((cited.path for cited in analysis.evidence if cited.path), top)
    read = {*analysis.read, *(evidence.path for evidence in analysis.evidence if evidence.verified)}
    edits_read = tuple(dict.fromkeys(edit.path for edit in analysis.fix if edit.path in read))
    return knowledge.Lesson(
        fingerprint=case.fingerprint,
        aliases=occurrences.aliases_of(case.aliases, case.fingerprint),
        error_class=leader.error_class,
        transaction=leader.transaction,
        module=module,
        message=line(leader.message, limits.LONGEST_MESSAGE),
        occurrences=case.occurrences,
        title=line(analysis.title or case.title, limits.LONGEST_TITLE),
        root_cause=analysis.root_cause,
        confidence=confidence,
        fix_confidence=analysis.fix_confidence,
        has_fix=analysis.has_fix,
        tags=_tags(analysis, module),
        first_detected=occurrences.night_date(night),
        run_id=night.id,
        iterations_used=analysis.iterations,
        tokens_used=analysis.usage.new_tokens,
        cost_used=analysis.usage.cost,
        model=analysis.model,
        commit=analysis.commit,
        nights=(occurrences.sighting(case, night, "new", confidence, traffic),),
        seen_until=night.window.until,
        analysed_at=night.window.until,
        evidence=tuple(
            knowledge.CitedLine(
                path=cited.path,
                line=cited.line,
                quote=cited.quote[: limits.LONGEST_QUOTE],
                digest=digests.get(cited.path, ""),
                commit=analysis.commit,
            )
            for cited in analysis.evidence
            if cited.verified
        ),
        edits=analysis.fix,
        edits_read=edits_read,
        refused_edits=analysis.refused[: limits.MOST_EDITS_SHOWN],
        question=line(analysis.question, limits.LONGEST_WORDS),
        fix_owed=occurrences.fix_owed(analysis.has_fix, analysis.refused),
        watched=files,
        next_steps=analysis.next_steps,
        learnings=tuple(item.text for item in analysis.learnings),
        related=analysis.related_to[: limits.MOST_TAGS],
    )


def _tags(analysis: Analysis, module: str) -> tuple[str, ...]:
    """Return the class in whole, the folder of the code, and what the analysis gave."""
    given = (analysis.case.leader.error_class, module.rpartition("/")[0], *analysis.tags)
    tags = (line(tag, 80).lower().replace(" ", "-") for tag in given)
    return tuple(dict.fromkeys(filter(None, tags)))[: limits.MOST_TAGS]


def add_publications(
    lesson: knowledge.Lesson, analysis: Analysis, night: Night, receipts: tuple[Receipt, ...]
) -> knowledge.Lesson:
    """Add what was published for a lesson; a new pull request starts without an outcome."""
    published = (
        item
        for item in receipts
        if item.status in _PUBLISHED and item.number and item.kind != "answer"
    )
    own = [item for item in published if not lesson.names.isdisjoint(item.names)]
    numbers = {_item_of(receipt): receipt.number for receipt in reversed(own)}
    signs = {_item_of(receipt): sign_of(receipt.url) for receipt in reversed(own)}
    pull = numbers.get("pull", lesson.pr_number)
    update = {
        "issue_number": numbers.get("issue", lesson.issue_number),
        "pr_number": pull,
        "pr_sign": signs.get("pull", lesson.pr_sign),
        "outcome": lesson.outcome if pull == lesson.pr_number else "",
        "proposed": _proposals(lesson, analysis, night, own),
    }
    lesson = lesson.model_copy(update=update)
    # An issue that we opened again tonight is noted at once, so that it is no person's doing.
    outcomes = tuple(
        knowledge.OutcomeEvent(
            kind="reopened",
            number=receipt.number,
            on=occurrences.night_date(night),
            night=night.id,
            because=REOPENED,
            answered=True,
        )
        for receipt in own
        if receipt.kind == "reopen"
    )
    if not outcomes:
        return lesson
    outcome = "reopened" if lesson.outcome in SHUT else lesson.outcome
    news = knowledge.OutcomeUpdate(fingerprint=lesson.fingerprint, outcomes=outcomes)
    return apply_outcomes(lesson, news).model_copy(update={"outcome": outcome})


def _item_of(receipt: Receipt) -> Literal["issue", "pull"]:
    return "pull" if receipt.kind == "pull" else receipt.on


def _proposals(
    lesson: knowledge.Lesson, analysis: Analysis, night: Night, own: list[Receipt]
) -> tuple[knowledge.PublishedItem, ...]:
    earlier = {(item.kind, item.number) for item in lesson.proposed}
    new = tuple(
        knowledge.PublishedItem(
            kind=_item_of(receipt),
            number=receipt.number,
            on=occurrences.night_date(night),
            night=night.id,
            confidence=stated_confidence(analysis),
            fix=receipt.fix if receipt.also else fix_digest(analysis.fix),
            has_cause=analysis.has_cause,
        )
        for receipt in own
        if receipt.number
        and (receipt.kind in ("issue", "pull") or receipt.also)
        and (_item_of(receipt), receipt.number) not in earlier
    )
    return (*lesson.proposed, *new)[-limits.MOST_PROPOSED :]


def stated_confidence(analysis: Analysis) -> Confidence:
    """The analyst's own confidence: what experience makes of it is reckoned anew every night."""
    return analysis.stated_confidence or analysis.confidence


# What a night changes in lessons besides writing its own, and which of them make room.

RECENT = timedelta(days=14)  # seen lately, a lesson is kept before others
_OPEN = ("", "reopened")  # outcomes of an issue or pull request that is still open


def apply_news(lesson: knowledge.Lesson, news: knowledge.OutcomeUpdate) -> knowledge.Lesson:
    """Add what tonight brought for a lesson; the same news twice changes nothing more."""
    lesson = apply_outcomes(lesson, news)
    return lesson if news.stale is None else lesson.model_copy(update={"stale": news.stale})


def is_its_own(lesson: knowledge.Lesson, case: Case, report: RunReport) -> bool:
    """Tell whether a case's analysis belongs into a lesson that carries one of its names.

    Not where they share an alias alone and are of other classes, nor where tonight has a case of
    its own that bears the lesson's fingerprint: two errors must not write one document in turn.
    """
    if lesson.fingerprint in names(case):
        return True
    others = (names(other) for other in report.attempted if other.fingerprint != case.fingerprint)
    return is_same_error(case, lesson) and all(lesson.fingerprint not in n for n in others)


def update_lesson(lesson: knowledge.Lesson, report: RunReport) -> knowledge.Lesson:
    """Update a lesson after a night: followed up, counted as useful, failed analyses noted."""
    night = report.night
    news = next((update for update in report.followed if update.file == lesson.file), None)
    if news:
        lesson = apply_news(lesson, news)
        closings = (r for r in report.receipts if r.kind == "close" and r.status in _PUBLISHED)
        if any(not lesson.names.isdisjoint(receipt.names) for receipt in closings):
            lesson = mark_answered(lesson, "verified")
    lesson = _with_answers(lesson, report.receipts)
    if any(lesson.fingerprint in item.prior_fingerprints for item in report.analyses):
        lesson = occurrences.count_match(lesson, night)
    failed = (item.case for item in report.failures if _is_about(lesson, item.case, report))
    if case := next(failed, None):
        lesson = occurrences.add_sighting(lesson, case, night, "failed", report.traffic)
    for analysis in report.analyses:
        if not lasting((analysis,)) and _is_about(lesson, analysis.case, report):
            lesson = add_publications(lesson, analysis, night, report.receipts)
    # Dropped groups were there tonight, and took no place: it must not count as a quiet night.
    dropped = [item.group for item in report.dropped if item.group.fingerprint in lesson.names]
    if dropped and all(seen.night != night.id for seen in lesson.nights):
        case = Case(leader=dropped[0], others=tuple(dropped[1:]))
        lesson = occurrences.add_sighting(lesson, case, night, "passed over", report.traffic)
    verified = news and any(event.kind == "verified" for event in news.outcomes)
    if verified and len(lesson.notes) < limits.MOST_SECTIONS:
        notes = draw_notes(lesson, occurrences.night_date(night))
        lesson = lesson if notes.empty else add_notes(lesson, notes)
    return lesson


def _with_answers(lesson: knowledge.Lesson, receipts: tuple[Receipt, ...]) -> knowledge.Lesson:
    """Mark the rejections that were answered on their pull requests, or never can be."""
    numbers = {
        receipt.number
        for receipt in receipts
        if receipt.kind == "answer" and not lesson.names.isdisjoint(receipt.names)
        if receipt.status in _PUBLISHED or (receipt.status == "refused" and not receipt.barred)
    }
    outcomes = tuple(
        event.model_copy(update={"told": True})
        if event.kind == "closed unmerged" and event.number in numbers
        else event
        for event in lesson.outcomes
    )
    return lesson.model_copy(update={"outcomes": outcomes})


def _is_about(lesson: knowledge.Lesson, case: Case, report: RunReport) -> bool:
    return not lesson.names.isdisjoint(names(case)) and is_its_own(lesson, case, report)


def to_archive(
    lessons: tuple[knowledge.Lesson, ...], most: int, today: date
) -> tuple[tuple[knowledge.Lesson, str], ...]:
    """Choose the lessons that are too many, the least useful first, each with the reason.

    A lesson with open work, or seen in the last 14 days, stays as long as there are others.
    """

    def rank(lesson: knowledge.Lesson) -> tuple[object, ...]:
        last = {item.kind: item.outcome for item in lesson.proposed}
        is_open = any(outcome in _OPEN for outcome in last.values())
        is_watched = lesson.watch is not None and not lesson.watch.verdict
        is_recent = today + RECENT >= occurrences.last_seen(lesson) >= today - RECENT
        return (
            is_watched or is_open or is_recent,
            not lesson.stale,
            lesson.matched > 0,
            occurrences.last_seen(lesson),
            lesson.matched,
            lesson.file,
        )

    def why(lesson: knowledge.Lesson) -> str:
        if lesson.stale:
            return f"stale: {lesson.stale}"
        matched = "" if lesson.matched else "never matched, "
        return f"{matched}not seen since {occurrences.last_seen(lesson).isoformat()}"

    surplus = max(0, len(lessons) - max(most, 0))
    return tuple((lesson, why(lesson)) for lesson in sorted(lessons, key=rank)[:surplus])
