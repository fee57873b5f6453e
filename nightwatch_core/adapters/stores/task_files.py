"""Task files in one folder, written by people and added to by us; and agent files.

A task is `<folder>/<id>.md`, or `<folder>/<task>/<name>.md` with the id `<task>/<name>`.
"""

import os
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import DOCUMENT_BYTES, PATIENCE
from nightwatch_core.adapters.stores.documents import (
    ParsedFiles,
    Stamp,
    documents,
    links,
    reading,
    remove_temporaries,
    text_of,
)
from nightwatch_core.analysis.agent_specs import BASE, BUILT_IN, BrokenFile, inherited
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.learnings.task_documents import task_of, with_notes, with_promoted
from nightwatch_core.models.conversation import AgentSpec
from nightwatch_core.models.knowledge import Notes, TaskFile
from nightwatch_core.text.escaping import line

AGENT_BYTES = 256 * 1024
TASK_FILES = 10_000
TASK_FOLDERS = 1_000  # in the folder of task files


class TaskFiles:
    """A TaskStore over the `*.md` files in a folder and in the folders right in it.

    Links are not followed. `lock` is a file elsewhere, so that nothing of ours lies in the folder.
    """

    def __init__(self, folder: Path, lock: Path) -> None:
        self._folder, self._lock = folder, lock
        self._parsed = ParsedFiles(folder.parent, task_of)

    def tasks(self) -> tuple[TaskFile, ...]:
        every = (task for task in self._all().values() if isinstance(task, TaskFile))
        return tuple(sorted(every, key=lambda task: task.id))

    def complaints(self) -> tuple[str, ...]:
        wrong = (f"{n}: {task}" for n, task in self._all().items() if isinstance(task, str))
        return (*wrong, *links(self._folder.parent, *self._folders()))

    def read(self, id: str) -> TaskFile | None:
        task = self._all().get(self._name(id))
        return task if isinstance(task, TaskFile) else None

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        return self._change(id, lambda text: with_notes(text, notes, related))

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        return self._change(id, lambda text: with_promoted(text, digests))

    def _name(self, id: str) -> str:
        return f"{self._folder.name}/{id}.md"

    def _all(self) -> dict[str, TaskFile | str]:
        with reading(f"the folder of task files {self._folder}", "NIGHTWATCH_TASKS_DIR"):
            stamps = self._stamps()
        return self._parsed.all(dict(islice(stamps.items(), TASK_FILES)))

    def _stamps(self) -> dict[str, Stamp]:
        stamps: dict[str, Stamp] = {}
        for name in self._folders():
            stamps |= documents(self._folder.parent, name)
        return stamps

    def _folders(self) -> Iterator[str]:
        """The folder's own name, then those right in it; neither links nor hidden ones."""
        yield self._folder.name
        if self._folder.is_symlink() or not self._folder.is_dir():
            return
        with os.scandir(self._folder) as entries:
            folders = (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
            inside = sorted(name for name in folders if not name.startswith("."))
        yield from (f"{self._folder.name}/{name}" for name in inside[:TASK_FOLDERS])

    def _change(self, id: str, change: Callable[[str], str]) -> str:
        place = f"the folder of task files {self._folder}"
        with atomic_files.only_writer(self._lock, PATIENCE, place):
            name = self._name(id)
            if name not in self._stamps():
                raise GiveUp(
                    f"there is no task {line(id, 80)!r} in {self._folder}: name one that is there, "
                    "or set NIGHTWATCH_TASKS_DIR"
                )
            path = self._folder.parent / name
            remove_temporaries(path.parent)
            before = text_of(path)
            content = change(before).encode()
            if len(content) > DOCUMENT_BYTES:
                raise GiveUp(f"{path.name} would be longer than {DOCUMENT_BYTES // 1024} KiB")
            if content != before.encode():
                atomic_files.rewrite(path, content)
        return name


# Agent files: one Markdown file an agent.


class AgentFiles:
    """An AgentStore over a folder; None, or a folder that is not there, has no agents."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder.resolve() if folder else None

    def names(self) -> tuple[str, ...]:
        if self._folder is None:
            return ()
        with reading(f"the agents' folder {self._folder}"):
            files = documents(self._folder.parent, self._folder.name)
        return tuple(Path(file).stem for file in files)

    def agent(self, name: str) -> AgentSpec:
        names = self.names()
        if name in names:
            return inherited(name, lambda item: self._text(item) if item in names else None)
        if name == BASE:
            return BUILT_IN
        choices = ", ".join(dict.fromkeys((*names, BASE)))
        raise StopTheNight(f"there is no agent {line(name, 60)!r}: choose {choices}")

    def _text(self, name: str) -> str | None:
        if self._folder is None:
            return None
        try:
            return text_of(self._folder / f"{name}.md", AGENT_BYTES)
        except FileNotFoundError:
            return None
        except (GiveUp, OSError) as error:
            raise BrokenFile(f"cannot read agents/{name}.md: {error}") from error
