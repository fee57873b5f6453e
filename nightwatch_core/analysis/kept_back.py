"""Parts of an answer, and tool calls, that repeat an order from outside: kept back, and said."""

from collections.abc import Iterable

from nightwatch_core.code.taint import Strangers, comments_in, in_argument, order_in, sentence_of
from nightwatch_core.models.analysis import KeptBack
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.conversation import AssistantTurn, ResultsTurn, ToolCall, Turn
from nightwatch_core.models.error import Case

# Tools that tell strangers' text: what people wrote to commits, and what production sent.
_TELLS = frozenset({"show_commit", "blame", "history", "get_error_traces"})


def without_orders(answer: Answer, orders: Strangers) -> tuple[Answer, tuple[KeptBack, ...]]:
    """Give the answer without steps, learnings, tags … that repeat an order, and what they were.

    Its edits are judged where all edits are.
    """
    parts: list[KeptBack] = []

    def stays(part: str, text: str) -> bool:
        if order := order_in(text, orders):
            parts.append(KeptBack.model_validate({"part": part, "order": order}))
        return not order

    update = {
        "suggested_next_steps": tuple(
            one for one in answer.suggested_next_steps if stays("next step", one)
        ),
        "learnings": tuple(
            one for one in answer.learnings if stays("learning", f"{one.path}\n{one.fact}")
        ),
        "tags": tuple(one for one in answer.tags if stays("tag", one)),
        "question": answer.question if stays("question", answer.question) else "",
        "file_changes": tuple(
            edit
            if stays("description", edit.description)
            else edit.model_copy(update={"description": ""})
            for edit in answer.file_changes
        ),
    }
    return answer.model_copy(update=update), tuple(dict.fromkeys(parts))


def order_of_call(call: ToolCall, case: Case, orders: Strangers) -> str:
    """Give the order from outside that a call repeats; empty where it may be run."""
    frames = [frame.path for frame in (case.trace.frames if case.trace else ())]
    found = (in_argument(name, value, orders, frames) for name, value in call.arguments.items())
    return next(filter(None, found), "")


def refusal(order: str) -> str:
    """Tell the model why its call was not run."""
    return f"Not run: {sentence_of('the call', order)}. Ask for what the error itself asks for."


def calls_kept_back(turns: Iterable[Turn], case: Case, orders: Strangers) -> tuple[KeptBack, ...]:
    """List the calls of a conversation that were not run."""
    calls = (call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls)
    known = (order_of_call(call, case, orders) for call in calls)
    return tuple(dict.fromkeys(KeptBack(part="tool call", order=one) for one in known if one))


def heard_in(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Give what tools told of strangers' text in a conversation."""
    results = (one for turn in turns if isinstance(turn, ResultsTurn) for one in turn.results)
    return tuple(one.text if one.name in _TELLS else comments_in(one.text) for one in results)
