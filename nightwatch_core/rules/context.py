"""What every rule may look at, and the history of single lines."""

from typing import NamedTuple

from nightwatch_core.models.code import Blame, MergedPull, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.known_code import KnownCode


class Context(NamedTuple):
    """The case, what was gathered about it, and the code seen so far."""

    case: Case
    research: ResearchContext
    code: KnownCode

    def suspect_of(self, blame: Blame | None) -> Suspect | None:
        """The suspect pull request that brought the line: its merge wrote it, or took it along."""
        if blame is None:
            return None
        return next((s for s in self.research.suspects if brought(s.pull, blame.sha)), None)

    def newer(self, path: str, line: int, than_path: str, than_line: int) -> str:
        """Why the first line counts as a later change than the second; empty where it does not.

        Later by its day; on the same day, where a suspect change brought it.
        """
        changed = self.code.blame(path, line)
        kept = self.code.blame(than_path, than_line)
        if changed is None or kept is None or same_commit(changed.sha, kept.sha):
            return ""
        day, kept_day = changed.at.date(), kept.at.date()
        if day > kept_day or (day == kept_day and self.suspect_of(changed)):
            return f"{path}:{line} was changed by {changed.sha} on {day}"
        return ""


def brought(pull: MergedPull, sha: str) -> bool:
    """Whether a pull request's merge is the commit, or took it along."""
    return any(same_commit(own, sha) for own in (pull.sha, *pull.commits))


def same_commit(one: str, other: str) -> bool:
    """Whether two ids, perhaps shortened, are of one commit.

    >>> same_commit("0123456789ab", "0123456"), same_commit("", "0123456")
    (True, False)
    """
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= 7 and longer.startswith(shorter)
