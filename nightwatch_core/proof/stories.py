"""Make a large fix in ordered steps: a plan, then one commit a step, each run before the next."""

from dataclasses import dataclass, field

from nightwatch_core.analysis.previews import preview_text
from nightwatch_core.analysis.prompts import error_text, fenced, only_data
from nightwatch_core.code.candidate_symbols import files_testing
from nightwatch_core.code.code_view import halves, inside
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edit_policy import MAX_FILES, MAX_LINES
from nightwatch_core.code.edits import ChangedCode, diff
from nightwatch_core.code.injected_instructions import (
    InjectedInstructions,
    injected_instructions,
    quarantine_reason,
    repeated_instruction,
    texts_of,
)
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance, Answer, Edit, PlannedStep, Usage
from nightwatch_core.models.proposals import GateResult, Step, Story
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.ports import CodeReader
from nightwatch_core.proof import asking
from nightwatch_core.text.escaping import block, clean, line
from nightwatch_core.text.plain_text import one_line, shortened

MOST_STEPS, TURNS = 5, 5  # of a plan; of the model, its answer included
TITLE, TASK = 72, 2_000  # characters of a step
_CAUSE, _DIFF, _TEXT, _NOTE = 4_000, 12_000, 600, 300  # characters
_TESTS = 6  # test files that are named
_UNPAID = "the rest of the budget for steps or the night is too small for a call"
_REPRODUCED = " After the last one a test that raises production's error today has to be green."


def made_in_steps(
    briefing: asking.ProofBriefing, whole: GateResult, judge: asking.Judge, bare: asking.Judge
) -> GateResult:
    """Make a fix in steps where it failed in one piece or spans several files, and that is paid.

    `judge` runs edits with the test that reproduces the error, `bare` without it. Return `whole`,
    with the steps, unless all passed.
    """
    reason = _reason(briefing.analysis, whole)
    may_ask = briefing.model and not briefing.cache.silent
    if not (reason and briefing.story and may_ask) or whole.outcome == "not run":
        return whole
    return _Making(briefing, briefing.story, whole, judge, bare).result(reason)


def _reason(analysis: Analysis, result: GateResult) -> str:
    """Return the reason to make a fix in steps; empty for none."""
    if result.outcome == "failed":
        return f"as one commit it failed: {result.text}"
    files = {edit.path for edit in analysis.fix}
    sources = [path for path in files if not TEST.search(path)]
    if len(sources) > 1:
        return f"it changes {len(sources)} files"
    unsure = len(files) > 1 and analysis.fix_confidence == "low"
    return "confidence in the fix is low" if unsure else ""


@dataclass
class _Making:
    briefing: asking.ProofBriefing
    allowance: Allowance
    whole: GateResult  # of the fix in one piece
    judge: asking.Judge
    bare: asking.Judge
    used: Usage = Usage()
    seconds: float = 0.0
    edits: tuple[Edit, ...] = ()  # of the steps that passed
    last: GateResult | None = None  # of the last step that passed
    read: list[str] = field(default_factory=list)

    def result(self, reason: str) -> GateResult:
        plan, because = self._plan()
        steps = [Step(title=item.title) for item in plan]
        for index, step in enumerate(steps):
            failed = self._make(plan, index)
            update = {
                "outcome": "failed" if failed else "passed",
                "because": failed,
                "edits": () if failed else self.edits,
            }
            steps[index] = step.model_copy(update=update)
            if failed:
                because = f"{step.title}: {failed}"
                break
        result, outcome = self.whole, "not made"
        if self.last and not because:
            outcome = "whole"
            edits = self.last.edits or self.edits
            passed: dict[str, object] = {
                "edits": edits,
                "changes": file_diffs(edits, self.briefing.base.read_file),
                "read": tuple(dict.fromkeys((*self.whole.read, *self.read))),
                "correction": None,
            }
            result = self.last.model_copy(update=passed)
        story = {"outcome": outcome, "why": reason, "because": because, "steps": tuple(steps)}
        spent = {
            "story": Story.model_validate(story),
            "usage": self.whole.usage + self.used,
            "seconds": round(self.whole.seconds + self.seconds, 1),
        }
        return result.model_copy(update=spent)

    def _plan(self) -> tuple[tuple[PlannedStep, ...], str]:
        """Ask for the steps; return them, else the reason why there are none."""
        briefing, analysis = self.briefing, self.briefing.analysis
        previews = asking.shown_files(analysis.fix, briefing.shown.read_file)
        printed = tuple(item.output for item in self.whole.checks)
        paths = briefing.base.paths()
        research = ResearchContext(previews=previews)
        orders = injected_instructions(texts_of(analysis.case, research, printed))
        files = tuple(sorted({edit.path for edit in analysis.fix}))
        test = self.whole.reproduction.test if self.whole.reproduction else ()
        request = asking.prompt("plan").format(
            **self._context(previews),
            most=MOST_STEPS,
            diff=self._fenced(halves(diff((*analysis.fix, *test)), _DIFF)),
            came=self._fenced(_outcome_text(self.whole)),
            tests=", ".join(f"`{path}`" for path in _tests_of(files, paths)) or "none",
            title=TITLE,
            files=MAX_FILES,
            lines=MAX_LINES,
            reproduced=_REPRODUCED if test else "",
        )

        def complain(answer: Answer, _: tuple[str, ...]) -> str:
            reason = _objection(_plain_steps(answer), orders)
            return asking.prompt("plan_again").format(why=reason) if reason else ""

        schema = asking.schema_of("steps", PlannedStep)
        question = self._question(request, previews, briefing.shown, printed)
        asked = asking.ask(briefing, question, complain, asking.prompt("plan_system"), schema)
        self.used += asked.usage
        self.read += asked.read
        if asked.answer is None:
            return (), asked.because
        steps = _plain_steps(asked.answer)
        if reason := _objection(steps, orders):
            return (), f"the plan could not be used: {reason}"
        if len(steps) < 2:
            because = shortened(one_line(asked.answer.root_cause), _TEXT)
            return (), f"one commit is better: {because}"
        return steps, ""

    def _make(self, plan: tuple[PlannedStep, ...], index: int) -> str:
        """Write and run one step; return the reason it did not pass."""
        briefing, step = self.briefing, plan[index]
        code = ChangedCode(briefing.shown, self.edits)
        previews = self._previews(step, code)
        states = ["made"] * index + ["this one"] + ["later"] * len(plan)
        rows = (
            f"{number}. {line(item.title, TITLE)} ({state}; {', '.join(item.files)})"
            for number, (item, state) in enumerate(zip(plan, states, strict=False), 1)
        )
        proposed = diff(tuple(edit for edit in briefing.analysis.fix if edit.path in step.files))
        failed = self.whole.text if self.whole.outcome == "failed" else ""
        failed = f"\n\nIt did not pass: {line(failed, _TEXT)}" if failed else ""
        request = asking.prompt("step").format(
            **self._context(previews),
            number=index + 1,
            of=len(plan),
            plan="\n".join(rows),
            title=line(step.title, TITLE),
            task=block(step.task, TASK) or "As its title says.",
            files=", ".join(f"`{path}`" for path in step.files),
            diff=self._fenced(f"{halves(proposed, _DIFF)}{failed}") if proposed else "Nothing.",
        )
        question = self._question(request, previews, code, (self.whole.text,))
        made = asking.propose_edits(briefing, question)
        self.used += made.usage
        self.read += made.read
        edits = (*self.edits, *made.edits)
        if not made.edits or (reason := asking.refusal(edits, self.edits, briefing)):
            return made.because if not made.edits else reason
        result = (self.judge if step is plan[-1] else self.bare)(edits)
        self.seconds += result.seconds
        if result.outcome != "passed":
            return result.text
        self.edits, self.last = edits, result
        return ""

    def _previews(self, step: PlannedStep, code: ChangedCode) -> tuple[Preview, ...]:
        paths = self.briefing.base.paths()
        proposed = [e for e in self.briefing.analysis.fix if e.path in step.files and e.old]
        rest = sorted({*step.files} - {edit.path for edit in proposed})
        if new := next((p for p in step.files if TEST.search(p) and p not in paths), ""):
            folder = new.rpartition("/")[0]
            near = [p for p in paths if p.rpartition("/")[0] == folder and "__init__" not in p]
            rest += [*_tests_of(step.files, paths), *near][:1]
        return asking.shown_files((*proposed, *(Edit(path=path) for path in rest)), code.read_file)

    def _question(
        self, text: str, previews: tuple[Preview, ...], code: CodeReader, outside: tuple[str, ...]
    ) -> asking.Question:
        used = self.whole.usage + self.used
        return asking.Question(text, previews, code, self.allowance, TURNS, outside, _UNPAID, used)

    def _fenced(self, text: str) -> str:
        return fenced(text, self.briefing.fence)

    def _context(self, previews: tuple[Preview, ...]) -> dict[str, object]:
        """Return what both requests say: the error, the cause with its evidence, and files."""
        analysis = self.briefing.analysis
        quotes = (item for item in analysis.evidence if item.verified)
        rows = (f"{item.path}:{item.line}: {line(item.quote, _NOTE)}" for item in quotes)
        code = "\n\n".join(self._fenced(preview_text(item)) for item in previews)
        return {
            "data": only_data(self.briefing.fence),
            "error": self._fenced(error_text(analysis.case)),
            "cause": self._fenced("\n".join((block(analysis.root_cause, _CAUSE), *rows))),
            "code": code or "None of them exists yet.",
            "turns": TURNS,
        }


def _outcome_text(result: GateResult) -> str:
    rows = [f"{item.outcome}: {line(item.text or item.name, _TEXT)}" for item in result.checks]
    if result.text not in {item.text for item in result.checks}:
        rows.insert(0, f"{result.outcome}: {line(result.text, _TEXT)}")
    rows += [item.output[-_CAUSE:] for item in result.checks if item.outcome == "failed"]
    if result.correction and result.correction.because:
        rows.append(f"corrected once: {line(result.correction.because, _TEXT)}")
    return block("\n".join(rows), 2 * _CAUSE, code=True)


def _tests_of(files: tuple[str, ...], paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for p in files for test in files_testing(p, paths)))[:_TESTS]


def _plain_steps(answer: Answer) -> tuple[PlannedStep, ...]:
    return tuple(
        PlannedStep(
            title=shortened(one_line(clean(item.title)), TITLE),
            task=clean(item.task)[:TASK],
            files=tuple(dict.fromkeys(inside(path) or path for path in item.files)),
        )
        for item in answer.steps
    )


def _objection(steps: tuple[PlannedStep, ...], orders: InjectedInstructions) -> str:
    """Say what is wrong with a plan; what its edits may change is judged when they are there."""
    if len(steps) > MOST_STEPS:
        return f"{len(steps)} steps, at most {MOST_STEPS}"
    for number, step in enumerate(steps, 1):
        if not (step.title and step.files and all(map(inside, step.files))):
            return f"step {number}: it needs a title and its files in the repository"
        if order := repeated_instruction(f"{step.title}\n{step.task}", orders):
            return f"step {number}: {quarantine_reason('it', order)}"
    return ""
