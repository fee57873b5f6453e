"""What every rule may look at, and the history of single lines."""

from typing import NamedTuple

from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.rules.known_code import Notebook
from nightwatch_core.rules.results import Blamed


class Context(NamedTuple):
    """The case, what was gathered about it, and the code seen so far."""

    case: Case
    research: ResearchContext
    notebook: Notebook

    def suspect_of(self, blame: Blamed | None) -> Suspect | None:
        """The suspect pull request that brought the line: its merge wrote it, or took it along."""
        if blame is None:
            return None
        return next((s for s in self.research.suspects if brought(s.pull, blame.sha)), None)

    def newer(self, path: str, line: int, than_path: str, than_line: int) -> str:
        """Why the first line counts as a later change than the second; empty where it does not.

        Later by its day; on the same day, where a suspect change brought it.
        """
        changed = self.notebook.blame(path, line)
        kept = self.notebook.blame(than_path, than_line)
        if changed is None or kept is None or same_commit(changed.sha, kept.sha):
            return ""
        same_day = changed.day == kept.day and self.suspect_of(changed)
        if changed.day > kept.day or same_day:
            return f"{path}:{line} was changed by {changed.sha} on {changed.day}"
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
