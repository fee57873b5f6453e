"""Outcomes of proposals, and the measured effect of merged fixes."""

import itertools
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal

from nightwatch_core.code.edits import fix_digest
from nightwatch_core.code.releases import SPELLINGS
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.memory.limits import LONGEST_WORDS, MOST_FATES, MOST_QUOTED
from nightwatch_core.memory.occurrences import aware, hours_between, night_date
from nightwatch_core.memory.rates import (
    before_fix,
    chances,
    count_text,
    expected,
    is_sound,
    looked_at,
    one_a_date,
    rate_ratio,
    spread_before,
    total,
)
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.errors import ErrorGroup, Window
from nightwatch_core.models.knowledge import (
    DraftRate,
    FixWatch,
    Lesson,
    OccurrenceCount,
    OutcomeEvent,
    OutcomeKind,
    OutcomeUpdate,
    PublishedItem,
    Scoreboard,
)
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value
from nightwatch_core.text.escaping import line
from nightwatch_core.traces.placing import ReadFile

# A merged fix, watched: what its error did before, since when it runs, what its error does now.

RELEASES_TELL = timedelta(days=30)  # before a merge; older releases do not tell what runs


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


Stands = Callable[[Lesson], bool]
Sign = Callable[[Lesson, FixWatch, Tonight, Stands], datetime | None]


def update_watch(
    lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight, stands: Stands
) -> FixWatch:
    """Return the lesson's watch after tonight, for a lesson that has one or a merged pull request.

    The newest merged pull request is watched. Raises `ValueError` where there is none.
    """
    watch = _started(lesson, items, tonight)
    if watch.deployed_at is None:
        watch = watch.model_copy(update={"deployed_at": _deployed(lesson, watch, tonight, stands)})
    return _counted(lesson, watch, tonight)


def fix_stands(edits: tuple[Edit, ...], read: ReadFile) -> bool:
    """Tell whether the code holds these edits: new text there, old text gone; False for no edits.

    `read` gives a file's text, None where there is no such file.

    >>> edit = Edit(path="a.py", old="x = 1", new="x = 2")
    >>> fix_stands((edit,), {"a.py": "x = 2"}.get), fix_stands((edit,), {"a.py": "x = 1"}.get)
    (True, False)
    """
    return bool(edits) and all(_stands(edit, read(edit.path)) for edit in edits)


def _stands(edit: Edit, text: str | None) -> bool:
    if edit.action == "delete" or text is None:
        return edit.action == "delete" and text is None
    there, old, new = (part.replace("\r\n", "\n") for part in (text, edit.old, edit.new))
    if edit.action == "create":
        return new.strip() in there
    rest = there.replace(new, "\0") if new else there  # what was kept may stand in the new text
    return new in there and (not old or old not in rest)


def _started(lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight) -> FixWatch:
    current, end = lesson.watch, tonight.night.window.until
    pulls = (item for item in items if item.kind == "pull" and item.state == "merged")
    merged = {pull.number: aware(pull.merged_at or end) for pull in pulls}
    number = max(merged, key=lambda item: (merged[item], item), default=None)
    is_later = current is None or (number is not None and merged[number] > aware(current.merged_at))
    if current and (number in (None, current.number) or not is_later):
        return current
    if number is None:
        raise ValueError("nothing of the lesson is merged: ask for a watch only after a merge")
    at = merged[number]
    since = aware(current.deployed_at) if current and current.deployed_at else None
    before = before_fix(lesson, at, tonight.records, tonight.night, since)
    return FixWatch(number=number, merged_at=at, before=before)


def _deployed(lesson: Lesson, watch: FixWatch, tonight: Tonight, stands: Stands) -> datetime | None:
    """Since when production runs the fix, by the first sign that knows; never before the merge."""
    for sign in SIGNS:
        if moment := sign(lesson, watch, tonight, stands):
            return max(moment, aware(watch.merged_at))
    return None


def _running_release(_: Lesson, watch: FixWatch, tonight: Tonight, __: Stands) -> datetime | None:
    """A release made after the merge runs: it is tonight's commit, or errors come from it."""
    later = (release for release in tonight.releases if aware(release.at) >= aware(watch.merged_at))
    seen = {name for group in tonight.groups for name in (group.release, *group.releases) if name}
    runs = (item for item in later if _is_commit(item, tonight.commit) or _is_among(item, seen))
    moments = (aware(run.at) for run in runs)
    return min((at for at in moments if at <= tonight.night.window.until), default=None)


def _newer_commit(_: Lesson, watch: FixWatch, tonight: Tonight, __: Stands) -> datetime | None:
    """The code of production is newer than the merge; nobody says since when, so since tonight."""
    at = tonight.commit.at if tonight.commit else None
    newer = at is not None and aware(at) >= aware(watch.merged_at)
    return tonight.night.window.until if newer and not _old_releases(watch, tonight) else None


def _fix_in_code(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, stands: Stands
) -> datetime | None:
    """The fix stands in the code; a lesson whose fix is another one by now cannot tell."""
    if tonight.commit is None or _old_releases(watch, tonight):
        return None
    ours = (
        item.fix for item in lesson.proposed if (item.kind, item.number) == ("pull", watch.number)
    )
    another = any(fix and fix != fix_digest(lesson.edits) for fix in ours)
    return tonight.night.window.until if not another and stands(lesson) else None


SIGNS: tuple[Sign, ...] = (_running_release, _newer_commit, _fix_in_code)
"""How we know that production runs a merged fix; the first that knows says since when."""


def _old_releases(watch: FixWatch, tonight: Tonight) -> bool:
    newest = max((aware(release.at) for release in tonight.releases), default=None)
    merged = aware(watch.merged_at)
    return newest is not None and merged - RELEASES_TELL <= newest < merged


def _is_commit(release: Release, commit: Commit | None) -> bool:
    return bool(commit and len(release.sha) >= 7 and commit.sha.startswith(release.sha))


def _is_among(release: Release, names: set[str]) -> bool:
    return any(
        spelling(release.version.strip()) in {spelling(name.strip()) for name in names}
        for spelling in SPELLINGS
    )


def _counted(lesson: Lesson, watch: FixWatch, tonight: Tonight) -> FixWatch:
    """The watch with the part of tonight's window that lies after the deploy and is not counted.

    A night that saw the error counts even if it read only a part; an unseen one must be whole.
    After a regression nothing is measured: another fix is a watch of its own.
    """
    window = tonight.night.window
    measured = watch.deployed_at is not None and watch.verdict != "regressed"
    if not measured or not is_sound(window) or not _is_ours(lesson, tonight):
        return watch
    deployed = aware(watch.deployed_at or window.until)
    begin = max(deployed, window.since, aware(watch.until) if watch.until else deployed)
    groups = [group for group in tonight.groups if group.fingerprint in lesson.names]
    if begin >= window.until or not (groups or tonight.read_whole):
        return watch
    new = (group for group in groups if _is_new(group, watch, tonight))
    counts = [_after(item, begin, deployed, window) for item in new]
    update: dict[str, object] = {"until": window.until}
    if None not in counts:  # else a deploy within the window, and no hours: begin with the next
        seen = round(sum(count or 0 for count in counts))
        update["after"] = _added(watch.after, seen, begin, tonight)
    return watch.model_copy(update=update)


def _added(
    after: OccurrenceCount, occurrences: int, begin: datetime, tonight: Tonight
) -> OccurrenceCount:
    window = tonight.night.window
    hours, whole = (hours_between(start, window.until) for start in (begin, window.since))
    flow = None if tonight.traffic is None else max(0, round(tonight.traffic * hours / whole))
    both = flow is not None and (after.traffic is not None or not after.hours)
    return OccurrenceCount(
        occurrences=after.occurrences + occurrences,
        hours=after.hours + hours,
        traffic=(flow or 0) + (after.traffic or 0) if both else None,
        nights=after.nights + 1,
    )


def _is_new(group: ErrorGroup, watch: FixWatch, tonight: Tonight) -> bool:
    """Whether it may come from code with the fix: its newest failing release was not made before.

    A group that fails in old and new releases counts whole; one without a known release, too.
    """
    failing = {group.release} - {""}
    made = [
        aware(release.at) for release in tonight.releases if failing and _is_among(release, failing)
    ]
    return not made or max(made) >= aware(watch.merged_at)


def _after(group: ErrorGroup, begin: datetime, deployed: datetime, window: Window) -> float | None:
    """Occurrences of a group after `begin`; None where nothing tells old from new ones."""
    if begin <= window.since:
        return group.occurrences
    first, last = (aware(at) if at else None for at in (group.first_seen, group.last_seen))
    if last and last < begin:
        return 0
    if first and first >= begin:
        return group.occurrences
    by_hour = _by_hour(group, begin, window)
    if by_hour is not None:
        return by_hour
    share = hours_between(begin, window.until) / hours_between(window.since, window.until)
    return group.occurrences * share if begin > deployed else None


def _by_hour(group: ErrorGroup, begin: datetime, window: Window) -> float | None:
    """Occurrences after `begin` by the group's hours; None where they do not reach back to it."""
    hours, start = hours_of(window), begin.timestamp() / 3_600
    if not group.hourly or len(hours) != len(group.hourly) or start < hours[0]:
        return None
    pairs = zip(hours, group.hourly, strict=True)
    return sum(count * min(1.0, max(0.0, hour + 1 - start)) for hour, count in pairs)


def _is_ours(lesson: Lesson, tonight: Tonight) -> bool:
    key, nights = tonight.night.kind.key, {seen.night for seen in lesson.nights}
    if any(group.fingerprint in lesson.names for group in tonight.groups):
        return True
    sources = [(record.id, record.night.kind.key) for record in tonight.records if record.night]
    ours = {at for night, at in sources if night in nights}
    return key in ours if ours else all(at == key for _, at in sources)


LEAST_HOURS = 40.0  # looked at since the deploy: two nights, even if they are short of a day
ENOUGH = 5.0  # occurrences to be expected after the deploy, before silence or noise tells anything
SILENCE = 0.01  # chance at most of seeing none, were the rate the old one
VERIFIED_BELOW = 0.25  # of the old rate: the new one is surely less
NO_EFFECT_ABOVE = 0.5  # of the old rate: the new one is surely more
AS_BEFORE_NIGHTS, AS_BEFORE_HOURS = 3, 72.0  # looked at, before a rate near the old one tells
AS_BEFORE_SHARE = 0.8  # of the old rate, as observed: the new one is near it
SURE = 0.025  # chance at most, of so few or so many
LONG = 336.0  # hours after which a fix that left more than VERIFIED_BELOW has had no effect
COMES_BACK = 0.01  # chance at most of so many lately, had the verified rate stayed
COMES_BACK_SHARE = 0.05  # of the old rate at least: a stray occurrence is no regression
COMES_BACK_LEAST = 2  # occurrences
LATELY = (3, 14)  # days that are looked back for a comeback: at once, or slowly

Verdict = Literal["verified", "no effect", "regressed"]


class Evidence(Value):
    """The figures that rules decide by."""

    lesson: Lesson
    watch: FixWatch  # has counted tonight
    counted: OccurrenceCount  # what tonight added to the watch
    tonight: Tonight
    fates: tuple[OutcomeEvent, ...]  # tonight's so far
    spread: float  # of the nights before the fix

    @property
    def expected(self) -> float:
        """Return the occurrences after the deploy, had nothing changed."""
        return expected(self.watch.before, self.watch.after)

    @property
    def ratio(self) -> float | None:
        """Return the rate after the fix over the one before it."""
        return rate_ratio(self.watch.before, self.watch.after)

    @property
    def tells(self) -> bool:
        """Tell whether silence or noise says anything yet."""
        return self.watch.after.hours >= LEAST_HOURS and self.expected >= ENOUGH

    @property
    def counts(self) -> str:
        """Write both counts: "12 in 48 h before, 0 in 120 h after"."""
        said = f"{count_text(self.watch.before)} before, {count_text(self.watch.after)} after"
        return f"after all: {said}" if self.watch.verdict == "no effect" else said

    def is_less_than(self, share: float) -> bool:
        """Tell whether the rate is surely less than this share of the old one."""
        return chances(self.watch.before, self.watch.after, self.spread, share).at_most < SURE

    def is_more_than(self, share: float) -> bool:
        """Tell whether the rate is surely more than this share of the old one."""
        return chances(self.watch.before, self.watch.after, self.spread, share).at_least < SURE


Rule = Callable[[Evidence], str]


def judge_fix(
    lesson: Lesson, watch: FixWatch, tonight: Tonight, fates: tuple[OutcomeEvent, ...]
) -> tuple[FixWatch, OutcomeEvent | None]:
    """Return the watch with its verdict, and the event of a new one.

    No verdict without time that was looked at since the deploy; none after "regressed", which
    only another merged fix ends.
    """
    if watch.deployed_at is None or watch.after.hours <= 0:
        return watch, None
    old = lesson.watch
    earlier = old.after if old and old.number == watch.number else OccurrenceCount()
    night = tonight.night
    evidence = Evidence(
        lesson=lesson,
        watch=watch,
        counted=OccurrenceCount(
            occurrences=max(0, watch.after.occurrences - earlier.occurrences),
            hours=max(0.0, watch.after.hours - earlier.hours),
        ),
        tonight=tonight,
        fates=fates,
        spread=spread_before(lesson, watch, tonight.records, night),
    )
    for verdict, rule in VERDICTS[watch.verdict]:
        if because := rule(evidence):
            event = OutcomeEvent(
                kind=verdict,
                number=watch.number,
                on=night_date(night),
                night=night.id,
                because=because,
            )
            return watch.model_copy(update={"verdict": verdict}), event
    return watch, None


def _silent(seen: Evidence) -> str:
    """None at all, where at the old rate there would almost surely have been some."""
    watch = seen.watch
    if watch.after.occurrences or not seen.tells:
        return ""
    chance = chances(watch.before, watch.after, seen.spread).at_most
    return f"{seen.counts}, {seen.expected:,.0f} expected" if chance < SILENCE else ""


def _fell(seen: Evidence) -> str:
    if not seen.tells or not seen.is_less_than(VERIFIED_BELOW):
        return ""
    return f"{seen.counts}: {seen.ratio or 0:.2g} of the rate"


def _goes_on(seen: Evidence) -> str:
    if not seen.tells or seen.ratio is None:
        return ""
    after = seen.watch.after
    is_long = after.nights >= AS_BEFORE_NIGHTS and after.hours >= AS_BEFORE_HOURS
    if not seen.is_more_than(NO_EFFECT_ABOVE) and (not is_long or seen.ratio < AS_BEFORE_SHARE):
        return ""
    return f"{seen.counts}: {seen.ratio:.2g} of the rate"


def _fell_too_little(seen: Evidence) -> str:
    is_long = seen.watch.after.hours >= LONG and seen.tells
    if not is_long or not seen.is_more_than(VERIFIED_BELOW):
        return ""
    return f"{seen.counts}: it fell to {seen.ratio or 0:.2g} of the rate only"


def _back_at_source(seen: Evidence) -> str:
    deployed = aware(seen.watch.deployed_at) if seen.watch.deployed_at else None
    backs = (
        aware(group.regressed_at)
        for group in seen.tonight.groups
        if group.regressed_at and group.fingerprint in seen.lesson.names
    )
    later = [at for at in backs if deployed and at > deployed]
    if not later or not seen.counted.occurrences:
        return ""
    return f"its source says that it was resolved and came back on {min(later).date().isoformat()}"


def _reopened(seen: Evidence) -> str:
    number = next((fate.number for fate in seen.fates if fate.kind == "reopened"), None)
    return f"issue #{number} was reopened" if number is not None else ""


def _comes_back(seen: Evidence) -> str:
    """Lately more than the verified rate allows, and not just a stray one of many."""
    if not seen.counted.occurrences:
        return ""
    return next(filter(None, (_back_within(seen, days) for days in LATELY)), "")


def _back_within(seen: Evidence, days: int) -> str:
    recent, before, after = _lately(seen, days), seen.watch.before, seen.watch.after
    calm = OccurrenceCount(
        occurrences=max(0, after.occurrences - recent.occurrences),
        hours=max(0.0, after.hours - recent.hours),
    )
    enough = max(float(COMES_BACK_LEAST), COMES_BACK_SHARE * expected(_timed(before), recent))
    if recent.occurrences < enough or chances(calm, recent, seen.spread).at_least >= COMES_BACK:
        return ""
    return (
        f"{count_text(recent)} lately, {count_text(calm)} since the fix until then, "
        f"{count_text(_timed(before))} before it"
    )


def _lately(seen: Evidence, days: int) -> OccurrenceCount:
    night, lesson = seen.tonight.night, seen.lesson
    calls = (fate for fate in lesson.fates if fate.kind == "verified")
    since = max((call.on for call in calls if call.number == seen.watch.number), default=None)
    today = night_date(night)
    first = today - timedelta(days=days - 1)
    nights = tuple(
        seen
        for seen in one_a_date(lesson.nights)
        if first <= seen.date < today
        and seen.night != night.id
        and (not since or seen.date > since)
    )
    records = tuple(
        record
        for record in seen.tonight.records
        if record.night
        and first <= night_date(record.night) < today
        and (not since or night_date(record.night) > since)
    )
    window = night.window
    begin = window.until - timedelta(days=days + 1)
    looked = looked_at(records, night.kind.key, begin, window.since).hours
    hours = max(looked, total(nights).hours) + seen.counted.hours
    occurrences = total(nights).occurrences + seen.counted.occurrences
    return OccurrenceCount(occurrences=occurrences, hours=hours)


def _timed(count: OccurrenceCount) -> OccurrenceCount:
    return count.model_copy(update={"traffic": None})


VERDICTS: Mapping[str, tuple[tuple[Verdict, Rule], ...]] = {
    "": (
        ("regressed", _back_at_source),
        ("verified", _silent),
        ("verified", _fell),
        ("no effect", _goes_on),
        ("no effect", _fell_too_little),
    ),
    "no effect": (("verified", _silent), ("verified", _fell)),
    "verified": (
        ("regressed", _reopened),
        ("regressed", _back_at_source),
        ("regressed", _comes_back),
    ),
    "regressed": (),
}
"""By the last verdict: what may be said next, the first rule that speaks wins."""

# What a night learns of one lesson's proposals and its error, and what the lesson keeps of it.

LONGEST_WAIT = timedelta(days=14)  # for a deploy, and hours measured, before an error is news again
REOPENED = "its error had come back"  # why we open an issue again
SHUT: tuple[OutcomeKind, ...] = ("closed", "not planned")  # after which an issue can be reopened

Earlier = tuple[OutcomeEvent, ...]  # what was noticed of an item before
Noticed = Callable[[OwnItem, Earlier], OutcomeKind | None]


def follow_lesson(
    lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight, stands: Stands
) -> OutcomeUpdate | None:
    """Find what tonight brought for a lesson; None where nothing is new.

    `items` are all our issues and pull requests; `stands` says whether a lesson's fix stands in
    tonight's code, and is asked only where no other sign tells.
    """
    mine = _mine(lesson, items)
    fates = tuple(fate for item in mine for fate in _fates(item, lesson, tonight))
    watch = lesson.watch
    if watch or any(item.kind == "pull" and item.state == "merged" for item in mine):
        watch = update_watch(lesson, mine, tonight, stands)
        watch, verdict = judge_fix(lesson, watch, tonight, fates)
        fates += (verdict,) if verdict else ()
    if not fates and watch == lesson.watch:
        return None
    outcome = fates[-1].kind if fates else lesson.outcome
    return no_news(lesson).model_copy(update={"fates": fates, "watch": watch, "outcome": outcome})


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
    earlier = {_name(fate) for fate in lesson.fates}
    new = tuple(fate for fate in news.fates[-MOST_FATES:] if _name(fate) not in earlier)
    proposed = lesson.proposed
    for fate in new:
        proposed = tuple(_updated(item, fate) for item in proposed)
    update = {
        "fates": (*lesson.fates, *new)[-MOST_FATES:],
        "watch": news.watch or lesson.watch,
        "outcome": new[-1].kind if new else lesson.outcome,
        "proposed": proposed,
    }
    return lesson.model_copy(update=update)


def open_trouble(lesson: Lesson) -> str:
    """Say why a lesson may not be reused because of what became of it; empty where it may.

    What was merged or verified later overtakes what had gone wrong. The sentence holds people's
    words on one line: escape it for where it goes.

    >>> from datetime import date
    >>> no = OutcomeEvent(kind="closed unmerged", number=4, on=date(2031, 3, 1),
    ...                   words=("Too slow.",))
    >>> open_trouble(Lesson(fingerprint="v1:0", error_class="E", root_cause="", fates=(no,),
    ...                   first_detected=date(2031, 3, 1)))
    'its fix was rejected in #4: Too slow.'
    """
    fate = next(iter(_troubles(lesson)), None)
    if fate is None:
        return ""
    number = f"#{fate.number}" if fate.number else "a proposal of ours"
    why = line(": ".join(filter(None, (*fate.words[:1], fate.because))), 300)
    return TROUBLES[fate.kind].format(number=number) + (f": {why}" if why else "")


def is_only_rejected(lesson: Lesson) -> bool:
    """Tell whether the open trouble is that people turned its fix down, and nothing else."""
    kinds = {fate.kind for fate in _troubles(lesson)}
    return kinds == {"closed unmerged"}


def _troubles(lesson: Lesson) -> tuple[OutcomeEvent, ...]:
    since = itertools.takewhile(lambda fate: fate.kind not in OVERTAKES, reversed(lesson.fates))
    return tuple(fate for fate in since if fate.kind in TROUBLES and not fate.answered)


def mark_answered(lesson: Lesson) -> Lesson:
    """Mark a lesson once a fresh analysis took all that had happened into account."""
    fates = tuple(fate.model_copy(update={"answered": True}) for fate in lesson.fates)
    return lesson.model_copy(update={"fates": fates})


def why_no_news(lesson: Lesson, at: datetime | None = None) -> str:
    """Say why an error that still occurs is no news, given its merged fix; empty where it is.

    The fix is not deployed yet, or is being measured, for two weeks at most each; or it is
    verified, and so few occurrences are no regression. Not where something speaks against the fix
    (see `open_trouble`), nor where the watch names moments to come, or a verdict without figures: a
    document is no word on those. `at` is the end of tonight's window; the last one's by default.
    """
    watch, now = lesson.watch, at or lesson.seen_until
    if watch is None or open_trouble(lesson) or (now and not _has_been(watch, aware(now))):
        return ""
    merged = f"its fix was merged in #{watch.number}"
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


def _has_been(watch: FixWatch, now: datetime) -> bool:
    moments = filter(None, (watch.merged_at, watch.deployed_at, watch.until))
    return all(aware(moment) - now <= LONGEST_WAIT for moment in moments)


OVERTAKES: tuple[OutcomeKind, ...] = ("merged", "edited before merge", "verified")
TROUBLES: dict[OutcomeKind, str] = {
    "closed unmerged": "its fix was rejected in {number}",
    "no effect": "its fix in {number} had no effect",
    "regressed": "it came back after its fix in {number}",
    "reopened": "its issue {number} was reopened",
}


def _mine(lesson: Lesson, own: tuple[OwnItem, ...]) -> tuple[OwnItem, ...]:
    """The lesson's items: issues first, then pull requests as they ended; each one once."""
    mine = (item for item in own if not lesson.names.isdisjoint(item.names))
    items = sorted(
        mine, key=lambda item: (item.kind, _ended(item), item.number, item.model_dump_json())
    )
    return tuple({(item.kind, item.number): item for item in items}.values())


def _ended(item: OwnItem) -> float:
    moment: datetime | None = item.merged_at or item.closed_at
    return aware(moment).timestamp() if moment else float("inf")


def _fates(item: OwnItem, lesson: Lesson, tonight: Tonight) -> tuple[OutcomeEvent, ...]:
    earlier = tuple(fate for fate in lesson.fates if fate.number == item.number)
    kinds = [kind for notice in NOTICED[item.kind] if (kind := notice(item, earlier))]
    return tuple(_fate(kind, item, lesson.watch, tonight) for kind in kinds)


def _fate(
    kind: OutcomeKind, item: OwnItem, watch: FixWatch | None, tonight: Tonight
) -> OutcomeEvent:
    """An issue that is open again after a regression was reopened for it: that is no more news."""
    because_of_us = kind == "reopened" and watch is not None and watch.verdict == "regressed"
    words = item.words if kind in ("closed unmerged", "not planned") else ()
    return OutcomeEvent(
        kind=kind,
        number=item.number,
        on=night_date(tonight.night),
        night=tonight.night.id,
        words=tuple(filter(None, (line(text, LONGEST_WORDS) for text in words[:MOST_QUOTED]))),
        because=REOPENED if because_of_us else "",
        answered=because_of_us,
    )


def _merged(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return _once("merged", earlier) if item.state == "merged" else None


def _edited(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    is_edited = item.state == "merged" and item.edited
    return _once("edited before merge", earlier) if is_edited else None


def _rejected(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return _once("closed unmerged", earlier) if item.state == "closed" else None


def _closed(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    if item.state == "open":
        return None
    kind: OutcomeKind = "not planned" if item.state_reason == "not_planned" else "closed"
    return None if _last(earlier) == kind else kind


def _reopened_issue(item: OwnItem, earlier: Earlier) -> OutcomeKind | None:
    return "reopened" if item.state == "open" and _last(earlier) in SHUT else None


NOTICED: dict[str, tuple[Noticed, ...]] = {
    "pull": (_merged, _edited, _rejected),
    "issue": (_closed, _reopened_issue),
}
"""What is noticed of our items, in the order in which it is told."""


def _once(kind: OutcomeKind, earlier: Earlier) -> OutcomeKind | None:
    return None if any(fate.kind == kind for fate in earlier) else kind


def _last(earlier: Earlier) -> OutcomeKind | None:
    return next((item.kind for item in reversed(earlier) if item.kind in (*SHUT, "reopened")), None)


def _name(fate: OutcomeEvent) -> tuple[str, int | None, str]:
    return fate.kind, fate.number, fate.night


def _updated(item: PublishedItem, fate: OutcomeEvent) -> PublishedItem:
    """The entry of a proposal with what became of it; verdicts are those of the pull request."""
    kind = "issue" if fate.kind in (*SHUT, "reopened") else "pull"
    is_it = (item.kind, item.number) == (kind, fate.number)
    return item.model_copy(update={"outcome": fate.kind}) if is_it else item


# How many of our draft pull requests passed, by their checks and by what people did with them.


def draft_rate(own: Iterable[OwnItem]) -> DraftRate:
    """Count what became of all our pull requests, as the tracker holds them.

    >>> states = ("merged", "open", "closed", "open")
    >>> pulls = [OwnItem(kind="pull", number=n, fingerprint="v1:a", state=state)
    ...          for n, state in enumerate(states)]
    >>> pulls[1] = pulls[1].model_copy(update={"checks": "passed"})
    >>> rate = draft_rate(pulls)
    >>> rate.drafts, rate.known, rate.good
    (4, 3, 2)
    """
    pulls = [item for item in own if item.kind == "pull"]
    merged = [pull for pull in pulls if pull.state == "merged"]
    waiting = [pull for pull in pulls if pull.state == "open" and pull.checks]
    rejected = [pull for pull in pulls if pull.state == "closed"]
    return DraftRate(
        drafts=len(pulls),
        merged=len(merged),
        rejected=len(rejected),
        passed=sum(pull.checks == "passed" for pull in pulls),
        failed=sum(pull.checks == "failed" for pull in pulls),
        known=len(merged) + len(waiting) + len(rejected),
        good=len(merged) + sum(item.checks == "passed" for item in waiting),
    )


def with_drafts(board: Scoreboard, own: Iterable[OwnItem]) -> Scoreboard:
    """Add the rate to the board; `own` is empty where the tracker was not read."""
    rate = draft_rate(own)
    return board.model_copy(update={"drafts": rate}) if rate.drafts else board
