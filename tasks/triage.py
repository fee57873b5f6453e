"""Triage in batches: ask about many errors at once, and collect the answers."""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from prefect import Task

from nightwatch_core.errors import GiveUp, NightWatchError, NotTonight, StopTheNight, TryLater
from nightwatch_core.intake.ignore_rules import rules_in_force
from nightwatch_core.intake.limits import GROUPS_A_CASE
from nightwatch_core.intake.selection import select
from nightwatch_core.models.assignment import BatchTriage, KnownErrors
from nightwatch_core.models.batch import Batch, Settled
from nightwatch_core.models.errors import ErrorGroup, Fetched, Selection, Trace
from nightwatch_core.models.options import LESSON_DAYS, NightOptions
from nightwatch_core.models.report import Night, NightKind, NightRecord, RunReport
from nightwatch_core.ports import BatchModel, BatchStore, Nights
from nightwatch_core.settings import Settings, night_options
from nightwatch_core.triage import batch_triage
from nightwatch_core.triage.batch_triage import Plan, Questions, ReadBatch
from tasks.night import OptionsOf, begin
from tasks.runner import step, when_unwell
from tasks.wiring import agent_store, check_prices, nights, with_default_ports
from tasks.wiring.opening import OpenNight
from tasks.wiring.services import kept_batches

log = logging.getLogger(__name__)
MOST_RETRIES = 50  # of a task
_OWN = ("batch_mode", "dry_run", "force")  # a run that collects says these itself
COLLECTING = "--collect"


@step("settle batches")
def settle_batches(night: OpenNight) -> Settled:
    """Find open batches over the night's sources, and those that killed nights may have sent."""
    settled = batch_triage.settle(_desk(night), _store(night), night.reading.clock)
    history = night.publishing.nights.history()
    due = batch_triage.of_sources(settled.open, history, night.begun.kind.key)
    return settled.model_copy(update={"open": due})


@step("probe batches")
def probe_batches(night: OpenNight) -> str:
    """Check that the service takes batches, before anything is done."""
    return _desk(night).probe()


@step("choose errors for a batch")
def select_every(night: OpenNight, fetched: Fetched, known_groups: KnownErrors) -> Selection:
    """Rank all errors that nobody ignores and no lesson covers."""
    every = night.reading.knowledge.ignore_rules()
    rules, notes = rules_in_force(every, fetched.groups, fetched.window)
    selected = select(fetched.groups, rules, len(fetched.groups))
    names = frozenset(known_groups.names)
    new = tuple(group for group in selected.kept if group.fingerprint not in names)
    return selected.model_copy(update={"kept": new, "rule_notes": notes})


@step("select flagged errors")
def select_flagged(night: OpenNight, fetched: Fetched, triage: BatchTriage) -> Selection:
    """Select what batches flagged and nothing else, the worst first."""
    candidates = GROUPS_A_CASE * (night.options.max_errors or 5)
    return batch_triage.only_flagged(fetched.groups, triage.flagged, candidates)


@step("submit a batch")
def submit_batch(night: OpenNight, groups: tuple[ErrorGroup, ...]) -> BatchTriage:
    """Ask about each error once, as far as the night's USD go.

    An error that waits for an answer, or has one that still holds, is not asked about; whatever is
    not sure is not submitted again.
    """
    ports = night.reading
    agent, complaint = batch_triage.triage_agent(ports.agents)
    model = batch_triage.model_of(agent, night.options, night.begun.given)
    desk, store, now = _desk(night, model), _store(night), ports.clock.now()
    settled = batch_triage.settle(desk, store, ports.clock)
    ask, kept = batch_triage.to_ask(groups, store.batches(), now, LESSON_DAYS)
    traces = _traces(night, ask)
    items = []
    for group in ask:
        question = batch_triage.question(
            group, traces.get(group.fingerprint), agent, night.begun.fence
        )
        items.append(batch_triage.item_of(night.id, group, question))
    planned = Plan()
    if items:
        prices = desk.intent(items, night.id, now)
        planned = batch_triage.plan(tuple(items), prices, night.options.cost_per_night or None)
    sent = batch_triage.submit_once(planned.items, night.id, desk, store, ports.clock)
    questions = Questions(items=tuple(items), kept=kept, complaint=complaint)
    triage = batch_triage.with_submission(BatchTriage(), sent, planned.cost, questions)
    return batch_triage.with_complaints(triage, complaint, planned.over, *settled.unsure)


@step("wait for batches")
def wait_for(night: OpenNight, batches: tuple[Batch, ...]) -> None:
    """Raise `TryLater` while one of them is running."""
    desk = _desk(night)
    running = [batch for batch in batches if desk.state(batch).status == "in progress"]
    if running:
        raise TryLater(batch_triage.running_text(running[0]))


def patiently(night: OpenNight) -> Task[[OpenNight, tuple[Batch, ...]], None]:
    """Return the step that waits, asking every minute, or less often where it waits longer."""
    retries = min(night.options.collect_minutes, MOST_RETRIES)
    pause = 60.0 * night.options.collect_minutes / max(retries, 1)
    return wait_for.with_options(
        retries=retries, retry_delay_seconds=pause, retry_condition_fn=when_unwell
    )


@step("read batch", "{batch.id}")
def read_batch(batch: Batch, night: OpenNight) -> ReadBatch:
    """Read every result, once: what was read is kept before anything else is done with it."""
    if batch.is_intent:
        return ReadBatch(batch=batch, running=batch_triage.running_text(batch))
    if batch.results:
        return ReadBatch(batch=batch)
    desk = _desk(night)
    state = desk.state(batch)
    if state.status == "in progress":
        return ReadBatch(batch=batch, running=batch_triage.running_text(batch, state))
    gone = not state.readable
    results = batch_triage.without_results(batch, state) if gone else tuple(desk.results(batch))
    read = batch.model_copy(update={"results": results})
    _store(night).keep(read)
    return ReadBatch(batch=read)


@step("put batches together")
def put_together(
    night: OpenNight, read: tuple[ReadBatch, ...], unsure: tuple[str, ...]
) -> BatchTriage:
    """Return the batches' results and earlier flagged errors not analysed yet."""
    now, history = night.reading.clock.now(), night.publishing.nights.history()
    every = batch_triage.of_sources(_store(night).batches(), history, night.begun.kind.key)
    return batch_triage.collected(read, every, now, unsure)


@step("close batches")
def close_batches(night: OpenNight, report: RunReport) -> None:
    """Write down which night's report has the results, and which errors were analysed since."""
    store, reported = (_store(night), {item.night for item in report.batch_triage.judged})
    groups = (group for analysis in report.analyses for group in analysis.case.groups)
    names = frozenset(group.fingerprint for group in groups)
    for batch in store.batches():
        if not batch.results:
            continue
        collected_by = batch.collected_by or (report.night.id * (batch.night in reported))
        update = {"collected_by": collected_by, "taken": batch_triage.taken(batch, names)}
        closed = batch.model_copy(update=update)
        if closed != batch:
            store.keep(closed)


def _desk(night: OpenNight, model: str = "") -> BatchModel:
    desk = night.batches_named(model) if model else night.reading.batches
    if desk is None:
        raise GiveUp("no connected model supports batches: set ANTHROPIC_API_KEY")
    return desk


def _store(night: OpenNight) -> BatchStore:
    store = night.publishing.batch_store
    if store is None:
        raise GiveUp("there is no store for batches")
    return store


def _traces(night: OpenNight, groups: tuple[ErrorGroup, ...]) -> Mapping[str, Trace]:
    """The newest trace of each error that has one; of very many only the first are looked up."""
    errors = night.reading.errors

    def newest(group: ErrorGroup) -> Trace | None:
        try:
            return next(iter(errors.traces(group, 1)), None)
        except StopTheNight:
            raise
        except NightWatchError as trouble:
            log.warning("%s: asked about without its trace: %s", group.short, trouble)
            return None

    some = groups[: batch_triage.TRACED]
    with ThreadPoolExecutor(night.options.concurrency) as pool:
        traces = zip(some, pool.map(newest, some), strict=True)
        return {group.fingerprint: trace for group, trace in traces if trace}


# Taking up a batch in another run: whose it is, and under which options it is gone on with.


def nothing_to_collect(store: BatchStore, night: str = "") -> bool:
    """Tell whether no batch waits to be collected, of that night or of any."""
    return _batch(store, night) is None


def options_collecting(night: str = "") -> OptionsOf:
    """Return how the options of a run that collects a night's batch are found."""
    return partial(collecting_options, night)


def collecting_options(night: str, choices: Mapping[str, object], at: Settings) -> NightOptions:
    """Return the choices over those of the night that submitted the batch.

    Raises `NotTonight` where no batch waits, and no error that one flagged.
    """
    chosen = choices_collecting(night, choices, kept_batches(at), nights(at))
    options = with_default_ports(night_options(chosen), at)
    check_prices(options, agent_store(at, options), by_agents=not choices.get("model"))
    return options


def choices_collecting(
    night: str, choices: Mapping[str, object], store: BatchStore, nights: Nights
) -> dict[str, object]:
    """Return the choices of a run that collects, over those of the night that submitted."""
    batch = _batch(store, night, leftovers=True)
    if batch is None:
        raise NotTonight(
            "there is no batch to collect: submit one with `nightwatch night --batch`, "
            "list them with `nightwatch batches`"
        )
    report = nights.report(batch.night)
    kept = report.options.model_dump(exclude=set(_OWN)) if report else {}
    given = {name: value for name, value in choices.items() if value is not None}
    return {**kept, **given, "batch_mode": False}


def overruled(night: OpenNight) -> tuple[str, ...]:
    """Say which settings the options of the night that submitted the batch overrule."""
    own, plain = night_options(), NightOptions()
    return tuple(
        f"{name} is {value!r}, as in the night that submitted the batch, and not "
        f"{here!r}, as set here: --{name.replace('_', '-')} changes it."
        for name, value in night.options
        if name not in _OWN and night.choices.get(name) is None
        if (here := getattr(own, name)) not in (value, getattr(plain, name))
    )


@step("open the collection")
def begin_collection(night: OpenNight, name: str) -> Night:
    """Open a night over the window of the one that submitted; it moves no watermark."""
    batch = _batch(_store(night), name, leftovers=True)
    history: tuple[NightRecord, ...] = night.publishing.nights.history()
    nights_of_batch = (item.night for item in history if batch and item.id == batch.night)
    record = next(filter(None, nights_of_batch), None)
    if record is None:
        raise NotTonight(f"the night {name[:80]!r} that submitted the batch was deleted")
    kind = NightKind(key=record.kind.key, dry=night.options.dry_run, since=COLLECTING)
    return begin(night, record.window, kind, f"collect-{record.id}")


def _batch(store: BatchStore, night: str, *, leftovers: bool = False) -> Batch | None:
    """The newest batch whose results no report has; of that night, where one is named.

    With `leftovers` else the newest one with flagged errors that no night has analysed.
    """
    every = [batch for batch in reversed(store.batches()) if night in ("", batch.night)]
    left = (item for item in every if leftovers and batch_triage.is_left_over(item))
    return next((item for item in every if not item.collected_by), None) or next(left, None)
