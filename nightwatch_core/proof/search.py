"""Search for a test that raises what production raised, without asking anybody.

The project's own tests are run with one value changed, and production's functions are called with
what these tests have at hand; then the shortest of what raises it is written as a test.
"""

from typing import Literal, NamedTuple

from nightwatch_core.errors import GiveUp
from nightwatch_core.gate.bench import Bench
from nightwatch_core.gate.kit import Runner
from nightwatch_core.gate.kits import kit_for
from nightwatch_core.gate.limits import EXPLAINED_CHARACTERS
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.gate import Reproduction
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.proof.attempt import Attempt
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.candidate import Candidate as Test
from nightwatch_core.proof.reproduction import tried
from nightwatch_core.proof.search_candidates import Tried, candidates
from nightwatch_core.proof.search_driver import Hit, Told, driver, read_report, words
from nightwatch_core.proof.search_goal import (
    Goal,
    changed_functions,
    entries,
    goal_of,
    least_reached,
)
from nightwatch_core.proof.search_mutations import Candidate
from nightwatch_core.proof.search_shrinking import emptiness, shorter
from nightwatch_core.proof.search_suites import Scene, Suite, all_tests, nearest_suites
from nightwatch_core.proof.search_surroundings import keywords_of
from nightwatch_core.proof.search_writing import written
from nightwatch_core.proof.stage import stage_for
from nightwatch_core.text.plain_text import one_line

_SECONDS = 60.0  # for one error
_TRYING, _STARTING = 6.0, 20.0  # of one run: for candidates; for the runner to come up
_NONE = "nothing that was tried raises it"


class Searched(NamedTuple):
    """A test that is said to raise what production raised, or why there is none."""

    edit: Edit | None = None
    name: str = ""
    frames: int = 0  # of production's that it goes through
    because: str = ""
    tries: int = 0
    seconds: float = 0.0


class _Hit(NamedTuple):
    suite: Suite
    scene: Scene
    candidate: Candidate
    reached: int


def by_search(briefing: ProofBriefing) -> Attempt:
    """Look for a test, and see whether it reproduces the crash, as any other test has to."""
    search = searched(briefing)
    if search.edit is None:
        outcome: Literal["not tried", "not reproduced"]
        outcome = "not reproduced" if search.tries else "not tried"
        none = Reproduction(
            outcome=outcome, because=search.because, by="search", tries=search.tries
        )
        return Attempt(reproduction=none.model_copy(update={"seconds": round(search.seconds, 1)}))
    stage = stage_for(briefing)
    if isinstance(stage, str):
        return Attempt(reproduction=Reproduction(outcome="not tried", because=stage, by="search"))
    try:
        came = tried(stage, Test(search.edit.path, search.edit.new), "search").reproduction
    except GiveUp as trouble:
        because = one_line(str(trouble))[:EXPLAINED_CHARACTERS]
        came = Reproduction(outcome="not reproduced", because=because, by="search")
    seconds = round(search.seconds + came.seconds, 1)
    return Attempt(reproduction=came.model_copy(update={"tries": search.tries, "seconds": seconds}))


def searched(briefing: ProofBriefing) -> Searched:
    """Look for a test; never raises for what the project does."""
    trace, tree = briefing.analysis.case.trace, briefing.failing
    goal = goal_of(trace) if trace else None
    if goal is None:
        return Searched(because="its trace has no line of the application")
    kit = kit_for((goal.places[0].path,), tree.paths(), tree.read_file, briefing.options)
    if isinstance(kit, str):
        return Searched(because=kit)
    if kit.language != "python" or kit.verify:
        return Searched(because="only what Python's own test runners run is searched")
    bench = Bench(briefing.sandbox, kit, tree.commit, (), briefing.known, _SECONDS)
    search = _Search(briefing, goal, bench)
    try:
        result = search.result()
    except GiveUp as trouble:
        result = Searched(because=one_line(str(trouble))[:EXPLAINED_CHARACTERS])
    return result._replace(tries=search.tries, seconds=bench.seconds)


class _Search:
    """One search: what for, and where it is run."""

    def __init__(self, briefing: ProofBriefing, goal: Goal, bench: Bench) -> None:
        self._tree, self._goal, self._bench = briefing.failing, goal, bench
        self._listed = entries(goal, briefing.failing)
        read = briefing.base.read_file
        changed = (changed_functions(c.path, read(c.path), c.text) for c in briefing.draft.changes)
        self._least = least_reached(goal, self._listed, frozenset().union(*changed))
        self._shallow = False
        self.tries = 0

    def result(self) -> Searched:
        self._bench.prepare()
        suites = nearest_suites(self._listed, self._tree, self._bench.kit.root)
        if not suites:
            return Searched(because="none of the project's tests is near the functions that failed")
        modules = all_tests(self._tree, self._bench.kit.root)
        keywords = keywords_of((*(one.module for one in suites), *modules))
        runners, others = self._bench.kit.runners, tuple[str, ...]()
        for suite in suites:
            tries = candidates(
                suite, keywords, self._listed, self._goal.values, self._tree, self._bench.kit.root
            )
            for runner in runners:
                told = self._run(suite, tries, runner)
                if told.tried:
                    runners = (runner,)
                    break
            else:
                why = self._bench.lacks or told.printed
                return Searched(because=f"its tests cannot be run: {why}")
            self.tries, others = self.tries + told.tried, others or told.others
            if hit := self._best(suite, tries, told):
                return self._written(self._shrunk(hit, runners[0]))
            if not self._bench.has_time():
                break
        return Searched(because=self._why(others))

    def _why(self, others: tuple[str, ...]) -> str:
        if self._shallow:
            place = self._goal.places[self._least - 1]
            return f"it is raised, but not by way of {place.function} ({place.path})"
        most = f"; most of it raises {', '.join(others)}" if others else ""
        return _NONE + most

    def _run(self, suite: Suite, tries: tuple[Tried, ...], runner: Runner) -> Told:
        path = f"{suite.path.rpartition('/')[0]}/test_nightwatch_search.py".removeprefix("/")
        text = driver(suite, tries, self._goal, _TRYING)
        self._bench.changes = (FileChange(path=path, text=text),)
        run = runner.some(self._bench.kit.inner((path,)))
        most = _TRYING + _STARTING
        output = self._bench.fixed(words(run, most - 3), most).output
        return read_report(output, self._goal, len(tries))

    def _best(self, suite: Suite, tries: tuple[Tried, ...], told: Told) -> _Hit | None:
        """What goes through most of production's frames with values, and needs the least for it."""

        def worth(hit: Hit) -> tuple[int, int, int, int]:
            tried = tries[hit.number][1]
            return hit.reached, -emptiness(tried), -len(tried.imports), -hit.number

        self._shallow = self._shallow or bool(told.hits)
        deep = [hit for hit in told.hits if hit.reached >= self._least]
        best = max(deep, key=worth, default=None)
        return _Hit(suite, *tries[best.number], best.reached) if best else None

    def _shrunk(self, hit: _Hit, runner: Runner) -> _Hit:
        """The shortest part that goes through as many of production's frames."""
        parts = shorter(hit.candidate)
        told = self._run(hit.suite, tuple((hit.scene, one) for one in parts), runner)
        good = [one.number for one in told.hits if one.reached >= hit.reached]
        return hit._replace(candidate=parts[min(good)]) if good else hit

    def _written(self, hit: _Hit) -> Searched:
        entry = self._goal.places[hit.reached - 1]
        owner = next((one.owner for one in self._listed if one.place == entry), None)
        called = f"{owner.name}_{entry.function}" if owner else entry.function
        edit, name = written(hit.suite, hit.scene, hit.candidate, self._goal, called)
        return Searched(edit, name, hit.reached)
