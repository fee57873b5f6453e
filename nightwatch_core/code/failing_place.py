"""A frame's line at the commit, with what is needed to tell whether it can have failed there."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from nightwatch_core.code.code_view import lines_of
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.code.symptoms import Symptom, symptom_of
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.models.trace import Frame

Read = Callable[[str], str | None]
Search = Callable[[str], tuple[SearchHit, ...]]


class FailingPlace(NamedTuple):
    """One in-app frame and its file."""

    frame: Frame
    text: str
    rows: tuple[str, ...]
    language: Language
    symptom: Symptom | None  # only where the root error was raised by this very line
    loading: frozenset[str]  # files that were being loaded when it failed
    shares_line: bool  # with another frame: of a native function, which has no line of its own
    read: Read
    search: Search

    @property
    def path(self) -> str:
        """The file in the repository."""
        return self.frame.repo_path

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.frame.line or 0

    @property
    def row(self) -> str:
        """What stands there; empty where the file is shorter."""
        return self.rows[self.line - 1] if 0 < self.line <= len(self.rows) else ""

    @property
    def name(self) -> str:
        """`path:line`."""
        return f"{self.path}:{self.line}"

    def around(self, distance: int) -> str:
        """The lines up to `distance` above and below."""
        return "\n".join(self.rows[max(0, self.line - 1 - distance) : self.line + distance])


class FailingPlaces:
    """The places of a case's own frames, innermost first; files are read when asked for."""

    def __init__(self, case: Case, read: Read, search: Search, most: int) -> None:
        """Look at no more than the innermost `most` frames."""
        self._case, self._read, self._search = case, read, search
        trace = case.trace
        frames = trace.in_app if trace else ()
        own = tuple(dict.fromkeys(f for f in frames if f.repo_path and f.line))
        self.frames = own[:most]

    @cached_property
    def _raising(self) -> Frame | None:
        trace = self._case.trace
        return next(iter(trace.root.frames), None) if trace else None

    @cached_property
    def _symptom(self) -> Symptom:
        trace, leader = self._case.trace, self._case.leader
        root = trace.root if trace else None
        if root and root.error_class:
            return symptom_of(root.error_class, root.message)
        return symptom_of(leader.error_class, leader.message)

    @cached_property
    def _loading(self) -> frozenset[str]:
        trace = self._case.trace
        frames = trace.frames if trace else ()
        top_level = ("<module>", "<main>", "<top (required)>", "{main}", "Object.<anonymous>", "")
        return frozenset(f.repo_path or f.path for f in frames if f.function in top_level)

    def of(self, frame: Frame) -> FailingPlace | None:
        """Read a frame's file; None where there is none."""
        text = self._read(frame.repo_path)
        if text is None:
            return None
        language = self._case.trace.language if self._case.trace else ""
        return FailingPlace(
            frame=frame,
            text=text,
            rows=lines_of(text),
            language=language_of(frame.repo_path, language),
            symptom=self._symptom if frame == self._raising else None,
            loading=self._loading,
            shares_line=any(
                (one.path, one.line) == (frame.path, frame.line) and one.function != frame.function
                for one in self._case.trace.frames
            )
            if self._case.trace
            else False,
            read=self._read,
            search=self._search,
        )

    def all(self) -> Iterator[FailingPlace]:
        """Every place that can be read."""
        return (place for frame in self.frames if (place := self.of(frame)))
