"""Waits for the checks of a night's drafts together: looks, mends what is red once, and tells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import CiResult
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.proposal import Proposal, Receipt
from nightwatch_core.models.pulls import CiRun
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.usage import Usage
from nightwatch_core.publish import ci_watch
from nightwatch_core.publish.ci_watch import MADE, Read, Watched


class Hands(NamedTuple):
    """What waiting needs of the world."""

    look: Callable[[tuple[int, ...]], tuple[tuple[CiRun, ...], str]]  # runs, or why there are none
    mend: Callable[[Watched, Analysis], tuple[GateResult | None, str]]  # likewise
    publish: Callable[[Proposal], Receipt]
    read: Read  # a file of the base
    pause: Callable[[float], None]  # lets that many seconds pass
    elapsed: Callable[[], float]  # seconds since the waiting began


@dataclass
class Waiting:
    """Drafts of one night, looked at until their checks have ended or there is no time left."""

    report: RunReport
    drafts: tuple[Watched, ...]
    hands: Hands
    starts: bool = True  # files of the repository tell of CI that a branch starts
    waited: float = 0.0  # seconds
    receipts: list[Receipt] = field(default_factory=list)
    gates: dict[str, GateResult] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)

    def until_the_end(self, minutes: int) -> CiResult:
        """Look again and again, at most so many minutes, and say how the checks stand then."""
        for seconds in (*ci_watch.pauses(minutes), 0.0):
            if not self._look() or self.hands.elapsed() > 60 * minutes:
                break
            self.hands.pause(seconds)
            self.waited += seconds
        return self._end()

    def say(self, proposal: Proposal) -> Receipt:
        """Publish something, and remember it."""
        self.receipts.append(self.hands.publish(proposal))
        return self.receipts[-1]

    def _look(self) -> bool:
        """Take in how the checks stand, mend what is red; returns whether to look again."""
        runs, trouble = self.hands.look(tuple(one.number for one in self.drafts))
        if trouble:
            unknown = CiRun(state="unreadable", because=trouble)
            self.drafts = tuple(one._replace(run=unknown) for one in self.drafts)
            return True
        seen = map(ci_watch.seen, self.drafts, runs)
        self.drafts = tuple(self._mended(one) if one.is_red else one for one in seen)
        return any(ci_watch.is_waiting(one, self.waited, starts=self.starts) for one in self.drafts)

    def _end(self) -> CiResult:
        """Say a word on what stayed red, and what became of all of them."""
        for one in self.drafts:
            if one.is_red:
                self.say(ci_watch.red_words(one, self.repository, self.report.night.id))
        return CiResult(
            ci=tuple(ci_watch.told(one, self.waited) for one in self.drafts),
            receipts=tuple(self.receipts),
            gates=tuple(self.gates.items()),
            usage=self.usage,
        )

    @property
    def repository(self) -> str:
        """Its name."""
        base = self.report.base or self.report.commit
        return base.repository if base else ""

    def _mended(self, one: Watched) -> Watched:
        """One commit more on the branch, where another attempt can be had; else why not."""
        if one.corrected:
            return one
        if not one.sha or one.run.sha != one.sha:
            return one._replace(corrected="its branch is not where we left it: it is left alone")
        name = one.draft.fingerprint
        analysis = next((a for a in self.report.analyses if a.fingerprint == name), None)
        result, why = self.hands.mend(one, analysis) if analysis else (None, "")
        if result is None or analysis is None:
            return one._replace(corrected=f"no other attempt: {why or 'nothing can be run here'}")
        self.usage += result.usage
        update = None
        if result.edits:
            told = (one, analysis, result, self.hands.read)
            update = ci_watch.update_of(*told, self.repository, self.report.night.id)
        if update is None:
            return one._replace(corrected=f"no other attempt passed: {result.text}".rstrip(": "))
        receipt = self.say(update)
        if receipt.status not in MADE:
            return one._replace(corrected=f"another attempt was not pushed: {receipt.reason}")
        self.gates[name] = result
        return one._replace(
            sha=receipt.sha,
            former=one.sha,
            since=self.waited,
            run=CiRun(state="pending"),
            corrected="after one correction on its branch",
        )
