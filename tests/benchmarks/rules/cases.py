"""The bugs: facts about crashes that one commit of a public history fixed, and how they print.

`cases.json` names repository, fix and its parent, error class, message and frames at the parent,
innermost first. Nothing else of the repositories is kept here.
"""

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent
ROOT = "/app/"  # where the applications run


class Place(NamedTuple):
    """A frame: file, line, and the function around it; a library's path is absolute."""

    path: str
    line: int
    function: str

    @property
    def printed(self) -> str:
        """The path as the application's trace has it."""
        return self.path if self.path.startswith("/") else f"{ROOT}{self.path}"


class Bug(NamedTuple):
    """One bug; `ran` where the crash was seen by running the parent, not derived by reading."""

    id: str
    repo: str  # owner/name
    language: str
    parent: str
    fix: str
    error_class: str
    message: str
    transaction: str
    frames: tuple[Place, ...]
    fixed: tuple[str, ...]  # path:line at the parent
    ran: bool = False

    @property
    def own(self) -> tuple[Place, ...]:
        """Frames in the repository."""
        return tuple(frame for frame in self.frames if not frame.path.startswith("/"))

    @property
    def held_out(self) -> bool:
        """Whether it is kept from those who write the rules."""
        return int(sha256(self.id.encode()).hexdigest()[0], 16) % 2 == 1


def bugs(file: Path = DATA / "cases.json") -> tuple[Bug, ...]:
    """All bugs, by language and id."""
    rows = json.loads(file.read_text("utf-8"))
    return tuple(
        Bug(**{**row, "frames": tuple(Place(*frame) for frame in row["frames"]),
               "fixed": tuple(row["fixed"])})
        for row in rows
    )  # fmt: skip


Code = Callable[[Place], str]  # the text of a frame's line, as Python prints it


def printed(bug: Bug, code: Code) -> str:
    """The stack trace as the language prints it."""
    return "\n".join(_PRINTERS[bug.language](bug, code))


def _python(bug: Bug, code: Code) -> Iterator[str]:
    yield "Traceback (most recent call last):"
    for frame in reversed(bug.frames):
        yield f'  File "{frame.printed}", line {frame.line}, in {frame.function}'
        if text := code(frame).strip():
            yield f"    {text}"
    yield f"{bug.error_class}: {bug.message}"


def _ruby(bug: Bug, _code: Code) -> Iterator[str]:
    first, *rest = (f"{frame.printed}:{frame.line}:in `{frame.function}'" for frame in bug.frames)
    yield f"{first}: {bug.message} ({bug.error_class})"
    yield from (f"\tfrom {item}" for item in rest)


def _javascript(bug: Bug, _code: Code) -> Iterator[str]:
    yield f"{bug.error_class}: {bug.message}"
    for frame in bug.frames:
        place = f"{frame.printed}:{frame.line}:9"
        yield f"    at {frame.function} ({place})" if frame.function else f"    at {place}"


def _java(bug: Bug, _code: Code) -> Iterator[str]:
    yield f"{bug.error_class}: {bug.message}" if bug.message else bug.error_class
    for frame in bug.frames:
        yield f"\tat {frame.function}({Path(frame.path).name}:{frame.line})"


def _go(bug: Bug, _code: Code) -> Iterator[str]:
    yield from (f"{bug.error_class}: {bug.message}", "", "goroutine 41 [running]:")
    for frame in bug.frames:
        yield from (f"{frame.function}(0xc000112a80)", f"\t{frame.printed}:{frame.line} +0x1d")


def _php(bug: Bug, _code: Code) -> Iterator[str]:
    top, *rest = bug.frames
    place = f"{top.printed}:{top.line}"
    yield f"PHP Fatal error:  Uncaught {bug.error_class}: {bug.message} in {place}"
    yield "Stack trace:"
    for number, (inner, outer) in enumerate(zip(bug.frames, rest, strict=False)):
        yield f"#{number} {outer.printed}({outer.line}): {inner.function}()"
    yield f"#{len(rest)} {{main}}"
    yield f"  thrown in {top.printed} on line {top.line}"


def _csharp(bug: Bug, _code: Code) -> Iterator[str]:
    yield f"{bug.error_class}: {bug.message}"
    yield from (
        f"   at {frame.function}() in {frame.printed}:line {frame.line}" for frame in bug.frames
    )


_PRINTERS: dict[str, Callable[[Bug, Code], Iterator[str]]] = {
    "python": _python, "ruby": _ruby, "javascript": _javascript, "java": _java,
    "go": _go, "php": _php, "csharp": _csharp,
}  # fmt: skip
