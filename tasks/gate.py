"""The gate: fixes are run in a sandbox before anything is said of them."""

from prefect import task

from nightwatch_core.gate.bench import Known
from nightwatch_core.gate.gate import gated
from nightwatch_core.models.code import Commit
from nightwatch_core.models.gate import GateResult, not_run
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import DraftPull, OwnItem, Receipt
from nightwatch_core.models.report import RunReport
from nightwatch_core.publish.gate_section import with_gates
from tasks.code import bare_reader_of
from tasks.fixes import plan_pulls
from tasks.futures import as_is
from tasks.wiring import reading

MORE_TRIES = 3  # fixes that are run a night beyond the drafts it may make
ENOUGH = "enough fixes were tried tonight: this one waits for the next night"


@task(name="gate", task_run_name="gate · {draft.title}")
def gate(draft: DraftPull, options: NightOptions, base: Commit, known: Known) -> GateResult:
    """Run what can be run of a draft's change; what the base gave is `known` from then on."""
    place = reading(options).sandbox
    if place is None:
        return not_run("no sandbox", "no sandbox is at hand")
    return gated(draft, bare_reader_of(options, base), place, options, known)


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
        plan = plan_pulls(options, now, own, receipts)
        drafts = (one for one in plan.proposals if isinstance(one, DraftPull))
        draft = next((one for one in drafts if one.fingerprint not in done), None)
        if draft is None:
            return tuple(done.items())
        tried = sum(one.outcome != "not run" for one in done.values())
        late = not_run("enough", ENOUGH)
        came = gate(as_is(draft), options, base, as_is(known)) if tried < most else late
        done[draft.fingerprint] = came


def close_sandbox(options: NightOptions) -> None:
    """Delete what was laid out."""
    place = reading(options).sandbox
    if place is not None:
        place.close()
