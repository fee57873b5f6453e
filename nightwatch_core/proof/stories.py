"""Make a large fix in ordered steps: a plan, then a commit a step, each run before the next.

A step that does not pass ends it. The steps that passed are published where all did, or where the
plan says that they make sense without the rest.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from nightwatch_core.analysis import analyst as fix_alone
from nightwatch_core.analysis import tools
from nightwatch_core.analysis.answers import complaints, mend_request
from nightwatch_core.analysis.prompts import error_text, fenced, only_data, preview_text
from nightwatch_core.analysis.second_look import left_of
from nightwatch_core.code import edits as fixing
from nightwatch_core.code.candidate_symbols import files_testing
from nightwatch_core.code.code_view import halves, inside
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.edit_policy import MAX_FILES, MAX_LINES
from nightwatch_core.code.edit_policy import refusal as path_refusal
from nightwatch_core.code.edits import ChangedCode, apply, grounds_of, judged
from nightwatch_core.code.injected_instructions import (
    InjectedInstructions,
    injected_instructions,
    quarantine_reason,
    repeated_instruction,
    texts_of,
)
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import NightWatchError
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Answer, Edit, PlannedStep, Usage
from nightwatch_core.models.conversation import Conversation, UserTurn
from nightwatch_core.models.options import SECONDS_PER_ERROR
from nightwatch_core.models.proposals import GateResult, Reproduction, Step, Story
from nightwatch_core.models.research import Preview, ResearchContext
from nightwatch_core.ports import CodeReader, Model
from nightwatch_core.proof.asking import (
    Complain,
    Judge,
    ProofBriefing,
    conversed,
    files_seen,
    prompt,
    why_unanswered,
)
from nightwatch_core.proof.correction import refusal, shown_files
from nightwatch_core.proof.gate import checks_known, not_accepted
from nightwatch_core.text.escaping import block, clean, line
from nightwatch_core.text.plain_text import one_line, shortened

MOST_STEPS, TURNS = 5, 5  # of a plan; of the model, its answer included
TITLE, TASK = 72, 2_000  # characters of a step
_CAUSE, _DIFF, _TEXT, _NOTE = 4_000, 12_000, 600, 300  # characters
_TESTS = 6  # files of tests that are named
_GATES = 3  # times the seconds of one gate: all steps together
_GONE = "what is left of NIGHTWATCH_STORY_COST, or of the night, does not pay for another call"
_STILL_RAISED = "the steps that are made do not take the crash away yet"
_REPRODUCED = " After the last one a test that raises production's error today has to be green."
_AGAIN = """\
This plan cannot be taken as it is: {why}. Mend it, or answer `steps: []`, with the whole JSON \
object once more."""


def made_in_steps(
    briefing: ProofBriefing, result: GateResult, judge: Judge, bare: Judge
) -> GateResult:
    """Make a fix in steps where it failed or spans several files, and that may be paid.

    `judge` runs edits with the test that reproduces the error, `bare` without it: the crash has to
    be gone after the last step alone. Return `result` with what was tried where nothing better
    came of it. Raises what the judges raise, nothing of the model's.
    """
    reason = _reason(briefing.analysis, result)
    may_ask = briefing.story and briefing.model and not briefing.known.silent
    if not reason or not may_ask or result.outcome == "not run":
        return result
    assert briefing.model is not None
    return _Making(briefing, briefing.model, judge, bare, result).made(reason)


def _reason(analysis: Analysis, result: GateResult) -> str:
    """Say why a fix is to be made in steps; empty where it is not."""
    if result.outcome == "failed":
        return f"in one piece it did not pass: {result.text}"
    files = {edit.path for edit in analysis.fix}
    sources = [path for path in files if not TEST.search(path)]
    if len(sources) > 1:
        return f"it changes {len(sources)} files"
    unsure = len(files) > 1 and analysis.fix_confidence == "low"
    return "how it should be is not sure" if unsure else ""


class _Written(NamedTuple):
    """The edits of one step, made on what the steps before left; or none, and why."""

    edits: tuple[Edit, ...] = ()
    because: str = ""
    note: str = ""  # for later steps; untrusted


@dataclass
class _Making:
    """A fix on its way through its steps."""

    briefing: ProofBriefing
    model: Model
    judge: Judge
    bare: Judge
    whole: GateResult  # of the fix in one piece
    used: Usage = Usage()
    seconds: float = 0.0
    plan: tuple[PlannedStep, ...] = ()
    edits: tuple[Edit, ...] = ()  # of the steps that passed
    last: GateResult | None = None  # of the last of them
    notes: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    def made(self, reason: str) -> GateResult:
        story = Story(outcome="not made", why=reason)
        clock, options = self.briefing.clock, self.briefing.options
        seconds = SECONDS_PER_ERROR + _GATES * options.gate_seconds
        end = clock.monotonic() + seconds
        if because := self._planned():
            return self._kept(story.model_copy(update={"because": because}))
        steps = [Step(title=item.title, accepted_when=item.accepted_when) for item in self.plan]
        for index, step in enumerate(steps):
            late = clock.monotonic() > end
            because = "there was no time for it" if late else self._make(index + 1)
            update = {"outcome": "failed" if because else "passed", "because": because}
            steps[index] = step.model_copy(
                update={**update, "edits": () if because else self.edits}
            )
            if because:
                story = story.model_copy(update={"because": f"{step.title}: {because}"})
                break
        story = story.model_copy(update={"steps": tuple(steps)})
        passed = sum(item.outcome == "passed" for item in steps)
        if passed == len(steps):
            return self._published(story.model_copy(update={"outcome": "whole"}))
        if passed and self.whole.outcome != "passed" and self.plan[passed - 1].stands_alone:
            return self._published(story.model_copy(update={"outcome": "part"}))
        return self._kept(story)

    def _published(self, story: Story) -> GateResult:
        assert self.last is not None
        edits = self.last.edits or self.edits
        reproduction = self.last.reproduction
        if story.outcome == "part":
            reproduction = self.whole.reproduction
            if reproduction and reproduction.outcome == "reproduced":
                reproduction = Reproduction(outcome="not tried", because=_STILL_RAISED)
        update: dict[str, object] = {
            "edits": edits,
            "changes": file_diffs(edits, self.briefing.base.read_file),
            "read": tuple(dict.fromkeys((*self.whole.read, *self.read))),
            "reproduction": reproduction,
            "correction": None,
        }
        return self._kept(story, self.last.model_copy(update=update))

    def _kept(self, story: Story, result: GateResult | None = None) -> GateResult:
        """Return a result, else that of the fix in one piece, with what all of it took."""
        update = {
            "story": story,
            "usage": self.whole.usage + self.used,
            "seconds": round(self.whole.seconds + self.seconds, 1),
        }
        return (result or self.whole).model_copy(update=update)

    # The plan

    def _planned(self) -> str:
        """Ask for the steps; return why there are none."""
        briefing, analysis = self.briefing, self.briefing.analysis
        previews = shown_files(analysis.fix, briefing.shown.read_file)
        printed = tuple(item.output for item in self.whole.checks)
        research = ResearchContext(previews=previews)
        ground = _Ground(
            frozenset(briefing.base.paths()),
            checks_known(briefing.draft, briefing.base, briefing.options),
            injected_instructions(texts_of(analysis.case, research, printed)),
        )
        text = {"type": "string"}
        fields = {
            "title": text,
            "root_cause": text,
            "confidence": Answer.model_json_schema()["properties"]["confidence"],
            "steps": {"type": "array", "items": PlannedStep.model_json_schema()},
        }
        opening = Conversation(
            system=prompt("plan_system"),
            tools=tools.offered(fix_alone.TOOLS, None),
            answer_schema={"type": "object", "properties": fields, "required": [*fields]},
            turns=(UserTurn(text=self._plan_request(previews, ground.checks)),),
            case=analysis.case,
            research=research,
        )

        def complain(answer: Answer, _: tuple[str, ...]) -> str:
            reason = _objection(_plain_steps(answer), ground)
            return _AGAIN.format(why=reason) if reason else ""

        try:
            answer, _ = self._asked(opening, briefing.shown, printed, complain)
        except NightWatchError as trouble:
            return self._unanswered(trouble)
        steps = _plain_steps(answer)
        if reason := _objection(steps, ground):
            return f"its plan could not be taken: {reason}"
        if len(steps) < 2:
            said = shortened(one_line(answer.root_cause), _TEXT)
            return f"it is better made in one piece: {said}"
        self.plan = steps
        return ""

    def _plan_request(self, previews: tuple[Preview, ...], checks: tuple[str, ...]) -> str:
        briefing, analysis = self.briefing, self.briefing.analysis
        tests = _tests_of(sorted({edit.path for edit in analysis.fix}), briefing.base.paths())
        reproduced = self.whole.reproduction.test if self.whole.reproduction else ()
        named = ", ".join(f"`{item}`" for item in checks)
        return prompt("plan").format(
            **self._common(),
            most=MOST_STEPS,
            diff=self._fenced(halves(fixing.diff((*analysis.fix, *reproduced)), _DIFF)),
            came=self._fenced(_outcome_text(self.whole)),
            code="\n\n".join(self._fenced(preview_text(item)) for item in previews),
            tests=", ".join(f"`{path}`" for path in tests) or "none that is called like them",
            title=TITLE,
            files=MAX_FILES,
            lines=MAX_LINES,
            checks="the path of one file of tests, there already or made by this step or one "
            f"before it; or one of {named}",
            reproduced=_REPRODUCED if reproduced else "",
        )

    # One step

    def _make(self, number: int) -> str:
        """Write and run one step, counted from 1; return why it did not pass."""
        try:
            written = self._written(number)
        except NightWatchError as trouble:
            return self._unanswered(trouble)
        if not written.edits:
            return written.because
        edits = (*self.edits, *written.edits)
        if reason := refusal(edits, self.edits, self.briefing):
            return reason
        result = self.judge(edits) if number == len(self.plan) else self.bare(edits)
        self.seconds += result.seconds
        if result.outcome != "passed":
            return result.text
        base = self.briefing.base
        changes = apply(edits, base.read_file, base.paths()).changes
        draft = self.briefing.draft.model_copy(update={"changes": changes})
        name = self.plan[number - 1].accepted_when
        where = (base, self.briefing.sandbox, self.briefing.options, self.briefing.known)
        if reason := not_accepted(name, result, draft, *where):
            return reason
        self.edits, self.last = edits, result
        self.notes.append(written.note)
        return ""

    def _written(self, number: int) -> _Written:
        """Ask for the edits of a step in a fresh context; judge them, run nothing.

        Raises what the loop and the code readers raise; `GiveUp` where the steps before cannot be
        made on what a model may see.
        """
        case, analysis = self.briefing.analysis.case, self.briefing.analysis
        step, code = self.plan[number - 1], ChangedCode(self.briefing.shown, self.edits)
        previews = self._previews(step, code)
        opening = Conversation(
            system=fix_alone.SYSTEM,
            tools=tools.offered(fix_alone.TOOLS, None),
            answer_schema=fix_alone.schema(learnings=True),
            turns=(UserTurn(text=self._step_request(number, previews)),),
            case=case,
            research=ResearchContext(previews=previews),
        )

        def complain(answer: Answer, seen: tuple[str, ...]) -> str:
            return mend_request(complaints(answer, case, code, seen))

        answer, read = self._asked(opening, code, (*self.notes, self.whole.text), complain)
        said = shortened(one_line(answer.root_cause), _TEXT)
        if not (answer.has_fix and answer.file_changes):
            return _Written(because=f"it was not made: {said}")
        orders = injected_instructions(texts_of(case, ResearchContext(), tuple(self.notes)))
        grounds = grounds_of(answer, case, analysis.evidence, read, orders)
        fix = judged(answer.file_changes, code, grounds)
        if fix.refused:
            return _Written(because=f"{fix.refused[0].path}: {fix.refused[0].reason}")
        facts = (*(item.description for item in fix.edits), *(f.fact for f in answer.learnings[:3]))
        rows = (f"- {line(fact, _NOTE)}" for fact in facts if fact)
        return _Written(fix.edits, said, "\n".join((f"{line(step.title, TITLE)}:", *rows)))

    def _step_request(self, number: int, previews: tuple[Preview, ...]) -> str:
        step = self.plan[number - 1]
        states = ["made"] * (number - 1) + ["this one"] + ["later"] * len(self.plan)
        plan = (
            f"{index}. {line(item.title, TITLE)} ({states[index - 1]}; {', '.join(item.files)})"
            for index, item in enumerate(self.plan, 1)
        )
        diff = fixing.diff(tuple(e for e in self.briefing.analysis.fix if e.path in step.files))
        failed = self.whole.text if self.whole.outcome == "failed" else ""
        failed = f"\n\nIt did not pass: {line(failed, _TEXT)}" if failed else ""
        return prompt("step").format(
            **self._common(),
            number=number,
            of=len(self.plan),
            plan="\n".join(plan),
            notes=self._fenced("\n".join(self.notes)) if self.notes else "None: it is the first.",
            title=line(step.title, TITLE),
            task=block(step.task, TASK) or "As its title says.",
            files=", ".join(f"`{path}`" for path in step.files),
            accepted=f"`{step.accepted_when}` is green",
            diff=self._fenced(f"{halves(diff, _DIFF)}{failed}") if diff else "Nothing.",
            code="\n\n".join(self._fenced(preview_text(item)) for item in previews)
            or "None of them is there yet.",
        )

    def _previews(self, step: PlannedStep, code: ChangedCode) -> tuple[Preview, ...]:
        """Show the step's files around what was proposed for them; for a new test, an example."""
        paths = self.briefing.base.paths()
        proposed = [e for e in self.briefing.analysis.fix if e.path in step.files and e.old]
        rest = sorted({*step.files} - {edit.path for edit in proposed})
        if new := next((p for p in step.files if TEST.search(p) and p not in paths), ""):
            folder = new.rpartition("/")[0]
            near = [p for p in paths if p.rpartition("/")[0] == folder and TEST.search(p)]
            alike = get_close_matches(new, near, 1, 0.0)
            rest += [*_tests_of(step.files, paths), *alike][:1]
        return shown_files((*proposed, *(Edit(path=path) for path in rest)), code.read_file)

    # Both

    def _asked(
        self, opening: Conversation, code: CodeReader, outside: tuple[str, ...], complain: Complain
    ) -> tuple[Answer, tuple[str, ...]]:
        """Return the answer and the files it was shown; raises what the loop and readers raise."""
        briefing = self.briefing
        assert briefing.story is not None
        allowance = left_of(briefing.story, self.whole.usage + self.used)
        turns = {"iterations": min(allowance.iterations, TURNS)}
        allowance = allowance.model_copy(update=turns)
        asked = conversed(briefing, self.model, opening, code, allowance, outside, complain)
        self.used += asked.state.budget.used
        read = files_seen(briefing, opening, asked.state.calls)
        self.read += read
        return asked.answer, read

    def _unanswered(self, trouble: NightWatchError) -> str:
        self.used += trouble.usage or Usage()
        return why_unanswered(self.briefing, trouble, _GONE)

    def _fenced(self, text: str) -> str:
        return fenced(text, self.briefing.fence)

    def _common(self) -> dict[str, object]:
        """Return what both requests say: the error, and the cause with the lines that show it."""
        analysis = self.briefing.analysis
        quotes = (item for item in analysis.evidence if item.verified)
        rows = (f"{item.path}:{item.line}: {line(item.quote, _NOTE)}" for item in quotes)
        return {
            "data": only_data(self.briefing.fence),
            "error": self._fenced(error_text(analysis.case)),
            "cause": self._fenced("\n".join((block(analysis.root_cause, _CAUSE), *rows))),
            "turns": TURNS,
        }


def _outcome_text(result: GateResult) -> str:
    rows = [f"{item.outcome}: {line(item.text or item.name, _TEXT)}" for item in result.checks]
    if result.text not in {item.text for item in result.checks}:
        rows.insert(0, f"{result.outcome}: {line(result.text, _TEXT)}")
    rows += [item.output[-_CAUSE:] for item in result.checks if item.outcome == "failed"]
    if result.correction and result.correction.because:
        rows.append(f"made anew once: {line(result.correction.because, _TEXT)}")
    return block("\n".join(rows), 2 * _CAUSE, code=True)


def _tests_of(files: tuple[str, ...] | list[str], paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(test for p in files for test in files_testing(p, paths)))[:_TESTS]


class _Ground(NamedTuple):
    """What a plan is held against."""

    paths: frozenset[str]  # of the tree
    checks: tuple[str, ...]  # that may accept a step
    orders: InjectedInstructions  # texts from outside, whose orders no step may repeat


def _plain_steps(answer: Answer) -> tuple[PlannedStep, ...]:
    return tuple(
        PlannedStep(
            title=shortened(one_line(clean(item.title)), TITLE),
            task=clean(item.task)[:TASK],
            files=tuple(dict.fromkeys(inside(path) or path for path in item.files)),
            accepted_when=inside(item.accepted_when) or item.accepted_when,
            stands_alone=item.stands_alone,
        )
        for item in answer.steps
    )


def _objection(steps: tuple[PlannedStep, ...], ground: _Ground) -> str:
    """Say why a plan cannot be taken; empty where it can, as the empty one."""
    files = {path for step in steps for path in step.files}
    if len(steps) > MOST_STEPS:
        return f"{len(steps)} steps, at most {MOST_STEPS}"
    if len(files) > MAX_FILES:
        return f"{len(files)} files, at most {MAX_FILES}"
    there = set(ground.paths)
    for number, step in enumerate(steps, 1):
        there |= {*step.files}
        if reason := next(_wrong(step, ground, there), ""):
            return f"step {number}: {reason}"
    return ""


def _wrong(step: PlannedStep, ground: _Ground, there: set[str]) -> Iterator[str]:
    """Say what is wrong with a step; `there` are the files of the tree once it is made."""
    if not (step.title and step.files):
        yield "it needs a title and its files"
    for path in step.files:
        if not inside(path):
            yield f"{path[:200]!a} names no file of the repository"
        elif reason := path_refusal(path, ground.paths, is_new=path not in ground.paths):
            yield reason
    name = step.accepted_when
    is_test = name in there and TEST.search(name) and not name.startswith("-")
    if name not in ground.checks and not is_test:
        checks = ", ".join(ground.checks)
        yield f"accepted_when is {name[:80]!a}, neither a file of tests by then nor {checks}"
    if order := repeated_instruction(f"{step.title}\n{step.task}", ground.orders):
        yield quarantine_reason("it", order)
