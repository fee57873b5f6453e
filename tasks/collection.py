"""Taking up a batch in another run: whose it is, and under which options it is gone on with."""

from collections.abc import Mapping

from prefect import task
from prefect.runtime import flow_run

from nightwatch_core.errors import NotTonight
from nightwatch_core.models.batch import Batch
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, NightKind, NightRecord
from nightwatch_core.settings import night_options
from nightwatch_core.triage.asking import is_left_over
from tasks.night import begin_night
from tasks.policies import KEPT, PATIENTLY
from tasks.wiring import nights, reset_ports, with_default_ports
from tasks.wiring.batches import kept_batches

_OWN = ("batch_mode", "dry_run", "force")  # a run that collects says these itself
COLLECTING = "--collect"


def nothing_to_collect(night: str = "") -> bool:
    """Whether no batch waits to be collected, of that night or of any."""
    return _batch(night) is None


def collecting_options(night: str, choices: Mapping[str, object]) -> NightOptions:
    """The choices over those of the night that submitted the batch.

    Raises `NotTonight` where no batch waits, and no error that one flagged.
    """
    reset_ports()
    batch = _batch(night, leftovers=True)
    if batch is None:
        raise NotTonight(
            "there is no batch to collect: `nightwatch night --batch` submits one, and `nightwatch "
            "batches` lists those that were"
        )
    report = nights().report(batch.night)
    kept = report.options.model_dump(exclude=set(_OWN)) if report else {}
    given = {name: value for name, value in choices.items() if value is not None}
    options = night_options({**kept, **given, "batch_mode": False})
    return with_default_ports(options)


@task(name="open the collection", task_run_name="open the collection", **KEPT, **PATIENTLY)
def open_collection(options: NightOptions, night: str) -> Night:
    """A night of its own, over the window of the night that submitted; it moves no watermark."""
    record = _record(_batch(night, leftovers=True), night)
    kind = NightKind(key=record.kind.key, dry=options.dry_run, since=COLLECTING)
    return begin_night(options, record.window, kind, f"collect-{record.id}")


def submit_name() -> str:
    """What Prefect calls a run that submits."""
    return f"submit-{flow_run.scheduled_start_time:%Y-%m-%d-%H%M}"


def collect_name() -> str:
    """What Prefect calls a run that collects."""
    return f"collect-{flow_run.scheduled_start_time:%Y-%m-%d-%H%M}"


def _batch(night: str, *, leftovers: bool = False) -> Batch | None:
    """The newest batch whose results no report has; of that night, where one is named.

    With `leftovers` else the newest one with flagged errors that no night has analysed.
    """
    every = [one for one in reversed(kept_batches().batches()) if night in ("", one.night)]
    left = (one for one in every if leftovers and is_left_over(one))
    return next((one for one in every if not one.collected_by), None) or next(left, None)


def _record(batch: Batch | None, night: str) -> Night:
    history: tuple[NightRecord, ...] = nights().history()
    known = (one.night for one in history if batch and one.id == batch.night and one.night)
    found = next(known, None)
    if found is None:
        raise NotTonight(f"the night {night[:80]!r} that submitted the batch is not known any more")
    return found
