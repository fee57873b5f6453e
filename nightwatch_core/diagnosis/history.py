"""Which change brought the failure: blame of the lines at fault, against the suspects."""

from datetime import date, timedelta

from nightwatch_core.diagnosis.context import Context, same_commit
from nightwatch_core.diagnosis.finding import Site
from nightwatch_core.diagnosis.results import Blamed
from nightwatch_core.models.analysis import Evidence
from nightwatch_core.models.code import MergedPull, Suspect

_SUSPICIOUS = timedelta(days=14)
_LINES = 3  # pieces of evidence whose history is looked up


def suspect_change(
    site: Site,
    changed: tuple[tuple[str, int], ...],
    evidence: tuple[Evidence, ...],
    context: Context,
) -> tuple[str, str]:
    """The commit that most likely brought it and a sentence about it; ("", "") where unknown.

    First a suspect that wrote one of the lines, then one that touched their files, then whoever
    last wrote the first line. Where `changed` lines are known, no others count.
    """
    quoted = [(one.path, one.line) for one in evidence[:_LINES]]
    own = [(site.path, site.line)] if site.seen else []
    places = list(dict.fromkeys(changed or (*own, *quoted)))
    blames = [(place, context.notebook.blame(*place)) for place in places]
    for (path, line), blame in blames:
        suspect = context.suspect_of(path, blame)
        if suspect:
            return suspect.pull.sha, f"{path}:{line} came with {_named(suspect.pull)}."
    paths = {path for path, _ in places}
    touching = _best([s for s in context.research.suspects if paths & set(s.pull.files)])
    known = next(((place, blame) for place, blame in blames if blame), None)
    if touching and not _older(touching, known[1] if known else None):
        because = f" ({'; '.join(touching.because[:2])})" if touching.because else ""
        return touching.pull.sha, f"The likeliest change is {_named(touching.pull)}{because}."
    if known and known[1]:
        (path, line), blame = known
        sha = blame.sha if _recent(blame, context) else ""
        return sha, f"{path}:{line} was last written by {blame.sha} ({_said(blame)})."
    return "", ""


def _recent(blame: Blamed, context: Context) -> bool:
    """Whether the line was written shortly before the error began, as far as that is known."""
    first = context.case.leader.first_seen
    return first is None or first.date() - date.fromisoformat(blame.day) <= _SUSPICIOUS


def _best(suspects: list[Suspect]) -> Suspect | None:
    return max(suspects, key=lambda suspect: suspect.score, default=None)


def _older(suspect: Suspect, blame: Blamed | None) -> bool:
    """Whether the line was written after the suspect was merged, so that it cannot be its work."""
    if blame is None or same_commit(suspect.pull.sha, blame.sha):
        return False
    return f"{suspect.pull.merged_at:%Y-%m-%d}" < blame.day


def _named(pull: MergedPull) -> str:
    name = f"pull request #{pull.number}" if pull.number else f"commit {pull.sha[:10]}"
    return f"{name} ({pull.title[:100]}, {pull.merged_at:%Y-%m-%d})"


def _said(blame: Blamed) -> str:
    return ", ".join(filter(None, (blame.subject[:100], blame.author[:60], blame.day)))
