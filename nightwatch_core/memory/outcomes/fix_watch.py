"""A merged fix, watched: what its error did before, since when it runs, what its error does now."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nightwatch_core.code.edits import Read, fix_digest
from nightwatch_core.code.releases import SPELLINGS
from nightwatch_core.intake.grouping import hours_of
from nightwatch_core.memory.outcomes.exposure import before_fix, is_sound
from nightwatch_core.memory.sightings import aware, hours_between
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit, Release
from nightwatch_core.models.error import ErrorGroup, Window
from nightwatch_core.models.knowledge import Lesson
from nightwatch_core.models.outcome import FixWatch, OccurrenceCount
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.report import Night, NightRecord
from nightwatch_core.models.value import Value

RELEASES_TELL = timedelta(days=30)  # before a merge; older releases do not tell what runs


class Tonight(Value):
    """What a night knows when it looks at what became of our proposals.

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
    """The lesson's watch after tonight, for a lesson that has one or a merged pull request.

    The newest merged pull request is watched. Raises `ValueError` where there is none.
    """
    watch = _started(lesson, items, tonight)
    if watch.deployed_at is None:
        watch = watch.model_copy(update={"deployed_at": _deployed(lesson, watch, tonight, stands)})
    return _counted(lesson, watch, tonight)


def fix_stands(edits: tuple[Edit, ...], read: Read) -> bool:
    """Whether the code holds these edits: new text there, old text gone; False for no edits.

    `read` gives a file's text, None where there is no such file.

    >>> edit = Edit(path="a.py", old="x = 1", new="x = 2")
    >>> fix_stands((edit,), {"a.py": "x = 2"}.get), fix_stands((edit,), {"a.py": "x = 1"}.get)
    (True, False)
    """
    return bool(edits) and all(_stands(edit, read(edit.path)) for edit in edits)


def _stands(edit: Edit, text: str | None) -> bool:
    if edit.action == "delete" or text is None:
        return edit.action == "delete" and text is None
    there, old, new = (_plain(part) for part in (text, edit.old, edit.new))
    if edit.action == "create":
        return new.strip() in there
    rest = there.replace(new, "\0") if new else there  # what was kept may stand in the new text
    return new in there and (not old or old not in rest)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _started(lesson: Lesson, items: tuple[OwnItem, ...], tonight: Tonight) -> FixWatch:
    """The watch that goes on, or a new one for a pull request merged after it."""
    current, end = lesson.watch, tonight.night.window.until
    pulls = (one for one in items if one.kind == "pull" and one.state == "merged")
    merged = {one.number: aware(one.merged_at or end) for one in pulls}
    number = max(merged, key=lambda one: (merged[one], one), default=None)
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
    later = (one for one in tonight.releases if aware(one.at) >= aware(watch.merged_at))
    seen = {name for group in tonight.groups for name in (group.release, *group.releases) if name}
    runs = (one for one in later if _is_commit(one, tonight.commit) or _is_among(one, seen))
    moments = (aware(one.at) for one in runs)
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
    ours = (one.fix for one in lesson.proposed if (one.kind, one.number) == ("pull", watch.number))
    another = any(fix and fix != fix_digest(lesson.edits) for fix in ours)
    return tonight.night.window.until if not another and stands(lesson) else None


SIGNS: tuple[Sign, ...] = (_running_release, _newer_commit, _fix_in_code)
"""How we know that production runs a merged fix; the first that knows says since when."""


def _old_releases(watch: FixWatch, tonight: Tonight) -> bool:
    """Whether releases tell what runs, and none is as new as the merge."""
    newest = max((aware(one.at) for one in tonight.releases), default=None)
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
    groups = [one for one in tonight.groups if not lesson.names.isdisjoint(one.names)]
    if begin >= window.until or not (groups or tonight.read_whole):
        return watch
    new = (one for one in groups if _is_new(one, watch, tonight))
    counts = [_after(one, begin, deployed, window) for one in new]
    update: dict[str, object] = {"until": window.until}
    if None not in counts:  # else a deploy within the window, and no hours: begin with the next
        seen = round(sum(count or 0 for count in counts))
        update["after"] = _added(watch.after, seen, begin, tonight)
    return watch.model_copy(update=update)


def _added(
    after: OccurrenceCount, occurrences: int, begin: datetime, tonight: Tonight
) -> OccurrenceCount:
    """What was counted so far, with tonight's window from `begin` on."""
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
    made = [aware(one.at) for one in tonight.releases if failing and _is_among(one, failing)]
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
    """Whether tonight looks where the lesson's nights did: another application is no quiet one."""
    key, nights = tonight.night.kind.key, {seen.night for seen in lesson.nights}
    if any(not lesson.names.isdisjoint(group.names) for group in tonight.groups):
        return True
    sources = [(one.id, one.night.kind.key) for one in tonight.records if one.night]
    ours = {at for night, at in sources if night in nights}
    return key in ours if ours else all(at == key for _, at in sources)
