"""Waves of analyses: leaders first, then siblings with the leader's finding."""

from collections.abc import Iterable

from nightwatch_core.analysis import second_look
from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.intake.cases import families
from nightwatch_core.models.analysis import Analysis, Failure
from nightwatch_core.models.answer import Allowance, Usage
from nightwatch_core.models.assignment import Assignment, CodeTonight, UnexplainedCase, WaveResult
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Case, Family
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import one_line, shortened
from nightwatch_core.text.words import last_segment

LEADER_LINES, LEADER_LINE, LEADER_FILES = 4, 200, 3  # finding and learnings; characters; files
LEADER_FILES_LINE = 400  # characters of the files a leader examined
OTHER_FINDINGS = 6  # of tonight, told to a second look


class Prepared(Value):
    """A case and everything gathered for it."""

    unknown: UnexplainedCase
    research: ResearchContext

    @property
    def fingerprint(self) -> str:
        """Return the case's name."""
        return self.case.fingerprint

    @property
    def case(self) -> Case:
        """Return the case."""
        return self.unknown.case


class Waves(Value):
    """The leaders' assignments, and the families to continue with."""

    night: Night
    code: CodeTonight
    prepared: tuple[Prepared, ...]
    families: tuple[Family, ...]
    leaders: tuple[Assignment, ...]

    def family_of(self, fingerprint: str) -> frozenset[str]:
        """Return the cases of an error's family, itself included."""
        every = ((family.leader, *family.siblings) for family in self.families)
        named = (frozenset(case.fingerprint for case in cases) for cases in every)
        return next((names for names in named if fingerprint in names), frozenset((fingerprint,)))


def first_wave(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    prepared: tuple[Prepared, ...],
    capabilities: Capabilities | None = None,
) -> Waves:
    """Group the cases, the best ranked first, into families and assign the leaders.

    Every case gets its allowance by its rank (`capabilities` are the model's, for what USD are
    worth); a leader for whom nothing is left waits for what the first wave leaves.
    """
    suspected = {item.fingerprint: item.research.suspects for item in prepared}
    related = families(
        tuple(item.case for item in prepared),
        lambda case: tuple(suspect.pull.sha for suspect in suspected[case.fingerprint]),
    )
    waves = Waves(night=night, code=code, prepared=prepared, families=related, leaders=())
    parts = split_budget(options, len(prepared), capabilities=capabilities)
    shares = zip(prepared, parts, strict=True)
    by_name = {item.fingerprint: (item, allowance) for item, allowance in shares}
    leading = (by_name[family.leader.fingerprint] for family in related)
    leaders = (assignment_of(waves, item, allowed) for item, allowed in leading if allowed.tokens)
    return waves.model_copy(update={"leaders": tuple(leaders)})


def second_wave(
    options: NightOptions, waves: Waves, first: WaveResult, capabilities: Capabilities | None = None
) -> tuple[Assignment, ...]:
    """Assign all others: siblings with their leader's finding, and what wave 1 left."""
    begun = {assignment.case.fingerprint for assignment in waves.leaders}
    analyses = {analysis.fingerprint: analysis for analysis in first.analyses}
    leader_of = {
        case.fingerprint: analyses.get(family.leader.fingerprint)
        for family in waves.families
        for case in family.siblings
    }
    waiting = tuple(item for item in waves.prepared if item.fingerprint not in begun)
    spent = total_usage(first.analyses, first.failures)
    allowances = split_budget(options, len(waiting), spent, capabilities)
    return tuple(
        assignment_of(waves, item, allowance, leader_of.get(item.fingerprint))
        for item, allowance in zip(waiting, allowances, strict=True)
    )


def total_usage(analyses: tuple[Analysis, ...], failures: tuple[Failure, ...] = ()) -> Usage:
    """Add up what all analyses have used, those that failed too."""
    usages = (*(failure.usage for failure in failures), *(analysis.usage for analysis in analyses))
    return sum(usages, Usage())


def leader_findings(leader: Analysis) -> tuple[str, ...]:
    """List for siblings the leader's finding, learnings, files examined and patterns seen.

    Finding and learnings are at most four lines of 200 characters; all lines together stay within
    1,500 characters.
    """
    rows = [finding_line(leader)]
    for learning in leader.learnings[: LEADER_LINES - 1]:
        place = f" ({learning.path}:{learning.line})" if learning.path else ""
        rows.append(shortened(one_line(f"learned: {learning.fact}{place}"), LEADER_LINE))
    files, tags = one_line(", ".join(leader.read)), one_line(", ".join(leader.tags))
    if files:
        rows.append(shortened(f"files examined: {files}", LEADER_FILES_LINE))
    if tags:
        rows.append(shortened(f"patterns seen: {tags}", LEADER_LINE))
    return tuple(rows)


def assignment_of(
    waves: Waves, prepared: Prepared, allowance: Allowance, leader: Analysis | None = None
) -> Assignment:
    """Return the input of one analysis; a `leader`'s findings are added where it has a cause."""
    knows = leader is not None and leader.has_cause
    findings = leader_findings(leader) if leader and knows else prepared.research.leader_findings
    return Assignment(
        case=prepared.case,
        traces=prepared.unknown.traces,
        research=prepared.research.model_copy(update={"leader_findings": findings}),
        allowance=allowance,
        commit=prepared.case.commit or waves.code.commit,
        night=waves.night.id,
        fence=waves.night.fence,
        given=waves.night.given,
    )


def finding_line(leader: Analysis) -> str:
    """Write title, confidence, files and root cause in a line of 200 characters."""
    name = one_line(leader.title) or last_segment(leader.case.leader.error_class)
    edited = (edit.path for edit in leader.fix)
    paths = dict.fromkeys((*edited, *(evidence.path for evidence in leader.evidence)))
    files = one_line(", ".join([*paths][:LEADER_FILES]))
    about = f"{leader.confidence}; {shortened(files, LEADER_LINE // 4)}" if files else ""
    title = f"{shortened(name, LEADER_LINE // 3)} ({about or leader.confidence})"
    return shortened(f"{title}: {one_line(leader.root_cause)}", LEADER_LINE)


# Second analyses of weak verdicts, when all errors were analysed once.


class ThirdWave(Value):
    """Second looks to be made, and weak verdicts that are left at that, with the reason."""

    assignments: tuple[Assignment, ...] = ()
    skipped: tuple[Analysis, ...] = ()


def third_wave(
    options: NightOptions,
    waves: Waves,
    results: tuple[WaveResult, ...],
    capabilities: Capabilities | None = None,
) -> ThirdWave:
    """Assign second analyses of what stayed weak in the first two waves.

    Each gets what the first one left of an error's allowance, within what the night has left. A
    family's leader comes after its siblings here: it is given their findings.
    """
    analyses = tuple(analysis for result in results for analysis in result.analyses)
    prepared = {item.fingerprint: item for item in waves.prepared}
    chosen: list[tuple[Analysis, tuple[str, ...]]] = []
    skipped: list[Analysis] = []
    weak = (analysis for analysis in analyses if second_look.weakness(analysis))
    for first in sorted(weak, key=lambda item: item.has_cause):  # those without a cause first
        findings = _other_findings(first, analyses, waves)
        is_same = capabilities is None or capabilities.local or first.by_fallback
        if is_same or not (findings or second_look.has_news(first)):
            why = second_look.SAME_AGAIN if is_same else second_look.NOTHING_NEW
            skipped.append(second_look.skipped(first, second_look.weakness(first), why))
        else:
            chosen.append((first, findings))
    failures = tuple(failure for result in results for failure in result.failures)
    shares = split_budget(options, len(chosen), total_usage(analyses, failures), capabilities)
    most = split_budget(options, 1, capabilities=capabilities)[0]
    assignments = []
    for (first, findings), share in zip(chosen, shares, strict=True):
        left = second_look.left_of(most, first.usage)
        costs = [cost for cost in (left.cost, share.cost) if cost is not None]
        update = {"tokens": min(left.tokens, share.tokens), "cost": min(costs, default=None)}
        allowance = left.model_copy(update=update)
        assignment = assignment_of(waves, prepared[first.fingerprint], allowance)
        research = assignment.research.model_copy(update={"leader_findings": findings})
        assignments.append(assignment.model_copy(update={"first": first, "research": research}))
    return ThirdWave(assignments=tuple(assignments), skipped=tuple(skipped))


def with_second_looks(
    results: tuple[WaveResult, ...], wave: ThirdWave, looks: WaveResult
) -> tuple[WaveResult, ...]:
    """Return the waves with their weak verdicts replaced; a second analysis that failed does not.

    Where the third wave says that nothing can be done tonight, so do the others.
    """
    after = {analysis.fingerprint: analysis for analysis in (*wave.skipped, *looks.analyses)}
    firsts = {assignment.case.fingerprint: assignment.first for assignment in wave.assignments}
    for failure in looks.failures:
        if first := firsts.get(failure.case.fingerprint):
            why = second_look.weakness(first)
            failed = second_look.failed(first, why, failure.reason, failure.usage)
            after[first.fingerprint] = failed
    replaced = []
    for result in results:
        analyses = tuple(after.get(item.fingerprint, item) for item in result.analyses)
        update = {"analyses": analyses, "stopped": result.stopped or looks.stopped}
        replaced.append(result.model_copy(update=update))
    return tuple(replaced)


def _other_findings(
    analysis: Analysis, analyses: Iterable[Analysis], waves: Waves
) -> tuple[str, ...]:
    """Findings of its family first, then of errors whose analysis read a file it fails in."""
    own, trace = analysis.fingerprint, analysis.case.trace
    family = waves.family_of(own)
    files = {frame.repo_path for frame in trace.in_app} if trace else set()
    known = (other for other in analyses if other.has_cause and other.fingerprint != own)
    sure = (other for other in known if not second_look.weakness(other))
    others = [other for other in sure if other.fingerprint in family or files & set(other.read)]
    others.sort(key=lambda other: other.fingerprint not in family)
    return tuple(map(finding_line, others[:OTHER_FINDINGS]))
