"""The night's report, built up as the night goes on."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from nightwatch_core.analysis.waves import total_usage
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.suspects import only_named
from nightwatch_core.memory.prior_analyses import fallback_summary, with_priors
from nightwatch_core.memory.scoreboard import calibrated, scoreboard, with_drafts
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.assignment import (
    BatchTriage,
    CauseFindings,
    CiResult,
    CodeTonight,
    FollowUpInput,
    PublishResult,
    UpdatedLessons,
)
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.errors import DroppedGroup, Fetched, Selection
from nightwatch_core.models.knowledge import IgnoreSuggestion, Pattern
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import GateResult, OwnItem, Receipt
from nightwatch_core.models.report import (
    Accounts,
    LearningResult,
    Night,
    RunReport,
    SecondLooks,
    Status,
    WrittenLesson,
)
from nightwatch_core.models.value import Value
from nightwatch_core.publish.finding_parts import with_gates
from nightwatch_core.publish.overlap import with_overlaps
from nightwatch_core.report.publications import NAMES, PATCH, PUBLISHED, name_of
from nightwatch_core.text.plain_text import plural

# What a night took, computed from its verdicts and failures.

SUREST_FIRST = ("high", "medium", "low")
NOTHING_READ = CodeReads()


def accounts(
    analyses: tuple[Analysis, ...],
    failures: tuple[Failure, ...] = (),
    before: CodeReads = NOTHING_READ,
) -> Accounts:
    """Return the night's accounts; analyses that only reuse a lesson are told by their ending.

    `before` is what was read of the code before the analyses.
    """
    fresh = tuple(analysis for analysis in analyses if analysis.ending.kind != "reused")
    failing = sum((failure.usage for failure in failures), Usage())
    spent = sum((item.usage for item in fresh), failing)
    errors, models = len(fresh) + len(failures), _models(fresh)
    reads = sum((item.code_reads for item in fresh if item.code_reads), before)
    known = (analysis for analysis in analyses if analysis.has_cause)
    helped = sum(item.ending.kind == "reused" or item.recalled > 0 for item in known)
    led = [item.iterations for item in fresh if item.iterations]
    return Accounts(
        usage=spent,
        models=models,
        priced=min(filter(None, (item.usage.priced for item in fresh)), default=""),
        analysed=len(fresh),
        failed=len(failures),
        reused=len(analyses) - len(fresh),
        prompt_cache_rate=_share(spent.cache_read_tokens, spent.prompt_tokens),
        code_cache_rate=_share(reads.hits, reads.total),
        knowledge_rate=_share(helped, len(analyses)),
        missed=sum(item.missed for item in fresh),
        truncated=sum(item.truncated for item in fresh),
        iterations_per_error=_share(sum(led), len(led)),
        tokens_per_error=_share(spent.new_tokens, errors),
        cost_per_error=None if spent.cost is None else _share(spent.cost, errors),
        second_looks=second_looks(fresh),
    )


def second_looks(analyses: tuple[Analysis, ...]) -> SecondLooks:
    """Return the second looks and their effect."""
    looks = [analysis.second_look for analysis in analyses if analysis.second_look]
    made = [look for look in looks if not look.skipped]
    kept = [look for look in made if look.kept == "second"]
    return SecondLooks(
        wanted=len(looks),
        made=len(made),
        kept=len(kept),
        surer=sum(_is_surer(look.confidence) for look in kept),
        usage=sum((look.usage for look in made), Usage()),
    )


def _models(analyses: tuple[Analysis, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(analysis.model for analysis in analyses if analysis.model))


def _is_surer(confidence: tuple[str, ...]) -> bool:
    places = [SUREST_FIRST.index(item) for item in confidence]
    return len(places) > 1 and places[-1] < places[0]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def proofs_usage(report: RunReport, gates: tuple[tuple[str, GateResult], ...]) -> Usage:
    """Add up what proving fixes took, besides those that the report knows of already."""
    known = {analysis.fingerprint: analysis.gate for analysis in report.analyses}
    return sum((gate.usage for name, gate in gates if known.get(name) != gate), Usage())


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
    left_out = tuple(f"left out of what was read: {sentence}" for sentence in fetched.left_out)
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
    complaints = (*report.complaints, *findings.memory.complaints, *findings.analyst.complaints)
    board = findings.memory.past.board
    by_experience = tuple(calibrated(analysis, board) for analysis in ranked) if board else ranked
    return degraded.model_copy(
        update={
            "commit": findings.code.commit,
            "base": findings.code.base,
            "commits": findings.commits,
            "analyses": by_experience,
            "failures": failures,
            "dropped": findings.selection.dropped,
            "complaints": complaints,
            "outcomes": outcomes,
            "followed": findings.memory.past.followed,
            "usage": total_usage(fresh, failures) + report.batch_triage.usage,
            "code_reads": code_reads(fresh, findings.code_reads),
            "accounts": accounts((*findings.memory.known, *fresh), failures, findings.code_reads),
        }
    )


def _with_suspects(analysis: Analysis, code: CodeTonight) -> Analysis:
    at = analysis.case.commit or code.commit
    return only_named(analysis, merged_before(code.pulls, at))


def with_waves(report: RunReport, findings: CauseFindings) -> RunReport:
    """Add what the waves brought so far to the report of a night that may end with them."""
    return add_findings(report, findings, report.outcomes) if findings.waves else report


def code_reads(
    analyses: tuple[Analysis, ...], before: CodeReads = NOTHING_READ
) -> CodeReads | None:
    """Sum up where what was read of the code came from; None where nobody counted.

    `before` is what was read before the analyses.
    """
    counted = [analysis.code_reads for analysis in analyses if analysis.code_reads]
    counted += [before] if before != NOTHING_READ else []
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
    count = Counter(lesson.what for lesson in kept)
    return LearningResult(
        lessons=tuple(lesson.file for lesson in kept),
        new=count["new"],
        refreshed=count["refreshed"],
        reused=count["reused"],
        unknown=count["unknown"],
        stale=tuple(update.file for update in report.followed if update.stale),
        archived=archived,
        patterns=patterns,
        suggestions=suggestions,
        scoreboard=with_drafts(scoreboard(upkeep.lessons), report.outcomes),
        failure=_few(upkeep.troubles),
    )


def add_learning(report: RunReport, learned: LearningResult) -> RunReport:
    """Add what was learned."""
    return degrade(report.model_copy(update={"learned": learned}), learned.failure)


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
    analysed = (analysis.case for analysis in report.analyses)
    cases = (*analysed, *(failure.case for failure in report.failures))
    seen = {group.fingerprint for case in cases for group in case.groups}
    seen |= {group.group.fingerprint for group in report.dropped}
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


def _few(troubles: tuple[str, ...]) -> str:
    """The first of several troubles, and how many more there were; empty for none."""
    if not troubles:
        return ""
    return troubles[0] + (f" (and {len(troubles) - 1} more)" if len(troubles) > 1 else "")


def _ranked(analyses: tuple[Analysis, ...], findings: CauseFindings) -> tuple[Analysis, ...]:
    place = {group.fingerprint: at for at, group in enumerate(findings.selection.kept)}
    return tuple(sorted(analyses, key=lambda a: place.get(a.fingerprint, len(place))))


# What was published, in a night's report.


def add_publications(report: RunReport, acted: PublishResult) -> RunReport:
    """Add what was published; an unknown end, or a right that is missing, degrades the night."""
    unknown = sum(receipt.status == "unknown" for receipt in acted.receipts)
    trouble = f"{plural(unknown, 'publication')} with an unknown end" if unknown else ""
    proofs = proofs_usage(report, acted.gates)
    update = {
        "receipts": acted.receipts,
        "skips": acted.skips,
        "usage": report.usage + proofs,
        "accounts": report.accounts.model_copy(update={"proofs": report.accounts.proofs + proofs}),
    }
    told = with_gates(with_overlaps(report, acted.overlaps), acted.gates).model_copy(update=update)
    return degrade(told, *acted.troubles, trouble, _barred(acted.receipts))


def add_ci(report: RunReport, result: CiResult) -> RunReport:
    """Add what the checks of its drafts said, and what was published after that."""
    receipts, usage = (*report.receipts, *result.receipts), report.usage + result.usage
    update = {"ci": result.ci, "receipts": receipts, "usage": usage}
    return with_gates(report, result.gates).model_copy(update=update)


def _barred(receipts: tuple[Receipt, ...]) -> str:
    barred = [receipt for receipt in receipts if receipt.barred]
    if not barred:
        return ""
    return f"{plural(len(barred), 'publication')} refused for want of a right: {barred[0].reason}"


def add_batch_triage(report: RunReport, triage: BatchTriage) -> RunReport:
    """Add the cost and troubles of batches; a batch without any answer degrades the night.

    The errors themselves come last, with `with_batch_triage`: there may be thousands, and every
    step gets the report.
    """
    answered = sum(item.first_sight is not None for item in triage.judged)
    silent = f"none of {plural(len(triage.judged), 'error')} was judged at first sight"
    light = triage.model_copy(update={"judged": (), "kept": (), "waiting": ()})
    update = {"batch_triage": light, "usage": report.usage + triage.usage}
    return degrade(
        report.model_copy(update=update), silent if triage.judged and not answered else ""
    )


def with_batch_triage(report: RunReport, triage: BatchTriage) -> RunReport:
    """Put the whole batch triage into the report."""
    return report.model_copy(update={"batch_triage": triage})


# What a night is counted by: the numbers that its headline and its first lines rest on.

DRAFT = (NAMES["pull"], "")


class Tally(Value):
    """A night in numbers; what is not called a case is counted in error groups."""

    status: Status
    rejects: int = 0  # records that could not be read
    errors: int = 0  # fetched
    analysed: int = 0
    cases: int = 0  # that were analysed
    explained: int = 0  # cases with a root cause
    guessed: int = 0  # cases with a cause of low confidence, or without a word on it
    unknown: int = 0  # cases analysed without finding a cause
    known: int = 0  # explained on an earlier night
    waiting: int = 0  # looked at on an earlier night, without finding a cause
    failed: int = 0  # cases
    starved: int = 0  # cases for which no budget was left
    by_rules: int = 0  # cases that the rules analysed in a model's place
    ignored: int = 0
    beyond: int = 0  # over tonight's limits
    ended: int = 0  # the night ended before their turn
    judged: int = 0  # errors that a batch had been asked about, and that were collected tonight
    submitted: int = 0  # errors that a batch was asked about tonight
    fixes: int = 0
    pulls: int = 0
    draft: tuple[str, str] = DRAFT  # what each of these is called, and several of them
    issues: int = 0
    reopened: int = 0
    comments: int = 0
    verified: int = 0  # merged fixes, by what production says of them tonight
    without_effect: int = 0
    regressed: int = 0

    @property
    def seen_before(self) -> int:
        """Groups that needed no analysis."""
        return self.known + self.waiting

    @property
    def left_out(self) -> int:
        """Groups that nobody looked at tonight."""
        return self.ignored + self.beyond + self.ended


def tally(report: RunReport) -> Tally:
    """Count what a night did."""
    analysed, drops = fresh(report), Counter(group.kind for group in report.dropped)
    reused = [analysis for analysis in report.analyses if analysis.ending.kind == "reused"]
    verdicts = Counter(fate.kind for update in report.followed for fate in update.fates)
    starved = sum(failure.ending.kind == "budget gone" for failure in report.failures)
    unknown = sum(not item.has_cause for item in analysed)
    return Tally(
        status=report.status,
        rejects=len(report.rejects),
        errors=report.errors,
        analysed=_groups(analysed),
        cases=len(analysed),
        explained=explained(report),
        guessed=len(analysed) - unknown - explained(report),
        unknown=unknown,
        known=_groups(item for item in reused if item.has_cause),
        waiting=_groups(item for item in reused if not item.has_cause),
        failed=len(report.failures) - starved,
        starved=starved,
        by_rules=sum(item.by_fallback for item in analysed),
        ignored=drops["ignored"],
        beyond=drops["limit"],
        ended=drops["ended"],
        judged=sum(item.first_sight is not None for item in report.batch_triage.judged),
        submitted=sum(batch.errors for batch in report.batch_triage.submitted if batch.id),
        fixes=sum(item.has_fix for item in analysed),
        pulls=len(opened(report, "pull")),
        draft=(PATCH, "patches") if name_of("pull", report) == PATCH else DRAFT,
        issues=len(opened(report, "issue")),
        reopened=len(opened(report, "reopen")),
        comments=len(opened(report, "comment")),
        verified=verdicts["verified"],
        without_effect=verdicts["no effect"],
        regressed=verdicts["regressed"],
    )


def fresh(report: RunReport) -> tuple[Analysis, ...]:
    """Return tonight's analyses."""
    return tuple(analysis for analysis in report.analyses if analysis.ending.kind != "reused")


def known(report: RunReport) -> tuple[Analysis, ...]:
    """Return analyses reused from earlier nights."""
    return tuple(a for a in report.analyses if a.ending.kind == "reused" and a.has_cause)


def without_cause(report: RunReport) -> tuple[Analysis, ...]:
    """Errors of which nobody knows the cause: analysed tonight, or waiting for their turn."""
    return tuple(analysis for analysis in report.analyses if not analysis.has_cause)


def opened(report: RunReport, kind: str) -> tuple[Receipt, ...]:
    """Return the publications of a kind."""
    return tuple(r for r in report.receipts if r.kind == kind and r.status in PUBLISHED)


def explained(report: RunReport) -> int:
    """Fresh analyses that name a root cause with more than low confidence."""
    return sum(
        a.has_cause and bool(a.root_cause.strip()) and a.confidence != "low" for a in fresh(report)
    )


def _groups(verdicts: Iterable[Analysis | Failure]) -> int:
    return sum(len(verdict.case.groups) for verdict in verdicts)
