"""Seconds, memory and bytes of a large request set, submitted and collected over HTTP.

    python tests/benchmarks/batches.py [10000] [characters of one question]

The service's stand-in runs in a process of its own: what is measured is ours.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from batch_worlds import batches_of, items
from services.anthropic import Anthropic
from twins.reading import MemoryClock

from nightwatch_core.adapters.stores.state_folder import BatchFiles
from nightwatch_core.triage.batch_triage import settle, submit_once


class _Elsewhere:
    """The address and the key of a stand-in in another process."""

    def __init__(self, url, key):
        self.url, self.key = url, key


def _serve(pipe):
    with Anthropic() as server:
        pipe.send((server.url, server.key))
        pipe.recv()
        created = [request for request in server.requests if request.path.endswith("/batches")]
        sent = sum(int(item.headers.get("content-length", 0)) for item in created)
        pipe.send({"requests": len(server.requests), "bytes_sent": sent})


def measure(count, characters):
    """One line of figures: how long each step took, and the memory of this process at its peak."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    service = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,))
    service.start()
    try:
        url, key = ours.recv()
        told = _worked(_Elsewhere(url, key), count, characters)
        ours.send("done")
        return {**told, **ours.recv()}
    finally:
        service.terminate()
        service.join()


def _worked(server, count, characters):
    clock = MemoryClock()
    asked = items(count, about="x " * (characters // 2))
    before, began = _peak(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store, model = BatchFiles(Path(folder)), batches_of(server, clock)
        submission = submit_once(asked, "n1", model, store, clock)
        submitted, kept = time.perf_counter(), sum(file.stat().st_size for file in _files(folder))
        again = submit_once(asked, "n1", model, store, clock)
        looked = time.perf_counter()
        kinds, cost = Counter(), 0.0
        for batch in settle(model, store, clock).open:
            results = list(model.results(batch))
            kinds.update(result.kind for result in results)
            cost += sum(result.usage.cost for result in results)
    return {
        "errors": count,
        "batches": len(submission.batches),
        "submitted_again": len(again.batches),
        "waiting": len(again.waiting),
        "kinds": dict(kinds),
        "cost_usd": round(cost, 6),
        "submit_seconds": round(submitted - began, 2),
        "look_again_seconds": round(looked - submitted, 2),
        "collect_seconds": round(time.perf_counter() - looked, 2),
        "megabytes_before": before,
        "megabytes_at_peak": _peak(),
        "bytes_kept": kept,
    }


def _files(folder):
    return (path for path in Path(folder).rglob("*") if path.is_file())


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    numbers = [int(item) for item in sys.argv[1:]]
    count, characters = [*numbers, *(10_000, 2_000)[len(numbers) :]][:2]
    print(json.dumps(measure(count, characters), indent=1))
