"""Who is analysed first, who second, and with what: leaders, then siblings told their finding."""

from nightwatch_core.analysis.budget import split_budget
from nightwatch_core.analysis.limits import LEADER_FINDINGS
from nightwatch_core.intake.families import (
    LONGEST_SUMMARY,
    MOST_TOLD,
    families,
    shortened,
    summary,
)
from nightwatch_core.models.analysis import Allowance, Analysis, Failure, Usage
from nightwatch_core.models.assignment import Assignment, CodeTonight, UnexplainedCase, WaveResult
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.error import Family
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value


class Prepared(Value):
    """A case and everything gathered for it."""

    unknown: UnexplainedCase
    research: ResearchContext


class Waves(Value):
    """The leaders' assignments, and the families to continue with."""

    night: Night
    code: CodeTonight
    prepared: tuple[Prepared, ...]
    families: tuple[Family, ...]
    leaders: tuple[Assignment, ...]


def first_wave(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    prepared: tuple[Prepared, ...],
    able: Capabilities | None = None,
) -> Waves:
    """Group the cases, the best ranked first, into families and assign the leaders.

    Every case is dealt its allowance by its rank (`able` is the model's, for what USD are worth); a
    leader for whom nothing is left waits for what the first wave leaves.
    """
    related = families(tuple(one.unknown.case for one in prepared))
    waves = Waves(night=night, code=code, prepared=prepared, families=related, leaders=())
    dealt = _by_rank(prepared, split_budget(options, len(prepared), able=able))
    by_name = {one.unknown.case.fingerprint: one for one in prepared}
    leaders = tuple(
        _assignment(waves, by_name[name], by_name[name].research, dealt[name])
        for name in (family.leader.fingerprint for family in related)
        if dealt[name].tokens > 0
    )
    return waves.model_copy(update={"leaders": leaders})


def second_wave(
    options: NightOptions, waves: Waves, first: WaveResult, able: Capabilities | None = None
) -> tuple[Assignment, ...]:
    """Assign all others: siblings told what their leader found, with what wave 1 left."""
    begun = {assignment.case.fingerprint for assignment in waves.leaders}
    found = {analysis.fingerprint: analysis for analysis in first.analyses}
    leader_of = {
        case.fingerprint: found.get(family.leader.fingerprint)
        for family in waves.families
        for case in family.siblings
    }
    waiting = tuple(one for one in waves.prepared if _name(one) not in begun)
    spent = used(first.analyses, first.failures)
    dealt = _by_rank(waiting, split_budget(options, len(waiting), spent, able))
    return tuple(
        _assignment(waves, one, _told(one.research, leader_of.get(_name(one))), dealt[_name(one)])
        for one in waiting
    )


def used(analyses: tuple[Analysis, ...], failures: tuple[Failure, ...] = ()) -> Usage:
    """What all analyses together have used, those that failed too."""
    fallen = sum((failure.usage for failure in failures), Usage())
    return sum((analysis.usage for analysis in analyses), fallen)


def run_context(leader: Analysis) -> tuple[str, ...]:
    """The leader's finding and learnings, then the files it examined and the patterns it saw.

    Finding and learnings are at most four lines of 200 characters; all lines together stay within
    1,500 characters.
    """
    learnings = (
        f"learned: {one.fact} ({one.path}:{one.line})" if one.path else f"learned: {one.fact}"
        for one in leader.learnings[: MOST_TOLD - 1]
    )
    told = (summary(leader), *(_line(learning, LONGEST_SUMMARY) for learning in learnings))
    tags = _line(", ".join(leader.tags), LONGEST_SUMMARY)
    patterns = f"patterns seen: {tags}" if tags else ""
    left = LEADER_FINDINGS - sum(len(line) + 1 for line in (*told, patterns)) - 1
    return tuple(filter(None, (*told, _files(leader.read, left), patterns)))


def _assignment(
    waves: Waves, one: Prepared, research: ResearchContext, allowance: Allowance
) -> Assignment:
    return Assignment(
        case=one.unknown.case,
        traces=one.unknown.traces,
        research=research,
        allowance=allowance,
        commit=waves.code.commit,
        night=waves.night.id,
        given=waves.night.given,
    )


def _by_rank(prepared: tuple[Prepared, ...], dealt: tuple[Allowance, ...]) -> dict[str, Allowance]:
    return dict(zip(map(_name, prepared), dealt, strict=True))


def _name(one: Prepared) -> str:
    return one.unknown.case.fingerprint


def _told(research: ResearchContext, leader: Analysis | None) -> ResearchContext:
    told = run_context(leader) if leader else ()
    return research.model_copy(update={"leader_findings": told})


def _files(read: tuple[str, ...], room: int) -> str:
    """As many whole paths as there is room for; empty where none was read."""
    text, left = "files examined: ", len(read)
    for path in map(_flat, read):
        more = f"{path}, "
        if len(text) + len(more) + len(f"and {left} more") > room:
            break
        text, left = text + more, left - 1
    if left == len(read):
        return ""
    return f"{text}and {left} more" if left else text.removesuffix(", ")


def _line(text: str, limit: int) -> str:
    return shortened(_flat(text), limit)


def _flat(text: str) -> str:
    return " ".join(text.split())
