"""The steps of a fix made one after another: written, run on the base with those before, kept."""

from dataclasses import dataclass, field, replace
from functools import partial

from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code.changed_code import ChangedCode
from nightwatch_core.code.edits import apply
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import NightWatchError
from nightwatch_core.gate.acceptance import TESTS, not_accepted
from nightwatch_core.models.answer import Edit, PlannedStep
from nightwatch_core.models.gate import Check, GateResult, Step
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof.asking import why_unanswered
from nightwatch_core.proof.attempt import Judge
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.correction import corrected
from nightwatch_core.proof.fix_policy import refusal
from nightwatch_core.proof.story_steps import Ask, Written, written
from nightwatch_core.proof.story_texts import note_of

GONE = "what is left of NIGHTWATCH_STORY_COST, or of the night, does not pay for another call"


@dataclass
class Making:
    """A fix on its way through its steps."""

    briefing: ProofBriefing
    model: Model
    judge: Judge  # runs edits with the test that reproduces the error
    bare: Judge  # runs them without it
    may: Allowance  # of all steps together
    failed: str = ""  # what the fix in one piece did not pass
    used: Usage = Usage()
    edits: tuple[Edit, ...] = ()  # of the steps that passed
    last: GateResult | None = None  # of the last of them
    with_test: bool = False  # whether that was run with the test
    notes: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    seconds: float = 0.0
    _lacked: str = ""  # why the last of them was run by its own test alone
    _plan: tuple[PlannedStep, ...] = field(default=())

    @property
    def left(self) -> Allowance:
        """What may still be used."""
        return left_of(self.may, self.used)

    def make(self, plan: tuple[PlannedStep, ...], end: float) -> tuple[Step, ...]:
        """Make steps until one does not pass, or the clock is past `end`; returns all of them.

        Raises what the judges raise, nothing of the model's.
        """
        self._plan = plan
        steps = [Step(title=one.title, accepted_when=one.accepted_when) for one in plan]
        for at, step in enumerate(steps):
            late = self.briefing.clock.monotonic() > end
            why = "there was no time for it" if late else self._made(at + 1)
            came = {"outcome": "failed" if why else "passed", "because": why or self._lacked}
            steps[at] = step.model_copy(update={**came, "edits": () if why else self.edits})
            if why:
                break
        return tuple(steps)

    def _made(self, number: int) -> str:
        """Make one step; returns why it did not pass."""
        ask = Ask(self._plan, number, self.edits, self.notes, self.failed)
        try:
            step = written(self.briefing, self.model, ask, self.left)
        except NightWatchError as trouble:
            self.used += trouble.usage or Usage()
            return why_unanswered(self.briefing, trouble, GONE)
        self.used += step.usage
        self.read = tuple(dict.fromkeys((*self.read, *step.read)))
        if not step.edits:
            return step.because
        result = self._proved(number, step.edits)
        if result.outcome == "failed":
            result = self._again(number, step, result)
        if result.outcome != "passed":
            tried = result.correction.because if result.correction else ""
            return f"{result.text}; made anew: {tried}" if tried else result.text
        edits = result.correction.edits if result.correction else step.edits
        self.edits, self.last = (*self.edits, *edits), result
        self.with_test = number == len(self._plan)
        self.read = tuple(dict.fromkeys((*self.read, *result.read)))
        again = result.correction
        note = note_of(self._plan[number - 1], edits, (again.because,)) if again else step.note
        self.notes = (*self.notes, note)
        return ""

    def _proved(self, number: int, edits: tuple[Edit, ...]) -> GateResult:
        """Run a step's edits behind those before: the gate, then what the plan accepts it by."""
        briefing, edits = self.briefing, (*self.edits, *edits)
        if why := refusal(edits, self.edits, briefing):
            return GateResult(outcome="failed", text=why)
        result = self.judge(edits) if number == len(self._plan) else self.bare(edits)
        self.seconds += result.seconds
        name, is_last = self._plan[number - 1].accepted_when, number == len(self._plan)
        alone = result.outcome == "not run" and not is_last and bool(TEST.search(name))
        self._lacked = f"that alone was run: {result.text}" if alone else ""
        if result.outcome != "passed" and not alone:
            return result
        check = self._not_accepted(number, edits, result)
        if check is None and alone:  # no other test is near, and all of them take too long
            check = Check(name=TESTS, outcome="passed", text=f"{name} alone: green")
        if check is None:
            return result
        text = check.text if check.outcome == "failed" else ""
        update = {"outcome": check.outcome, "kind": "", "text": text}
        return result.model_copy(update={**update, "checks": (*result.checks, check)})

    def _not_accepted(
        self, number: int, edits: tuple[Edit, ...], result: GateResult
    ) -> Check | None:
        name, briefing = self._plan[number - 1].accepted_when, self.briefing
        base = briefing.base
        changes = apply(edits, base.read_file, base.paths()).changes
        draft = briefing.draft.model_copy(update={"changes": changes})
        where = (base, briefing.sandbox, briefing.options, briefing.known)
        return not_accepted(name, result, draft, *where)

    def _again(self, number: int, step: Written, failed: GateResult) -> GateResult:
        """The step made anew once, on what the steps before left."""
        briefing, plan = self.briefing, self._plan
        analysis = briefing.analysis.model_copy(update={"fix": step.edits, "read": step.read})
        after = replace(
            briefing,
            analysis=analysis,
            base=ChangedCode(briefing.base, self.edits),
            shown=ChangedCode(briefing.shown, self.edits),
            allowance=self.left,
        )
        text = f"step {number} of {len(plan)}, {plan[number - 1].title}: {failed.text}"
        failed = failed.model_copy(update={"usage": Usage(), "text": text})
        result = corrected(after, failed, partial(self._proved, number))
        self.used += result.usage
        return result
