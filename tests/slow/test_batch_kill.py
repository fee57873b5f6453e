"""A process that is killed while it submits a batch: the next one finds it, and submits none."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from batch_worlds import batches_of, items
from services.anthropic import Anthropic
from twins.reading import MemoryClock

from nightwatch_core.adapters.stores.state_folder import BatchFiles
from nightwatch_core.analysis.model_wrappers import SETTLING, settle, submit_once

pytestmark = pytest.mark.slow
PROGRAM = """
import sys
from pathlib import Path
from types import SimpleNamespace
from batch_worlds import batches_of, items
from twins.reading import MemoryClock
from nightwatch_core.adapters.stores.state_folder import BatchFiles
from nightwatch_core.analysis.model_wrappers import submit_once
server = SimpleNamespace(url=sys.argv[1], key=sys.argv[2])
clock, store = MemoryClock(), BatchFiles(Path(sys.argv[3]))
submit_once(items(30), "n1", batches_of(server, clock), store, clock, 30)
"""


@pytest.mark.parametrize("arrives", [True, False], ids=["after it arrived", "before it arrived"])
def test_a_killed_submission_is_found_or_made_up_for_and_never_doubled(
    tmp_path: Path, arrives: bool
) -> None:
    clock, store = MemoryClock(), BatchFiles(tmp_path)
    with Anthropic() as server:
        server.batches.per_item = timedelta(minutes=1)
        _killed(server, tmp_path, arrives)
        assert [one.is_intent for one in store.batches()] == [True]
        assert len(server.batches.kept) == int(arrives)
        model = batches_of(server, clock)
        unsure = submit_once(items(30), "n1", model, store, clock, 30)
        assert (unsure.batches, len(unsure.waiting), len(unsure.unsure)) == ((), 30, 1)
        later = timedelta(hours=1)
        assert later > SETTLING
        clock.pass_by(later.total_seconds())
        server.batches.now += later
        again = submit_once(items(30), "n1", model, store, clock, 30)
        assert len(server.batches.kept) == 1
        assert len(again.batches) == int(not arrives)
        server.batches.now += later
        (batch,) = settle(model, store, clock).open
        results = [*batch.answered, *model.results(batch)]
    assert sorted(one.fingerprint for one in results) == sorted(
        one.fingerprint for one in items(30)
    )
    assert {one.kind for one in results} == {"answered"}


def _killed(server: Anthropic, state: Path, arrives: bool) -> None:
    """Start a process that submits, and kill it when its batch is about to be answered."""
    create, pids = server.batches.create, list[int]()

    def killing(body: object, size: int) -> object:
        made = create(body, size) if arrives else {}
        os.kill(pids[0], signal.SIGKILL)
        process.wait()
        return made

    server.batches.create = killing
    tests = Path(__file__).resolve().parents[1]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", PROGRAM, server.url, server.key, str(state)],
        env=os.environ | {"PYTHONPATH": str(tests)},
    )
    pids.append(process.pid)
    assert process.wait(60) == -signal.SIGKILL
    server.batches.create = create
