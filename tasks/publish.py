"""Plan issues and drafts, test fixes, publish, and watch the checks of drafts."""

import json
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from prefect.context import TaskRunContext
from pydantic import ValidationError

from nightwatch_core.analysis.analyst import RULES
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import CiResult, PublishResult
from nightwatch_core.models.code import CiRun, OtherPull
from nightwatch_core.models.proposals import (
    Answer,
    DraftPull,
    GateResult,
    OwnItem,
    Proposal,
    PublishPlan,
    Receipt,
    Skip,
    not_run,
)
from nightwatch_core.models.report import RunReport
from nightwatch_core.proof.asking import ProofBriefing
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.proving import mended, proof_allowance, proved, story_allowance
from nightwatch_core.publish import answers
from nightwatch_core.publish import ci as ci_watch
from nightwatch_core.publish import plan as proposals
from nightwatch_core.publish.check_history import CheckWait, first_check_wait
from nightwatch_core.publish.ci import Hands, Waiting, Watched
from nightwatch_core.publish.overlap import Overlaps, overlaps, paths_of_fixes, with_overlaps
from nightwatch_core.report.builder import proofs_usage, with_gates
from tasks.code import bare_reader_of, reader_of
from tasks.progress import tell
from tasks.runner import Attempt, attempt, digest, do_not_keep, step
from tasks.wiring.opening import OpenNight
from tasks.workers import on_worker

log = logging.getLogger(__name__)
MORE_TRIES = 3  # fixes that are run a night beyond the drafts it may make
_SHAPING = (
    *("model", "verify", "prepare", "prepare_network", "sandbox_folders"),
    *("gate_seconds", "reproduce", "story_cost"),
)
ENOUGH = "the night's limit of tested fixes is reached: the next night tests this one"
CI_MINUTES = 15
LOOK_BACK = timedelta(days=90)


@step("plan issues")
def plan_issues(
    night: OpenNight,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    drafts: tuple[Skip, ...] = (),
) -> PublishPlan:
    """Issues to open, to comment on, to reopen; everything else with its reason.

    `drafts` are the drafts that will not be made: an issue says why.

    Raises `GiveUp` where our issues could not be read: nothing is better than twice.
    """
    if own is None:
        raise GiveUp("nothing was published: earlier issues and pull requests could not be read")
    about = (report.commit, report.night.id, drafts, report.followed)
    made = (report.analyses, own, night.options, *about)
    return proposals.plan_issues(*made)


@step("publish", "{proposal.kind}")
def publish(proposal: Proposal, night: OpenNight) -> Receipt:
    """Publish once, however often this runs: the ledger behind the outbox remembers."""
    tell(f"publishing: {getattr(proposal, 'title', proposal.kind)}")
    receipt = night.publishing.outbox(night.begun).publish(proposal)
    log.info("%s %s: %s", receipt.kind, receipt.status, receipt.title or receipt.reason)
    return receipt


# Fixes: which become draft pull requests.


@step("plan pull requests")
def plan_pulls(
    night: OpenNight,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    receipts: tuple[Receipt, ...],
    *,
    to_run: bool = False,
) -> PublishPlan:
    """Fixes that are new, allowed, applicable and parse; everything else with its reason.

    `to_run` asks for those that the gate is to run next.
    """
    base = report.base or report.commit
    if base is None or own is None:
        return PublishPlan()
    tree = bare_reader_of(night, base)
    return proposals.plan_pulls(
        *(report.analyses, own, receipts, night.options, base),
        *(tree.read_file, report.night.id, tree.paths()),
        search=tree.search,
        to_run=to_run,
    )


@step("plan answers")
def plan_answers(
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    receipts: tuple[Receipt, ...],
    skips: tuple[Skip, ...],
) -> tuple[Answer, ...]:
    """Comments for people who rejected a draft: what became of it."""
    return answers.plan_answers(report, own, receipts, skips) if own is not None else ()


# The gate: fixes are run in a sandbox before anything is said of them.


def new_cache(night: OpenNight, mark: str) -> NightCache:
    """Return what a night keeps of projects while it tests fixes; `mark` is new every night."""
    return NightCache(night.reading.projects, mark)


def _fix_key(draft: DraftPull, report: RunReport, *more: str) -> str:
    options, base = report.options, report.base or report.commit
    shaping = (str(getattr(options, name)) for name in _SHAPING)
    at = base.sha if base else ""
    return f"{report.night.id}/{digest(draft.fingerprint, draft.fix, at, *shaping, *more)}"


def gate_key(_: TaskRunContext, given: dict[str, Any]) -> str:
    """Name a proof by its night, the fix, its base and the options that shape it."""
    return f"gate/{_fix_key(given['draft'], given['report'])}"


@step("gate", "{draft.title}", key=gate_key)
def gate(
    draft: DraftPull,
    night: OpenNight,
    analysis: Analysis,
    report: RunReport,
    cache: NightCache,
    used: Usage,
) -> GateResult:
    """Prove a draft's change as far as it can be run; `used` is what the night has taken.

    What another worker has settled before the night was interrupted is not run and paid for again.
    """
    key = f"proofs/{_fix_key(draft, report)}"
    try:
        return GateResult.model_validate(json.loads(night.records.get(key) or ""))
    except (ValidationError, ValueError):
        pass  # not there, or written by an older version
    result, cache.silent = on_worker(prove, night, draft, analysis, report, cache, used)
    if _is_settled(result):
        night.records.put(key, json.dumps(result.model_dump(mode="json")))
    else:
        do_not_keep()
    return result


def _is_settled(result: GateResult) -> bool:
    """Tell whether running it again would bring the same: this machine had all that it takes."""
    is_tried = result.correction is None or result.correction.outcome != "not tried"
    return result.outcome != "not run" and is_tried


def prove(
    night: OpenNight,
    draft: DraftPull,
    analysis: Analysis,
    report: RunReport,
    cache: NightCache,
    used: Usage,
) -> tuple[GateResult, str]:
    """Prove a change in this process; say, too, why the model answers no more."""
    tell(f"testing: {draft.title}")
    briefing = briefing_for(night, draft, analysis, report, cache, used)
    none = not_run("no sandbox", "no sandbox is available")
    return proved(briefing) if briefing else none, cache.silent


def briefing_for(
    night: OpenNight,
    draft: DraftPull,
    analysis: Analysis,
    report: RunReport,
    cache: NightCache,
    used: Usage,
) -> ProofBriefing | None:
    """Return the briefing for proving a draft; None without a sandbox."""
    options, base, ports = night.options, report.base or report.commit, night.reading
    if ports.sandbox is None or base is None:
        return None
    failing = analysis.case.commit or report.commit or base
    cache.documents = cache.documents or ports.projects
    return ProofBriefing(
        draft=draft,
        analysis=analysis,
        options=options,
        base=bare_reader_of(night, base),
        failing=bare_reader_of(night, failing),
        shown=reader_of(night, base),
        sandbox=ports.sandbox,
        cache=cache,
        clock=ports.clock,
        allowance=proof_allowance(analysis, options, used),
        story=story_allowance(options, used),
        model=None if options.model == RULES else ports.model,
        fence=report.night.fence,
    )


def through_the_gate(
    night: OpenNight,
    report: RunReport,
    own: tuple[OwnItem, ...] | None,
    cache: NightCache,
    receipts: tuple[Receipt, ...] = (),
    gates: tuple[tuple[str, GateResult], ...] = (),
    on_result: Callable[[str, GateResult], object] = lambda _name, _gate: None,
) -> tuple[tuple[str, GateResult], ...]:
    """Run every fix that would be a draft now; where one does not pass, the next in line.

    Returns `gates` with the new results, each of which `on_result` gets. What was run before is not
    run again. `cache.silent` says why the model answers no more.
    """
    options, base = night.options, report.base or report.commit
    if not options.gate or base is None or own is None or night.reading.sandbox is None:
        return gates
    done, most = dict(gates), options.max_pull_requests + MORE_TRIES
    while True:
        now = with_gates(report, tuple(done.items()))
        plan = plan_pulls(night, now, own, receipts, to_run=True)
        drafts = (proposal for proposal in plan.proposals if isinstance(proposal, DraftPull))
        draft = next((draft for draft in drafts if draft.fingerprint not in done), None)
        if draft is None:
            return tuple(done.items())
        tried = sum(item.outcome != "not run" for item in done.values())
        late = not_run("enough", ENOUGH)
        analysis = next(item for item in now.analyses if item.fingerprint == draft.fingerprint)
        used = report.usage + proofs_usage(report, tuple(done.items()))
        result = _tried(draft, night, analysis, now, cache, used) if tried < most else late
        done[draft.fingerprint] = result
        on_result(draft.fingerprint, result)


def _tried(
    draft: DraftPull,
    night: OpenNight,
    analysis: Analysis,
    report: RunReport,
    cache: NightCache,
    used: Usage,
) -> GateResult:
    """Return a proof's result, also of an interrupted one.

    What passed before in the same words is not run and paid for again.
    """
    before = analysis.gate
    if before and (before.outcome, before.fix) == ("passed", draft.fix):
        return before
    try:
        return gate(draft, night, analysis, report, cache, used)
    except NightWatchError as trouble:
        log.warning("proving %s: %s", draft.title, trouble)
        if isinstance(trouble, StopTheNight):
            cache.silent = str(trouble)
        left = not_run("trouble", str(trouble))
        return left.model_copy(update={"fix": draft.fix, "usage": trouble.usage or Usage()})


def close_sandbox(night: OpenNight) -> None:
    """Delete what was laid out."""
    place = night.reading.sandbox
    if place is not None:
        place.close()


# The checks of the night's drafts: waited for together, mended once, and said.


@step("read checks")
def read_ci(night: OpenNight, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
    """Return the CI runs of our drafts."""
    return night.reading.tracker.ci(numbers)


def mend_key(_: TaskRunContext, given: dict[str, Any]) -> str:
    """Name a second attempt by its first one, and what the checks said of that."""
    watched: Watched = given["watched"]
    return f"gate/{_fix_key(watched.draft, given['report'], watched.run.model_dump_json())}"


@step("mend after checks", "{watched.name}", key=mend_key)
def mend(
    watched: Watched, night: OpenNight, analysis: Analysis, report: RunReport, cache: NightCache
) -> GateResult:
    """Make another attempt at a draft's fix."""
    result = on_worker(mend_here, night, watched, analysis, report, cache)
    if not _is_settled(result):
        do_not_keep()
    return result


def mend_here(
    night: OpenNight, watched: Watched, analysis: Analysis, report: RunReport, cache: NightCache
) -> GateResult:
    """Try to mend a fix in this process."""
    briefing = briefing_for(night, watched.draft, analysis, report, cache, report.usage)
    none = not_run("no sandbox", "no sandbox is available")
    return mended(briefing, watched.run) if briefing and night.options.gate else none


def watch_ci(night: OpenNight, report: RunReport, acted: PublishResult) -> CiResult:
    """Wait for the checks of tonight's drafts, as long as the options say; then say how they stand.

    Drafts of earlier nights whose checks failed since get one comment.
    """
    base = report.base or report.commit
    drafts = ci_watch.watched_drafts(acted.drafts, acted.receipts, night.options)
    words = ci_watch.carried(report)
    if base is None or not (drafts or words):
        return CiResult()
    tree = bare_reader_of(night, base)
    wait = CheckWait(0.0, "")
    if drafts:
        configured = bool(ci_watch.ci_started(tree.paths(), tree.read_file, base.branch))
        wait = _first_check_wait(night, report, configured=configured)
    waiting = Waiting(report, drafts, _hands(night, report, tree.read_file), wait)
    for word in words:
        waiting.say(word)
    if not drafts:
        return CiResult(receipts=tuple(waiting.receipts))
    try:
        return waiting.until_the_end(CI_MINUTES)
    finally:
        close_sandbox(night)


def _first_check_wait(night: OpenNight, report: RunReport, *, configured: bool) -> CheckWait:
    """Return how long to wait for a first check; without earlier reports as for a first night."""

    def remembered() -> CheckWait:
        earlier = night.publishing.nights.reports()
        return first_check_wait(report, earlier, configured=configured)

    otherwise = first_check_wait(report, (), configured=configured)
    return attempt("reading the checks of earlier drafts", remembered, otherwise=otherwise).value


def _hands(night: OpenNight, report: RunReport, read: ci_watch.Read) -> Hands:
    cache = new_cache(night, report.night.fence)
    none = tuple[CiRun, ...]()

    def look(numbers: tuple[int, ...]) -> tuple[tuple[CiRun, ...], str]:
        now = attempt("reading checks", read_ci, night, numbers, otherwise=none)
        return now.value, now.trouble

    def mended_once(watched: Watched, analysis: Analysis) -> tuple[GateResult | None, str]:
        nothing: GateResult | None = None
        arguments = (watched, night, analysis, report, cache)
        tried = attempt("mending a draft", mend, *arguments, otherwise=nothing)
        is_here = tried.value is not None and tried.value.kind != "no sandbox"
        return tried.value if is_here else None, tried.trouble

    return Hands(
        look=look,
        mend=mended_once,
        publish=lambda proposal: publish(proposal, night),
        read=read,
        pause=night.adapters.pause,
    )


# Other pull requests beside ours: whether somebody has made a fix already, or turned it down.


@step("read other pull requests")
def read_other_pulls(
    night: OpenNight, paths: tuple[str, ...], since: datetime
) -> tuple[OtherPull, ...]:
    """List everybody's pull requests that change one of these files."""
    return night.reading.tracker.pulls_changing(paths, since)


def with_overlapping_pulls(
    night: OpenNight, report: RunReport, own: tuple[OwnItem, ...] | None
) -> tuple[RunReport, Attempt[Overlaps]]:
    """Add the pull requests that its fixes overlap with to a report; returns both."""
    if own is None or not paths_of_fixes(report):
        return report, Attempt(())
    nothing: Overlaps = ()
    what = "comparing fixes with other pull requests"
    overlaps_found = attempt(what, _compared, night, report, own, otherwise=nothing)
    return with_overlaps(report, overlaps_found.value), overlaps_found


def _compared(night: OpenNight, report: RunReport, own: tuple[OwnItem, ...]) -> Overlaps:
    options, base = night.options, report.base or report.commit
    since = report.night.window.until - LOOK_BACK
    pulls = read_other_pulls(night, paths_of_fixes(report), since)
    if base is None or not pulls:
        return ()
    read = bare_reader_of(night, base).read_file
    found = (
        (analysis.fingerprint, overlaps(analysis, pulls, own, options, base.repository, read))
        for analysis in report.analyses
    )
    return tuple((name, overlaps_found) for name, overlaps_found in found if overlaps_found)
