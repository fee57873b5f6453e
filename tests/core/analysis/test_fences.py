"""Nothing from outside stands in a prompt but in fences of the night, nor in a system prompt."""

import re

from analysis_shapes import AGENT, case, group, trace
from core.analysis.test_prompts import KINDS, preview, research
from core.lesson_shapes import lesson
from hypothesis import given, settings
from hypothesis import strategies as st

from nightwatch_core.analysis import analyst as fix_alone
from nightwatch_core.analysis import tools
from nightwatch_core.analysis.prompts import first_message
from nightwatch_core.models.conversation import ToolCall
from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.models.knowledge import OutcomeEvent
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.triage.batch_triage import question

NIGHT = "3fa9c07d11be"
PLANTED = "zqxplanted"
PIECES = ("```", "`````", "\n", f"```{NIGHT[:6]}", "## The error", "</data>", "# x", "\r", " ")
HOSTILE = st.lists(st.sampled_from((*PIECES, PLANTED)), max_size=12).map(
    lambda parts: f"{PLANTED}{''.join(parts)}{PLANTED}"
)


def hostile_case(text):
    leader = group(message=text, error_class=text, transaction=text, release=text)
    frame = Frame(path=text, line=1, function=text, code=text, in_app=True)
    link = ExceptionLink(error_class=text, message=text, frames=(frame,))
    return case(leader).model_copy(
        update={"trace": trace(raw=text).model_copy(update={"links": (link,)})}
    )


def outside(message):
    """What stands outside of the night's fences."""
    return re.sub(rf"(?ms)^(`{{3,}}{NIGHT})$.*?^\1$", "[data]", message)


def first(text):
    paths = {"previews": tuple(preview(path=text, text=text, kind=kind) for kind in KINDS)}
    return first_message(hostile_case(text), (), research(text, **paths), text, NIGHT)


def fix_asked_for(text):
    event = OutcomeEvent(
        kind="closed unmerged", number=1, on="2026-01-01", because=text, words=(text,)
    )
    known = lesson(title=text, root_cause=text, fix_owed=text, outcomes=(event,))
    shown = ResearchContext(previews=(preview(path=text, text=text),))
    return fix_alone.request(hostile_case(text), known, shown, NIGHT)


def triaged(text):
    of = hostile_case(text)
    return question(of.leader, of.trace, AGENT, NIGHT).turns[0].text


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_what_came_from_outside_stands_in_the_nights_fences_only(text):
    for write in (first, fix_asked_for, triaged):
        message = write(text)
        assert PLANTED in message
        assert outside(message) == outside(write("harmless")), write.__name__
        assert message.startswith(outside(message).partition("[data]")[0])


@settings(max_examples=30, deadline=None)
@given(HOSTILE)
def test_a_trace_that_a_tool_prints_stands_in_a_fence_too(text):
    call = ToolCall(id="1", name="get_error_traces", arguments={})
    shown = tools.run(call, None, case(), (trace(raw=text),), fence=NIGHT).text
    assert PLANTED not in outside(shown)


def test_system_prompt_and_tools_know_nothing_of_the_error():
    known = question(group(message=PLANTED), None, AGENT, NIGHT)
    assert known.system == AGENT.prompt
    assert PLANTED not in known.model_dump_json(include={"system", "tools", "answer_schema"})
