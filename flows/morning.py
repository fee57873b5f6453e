"""From selected errors to the morning: causes, issues and drafts, lessons, the report."""

from collections.abc import Callable
from typing import Any

from flows.act import publish_findings
from flows.learn import learn
from nightwatch_core.analysis.waves import first_wave, second_wave
from nightwatch_core.models import assignment
from nightwatch_core.models.errors import Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.models.report import LearningResult, Night, RunReport
from nightwatch_core.report import builder
from nightwatch_core.traces.placing import untraced
from tasks import analysis, code, errors, knowledge
from tasks.publish import watch_ci
from tasks.report import Progress, keep_report
from tasks.runner import Attempt, all_of, attempt, attempt_and_go_on, each, stop_where_stopped


def until_morning(
    report: RunReport,
    progress: Progress,
    selection: Selection,
    earlier: assignment.FollowUpInput,
    outcomes: Attempt[tuple[OwnItem, ...] | None],
    *,
    learns: bool = True,
    **choices: Any,
) -> RunReport:
    """Find causes, publish, keep the report, learn; notifying the team is left to the caller.

    A key that is refused on the way stops the night when what was found is published and learned.
    """
    options, night = report.options, report.night
    found = find_causes(options, night, selection, earlier, progress.on_findings)
    report = progress.update(builder.add_findings(report, found, outcomes.value or ()))

    acted = attempt_and_go_on(
        "publishing",
        *(publish_findings, report, outcomes.value),
        *(progress.on_receipt, progress.on_gate),
        otherwise=assignment.PublishResult(),
    )
    published = progress.published(acted.value)
    report = progress.update(keep_report(builder.add_publications(report, published)))

    learned = Attempt(LearningResult())
    if learns:
        learned = attempt("learning", learn, night=night.id, **choices, otherwise=learned.value)
    report = progress.update(builder.add_learning(report, learned.value))

    nothing = assignment.CiResult()
    ci = attempt_and_go_on("waiting for checks", watch_ci, report, published, otherwise=nothing)
    report = progress.update(builder.add_ci(report, ci.value))

    attempt("pruning records", code.prune_records, otherwise=None)
    stop_where_stopped(found.stopped, acted.stop, published.stopped, ci.stop)
    return builder.degrade(report, outcomes.trouble, acted.trouble, learned.trouble, ci.trouble)


def find_causes(
    options: NightOptions,
    night: Night,
    selection: Selection,
    earlier: assignment.FollowUpInput,
    on_findings: Callable[[assignment.CauseFindings], assignment.CauseFindings],
) -> assignment.CauseFindings:
    """Trace, read code, recall, research, analyse: leaders, siblings, then what stayed weak.

    `on_findings` gets the findings after each wave. A wave in which the model stops answering is
    the last.
    """
    pinned = code.pin_code(options, night, selection)
    traced = errors.trace_groups(options, selection.kept, pinned)
    cases = errors.make_cases(traced, selection)
    code.read_ahead(options, pinned, cases)
    past = attempt(
        "following up earlier proposals",
        *(knowledge.follow_up, options, night, pinned, selection, earlier, cases),
        otherwise=assignment.PastOutcomes(),
    )
    memory = attempt(
        "recalling lessons",
        *(knowledge.recall_cases, options, night, pinned, cases, traced, past.value),
        traffic=earlier.traffic,
        otherwise=knowledge.nothing_recalled(cases, traced, past.value),
    )
    tonight = errors.narrow(options, selection, memory.value)
    prepared = all_of(each(analysis.research_case, tonight.memory.unknown, options, pinned))

    nobody = assignment.AnalystTonight()
    analyst = attempt("asking the model", analysis.ask_analyst, options, otherwise=nobody).value
    waves = first_wave(options, night, pinned, prepared, analyst.able)
    findings = assignment.CauseFindings(
        selection=tonight.selection,
        code=pinned,
        memory=tonight.memory,
        analyst=analyst,
        forecast=tonight.forecast,
        troubles=(pinned.trouble, past.trouble, untraced(traced), memory.trouble),
    )
    last = on_findings(findings.with_waves(analysis.explained(options, waves.leaders)))
    if not last.stopped:
        others = second_wave(options, waves, last.waves[0], analyst.able)
        last = on_findings(findings.with_waves(*last.waves, analysis.explained(options, others)))
    if not last.stopped:
        last = findings.with_waves(*analysis.looked_again(options, waves, last.waves, analyst.able))
    return on_findings(code.compared_with_base(options, last))
