"""How far to look back, and what a night is called."""

import hashlib
import re
from datetime import timedelta

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.error import Window

_UNITS = {
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), "minutes"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "hours"),
    **dict.fromkeys(("d", "day", "days"), "days"),
    **dict.fromkeys(("w", "week", "weeks"), "weeks"),
}


def lookback(since: str) -> timedelta | None:
    """The length that `--since` names; None where it says nothing.

    >>> lookback("24h"), lookback("7d").days, lookback("")
    (datetime.timedelta(days=1), 7, None)
    """
    text = since.strip().lower()
    if not text:
        return None
    found = re.fullmatch(r"([0-9]{1,4})\s{0,3}([a-z]{1,7})", text)
    if not found or int(found[1]) == 0 or found[2] not in _UNITS:
        raise StopTheNight(f"since {since[:40]!r} is not a length of time: say 90m, 24h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def night_name(window: Window, source: str) -> str:
    """The local date of the window's end and a short digest of source and window.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 11, 20, tzinfo=UTC)
    >>> night_name(Window(since=day, until=day), "sample")
    '2026-11-20-bc7efe'
    """
    said = f"{source}|{window.since.isoformat()}|{window.until.isoformat()}"
    return f"{window.until.date().isoformat()}-{hashlib.sha256(said.encode()).hexdigest()[:6]}"
