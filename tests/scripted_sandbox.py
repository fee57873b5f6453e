"""A sandbox in memory: what programs print is scripted, and what was asked for is remembered."""

from collections.abc import Callable

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import Prepared, Run


def unittest_run(*failed: str, count: int = 5, code: int | None = None) -> Run:
    lines = "".join(f"FAIL: {name} (tests.test_a.T.{name})\nTraceback\n" for name in failed)
    output = f"{lines}\nRan {count} tests in 0.01s\n"
    return Run(code=bool(failed) if code is None else code, output=output, seconds=1)


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

    def confinement(self) -> str:
        if self.lacking:
            raise GiveUp(self.lacking)
        return "scripted"

    def prepare(self, commit, preparation):
        self.preparations.append(preparation)
        if self.not_prepared:
            raise GiveUp(self.not_prepared)
        return Prepared(key="ready")

    def run(self, commit, changes, command):
        self.confinement()
        times = self.asked.count((command.words, bool(changes)))
        self.asked.append((command.words, bool(changes)))
        return self.answer(command.words, bool(changes), times)

    def close(self) -> None:
        self.is_closed = True
