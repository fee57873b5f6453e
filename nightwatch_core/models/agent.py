"""Words for who leads an analysis."""

from nightwatch_core.models.conversation import Effort
from nightwatch_core.models.value import Value

TOOLS = ("read_file", "search_code", "list_directory", "get_error_traces", "blame")


class AgentSpec(Value):
    """An agent file: front matter and prompt. None means "as the options or tiers say"."""

    name: str
    description: str = ""
    prompt: str
    languages: tuple[str, ...] = ()  # traces of these languages choose this agent
    model: str | None = None
    effort: Effort | None = None
    max_iterations: int | None = None
    max_tokens: int | None = None
    tools: tuple[str, ...] = TOOLS
    digest: str = ""  # of the file: part of every cache key
