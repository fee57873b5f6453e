"""Context of a tool: what it may read, and what the conversation has already."""

from dataclasses import dataclass
from functools import cached_property

from nightwatch_core.analysis.budget import RunsLeft
from nightwatch_core.analysis.research import no_file
from nightwatch_core.analysis.tool_arguments import Refusal
from nightwatch_core.code.code_view import lines_of
from nightwatch_core.models.errors import Case, Trace
from nightwatch_core.ports import CodeReader, LibraryReader
from nightwatch_core.privacy.secret_files import is_secret_file, refusal
from nightwatch_core.text.escaping import line


@dataclass(frozen=True)
class ToolContext:
    """One case, the code it failed in, and the lines that were shown of it."""

    code: CodeReader
    case: Case
    traces: tuple[Trace, ...] = ()
    known: frozenset[str] = frozenset()  # lines that stand in the conversation, as `place` has them
    libraries: LibraryReader | None = None
    fence: str = ""
    runs: RunsLeft | None = None  # None: nothing can be run

    @cached_property
    def frame_files(self) -> tuple[str, ...]:
        """Return files of the trace's own frames, innermost first."""
        frames = self.case.trace.in_app if self.case.trace else ()
        return tuple(dict.fromkeys(frame.repo_path for frame in frames if frame.repo_path))

    def lines(self, path: str) -> tuple[str, ...]:
        """Give the file's lines; raises `Refusal` where there is none to read."""
        if is_secret_file(path):
            raise Refusal(f"{refusal(line(path))}.")
        text = self.code.read_file(path)
        if text is None:
            raise no_file(self.code, path)
        return lines_of(text)
