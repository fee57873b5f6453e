"""Seconds to wait for the first check of a draft, by the checks of earlier drafts.

A host answers at once for a draft on which no CI will ever run, and for one whose CI is about to
start. Which of the two it is, the same repository's earlier drafts show.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.words import WORDS
from nightwatch_core.text.plain_text import plural

NIGHTS, DRAFTS = 30, 5  # that are looked back at
LONGEST = 600.0  # seconds
MARGIN = 30.0  # seconds, in addition to twice the longest time seen
BARE = 30.0  # seconds, at most, where no CI configuration is found: a service may set a status
_APPEARED = ("passed", "failed", "pending")


class CheckWait(NamedTuple):
    """Seconds to wait for a first check, and the reason, for people."""

    seconds: float
    because: str


class Seen(NamedTuple):
    """Checks of an earlier draft: whether any appeared, and after how many seconds, where known."""

    appeared: bool
    seconds: float | None = None


def first_check_wait(
    report: RunReport, earlier: Iterable[RunReport], *, configured: bool
) -> CheckWait:
    """Return how long to wait; `earlier` reports come newest first, `configured` is whether CI is.

    The last five drafts of thirty nights decide. Where none had a check, none is waited for until
    one has a check after all, if only after its night, or those drafts are thirty nights old.
    """
    limit = report.options.ci_seconds
    if not limit:
        return _wait("off", 0.0)
    seen = tuple(islice(_seen(report, earlier), DRAFTS))
    times = [item.seconds for item in seen if item.seconds is not None]
    if times:
        return _wait("known", min(2 * max(times) + MARGIN, LONGEST), margin=MARGIN)
    if any(item.appeared for item in seen):
        return _wait("late", limit)
    if seen:
        drafts = plural(len(seen), "draft") if len(seen) > 1 else "draft"
        return _wait("never", 0.0, drafts=drafts, repository=_place(report)[1])
    return _wait("unknown", limit) if configured else _wait("bare", min(BARE, limit))


def _seen(report: RunReport, earlier: Iterable[RunReport]) -> Iterator[Seen]:
    """Yield what is known of this repository's earlier drafts, newest first."""
    checked_later = {
        item.number
        for item in report.outcomes
        if item.kind == "pull" and item.checks in ("passed", "failed")
    }
    for past in islice(earlier, NIGHTS):
        if past.night.id == report.night.id or _place(past) != _place(report):
            continue
        for draft in past.ci:
            in_older_report = draft.waited is None and draft.state in _APPEARED
            if draft.appeared is not None or draft.number in checked_later or in_older_report:
                yield Seen(appeared=True, seconds=draft.appeared)
            elif draft.state == "none" and draft.waited != 0:
                yield Seen(appeared=False)


def _place(report: RunReport) -> tuple[str, str]:
    base = report.base or report.commit
    return report.options.delivery, base.repository if base else ""


def _wait(reason: str, seconds: float, **values: object) -> CheckWait:
    return CheckWait(seconds, WORDS["ci_wait"][reason].format(seconds=seconds, **values))
