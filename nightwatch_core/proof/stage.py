"""Where a test for a crash is run: on the commit that failed, on the base, and with the fix.

A test is a new file of its own, run alone by the project's runner; what is raised meanwhile is
written down by the language's recorder, and compared with what production raised.
"""

import hashlib
import re
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import FileChange, RuntimeFact
from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.asking import ProofBriefing
from nightwatch_core.proof.environment import Bench, nearest_tests, usable_runner
from nightwatch_core.proof.kit import (
    EXPLAINED_CHARACTERS,
    OUTPUT_CHARACTERS,
    Kit,
    Reading,
    Runner,
    reading_of,
)
from nightwatch_core.proof.kits import kit_for
from nightwatch_core.proof.recorders import (
    RECORDERS,
    Crash,
    Raised,
    Recorder,
    crash_of,
    entered,
    has_left,
    printed_and_raised,
    recorded,
    simple_class,
    unlike,
)
from nightwatch_core.proof.second_attempt import least_places
from nightwatch_core.text.plain_text import one_line

SHARE = 0.4  # of a fix's seconds, for its reproduction
_RUN_SECONDS = 60.0
_SUMMARY = re.compile(r"^(?:FAILED|ERROR) ")  # of pytest, at the end: without a trace
_NATIVE = {"--tb=short": "--tb=native"}  # pytest prints what production would


class Shown(NamedTuple):
    """What a run of a test showed."""

    reading: Reading
    raised: tuple[Raised, ...]
    crash: Raised | None  # the one that is production's
    unlike: str  # what tells the nearest one from it, where none is

    @property
    def is_red(self) -> bool:
        """Whether the test ran, and is red."""
        return self.reading.run.ended == "exited" and not self.reading.is_green

    @property
    def is_green(self) -> bool:
        """Whether a test ran, and all were green."""
        return self.reading.is_green and self.reading.ran != 0

    @property
    def output(self) -> str:
        """The end of what it printed."""
        return self.reading.run.output[-OUTPUT_CHARACTERS:].strip()

    def around(self, error_class: str) -> str:
        """What it printed up to the last word of an exception, else the end of it."""
        text = self.reading.run.output
        name = simple_class(error_class)
        lines = [one for one in re.finditer(r"^[^\n]{0,400}$", text, re.M) if name in one[0]]
        raising = [one for one in lines if not _SUMMARY.match(one[0])] or lines
        return text[: raising[-1].end()][-OUTPUT_CHARACTERS:].strip() if raising else self.output

    @property
    def facts(self) -> tuple[RuntimeFact, ...]:
        """Values of locals along the crash, or else along what was raised instead."""
        listed = (one.facts for one in (self.crash, *self.raised) if one)
        own = (tuple(f for f in facts if not TEST.search(f.path)) for facts in listed)
        return next(filter(None, own), ())


class Stage:
    """One crash, the project it is about, and the seconds that are left for its tests."""

    def __init__(
        self, briefing: ProofBriefing, crash: Crash, kit: Kit, recorder: Recorder, runner: Runner
    ) -> None:
        """Nothing of a test is run yet."""
        self.briefing, self.crash, self.kit, self.runner = briefing, crash, kit, runner
        self._recorder = recorder
        self.seconds_left, self.seconds = SHARE * briefing.options.gate_seconds, 0.0

    def on_failing(self, path: str, text: str) -> Shown:
        """Run a test on the commit that failed; raises `GiveUp` where that cannot be."""
        return self._shown(self.briefing.failing, (), path, text, exact=True)

    def on_base(self, path: str, text: str, fix: tuple[FileChange, ...] = ()) -> Shown:
        """Run a test on the base, with a fix; raises `GiveUp` where that cannot be."""
        return self._shown(self.briefing.base, fix, path, text, exact=False)

    def _shown(
        self, tree: CodeReader, fix: tuple[FileChange, ...], path: str, text: str, exact: bool
    ) -> Shown:
        changes = (*(one for one in fix if one.path != path), FileChange(path=path, text=text))
        bench = _bench(self.briefing, self.kit, tree, changes, self.seconds_left)
        bench.prepare()
        mark = hashlib.sha256(f"{self.briefing.fence}\n{text}".encode()).hexdigest()[:24]
        words = tuple(_NATIVE.get(one, one) for one in self.runner.some(self.kit.inner((path,))))
        wanted = simple_class(self.crash.error_class)
        run = bench.fixed(recorded(words, self._recorder, mark, wanted), _RUN_SECONDS)
        self.seconds_left, self.seconds = bench.seconds_left, self.seconds + bench.seconds
        printed, raised = printed_and_raised(run.output, mark)
        run = run.model_copy(update={"output": printed})
        reading = reading_of(run, self.runner.form)
        crash, why = self._likest(raised, exact, path, reading)
        return Shown(reading, raised, crash, why)

    def _likest(
        self, raised: tuple[Raised, ...], exact: bool, test: str, reading: Reading
    ) -> tuple[Raised | None, str]:
        """The exception that is production's, else why the nearest one is not."""
        wanted, other = simple_class(self.crash.error_class), "nothing is raised in the application"
        outermost = sorted(raised, key=lambda one: -entered(one, test))
        for one in sorted(outermost, key=lambda one: simple_class(one.error_class) != wanted):
            why = unlike(one, self.crash, exact, test) or self._handled(one, exact, test, reading)
            if not why:
                return one, ""
            if other.startswith("nothing"):
                other = why
        return None, other

    def _handled(self, raised: Raised, exact: bool, test: str, reading: Reading) -> str:
        """Say so where an exception crashed nothing: the code that raises it catches it, too.

        Where that is not written down, a test that is red with a fix has to print its place.
        """
        if self._recorder.tells_left:
            is_out = has_left(raised, test)
        else:
            top = next(one for one in raised.frames if one.in_app)
            place = f"{top.repo_path.rpartition('/')[2]}:{top.line}"
            is_out = exact or reading.is_green or place in reading.run.output
        return "" if is_out else f"{raised.error_class} is raised, and handled where it is raised"


def stage_for(briefing: ProofBriefing) -> Stage | str:
    """Give the stage of a fix; a sentence where nothing can be reproduced."""
    crash = crash_of(briefing.analysis.case)
    if crash is None:
        return "no frame of the application is known that raised it"
    failing = briefing.failing
    if failing.read_file(crash.places[0].path) is None:
        return f"{crash.places[0].path} is not in the commit that failed"
    least = least_places(crash, briefing.analysis.fix, failing.read_file)
    crash = crash._replace(least=least)
    kit = kit_for((crash.places[0].path,), failing.paths(), failing.read_file, briefing.options)
    if isinstance(kit, str):
        return kit
    recorder = RECORDERS.get(kit.language)
    if recorder is None or kit.verify:
        return "a single test cannot be run: how, is known of the project's own runners alone"
    try:
        return _staged(briefing, crash, kit, recorder)
    except GiveUp as trouble:
        return one_line(str(trouble))[:EXPLAINED_CHARACTERS]


def _staged(briefing: ProofBriefing, crash: Crash, kit: Kit, recorder: Recorder) -> Stage | str:
    seconds = briefing.options.gate_seconds  # as much as the gate gives: it is told what came of it
    concerned = (*briefing.draft.changes, FileChange(path=crash.places[0].path, text=""))
    bench = _bench(briefing, kit, briefing.failing, concerned, seconds)
    bench.prepare()
    runner = usable_runner(bench, nearest_tests(bench, briefing.failing.paths()))
    if isinstance(runner, str):
        return f"the project's tests cannot be run: {bench.lacks or runner}"
    if runner.some(("a",)) == runner.whole:
        return f"{runner.name} runs all tests or none"
    return Stage(briefing, crash, kit, recorder, runner)


def _bench(
    briefing: ProofBriefing,
    kit: Kit,
    tree: CodeReader,
    changes: tuple[FileChange, ...],
    seconds: float,
) -> Bench:
    return Bench(briefing.sandbox, kit, tree.commit, changes, briefing.known, seconds)
