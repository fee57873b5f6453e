"""What the model is told of its tools: names, arguments, limits. Descriptions are prompts.

They are paid for with every conversation, so a test holds them to 60 words each and 1,200 tokens
together. Bounds of numbers are in `tool_arguments.BOUNDS`, where they are applied.
"""

from typing import Any

from nightwatch_core.analysis.limits import CALLS_A_TURN, IDLE_TURNS, TURN_CHARACTERS
from nightwatch_core.models.conversation import ToolSpec

LIMITS = {  # characters of an answer
    "read_file": 39_000,
    "search_code": 7_000,
    "read_symbol": 20_000,
    "find_files": 2_000,
    "list_directory": 2_000,
    "get_error_traces": 4_000,
    "blame": 4_000,
    "show_commit": 6_000,  # with a path; a third of it without
    "history": 2_000,
    "find_tests": 3_000,
    "read_library": 20_000,
    "run_test": 3_000,
    "run_snippet": 3_000,
}
ONE_BY_ONE = ("run_test", "run_snippet")  # they share what may be run
TOLD_LIMITS = f"""\
# Limits

At most {CALLS_A_TURN} calls a turn; the answers of one turn share {TURN_CHARACTERS:,} characters, \
and what does not fit is cut at its end and said. {IDLE_TURNS} turns in a row that show nothing \
new end the reading. You are told when few turns or tokens are left."""

_PATH = {"type": "string"}
_NUMBER = {"type": "integer"}
_TEXT = {"type": "string"}


def _spec(called: str, description: str, required: tuple[str, ...], **properties: Any) -> ToolSpec:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name=called, description=description, parameters=parameters)


SPECS: tuple[ToolSpec, ...] = (
    _spec(
        "read_file",
        "Lines of a file, best the 30 around a place you know; up to 400 come whole. Without a "
        "range, over 120 lines: its outline.",
        ("path",),
        path=_PATH,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec(
        "search_code",
        "Lines that hold a text exactly (no patterns), several texts at once: callers, writers "
        "of a field. All hits, with up to 10 lines of context; a definition that is hit comes "
        "whole.",
        ("queries",),
        queries={"type": "array", "items": _TEXT},
        path=_PATH,
        glob=_TEXT,
        whole_words={"type": "boolean"},
        context=_NUMBER,
    ),
    _spec(
        "read_symbol",
        "A definition whole, wherever it is (total, Order#total, billing::total); all places.",
        ("name",),
        name=_TEXT,
    ),
    _spec(
        "find_files",
        "Files by part of a name or a glob, before you guess a path.",
        ("name",),
        name=_TEXT,
        path=_PATH,
    ),
    _spec(
        "list_directory",
        "List a folder; '' is the root.",
        ("path",),
        path=_PATH,
    ),
    _spec(
        "get_error_traces",
        "This error's traces as printed, newest first.",
        (),
        limit=_NUMBER,
        number=_NUMBER,
    ),
    _spec(
        "blame",
        "Commits that last wrote these lines: did a change bring the fault?",
        ("path", "start"),
        path=_PATH,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec(
        "show_commit",
        "A commit's message and diff, or that of one file.",
        ("id",),
        id=_TEXT,
        path=_PATH,
    ),
    _spec(
        "history",
        "Commits that changed a path, or added or removed a text, newest first.",
        (),
        path=_PATH,
        symbol=_TEXT,
    ),
    _spec(
        "find_tests",
        "Tests of a file or symbol, by name and by mentions.",
        ("target",),
        target=_TEXT,
    ),
    _spec(
        "read_library",
        "Source of a dependency: a frame's path outside the repository, package/file, package.",
        ("place",),
        place=_TEXT,
        start=_NUMBER,
        end=_NUMBER,
    ),
    _spec("run_test", "Run a test file, or one: file::test.", ("test",), test=_TEXT),
    _spec("run_snippet", "Run code in the project, confined.", ("code",), code=_TEXT),
)
BY_NAME = {spec.name: spec for spec in SPECS}
