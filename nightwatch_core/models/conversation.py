"""Words for a conversation with a model, in nobody's wire format, and for its transcript."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from nightwatch_core.models.answer import Usage
from nightwatch_core.models.code import Blame, CommitDiff, SearchHit
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value

# Words for what tools show of the code and its history, for code that reads their answers.


class LinesRead(Value):
    """Lines of a file by number, only those that are shown whole, and how many the file has."""

    path: str
    total: int
    lines: dict[int, str] = {}


class HitsFound(Value):
    """Lines that hold a text; `complete` where no other line does."""

    hits: tuple[SearchHit, ...] = ()
    complete: bool = True


class NothingThere(Value):
    """No file or folder has the path that was asked for; `near` are those like it."""

    near: tuple[str, ...] = ()


class LinesBlamed(Value):
    """Authors of lines of a file."""

    blames: tuple[Blame, ...] = ()


ToolValue = LinesRead | HitsFound | NothingThere | LinesBlamed | CommitDiff

Effort = Literal["low", "medium", "high"]


class ToolSpec(Value):
    """A tool the model may call; `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolCall(Value):
    """The model asks for a tool."""

    id: str
    name: str
    arguments: dict[str, Any] = {}


class ToolResult(Value):
    """A tool's result: text for models and transcripts, the rest for code.

    Shown are lines as `path:line`, or rows of other kinds. Neither that nor the value is written
    down: a call that is made again gives both again.
    """

    id: str
    name: str
    text: str
    is_error: bool = False
    missing: bool = False  # it named a file or folder that is not there
    value: ToolValue | None = Field(default=None, exclude=True, repr=False)
    shown: tuple[str, ...] = Field(default=(), exclude=True, repr=False)


class UserTurn(Value):
    """We said something; `effort` is asked for from here on, the conversation's where None."""

    kind: Literal["user"] = "user"
    text: str
    effort: Effort | None = None


class ResultsTurn(Value):
    """We answered tool calls, in their order."""

    kind: Literal["results"] = "results"
    results: tuple[ToolResult, ...]


class AssistantTurn(Value):
    """The model said something; `opaque` is what its service wants echoed back unchanged."""

    kind: Literal["assistant"] = "assistant"
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    opaque: str = ""


Turn = Annotated[UserTurn | ResultsTurn | AssistantTurn, Field(discriminator="kind")]


class Conversation(Value):
    """Everything a model needs for its next turn.

    `case` and `research` are the typed form of what `turns` say in text: a remote model is sent
    only the text; the rules model reads the values.
    """

    system: str
    tools: tuple[ToolSpec, ...] = ()
    answer_schema: dict[str, Any] = {}
    turns: tuple[Turn, ...] = ()
    case: Case
    research: ResearchContext = ResearchContext()
    effort: Effort = "medium"
    thinking_budget: int | None = None  # tokens, where a model wants a number; None: by effort
    max_tokens: int = 32_000
    tools_off: bool = False  # the wrap-up turn: answer with what is known
    no_calls: bool = False  # asking was not enough: the service refuses calls, and drops its cache

    def said(self, *turns: UserTurn | ResultsTurn | AssistantTurn) -> "Conversation":
        """Return the conversation with more turns at its end."""
        return self.model_copy(update={"turns": (*self.turns, *turns)})


class Reply(Value):
    """One turn of the model and why it stopped there."""

    turn: AssistantTurn
    stop: Literal["answer", "tools", "cut", "refused", "context exceeded", "paused"] = "answer"
    usage: Usage = Usage()
    detail: str = ""  # refusal category, and the like


class Capabilities(Value):
    """Capabilities of a model; prices in USD per million tokens, None if unknown."""

    model: str
    local: bool = False  # needs no network and no account
    input_price: float | None = None
    output_price: float | None = None
    context_tokens: int = 200_000
    max_output_tokens: int = 32_000
    note: str = ""  # "retires 2026-11-30" and the like, for the report
    priced: str = ""  # date of the prices


class RecordedCall(Value):
    """A tool the model asked for."""

    name: str
    arguments: dict[str, Any] = {}


class RecordedResult(Value):
    """A tool's recorded answer."""

    name: str
    text: str = ""
    is_error: bool = False


class TranscriptOpening(Value):
    """Beginning of a conversation; `look` is 2 for a second look."""

    night: str
    fingerprint: str
    error: str
    model: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()
    look: int = 1
    system: str = ""


class TranscriptEntry(Value):
    """One line of a transcript."""

    kind: Literal["opening", "user", "results", "assistant", "failure"]
    at: datetime | None = None
    opening: TranscriptOpening | None = None
    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    results: tuple[RecordedResult, ...] = ()
    stop: str = ""
    detail: str = ""
    usage: Usage = Usage()


class Transcript(Value):
    """Everything that was said about one error in one night, in all its runs."""

    night: str
    fingerprint: str
    entries: tuple[TranscriptEntry, ...]
    unread: int = 0  # lines that could not be read


# Words for who leads an analysis.

READING = (
    *("read_file", "search_code", "read_symbol", "find_files", "list_directory"),
    *("get_error_traces", "blame", "show_commit", "history", "read_library"),
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
    """Plan of one analysis."""

    model: str
    effort: Effort
    iterations: int  # model turns
    max_tokens: int  # of one answer
    thinking_budget: int | None = None  # tokens, for models that want a number; None: by effort
    is_usual_effort: bool = Field(False, exclude=True)  # the tier's; no part of a cache key
