"""The plan of a fix in several steps: asked for once, and taken where each step can be judged."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from nightwatch_core.analysis import fix_alone, tools
from nightwatch_core.code.code_view import inside
from nightwatch_core.code.edit_policy import MAX_FILES
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.protected_paths import refusal
from nightwatch_core.code.taint import Strangers, order_in, sentence_of, strangers, texts_of
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.models.answer import Answer, PlannedStep
from nightwatch_core.models.conversation import Capabilities, Conversation, UserTurn
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof.asking import conversed
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.correction_texts import shown_files
from nightwatch_core.proof.story_texts import MOST_STEPS, SYSTEM, TASK, TITLE, TURNS, plan_request
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.units import estimated_tokens, money

_ASKED, _WRITTEN = 4_000, 5_000  # tokens of a step: what it is told besides files; its answer
_ASKED_TWICE = 2  # a step that does not pass is made anew once
_TESTS = 6  # that are named
_REASON = 600  # characters
_AGAIN = """\
This plan cannot be taken as it is: {why}. Mend it, or answer `steps: []`, with the whole JSON \
object once more."""


class Plan(NamedTuple):
    """Steps in order; none where there are no two that could be taken."""

    steps: tuple[PlannedStep, ...] = ()
    because: str = ""  # why these, or why none; untrusted
    usage: Usage = Usage()


class Ground(NamedTuple):
    """What the steps of a plan are held against."""

    paths: frozenset[str]  # of the tree
    checks: tuple[str, ...]  # that may accept a step
    orders: Strangers = Strangers()


def planned(
    briefing: ProofBriefing,
    model: Model,
    result: GateResult,
    checks: tuple[str, ...],
    allowance: Allowance,
) -> Plan:
    """Ask for the steps of a fix whose `result` in one piece is known.

    Raises what the loop raises, and the code readers.
    """
    analysis = briefing.analysis
    previews = shown_files(analysis.fix, briefing.shown.read_file)
    tests = tests_of({edit.path for edit in analysis.fix}, briefing.base.paths())
    printed = tuple(one.output for one in result.checks)
    opening = Conversation(
        system=SYSTEM,
        tools=tools.offered(fix_alone.TOOLS, None),
        answer_schema=schema(),
        turns=(
            UserTurn(text=plan_request(analysis, result, checks, tests, previews, briefing.fence)),
        ),
        case=analysis.case,
        research=ResearchContext(previews=previews),
    )
    orders = strangers(texts_of(analysis.case, opening.research, printed))
    ground = Ground(frozenset(briefing.base.paths()), checks, orders)

    def complain(answer: Answer, _: tuple[str, ...]) -> str:
        why = wrong_with(plain_steps(answer), ground)
        return _AGAIN.format(why=why) if why else ""

    turns = min(allowance.iterations, TURNS)
    allowance = allowance.model_copy(update={"iterations": turns})
    asked = conversed(briefing, model, opening, briefing.shown, allowance, printed, complain)
    steps, usage = plain_steps(asked.answer), asked.state.budget.used
    if why := wrong_with(steps, ground):
        return Plan(because=f"its plan could not be taken: {why}", usage=usage)
    said = shortened(one_line(asked.answer.root_cause), _REASON)
    if len(steps) < 2:
        return Plan(because=f"it is better made in one piece: {said}", usage=usage)
    return Plan(steps, said, usage)


def tests_of(files: Iterable[str], paths: Sequence[str]) -> tuple[str, ...]:
    """Name files of tests that are there for some files, by what they are called."""
    named = (test for path in sorted(files) for test in files_testing(path, paths))
    return tuple(dict.fromkeys(named))[:_TESTS]


def schema() -> dict[str, Any]:
    """Give the schema of a plan."""
    text = {"type": "string"}
    sure = Answer.model_json_schema()["properties"]["confidence"]
    steps = {"type": "array", "items": PlannedStep.model_json_schema()}
    fields = {"title": text, "root_cause": text, "confidence": sure, "steps": steps}
    return {"type": "object", "properties": fields, "required": [*fields]}


def plain_steps(answer: Answer) -> tuple[PlannedStep, ...]:
    """Return the steps of an answer, their texts cut and their paths as the tree has them."""
    return tuple(
        PlannedStep(
            title=shortened(one_line(clean(one.title)), TITLE),
            task=clean(one.task)[:TASK],
            files=tuple(dict.fromkeys(inside(path) or path for path in one.files)),
            accepted_when=inside(one.accepted_when) or one.accepted_when,
            stands_alone=one.stands_alone,
        )
        for one in answer.steps
    )


def wrong_with(steps: Sequence[PlannedStep], ground: Ground) -> str:
    """Say why a plan cannot be taken; empty where it can, as the empty one."""
    files = {path for step in steps for path in step.files}
    if len(steps) > MOST_STEPS:
        return f"{len(steps)} steps, at most {MOST_STEPS}"
    if len(files) > MAX_FILES:
        return f"{len(files)} files, at most {MAX_FILES}"
    made = set(ground.paths)
    for number, step in enumerate(steps, 1):
        made |= {*step.files}
        why = next((why for rule in _RULES if (why := rule(step, ground, made))), "")
        if why:
            return f"step {number}: {why}"
    return ""


def _unnamed(step: PlannedStep, ground: Ground, _: set[str]) -> str:
    return "" if step.title and step.files else "it needs a title and its files"


def _forbidden(step: PlannedStep, ground: Ground, _: set[str]) -> str:
    """Why one of its files may not be touched."""
    shown = (path for path in step.files if not inside(path))
    if path := next(shown, ""):
        return f"{path[:200]!a} names no file of the repository"
    paths = ((path, path not in ground.paths) for path in step.files)
    reasons = (refusal(path, ground.paths, is_new=is_new) for path, is_new in paths)
    return next((why for why in reasons if why), "")


def _unjudged(step: PlannedStep, ground: Ground, made: set[str]) -> str:
    """Why nobody could tell whether it is done: no check has that name, and no file of tests."""
    name = step.accepted_when
    if name in ground.checks or (name in made and TEST.search(name) and name[:1] != "-"):
        return ""
    checks = ", ".join(ground.checks)
    return f"accepted_when is {name[:80]!a}, no file of tests that is there by then, nor {checks}"


def _ordered(step: PlannedStep, ground: Ground, _: set[str]) -> str:
    order = order_in(f"{step.title}\n{step.task}", ground.orders)
    return sentence_of("it", order) if order else ""


_RULES: tuple[Callable[[PlannedStep, Ground, set[str]], str], ...] = (
    _unnamed,
    _forbidden,
    _unjudged,
    _ordered,
)


class Reckoned(NamedTuple):
    """What the steps of a plan may take."""

    tokens: int
    cost: float | None  # USD; None: nobody knows the price

    def told(self, steps: int, allowance: Allowance) -> str:
        """Say it in a sentence, with what is the most."""
        most = f"{allowance.tokens:,} tokens"
        most += f" and {money(allowance.cost)}" if allowance.cost is not None else ""
        return (
            f"{steps} steps, reckoned at {self.tokens:,} new tokens and {money(self.cost)}; "
            f"at most {most}"
        )

    def is_above(self, allowance: Allowance) -> bool:
        """Whether that is more than may be used."""
        if allowance.cost is not None and (self.cost is None or self.cost > allowance.cost):
            return True
        return self.tokens > allowance.tokens


def reckoned(
    steps: Sequence[PlannedStep], able: Capabilities, read: Callable[[str], str | None]
) -> Reckoned:
    """Reckon what making the steps takes, each of them twice."""
    if able.local:
        return Reckoned(0, 0.0)
    files = chain.from_iterable(step.files for step in steps)
    told = len(steps) * _ASKED + sum(estimated_tokens(read(path) or "") for path in files)
    told, written = told * _ASKED_TWICE, len(steps) * _WRITTEN * _ASKED_TWICE
    prices = able.input_price, able.output_price
    if prices[0] is None or prices[1] is None:
        return Reckoned(told + written, None)
    return Reckoned(told + written, (told * prices[0] + written * prices[1]) / 1_000_000)
