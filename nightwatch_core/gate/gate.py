"""The gate: what was run of one fix, and whether it may be shown."""

from collections.abc import Iterator

from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.bench import Bench, Compared, Known
from nightwatch_core.gate.inspections import inspected
from nightwatch_core.gate.kit import Runner
from nightwatch_core.gate.kits import kit_for
from nightwatch_core.gate.limits import EXPLAINED_CHARACTERS, NAMES
from nightwatch_core.gate.suites import nearest_tests, tested, usable_runner
from nightwatch_core.models.gate import Check, GateResult, not_run
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.text.plain_text import one_line

_OWN_WORDS = "verify"


def gated(
    draft: DraftPull, tree: CodeReader, sandbox: Sandbox, options: NightOptions, known: Known
) -> GateResult:
    """Run what can be run of a draft; `tree` is the commit that its edits were made on.

    Never raises for what the draft or the project does: that is a result.
    """
    if known.lacking:
        return not_run("no sandbox", known.lacking)
    try:
        sandbox.confinement()
    except GiveUp as trouble:
        known.lacking = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        return not_run("no sandbox", known.lacking)
    paths = tree.paths()
    kit = kit_for(tuple(c.path for c in draft.changes), paths, tree.read_file, options)
    if isinstance(kit, str):
        return not_run("no tests", kit)
    bench = Bench(sandbox, kit, tree.commit, draft.changes, known, options.gate_seconds)
    try:
        result = _result(bench, paths)
    except GiveUp as trouble:
        text = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        result = not_run("trouble", text)
    return result.model_copy(update={"fix": draft.fix, "seconds": round(bench.seconds, 1)})


def _result(bench: Bench, paths: tuple[str, ...]) -> GateResult:
    """All checks in order, until one of them fails."""
    checks: list[Check] = []
    preexisting, flaky = frozenset[str](), frozenset[str]()
    bench.prepare()
    if bench.lacks:
        checks.append(Check(name="dependencies", outcome="not run", text=bench.lacks))
    for check, compared in _steps(bench, paths):
        checks.append(check)
        preexisting, flaky = preexisting | compared.preexisting, flaky | compared.flaky
        if check.outcome == "failed":
            break
    failed = next((one.text for one in checks if one.outcome == "failed"), "")
    ran = any(one.name == "tests" and one.outcome == "passed" for one in checks)
    result = GateResult(
        outcome="failed" if failed else "passed" if ran else "not run",
        text=failed,
        checks=tuple(checks),
        preexisting=tuple(sorted(preexisting - flaky)[:NAMES]),
        flaky=tuple(sorted(flaky)[:NAMES]),
    )
    if result.outcome != "not run":
        return result
    kind = "not prepared" if bench.lacks else "no tests" if bench.has_time() else "no time"
    said = (one.text for one in checks if one.outcome == "not run" and one.name == "tests")
    why = bench.lacks or f"{next(said, 'there was no time')}; say how with NIGHTWATCH_VERIFY"
    text = f"its tests could not be run: {why}"
    return result.model_copy(update={"kind": kind, "text": text})


def _steps(bench: Bench, paths: tuple[str, ...]) -> Iterator[tuple[Check, Compared]]:
    for inspection in bench.kit.inspections:
        if check := inspected(bench, inspection):
            yield check, Compared()
    if bench.kit.verify:
        words = ("/bin/sh", "-c", bench.kit.verify)
        yield from tested(bench, Runner(_OWN_WORDS, words, lambda _: words, ""), ())
        return
    nearest = nearest_tests(bench, paths)
    runner = usable_runner(bench, nearest)
    if isinstance(runner, str):
        yield Check(name="tests", outcome="not run", text=runner), Compared()
    else:
        yield from tested(bench, runner, nearest)
