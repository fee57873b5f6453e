"""Who is analysed first, who second, and with what: leaders, then siblings told their finding."""

from nightwatch_core.allowances import deal
from nightwatch_core.families import families, findings
from nightwatch_core.models.analysis import Analysis, Failure, Usage
from nightwatch_core.models.assignment import Assignment, CodeTonight, Unknown, Wave
from nightwatch_core.models.error import Family
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.models.research import ResearchContext
from nightwatch_core.models.value import Value


class Prepared(Value):
    """A case and everything gathered for it."""

    unknown: Unknown
    research: ResearchContext


class Waves(Value):
    """The leaders' assignments, and the families to continue with."""

    night: Night
    code: CodeTonight
    prepared: tuple[Prepared, ...]
    families: tuple[Family, ...]
    leaders: tuple[Assignment, ...]


def first_wave(
    options: NightOptions, night: Night, code: CodeTonight, prepared: tuple[Prepared, ...]
) -> Waves:
    """Group the cases into families and assign every leader."""
    related = families(tuple(one.unknown.case for one in prepared))
    allowance = deal(options, len(prepared))
    by_name = {one.unknown.case.fingerprint: one for one in prepared}
    leaders = tuple(
        Assignment(
            case=family.leader,
            traces=by_name[family.leader.fingerprint].unknown.traces,
            research=by_name[family.leader.fingerprint].research,
            allowance=allowance,
            commit=code.commit,
            night=night.id,
        )
        for family in related
    )
    return Waves(night=night, code=code, prepared=prepared, families=related, leaders=leaders)


def second_wave(options: NightOptions, waves: Waves, first: Wave) -> tuple[Assignment, ...]:
    """Assign the siblings: told what their leader's analysis found, with what wave 1 left."""
    found = {analysis.fingerprint: analysis for analysis in first.analyses}
    by_name = {one.unknown.case.fingerprint: one for one in waves.prepared}
    siblings = [(family, case) for family in waves.families for case in family.siblings]
    allowance = deal(options, len(siblings), used(first.analyses, first.failures))
    return tuple(
        Assignment(
            case=case,
            traces=by_name[case.fingerprint].unknown.traces,
            research=_told(
                by_name[case.fingerprint].research, found.get(family.leader.fingerprint)
            ),
            allowance=allowance,
            commit=waves.code.commit,
            night=waves.night.id,
        )
        for family, case in siblings
    )


def used(analyses: tuple[Analysis, ...], failures: tuple[Failure, ...] = ()) -> Usage:
    """What all analyses together have used, those that failed too."""
    fallen = sum((failure.usage for failure in failures), Usage())
    return sum((analysis.usage for analysis in analyses), fallen)


def _told(research: ResearchContext, leader: Analysis | None) -> ResearchContext:
    told = findings((leader,)) if leader else ()
    return research.model_copy(update={"leader_findings": told})
