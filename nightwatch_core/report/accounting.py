"""What a night took, computed from its verdicts and failures."""

from collections import Counter

from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.gate import GateResult
from nightwatch_core.models.report import Accounts, Confidences, RunReport, SecondLooks
from nightwatch_core.models.usage import Usage
from nightwatch_core.report.duplicates import duplicates

SUREST_FIRST = ("high", "medium", "low")
NOTHING_READ = CodeReads()


def accounts(
    analyses: tuple[Analysis, ...],
    failures: tuple[Failure, ...] = (),
    before: CodeReads = NOTHING_READ,
) -> Accounts:
    """The night's accounts; analyses that only reuse a lesson are told by their ending.

    `before` is what was read of the code before the analyses.
    """
    fresh = tuple(one for one in analyses if one.ending.kind != "reused")
    failing = sum((one.usage for one in failures), Usage())
    spent = sum((one.usage for one in fresh), failing)
    errors, models = len(fresh) + len(failures), _models(fresh)
    reads = sum((one.code_reads for one in fresh if one.code_reads), before)
    known = (one for one in analyses if one.has_cause)
    helped = sum(one.ending.kind == "reused" or one.recalled > 0 for one in known)
    told = [one for analysis in fresh for one in analysis.handed]
    led = [one.iterations for one in fresh if one.iterations]
    return Accounts(
        usage=spent,
        models=models,
        priced=min(filter(None, (one.usage.priced for one in fresh)), default=""),
        analysed=len(fresh),
        failed=len(failures),
        reused=len(analyses) - len(fresh),
        fell_back=sum(one.by_fallback for one in fresh),
        prompt_cache_rate=_share(spent.cache_read_tokens, spent.prompt_tokens),
        code_cache_rate=_share(reads.hits, reads.total),
        knowledge_rate=_share(helped, len(analyses)),
        missed=sum(one.missed for one in fresh),
        truncated=sum(one.truncated for one in fresh),
        facts_told=len(told),
        facts_used=sum(bool(one.used) for one in told),
        iterations_per_error=_share(sum(led), len(led)),
        tokens_per_error=_share(spent.new_tokens, errors),
        cost_per_error=None if spent.cost is None else _share(spent.cost, errors),
        confidences=_confidences(analyses),
        second_looks=second_looks(fresh),
        duplicates=duplicates(fresh),
    )


def second_looks(analyses: tuple[Analysis, ...]) -> SecondLooks:
    """How often a weak verdict was looked at again, and what that changed."""
    looks = [one.second_look for one in analyses if one.second_look]
    made = [look for look in looks if not look.skipped]
    kept = [look for look in made if look.kept == "second"]
    return SecondLooks(
        wanted=len(looks),
        made=len(made),
        kept=len(kept),
        surer=sum(_is_surer(look.confidence) for look in kept),
        usage=sum((look.usage for look in made), Usage()),
    )


def _confidences(analyses: tuple[Analysis, ...]) -> Confidences:
    counted = Counter(one.confidence for one in analyses if one.has_cause)
    return Confidences(
        high=counted["high"],
        medium=counted["medium"],
        low=counted["low"],
        unknown=sum(not one.has_cause for one in analyses),
    )


def _models(analyses: tuple[Analysis, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.model for one in analyses if one.model))


def _is_surer(confidence: tuple[str, ...]) -> bool:
    places = [SUREST_FIRST.index(one) for one in confidence]
    return len(places) > 1 and places[-1] < places[0]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def proofs_usage(report: RunReport, gates: tuple[tuple[str, GateResult], ...]) -> Usage:
    """Add up what proving fixes took, besides those that the report knows of already."""
    known = {one.fingerprint: one.gate for one in report.analyses}
    return sum((gate.usage for name, gate in gates if known.get(name) != gate), Usage())
