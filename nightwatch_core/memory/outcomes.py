"""Outcomes of proposals, and the measured effect of merged fixes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Literal

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.releases import bare
from nightwatch_core.memory import rates
from nightwatch_core.memory.limits import LONGEST_WORDS, MOST_OUTCOMES, MOST_QUOTED
from nightwatch_core.memory.occurrences import aware, hours_between, night_date
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit, Release, sign_of
from nightwatch_core.models.errors import ErrorGroup, occurrences_of
from nightwatch_core.models.knowledge import (
    FEEDBACK,
    FixWatch,
    Lesson,
    OccurrenceCount,
    OutcomeEvent,
    OutcomeKind,
    OutcomeUpdate,
    PublishedItem,
)
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.text.markers import LABEL
from nightwatch_core.traces.placing import ReadFile

RELEASES_COUNT = timedelta(days=30)  # before a merge; older releases do not show what runs
LEAST_HOURS = 40.0  # read since the deploy: two nights, even if they are short of a day
ENOUGH = 5.0  # occurrences to be expected after the deploy, before any verdict
SILENCE = 0.01  # chance at most of seeing none, were the rate the old one
VERIFIED_BELOW = 0.25  # of the old rate: the new one is surely less
NO_EFFECT_ABOVE = 0.5  # of the old rate: the new one is surely more
AS_BEFORE_NIGHTS, AS_BEFORE_HOURS = 3, 72.0  # before a rate near the old one counts
AS_BEFORE_SHARE = 0.8  # of the old rate, as observed: the new one is near it
SURE = 0.025  # chance at most, of so few or so many
LONG = 336.0  # hours after which a fix that left more than VERIFIED_BELOW has had no effect
COMES_BACK = 0.01  # chance at most of so many lately, had the verified rate stayed
COMES_BACK_SHARE = 0.05  # of the old rate at least: a stray occurrence is no regression
COMES_BACK_LEAST = 2  # occurrences
LATELY = timedelta(days=4)  # before tonight, in which a regression is looked for
LONGEST_WAIT = timedelta(days=14)  # for a deploy, and hours measured, before an error is news again
REOPENED = "its error had come back"  # why we open an issue again
SHUT: tuple[OutcomeKind, ...] = ("closed", "not planned")  # after which an issue can be reopened
SUPERSEDES: tuple[OutcomeKind, ...] = ("merged", "edited before merge", "verified")
TROUBLES: dict[OutcomeKind, str] = {
    "closed unmerged": "its fix was rejected in {number}",
    "no effect": "its fix in {number} had no effect",
    "regressed": "it came back after its fix in {number}",
    "reopened": "its issue {number} was reopened",
    "wrong": "{number} was marked as wrong",
}

Stands = Callable[[Lesson], bool]
Verdict = Literal["verified", "no effect", "regressed"]


class Tonight(Value):
    """Tonight's facts for following up earlier proposals.

    `groups` are all that were fetched, dropped ones too; `traffic` is the application's in the
    window; `records` are the nights before, in any order.
    """

    night: Night
    groups: tuple[ErrorGroup, ...] = ()
    read_whole: bool = False
    traffic: int | None = None
    commit: Commit | None = None  # what the code is read at
    releases: tuple[Release, ...] = ()
    records: tuple[NightRecord, ...] = ()


# What a night learns of one lesson's proposals and its error, and what the lesson keeps of it.


def follow_lesson(
    lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight, stands: Stands
) -> OutcomeUpdate | None:
    """Find what tonight brought for a lesson; None where nothing is new.

    `items` are all our issues and pull requests; `stands` tells whether tonight's code has a
    lesson's fix, and is asked only where there is no other sign of a deploy.
    """

    def order(item: OwnItem) -> tuple[str, bool, datetime, int]:  # issues, then pulls as they ended
        ended = item.merged_at or item.closed_at
        return item.kind, ended is None, aware(ended or tonight.night.window.until), item.number

    own = (item for item in items if not lesson.names.isdisjoint(item.names))
    mine = sorted(own, key=order)
    outcomes = tuple(event for item in mine for event in _new_outcomes(item, lesson, tonight))
    if watch := _started(lesson, mine, tonight):
        if watch.deployed_at is None and (at := _deployed(lesson, watch, tonight, stands)):
            watch = watch.model_copy(update={"deployed_at": max(at, aware(watch.merged_at))})
        watch, verdict = judge_fix(lesson, _counted(lesson, watch, tonight), tonight, outcomes)
        outcomes += (verdict,) if verdict else ()
    verified = _unannounced(watch, (*lesson.outcomes, *outcomes), mine)
    if not outcomes and not verified and watch == lesson.watch:
        return None
    outcome = outcomes[-1].kind if outcomes else lesson.outcome
    update = {"outcomes": outcomes, "verified": verified, "watch": watch, "outcome": outcome}
    return no_news(lesson).model_copy(update=update)


def _unannounced(
    watch: FixWatch | None, outcomes: tuple[OutcomeEvent, ...], mine: list[OwnItem]
) -> OutcomeEvent | None:
    """Return the verdict on a merged and verified fix whose open issue does not say so yet."""
    states = {(item.kind, item.state, item.number) for item in mine}
    has_open_issue = any(item.kind == "issue" and item.state == "open" for item in mine)
    if watch is None or watch.verdict != "verified" or not has_open_issue:
        return None
    is_merged = ("pull", "merged", watch.number) in states  # a document's own word is none
    last = (event for event in reversed(outcomes) if event.kind == "verified")
    event = next((event for event in last if event.number == watch.number), None)
    return event if event and is_merged and not event.answered else None


def _new_outcomes(item: OwnItem, lesson: Lesson, tonight: Tonight) -> list[OutcomeEvent]:
    earlier = [event.kind for event in lesson.outcomes if event.number == item.number]
    kinds: list[OutcomeKind] = []
    if item.kind == "pull":
        if item.state == "merged":
            kinds = ["merged", "edited before merge"] if item.edited else ["merged"]
        elif item.state == "closed":
            kinds = ["closed unmerged"]
        kinds = [kind for kind in kinds if kind not in earlier]
    else:
        last = next((kind for kind in reversed(earlier) if kind in (*SHUT, "reopened")), None)
        if item.state != "open":
            kinds = ["not planned" if item.state_reason == "not_planned" else "closed"]
        elif last in SHUT:
            kinds = ["reopened"]
        kinds = [kind for kind in kinds if kind != last]
    labelled = [kind for kind in FEEDBACK if f"{LABEL}:{kind}" in item.labels]
    last_word = next((kind for kind in reversed(earlier) if kind in FEEDBACK), None)
    known = earlier if last_word in labelled else ()  # one that was replaced may be said again
    kinds += [kind for kind in labelled if kind not in known]
    # An issue that is open again after a regression was reopened by us: that is no more news.
    by_us = lesson.watch is not None and lesson.watch.verdict == "regressed"
    comments = tuple(filter(None, (line(t, LONGEST_WORDS) for t in item.words[:MOST_QUOTED])))
    return [
        OutcomeEvent(
            kind=kind,
            number=item.number,
            sign=sign_of(item.url),
            on=night_date(tonight.night),
            night=tonight.night.id,
            words=comments if kind in ("closed unmerged", "not planned", "wrong") else (),
            because=REOPENED if by_us and kind == "reopened" else "",
            answered=by_us and kind == "reopened",
        )
        for kind in kinds
    ]


def no_news(lesson: Lesson) -> OutcomeUpdate:
    """Return a lesson's update without news."""
    return OutcomeUpdate(
        fingerprint=lesson.fingerprint,
        file=lesson.file,
        title=lesson.title,
        watch=lesson.watch,
        outcome=lesson.outcome,
    )


def apply_outcomes(lesson: Lesson, news: OutcomeUpdate) -> Lesson:
    """Add what a night brought to a lesson; adding it again changes nothing."""
    earlier = {(event.kind, event.number, event.night) for event in lesson.outcomes}
    latest = news.outcomes[-MOST_OUTCOMES:]
    new = tuple(e for e in latest if (e.kind, e.number, e.night) not in earlier)
    # Verdicts are those of the pull request.
    ends = {
        ("issue" if event.kind in (*SHUT, "reopened") else "pull", event.number): event.kind
        for event in new
        if event.kind not in FEEDBACK
    }

    def updated(item: PublishedItem) -> PublishedItem:
        kind = ends.get((item.kind, item.number))
        return item.model_copy(update={"outcome": kind}) if kind else item

    return lesson.model_copy(
        update={
            "outcomes": (*lesson.outcomes, *new)[-MOST_OUTCOMES:],
            "watch": news.watch or lesson.watch,
            "outcome": new[-1].kind if new else lesson.outcome,
            "proposed": tuple(map(updated, lesson.proposed)),
        }
    )


def open_trouble(lesson: Lesson, *, quotes: bool = True) -> str:
    """Return the reason a lesson may not be reused because of its outcome; empty where it may.

    A later merge or verification supersedes earlier trouble. The sentence holds people's words on
    one line, unless it `quotes` nobody: escape it for where it goes.
    """
    event = next(iter(_troubles(lesson)), None)
    if event is None:
        return ""
    number = f"{event.sign}{event.number}" if event.number else "a proposal of ours"
    words = event.words[:1] if quotes else ()
    why = line(": ".join(filter(None, (*words, event.because))), 300)
    return TROUBLES[event.kind].format(number=number) + (f": {why}" if why else "")


def is_only_rejected(lesson: Lesson) -> bool:
    """Tell whether the only open trouble is that people rejected its fix."""
    return {event.kind for event in _troubles(lesson)} == {"closed unmerged"}


def _troubles(lesson: Lesson) -> list[OutcomeEvent]:
    since = list(takewhile(lambda event: event.kind not in SUPERSEDES, reversed(lesson.outcomes)))
    last_word = next((event for event in since if event.kind in FEEDBACK), None)
    return [
        event
        for event in since
        if event.kind in TROUBLES
        and not event.answered
        and event.kind not in FEEDBACK
        or event is last_word
        and event.kind == "wrong"
        and not event.answered
    ]


def mark_answered(lesson: Lesson, *kinds: OutcomeKind) -> Lesson:
    """Mark outcomes of a lesson as answered, all of them unless `kinds` says which."""
    outcomes = tuple(
        event.model_copy(update={"answered": True}) if not kinds or event.kind in kinds else event
        for event in lesson.outcomes
    )
    return lesson.model_copy(update={"outcomes": outcomes})


def why_no_news(lesson: Lesson, at: datetime | None = None) -> str:
    """Return the reason an error that still occurs is no news, given its merged fix; else empty.

    The fix is not deployed yet, or is being measured, for two weeks at most each; or it is
    verified, and so few occurrences are no regression. Empty, too, where something speaks against
    the fix (see `open_trouble`), or the document names future moments or a verdict without figures.
    `at` is the end of tonight's window; the last one's by default.
    """
    watch, now = lesson.watch, at or lesson.seen_until
    if watch is None or open_trouble(lesson):
        return ""
    moments = filter(None, (watch.merged_at, watch.deployed_at, watch.until))
    if now and any(aware(moment) - aware(now) > LONGEST_WAIT for moment in moments):
        return ""
    merged = f"its fix was merged in {watch.sign}{watch.number}"
    if watch.verdict:
        few = f"{merged} and verified: so few occurrences are no regression"
        proved = watch.verdict == "verified" and watch.deployed_at and watch.before.occurrences > 0
        return few if proved and watch.after.hours >= LEAST_HOURS else ""
    if watch.deployed_at is None:
        late = now is not None and aware(now) - aware(watch.merged_at) > LONGEST_WAIT
        return "" if late else f"{merged} and is not yet in production"
    measuring = 0 <= watch.after.hours <= LONGEST_WAIT.total_seconds() / 3_600
    late = now is not None and aware(now) - aware(watch.deployed_at) > 2 * LONGEST_WAIT
    since = f"{merged} and is being measured since {watch.deployed_at.date()}"
    return since if measuring and not late else ""


# A merged fix, watched: its error's rate before, the deploy, its error's rate since.


def fix_stands(edits: tuple[Edit, ...], read: ReadFile) -> bool:
    """Tell whether the code has these edits: new text there, old text gone; False for no edits.

    `read` gives a file's text, None where there is no such file.
    """
    return bool(edits) and all(_stands(edit, read(edit.path)) for edit in edits)


def _stands(edit: Edit, text: str | None) -> bool:
    if edit.action == "delete" or text is None:
        return edit.action == "delete" and text is None
    current, old, new = (part.replace("\r\n", "\n") for part in (text, edit.old, edit.new))
    if edit.action == "create":
        return new.strip() in current
    rest = current.replace(new, "\0") if new else current  # the new text may repeat the old one
    return new in current and (not old or old not in rest)


def _started(lesson: Lesson, items: list[OwnItem], tonight: Tonight) -> FixWatch | None:
    """The watch of the newest merged pull request."""
    current, end = lesson.watch, tonight.night.window.until
    merged = {
        item.number: aware(item.merged_at or end)
        for item in items
        if item.kind == "pull" and item.state == "merged"
    }
    signs = {item.number: sign_of(item.url) for item in items if item.kind == "pull"}
    number = max(merged, key=lambda item: (merged[item], item), default=None)
    if number is None or (current and current.number == number):
        return current
    if current and merged[number] <= aware(current.merged_at):
        return current
    nights = rates.nights_read(lesson, tonight.records, tonight.night, merged[number])
    if current and current.deployed_at:  # an earlier fix changed the rate
        deployed = aware(current.deployed_at).date()
        nights = tuple(seen for seen in nights if seen.date > deployed) or nights
    before = rates.total(nights)
    return FixWatch(number=number, sign=signs[number], merged_at=merged[number], before=before)


def _deployed(lesson: Lesson, watch: FixWatch, tonight: Tonight, stands: Stands) -> datetime | None:
    """Since when production runs the fix, by the first sign there is; None without one.

    A release made after the merge runs: it is tonight's commit, or errors come from it. Else the
    commit read tonight is newer than the merge, or its code has the fix; nobody says since when,
    so since tonight. Neither counts where the newest release was made shortly before the merge.
    """
    merged, end, commit = aware(watch.merged_at), tonight.night.window.until, tonight.commit
    failing = {name for group in tonight.groups for name in (group.release, *group.releases)}
    running = [
        aware(item.at)
        for item in tonight.releases
        if merged <= aware(item.at) <= end
        and (
            _is_among(item, failing - {""})
            or (commit and len(item.sha) >= 7 and commit.sha.startswith(item.sha))
        )
    ]
    if running:
        return min(running)
    newest = max((aware(release.at) for release in tonight.releases), default=None)
    if commit is None or (newest and merged - RELEASES_COUNT <= newest < merged):
        return None
    if commit.at and aware(commit.at) >= merged:
        return end
    pulls = (item for item in lesson.proposed if item.kind == "pull")
    proposed = {item.fix for item in pulls if item.number == watch.number}
    has_another = bool(proposed - {"", fix_digest(lesson.edits)})
    return end if not has_another and stands(lesson) else None


def _is_among(release: Release, names: set[str]) -> bool:
    return bare(release.version) in set(map(bare, names))


def _counted(lesson: Lesson, watch: FixWatch, tonight: Tonight) -> FixWatch:
    """Add tonight to the watch where its whole window lies after the deploy.

    Of a window that overlaps the last one the rest counts, in its share. A night that saw the error
    counts even if it read only a part; an unseen one must be whole. After a regression nothing is
    measured: another fix is a watch of its own.
    """
    window = tonight.night.window
    groups = [group for group in tonight.groups if group.fingerprint in lesson.names]
    if watch.deployed_at is None or watch.verdict == "regressed" or not rates.is_sound(window):
        return watch
    if not (groups or (tonight.read_whole and is_its_source(lesson, tonight))):
        return watch
    begin = max(window.since, aware(watch.until or window.since))
    if window.since < aware(watch.deployed_at) or begin >= window.until:
        return watch
    hours = hours_between(begin, window.until)
    share = hours / hours_between(window.since, window.until)
    occurrences = occurrences_of(group for group in groups if _may_have_fix(group, watch, tonight))
    after = watch.after
    has_traffic = tonight.traffic is not None and (after.traffic is not None or not after.hours)
    traffic = round((tonight.traffic or 0) * share) + (after.traffic or 0)
    counted = OccurrenceCount(
        occurrences=after.occurrences + round(occurrences * share),
        hours=after.hours + hours,
        traffic=max(0, traffic) if has_traffic else None,
        nights=after.nights + 1,
    )
    return watch.model_copy(update={"until": window.until, "after": counted})


def _may_have_fix(group: ErrorGroup, watch: FixWatch, tonight: Tonight) -> bool:
    """Tell whether the newest failing release is not older than the merge, or is unknown.

    A group that fails in old and new releases counts whole.
    """
    made = [
        aware(release.at)
        for release in tonight.releases
        if group.release and _is_among(release, {group.release})
    ]
    return not made or max(made) >= aware(watch.merged_at)


def is_its_source(lesson: Lesson, tonight: Tonight) -> bool:
    """Tell whether this night reads the source that the lesson's nights read."""
    nights = {seen.night for seen in lesson.nights}
    keys = {record.id: record.night.kind.key for record in tonight.records if record.night}
    ours = {key for night, key in keys.items() if night in nights}
    key = tonight.night.kind.key
    return key in ours if ours else set(keys.values()) <= {key}


# Verdicts on a merged fix.


def judge_fix(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, outcomes: tuple[OutcomeEvent, ...]
) -> tuple[FixWatch, OutcomeEvent | None]:
    """Return the watch with its verdict, and the event of a new one.

    No verdict without time that was read since the deploy; none after "regressed", which only
    another merged fix ends. `outcomes` are tonight's so far.
    """
    if watch.deployed_at is None or watch.after.hours <= 0 or watch.verdict == "regressed":
        return watch, None
    verdict: Verdict = "regressed"
    because = ""
    if watch.verdict != "no effect":
        because = _regression(lesson, watch, tonight, outcomes)
    if watch.verdict != "verified" and not because:
        verdict, because = _effect(watch)
    if not because:
        return watch, None
    event = OutcomeEvent(
        kind=verdict,
        number=watch.number,
        sign=watch.sign,
        on=night_date(tonight.night),
        night=tonight.night.id,
        because=because,
    )
    return watch.model_copy(update={"verdict": verdict}), event


def _effect(watch: FixWatch) -> tuple[Verdict, str]:
    """Verified or without effect, and the figures; no reason where it is too early to tell."""
    before, after = watch.before, watch.after
    usual, ratio = rates.expected(before, after), rates.rate_ratio(before, after) or 0.0
    if after.hours < LEAST_HOURS or usual < ENOUGH:
        return "no effect", ""
    counts = f"{rates.count_text(before)} before, {rates.count_text(after)} after"
    counts = f"after all: {counts}" if watch.verdict == "no effect" else counts
    if not after.occurrences and rates.chances(before, after).at_most < SILENCE:
        return "verified", f"{counts}, {usual:,.0f} expected"
    if rates.chances(before, after, VERIFIED_BELOW).at_most < SURE:
        return "verified", f"{counts}: {ratio:.2g} of the rate"
    if watch.verdict:
        return "no effect", ""
    is_more = rates.chances(before, after, NO_EFFECT_ABOVE).at_least < SURE
    is_long = after.nights >= AS_BEFORE_NIGHTS and after.hours >= AS_BEFORE_HOURS
    if is_more or (is_long and ratio >= AS_BEFORE_SHARE):
        return "no effect", f"{counts}: {ratio:.2g} of the rate"
    if after.hours >= LONG and rates.chances(before, after, VERIFIED_BELOW).at_least < SURE:
        return "no effect", f"{counts}: it fell to {ratio:.2g} of the rate only"
    return "no effect", ""


def _regression(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, outcomes: tuple[OutcomeEvent, ...]
) -> str:
    """The reason the error has regressed; a rate is compared with the verified one only."""
    reopened = next((event.number for event in outcomes if event.kind == "reopened"), None)
    if watch.verdict and reopened is not None:
        return f"issue #{reopened} was reopened"
    old = lesson.watch.after if lesson.watch and lesson.watch.number == watch.number else None
    earlier = old or OccurrenceCount()
    new = _without(watch.after, earlier)
    if not new.occurrences or watch.deployed_at is None:
        return ""
    groups = [group for group in tonight.groups if group.fingerprint in lesson.names]
    returns = (aware(group.regressed_at) for group in groups if group.regressed_at)
    if backs := [at for at in returns if at > aware(watch.deployed_at)]:
        day = min(backs).date().isoformat()
        return f"its source says that it was resolved and came back on {day}"
    if not watch.verdict:
        return ""
    recent = _lately(lesson, watch, tonight, new)
    calm = _without(watch.after, recent)
    before = watch.before.model_copy(update={"traffic": None})
    enough = max(float(COMES_BACK_LEAST), COMES_BACK_SHARE * rates.expected(before, recent))
    if recent.occurrences < enough or rates.chances(calm, recent).at_least >= COMES_BACK:
        return ""
    return (
        f"{rates.count_text(recent)} lately, {rates.count_text(calm)} since the fix until then, "
        f"{rates.count_text(before)} before it"
    )


def _without(whole: OccurrenceCount, part: OccurrenceCount) -> OccurrenceCount:
    occurrences = max(0, whole.occurrences - part.occurrences)
    return OccurrenceCount(occurrences=occurrences, hours=max(0.0, whole.hours - part.hours))


def _lately(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, new: OccurrenceCount
) -> OccurrenceCount:
    """Count the last five days, from the day after the fix was verified at the earliest.

    `new` is what tonight adds.
    """
    night, today = tonight.night, night_date(tonight.night)
    verified = [
        event.on + timedelta(days=1)
        for event in lesson.outcomes
        if event.kind == "verified" and event.number == watch.number
    ]
    first = max((today - LATELY, *verified))
    nights = rates.nights_read(lesson, tonight.records, night, night.window.until)
    before = rates.total([seen for seen in nights if first <= seen.date < today])
    return OccurrenceCount(
        occurrences=before.occurrences + new.occurrences, hours=before.hours + new.hours
    )
