"""A sandbox in memory: what programs print is scripted, and what was asked for is remembered."""

import json
import re
from collections.abc import Callable

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import FileChange, Prepared, Run


def unittest_run(*failed: str, count: int = 5, code: int | None = None) -> Run:
    lines = "".join(f"FAIL: {name} (tests.test_a.T.{name})\nTraceback\n" for name in failed)
    output = f"{lines}\nRan {count} tests in 0.01s\n"
    return Run(code=bool(failed) if code is None else code, output=output, seconds=1)


def unwrapped(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words that are watched, and the mark and the paths of who watches them."""
    scripts = [at for at, word in enumerate(words) if "NIGHTWATCH_WATCHED" in word]
    if scripts and words[scripts[0] + 6]:
        own = words[scripts[0] + 1 : scripts[0] + 7]
        return words[: scripts[0] - 2] + words[scripts[0] + 7 :], (own[1], own[5])
    return words, ()


def with_canary(run: Run, word: str) -> Run:
    mark = re.search(r"nw[0-9a-f]+", word)[0]
    rows = "".join(f"FAIL: test_{mark}_{n} (zz.T.test_{n})\nTraceback\n" for n in range(3))
    count = re.sub(r"Ran (\d+)", lambda ran: f"Ran {int(ran[1]) + 4}", run.output)
    return run.model_copy(update={"output": rows + count, "code": run.code or 1})


def with_executed(run: Run, changes: tuple[FileChange, ...], mark: str, paths: str) -> Run:
    rows = [
        json.dumps({"ran": f"/work/{change.path}", "line": number, "test": "test_sum"})
        for change in changes
        for number in range(1, 1 + (change.text or "").count("\n"))
        if f"/work/{change.path}:" in paths
    ]
    return run.model_copy(update={"output": "\n".join((run.output, mark, *rows))})


class Documents:
    """Documents in memory."""

    def __init__(self, text=""):
        self.text = text

    def read(self, name):
        return self.text

    def write(self, name, text):
        self.text = text
        return name


class ScriptedSandbox:
    """A `Sandbox`; `answer` is told the words and the changes, and how often they came before."""

    def __init__(
        self,
        answer: Callable[[tuple[str, ...], bool, int], Run],
        lacking: str = "",
        not_prepared: str = "",
    ) -> None:
        self.answer, self.lacking, self.not_prepared = answer, lacking, not_prepared
        self.asked: list[tuple[tuple[str, ...], bool]] = []
        self.preparations: list[object] = []
        self.is_closed = False
        self.executes = self.tells_canary = True  # the changed lines; tests that must fail

    def confinement(self) -> str:
        if self.lacking:
            raise GiveUp(self.lacking)
        return "scripted"

    def prepare(self, commit, preparation):
        self.preparations.append(preparation)
        if self.not_prepared:
            trouble = GiveUp(self.not_prepared)
            trouble.printed = f"$ install\n{self.not_prepared}"
            raise trouble
        return Prepared(key="ready")

    def run(self, commit, changes, command):
        self.confinement()
        words, marks = unwrapped(command.words)
        canary = [word for word in words if "zz_nw" in word]
        words = tuple(word for word in words if word not in canary)
        times = self.asked.count((words, bool(changes)))
        self.asked.append((words, bool(changes)))
        run = self.answer(words, bool(changes), times)
        if canary and self.tells_canary:
            run = with_canary(run, canary[0])
        return with_executed(run, changes, *marks) if marks and self.executes else run

    def close(self) -> None:
        self.is_closed = True
