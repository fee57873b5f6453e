"""What may be run for one analysis, by whom, and how much of it is left.

What was run is kept, so that a night that is taken up again shows the same.
"""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from pydantic import ValidationError

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.tool_arguments import Refusal
from nightwatch_core.code.code_view import halves
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.sandbox import Run
from nightwatch_core.ports import Records
from nightwatch_core.text.escaping import clean
from nightwatch_core.text.plain_text import digest
from nightwatch_core.text.units import plural

_NO_MORE = "Not run: of {runs} and {seconds:.0f} s an error nothing is left. Go on without."


class RunsCode(Protocol):
    """Runs what it is asked to, confined, in the project at one commit.

    Both raise `GiveUp`, with what to ask instead.
    """

    def run_test(self, test: str) -> Run:
        """Run a file of tests, or one test by its id."""
        ...

    def run_snippet(self, code: str) -> Run:
        """Run code in the project's language."""
        ...


class KeptRuns:
    """A `RunsCode` that runs the same once a night: what it gave is in `records`."""

    def __init__(
        self, runner: RunsCode, records: Records, prefix: str, turn: AbstractContextManager[object]
    ) -> None:
        """Keep runs below `prefix`, which names night and project; who runs holds `turn`."""
        self._runner, self._records, self._prefix = runner, records, prefix
        self._turn = turn

    def run_test(self, test: str) -> Run:
        """Run a file of tests, or one test by its id."""
        return self._kept(self._runner.run_test, "test", test)

    def run_snippet(self, code: str) -> Run:
        """Run code in the project's language."""
        return self._kept(self._runner.run_snippet, "snippet", code)

    def _kept(self, run: Callable[[str], Run], kind: str, text: str) -> Run:
        key = f"{self._prefix}/{kind}/{digest(text)}"
        with self._turn:
            try:
                return Run.model_validate(json.loads(self._records.get(key) or ""))
            except (ValidationError, ValueError):
                came = run(text)
            came = came.model_copy(update={"output": halves(came.output, limits.RUN_KEPT)})
            self._records.put(key, json.dumps(came.model_dump(mode="json")))
        return came


class RunsLeft:
    """What one analysis may still run. Its calls are made one after another."""

    def __init__(self, runner: RunsCode) -> None:
        """Nothing was run yet."""
        self.runner = runner
        self.runs, self.seconds = limits.RUNS, limits.RUNS_SECONDS

    def take(self, run: Callable[[str], Run], text: str) -> Run:
        """Run it, and count it; raises `Refusal` where no more may be run, or it cannot be."""
        if self.runs <= 0 or self.seconds <= limits.RUNS_SECONDS_KEPT:
            runs = plural(limits.RUNS, "run")
            raise Refusal(_NO_MORE.format(runs=runs, seconds=limits.RUNS_SECONDS))
        try:
            came = run(text)
        except GiveUp as trouble:
            raise Refusal(f"Not run: {clean(str(trouble))}.") from None
        self.runs, self.seconds = self.runs - 1, self.seconds - came.seconds
        return came
