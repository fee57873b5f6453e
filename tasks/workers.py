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

from prefect.context import FlowRunContext
from prefect.futures import PrefectFuture
from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import settings
from tasks import wiring
from tasks.records import results
from tasks.wiring.opening import OpenNight, working_for

Ts = TypeVarTuple("Ts")
T = TypeVar("T")


class Done(NamedTuple):
    """How a worker's work ended, and the journal of one with a state folder of its own."""

    value: Any
    trouble: NightWatchError | None
    process: str
    reads: CodeReads
    lines: tuple[str, ...]  # of the journal that the sender cannot see
    lost: str  # why the worker's answers are in no journal


Send = Callable[[bytes], Done]  # returns when the work is done


class NightRunner(TaskRunner[PrefectFuture[Any]]):
    """Run the tasks of a night on as many threads as its options say.

    Prefect opens a flow's runner before the flow has opened its night, so this one opens the real
    one with the first task, and the cluster before it, where one is set.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._opened = ExitStack()
        self._runner: ThreadPoolTaskRunner[Any] | None = None
        self._send: Send | None = None
        self.night: OpenNight | None = None  # that it runs tasks of

    def duplicate(self) -> Self:
        """Return another one that holds nothing."""
        return type(self)()

    def submit(self, *arguments: Any, **named: Any) -> PrefectFuture[Any]:
        """Start one task run beside the others."""
        if self._runner is None:
            self.cluster()
            runner = ThreadPoolTaskRunner[Any](max_workers=self._concurrency)
            self._runner = self._opened.enter_context(runner)
        future: PrefectFuture[Any] = self._runner.submit(*arguments, **named)
        return future

    @property
    def _concurrency(self) -> int:
        return self.night.options.concurrency if self.night else NightOptions().concurrency

    def cluster(self) -> Send | None:
        """Return the way to the workers; None where all runs in this process."""
        runner = self.night.settings.task_runner if self.night else ""
        kind, _, address = runner.partition("=")
        if self._send is None and kind in CLUSTERS:
            try:
                self._send = CLUSTERS[kind](address, self._concurrency, self._opened)
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


def on_worker(function: Callable[[OpenNight, *Ts], T], night: OpenNight, *values: *Ts) -> T:
    """Call a function of a module where the night's runner says, and wait for it."""
    context = FlowRunContext.get()
    runner = context.task_runner if context else None
    if not isinstance(runner, NightRunner) or (send := runner.cluster()) is None:
        return function(night, *values)
    done = send(pickle.dumps((night.ticket(), str(results()), function, values)))
    night.recording.take_in(done.process, done.reads, done.lines, done.lost)
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

_opening = Lock()
_night: list[OpenNight] = []  # on a worker: that its process works for


def work(parcel: bytes) -> Done:
    """Do what a night has sent to this process; errors of ours are returned, others raised."""
    ticket, results, function, values = pickle.loads(parcel)
    with _opening:
        if not _night or _night[0].recording.header.run != ticket.header.run:
            at = settings()
            _night[:] = [wiring.opened(ticket.options, at, header=ticket.header)]
        night = _night[0]
        if ticket.night:
            night.join(ticket.night)
    value, trouble = None, None
    with (
        temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: results}),
        working_for(ticket.step),
    ):
        try:
            value = function(night, *values)
        except NightWatchError as error:
            trouble = error
    process, recording = f"{socket.gethostname()}-{os.getpid()}", night.recording
    return Done(
        value,
        trouble,
        process,
        wiring.services.code_reads(),
        recording.hand_over(),
        recording.journal.lost,
    )
