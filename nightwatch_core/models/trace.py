"""Words for stack traces."""

from typing import Literal

from nightwatch_core.models.value import Value

SourceFit = Literal["unknown", "same", "moved", "differs"]


class Frame(Value):
    """One line of a stack trace. `path` and `line` as printed; `repo_path` once mapped."""

    path: str
    line: int | None = None
    column: int | None = None  # from 1, where the language prints one
    function: str = ""
    module: str = ""  # package or class where the language prints one
    in_app: bool = False
    code: str = ""  # the source line, where the record holds it
    before: tuple[str, ...] = ()  # the lines above it, as the record holds them
    after: tuple[str, ...] = ()  # those below it
    fit: SourceFit = "unknown"  # whether the record's source is that of the commit that was read
    repo_path: str = ""  # path in the repository; empty until mapped, or not ours

    @property
    def place(self) -> str:
        """`path:line`, in the repository where known.

        >>> Frame(path="/srv/app/a.py", line=3, repo_path="app/a.py").place
        'app/a.py:3'
        """
        path = self.repo_path or self.path
        return f"{path}:{self.line}" if self.line else path


class ExceptionLink(Value):
    """One exception of a chain: the one thrown last, or one that caused it."""

    error_class: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()  # innermost first


class Trace(Value):
    """A parsed stack trace. `links` run from the exception that was reported to its root cause."""

    language: str = ""
    links: tuple[ExceptionLink, ...] = ()
    raw: str = ""
    release: str = ""

    @property
    def root(self) -> ExceptionLink:
        """The exception that started it all."""
        return self.links[-1] if self.links else ExceptionLink()

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Frames of the root exception first, then of those that wrapped it; innermost first."""
        return tuple(frame for link in reversed(self.links) for frame in link.frames)

    @property
    def in_app(self) -> tuple[Frame, ...]:
        """Frames of the application's own code, innermost first."""
        return tuple(frame for frame in self.frames if frame.in_app)

    @property
    def top(self) -> Frame | None:
        """The innermost in-app frame: the usual suspect."""
        return next(iter(self.in_app), None)
