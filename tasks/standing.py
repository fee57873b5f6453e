"""Where the failing lines stand on the base branch, which fixes are made on."""

from prefect import task

from nightwatch_core.code.standing import standing, without_later_change
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import CauseFindings, CodeTonight
from nightwatch_core.models.options import NightOptions
from tasks.code import commit_of_case, reader_of
from tasks.futures import attempt_and_go_on
from tasks.policies import PATIENTLY


@task(
    name="compare with the base",
    task_run_name="compare with the base · {analysis.case.leader.short}",
    **PATIENTLY,
)
def with_standing(analysis: Analysis, options: NightOptions, code: CodeTonight) -> Analysis:
    """The analysis, told whether the base branch still has what failed."""
    then = reader_of(options, commit_of_case(analysis.case, code))
    now = reader_of(options, code.base or code.commit)
    stands = analysis.model_copy(update={"standing": standing(analysis, then, now)})
    return without_later_change(stands, then, now)


def compared_with_base(options: NightOptions, findings: CauseFindings) -> CauseFindings:
    """The findings, each compared with the base branch where that is not the code that failed."""
    code, troubles = findings.code, []
    base = code.base or code.commit

    def compared(analysis: Analysis) -> Analysis:
        if commit_of_case(analysis.case, code).sha == base.sha:
            return analysis
        title = analysis.case.leader.short
        end = attempt_and_go_on(
            f"comparing {title} with {base.branch or 'the base'}",
            *(with_standing, analysis, options, code),
            otherwise=analysis,
        )
        troubles.append(end.trouble or end.stop)
        return end.value

    known = tuple(map(compared, findings.memory.known))
    waves = tuple(
        wave.model_copy(update={"analyses": tuple(map(compared, wave.analyses))})
        for wave in findings.waves
    )
    return findings.model_copy(
        update={
            "memory": findings.memory.model_copy(update={"known": known}),
            "waves": waves,
            "troubles": (*findings.troubles, *troubles),
        }
    )
