"""Reads one commit of a partial clone; what its history needs is fetched when it is asked for."""

from collections.abc import Sequence
from functools import partial

from nightwatch_core.adapters.git.reader import GitReader
from nightwatch_core.adapters.github.clone import Clone
from nightwatch_core.adapters.github.limits import FILE_VERSIONS
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import Commit


class ClonedReader(GitReader):
    """The files of one commit, which were fetched; what history needs besides is fetched then."""

    def __init__(self, clone: Clone, commit: Commit) -> None:
        """Raise `GiveUp` where the commit is not named by its full sha."""
        super().__init__(clone.view, commit, partial(_obtained, clone))


def _obtained(clone: Clone, oids: Sequence[str]) -> bool:
    """Fetch blobs that are not there; False where they are too many, or GitHub does not answer."""
    if len(set(oids)) > FILE_VERSIONS:
        return False
    try:
        clone.fetch_blobs(oids)
    except (TryLater, GiveUp):
        return False
    return True
