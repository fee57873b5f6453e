"""The loop: ask, run the tools that were asked for, ask again, until there is an answer.

Append-only: nothing that was said is ever changed. Every bound is looked at before a call, and the
last call inside the bounds is always one with tools off, so that an analysis ends with an answer.
Where tools told more than was to be expected, that call is all by which a bound is passed.
"""

from pydantic import Field

from nightwatch_core.analysis import call_budget as reserving
from nightwatch_core.analysis import endings
from nightwatch_core.analysis.answers import read_answer
from nightwatch_core.analysis.call_budget import CONCLUDING, Prompt
from nightwatch_core.analysis.calls import Calls, RunTool, declined, with_results
from nightwatch_core.analysis.progress import PATIENCE, known_at_first
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.analysis import Allowance, Answer, Ending, Usage
from nightwatch_core.models.conversation import (
    Capabilities,
    Conversation,
    Reply,
    ResultsTurn,
    UserTurn,
)
from nightwatch_core.models.value import Value
from nightwatch_core.ports import Clock, Model
from nightwatch_core.text.token_counts import estimated

_WRAP_UP = (
    "Time to conclude: no more tools. Answer now, in the schema, with what you have seen. "
    "Say what you could not check."
)
_REPAIR = "Your last message could not be read: {why}. Answer again with the JSON object only."
_OFF = "Not run: tools are off now."
_CUT = "Not run: your message was cut off here. Ask again, for fewer things at once."


class Talk(Value):
    """A conversation under way, and what it has used."""

    conversation: Conversation
    able: Capabilities
    prompt: Prompt  # of the next call
    fixed: int  # tokens of it that are there before anything is said
    usage: Usage = Usage()
    iterations: int = 0
    repaired: bool = False
    bound: str = ""  # which bound ended it
    calls: Calls = Calls()
    cleared: int = 0  # tokens of answers that the model is no longer sent


class Conclusion(Value):
    """The answer a conversation came to."""

    answer: Answer
    ending: Ending
    talk: Talk = Field(repr=False)


def converse(
    opening: Conversation, model: Model, run_tool: RunTool, allowance: Allowance, clock: Clock
) -> Conclusion:
    """Lead the conversation to an answer.

    Raises `GiveUp` where the model refuses, its answer cannot be read even after one repair, or too
    little may be used for one call; `TryLater` and `StopTheNight` come from the model or the tools,
    `StopTheNight` too where USD are capped and the model's price is not known. Each of them says in
    `usage` what was used until then, and in `ending` how the conversation ended, where it did.
    """
    end, usage = clock.monotonic() + allowance.seconds, Usage()
    try:
        talk = begun(opening, _able(model), allowance)
        while True:
            talk = _wrapped_up(talk, bound_in_sight(talk, allowance, end - clock.monotonic()))
            left = max(end - clock.monotonic(), CONCLUDING * allowance.seconds, 1.0)
            reply = _asked(model, _within(talk, allowance), left)
            talk = _after(talk, reply)
            usage = talk.usage
            if (further := _further(talk, reply, run_tool)) is not None:
                talk = further
                continue
            try:
                answer = read_answer(reply.turn.text)
            except GiveUp as complaint:
                talk = _asked_to_repair(talk, reply, str(complaint), allowance)
                continue
            kind = Ending(kind="wrapped up", detail=talk.bound) if talk.bound else Ending()
            return Conclusion(answer=answer, ending=kind, talk=talk)
    except NightWatchError as trouble:
        trouble.usage = usage + (trouble.usage or Usage())
        raise


def begun(opening: Conversation, able: Capabilities, may: Allowance) -> Talk:
    """A talk before its first call; raises where that cannot be paid, or its price is not known."""
    if not able.local and may.cost is not None and None in (able.input_price, able.output_price):
        raise endings.unpriced(able.model)
    fixed = estimated(str(opening.model_dump(include={"system", "tools", "answer_schema"})))
    talk = Talk(
        conversation=opening,
        able=able,
        fixed=fixed,
        prompt=Prompt(new=fixed + estimated(str(opening.model_dump(include={"turns"})))),
        calls=Calls(known=known_at_first(opening)),
    )
    rooms = reserving.to_conclude(talk.prompt, Usage(), may, able)
    if short := reserving.too_small(rooms, _least(talk, may)):
        raise endings.not_begun(short)
    return talk


def bound_in_sight(talk: Talk, may: Allowance, seconds_left: float) -> str:
    """The bound that leaves room for one more call only; empty where none is near."""
    rooms = reserving.to_explore(talk.prompt, talk.usage, may, talk.able)
    near = (
        ("iterations", talk.iterations + 1 >= may.iterations),
        ("progress", talk.calls.idle >= PATIENCE),
        ("time", seconds_left < CONCLUDING * may.seconds),
    )
    bound = next((name for name, reached in near if reached), "")
    return bound or reserving.too_small(rooms, _least(talk, may))


def _least(talk: Talk, may: Allowance) -> int:
    """Output tokens below which a call is of no use."""
    return min(reserving.concluding(may) // 2, talk.conversation.max_tokens)


def _within(talk: Talk, may: Allowance) -> Conversation:
    """What is sent: the conversation, with as many output tokens as its bounds allow."""
    reckon = reserving.to_conclude if talk.conversation.tools_off else reserving.to_explore
    wanted = min(talk.conversation.max_tokens, talk.able.max_output_tokens)
    rooms = reckon(talk.prompt, talk.usage, may, talk.able)
    most = reserving.granted(rooms, wanted, _least(talk, may))
    return talk.conversation.model_copy(update={"max_tokens": most})


def _able(model: Model) -> Capabilities:
    try:
        return model.capabilities()
    except TryLater as away:
        endings.unreachable(away)
        raise


def _asked(model: Model, conversation: Conversation, seconds: float) -> Reply:
    try:
        return model.reply(conversation, seconds)
    except TryLater as away:
        endings.unreachable(away)
        raise


def _after(talk: Talk, reply: Reply) -> Talk:
    used = reply.usage
    cleared = max(talk.cleared, used.cleared_tokens)
    gone = cleared > talk.cleared or used.compactions
    summed_up = Prompt(new=talk.fixed + used.output_tokens)
    return talk.model_copy(
        update={
            "conversation": talk.conversation.said(reply.turn),
            "usage": talk.usage + used,
            "prompt": summed_up if used.compactions else reserving.next_prompt(used),
            "iterations": talk.iterations + 1,
            "calls": talk.calls.forgotten() if gone else talk.calls,
            "cleared": cleared,
        }
    )


def _told(talk: Talk, *turns: ResultsTurn | UserTurn) -> Talk:
    """The talk after we said something more."""
    texts = [
        text
        for turn in turns
        for text in (
            (turn.text,) if isinstance(turn, UserTurn) else (one.text for one in turn.results)
        )
    ]
    prompt = talk.prompt.model_copy(update={"new": talk.prompt.new + sum(map(estimated, texts))})
    said = talk.conversation.said(*turns)
    return talk.model_copy(update={"conversation": said, "prompt": prompt})


def _further(talk: Talk, reply: Reply, run_tool: RunTool) -> Talk | None:
    """The talk one turn further, where the reply is not meant as an answer."""
    if (over := endings.fatal(reply)) is not None:
        raise over
    if talk.conversation.tools_off:
        return None
    asked = reply.turn.calls
    if not asked:
        return talk if reply.stop == "paused" else None
    if reply.stop == "cut":  # the last call may be half a call
        turn, calls = declined(asked, _CUT), talk.calls.idled()
    else:
        turn, calls = with_results(talk.calls, asked, run_tool, talk.iterations)
    return _told(talk.model_copy(update={"calls": calls}), turn)


def _wrapped_up(talk: Talk, bound: str) -> Talk:
    if not bound or talk.conversation.tools_off:
        return talk
    off = talk.conversation.model_copy(update={"tools_off": True})
    talk = talk.model_copy(update={"conversation": off, "bound": bound})
    return _told(talk, UserTurn(text=_WRAP_UP, effort="low"))


def _asked_to_repair(talk: Talk, reply: Reply, complaint: str, may: Allowance) -> Talk:
    cut = "; it was cut off, so keep it shorter" if reply.stop == "cut" else ""
    rooms = reserving.to_conclude(talk.prompt, talk.usage, may, talk.able)
    if talk.repaired:
        raise endings.invalid(f"{complaint}{cut}")
    if talk.bound and (short := reserving.too_small(rooms, _least(talk, may))):
        raise endings.invalid(f"{complaint}{cut}; too little is left to ask again ({short})")
    turns: tuple[ResultsTurn | UserTurn, ...] = (
        UserTurn(text=_REPAIR.format(why=f"{complaint}{cut}")),
    )
    if reply.turn.calls:  # every call wants its result before anything else is said
        turns = (declined(reply.turn.calls, _OFF), *turns)
    off = talk.conversation.model_copy(update={"tools_off": True})
    talk = talk.model_copy(update={"conversation": off, "repaired": True})
    return _told(_forbidden(talk) if reply.turn.calls else talk, *turns)


def _forbidden(talk: Talk) -> Talk:
    """The talk after words did not keep the model from calling tools: the cache is lost by it."""
    bound = talk.conversation.model_copy(update={"no_calls": True})
    anew = Prompt(new=talk.prompt.whole)
    return talk.model_copy(update={"conversation": bound, "prompt": anew})
