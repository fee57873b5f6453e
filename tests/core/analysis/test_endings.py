"""Every way a conversation can end has a name that reports can count."""

import pytest
from analysis_shapes import OPENING, allowance, answer, asks, case, says
from twins.reading import MemoryClock, MemoryModel

from nightwatch_core.analysis.loop import converse, failure
from nightwatch_core.errors import GiveUp, NightWatchError, TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.conversation import Capabilities, ToolResult

USAGE = Usage(calls=1, input_tokens=10, cost=0.01)
READ = asks(("read_file", {"path": "a.py"}), usage=USAGE)
REMOTE = Capabilities(model="remote", input_price=5.0, output_price=25.0)


def run(call, known=frozenset()):
    return ToolResult(id=call.id, name=call.name, text="a.py (lines 1-1 of 1)\n    1| x")


def ended(*script, run_tool=run, **may):
    model = MemoryModel(script, able=REMOTE)
    try:
        end = converse(OPENING, model, run_tool, allowance(**may), MemoryClock())
    except NightWatchError as trouble:
        return failure(case(), trouble)
    return end


ENDINGS = {  # what the model does, what it may use, the ending's detail
    "answered": ((READ, says(answer(), usage=USAGE)), {}, ""),
    "wrapped up": ((READ, says(answer(), usage=USAGE)), {"iterations": 2}, "iterations"),
    "refused": ((READ, says("", stop="refused", detail="cyber", usage=USAGE)), {}, "cyber"),
    "context exceeded": ((READ, says("", stop="context exceeded", usage=USAGE)), {}, ""),
    "unreachable": ((READ, TryLater("overloaded")), {}, "overloaded"),
    "invalid": ((READ, says("Well.", usage=USAGE)), {}, "holds no JSON object"),
    "budget gone": ((READ,), {"tokens": 0}, "tokens"),
    "failed": ((READ, GiveUp("400: tools.0")), {}, ""),
}


@pytest.mark.parametrize("kind", list(ENDINGS))
def test_each_ending_has_its_name_and_what_was_used(kind):
    script, may, detail = ENDINGS[kind]
    end = ended(*script, **may)
    assert end.ending.kind == kind
    assert detail in end.ending.detail
    used = getattr(end, "usage", None) or end.state.budget.used if kind != "budget gone" else USAGE
    assert used.calls >= 1
    words = {"refused": "cyber", "context exceeded": "max_iterations", "invalid": "no readable"}
    assert words.get(kind, "") in getattr(end, "reason", "")
