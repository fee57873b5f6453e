"""What the model is told of its tools: names, arguments, limits. Descriptions are prompts."""

from typing import Any

from nightwatch_core.models.conversation import ToolSpec

LIMITS = {  # characters of an answer
    "read_file": 8_000,
    "search_code": 4_000,
    "find_files": 2_000,
    "list_directory": 2_000,
    "get_error_traces": 4_000,
    "blame": 2_000,
}
HITS = 50  # lines a search shows
CONTEXT = 10  # lines it shows around each of them, at most
_LAST_LINE = 10_000_000

_PATH = {
    "type": "string",
    "minLength": 1,
    "description": "Path from the repository's root, like app/models/order.rb.",
}
_GLOB = {
    "type": "string",
    "minLength": 1,
    "maxLength": 100,
    "description": "Only files whose name (*.py) or path from the root (app/**/*.{js,ts}) fits.",
}


def _line(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": _LAST_LINE, "description": description}


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
        f"Read a file with line numbers, at most {LIMITS['read_file']:,} characters (about 200 "
        "lines); of more you get the beginning, the end, and the numbers of the definitions "
        "between them. Use it with start and end for the 40 lines around a place you know.",
        ("path",),
        path=_PATH,
        start=_line("First line; 1 where left out."),
        end=_line("Last line, included; the file's last where left out."),
    ),
    _spec(
        "search_code",
        f"Find the lines that hold a text exactly (upper and lower case differ, no patterns): at "
        f"most {HITS}, file by file, with line numbers. Use it to find where something is "
        "defined (`def total`, `class Order`), who calls it and who writes a field. With context "
        "it saves reading the file.",
        ("query",),
        query={"type": "string", "minLength": 1, "maxLength": 200, "description": "One line."},
        path={"type": "string", "description": "File or folder to look in; all where left out."},
        glob=_GLOB,
        context={
            "type": "integer",
            "minimum": 0,
            "maximum": CONTEXT,
            "description": f"Lines around each hit, 0 to {CONTEXT}; 0 where left out.",
        },
    ),
    _spec(
        "find_files",
        "Find files by a part of their name (order) or by a glob (app/**/*_job.rb). Use it before "
        "you guess a path: reading a file that is not there is a turn lost.",
        ("name",),
        name={"type": "string", "minLength": 1, "maxLength": 200, "description": "Part or glob."},
        path={"type": "string", "description": "Folder to look in; all where left out."},
    ),
    _spec(
        "list_directory",
        "List one folder: folders with the number of files below them, files with their size in "
        "bytes. Use it to see how an unknown part of the repository is laid out.",
        ("path",),
        path={"type": "string", "description": "Folder; empty for the repository's root."},
    ),
    _spec(
        "get_error_traces",
        "The stack traces of this error as production printed them, newest first. Use it when the "
        "first message leaves out frames, causes or values that differ between occurrences.",
        (),
        limit={
            "type": "integer",
            "minimum": 1,
            "maximum": 10,
            "description": "How many; 3 where left out. Fewer are shown at greater length.",
        },
        number={
            "type": "integer",
            "minimum": 1,
            "maximum": 10,
            "description": "Only this one, 1 is the newest.",
        },
    ),
    _spec(
        "blame",
        "The commit that last wrote a line: id, day, author, subject. Use it on the line at fault "
        "to learn which change brought it, and whether that fits the error's first sighting.",
        ("path", "line"),
        path=_PATH,
        line=_line("Line number, 1 is the first."),
    ),
)
BY_NAME = {spec.name: spec for spec in SPECS}
