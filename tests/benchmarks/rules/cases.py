"""The bugs: facts about crashes that one commit of a public history fixed, and how they print.

`cases.json` names repository, fix and its parent, error class, message and frames at the parent,
innermost first. Nothing else of the repositories is kept here.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import jinja2
import yaml

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
    return _PRINTERS[bug.language].render(bug=bug, code=code, name_of=lambda path: Path(path).name)


_TEMPLATES = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
_PRINTERS = {name: jinja2.Template(text, trim_blocks=True) for name, text in _TEMPLATES.items()}
