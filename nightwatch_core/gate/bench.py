"""Runs the commands of one project on its base and with a fix; what the base gave is kept."""

import shlex
from typing import NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.kit import Kit, Words
from nightwatch_core.gate.limits import EXPLAINED_CHARACTERS, LEAST_SECONDS
from nightwatch_core.gate.readings import Reading, reading_of
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.models.sandbox import NOT_LAID_OUT, Bounds, Command, Run
from nightwatch_core.ports import Sandbox
from nightwatch_core.text.plain_text import one_line


class Known:
    """What a night has found out about its projects, so that nothing is asked for twice."""

    def __init__(self) -> None:
        """Know nothing."""
        self.base_runs: dict[tuple[str, Words, int], Run] = {}
        self.prepared: dict[str, tuple[str, str]] = {}  # key and trouble, by manifests
        self.runners: dict[str, tuple[str, str]] = {}  # a name, else why none tells, by project
        self.lacking = ""  # why nothing can be run at all
        self.silent = ""  # why no model is asked any more tonight


class Bench:
    """One project at one commit, one fix, and the seconds that are left for it."""

    def __init__(
        self,
        sandbox: Sandbox,
        kit: Kit,
        commit: Commit,
        changes: tuple[FileChange, ...],
        known: Known,
        seconds: float,
    ) -> None:
        """Nothing is run yet."""
        self.kit, self.commit, self.changes = kit, commit, changes
        self._sandbox, self._known = sandbox, known
        self.seconds_left, self.seconds = seconds, 0.0
        self.lacks = ""  # why its dependencies are not here; it is tried all the same

    def prepare(self) -> None:
        """Have its dependencies at hand, once a night, before any change is made."""
        preparation = self.kit.preparation
        if preparation is None:
            return
        name = f"{self.commit.sha if preparation.whole_tree else ''}{preparation!r}"
        if name not in self._known.prepared:
            try:
                ready = self._sandbox.prepare(self.commit, preparation)
                self._known.prepared[name] = ready.key, ""
                self.seconds += ready.seconds
            except GiveUp as trouble:
                self._known.prepared[name] = "", one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        self._key, self.lacks = self._known.prepared[name]

    _key = ""

    def has_time(self) -> bool:
        """Whether another command is worth starting."""
        return self.seconds_left >= LEAST_SECONDS

    def base(self, words: Words, most: float, again: int = 0) -> Run:
        """Run on the base; the same words are run once a night, unless it is asked for `again`."""
        name = (self.commit.sha, (self._key, *words), again)
        known = self._known.base_runs.get(name)
        if known is None or (known.ended == "took too long" and known.seconds < most):
            known = self._known.base_runs[name] = self._run(words, (), most)
        return known

    def fixed(self, words: Words, most: float) -> Run:
        """Run with the fix."""
        return self._run(words, self.changes, most)

    def base_reading(self, words: Words, form: str, most: float, again: int = 0) -> Reading:
        """Run tests on the base."""
        return reading_of(self.base(words, most, again), form)

    def fixed_reading(self, words: Words, form: str, most: float) -> Reading:
        """Run tests with the fix."""
        return reading_of(self.fixed(words, most), form)

    def remembered_runner(self) -> tuple[str, str] | None:
        """The runner that tells something on this base, else why none does; None: not tried."""
        return self._known.runners.get(self._project)

    def remember_runner(self, name: str, why_none: str = "") -> None:
        """Remember which runner tells something on this base, or why none does."""
        self._known.runners[self._project] = name, why_none

    @property
    def _project(self) -> str:
        return f"{self.commit.sha}/{self.kit.root}{self.kit.language}"

    def _run(self, words: Words, changes: tuple[FileChange, ...], most: float) -> Run:
        """Raises `GiveUp` where the tree cannot be laid out or nothing confines programs."""
        inner = words
        if self.kit.root or self.kit.folders:
            made = "".join(f"mkdir -p {shlex.quote(one)} && " for one in self.kit.folders)
            script = f'cd "$0" && {made}exec "$@"'
            inner = ("/bin/sh", "-c", script, self.kit.root or ".", *words)
        seconds = max(LEAST_SECONDS, min(most, self.seconds_left))
        command = Command(
            words=inner,
            environment=self.kit.environment,
            links=self.kit.links if self._key else (),
            prepared=self._key,
            bounds=Bounds(seconds=seconds, cpu_seconds=max(1, int(2 * seconds))),
        )
        run = self._sandbox.run(self.commit, changes, command)
        self.seconds_left -= run.seconds
        self.seconds += run.seconds
        if run.code == NOT_LAID_OUT:
            raise GiveUp("its tree does not fit into the sandbox's work folder")
        return run


class Compared(NamedTuple):
    """What came of comparing two runs."""

    worse: str = ""  # why the fix is not as good as the base; empty where it is
    output: str = ""
    preexisting: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
