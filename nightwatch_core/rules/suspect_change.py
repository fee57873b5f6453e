"""Which change brought the failure: blame of the lines at fault, against the suspects."""

from datetime import datetime, timedelta

from nightwatch_core.code.limits import NEAR_DAYS
from nightwatch_core.models.answer import Evidence
from nightwatch_core.models.code import Blame, MergedPull, Suspect
from nightwatch_core.rules.findings import FailingLine
from nightwatch_core.rules.known_code import Context, brought
from nightwatch_core.rules.limits import BLAMED_LINES

_SUSPICIOUS = timedelta(days=14)
_NEAR = timedelta(days=NEAR_DAYS)
_DAY = timedelta(days=1)  # blame tells days only, in no certain time zone


def suspect_change(
    failing: FailingLine,
    changed: tuple[tuple[str, int], ...],
    evidence: tuple[Evidence, ...],
    context: Context,
) -> tuple[str, str]:
    """Give the commit that wrote a line at fault and a sentence about it; ("", "") where unknown.

    Only blame of a line proves a commit: of one whose change is known to have brought the failure
    (`changed`; then no others count), else of one written shortly before the first occurrence. A
    change that is merely likely gets a sentence, never a commit.
    """
    quoted = [(one.path, one.line) for one in evidence[:BLAMED_LINES]]
    own = [(failing.path, failing.line)] if failing.seen else []
    places = list(dict.fromkeys(changed or (*own, *quoted)))
    blames = [(place, blame) for place in places if (blame := context.code.blame(*place))]
    fresh = [
        (place, blame, context.suspect_of(blame))
        for place, blame in blames
        if (_possible if changed else _recent)(blame, context)
    ]
    for (path, line), blame, suspect in fresh:
        if suspect:
            return blame.sha, f"{path}:{line} came with {_named(suspect.pull)}."
    first = next(iter(blames), None)
    if fresh and first and fresh[0][:2] == first:
        return first[1].sha, _written(*first)
    likely = _likeliest(failing, first[1] if first else None, context)
    if likely:
        because = f" ({'; '.join(likely.because[:2])})" if likely.because else ""
        return "", f"The likeliest change is {_named(likely.pull)}{because}."
    return ("", _written(*first)) if first else ("", "")


def last_change(failing: FailingLine, context: Context) -> str:
    """Say which commit last wrote the failing line, whose it is and when; empty if not known."""
    blame = context.code.blame(failing.path, failing.line) if failing.seen else None
    return f"{blame.sha} ({_said(blame)})" if blame else ""


def _first_seen(context: Context) -> datetime | None:
    """When the error was first seen, as far as that is known."""
    groups = context.case.groups
    first = min((group.first_seen for group in groups if group.first_seen), default=None)
    last = min((group.last_seen for group in groups if group.last_seen), default=None)
    return first or last


def _possible(blame: Blame, context: Context) -> bool:
    """Whether the line was written within a month before the error was first seen, if known."""
    seen = _first_seen(context)
    return seen is None or -_DAY <= seen.date() - blame.at.date() <= _NEAR


def _recent(blame: Blame, context: Context) -> bool:
    """Whether the line is known to be written shortly before the error was first seen."""
    seen = _first_seen(context)
    return seen is not None and -_DAY <= seen.date() - blame.at.date() <= _SUSPICIOUS


def _likeliest(failing: FailingLine, blame: Blame | None, context: Context) -> Suspect | None:
    """The suspect that changed the top frame's own file shortly before the first occurrence."""
    seen = _first_seen(context)
    if not failing.line or seen is None:
        return None
    near = (
        suspect
        for suspect in context.research.suspects
        if failing.path in suspect.pull.files
        and timedelta() <= seen - suspect.pull.merged_at <= _SUSPICIOUS
        and not _older(suspect, blame)
    )
    return max(near, key=lambda suspect: suspect.score, default=None)


def _older(suspect: Suspect, blame: Blame | None) -> bool:
    """Whether the line was written after the suspect was merged, so that it cannot be its work."""
    if blame is None or brought(suspect.pull, blame.sha):
        return False
    return suspect.pull.merged_at.date() < blame.at.date()


def _written(place: tuple[str, int], blame: Blame) -> str:
    return f"{place[0]}:{place[1]} was last written by {blame.sha} ({_said(blame)})."


def _named(pull: MergedPull) -> str:
    return f"{pull.name} ({pull.title[:100]}, {pull.merged_at:%Y-%m-%d})"


def _said(blame: Blame) -> str:
    return ", ".join(filter(None, (blame.subject[:100], blame.author[:60], f"{blame.at:%Y-%m-%d}")))
