"""The night's report, built up as the night goes on."""

from collections import Counter
from datetime import datetime

from nightwatch_core.analysis.waves import total_usage
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.named_change import only_named
from nightwatch_core.memory.fallback import fallback_summary
from nightwatch_core.memory.outcomes.calibration import calibrated
from nightwatch_core.memory.outcomes.draft_rate import with_drafts
from nightwatch_core.memory.outcomes.scoreboard import scoreboard
from nightwatch_core.memory.prior_analyses import with_priors
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import (
    CauseFindings,
    CodeTonight,
    FollowUpInput,
    UpdatedLessons,
)
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.error import DroppedGroup, Fetched, Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.pattern import IgnoreSuggestion, Pattern
from nightwatch_core.models.proposal import OwnItem
from nightwatch_core.models.report import LearningResult, Night, RunReport, WrittenLesson
from nightwatch_core.report import accounting
from nightwatch_core.report.duplicates import duplicates

MANY_UNREAD = 0.1  # share of records
ENDED = "the night ended before it was analysed; the next run takes it up"
NOTHING_SELECTED = Selection()


def start_report(
    night: Night, options: NightOptions, banner: tuple[str, ...], now: datetime
) -> RunReport:
    """Start a report that says only which night it is, and what no night has read."""
    report = RunReport(night=night, options=options, banner=banner, started=now, finished=now)
    return degrade(report, night.left_out)


def add_errors(report: RunReport, fetched: Fetched, selection: Selection) -> RunReport:
    """Add what was fetched, what was dropped, and which ignore rules do not hold."""
    degraded = degrade(report, *fetched.partial, _unread(fetched))
    return degraded.model_copy(
        update={
            "errors": len(fetched.groups),
            "read_whole": fetched.whole,
            "traffic": fetched.traffic,
            "occurrences": sum(group.occurrences for group in fetched.groups),
            "dropped": selection.dropped,
            "complaints": (*report.complaints, *selection.told, *_left_out(fetched)),
            "rejects": fetched.rejects,
        }
    )


def _left_out(fetched: Fetched) -> tuple[str, ...]:
    return tuple(f"left out of what was read: {sentence}" for sentence in fetched.left_out)


def follow_up_input(fetched: Fetched, own: tuple[OwnItem, ...] | None) -> FollowUpInput:
    """Make what following up takes; `own` is None where earlier proposals could not be read."""
    return FollowUpInput(
        own=own, whole=fetched.whole and not fetched.partial, traffic=fetched.traffic
    )


def add_findings(
    report: RunReport, findings: CauseFindings, outcomes: tuple[OwnItem, ...]
) -> RunReport:
    """Add what was known, found, and not found out; in the order errors were ranked."""
    fresh = tuple(
        with_priors(_with_suspects(analysis, findings.code), findings.memory.unknown)
        for wave in findings.waves
        for analysis in wave.analyses
    )
    failures = tuple(failure for wave in findings.waves for failure in wave.failures)
    failed = f"{len(failures)} of {len(fresh) + len(failures)} analyses failed" if failures else ""
    ranked = _ranked((*findings.memory.known, *fresh), findings)
    degraded = degrade(report, *findings.troubles, failed, fallback_summary(fresh))
    return degraded.model_copy(
        update={
            "commit": findings.code.commit,
            "base": findings.code.base,
            "commits": findings.commits,
            "analyses": _by_experience(ranked, findings),
            "failures": failures,
            "dropped": findings.selection.dropped,
            "complaints": _complaints(report, findings),
            "outcomes": outcomes,
            "followed": findings.memory.past.followed,
            "usage": total_usage(fresh, failures) + report.long_tail.usage,
            "code_reads": code_reads(fresh, findings.code_reads),
            "accounts": accounting.accounts(
                (*findings.memory.known, *fresh), failures, findings.code_reads
            ),
        }
    )


def _with_suspects(analysis: Analysis, code: CodeTonight) -> Analysis:
    """Add the pull request of the commit that it suspects."""
    at = analysis.case.commit or code.commit
    return only_named(analysis, merged_before(code.pulls, at))


def with_waves(report: RunReport, findings: CauseFindings) -> RunReport:
    """Add what the waves brought so far to the report of a night that may end with them."""
    return add_findings(report, findings, report.outcomes) if findings.waves else report


def code_reads(
    analyses: tuple[Analysis, ...], before: CodeReads = accounting.NOTHING_READ
) -> CodeReads | None:
    """Sum up where what was read of the code came from; None where nobody counted.

    `before` is what was read before the analyses.
    """
    counted = [one.code_reads for one in analyses if one.code_reads]
    counted += [before] if before != accounting.NOTHING_READ else []
    return sum(counted, CodeReads()) if counted else None


def learning_result(
    report: RunReport,
    kept: tuple[WrittenLesson, ...],
    archived: tuple[str, ...],
    upkeep: UpdatedLessons,
    patterns: tuple[Pattern, ...] = (),
    suggestions: tuple[IgnoreSuggestion, ...] = (),
) -> LearningResult:
    """Sum up what the learning steps left behind."""
    count = Counter(one.what for one in kept)
    return LearningResult(
        lessons=tuple(one.file for one in kept),
        new=count["new"],
        refreshed=count["refreshed"],
        reused=count["reused"],
        unknown=count["unknown"],
        stale=tuple(one.file for one in report.followed if one.stale),
        archived=archived,
        patterns=patterns,
        suggestions=suggestions,
        scoreboard=with_drafts(scoreboard(upkeep.lessons), report.outcomes),
        duplicates=duplicates(report.analyses, upkeep.lessons),
        failure=_few(upkeep.troubles),
    )


def add_learning(report: RunReport, learned: LearningResult) -> RunReport:
    """Add what was learned, also about duplicates of what earlier nights taught."""
    counted = learned.duplicates or report.accounts.duplicates
    held = report.accounts.model_copy(update={"duplicates": counted})
    update = {"learned": learned, "accounts": held}
    return degrade(report.model_copy(update=update), learned.failure)


def finish_report(report: RunReport, now: datetime) -> RunReport:
    """Set the time the night ended."""
    return report.model_copy(update={"finished": now})


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
    analysed = (one.case for one in report.analyses)
    cases = (*analysed, *(one.case for one in report.failures))
    seen = {group.fingerprint for case in cases for group in case.groups}
    seen |= {one.group.fingerprint for one in report.dropped}
    left = (group for group in selection.kept if group.fingerprint not in seen)
    ended = (DroppedGroup(group=group, kind="ended", reason=ENDED) for group in left)
    update = {
        "status": "failed",
        "degraded": (*report.degraded, why),
        "finished": now,
        "dropped": (*report.dropped, *ended),
    }
    return report.model_copy(update=update)


def leave_untold(report: RunReport, trouble: str) -> RunReport:
    """Degrade a report of which the team could not be told; the next night tells it."""
    return degrade(report, trouble).model_copy(update={"untold": True})


def _unread(fetched: Fetched) -> str:
    """A tenth of the records unread makes an answer partial; single torn lines are only listed."""
    rejected = sum(reject.count for reject in fetched.rejects)
    read = sum(group.occurrences for group in fetched.groups)
    if rejected < MANY_UNREAD * (rejected + read) or not rejected:
        return ""
    return f"{rejected} of {rejected + read} records could not be read"


def _complaints(report: RunReport, findings: CauseFindings) -> tuple[str, ...]:
    """What was odd about knowledge, the model and the agent files."""
    return (*report.complaints, *findings.memory.complaints, *findings.analyst.complaints)


def _few(troubles: tuple[str, ...]) -> str:
    """The first of several troubles, and how many more there were; empty for none."""
    if not troubles:
        return ""
    return troubles[0] + (f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else "")


def _ranked(analyses: tuple[Analysis, ...], findings: CauseFindings) -> tuple[Analysis, ...]:
    place = {group.fingerprint: at for at, group in enumerate(findings.selection.kept)}
    return tuple(sorted(analyses, key=lambda a: place.get(a.fingerprint, len(place))))


def _by_experience(analyses: tuple[Analysis, ...], findings: CauseFindings) -> tuple[Analysis, ...]:
    """The analyses, their confidence seen in the light of how often as sure ones proved right."""
    board = findings.memory.past.board
    return tuple(calibrated(one, board) for one in analyses) if board else analyses
