"""From the commit an analysis names to the pull request that brought it in."""

from collections.abc import Iterable

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import MergedPull, Suspect

SHORTEST_SHA = 7
# Tags by which an analysis says that what failed is outside: no change is to blame by its files.
OUTSIDE_TAGS = ("transient", "timeout", "connection")


def named_first(analysis: Analysis, pulls: Iterable[MergedPull]) -> Analysis:
    """The analysis with the pull request of its suspect commit first among the suspects.

    Research ranks pull requests by what they touch, before anything is known; the analysis may have
    found the very commit. Where what failed is outside, only a commit that was found counts.
    """
    sha = analysis.suspect_commit.strip().lower()
    others = () if _outside(analysis) else analysis.suspects
    brought = next((pull for pull in pulls if is_of(pull, sha)), None)
    if brought is None:
        return analysis.model_copy(update={"suspects": others})
    same = [one for one in analysis.suspects if one.pull.sha == brought.sha]
    others = tuple(one for one in others if one.pull.sha != brought.sha)
    best = max((one.score for one in analysis.suspects), default=1.0)
    because = (_named(brought, sha), *(reason for one in same for reason in one.because))
    first = Suspect(pull=brought, score=best, because=because)
    return analysis.model_copy(update={"suspects": (first, *others)})


def is_of(pull: MergedPull, sha: str) -> bool:
    """Whether the commit, perhaps shortened, is the pull request's merge or came with it."""
    known = (pull.sha, *pull.commits)
    return len(sha) >= SHORTEST_SHA and any(one.startswith(sha) for one in known)


def proved_change(analysis: Analysis) -> str:
    """What the change is called that brought the commit the analysis found; empty where none did.

    Being near, or merged just before, is not enough, and neither is a commit that nobody merged.
    """
    first = next(iter(analysis.suspects), None)
    if first is None or not is_of(first.pull, analysis.suspect_commit.strip().lower()):
        return ""
    pull = first.pull
    return f"pull request #{pull.number}" if pull.number else f"commit {pull.sha[:10]}"


def _named(pull: MergedPull, sha: str) -> str:
    """Only a commit of its own shows what a pull request brought; its merge is just its name."""
    if pull.commits and pull.sha.startswith(sha):
        return "the analysis names it"
    return f"brought {sha[:10]}, which the analysis names"


def _outside(analysis: Analysis) -> bool:
    return not {tag.strip().lower() for tag in analysis.tags}.isdisjoint(OUTSIDE_TAGS)
