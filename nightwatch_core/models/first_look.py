"""Words for a first look at files of errors: what was understood, and what a night would cost."""

from nightwatch_core.models.code import Commit
from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.file_contents import FileContents
from nightwatch_core.models.trace import Frame
from nightwatch_core.models.usage import Usage
from nightwatch_core.models.value import Value


class GlancedError(Value):
    """One error group, and where its newest trace leads.

    Frames are counted over the whole trace: `own` look like the application's, thereof `placed`
    stand in the checkout at `commit`.
    """

    group: ErrorGroup
    language: str = ""  # empty: no trace
    top: Frame | None = None  # the innermost of its own frames
    frames: int = 0
    own: int = 0
    placed: int = 0
    commit: Commit | None = None  # None: no checkout was given
    misfit: str = ""  # why the record is not of that commit


class FoundRelease(Value):
    """A release that errors name, and the commit it is in the checkout."""

    name: str
    commit: Commit | None = None  # None: no tag or commit there, or no checkout was given


class Estimate(Value):
    """What a night with a language model would cost, from what real bugs took."""

    model: str
    errors: int  # that it would analyse
    least: Usage  # of all of them, as the cheapest of the bugs that were measured
    most: Usage  # as the dearest
    measured: int  # bugs
    cap: float | None = None  # USD that a night never exceeds; None: no cap


class FirstLook(Value):
    """What can be said of files of errors before any night."""

    contents: FileContents
    groups: int = 0
    errors: tuple[GlancedError, ...] = ()  # the best ranked, traced; of many groups only the first
    cases: int = 0  # that those errors make: one cause each
    releases: tuple[FoundRelease, ...] = ()
    base: Commit | None = None  # None: no checkout was given
    estimate: Estimate | None = None
