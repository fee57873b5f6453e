"""Runs the commands of one project on its base and with a fix; what the base gave is kept."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from nightwatch_core.code.candidate_symbols import files_testing
from nightwatch_core.code.code_view import inside
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import (
    NOT_LAID_OUT,
    Bounds,
    Check,
    Command,
    FileChange,
    Prepared,
    Run,
)
from nightwatch_core.ports import ProjectDocuments, Sandbox
from nightwatch_core.proof import kits
from nightwatch_core.proof.coverage import Canary, canary_for, printed_and_executing
from nightwatch_core.proof.crash import RECORDERS, recorded
from nightwatch_core.text.plain_text import digest, one_line, plural

LEAST_SECONDS = 5.0  # for a command to be worth starting
NEAREST_FILES = 6  # tests of one changed file
_NAMED = 5  # tests in a sentence
SAMPLE_FILES = 12  # of a suite that takes too long


@dataclass(eq=False)
class NightCache:
    """Cache of facts about projects, so that nothing runs twice in a night."""

    documents: ProjectDocuments | None = None  # that say how projects are tested
    mark: str = ""  # new every night, and unknown to what is run
    detected: dict[kits.Words, kits.Kit | str] = field(default_factory=dict)  # by project
    base_runs: dict[tuple[str, kits.Words, int], Run] = field(default_factory=dict)
    prepared: dict[str, tuple[Prepared, str]] = field(default_factory=dict)  # with the trouble
    runners: dict[str, kits.Runner] = field(default_factory=dict)  # by project
    lacking: str = ""  # why nothing can be run at all
    silent: str = ""  # why no model is asked any more tonight, and what to set
    cpu: float = 0.0  # seconds of processors, of all that was run

    def __post_init__(self) -> None:
        """Make a name of the mark."""
        self.mark = f"nw{digest(self.mark)}"

    def __getstate__(self) -> dict[str, Any]:
        """Leave behind what holds for this process's sandbox alone."""
        return vars(NightCache()) | {"mark": self.mark, "silent": self.silent}


class Environment:
    """One project at one commit, one fix, and the seconds that are left for it."""

    def __init__(
        self,
        sandbox: Sandbox,
        kit: kits.Kit,
        commit: Commit,
        changes: tuple[FileChange, ...],
        cache: NightCache,
        seconds: float,
    ) -> None:
        self.kit, self.commit, self.changes, self.cache = kit, commit, changes, cache
        self.project = f"{commit.sha}/{kit.root}{kit.language}"
        self._sandbox, self._key = sandbox, ""
        self.how = self.interpreter = ""  # of its dependencies, once they are here
        self.is_asked = True  # whether the interpreter is of a version that was asked for
        self.is_late = False  # whether the tests of the base took too long
        self.seconds_left, self.seconds = seconds, 0.0
        self.lacks = self.printed = (
            ""  # why its dependencies are not here: it is tried all the same
        )
        self.read: kits.Read = lambda _path: None  # gives the base's texts
        self.counted: dict[str, frozenset[int]] = {}  # lines by path: who runs them is a test of it
        self.executing = frozenset[str]()  # tests that ran one of them with the fix

    def prepare(self) -> None:
        """Have its dependencies at hand, once a night, before any change is made."""
        preparation = self.kit.preparation
        if preparation is None:
            return
        name = f"{self.commit.sha if preparation.whole_tree else ''}{preparation!r}"
        if name not in self.cache.prepared:
            try:
                ready = self._sandbox.prepare(self.commit, preparation)
                self.cache.prepared[name] = ready, ""
                self.seconds += ready.seconds
            except GiveUp as trouble:
                self.printed = trouble.printed
                self.cache.prepared[name] = Prepared(), kits.explained(trouble)
        ready, self.lacks = self.cache.prepared[name]
        self._key, self.interpreter = ready.key, ready.interpreter
        self.is_asked = ready.is_asked
        self.how = "" if self.lacks else ready.how

    def has_time(self) -> bool:
        """Tell whether another command is worth starting."""
        return self.seconds_left >= LEAST_SECONDS

    def base(
        self,
        words: kits.Words,
        form: str,
        most: float,
        again: int = 0,
        laid: tuple[FileChange, ...] = (),
    ) -> kits.Reading:
        """Run on the base; the same words are run once a night, unless it is asked for `again`.

        `laid` are files of ours beside it.
        """
        name = (self.commit.sha, (self._key, *words, *map(repr, laid)), again)
        run = self.cache.base_runs.get(name)
        if run is None or (run.ended == "took too long" and 2 * run.spent < most):
            run = self.cache.base_runs[name] = self._run(words, laid, most)
        self.is_late |= run.ended == "took too long"
        return kits.reading_of(run, form)

    def fixed(self, words: kits.Words, form: str, most: float) -> kits.Reading:
        """Run with the fix."""
        return kits.reading_of(self._run(words, self.changes, most), form)

    def watched(
        self, words: kits.Words, form: str, most: float, canary: Canary | None = None
    ) -> kits.Reading:
        """Run with the fix, note which lines of it run, and have a canary beside the tests."""
        recorder = RECORDERS.get(self.kit.language)
        changes = (*self.changes, canary.change) if canary else self.changes
        if recorder and self.counted:
            words = recorded(words, recorder, self.cache.mark, "", self.counted)
        run = self._run(words, changes, most)
        printed, executing = printed_and_executing(run.output, self.cache.mark)
        self.executing |= executing
        return kits.reading_of(run.model_copy(update={"output": printed}), form)

    def _run(self, words: kits.Words, changes: tuple[FileChange, ...], most: float) -> Run:
        inner = words
        started = kits.starting(self.kit)
        if self.kit.root or self.kit.folders or started:
            made = "".join(f"mkdir -p {item} && " for item in self.kit.folders)
            script = f'cd "$0" || exit\n{made}{started}exec "$@"'
            inner = ("/bin/sh", "-c", script, self.kit.root or ".", *words)
        seconds = max(LEAST_SECONDS, min(most, self.seconds_left))
        command = Command(
            words=inner,
            environment=(*self.kit.variables, *self.kit.environment),
            links=self.kit.links if self._key else (),
            prepared=self._key,
            bounds=Bounds(seconds=seconds, cpu_seconds=max(1, int(2 * seconds))),
        )
        run = self._sandbox.run(self.commit, changes, command)
        self.seconds_left -= run.spent
        self.seconds += run.seconds
        self.cache.cpu += run.cpu or 0.0
        if run.code == NOT_LAID_OUT:
            raise GiveUp("the source tree is too large for the sandbox")
        return run


class Compared(NamedTuple):
    """Comparison of two runs."""

    worse: str = ""  # why the fix is not as good as the base; empty where it is
    output: str = ""
    preexisting: frozenset[str] = frozenset()
    flaky: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()  # red tests of the fix that were never green


def test_file(text: str, files: Collection[str]) -> str:
    """Return the file of tests that is named; raises `GiveUp` where no file of `files` is it."""
    path = inside(text.strip()) or ""
    if path not in files or path.startswith("-"):
        raise GiveUp("this test file is not in the project: use a path from find_files")
    return path


# Tests: first on the base, then with the fix; nearest ones first.


def nearest_tests(environment: Environment, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return files that test what is changed, and tests that are changed and were there before."""
    inside = environment.kit.inner(paths)
    changed = environment.kit.inner(tuple(change.path for change in environment.changes))
    gone = {c.path for c in environment.changes if c.text is None}
    ours = [path for path in changed if TEST.search(path) and path in inside]
    ours += [item for path in changed for item in files_testing(path, inside, NEAREST_FILES)]
    return tuple(dict.fromkeys(path for path in ours if environment.kit.root + path not in gone))


def usable_runner(environment: Environment, nearest: tuple[str, ...]) -> kits.Runner | str:
    """Return the first runner with a readable run on the base, else why the first has none."""
    runners = environment.cache.runners
    if environment.project in runners:
        return runners[environment.project]
    ended, code = "", 0
    for runner in environment.kit.runners:
        if runner.only_after not in (None, code):
            continue
        if not environment.has_time():
            break
        words = runner.some(nearest) if nearest else runner.whole
        base = environment.base(words, runner.form, environment.seconds_left / 2)
        if base.ran == 0 and nearest:
            base = environment.base(runner.whole, runner.form, environment.seconds_left / 2)
        if base.tells:
            runners[environment.project] = runner
            return runner
        why = base.run.ended if base.run.ended != "exited" else _last_line(base)
        if not ended or runner.only_after is not None:  # the one that the project is set up for
            ended = f"{runner.name} on the base: {why}"
        code = base.run.code
    return ended or "there was no time"


def tested(
    environment: Environment, runner: kits.Runner, nearest: tuple[str, ...]
) -> Iterator[tuple[Check, Compared]]:
    """Compare the nearest tests, then the whole suite, or what of it there is time for."""
    if nearest:
        yield _compared(environment, runner, nearest, ", ".join(nearest))
    if not environment.has_time():
        return
    profile = environment.kit.profile
    if profile and (profile.sampled or profile.seconds > environment.seconds_left / 2):
        text = f"{runner.name}: the whole suite (it takes more than {profile.seconds:.0f} s)"
        found = Check(name="tests", outcome="not finished", text=text), Compared()
    else:
        found = _compared(environment, runner, (), "the whole suite")
    some = mentioning_tests(environment, nearest) if found[0].outcome == "not finished" else ()
    if some and runner.takes_files and environment.has_time():
        yield _compared(environment, runner, some, f"{plural(len(some), 'file')} of the suite")
    yield found


def mentioning_tests(environment: Environment, without: kits.Words) -> kits.Words:
    """Return files of tests that name what is changed, those that do so most often first."""
    stems = {re.sub(r"(/(__init__|index))?\.\w+$", "", item.path) for item in environment.changes}
    named = "|".join(re.escape(item.rpartition("/")[2]) for item in stems)
    counts = Counter[str]()
    for path in (item for item in environment.kit.tests if item not in without):
        text = environment.read(environment.kit.root + path) or ""
        counts[path] = len(re.findall(rf"\b(?:{named})\b", text))
    return tuple(path for path, count in counts.most_common(SAMPLE_FILES) if count)


def _compared(
    environment: Environment, runner: kits.Runner, files: kits.Words, what: str
) -> tuple[Check, Compared]:
    started, shown = environment.seconds, f"{runner.name}: {what}"
    words = runner.some(files) if files else runner.whole
    base = environment.base(words, runner.form, environment.seconds_left / 2)
    if not base.tells:
        why, seconds = "no test passes on the base, or the results cannot be read", base.run.seconds
        if base.run.ended != "took too long":
            return Check(name="tests", outcome="not run", text=f"{shown}: {why}"), Compared()
        why = f"{shown} (stopped after {seconds:.0f} s on the commit without the fix)"
        return Check(name="tests", outcome="not finished", text=why, seconds=seconds), Compared()
    flaky, known = frozenset[str](), environment.kit.known_red(environment.commit.sha)
    if base.failed - known and environment.seconds_left > 2 * base.run.spent:
        red = _files_of(environment.kit.tests, base.failed)
        once_more = runner.some(red) if red else words
        again = environment.base(once_more, runner.form, base.run.spent * 3, 1)
        flaky = base.failed - again.failed  # what is green now is flaky
    fixed, forged = _with_fix(environment, runner, files, base.run.spent * 3 + 20)
    result = Compared(worse=forged) if forged else _judged(environment, runner, words, base, fixed)
    flaky |= result.flaky
    result = result._replace(preexisting=(base.failed & fixed.failed) - flaky, flaky=flaky)
    seconds = round(environment.seconds - started, 1)
    if result.worse:
        text = f"{shown}: {result.worse}"
        return Check(name="tests", outcome="failed", text=text, command=runner.name,
                     output=result.output, seconds=seconds), result  # fmt: skip
    count = plural(fixed.ran, "test") if fixed.ran is not None else "all"
    state = "green" if fixed.is_green else "no worse than the base"
    text = f"{shown}: {count}, {state}"
    return Check(name="tests", outcome="passed", text=text, seconds=seconds), result


def _with_fix(
    environment: Environment, runner: kits.Runner, files: kits.Words, most: float
) -> tuple[kits.Reading, str]:
    """Run tests with the fix and a canary; the second says why the run cannot be believed."""
    kit, words = environment.kit, runner.some(files) if files else runner.whole
    canary = canary_for(
        runner, next(iter(files), ""), kit.root, environment.cache.mark, environment.read
    )
    if canary is None:
        run = environment.fixed if environment.executing else environment.watched
        return run(words, runner.form, most), ""
    words = runner.some((*files, *kit.inner((canary.change.path,))))
    seen = environment.watched(words, runner.form, most, canary)
    if canary.is_told(seen.failed):
        return canary.left_out(seen), ""
    base = environment.base(words, runner.form, most, laid=(canary.change,))
    if not seen.is_readable or not canary.is_told(base.failed):
        return seen, ""  # this project does not run it
    return seen, "tests of ours that must fail are not reported as failed with the fix"


def _judged(
    environment: Environment,
    runner: kits.Runner,
    words: kits.Words,
    base: kits.Reading,
    fixed: kits.Reading,
) -> Compared:
    most, known = base.run.spent * 3 + 20, environment.kit.known_red(environment.commit.sha)
    flaky = (fixed.failed & known) - base.failed
    if fixed.is_readable and not (fixed.failed - base.failed - known) and not _fewer(base, fixed):
        return Compared(flaky=flaky)
    again = environment.fixed(words, runner.form, most)
    output = kits.printed_end(again.run)
    if not again.is_readable:
        ended = again.run.ended if again.run.ended != "exited" else _last_line(again)
        return Compared(worse=f"the run does not finish with the fix: {ended}", output=output)
    both = fixed.failed & again.failed if fixed.is_readable else again.failed
    steady = both - base.failed - known
    flaky = (fixed.failed | again.failed) - base.failed - steady
    if steady:
        later = environment.base(words, runner.form, most, 2).failed
        flaky, steady = flaky | (steady & later), steady - later
    silent = frozenset(name for name in steady if _is_brought(environment, name))
    if silent:  # what was red before, as well, says nothing about the fix
        laid = tuple(item for item in environment.changes if TEST.search(item.path))
        silent &= environment.base(words, runner.form, most, laid=laid).failed
    if _fewer(base, again, len(silent)):
        worse = f"{again.ran} tests are run with the fix, {base.ran} without it"
        return Compared(worse=worse, output=output)
    if not (red := sorted(steady - silent)):
        return Compared(flaky=flaky, silent=silent)
    more = f" and {len(red) - _NAMED} more" if len(red) > _NAMED else ""
    worse = f"fails with the fix, passes without it: {', '.join(red[:_NAMED])}{more}"
    return Compared(worse=worse, output=output, flaky=flaky)


def _files_of(tests: kits.Words, names: Collection[str]) -> kits.Words:
    """Return the files whose tests are named; empty where that of one is not known.

    >>> _files_of(("tests/test_a.py", "tests/test_b.py"), ["test_x (tests.test_a.T.test_x)"])
    ('tests/test_a.py',)
    """
    found = [
        {path for path in tests if f"{path.rpartition('.')[0]}/" in name.replace(".", "/")}
        for name in names
    ]
    return tuple(sorted(set[str]().union(*found))) if all(found) else ()


_LEAF = re.compile(r"(?:^|::|#)([Tt]est\w*)(?=$|\[| \()")


def _is_brought(environment: Environment, name: str) -> bool:
    """Tell whether a test is in the files of the fix, and was in none of them before."""
    leaf, is_new = found[1] if (found := _LEAF.search(name)) else name, False
    for item in (item for item in environment.changes if TEST.search(item.path)):
        before, stem = environment.read(item.path), item.path.rpartition("/")[2].partition(".")[0]
        if leaf in (before or ""):
            return False
        is_new |= leaf in (item.text or "") or (before is None and stem in name)
    return is_new


def _fewer(base: kits.Reading, fixed: kits.Reading, own: int = 0) -> bool:
    return base.ran is not None and (fixed.ran is None or fixed.ran - own < base.ran)


def _last_line(reading: kits.Reading) -> str:
    lines = [line for line in reading.run.output.splitlines() if line.strip()]
    return one_line(lines[-1])[: kits.EXPLAINED_CHARACTERS] if lines else "it prints nothing"
