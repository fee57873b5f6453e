"""The gate: what was run of one fix, and whether it may be shown."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from nightwatch_core.code.edits import apply
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import Check, DraftPull, FileChange, GateResult, Run, not_run
from nightwatch_core.ports import CodeReader, Sandbox
from nightwatch_core.proof import crash as crashes
from nightwatch_core.proof import kits
from nightwatch_core.proof.coverage import counted_lines
from nightwatch_core.proof.environment import (
    Compared,
    Environment,
    NightCache,
    nearest_tests,
    test_file,
    tested,
    usable_runner,
)
from nightwatch_core.proof.profiles import kit_as_proved
from nightwatch_core.text.plain_text import digest, one_line

TO_DO = "run `nightwatch prepare`, or set NIGHTWATCH_VERIFY"
MORE_TIME = "raise --gate-seconds"
CHECK_SECONDS = 60.0  # of a check that is no test
RUN_SECONDS = 40.0  # of a test or snippet that an analyst asks for


# Syntax, imports, lint and types: no complaint that the base does not have.

_PLACE = re.compile(  # moves with every edit above it
    r":\d+(:\d+)?(?=:|\s|$)|\bline \d+\b|\(\d+,\d+\)|^\d+:\d+\b"
)
_ABSENT = re.compile(r"No module named|not found|Cannot find module|can't be found")


def inspected(environment: Environment, inspection: kits.Inspection) -> Check | None:
    """Compare the complaints of a check; None where it does not concern the changed files."""
    files = environment.kit.inner(tuple(c.path for c in environment.changes if c.text is not None))
    files = tuple(path for path in files if path.endswith(inspection.endings))
    files = tuple(path for path in files if inspection.of_tests or not TEST.search(path))
    if not files or not environment.has_time():
        return None
    words = (*inspection.words, *files)
    shown = f"{inspection.name} of {', '.join(files[:5])}"
    fixed = environment.fixed(words, "", CHECK_SECONDS).run
    if fixed.ended != "exited" or is_absent(fixed):
        return None
    complaints = _complaints(fixed)
    if not complaints:
        return Check(name=inspection.name, outcome="passed", text=shown, seconds=fixed.seconds)
    base = environment.base(words, "", CHECK_SECONDS).run
    new = _unlike_neighbours(environment, inspection, complaints - _complaints(base))
    if base.ended != "exited" or not new:
        text = f"{shown}: no new problems"
        return Check(name=inspection.name, outcome="passed", text=text, seconds=fixed.seconds)
    first = one_line(next(iter(new)))[: kits.EXPLAINED_CHARACTERS]
    return Check(
        name=inspection.name,
        outcome="failed",
        text=f"{inspection.name}: {first}",
        output=kits.printed_end(fixed),
        seconds=fixed.seconds,
    )


_KIND = re.compile(r"\[[\w-]+\]$")  # as mypy names it
_NEAR = 3  # tests beside a new one


def _unlike_neighbours(
    environment: Environment, inspection: kits.Inspection, new: Counter[str]
) -> Counter[str]:
    """Leave out what is said of a new test and, in the same kind, of the tests beside it."""
    changed = (c.path for c in environment.changes if environment.read(c.path) is None)
    made = environment.kit.inner(tuple(path for path in changed if TEST.search(path)))
    folders = {path.rpartition("/")[0] for path in made}
    beside = (path for path in environment.kit.tests if path.rpartition("/")[0] in folders)
    near = tuple(path for path in beside if path.endswith(inspection.endings))[:_NEAR]
    if not near or not any(item.startswith(made) for item in new):
        return new
    usual = _complaints(environment.base((*inspection.words, *near), "", CHECK_SECONDS).run)
    kinds = {found[0] for item in usual if (found := _KIND.search(item))}

    def is_usual(item: str) -> bool:
        found = _KIND.search(item)
        return item.startswith(made) and found is not None and found[0] in kinds

    return Counter({item: count for item, count in new.items() if not is_usual(item)})


def _complaints(run: Run) -> Counter[str]:
    lines = (line.strip() for line in run.output.splitlines())
    return Counter(_PLACE.sub("", line) for line in lines if ":" in line)


def is_absent(run: Run) -> bool:
    """Tell whether the tool itself is not here, which is nobody's fault."""
    return not run.went_well and bool(_ABSENT.search(run.output)) and run.output.count("\n") <= 2


def _lacking(sandbox: Sandbox, cache: NightCache) -> str:
    if not cache.lacking:
        try:
            sandbox.confinement()
        except GiveUp as trouble:
            cache.lacking = kits.explained(trouble)
    return cache.lacking


def gated(
    draft: DraftPull, tree: CodeReader, sandbox: Sandbox, options: NightOptions, cache: NightCache
) -> GateResult:
    """Run what can be run of a draft, made on the commit of `tree`; never raises."""
    if lacking := _lacking(sandbox, cache):
        return not_run("no sandbox", lacking)
    changed = tuple(change.path for change in draft.changes)
    kit = kit_as_proved(changed, tree, options, cache)
    if isinstance(kit, str):
        return not_run("no tests", kit)
    environment = Environment(sandbox, kit, tree.commit, draft.changes, cache, options.gate_seconds)
    environment.read = tree.read_file
    environment.counted = counted_lines(draft.changes, tree.read_file)
    try:
        result = _result(environment, tree)
    except GiveUp as trouble:
        result = not_run("trouble", kits.explained(trouble))
    return result.model_copy(update={"fix": draft.fix, "seconds": round(environment.seconds, 1)})


def _result(environment: Environment, tree: CodeReader) -> GateResult:
    checks: list[Check] = []
    left_out: dict[str, set[str]] = {"preexisting": set(), "flaky": set(), "silent": set()}
    environment.prepare()
    if environment.lacks:
        checks.append(Check(name="dependencies", outcome="not run", text=environment.lacks))
    if stale := environment.kit.stale:
        checks.append(Check(name="profile", outcome="not run", text=stale))
    for check, compared in _steps(environment, tree.paths()):
        checks.append(check)
        for name, tests in left_out.items():
            tests |= getattr(compared, name)
        if check.outcome == "failed":
            break
    executing = environment.executing - {""} or environment.executing
    left_out["preexisting"] -= left_out["flaky"]
    told = executing - environment.kit.known_red(environment.commit.sha)
    failed = next((item.text for item in checks if item.outcome == "failed"), "")
    ran = any(item.name == "tests" and item.outcome == "passed" for item in checks)
    result = GateResult(
        outcome="failed" if failed else "passed" if ran else "not run",
        text=failed,
        executing=None if "" in executing else len(told.difference(*left_out.values())),
        checks=tuple(checks),
    ).model_copy(
        update={name: tuple(sorted(some)[: kits.NAMES]) for name, some in left_out.items()}
    )
    if result.outcome != "not run":
        return result
    late = environment.is_late or not environment.has_time()
    kind = "not prepared" if environment.lacks else "no time" if late else "no tests"
    reasons = (item.text for item in checks if item.name == "tests")
    why = f"{next(reasons, 'there was no time')}; {MORE_TIME if late else TO_DO}"
    known = environment.kit.profile.trouble if environment.kit.profile else ""
    text = f"its tests could not be run: {environment.lacks or known or why}"
    return result.model_copy(update={"kind": kind, "text": text})


def _steps(environment: Environment, paths: tuple[str, ...]) -> Iterator[tuple[Check, Compared]]:
    for inspection in environment.kit.inspections:
        if check := inspected(environment, inspection):
            yield check, Compared()
    if environment.kit.verify:
        yield from tested(environment, environment.kit.used_runners[0], ())
        return
    nearest = nearest_tests(environment, paths)
    runner = usable_runner(environment, nearest)
    if isinstance(runner, str):
        yield Check(name="tests", outcome="not run", text=runner), Compared()
    else:
        yield from tested(environment, runner, nearest)


# Tests and snippets that an analyst asks for.

_TIMELESS = 1e9  # seconds: whoever asks counts them


@dataclass(frozen=True)
class TryOut:
    """One project at one commit. What is run depends on what is asked alone, never on what was."""

    sandbox: Sandbox
    kit: kits.Kit
    tree: CodeReader
    cache: NightCache  # shared by the night's
    crash: crashes.Crash | None = None

    @property
    def project(self) -> str:
        """Return a name of the project in its repository."""
        return f"{self.kit.language}-{digest(self.kit.root)}"

    def run_test(self, test: str, edits: tuple[Edit, ...] = ()) -> Run:
        """Run a file of tests; raises `GiveUp`, with what to ask instead."""
        expected = test_file(test, self.kit.inner(self.tree.paths()))
        last: Run | None = None
        for runner in self.kit.runners:
            is_next = last is None or is_absent(last)
            if is_next if runner.only_after is None else last and last.code == runner.only_after:
                last = self._run(runner.some((expected,)), edits)
        if last is None:
            raise GiveUp("no test runner is known that can run a single test of this project")
        return last

    def run_snippet(self, code: str, edits: tuple[Edit, ...] = ()) -> Run:
        """Run code in the project's language from its root; raises `GiveUp` where none can be."""
        if self.kit.snippet is None:
            raise GiveUp(f"snippets of {self.kit.language} cannot be run here")
        words, crash = self.kit.snippet(code), self.crash
        recorder = crashes.RECORDERS.get(self.kit.language)
        if crash is None or recorder is None:
            return self._run(words, edits)
        mark, expected = f"{self.cache.mark}{digest(code)}", crashes.simple_class(crash.error_class)
        run = self._run(crashes.recorded(words, recorder, mark, expected), edits)
        printed, raised = crashes.printed_and_raised(run.output, mark)
        shows = not run.went_well and not all(crashes.unlike(item, crash) for item in raised)
        return run.model_copy(update={"output": printed, "shows_crash": shows})

    def prepared(self, changes: tuple[FileChange, ...] = ()) -> Environment:
        """Return the project with changes, and its dependencies at hand, if they are here."""
        at = self.tree.commit
        made = Environment(self.sandbox, self.kit, at, changes, self.cache, _TIMELESS)
        made.prepare()
        return made

    def _run(self, words: kits.Words, edits: tuple[Edit, ...]) -> Run:
        if not edits:
            return self.prepared().base(words, "", RUN_SECONDS).run
        applied = apply(edits, self.tree.read_file, self.tree.paths())
        if applied.refusal:
            raise GiveUp(f"with_fix: {applied.refusal}")
        return self.prepared(applied.changes).fixed(words, "", RUN_SECONDS).run


def try_out(
    files: tuple[str, ...],
    tree: CodeReader,
    sandbox: Sandbox,
    options: NightOptions,
    cache: NightCache,
    crash: crashes.Crash | None = None,
) -> TryOut | None:
    """Return a runner for the project of `files`; None where its tests cannot be run."""
    if not files or _lacking(sandbox, cache):
        return None
    detected = options.model_copy(update={"verify": ""})  # a person's words run all at once
    kit = kit_as_proved(files, tree, detected, cache)
    if isinstance(kit, str) or (kit.profile and not kit.profile.is_runnable):
        return None
    made = TryOut(sandbox, kit, tree, cache, crash)
    return None if made.prepared().lacks else made
