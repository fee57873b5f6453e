"""Waves of analyses: leaders first, then siblings with the leader's finding."""

from collections.abc import Iterable

from nightwatch_core.analysis import limits, second_look
from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.analysis.limits import LEADER_LINE, OTHER_FINDINGS
from nightwatch_core.analysis.run_context import Gathered, facts_found, relevant_facts
from nightwatch_core.intake.cases import families
from nightwatch_core.models.analysis import Analysis, Failure, RunFact
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.assignment import (
    Assignment,
    CodeTonight,
    RecallResult,
    Traced,
    UnexplainedCase,
    WaveResult,
)
from nightwatch_core.models.code import CodeReads
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Family
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment


class Prepared(Value):
    """A case and everything gathered for it."""

    unknown: UnexplainedCase
    research: ResearchContext
    code_reads: CodeReads = CodeReads()  # by the research

    @property
    def fingerprint(self) -> str:
        """Return the case's name."""
        return self.unknown.case.fingerprint

    @property
    def gathered(self) -> Gathered:
        """Return the case and what was gathered, without what else is known of it."""
        return Gathered(self.unknown.case, self.research)


class Waves(Value):
    """The leaders' assignments, and the families to continue with."""

    night: Night
    code: CodeTonight
    prepared: tuple[Prepared, ...]
    families: tuple[Family, ...]
    leaders: tuple[Assignment, ...]
    tells: bool = False  # the analyst reads facts of other errors; the rules do not
    facts: tuple[RunFact, ...] = ()  # from verified findings of earlier waves


def first_wave(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    prepared: tuple[Prepared, ...],
    able: Capabilities | None = None,
) -> Waves:
    """Group the cases, the best ranked first, into families and assign the leaders.

    Every case gets its allowance by its rank (`able` is the model's, for what USD are worth); a
    leader for whom nothing is left waits for what the first wave leaves.
    """
    related = families(tuple(item.unknown.case for item in prepared))
    waves = Waves(
        night=night,
        code=code,
        prepared=prepared,
        families=related,
        leaders=(),
        tells=able is not None and not able.local,
    )
    shares = zip(prepared, split_budget(options, len(prepared), able=able), strict=True)
    by_name = {share.fingerprint: (share, allowance) for share, allowance in shares}
    leading = (by_name[family.leader.fingerprint] for family in related)
    leaders = tuple(
        assignment_of(waves, item, allowance) for item, allowance in leading if allowance.tokens > 0
    )
    return waves.model_copy(update={"leaders": leaders})


def second_wave(
    options: NightOptions, waves: Waves, first: WaveResult, able: Capabilities | None = None
) -> tuple[Assignment, ...]:
    """Assign all others: siblings told what their leader found, with what wave 1 left."""
    begun = {assignment.case.fingerprint for assignment in waves.leaders}
    analyses = {analysis.fingerprint: analysis for analysis in first.analyses}
    leader_of = {
        case.fingerprint: analyses.get(family.leader.fingerprint)
        for family in waves.families
        for case in family.siblings
    }
    waves = with_found(waves, first.analyses)
    waiting = tuple(item for item in waves.prepared if item.fingerprint not in begun)
    spent = total_usage(first.analyses, first.failures)
    allowances = split_budget(options, len(waiting), spent, able)
    return tuple(
        assignment_of(waves, item, allowance, leader_of.get(item.fingerprint))
        for item, allowance in zip(waiting, allowances, strict=True)
    )


def with_found(waves: Waves, analyses: Iterable[Analysis]) -> Waves:
    """Add the facts that verified findings teach."""
    found = facts_found(analyses) if waves.tells else ()
    return waves.model_copy(update={"facts": (*waves.facts, *found)})


def all_reads(
    traced: Iterable[Traced], memory: RecallResult, prepared: Iterable[Prepared], at_hand: CodeReads
) -> CodeReads:
    """Add up what was read of the code before the analyses."""
    counted = (
        *(item.code_reads for item in traced),
        *(memory.past.code_reads, memory.code_reads, at_hand),
        *(item.code_reads for item in prepared),
    )
    return sum(counted, CodeReads())


def total_usage(analyses: tuple[Analysis, ...], failures: tuple[Failure, ...] = ()) -> Usage:
    """Add up what all analyses have used, those that failed too."""
    usages = (*(failure.usage for failure in failures), *(analysis.usage for analysis in analyses))
    return sum(usages, Usage())


def leader_findings(leader: Analysis) -> tuple[str, ...]:
    """List for siblings the leader's finding, learnings, files examined and patterns seen.

    Finding and learnings are at most four lines of 200 characters; all lines together stay within
    1,500 characters.
    """
    learnings = (
        f"learned: {learning.fact} ({learning.path}:{learning.line})"
        if learning.path
        else f"learned: {learning.fact}"
        for learning in leader.learnings[: limits.LEADER_LINES - 1]
    )
    lines = (finding_line(leader), *(_line(learning) for learning in learnings))
    tags = _line(", ".join(leader.tags))
    patterns = f"patterns seen: {tags}" if tags else ""
    left = limits.LEADER_FINDINGS - sum(len(line) + 1 for line in (*lines, patterns)) - 1
    return tuple(filter(None, (*lines, _files(leader.read, left), patterns)))


def assignment_of(
    waves: Waves, prepared: Prepared, allowance: Allowance, leader: Analysis | None = None
) -> Assignment:
    """Put together what one analysis needs; a `leader`'s findings are told where it has a cause."""
    knows = leader is not None and leader.has_cause
    findings = leader_findings(leader) if leader and knows else prepared.research.leader_findings
    facts = relevant_facts(waves.facts, prepared.gathered, family_of(waves, prepared.fingerprint))
    update = {
        "leader_findings": findings,
        "run_facts": tuple(fact for fact, _ in facts),
        "run_because": tuple(because for _, because in facts),
    }
    return Assignment(
        case=prepared.unknown.case,
        traces=prepared.unknown.traces,
        research=prepared.research.model_copy(update=update),
        allowance=allowance,
        commit=prepared.unknown.case.commit or waves.code.commit,
        night=waves.night.id,
        fence=waves.night.fence,
        given=waves.night.given,
    )


def family_of(waves: Waves, fingerprint: str) -> frozenset[str]:
    """Name the cases of an error's family, itself included."""
    named = (
        frozenset(case.fingerprint for case in (family.leader, *family.siblings))
        for family in waves.families
    )
    return next((names for names in named if fingerprint in names), frozenset((fingerprint,)))


def _files(read: tuple[str, ...], room: int) -> str:
    """As many whole paths as there is room for; empty where none was read."""
    text, left = "files examined: ", len(read)
    for path in map(one_line, read):
        more = f"{path}, "
        if len(text) + len(more) + len(f"and {left} more") > room:
            break
        text, left = text + more, left - 1
    if left == len(read):
        return ""
    return f"{text}and {left} more" if left else text.removesuffix(", ")


def finding_line(leader: Analysis) -> str:
    """Title, files and root cause on one line, at least half of it for the cause."""
    name = one_line(leader.title) or last_segment(leader.case.leader.error_class)
    title = shortened(name, limits.LEADER_LINE // 3)
    standing = _standing(leader, limits.LEADER_LINE // 2 - len(f"{title} (): "))
    return shortened(f"{title} ({standing}): {one_line(leader.root_cause)}", limits.LEADER_LINE)


def _standing(leader: Analysis, room: int) -> str:
    paths = (*(edit.path for edit in leader.fix), *(evidence.path for evidence in leader.evidence))
    text: str = leader.confidence
    link = "; "
    for path in tuple(dict.fromkeys(paths))[: limits.LEADER_FILES]:
        if len(text) + len(link) + len(path) > room:
            break
        text, link = f"{text}{link}{path}", ", "
    return text


def _line(text: str) -> str:
    return shortened(one_line(text), limits.LEADER_LINE)


# Who is looked at again when all were looked at once: weak verdicts, told tonight's findings.


class ThirdWave(Value):
    """Second looks to be made, and weak verdicts that are left at that, with the reason."""

    assignments: tuple[Assignment, ...] = ()
    skipped: tuple[Analysis, ...] = ()


def third_wave(
    options: NightOptions,
    waves: Waves,
    results: tuple[WaveResult, ...],
    able: Capabilities | None = None,
) -> ThirdWave:
    """Assign second looks at what stayed weak in the first two waves.

    A look gets what the first one left of what an error may use, within what the night has left.
    A family's leader comes after its siblings here: what they found is told.
    """
    analyses = tuple(analysis for result in results for analysis in result.analyses)
    waves = with_found(waves, analyses)
    wanted = (analysis for analysis in analyses if second_look.wanted(analysis))
    weak = tuple(sorted(wanted, key=lambda item: item.has_cause))  # those without a cause first
    findings = {item.fingerprint: _other_findings(item, analyses, waves) for item in weak}
    news = {
        item.fingerprint: (*findings[item.fingerprint], *_new_facts(item, waves)) for item in weak
    }
    reasons = {item.fingerprint: _hindrance(item, news[item.fingerprint], able) for item in weak}
    chosen = tuple(item for item in weak if not reasons[item.fingerprint])
    failures = tuple(failure for result in results for failure in result.failures)
    shares = split_budget(options, len(chosen), total_usage(analyses, failures), able)
    most = split_budget(options, 1, able=able)[0]
    allowances = (
        _within(second_look.left_of(most, offer.usage), share)
        for offer, share in zip(chosen, shares, strict=True)
    )
    return ThirdWave(
        assignments=tuple(
            _assignment(waves, offer, findings[offer.fingerprint], allowance)
            for offer, allowance in zip(chosen, allowances, strict=True)
        ),
        skipped=tuple(
            second_look.skipped(item, second_look.wanted(item), reason)
            for item in weak
            if (reason := reasons[item.fingerprint])
        ),
    )


def with_second_looks(
    results: tuple[WaveResult, ...], wave: ThirdWave, looks: WaveResult
) -> tuple[WaveResult, ...]:
    """Give the waves with their weak verdicts replaced; a look that failed leaves the first.

    Where looks say that nothing can be done tonight, so do the waves.
    """
    after = {analysis.fingerprint: analysis for analysis in (*wave.skipped, *looks.analyses)}
    firsts = {assignment.case.fingerprint: assignment.first for assignment in wave.assignments}
    for failure in looks.failures:
        if first := firsts.get(failure.case.fingerprint):
            after[first.fingerprint] = second_look.failed(
                first, second_look.wanted(first), failure.reason, failure.usage
            )
    return tuple(
        result.model_copy(
            update={
                "analyses": tuple(
                    after.get(analysis.fingerprint, analysis) for analysis in result.analyses
                ),
                "stopped": result.stopped or looks.stopped,
            }
        )
        for result in results
    )


def _hindrance(analysis: Analysis, findings: tuple[str, ...], able: Capabilities | None) -> str:
    if able is None or able.local or analysis.by_fallback:
        return second_look.SAME_AGAIN
    return "" if second_look.news(analysis, findings) else second_look.NOTHING_NEW


def _assignment(
    waves: Waves, first: Analysis, findings: tuple[str, ...], allowance: Allowance
) -> Assignment:
    assignment = assignment_of(waves, _prepared(waves, first), allowance)
    research = assignment.research.model_copy(update={"leader_findings": findings})
    return assignment.model_copy(update={"first": first, "research": research})


def _prepared(waves: Waves, first: Analysis) -> Prepared:
    return next(item for item in waves.prepared if item.fingerprint == first.fingerprint)


def _new_facts(first: Analysis, waves: Waves) -> tuple[str, ...]:
    gathered, family = _prepared(waves, first).gathered, family_of(waves, first.fingerprint)
    known = {fact.text for fact in first.handed}
    facts = relevant_facts(waves.facts, gathered, family)
    return tuple(fact.text for fact, _ in facts if fact.text not in known)


def _other_findings(
    analysis: Analysis, analyses: Iterable[Analysis], waves: Waves
) -> tuple[str, ...]:
    """Lines on what the night found for related errors, its family first; weak ones teach nothing.

    Related are its family, and errors whose analysis read a file it fails in. Of others it is told
    facts, where they touch it.
    """
    family = family_of(waves, analysis.fingerprint)
    files = (
        {frame.repo_path for frame in analysis.case.trace.in_app} if analysis.case.trace else set()
    )
    others = [
        other
        for other in analyses
        if other.fingerprint != analysis.fingerprint
        and (other.fingerprint in family or files & set(other.read))
        and other.has_cause
        and not second_look.wanted(other)
    ]
    others.sort(key=lambda other: other.fingerprint not in family)
    return tuple(finding_line(other)[:LEADER_LINE] for other in others[:OTHER_FINDINGS])


def _within(left: Allowance, share: Allowance) -> Allowance:
    costs = [item for item in (left.cost, share.cost) if item is not None]
    tokens = min(left.tokens, share.tokens)
    return left.model_copy(update={"tokens": tokens, "cost": min(costs, default=None)})
