"""A test asked for in a small conversation of its own: twice at most, the second time told more."""

from collections.abc import Mapping
from typing import Any

from nightwatch_core.analysis import endings
from nightwatch_core.analysis.json_objects import read_object
from nightwatch_core.analysis.loop_state import LoopState, begin, heard, request
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.conversation import Conversation, Reply, UserTurn
from nightwatch_core.models.gate import Reproduction
from nightwatch_core.models.usage import Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof import reproduction_texts as texts
from nightwatch_core.proof.attempt import Attempt
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.candidate import Candidate, placed
from nightwatch_core.proof.reproduction import Tried, tried
from nightwatch_core.proof.stage import Stage, stage_for
from nightwatch_core.text.plain_text import one_line, shortened

ASKS, TOKENS = 2, 16_000
_EXAMPLES, _REASON = 2, 400
_HELPERS = ("conftest.py", "test_helper.rb", "spec_helper.rb", "rails_helper.rb")


def by_model(briefing: ProofBriefing) -> Attempt:
    """Ask the model for a test, and run it; never raises what the model or the project does."""
    if briefing.model is None or briefing.known.silent:
        because = briefing.known.silent or "no model is asked for tests"
        return _not_tried(because)
    stage = stage_for(briefing)
    if isinstance(stage, str):
        return _not_tried(stage)
    asking = _Asking(stage, briefing.model)
    try:
        reproduction = asking.reproduction()
    except NightWatchError as trouble:
        if isinstance(trouble, StopTheNight):
            briefing.known.silent = str(trouble)
        because = shortened(one_line(str(trouble)), _REASON)
        reproduction = Reproduction(outcome="not reproduced", because=because, by="model")
        asking.used += trouble.usage or Usage()
    update = {"tries": asking.tries, "seconds": round(stage.seconds, 1)}
    return Attempt(reproduction=reproduction.model_copy(update=update), usage=asking.used)


def _not_tried(because: str) -> Attempt:
    return Attempt(reproduction=Reproduction(outcome="not tried", because=because))


class _Asking:
    """The conversation, and what it has used."""

    def __init__(self, stage: Stage, model: Model) -> None:
        self.stage, self.model = stage, model
        self.used, self.tries = Usage(), 0

    def reproduction(self) -> Reproduction:
        """The reproduction that came of it, or why there is none; raises what the model raises."""
        briefing, examples = self.stage.briefing, examples_for(self.stage)
        opening = Conversation(
            system=texts.SYSTEM,
            answer_schema=texts.schema(),
            turns=(UserTurn(text=texts.request(self.stage, examples)),),
            case=briefing.analysis.case,
            max_tokens=TOKENS,
            tools_off=True,
        )
        state = begin(opening, self.model.capabilities(), briefing.allowance)
        while True:
            state, reply = self._asked(state)
            came = self._tried(reply, examples)
            if came.reproduction.outcome == "reproduced" or self.tries >= ASKS:
                return came.reproduction
            if came.reproduction.outcome == "not tried":
                return came.reproduction
            turn = UserTurn(text=texts.again(self.stage, came.reproduction, came.shown))
            if not self._has_room(state, turn):
                return came.reproduction
            state = _told(state, turn)

    def _asked(self, state: LoopState) -> tuple[LoopState, Reply]:
        if bound := state.budget.bound(concluding=True):
            raise endings.not_begun(bound)
        reply = self.model.reply(request(state), float(self.stage.briefing.allowance.seconds))
        self.used, self.tries = self.used + reply.usage, self.tries + 1
        if trouble := endings.fatal(reply):
            raise trouble
        return heard(state, reply), reply

    def _has_room(self, state: LoopState, turn: UserTurn) -> bool:
        return not _told(state, turn).budget.bound(concluding=True) and self.stage.seconds_left > 0

    def _tried(self, reply: Reply, examples: tuple[str, ...]) -> Tried:
        """What came of running the test that a reply holds."""
        try:
            answer = read_object(reply.turn.text, texts.FIELDS)
        except GiveUp as wrong:
            return _without(str(wrong))
        if not _text(answer, "expecting").strip():
            why = shortened(one_line(_text(answer, "why_not")), _REASON) or "no test was given"
            return _without(why, "not tried")
        briefing = self.stage.briefing
        taken = (one.path for one in briefing.analysis.fix)
        paths = (*briefing.failing.paths(), *briefing.base.paths(), *taken)
        path = placed(_text(answer, "path").strip(), examples[0] if examples else "", paths)
        if not path:
            return _without("it is not known where a test would lie")
        test = Candidate(path, _text(answer, "expecting"), _text(answer, "asserting"))
        return tried(self.stage, test, "model")


def _told(state: LoopState, turn: UserTurn) -> LoopState:
    conversation, budget = state.conversation.said(turn), state.budget.told([turn.text])
    return state.model_copy(update={"conversation": conversation, "budget": budget})


def _without(because: str, outcome: str = "not reproduced") -> Tried:
    return Tried(Reproduction.model_validate({"outcome": outcome, "because": because}))


def _text(answer: Mapping[str, Any], name: str) -> str:
    value = answer.get(name)
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def examples_for(stage: Stage) -> tuple[str, ...]:
    """Name tests near the fix, then near the failing code, then what they all load."""
    inside = stage.kit.inner(stage.briefing.failing.paths())
    mended = stage.kit.inner(tuple(edit.path for edit in stage.briefing.analysis.fix))
    failing = stage.kit.inner(tuple(one.path for one in stage.crash.places))
    touched = (path for path in mended if path in inside and _is_test_of(stage, path))
    near = (test for path in (*mended, *failing) for test in files_testing(path, inside))
    others = sorted((one for one in inside if _is_test_of(stage, one)), key=len)
    chosen = tuple(dict.fromkeys((*touched, *near, *others)))[:_EXAMPLES]
    folders = {one.rpartition("/")[0] for one in chosen} | {"test", "spec", "tests", ""}
    helpers = (one for one in inside if one.rpartition("/")[2] in _HELPERS)
    known = [one for one in helpers if one.rpartition("/")[0] in folders][:1]
    return tuple(stage.kit.root + one for one in (*chosen, *known))


def _is_test_of(stage: Stage, path: str) -> bool:
    ending = stage.crash.places[0].path.rpartition(".")[2]
    name = path.rpartition("/")[2]
    is_plain = not name.startswith("__") and name not in _HELPERS
    return bool(TEST.search(path)) and path.endswith(f".{ending}") and is_plain
