"""The tools run_test and run_snippet: exit and output at the failing commit.

That is as hostile as all that comes from outside.
"""

from nightwatch_core.analysis.budget import RunsLeft
from nightwatch_core.analysis.prompts import fenced
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import halves
from nightwatch_core.models.proposals import Run
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.plain_text import plural

_NOBODY = "Nothing can be run here. Go on without."


def run_test(at: ToolContext, limit: int, test: str) -> ToolAnswer:
    """Run a file of tests, or one; about `limit` characters of what it printed."""
    left = _left(at)
    return _shown(at, limit, left, left.take(left.runner.run_test, test))


def run_snippet(at: ToolContext, limit: int, code: str) -> ToolAnswer:
    """Run code; about `limit` characters of what it printed."""
    left = _left(at)
    return _shown(at, limit, left, left.take(left.runner.run_snippet, code))


def _left(at: ToolContext) -> RunsLeft:
    if at.runs is None:
        raise Refusal(_NOBODY)
    return at.runs


def _shown(at: ToolContext, limit: int, left: RunsLeft, run: Run) -> ToolAnswer:
    how = f"exit {run.code}" if run.ended == "exited" else f"killed, it {run.ended}"
    head = f"{how} after {run.seconds:.1f} s ({plural(left.runs, 'run')} left)"
    printed = clean(run.output).strip()
    if not printed:
        return ToolAnswer(f"{head}; it printed nothing")
    ask = "print less to see them"
    return ToolAnswer(f"{head}\n{fenced(halves(printed, limit, ask), at.fence)}")
