"""From selected errors to the morning: causes, issues and drafts, lessons, the report."""

from collections.abc import Callable

from flows.act import publish_findings
from flows.learn import learn
from nightwatch_core.analysis.waves import first_wave, second_wave
from nightwatch_core.models import assignment
from nightwatch_core.models.errors import Selection
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import LearningResult, RunReport
from nightwatch_core.report import builder
from nightwatch_core.traces.placing import untraced
from tasks import analysis, code, errors, knowledge
from tasks.publish import watch_ci
from tasks.report import Progress, keep_report
from tasks.runner import (
    Attempt,
    all_of,
    as_subflow,
    attempt,
    attempt_and_go_on,
    each,
    stop_where_stopped,
)
from tasks.wiring.opening import OpenNight


def until_morning(
    night: OpenNight,
    report: RunReport,
    progress: Progress,
    selection: Selection,
    earlier: assignment.FollowUpInput,
    outcomes: Attempt[tuple[OwnItem, ...] | None],
    *,
    learns: bool = True,
) -> RunReport:
    """Find causes, publish, keep the report, learn; notifying the team is left to the caller.

    A key that is refused on the way stops the night when what was found is published and learned.
    """
    found = find_causes(night, selection, earlier, progress.on_findings)
    report = progress.update(builder.add_findings(report, found, outcomes.value or ()))

    acted = attempt_and_go_on(
        "publishing",
        *(publish_findings, night, report, outcomes.value),
        *(progress.on_receipt, progress.on_gate),
        otherwise=assignment.PublishResult(),
    )
    published = progress.published(acted.value)
    report = progress.update(keep_report(night, builder.add_publications(report, published)))

    learned = Attempt(LearningResult())
    if learns:
        given = {"night": night.id, **night.choices}
        learned = attempt("learning", as_subflow(learn), **given, otherwise=learned.value)
    report = progress.update(builder.add_learning(report, learned.value))

    nothing = assignment.CiResult()
    ci = attempt_and_go_on(
        "waiting for checks", watch_ci, night, report, published, otherwise=nothing
    )
    report = progress.update(builder.add_ci(report, ci.value))

    attempt("pruning records", code.prune_records, otherwise=None)
    stop_where_stopped(found.stopped, acted.stop, published.stopped, ci.stop)
    return builder.degrade(report, outcomes.trouble, acted.trouble, learned.trouble, ci.trouble)


def find_causes(
    night: OpenNight,
    selection: Selection,
    earlier: assignment.FollowUpInput,
    on_findings: Callable[[assignment.CauseFindings], assignment.CauseFindings],
) -> assignment.CauseFindings:
    """Trace, read code, recall, research, analyse: leaders, siblings, then what stayed weak.

    `on_findings` gets the findings after each wave. A wave in which the model stops answering is
    the last.
    """
    pinned = code.pin_code(night, selection)
    traced = errors.trace_groups(night, selection.kept, pinned)
    cases = errors.make_cases(traced, selection)
    code.read_ahead(night, pinned, cases)
    past = attempt(
        "following up earlier proposals",
        *(knowledge.follow_up, night, pinned, selection, earlier, cases),
        otherwise=assignment.PastOutcomes(),
    )
    memory = attempt(
        "recalling lessons",
        *(knowledge.recall_cases, night, pinned, cases, traced, past.value),
        traffic=earlier.traffic,
        otherwise=knowledge.nothing_recalled(cases, traced, past.value),
    )
    tonight = errors.narrow(night, selection, memory.value)
    prepared = all_of(each(analysis.research_case, tonight.memory.unknown, night, pinned))

    nobody = assignment.AnalystTonight()
    analyst = attempt("asking the model", analysis.ask_analyst, night, otherwise=nobody).value
    options = night.options
    waves = first_wave(options, night.begun, pinned, prepared, analyst.able)
    findings = assignment.CauseFindings(
        selection=tonight.selection,
        code=pinned,
        memory=tonight.memory,
        analyst=analyst,
        forecast=tonight.forecast,
        troubles=(pinned.trouble, past.trouble, untraced(traced), memory.trouble),
    )
    last = on_findings(findings.with_waves(analysis.explained(night, waves.leaders)))
    if not last.stopped:
        others = second_wave(options, waves, last.waves[0], analyst.able)
        last = on_findings(findings.with_waves(*last.waves, analysis.explained(night, others)))
    if not last.stopped:
        last = findings.with_waves(*analysis.looked_again(night, waves, last.waves, analyst.able))
    return on_findings(code.compared_with_base(night, last))
