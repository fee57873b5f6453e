"""Choose errors for batch triage, ask about them, and plan what that may cost."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from nightwatch_core.analysis.prompts import fenced, filled, only_data
from nightwatch_core.errors import StopTheNight
from nightwatch_core.intake.default_ports import RULES, is_sample
from nightwatch_core.models.assignment import Sighting
from nightwatch_core.models.batch import Batch, FirstSight, TriageItem
from nightwatch_core.models.conversation import AgentSpec, Conversation, UserTurn
from nightwatch_core.models.errors import Case, ErrorGroup, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.value import Value
from nightwatch_core.ports import AgentStore
from nightwatch_core.text.plain_text import estimated_tokens, money, plural, text_table

# What asking at first sight needs, said before anything is done.

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


# How much of an error is told at first sight, how much is asked at once: each with its unit.

ANSWER_TOKENS = 2_000  # of one answer, thinking included, where the agent file says nothing
USUAL_ANSWER_TOKENS = 250  # what an answer is reckoned with where its most is not meant
TRACED = 2_000  # errors whose traces are read for the question; the rest is asked without
ERRORS = 20_000  # errors of one night's batches
TENFOLD = 10  # occurrences or users, in times of before, that make an error another one
WAITING_DAYS = 30  # until what was flagged, and had no turn, is forgotten


def sightings(batch: Batch) -> tuple[Sighting, ...]:
    """Return every error of a batch with what came of it, those that were asked alone too.

    Results without an error that is known here are left out.
    """
    results = {item.key: item for item in (*batch.answered, *batch.results)}
    return tuple(
        Sighting(
            group=item.group,
            night=batch.night,
            at=batch.submitted,
            rank=rank,
            result=results.get(item.key),
            taken=item.fingerprint in batch.taken,
        )
        for rank, item in enumerate((*batch.alone, *batch.items), start=1)
        if item.group is not None
    )


def latest(batches: Iterable[Batch]) -> Mapping[str, Sighting]:
    """Return the last sighting of every error by fingerprint; batches come oldest first."""
    return {
        sighting.group.fingerprint: sighting for batch in batches for sighting in sightings(batch)
    }


def is_left_over(batch: Batch) -> bool:
    """Tell whether a batch flagged errors that no night has analysed."""
    return any(sighting.flagged and not sighting.taken for sighting in sightings(batch))


def to_ask(
    groups: Iterable[ErrorGroup], batches: Iterable[Batch], now: datetime, days: int
) -> tuple[tuple[ErrorGroup, ...], tuple[Sighting, ...]]:
    """Part errors into those to ask about, and what is still said of the others.

    Not asked about is what waits for its answer, and what was judged at most `days` ago (0: ever)
    and has not changed since. What was refused is not asked again either; what expired, fell to
    an error or could not be read is.
    """
    known, ask, kept = latest(batches), list[ErrorGroup](), list[Sighting]()
    for group in groups:
        before = known.get(group.fingerprint)
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
    """Tell whether an error changed since it was judged: it regressed, or is ten times as frequent.

    >>> was = ErrorGroup(fingerprint="v1:0", source="file", error_class="E", occurrences=3)
    >>> changed(was, was.model_copy(update={"occurrences": 29}))
    False
    >>> changed(was, was.model_copy(update={"occurrences": 30}))
    True
    """
    came_back = now.triage.state == "regressed" and before.triage.state != "regressed"
    more = now.occurrences >= TENFOLD * max(before.occurrences, 1)
    users = (now.users or 0) >= TENFOLD * max(before.users or 0, 1)
    return came_back or more or (users and before.users is not None)


def waiting(batches: Iterable[Batch], now: datetime) -> Iterator[Sighting]:
    """Yield the flagged errors of collected batches without analysis, the newest of each."""
    recent = timedelta(days=WAITING_DAYS)
    for item in latest(batches).values():
        if item.flagged and not item.taken and now - item.at <= recent:
            yield item


# The question at first sight: one error, all of it in a fence, and the schema of the answer.
#
# The prompt is an agent file, `agents/triage.md`; it holds no error, so that a batch shares it.

AGENT = "triage"  # the agent file

BUILT_IN = AgentSpec(
    name=AGENT,
    description="The prompt used where there is no agents/triage.md.",
    model="claude-haiku-5-5",
    effort="low",
    max_iterations=1,
    max_tokens=ANSWER_TOKENS,
    tools=(),
    digest="built-in",
    prompt=text_table("nightwatch_core.analysis", "prompts.toml")["built_in_triage"],
)


def triage_agent(agents: AgentStore) -> tuple[AgentSpec, str]:
    """Read who judges at first sight, and a complaint where the agent file cannot be used."""
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
    """Ask about one error; its texts are bounded, clean, and in a fence that they cannot close.

    `fence` is the night's name for fences.
    """
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


# Plan of a night's batches: questions, usual and maximal cost.


class BatchCost(Value):
    """USD of all items, at the batch's share of the list prices; None: no price is known."""

    usual: float | None = 0.0
    most: float | None = 0.0

    @property
    def text(self) -> str:
        """Return the cost for people.

        >>> BatchCost(usual=0.21, most=1.5).text, BatchCost(usual=None, most=None).text
        ('about $0.21, at most $1.50', 'price unknown')
        >>> BatchCost(usual=0.001, most=0.004).text, BatchCost(usual=0.001, most=0.02).text
        ('under $0.01', 'at most $0.02')
        """
        if self.usual is None or self.most is None:
            return "price unknown"
        usual, most = money(self.usual), money(self.most)
        about = f"about {usual}, " if self.usual >= 0.01 and usual != most else ""
        return f"{about}at most {most}" if self.most >= 0.01 else most


def cost_of(items: Sequence[TriageItem], prices: Batch) -> BatchCost:
    """Return the cost of these items at the prices of a batch; an unknown price stays unknown."""
    usual = most = 0.0
    for item in items:
        talk = item.conversation
        turns = [turn.text for turn in talk.turns if isinstance(turn, UserTurn)]
        texts = (talk.system, json.dumps(talk.answer_schema), *turns)
        prompt = sum(map(estimated_tokens, texts))
        fitting = (row for row in prices.prices if row.up_to is None or prompt <= row.up_to)
        if (price := next(fitting, None)) is None:
            return BatchCost(usual=None, most=None)
        answer = min(USUAL_ANSWER_TOKENS, talk.max_tokens)
        share = prices.share / 1_000_000
        usual += (prompt * price.input + answer * price.output) * share
        most += (prompt * price.input + talk.max_tokens * price.output) * share
    return BatchCost(usual=usual, most=most)


class Questions(Value):
    """Errors to ask about, and earlier words on others that still hold."""

    items: tuple[TriageItem, ...] = ()
    kept: tuple[Sighting, ...] = ()
    complaint: str = ""  # about the agent file


class Plan(Value):
    """Questions to submit, their cost, and the number beyond the budget."""

    items: tuple[TriageItem, ...] = ()
    cost: BatchCost = BatchCost()
    over: str = ""


def plan(items: tuple[TriageItem, ...], prices: Batch, left: float | None) -> Plan:
    """Take as many of the items, best first, as cannot cost more than `left` USD; None: all."""
    count = len(items)
    if left is not None:
        spent, count = 0.0, 0
        for item in items:
            most = cost_of((item,), prices).most
            if most is None or (spent := spent + most) > left:
                break
            count += 1
    over = ""
    if rest := len(items) - count:
        were = plural(rest, "error was", "errors were")
        budget = f"{money(left)} of cost_per_night are left"
        over = f"{were} not asked about at first sight: {budget}"
    return Plan(items=items[:count], cost=cost_of(items[:count], prices), over=over)
