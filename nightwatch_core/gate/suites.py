"""Tests: first on the base, then with the fix; those nearest to the change first."""

from collections.abc import Iterator

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.gate.bench import Bench, Compared
from nightwatch_core.gate.kit import Runner, Words
from nightwatch_core.gate.limits import (
    EXPLAINED_CHARACTERS,
    NAMES,
    NEAREST_FILES,
    OUTPUT_CHARACTERS,
)
from nightwatch_core.gate.readings import Reading
from nightwatch_core.models.gate import Check
from nightwatch_core.text.plain_text import one_line
from nightwatch_core.text.units import plural


def nearest_tests(bench: Bench, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Files that test what is changed, and tests that are changed and were there before."""
    inside, changed = bench.kit.inner(paths), bench.kit.inner(tuple(c.path for c in bench.changes))
    gone = {c.path for c in bench.changes if c.text is None}
    ours = [path for path in changed if TEST.search(path) and path in inside]
    ours += [one for path in changed for one in files_testing(path, inside, NEAREST_FILES)]
    return tuple(dict.fromkeys(path for path in ours if bench.kit.root + path not in gone))


def usable_runner(bench: Bench, nearest: tuple[str, ...]) -> Runner | str:
    """The first runner whose run on the base tells something; else what the last one printed."""
    known = bench.remembered_runner()
    if known is not None:
        return next((one for one in bench.kit.runners if one.name == known[0]), known[1])
    ended, code, is_late = "there was no time", 0, False
    for runner in bench.kit.runners:
        if runner.only_after not in (None, code):
            continue
        words = runner.some(nearest) if nearest else runner.whole
        if not bench.has_time():
            return ended
        base = bench.base_reading(words, runner.form, bench.seconds_left / 3)
        if base.ran == 0 and nearest:
            base = bench.base_reading(runner.whole, runner.form, bench.seconds_left / 3)
        if base.tells:
            bench.remember_runner(runner.name)
            return runner
        why = base.run.ended if base.run.ended != "exited" else _last_line(base)
        ended, code = f"{runner.name} on the base: {why}", base.run.code
        is_late = is_late or base.run.ended == "took too long"
    if not is_late:  # with more time it may tell
        bench.remember_runner("", ended)
    return ended


def tested(
    bench: Bench, runner: Runner, nearest: tuple[str, ...]
) -> Iterator[tuple[Check, Compared]]:
    """Compare the nearest tests, then the whole suite, as far as there is time."""
    if nearest:
        yield _compared(bench, runner, runner.some(nearest), ", ".join(nearest))
    if bench.has_time():
        yield _compared(bench, runner, runner.whole, "the whole suite")


def _compared(bench: Bench, runner: Runner, words: Words, what: str) -> tuple[Check, Compared]:
    started, shown = bench.seconds, f"{runner.name}: {what}"
    base = bench.base_reading(words, runner.form, bench.seconds_left / 3)
    if not base.tells:
        late = base.run.ended == "took too long"
        why = "no test is green on the base, or it cannot be told which"
        why = f"took more than {base.run.seconds:.0f} s" if late else why
        return Check(name="tests", outcome="not run", text=f"{shown}: {why}"), Compared()
    flaky = frozenset[str]()
    if base.failed:  # once more: what is green now is flaky
        flaky = base.failed - bench.base_reading(words, runner.form, base.run.seconds * 3, 1).failed
    fixed = bench.fixed_reading(words, runner.form, base.run.seconds * 3 + 20)
    came = _judged(bench, runner, words, base, fixed)
    flaky |= came.flaky
    came = came._replace(preexisting=(base.failed & fixed.failed) - flaky, flaky=flaky)
    seconds = round(bench.seconds - started, 1)
    if came.worse:
        return (
            Check(name="tests", outcome="failed", text=f"{shown}: {came.worse}",
                  command=runner.name, output=came.output, seconds=seconds),
            came,
        )  # fmt: skip
    count = plural(fixed.ran, "test") if fixed.ran is not None else "all"
    state = "green" if fixed.is_green else "no worse than the base"
    text = f"{shown}: {count}, {state}"
    return Check(name="tests", outcome="passed", text=text, seconds=seconds), came


def _judged(bench: Bench, runner: Runner, words: Words, base: Reading, fixed: Reading) -> Compared:
    """What is worse with the fix; what is red now and then is flaky, and not held against it."""
    if fixed.is_readable and not (fixed.failed - base.failed) and not _fewer(base, fixed):
        return Compared()
    again = bench.fixed_reading(words, runner.form, base.run.seconds * 3 + 20)
    output = again.run.output[-OUTPUT_CHARACTERS:]
    if not again.is_readable:
        ended = again.run.ended if again.run.ended != "exited" else _last_line(again)
        return Compared(worse=f"it does not come to its end with the fix: {ended}", output=output)
    if _fewer(base, again):
        worse = f"{again.ran} tests are run with the fix, {base.ran} without it"
        return Compared(worse=worse, output=output)
    steady = (fixed.failed & again.failed if fixed.is_readable else again.failed) - base.failed
    flaky = (fixed.failed | again.failed) - base.failed - steady
    if steady:
        later = bench.base_reading(words, runner.form, base.run.seconds * 3 + 20, 2).failed
        flaky, steady = flaky | (steady & later), steady - later
    if not steady:
        return Compared(flaky=flaky)
    worse = f"red with the fix, green without it: {', '.join(sorted(steady)[:NAMES])}"
    return Compared(worse=worse, output=output, flaky=flaky)


def _fewer(base: Reading, fixed: Reading) -> bool:
    """Whether fewer tests are run: what stops the runner early must not look green."""
    return base.ran is not None and (fixed.ran is None or fixed.ran < base.ran)


def _last_line(reading: Reading) -> str:
    lines = [line for line in reading.run.output.splitlines() if line.strip()]
    return one_line(lines[-1])[:EXPLAINED_CHARACTERS] if lines else "it prints nothing"
