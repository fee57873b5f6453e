"""A finding that is told: what all sections of issues, comments and drafts are made of."""

from typing import Literal, NamedTuple

from nightwatch_core.code.band_aids.values import BandAid
from nightwatch_core.code.change_reach import Reach
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import ChangedFile, Commit
from nightwatch_core.publish.permalinks import Permalinks
from nightwatch_core.text.escaping import markdown

_SENTENCE = 600  # characters
Carrier = Literal["branch", "patch", "files"]  # "files": a folder of this machine


class Told(NamedTuple):
    """A finding that is told: with the errors that share its cause, and where its code is."""

    analysis: Analysis
    twins: tuple[Analysis, ...] = ()
    commit: Commit | None = None  # of the repository; None: not known
    changes: tuple[ChangedFile, ...] | None = None  # of a draft; None: as the analysis has them
    warning: str = ""  # what a reviewer of the draft has to look at first
    mitigations: tuple[BandAid, ...] = ()  # of the draft
    reach: Reach = Reach()  # of the draft: who uses it, where the same still stands
    near: tuple[Analysis, ...] = ()  # other errors of tonight that fail in the draft's files
    carrier: Carrier = "branch"  # how the draft comes to its reviewer
    no_draft: str = ""  # why tonight's issue has no draft beside it

    @property
    def links(self) -> Permalinks:
        """Addresses of its code."""
        return Permalinks.of(self.commit, self.analysis.commit)

    def prose(self, text: str, limit: int = _SENTENCE) -> str:
        """A line of prose, its places linked."""
        return markdown(text, limit, address_of=self.links.code)
