"""Windows of nights: lookback, names, and watermarks."""

import hashlib
import re
from datetime import datetime, timedelta

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.errors import LONGEST_WINDOW, Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord

_UNITS = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hours"),
    **dict.fromkeys(("d", "day", "days"), "days"),
    **dict.fromkeys(("w", "week", "weeks"), "weeks"),
}
DAY = timedelta(days=1)  # what a live source is asked for by hand, where nothing is said
RESUMABLE = timedelta(hours=20)  # so long an unfinished night of a live source can be taken up
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([-_.]?)[01]\d\1[0-3]\d(?!\d)")
HELD = ("file", "sample")  # sources whose records are all there; every other one is live


def lookback(since: str) -> timedelta | None:
    """Return the length that `--since` names; None where it says nothing."""
    text = since.strip().lower()
    if not text:
        return None
    length = re.fullmatch(r"([0-9]{1,4})\s{0,3}([a-z]{1,7})", text)
    if not length or int(length[1]) == 0 or length[2] not in _UNITS:
        raise StopTheNight(f"since {since[:40]!r} is not a length of time: say 90m, 24h, 7d or 2w")
    return timedelta(**{_UNITS[length[2]]: int(length[1])})


def is_live(options: NightOptions) -> bool:
    """Tell whether a source goes on while we look."""
    return any(name not in HELD for name in options.sources())


def lookback_for(options: NightOptions, scheduled: bool = False) -> timedelta | None:
    """Return the lookback: the length in `--since`, else a default.

    By hand a live source is asked for a day; by its schedule for what no night has read (None).
    Held records are all wanted (None).
    """
    by_hand = is_live(options) and not scheduled
    return lookback(options.since) or (DAY if by_hand else None)


def source_key(options: NightOptions, *place: str) -> str:
    """Name what is read: two applications share neither nights nor a watermark.

    `place` says where live sources read: accounts, applications, environments.

    >>> source_key(NightOptions(source="newrelic", repo="shop"), "17", "Shop")
    'newrelic||shop|17|Shop'
    >>> source_key(NightOptions(source="file", errors="e.jsonl"), "17", "Shop")
    'file|e.jsonl|'

    The date in the name of an export is no part of it: each night reads another one.

    >>> source_key(NightOptions(source="file", errors="in/shop-2031-05-04.json", repo="shop"))
    'file|in/shop-DATE.json|shop'
    """
    live = place if is_live(options) else ()
    errors = _DATE.sub("DATE", options.errors)
    return "|".join((options.source, errors, options.repo, *live))


def night_name(window: Window, source: str) -> str:
    """Return the local date of the window's end and a short digest of source and window.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 11, 20, tzinfo=UTC)
    >>> night_name(Window(since=day, until=day), "sample")
    '2026-11-20-bc7efe'
    """
    read = f"{source}|{window.since.isoformat()}|{window.until.isoformat()}"
    return f"{window.until.date().isoformat()}-{hashlib.sha256(read.encode()).hexdigest()[:6]}"


def read_until(record: NightRecord, key: str) -> datetime | None:
    """Return until when a night read the sources of this key; None where the next reads again.

    It counts if it ran by its schedule and not dry, ended, and read all that the source lists:
    what failed or went unpublished after that does not matter.
    """
    night = record.night
    if night is None or night.kind.key != key or not night.kind.scheduled or night.kind.dry:
        return None
    ended = record.status in ("complete", "degraded")
    return night.window.until if ended and record.read_whole else None


def unread_gap(watermark: datetime | None, window: Window) -> str:
    """Describe the unread gap between watermark and window; empty for none."""
    if watermark is None or watermark >= window.since or window.since >= window.until:
        return ""
    begin = watermark.astimezone(window.since.tzinfo)
    return (
        f"errors from {begin:%Y-%m-%d %H:%M} to {window.since:%Y-%m-%d %H:%M %Z} were never read: "
        f"a night looks back {LONGEST_WINDOW.days} days at most"
    )
