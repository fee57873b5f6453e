"""Where heavy steps run: in this process, or on the workers of a Dask or Ray cluster.

Prefect's engine stays with the night: retries, results, names, and how many run at once. To a
worker go a function of a module and values, pickled; what it answers with comes back so. It makes
its ports from the options and its own settings, so that no secret is ever sent.
"""

import os
import pickle
import socket
from collections.abc import Callable
from contextlib import ExitStack
from secrets import token_hex
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar, TypeVarTuple, cast
from uuid import uuid4

from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture
from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.options import ServiceCalls
from nightwatch_core.settings import night_options, settings
from tasks import wiring
from tasks.dependencies import replacement
from tasks.records import results
from tasks.runner import run_parameters
from tasks.wiring import proxies, services

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


class Done(NamedTuple):
    """What came of a worker's work; what its process has sent and read so far for this run."""

    value: Any
    trouble: NightWatchError | None
    process: str
    calls: tuple[ServiceCalls, ...]
    reads: CodeReads
    unrecorded: str  # why the worker's answers are in no bundle


Send = Callable[[bytes], Done]  # returns when the work is done


class NightRunner(TaskRunner[PrefectFuture[Any]]):
    """Run a flow whose `concurrency` is a parameter of the run, on that many threads.

    Prefect opens a flow's runner before the flow knows its parameters, so this one opens the real
    one with the first task, and the cluster before it, where one is set.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._opened = ExitStack()
        self._runner: ThreadPoolTaskRunner[Any] | None = None
        self._send: Send | None = None
        self.run = uuid4().hex

    def duplicate(self) -> Self:
        """Return another one that holds nothing."""
        return type(self)()

    def submit(self, *arguments: Any, **named: Any) -> PrefectFuture[Any]:
        """Start one task run beside the others."""
        if self._runner is None:
            self.cluster()
            runner = ThreadPoolTaskRunner[Any](max_workers=_concurrency())
            self._runner = self._opened.enter_context(runner)
        future: PrefectFuture[Any] = self._runner.submit(*arguments, **named)
        return future

    def cluster(self) -> Send | None:
        """Return the way to the workers; None where all runs here, as a test or replay does."""
        kind, _, address = settings().task_runner.partition("=")
        if self._send is None and kind in CLUSTERS and replacement() is None:
            try:
                self._send = CLUSTERS[kind](address, _concurrency(), self._opened)
            except OSError as trouble:  # of which a timeout is one
                raise StopTheNight(
                    f"there is no {kind} cluster to run on ({trouble}): start it, or correct "
                    "NIGHTWATCH_TASK_RUNNER"
                ) from trouble
        return self._send

    def cancel_all(self) -> None:
        """Tell every task run to end."""
        if self._runner:
            self._runner.cancel_all()

    def __exit__(self, *error: Any) -> None:
        """Close the real runner, too."""
        self._opened.close()
        super().__exit__(*error)


def _concurrency() -> int:
    return night_options({"concurrency": run_parameters().get("concurrency")}).concurrency


def there(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Call a function of a module where the night's runner says, and wait for it."""
    context = FlowRunContext.get()
    runner = context.task_runner if context else None
    if not isinstance(runner, NightRunner) or (send := runner.cluster()) is None:
        return function(*arguments)
    about = runner.run, proxies.shared(), str(results())
    done = send(pickle.dumps((*about, function, arguments)))
    proxies.take_in(done.process, done.calls, done.reads, done.unrecorded)
    if done.trouble:
        raise done.trouble
    return cast(T, done.value)


def _dask(address: str, concurrency: int, opened: ExitStack) -> Send:
    from prefect_dask.task_runners import DaskTaskRunner

    processes = min(concurrency, max(os.cpu_count() or 1, 2))
    local = {
        "n_workers": processes,
        "threads_per_worker": -(-concurrency // processes),
        "dashboard_address": "127.0.0.1:0",
        "security": True,  # by certificates of its own: its ports run whatever they are sent
    }
    runner = DaskTaskRunner(address=address or None, cluster_kwargs=None if address else local)
    client = opened.enter_context(runner).client
    return lambda parcel: client.submit(work, parcel, pure=False).result()


def _ray(address: str, concurrency: int, opened: ExitStack) -> Send:
    if not address:  # its ports are open to the network; without these, all users can read its key
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", token_hex())
    import ray
    from prefect_ray import RayTaskRunner

    local = {"num_cpus": concurrency, "include_dashboard": False, "log_to_driver": False}
    opened.enter_context(RayTaskRunner(address or None, {} if address else local))
    remote = ray.remote(work)
    return lambda parcel: ray.get(remote.remote(parcel))


CLUSTERS: dict[str, Callable[[str, int, ExitStack], Send]] = {"dask": _dask, "ray": _ray}

_beginning, _runs = Lock(), [""]  # on a worker: the run that its process works for


def work(parcel: bytes) -> Done:
    """Do what a night has sent to this process; errors of ours are returned, others raised."""
    run, night, results, function, arguments = pickle.loads(parcel)
    with _beginning:
        if _runs != [run]:
            wiring.reset_ports()
            services.begin_counting()
            proxies.join(*night)
            _runs[:] = [run]
    value, trouble = None, None
    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: results}):
        try:
            value = function(*arguments)
        except NightWatchError as error:
            trouble = error
    recording, process = proxies.current_recording(), f"{socket.gethostname()}-{os.getpid()}"
    unrecorded = recording.recorder.lost if recording else ""
    counted = services.service_calls(), services.code_reads()
    return Done(value, trouble, process, *counted, unrecorded)
