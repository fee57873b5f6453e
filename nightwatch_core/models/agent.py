"""Words for who leads an analysis."""

from typing import Literal

from pydantic import Field

from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.value import Value

ChosenBy = Literal["rules", "run", "agent", "setting", "tier", "nobody"]
READING = (
    *("read_file", "search_code", "read_symbol", "find_files", "list_directory"),
    *("get_error_traces", "blame", "show_commit", "history", "find_tests", "read_library"),
)
TOOLS = (*READING, "run_test", "run_snippet")  # what runs is off where it is not listed


class AgentSpec(Value):
    """An agent file with what its bases give. None means "as the options or tiers say"."""

    name: str
    description: str = ""
    prompt: str  # the bases' first, then its own, then the worked examples
    extends: str = ""  # the agent it takes prompt and unset fields from
    languages: tuple[str, ...] = ()  # traces of these languages choose this agent
    model: str | None = None
    effort: Effort | None = None
    thinking_budget: int | None = None  # tokens; for models that want a number
    max_iterations: int | None = None
    max_tokens: int | None = None
    tools: tuple[str, ...] = READING
    examples: tuple[str, ...] = ()
    digest: str = ""  # of the file and its bases: part of every cache key


class Agents(Value):
    """Every agent that can be read, and what is wrong with the others."""

    specs: tuple[AgentSpec, ...] = ()
    broken: tuple["BrokenAgent", ...] = ()
    complaints: tuple[str, ...] = ()  # for the report: broken files, and what is odd in others


class BrokenAgent(Value):
    """An agent file that cannot be used; `languages` as far as they could be read."""

    name: str
    complaint: str  # with file and line
    languages: tuple[str, ...] = ()


class AnalysisPlan(Value):
    """How one error is analysed, and for each choice who made it."""

    model: str
    effort: Effort
    iterations: int  # model turns
    max_tokens: int  # of one answer
    thinking_budget: int | None = None  # tokens, for models that want a number; None: by effort
    because: dict[str, str] = {}  # field to reason: "agents/x.md", "tier complex; ceiling 8"
    chosen_by: dict[str, ChosenBy] = Field({}, exclude=True)  # field to who; no part of a cache key
