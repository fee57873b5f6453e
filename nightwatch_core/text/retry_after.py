"""How long a service asks to wait, as its Retry-After header says it."""

from email.utils import parsedate_to_datetime


def retry_after(header: str, now: float) -> float | None:
    """Seconds from `now` (since 1970): a number, or a date to come; None for anything else.

    >>> retry_after("1.5", 0), retry_after("Thu, 01 Jan 1970 00:00:30 GMT", 10)
    (1.5, 20.0)
    >>> retry_after("soon", 0), retry_after("-3", 0), retry_after("nan", 0)
    (None, None, None)
    """
    text = header.strip()[:100]
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - now
        except (ValueError, OverflowError, TypeError, IndexError):
            return None
    return seconds if seconds >= 0 else None
