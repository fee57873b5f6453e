"""Whether a part of a fix does what it was to do: by a check that was run, or one test's file."""

from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.bench import Bench, Known
from nightwatch_core.gate.kits import kit_for
from nightwatch_core.gate.limits import CHECK_SECONDS, EXPLAINED_CHARACTERS, OUTPUT_CHARACTERS
from nightwatch_core.gate.suites import nearest_tests, usable_runner
from nightwatch_core.models.gate import Check, GateResult
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.text.plain_text import one_line

TESTS = "tests"  # all that the gate runs, as it does anyway


def checks_known(draft: DraftPull, tree: CodeReader, options: NightOptions) -> tuple[str, ...]:
    """Name the checks that the project of a draft has; none where nobody knows how it is tested."""
    paths = tuple(change.path for change in draft.changes)
    kit = kit_for(paths, tree.paths(), tree.read_file, options)
    if isinstance(kit, str):
        return ()
    return tuple(dict.fromkeys((TESTS, *(one.name for one in kit.inspections))))


def not_accepted(
    name: str,
    result: GateResult,
    draft: DraftPull,
    tree: CodeReader,
    sandbox: Sandbox,
    options: NightOptions,
    known: Known,
) -> Check | None:
    """Find out whether the check called `name` passed, or the test's file of that name does.

    `result` is what came of running the draft. Returns what did not pass; None where it did.
    """
    if "/" not in name and "." not in name:
        passed = any(one.name == name and one.outcome == "passed" for one in result.checks)
        return None if passed else Check(name=name, outcome="failed", text=f"{name}: was not run")
    paths = tuple(change.path for change in draft.changes)
    kit = kit_for(paths, tree.paths(), tree.read_file, options)
    if isinstance(kit, str) or not kit.runners or not kit.inner((name,)):
        return Check(name=TESTS, outcome="failed", text=f"{name} is not run by itself here")
    bench = Bench(sandbox, kit, tree.commit, draft.changes, known, options.gate_seconds)
    try:
        return _red(bench, name, tree.paths())
    except GiveUp as trouble:
        why = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        return Check(name=TESTS, outcome="failed", text=why)


def _red(bench: Bench, name: str, paths: tuple[str, ...]) -> Check | None:
    """Raises `GiveUp` where nothing can be run."""
    bench.prepare()
    runner = usable_runner(bench, nearest_tests(bench, paths))
    if isinstance(runner, str):
        return Check(name=TESTS, outcome="failed", text=runner)
    reading = bench.fixed_reading(runner.some(bench.kit.inner((name,))), runner.form, CHECK_SECONDS)
    if reading.is_green and reading.ran != 0:
        return None
    what = "holds no test" if reading.ran == 0 else "is not green"
    output = reading.run.output[-OUTPUT_CHARACTERS:]
    return Check(name=TESTS, outcome="failed", text=f"{name} {what}", output=output)
