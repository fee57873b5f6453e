"""From the commit an analysis names to the pull request that brought it in."""

from collections.abc import Iterable

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import MergedPull, Suspect

SHORTEST_SHA = 7


def named_first(analysis: Analysis, pulls: Iterable[MergedPull]) -> Analysis:
    """The analysis with the pull request of its suspect commit first among the suspects.

    Research ranks pull requests by what they touch, before anything is known; the analysis may have
    found the very commit.
    """
    sha = analysis.suspect_commit.strip().lower()
    brought = next((pull for pull in pulls if _brought(pull, sha)), None)
    if brought is None:
        return analysis
    same = [one for one in analysis.suspects if one.pull.sha == brought.sha]
    others = [one for one in analysis.suspects if one.pull.sha != brought.sha]
    best = max((one.score for one in analysis.suspects), default=1.0)
    named = f"brought {sha[:10]}, which the analysis names"
    because = (named, *(reason for one in same for reason in one.because))
    first = Suspect(pull=brought, score=best, because=because)
    return analysis.model_copy(update={"suspects": (first, *others)})


def _brought(pull: MergedPull, sha: str) -> bool:
    known = (pull.sha, *pull.commits)
    return len(sha) >= SHORTEST_SHA and any(one.startswith(sha) for one in known)
