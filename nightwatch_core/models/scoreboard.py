"""Words for how right earlier analyses proved, as far as people and production decided it."""

from nightwatch_core.models.analysis import Confidence
from nightwatch_core.models.outcome import FateKind
from nightwatch_core.models.value import Value


class Judgement(Value):
    """What became of one analysis we published: its issue and pull request are one."""

    fingerprint: str
    said: Confidence | None = None  # None: not recorded
    right: float | None = None  # 0 wrong, 1 right, between: in part; None: undecided
    kind: FateKind | None = None  # what decided it, or happened last; None: nothing yet
    merged: bool = False
    told: int = 0  # earlier lessons the analyst was told
    iterations: int = 0
    tokens: int = 0  # new ones
    cost: float | None = None
    model: str = ""


class Share(Value):
    """How many of the decided ones proved right; `low` to `high` is a 90 % interval."""

    times: int = 0
    decided: int = 0
    right: float = 0.0  # a half for what was right in part
    share: float | None = None  # None: none decided, as for the interval
    low: float | None = None
    high: float | None = None


class Tier(Value):
    """What became of analyses that said one confidence."""

    said: Confidence
    nominal: float  # the probability that the word stands for
    found: Share = Share()
    merged: int = 0  # whatever came after
    verified: int = 0
    rejected: int = 0  # closed unmerged, not planned, no effect, regressed


class Sort(Value):
    """Analyses of one sort, what they took on average and how right they were."""

    name: str
    found: Share = Share()
    measured: int = 0  # thereof, with recorded iterations and tokens; averages are over these
    iterations: float | None = None
    tokens: float | None = None
    cost: float | None = None  # USD, over those whose price is known


class Scoreboard(Value):
    """How right the analyses of this installation proved, by what they said and knew."""

    found: Share = Share()
    tiers: tuple[Tier, ...] = ()  # high, medium, low
    brier: float | None = None  # of the nominal probabilities; None: nothing decided
    brier_calibrated: float | None = None  # of our own, each learned without the one it is for
    informed: Sort = Sort(name="with prior knowledge")
    uninformed: Sort = Sort(name="without prior knowledge")
    models: tuple[Sort, ...] = ()  # the most used first
