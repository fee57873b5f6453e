"""The gate: fixes are run in a sandbox before anything is said of them."""

from prefect import task

from nightwatch_core.analysis.model_wrappers import ResumableModel, TranscribedModel
from nightwatch_core.analysis.plans import RULES
from nightwatch_core.gate.bench import Known
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.gate import GateResult, not_run
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull, OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.models.usage import Allowance, Usage
from nightwatch_core.ports import Model
from nightwatch_core.proof.briefing import ProofBriefing
from nightwatch_core.proof.proving import proved
from nightwatch_core.publish.gate_section import with_gates
from tasks.code import bare_reader_of, reader_of
from tasks.fixes import plan_pulls
from tasks.futures import as_is
from tasks.records import records
from tasks.wiring import reading, transcripts

MORE_TRIES = 3  # fixes that are run a night beyond the drafts it may make
ENOUGH = "enough fixes were tried tonight: this one waits for the next night"


@task(name="gate", task_run_name="gate · {draft.title}")
def gate(draft: DraftPull, analysis: Analysis, report: RunReport, known: Known) -> GateResult:
    """Prove a draft's change as far as it can be run; what the base gave is `known` afterwards."""
    options, base = report.options, report.base or report.commit
    ports = reading(options)
    if ports.sandbox is None or base is None:
        return not_run("no sandbox", "no sandbox is at hand")
    failing = analysis.case.commit or report.commit or base
    return proved(
        ProofBriefing(
            draft=draft,
            analysis=analysis,
            options=options,
            base=bare_reader_of(options, base),
            failing=bare_reader_of(options, failing),
            shown=reader_of(options, base),
            sandbox=ports.sandbox,
            known=known,
            clock=ports.clock,
            allowance=_allowance(report),
            story=_story_allowance(report),
            model=_model(report),
            fence=report.night.fence,
        )
    )


def _model(report: RunReport) -> Model | None:
    """Who is asked for reproductions and corrections; an answer that was paid for is not again."""
    options, night = report.options, report.night.id
    if options.model == RULES or not (options.proof_budget or options.story_cost):
        return None
    transcribed = TranscribedModel(reading(options).model, transcripts(), night)
    return ResumableModel(transcribed, records(), f"turns/{night}/{options.model}")


def _allowance(report: RunReport) -> Allowance:
    """What may be used for one fix: its tokens, its USD, and what the night has left."""
    options = report.options
    used = sum((one.gate.usage for one in report.analyses if one.gate), report.usage)
    tokens = min(options.proof_budget, options.total_token_budget - used.new_tokens)
    return Allowance(
        iterations=options.max_iterations,
        tokens=max(0, tokens),
        cost=_least(options.cost_per_error, options.cost_per_night, used),
        seconds=options.seconds_per_error,
    )


def _story_allowance(report: RunReport) -> Allowance | None:
    """What a fix may take that is made in several steps; None where none is."""
    options = report.options
    if not options.story_cost:
        return None
    used = sum((one.gate.usage for one in report.analyses if one.gate), report.usage)
    tokens = min(options.token_budget_per_error, options.total_token_budget - used.new_tokens)
    return Allowance(
        iterations=options.max_iterations,
        tokens=max(0, tokens),
        cost=_least(options.story_cost, options.cost_per_night, used),
        seconds=options.seconds_per_error,
    )


def _least(an_error: float, a_night: float, used: Usage) -> float | None:
    """The lower of two caps on USD, 0 being none; None where there is none."""
    left = max(0.0, a_night - (used.cost or 0.0)) if a_night else None
    caps = [cap for cap in (an_error or None, left) if cap is not None]
    return min(caps, default=None)


def through_the_gate(
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    known: Known,
    receipts: tuple[Receipt, ...] = (),
    gates: tuple[tuple[str, GateResult], ...] = (),
) -> tuple[tuple[str, GateResult], ...]:
    """Run every fix that would be a draft now; where one does not pass, the next in line.

    Returns `gates` with what came of it. What was run before is not run again.
    """
    options, base = report.options, report.base or report.commit
    if not options.gate or base is None or own is None or reading(options).sandbox is None:
        return gates
    done, most = dict(gates), options.max_pull_requests + MORE_TRIES
    while True:
        now = with_gates(report, tuple(done.items()))
        plan = plan_pulls(options, now, own, receipts, to_run=True)
        drafts = (one for one in plan.proposals if isinstance(one, DraftPull))
        draft = next((one for one in drafts if one.fingerprint not in done), None)
        if draft is None:
            return tuple(done.items())
        tried = sum(one.outcome != "not run" for one in done.values())
        late = not_run("enough", ENOUGH)
        analysis = next(one for one in now.analyses if one.fingerprint == draft.fingerprint)
        done[draft.fingerprint] = (
            gate(as_is(draft), as_is(analysis), as_is(now), as_is(known)) if tried < most else late
        )


def close_sandbox(options: NightOptions) -> None:
    """Delete what was laid out."""
    place = reading(options).sandbox
    if place is not None:
        place.close()
