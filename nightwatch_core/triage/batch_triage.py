"""Batch triage: choose errors, ask about them once, collect the answers, choose what to analyse."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import get_args

from nightwatch_core.analysis.prompts import TEXTS, fenced, filled, only_data
from nightwatch_core.errors import GiveUp, MayHaveArrived, NightWatchError, StopTheNight
from nightwatch_core.intake.default_ports import RULES, is_sample
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import BatchTriage, Sighting, SubmittedBatch
from nightwatch_core.models.batch import (
    BATCH_SHARE,
    Batch,
    BatchState,
    FirstSight,
    ItemResult,
    Settled,
    Severity,
    Submission,
    TriageItem,
)
from nightwatch_core.models.conversation import AgentSpec, Conversation, UserTurn
from nightwatch_core.models.errors import Case, DroppedGroup, ErrorGroup, Selection, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import NightRecord
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore, BatchModel, BatchStore, Clock
from nightwatch_core.text.plain_text import digest, estimated_tokens, moment, money, plural

ANSWER_TOKENS = 2_000  # of one answer, thinking included, where the agent file says nothing
TRACED = 2_000  # errors whose traces are read for the question; the rest is asked without
ERRORS = 10_000  # errors of one batch, which stays far below the service's 256 MB
TENFOLD = 10  # occurrences or users, in times of before, that make an error another one
WAITING_DAYS = 30  # until what was flagged, and had no turn, is forgotten
_NEEDED = (
    "a batch needs a language model that takes batches, and none is connected: set "
    "ANTHROPIC_API_KEY{sample}. Without a model, leave --batch (NIGHTWATCH_BATCH_MODE) out: the "
    "rules analyse at once, and nothing costs anything"
)
_SAMPLE = ", and name errors of your own (--errors FILE --repo CHECKOUT): the sample asks nobody"


def check_batch_mode(options: NightOptions) -> None:
    """Raise `StopTheNight` with what is needed where all errors are to be a batch and cannot be.

    >>> check_batch_mode(NightOptions(model="rules"))
    """
    if options.batch_mode and options.model == RULES:
        raise StopTheNight(_NEEDED.format(sample=_SAMPLE if is_sample(options) else ""))


# Which errors are asked about, and which answers still hold.


def sightings(batch: Batch) -> tuple[Sighting, ...]:
    """Return every error of a batch with its result, if it has one."""
    results = {item.key: item for item in batch.results}
    return tuple(
        Sighting(
            group=item.group,
            night=batch.night,
            at=batch.submitted,
            rank=rank,
            result=results.get(item.key),
            taken=item.fingerprint in batch.taken,
        )
        for rank, item in enumerate(batch.items, start=1)
        if item.group is not None
    )


def latest(batches: Iterable[Batch]) -> Mapping[str, Sighting]:
    """Return the last sighting of every error by fingerprint; batches come oldest first."""
    return {item.group.fingerprint: item for batch in batches for item in sightings(batch)}


def to_ask(
    groups: Iterable[ErrorGroup], batches: Iterable[Batch], now: datetime, days: int
) -> tuple[tuple[ErrorGroup, ...], tuple[Sighting, ...]]:
    """Part errors into those to ask about, and the earlier results of the others.

    Not asked about is what waits for its answer, and what was judged at most `days` ago (0: ever)
    and has not changed since. What was refused is not asked again either; what expired, fell to
    an error or could not be read is.
    """
    earlier, ask, kept = latest(batches), list[ErrorGroup](), list[Sighting]()
    for group in groups:
        before = earlier.get(group.fingerprint)
        if before is None or not _holds(before, group, now, days):
            ask.append(group)
        else:
            kept.append(before)
    return tuple(ask[:ERRORS]), tuple(kept)


def _holds(before: Sighting, group: ErrorGroup, now: datetime, days: int) -> bool:
    if before.result is None:
        return True
    if before.result.kind not in ("answered", "refused"):
        return False
    is_old = days > 0 and now - before.at > timedelta(days=days)
    return not is_old and not changed(before.group, group)


def changed(before: ErrorGroup, now: ErrorGroup) -> bool:
    """Check whether an error changed since it was judged: it regressed, or is tenfold.

    >>> was = ErrorGroup(fingerprint="v1:0", source="file", error_class="E", occurrences=3)
    >>> [changed(was, was.model_copy(update={"occurrences": count})) for count in (29, 30)]
    [False, True]
    """
    came_back = now.triage.state == "regressed" and before.triage.state != "regressed"
    more = now.occurrences >= TENFOLD * max(before.occurrences, 1)
    users = (now.users or 0) >= TENFOLD * max(before.users or 0, 1)
    return came_back or more or (users and before.users is not None)


# The question about one error. The prompt is an agent file, `agents/triage.md`; it holds no error,
# so that all questions share it.

AGENT = "triage"
BUILT_IN = AgentSpec(
    name=AGENT,
    description="The prompt used where there is no agents/triage.md.",
    model="claude-haiku-5-5",
    effort="low",
    max_iterations=1,
    max_tokens=ANSWER_TOKENS,
    tools=(),
    digest="built-in",
    prompt=TEXTS["built_in_triage"],
)


def triage_agent(agents: AgentStore) -> tuple[AgentSpec, str]:
    """Read the agent that asks, and a complaint where its file cannot be used."""
    if AGENT not in agents.names():
        return BUILT_IN, ""
    try:
        return agents.agent(AGENT), ""
    except StopTheNight as wrong:
        return BUILT_IN, f"{wrong}; the built-in prompt judged at first sight"


def model_of(agent: AgentSpec, options: NightOptions, given: Iterable[str] = ()) -> str:
    """Name the model: the run's own, else the agent file's, else the setting's.

    >>> model_of(BUILT_IN, NightOptions(model="claude-opus-5-5"))
    'claude-haiku-5-5'
    """
    return options.model if "model" in given and options.model else agent.model or options.model


def question(
    group: ErrorGroup, trace: Trace | None, agent: AgentSpec, fence: str = ""
) -> Conversation:
    """Ask about one error: texts are bounded and clean, in the night's `fence`."""
    innermost = trace.root.frames[:8] if trace and trace.links else ()
    app = [frame for frame in trace.in_app if frame not in innermost][:8] if trace else []
    links = tuple(reversed(trace.links[-4:])) if trace else ()
    text = filled("question", group=group, links=links, frames=(*innermost, *app))
    begin = f"Say at first sight what this production error is. {only_data(fence)}"
    return Conversation(
        system=agent.prompt,
        answer_schema=FirstSight.model_json_schema(),
        turns=(UserTurn(text=f"{begin}\n\n{fenced(text, fence)}"),),
        case=Case(leader=group),
        effort=agent.effort or "low",
        thinking_budget=agent.thinking_budget,
        max_tokens=agent.max_tokens or ANSWER_TOKENS,
    )


def item_of(night: str, group: ErrorGroup, conversation: Conversation) -> TriageItem:
    """Return the item of a batch for one error; equal questions of a night have equal keys."""
    key = digest(night) + digest(group.fingerprint)
    return TriageItem(
        key=key, fingerprint=group.fingerprint, conversation=conversation, group=group
    )


class Questions(Value):
    """Errors to ask about, and earlier results of others that still hold."""

    items: tuple[TriageItem, ...] = ()
    kept: tuple[Sighting, ...] = ()
    complaint: str = ""  # about the agent file


class Plan(Value):
    """Questions to submit, what they cost at most, and the number beyond the budget."""

    items: tuple[TriageItem, ...] = ()
    cost: str = ""
    over: str = ""


def plan(items: tuple[TriageItem, ...], prices: Batch, left: float | None) -> Plan:
    """Take as many of the items, best first, as cannot cost more than `left` USD; None: all."""
    spent: float | None = 0.0
    count = 0
    for item in items:
        most = _most_cost(item, prices)
        after = None if most is None or spent is None else spent + most
        if left is not None and (after is None or after > left):
            break
        spent, count = after, count + 1
    over = ""
    if rest := len(items) - count:
        were, budget = plural(rest, "error was", "errors were"), money(left or 0.0)
        over = f"{were} not asked about at first sight: {budget} of cost_per_night are left"
    cost = "price unknown" if spent is None else f"at most {money(spent)}"
    return Plan(items=items[:count], cost=cost, over=over)


def _most_cost(item: TriageItem, prices: Batch) -> float | None:
    """USD of one item whose answer is as long as it may be; None where no price covers it."""
    talk = item.conversation
    turns = [turn.text for turn in talk.turns if isinstance(turn, UserTurn)]
    texts = (talk.system, json.dumps(talk.answer_schema), *turns)
    prompt = sum(map(estimated_tokens, texts))
    fitting = (row for row in prices.prices if row.up_to is None or prompt <= row.up_to)
    if (price := next(fitting, None)) is None:
        return None
    return (prompt * price.input + talk.max_tokens * price.output) * BATCH_SHARE / 1_000_000


# A batch is submitted once, whatever happens between the intent and the service's answer.
#
# The intent is kept before anything is sent, the id after it. An intent without an id is looked for
# at the service: a batch that was created since then with as many items is taken for it. If it is
# somebody else's, none of its results has our keys, and its errors are asked about again.

SKEW = timedelta(hours=1)  # between the service's clock and ours
SETTLING = timedelta(minutes=30)  # until what was sent is on the service's list, or never will be


def submit_once(
    items: Sequence[TriageItem], night: str, model: BatchModel, store: BatchStore, clock: Clock
) -> Submission:
    """Submit the items that no open batch has, as one batch.

    Raises `GiveUp` where there are no batches or a kept one cannot be read, and what the service
    says of a request it refuses; `TryLater` where another process is submitting.
    """
    with store.alone():
        settled = settle(model, store, clock)
        if complaints := store.complaints():
            raise GiveUp(f"nothing is submitted, for it may be waiting already: {complaints[0]}")
        names = {name for batch in (*settled.open, *settled.intents) for name in batch.fingerprints}
        new = [item for item in items if item.fingerprint not in names]
        sent = Submission(
            waiting=tuple(item.fingerprint for item in items if item.fingerprint in names),
            unsure=settled.unsure,
        )
        if not new:
            return sent
        intent = model.intent(new, night, clock.now())
        store.keep(intent)
        try:
            batch: Batch | None = model.submit(intent, new)
        except MayHaveArrived:
            batch = _found(intent, model, store)
        except NightWatchError:
            store.drop(intent)
            raise
        if batch is None:
            return sent.model_copy(update={"unsure": (*sent.unsure, _unsure(intent))})
        store.keep(batch)
        return sent.model_copy(update={"batches": (batch,)})


def settle(model: BatchModel, store: BatchStore, clock: Clock) -> Settled:
    """Look for the batch of every intent at the service, and forget intents that never arrived."""
    batches = list[Batch]()
    for kept in store.batches():
        batch = _found(kept, model, store) if kept.is_intent else kept
        if batch is None and clock.now() - kept.submitted >= SETTLING:
            store.drop(kept)
            continue
        if batch is not None and kept.is_intent:
            store.keep(batch)
        batches.append(batch or kept)
    intents = tuple(batch for batch in batches if batch.is_intent)
    return Settled(
        open=tuple(batch for batch in batches if batch.id and not batch.collected_by),
        intents=intents,
        unsure=(*map(_unsure, intents), *store.complaints()),
    )


def _found(intent: Batch, model: BatchModel, store: BatchStore) -> Batch | None:
    others = {batch.id for batch in store.batches()}
    alike = [
        listed
        for listed in model.newest(intent.submitted - SKEW)
        if listed.id not in others and listed.state.total == len(intent.items)
    ]
    return intent.model_copy(update={"id": alike[-1].id}) if alike else None


def _unsure(intent: Batch) -> str:
    return (
        f"it is not known whether the batch of night {intent.night} ({len(intent.items)} errors) "
        "was submitted: the service does not list it so far. It is looked for again from "
        f"{intent.submitted + SETTLING:%Y-%m-%d %H:%M} UTC on"
    )


# What batches answered, as one value of the night.

LATER = "`nightwatch night --collect` collects it later"


class ReadBatch(Value):
    """A batch with its results, or a sentence on why there are none so far."""

    batch: Batch
    running: str = ""


def of_sources(
    batches: Iterable[Batch], history: Iterable[NightRecord], key: str
) -> tuple[Batch, ...]:
    """Return batches of nights that read the same sources; those of deleted nights are left out."""
    keys = {record.id: record.night.kind.key for record in history if record.night}
    return tuple(batch for batch in batches if keys.get(batch.night) == key)


def running_text(batch: Batch, state: BatchState | None = None) -> str:
    """Say of a batch that it has not ended, or that nobody knows whether it was submitted."""
    errors = plural(len(batch.items), "error")
    if batch.is_intent:
        return (
            f"a batch of {errors} of {moment(batch.submitted)} may have been submitted: it is "
            f"looked for at the service, and nothing is asked again before. {LATER}."
        )
    processed = f", {state.total - state.processing:,} of them done" if state else ""
    return f"the batch {batch.id} of {errors} is still running{processed}. {LATER}."


def without_results(batch: Batch, state: BatchState) -> tuple[ItemResult, ...]:
    """Return one result for every error of a batch whose results are gone."""
    reason = state.reason or "the service no longer knows the batch"
    return tuple(
        ItemResult(key=item.key, fingerprint=item.fingerprint, kind="missing", reason=reason)
        for item in batch.items
    )


def collected(
    read: Sequence[ReadBatch], every: Iterable[Batch], now: datetime, complaints: Sequence[str] = ()
) -> BatchTriage:
    """Return the night's value of what was read; `every` has all batches of these sources.

    Waiting are flagged errors of earlier batches that no night has analysed.
    """
    done = [item.batch for item in read if not item.running]
    digests = {batch.digest for batch in done}
    others = [batch for batch in every if batch.digest not in digests and batch.collected_by]
    judged = tuple(item for batch in done for item in sightings(batch) if item.result)
    newer = {item.group.fingerprint for item in judged}
    recent = timedelta(days=WAITING_DAYS)
    return BatchTriage(
        judged=judged,
        waiting=tuple(
            item
            for name, item in latest(others).items()
            if name not in newer and item.flagged and not item.taken and now - item.at <= recent
        ),
        running=tuple(item.running for item in read if item.running),
        complaints=tuple(complaints),
        usage=sum((result.usage for batch in done for result in batch.results), Usage()),
    )


def with_submission(
    triage: BatchTriage, sent: Submission, cost: str, questions: Questions
) -> BatchTriage:
    """Add the submitted batches, and earlier results that still hold, to the night's value."""
    judged = {item.group.fingerprint for item in triage.judged}
    kept = (item for item in questions.kept if item.group.fingerprint not in judged)
    submitted = (
        SubmittedBatch(
            id=batch.id, model=batch.model, errors=len(batch.items), expires=batch.expires
        )
        for batch in sent.batches
    )
    update = {
        "submitted": (*triage.submitted, *submitted),
        "cost": cost if sent.batches else triage.cost,
        "kept": tuple(item for item in kept if item.result),
        "awaited": sum(item.result is None for item in questions.kept),
    }
    return with_complaints(triage.model_copy(update=update), *sent.unsure)


def with_complaints(triage: BatchTriage, *complaints: str) -> BatchTriage:
    """Add complaints, each once; empty ones say nothing."""
    every = dict.fromkeys((*triage.complaints, *filter(None, complaints)))
    return triage.model_copy(update={"complaints": tuple(every)})


def taken(batch: Batch, names: frozenset[str]) -> tuple[str, ...]:
    """Return the fingerprints of a batch that nights have analysed, with tonight's `names`."""
    asked = (item.fingerprint for item in batch.items if item.fingerprint in names)
    return tuple(dict.fromkeys((*batch.taken, *asked)))


def is_left_over(batch: Batch) -> bool:
    """Check whether a batch flagged errors that no night has analysed."""
    return any(item.flagged and not item.taken for item in sightings(batch))


def only_flagged(
    groups: Iterable[ErrorGroup], sightings: Iterable[Sighting], candidates: int
) -> Selection:
    """Select the first flagged errors that had no analysis, the worst first, then as ranked.

    An error that was seen tonight is taken as it was seen now.
    """
    order = get_args(Severity)  # the worst first
    rated = [
        (order.index(sight.severity), item.rank, item.group)
        for item in sightings
        if (sight := item.first_sight) and item.flagged and not item.taken
    ]
    rated.sort(key=lambda row: row[:2])
    now = {group.fingerprint: group for group in groups}
    every = [now.get(group.fingerprint, group) for *_, group in rated]
    late = (
        DroppedGroup(group=group, reason="flagged, postponed", note=f"{place} of {len(every)}")
        for place, group in enumerate(every[candidates:], start=candidates + 1)
    )
    return Selection(kept=tuple(every[:candidates]), dropped=tuple(late), is_judged=True)
