"""Steps whose results are kept: Prefect's page shows them as Cached, and nothing is done twice."""

import subprocess
import sys
from dataclasses import dataclass, replace

import pytest
from flow_runs import Retried
from night_world import CART, FILES, PAY, PREFECT, by_case, worlds
from prefect import flow
from prefect.utilities.annotations import opaque
from scripted_sandbox import ScriptedSandbox
from twins.reading import MemoryCode, MemoryHost, MemoryModel
from twins.writing import MemoryNights
from world import World

from nightwatch_core.adapters.stores.code_cache import recorded_host
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import CodePlaces, CodeRead
from nightwatch_core.models.proposals import Run
from tasks.code import read_code
from tasks.records import records, results

pytestmark = PREFECT
CASES = 2  # of the small world


# The code of a commit.


@dataclass
class GoneHost(MemoryHost):
    """A host that knows its commits and whose files are not on this machine."""

    def reader(self, commit):
        raise GiveUp("the repository is not cloned here")


def cached(host: MemoryHost, **more: object) -> World:
    """A world in another process, whose code is kept."""
    world = worlds((CART, PAY), **more)
    return replace(world, reading=replace(world.reading, code=recorded_host(host, records())))


def test_a_second_night_shows_the_code_as_cached_and_needs_no_repository() -> None:
    first = Retried(cached(MemoryHost(MemoryCode(FILES))))
    report = first.run()
    assert first.states("read code", CASES) == ["Completed"] * CASES
    assert report.code_reads.known == 0

    second = Retried(cached(GoneHost(MemoryCode(FILES))))
    again = second.run()
    assert second.states("read code", CASES) == ["Cached"] * CASES
    assert again.status == "complete"
    assert again.analyses == report.analyses
    assert all(quote.verified for item in again.analyses for quote in item.evidence)
    empty = 5  # answers that may change: who wrote a line, and the history
    assert again.code_reads.known == again.code_reads.different - empty


def test_another_commit_and_other_places_are_read() -> None:
    first = Retried(cached(MemoryHost(MemoryCode(FILES))))
    first.run()
    tree = MemoryCode(FILES)
    tree = replace(tree, at=tree.at.model_copy(update={"sha": "1" * 40}))
    second = Retried(cached(MemoryHost(tree)))
    second.run()
    assert second.states("read code", CASES) == ["Completed"] * CASES
    assert "shop/cart.py" in tree.reads


class Unwell(MemoryHost):
    """A host that does not answer at first."""

    failures = 1

    def reader(self, commit):
        if self.failures:
            self.failures -= 1
            raise TryLater("the host does not answer")
        return super().reader(commit)


PLACES = CodePlaces(commit=MemoryCode().at, places=(("shop/cart.py", 2), ("shop/pay.py", 2)))


def reading_code(world: World) -> CodeRead:
    @flow
    def reading() -> CodeRead:
        return read_code.with_options(retry_delay_seconds=0)(PLACES, opaque(world.open()))

    return reading()


def test_reading_is_tried_again_and_what_was_read_is_whole_in_another_process() -> None:
    host = Unwell(MemoryCode(FILES))
    read = reading_code(cached(host))
    assert host.failures == 0
    assert {answer.arguments[0]: answer.answer for answer in read.answers} == FILES
    (file,) = results().glob("code/*/*/places-*")
    program = f"""
from pathlib import Path
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore
folder = Path({str(results())!r})
store = ResultStore(result_storage=LocalFileSystem(basepath=str(folder)))
print(store.read({str(file.relative_to(results()))!r}).result.model_dump_json())
"""
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert CodeRead.model_validate_json(done.stdout) == read


def test_a_damaged_result_is_read_anew() -> None:
    whole = reading_code(cached(MemoryHost(MemoryCode(FILES))))
    (file,) = results().glob("code/*/*/places-*")
    file.write_bytes(file.read_bytes()[:150])
    assert reading_code(cached(MemoryHost(MemoryCode(FILES)))) == whole


# Tests of fixes.


class Sandbox(ScriptedSandbox):
    """Counts its runs, which pass."""

    def __init__(self) -> None:
        super().__init__(lambda *_: Run(code=0, output="ok", seconds=1.0))
        self.runs = 0

    def run(self, commit, changes, command):
        self.runs += 1
        return super().run(commit, changes, command)


def proving(sandbox: ScriptedSandbox, **options: object) -> Retried:
    """A night that tests one fix."""
    world = worlds((CART, PAY), MemoryModel([by_case]))
    world = replace(world, reading=replace(world.reading, sandbox=sandbox))
    return Retried(world, verify="make check", reproduce=False, **options)


def test_a_retry_of_a_finished_night_tests_no_fix_again() -> None:
    sandbox = Sandbox()
    night = proving(sandbox)
    first = night.run()
    ran = sandbox.runs
    assert ran > 0
    again = night.again()
    assert sandbox.runs == ran
    assert [item.gate for item in again.analyses] == [item.gate for item in first.analyses]
    assert night.states("gate", 2) == ["Completed", "Cached"]


class PowerCut(BaseException):
    """The end of the process."""


class Cut(MemoryNights):
    """Nights whose first report after the gate ends the process."""

    is_cut = False

    def keep(self, report):
        if any(item.gate for item in report.analyses) and not self.is_cut:
            self.is_cut = True
            raise PowerCut
        return super().keep(report)


def test_a_night_that_was_killed_after_the_gate_tests_no_fix_again() -> None:
    sandbox = Sandbox()
    night = proving(sandbox)
    night.world = replace(night.world, publishing=replace(night.world.publishing, nights=Cut()))
    with pytest.raises(PowerCut):
        night.run()
    ran = sandbox.runs
    assert ran > 0
    report = night.again()
    assert sandbox.runs == ran
    assert report.analyses[0].gate.outcome == "passed"
    assert night.states("gate", 2) == ["Completed", "Cached"]


def test_a_fix_that_could_not_be_tested_here_is_tested_by_a_retry() -> None:
    sandbox = Sandbox()
    sandbox.lacking = "no namespaces here"
    night = proving(sandbox)
    first = night.run()
    assert first.analyses[0].gate.outcome == "not run"
    sandbox.lacking = ""
    again = night.again()
    assert again.analyses[0].gate.outcome == "passed"
    assert night.states("gate", 2) == ["Completed", "Completed"]


# One error.


def test_a_retry_of_one_error_does_not_fetch_it_again() -> None:
    chosen = {"error_class": CART.error_class, "transaction": CART.transaction}
    single = Retried(worlds(), **chosen)
    first = single.run()
    single.world.reading.errors.fails = TryLater("the source is away")
    assert single.again().analyses == first.analyses
    assert single.states("find the error", 2) == ["Completed", "Cached"]
