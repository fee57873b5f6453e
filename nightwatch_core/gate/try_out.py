"""Runs what an analyst asks for: tests and snippets of one project, at the commit that failed."""

from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.bench import Bench, Known
from nightwatch_core.gate.inspections import is_absent
from nightwatch_core.gate.kit import Kit, Words
from nightwatch_core.gate.kits import kit_for
from nightwatch_core.gate.limits import EXPLAINED_CHARACTERS, RUN_SECONDS
from nightwatch_core.gate.one_test import read_test_id, words_for
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.sandbox import Run
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.text.plain_text import digest, one_line

_TIMELESS = 1e9  # seconds: whoever asks counts them


class TryOut:
    """One project at one commit. What is run depends on what is asked alone, never on what was."""

    def __init__(self, sandbox: Sandbox, kit: Kit, tree: CodeReader, known: Known) -> None:
        """Nothing is prepared before the first call; `known` is shared by the night's."""
        self._kit, self._tree = kit, tree
        self._bench = Bench(sandbox, kit, tree.commit, (), known, _TIMELESS)
        self._is_prepared = False

    @property
    def project(self) -> str:
        """A name of the project in its repository."""
        return f"{self._kit.language}-{digest(self._kit.root)}"

    def run_test(self, test: str) -> Run:
        """Run a file of tests, or one of them; raises `GiveUp`, with what to ask instead."""
        wanted = read_test_id(test, self._kit.inner(self._tree.paths()))
        last: Run | None = None
        for runner in self._kit.runners:
            if runner.only_after not in (None, last.code if last else None):
                continue
            if last and runner.only_after is None and not is_absent(last):
                break
            last = self._run(words_for(runner, wanted))
        if last is None:
            raise GiveUp("nobody knows how this project's tests are run one by one")
        return last

    def run_snippet(self, code: str) -> Run:
        """Run code in the project's language from its root; raises `GiveUp` where none can be."""
        if self._kit.snippet is None:
            raise GiveUp(f"nobody knows how {self._kit.language} is run here")
        return self._run(self._kit.snippet(code))

    def _run(self, words: Words) -> Run:
        if not self._is_prepared:
            self._bench.prepare()
            self._is_prepared = True
        run = self._bench.base(words, RUN_SECONDS)
        if run.went_well or not self._bench.lacks:
            return run
        return run.model_copy(update={"output": f"{run.output}\n[{self._bench.lacks}]"})


def try_out(
    files: tuple[str, ...],
    tree: CodeReader,
    sandbox: Sandbox,
    options: NightOptions,
    known: Known,
) -> TryOut | None:
    """Say who runs tests and snippets of the project of `files`; None where nobody can."""
    if not files or known.lacking:
        return None
    try:
        sandbox.confinement()
    except GiveUp as trouble:
        known.lacking = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        return None
    detected = options.model_copy(update={"verify": ""})  # a person's words run all at once
    kit = kit_for(files, tree.paths(), tree.read_file, detected)
    return None if isinstance(kit, str) else TryOut(sandbox, kit, tree, known)
