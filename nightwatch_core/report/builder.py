"""The night's report, built up as the night goes on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from nightwatch_core.analysis.waves import total_usage
from nightwatch_core.code.diffs import file_diffs, joined_diff
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.suspects import only_named
from nightwatch_core.intake.selection import case_order
from nightwatch_core.memory.occurrences import night_date
from nightwatch_core.memory.prior_analyses import fallback_summary, with_priors
from nightwatch_core.memory.scoreboard import calibrated, scoreboard, with_drafts
from nightwatch_core.models import assignment
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.errors import DroppedGroup, Fetched, Selection
from nightwatch_core.models.knowledge import IgnoreAdvice, Pattern
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import GateResult, OwnItem
from nightwatch_core.models.report import (
    Accounts,
    Efficiency,
    LearningResult,
    Night,
    RunReport,
    WrittenLesson,
)
from nightwatch_core.patterns.unexplained import is_news
from nightwatch_core.publish.overlap import with_overlaps
from nightwatch_core.text.escaping import line
from nightwatch_core.text.plain_text import plural, shortened


def proofs_usage(report: RunReport, gates: tuple[tuple[str, GateResult], ...]) -> Usage:
    """Add up what proving fixes took, besides those that the report knows of already."""
    gates_before = {analysis.fingerprint: analysis.gate for analysis in report.analyses}
    return sum((gate.usage for name, gate in gates if gates_before.get(name) != gate), Usage())


MANY_UNREAD = 0.1  # share of records
FAILED_SHOWN, FAILED_NAME, FAILED_REASON = 2, 60, 120  # failed analyses; characters of each
ENDED = "the night ended before this error was analysed; the next run analyses it"
NOTHING_SELECTED = Selection()
NO_ADVICE = IgnoreAdvice()


def start_report(
    night: Night, options: NightOptions, banner: tuple[str, ...], now: datetime
) -> RunReport:
    """Start a report that says only which night it is, and what no night has read."""
    report = RunReport(night=night, options=options, banner=banner, started=now, finished=now)
    return degrade(report, night.left_out)


def add_errors(report: RunReport, fetched: Fetched, selection: Selection) -> RunReport:
    """Add what was fetched, what was dropped, and which ignore rules do not hold."""
    degraded = degrade(report, *fetched.partial, _unread(fetched))
    left_out = tuple(f"not read: {sentence}" for sentence in fetched.left_out)
    return degraded.model_copy(
        update={
            "errors": len(fetched.groups),
            "read_whole": fetched.whole,
            "traffic": fetched.traffic,
            "occurrences": sum(group.occurrences for group in fetched.groups),
            "dropped": selection.dropped,
            "complaints": (*report.complaints, *selection.rule_notes, *left_out),
            "rejects": fetched.rejects,
        }
    )


def follow_up_input(fetched: Fetched, own: tuple[OwnItem, ...] | None) -> assignment.FollowUpInput:
    """Make what following up takes; `own` is None where earlier proposals could not be read."""
    return assignment.FollowUpInput(
        own=own, whole=fetched.whole and not fetched.partial, traffic=fetched.traffic
    )


def add_findings(
    report: RunReport, findings: assignment.CauseFindings, outcomes: tuple[OwnItem, ...]
) -> RunReport:
    """Add what was known, found, and not found out; in the order errors were ranked."""
    code = findings.code
    fresh = tuple(
        with_priors(
            only_named(analysis, merged_before(code.pulls, analysis.case.commit or code.commit)),
            findings.memory.unknown,
        )
        for wave in findings.waves
        for analysis in wave.analyses
    )
    failures = tuple(failure for wave in findings.waves for failure in wave.failures)
    usage, errors = total_usage(fresh, failures), len(fresh) + len(failures)
    failed = failed_text(failures, errors)
    order = case_order(findings.selection)
    both = (*findings.memory.known, *fresh)
    ranked = tuple(sorted(both, key=lambda analysis: order(analysis.case)))
    degraded = degrade(report, *findings.troubles, failed, fallback_summary(fresh))
    complaints = (*report.complaints, *findings.memory.complaints, *findings.analyst.complaints)
    board = findings.memory.past.board
    by_experience = tuple(calibrated(analysis, board) for analysis in ranked) if board else ranked
    return degraded.model_copy(
        update={
            "commit": code.commit,
            "base": code.base,
            "commits": findings.commits,
            "analyses": by_experience,
            "failures": failures,
            "dropped": findings.selection.dropped,
            "complaints": complaints,
            "outcomes": outcomes,
            "followed": findings.memory.past.followed,
            "fixes": findings.memory.past.fixes,
            "rejections": findings.memory.past.rejections,
            "usage": usage + report.batch_triage.usage,
            "accounts": Accounts(
                usage=usage, errors=errors, efficiency=efficiency_of(usage, errors, fresh)
            ),
            "forecast": findings.forecast,
            "experience": findings.memory.past.known,
        }
    )


def failed_text(failures: Sequence[Failure], errors: int) -> str:
    """Return which of so many analyses failed and why, one line; empty where none did."""
    if not failures:
        return ""
    named = [
        f"{shortened(line(item.case.leader.short), FAILED_NAME)} "
        f"({shortened(line(item.reason), FAILED_REASON) or 'no reason given'})"
        for item in failures[:FAILED_SHOWN]
    ]
    more = len(failures) - len(named)
    named += [f"{more:,} more"] if more else []
    return (
        f"{len(failures):,} of {plural(errors, 'analysis', 'analyses')} failed: {'; '.join(named)}"
    )


def efficiency_of(usage: Usage, errors: int, analyses: Iterable[Analysis]) -> Efficiency | None:
    """Return the figures of so many errors; None where no model was asked."""
    if not (usage.calls and errors):
        return None
    made = tuple(analyses)
    return Efficiency(
        avg_iterations_per_error=usage.calls / errors,
        avg_tokens_per_error=usage.new_tokens / errors,
        avg_cost_per_error=None if usage.cost is None else usage.cost / errors,
        cache_hit_rate=usage.cache_hit_rate,
        tool_calls=sum(analysis.tool_calls for analysis in made),
        missed_calls=sum(analysis.missed_calls for analysis in made),
    )


def learning_result(
    report: RunReport,
    kept: tuple[WrittenLesson, ...],
    archived: tuple[str, ...],
    upkeep: assignment.UpdatedLessons,
    patterns: tuple[Pattern, ...] = (),
    advice: IgnoreAdvice = NO_ADVICE,
) -> LearningResult:
    """Sum up what the learning steps left behind."""
    on = night_date(report.night)
    count, troubles = Counter(lesson.what for lesson in kept), upkeep.troubles
    more = f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else ""
    return LearningResult(
        lessons=tuple(lesson.file for lesson in kept),
        new=count["new"],
        refreshed=count["refreshed"],
        reused=count["reused"],
        kept=count["kept"],
        unknown=count["unknown"],
        stale=tuple(update.file for update in report.followed if update.stale),
        archived=archived,
        patterns=tuple(pattern for pattern in patterns if is_news(pattern, on)),
        patterns_going_on=sum(not is_news(pattern, on) for pattern in patterns),
        suggestions=advice.suggestions,
        no_suggestion=advice.missing,
        scoreboard=with_drafts(scoreboard(upkeep.lessons), report.outcomes),
        failure=f"{troubles[0]}{more}" if troubles else "",
    )


def add_learning(report: RunReport, learned: LearningResult) -> RunReport:
    """Add what was learned."""
    return degrade(report.model_copy(update={"learned": learned}), learned.failure)


def degrade(report: RunReport, *troubles: str) -> RunReport:
    """Degrade the report by what went wrong; empty troubles do nothing."""
    reasons = tuple(trouble for trouble in troubles if trouble)
    if not reasons:
        return report
    status = "failed" if report.status == "failed" else "degraded"
    return report.model_copy(update={"status": status, "degraded": (*report.degraded, *reasons)})


def fail_report(
    report: RunReport, why: str, now: datetime, selection: Selection = NOTHING_SELECTED
) -> RunReport:
    """End a night without a usable answer: said so, never "0 errors".

    Groups of the `selection` that the night did not come to are listed with those not analysed.
    """
    seen = {group.fingerprint for case in report.cases for group in case.groups}
    left = (group for group in selection.kept if group.fingerprint not in seen)
    ended = (DroppedGroup(group=group, kind="ended", reason=ENDED) for group in left)
    update = {
        "status": "failed",
        "degraded": (*report.degraded, why),
        "finished": now,
        "dropped": (*report.dropped, *ended),
    }
    return report.model_copy(update=update)


def _unread(fetched: Fetched) -> str:
    """A tenth of the records unread makes an answer partial; single torn lines are only listed."""
    rejected = sum(reject.count for reject in fetched.rejects)
    read = sum(group.occurrences for group in fetched.groups)
    if rejected < MANY_UNREAD * (rejected + read) or not rejected:
        return ""
    return f"{rejected} of {plural(rejected + read, 'record')} could not be read"


# What was published, in a night's report.


def add_publications(report: RunReport, acted: assignment.PublishResult) -> RunReport:
    """Add what was published; an unknown end, or a right that is missing, degrades the night."""
    unknown = sum(receipt.status == "unknown" for receipt in acted.receipts)
    trouble = f"{plural(unknown, 'publication')} with an unknown result" if unknown else ""
    proofs = proofs_usage(report, acted.gates)
    update = {
        "receipts": acted.receipts,
        "skips": acted.skips,
        "usage": report.usage + proofs,
        "accounts": report.accounts.model_copy(update={"proofs": report.accounts.proofs + proofs}),
    }
    whole = with_gates(with_overlaps(report, acted.overlaps), acted.gates).model_copy(update=update)
    barred = [receipt for receipt in acted.receipts if receipt.barred]
    refused = f"{plural(len(barred), 'publication')} refused because of missing permissions"
    right = f"{refused}: {barred[0].reason}" if barred else ""
    return degrade(whole, *acted.troubles, trouble, right)


def add_ci(report: RunReport, result: assignment.CiResult) -> RunReport:
    """Add what the checks of its drafts said, and what was published after that."""
    receipts, usage = (*report.receipts, *result.receipts), report.usage + result.usage
    update = {"ci": result.ci, "receipts": receipts, "usage": usage}
    return with_gates(report, result.gates).model_copy(update=update)


def add_batch_triage(report: RunReport, triage: assignment.BatchTriage) -> RunReport:
    """Add the cost and troubles of batches; a batch without any answer degrades the night.

    The errors themselves come last: there may be thousands, and every step gets the report.
    """
    answered = sum(item.first_sight is not None for item in triage.judged)
    silent = f"none of {plural(len(triage.judged), 'error')} was triaged"
    light = triage.model_copy(update={"judged": (), "kept": (), "waiting": ()})
    update = {"batch_triage": light, "usage": report.usage + triage.usage}
    is_silent = triage.judged and not answered
    return degrade(report.model_copy(update=update), silent if is_silent else "")


# Results of running fixes, added to their findings.


def with_gates(report: RunReport, gates: Iterable[tuple[str, GateResult]]) -> RunReport:
    """Add to a report what was run of fixes, by the fingerprints of their errors."""
    results = dict(gates)
    analyses = tuple(
        _with_gate(analysis, results[analysis.fingerprint])
        if analysis.fingerprint in results
        else analysis
        for analysis in report.analyses
    )
    return report.model_copy(update={"analyses": analyses}) if results else report


def _with_gate(analysis: Analysis, gate: GateResult) -> Analysis:
    """The analysis, its fix being what passed: edits to be published are kept there alone."""
    attempt = gate.correction
    if attempt is not None and attempt.edits:
        # they are the fix, or a diff that nobody applies
        diff = joined_diff(file_diffs(attempt.edits)) if attempt.outcome == "failed" else ""
        attempt = attempt.model_copy(update={"edits": (), "diff": diff})
    kept = gate.model_copy(update={"edits": (), "correction": attempt})
    if not gate.edits:
        return analysis.model_copy(update={"gate": kept})
    read = tuple(dict.fromkeys((*analysis.read, *gate.read)))
    update = {"gate": kept, "fix": gate.edits, "changes": gate.changes, "read": read}
    return analysis.model_copy(update=update)
