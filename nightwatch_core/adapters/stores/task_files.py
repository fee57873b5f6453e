"""Task files in one folder: `<folder>/<id>.md`, written by people and added to by us."""

from collections.abc import Callable
from pathlib import Path

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.document_folder import (
    Stamp,
    documents,
    links,
    remove_temporaries,
    text_of,
)
from nightwatch_core.adapters.stores.limits import DOCUMENT_BYTES, PATIENCE, TASK_FILES
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.learnings.task_documents import task_of, with_notes, with_promoted
from nightwatch_core.models.knowledge import Notes, TaskFile
from nightwatch_core.text.escaping import line


class TaskFiles:
    """A TaskStore over the `*.md` files right in a folder; one that is not there is empty.

    An id is a file's name without `.md`, and only names that were found in the folder are opened.
    Links are not followed. `lock` is a file elsewhere, so that nothing of ours lies in the folder.
    """

    def __init__(self, folder: Path, lock: Path) -> None:
        """Touch nothing yet."""
        self._folder, self._lock = folder, lock
        self._parsed: dict[str, tuple[Stamp, TaskFile | str]] = {}  # a task, or what is wrong

    def tasks(self) -> tuple[TaskFile, ...]:
        """Every file that can be read, by id; raises `StopTheNight` for an unreadable folder."""
        return tuple(task for task in self._all().values() if isinstance(task, TaskFile))

    def complaints(self) -> tuple[str, ...]:
        """What cannot be read, and why."""
        wrong = (f"{n}: {task}" for n, task in self._all().items() if isinstance(task, str))
        return (*wrong, *links(self._folder.parent, self._folder.name))

    def read(self, id: str) -> TaskFile | None:
        """One task; None where there is none, or its file cannot be read."""
        task = self._all().get(self._name(id))
        return task if isinstance(task, TaskFile) else None

    def append(self, id: str, notes: Notes, related: tuple[str, ...] = ()) -> str:
        """Put notes at the end of a task's file and link related tasks; returns the file.

        Raises `TryLater` while another process writes, `GiveUp` where there is no such task, its
        file cannot be added to, or the folder cannot be written.
        """
        return self._change(id, lambda text: with_notes(text, notes, related))

    def mark_promoted(self, id: str, digests: tuple[str, ...]) -> str:
        """Remember which learnings were promoted; returns the file; raises as `append`."""
        return self._change(id, lambda text: with_promoted(text, digests))

    def _name(self, id: str) -> str:
        return f"{self._folder.name}/{id}.md"

    def _all(self) -> dict[str, TaskFile | str]:
        try:
            stamps = documents(self._folder.parent, self._folder.name)
        except OSError as error:
            raise StopTheNight(
                f"cannot read the folder of task files {self._folder} ({error.strerror}): check "
                "its permissions, or set NIGHTWATCH_TASKS_DIR to another folder"
            ) from error
        for name, stamp in list(stamps.items())[:TASK_FILES]:
            if name not in self._parsed or self._parsed[name][0] != stamp:
                self._parsed[name] = (stamp, self._task(name))
        return {name: self._parsed[name][1] for name in stamps if name in self._parsed}

    def _task(self, name: str) -> TaskFile | str:
        try:
            return task_of(text_of(self._folder.parent / name), name)
        except GiveUp as wrong:
            return str(wrong)
        except OSError as error:
            return f"it cannot be opened: {error.strerror}"

    def _change(self, id: str, change: Callable[[str], str]) -> str:
        place = f"the folder of task files {self._folder}"
        with atomic_files.only_writer(self._lock, PATIENCE, place):
            remove_temporaries(self._folder)
            name = self._name(id)
            if name not in documents(self._folder.parent, self._folder.name):
                raise GiveUp(
                    f"there is no task {line(id, 80)!r} in {self._folder}: name one that is there, "
                    "or set NIGHTWATCH_TASKS_DIR"
                )
            path = self._folder.parent / name
            before = text_of(path)
            content = change(before).encode()
            if len(content) > DOCUMENT_BYTES:
                raise GiveUp(f"{path.name} would be longer than {DOCUMENT_BYTES // 1024} KiB")
            if content != before.encode():
                atomic_files.rewrite(path, content)
        return name
