"""The checks of the night's drafts: waited for together, mended once, and said."""

from prefect import task

from nightwatch_core.gate.bench import Known
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import CiResult, PublishResult
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposal import Proposal, Receipt
from nightwatch_core.models.pulls import CiRun
from nightwatch_core.models.report import RunReport
from nightwatch_core.proof.after_ci import mended
from nightwatch_core.publish import ci_watch
from nightwatch_core.publish.ci_of_branches import ci_started
from nightwatch_core.publish.ci_waiting import Hands, Waiting
from nightwatch_core.publish.ci_watch import Watched
from tasks.code import bare_reader_of
from tasks.dependencies import replacement
from tasks.futures import as_is, attempt
from tasks.gate import briefing_for, close_sandbox
from tasks.issues import publish
from tasks.policies import PATIENTLY
from tasks.wiring import reading
from tasks.wiring.pace import pace


@task(name="read checks", task_run_name="read checks", **PATIENTLY)
def read_ci(options: NightOptions, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
    """What runs on our drafts by now."""
    return reading(options).tracker.ci(numbers)


@task(name="mend after checks", task_run_name="mend after checks · #{one.number}")
def mend(one: Watched, analysis: Analysis, report: RunReport, known: Known) -> GateResult | None:
    """Another attempt at a draft's fix; None where nothing can be run here."""
    briefing = briefing_for(one.draft, analysis, report, known, report.usage)
    return mended(briefing, one.run) if briefing and report.options.gate else None


def watch_ci(report: RunReport, acted: PublishResult) -> CiResult:
    """Wait for the checks of tonight's drafts, as long as the options say; then say how they stand.

    Drafts of earlier nights whose checks failed meanwhile are told so, once.
    """
    options, base = report.options, report.base or report.commit
    drafts = ci_watch.watched_drafts(acted.drafts, acted.receipts, options)
    words = ci_watch.carried(report)
    if base is None or not (drafts or words):
        return CiResult()
    tree = bare_reader_of(options, base)
    starts = bool(drafts) and bool(ci_started(tree.paths(), tree.read_file, base.branch))
    waiting = Waiting(report, drafts, _hands(report, tree.read_file), starts=starts)
    for word in words:
        waiting.say(word)
    if not drafts or not options.ci_minutes:
        return CiResult(receipts=tuple(waiting.receipts))
    try:
        return waiting.until_the_end(options.ci_minutes)
    finally:
        close_sandbox(options)


def _hands(report: RunReport, read: ci_watch.Read) -> Hands:
    options, known = report.options, Known()
    clock, none = reading(options).clock, tuple[CiRun, ...]()
    began = clock.monotonic()

    def look(numbers: tuple[int, ...]) -> tuple[tuple[CiRun, ...], str]:
        now = attempt("reading checks", read_ci, options, numbers, otherwise=none)
        return now.value, now.trouble

    def mended_once(one: Watched, analysis: Analysis) -> tuple[GateResult | None, str]:
        nothing: GateResult | None = None
        told = (as_is(one), as_is(analysis), as_is(report), as_is(known))
        tried = attempt("mending a draft", mend, *told, otherwise=nothing)
        return tried.value, tried.trouble

    def say(proposal: Proposal) -> Receipt:
        return publish(as_is(proposal), options, report.night)

    return Hands(
        look=look,
        mend=mended_once,
        publish=say,
        read=read,
        # nobody is waited for where a test or a replay has put in who answers
        pause=(lambda _: None) if replacement() else pace().pause,
        elapsed=lambda: clock.monotonic() - began,
    )
