"""From selected groups to causes: the middle of the night, and all of a single error's run."""

from collections.abc import Callable

from nightwatch_core.analysis.waves import all_reads, first_wave, second_wave
from nightwatch_core.models.assignment import (
    AnalystTonight,
    CauseFindings,
    FollowUpInput,
    PastOutcomes,
)
from nightwatch_core.models.errors import Selection
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.traces.placing import untraced
from tasks.analysis import ask_analyst, explained, looked_again, research_case
from tasks.code import compared_with_base, pin_code
from tasks.errors import make_cases, narrow, trace_groups
from tasks.knowledge import follow_up, nothing_recalled, recall_cases
from tasks.runner import all_of, attempt, each, same


def find_causes(
    options: NightOptions,
    night: Night,
    selection: Selection,
    earlier: FollowUpInput,
    hear: Callable[[CauseFindings], CauseFindings],
) -> CauseFindings:
    """Trace, follow up, recall, research, analyse: leaders, siblings, then what stayed weak.

    `hear` is called with the findings after each wave. Where a wave says that the model can answer
    no more tonight, it is the last.
    """
    code = pin_code(options, night, selection)
    traced = trace_groups(options, selection.kept, code)
    cases = make_cases(traced)
    past = attempt(
        "following up earlier proposals",
        *(follow_up, options, night, code, selection, earlier, cases),
        otherwise=PastOutcomes(),
    )
    memory = attempt(
        "recalling lessons",
        *(recall_cases, options, night, code, cases, traced, past.value, earlier.traffic),
        otherwise=nothing_recalled(cases, traced, past.value),
    )
    tonight = narrow(options, selection, memory.value)
    unknown = each(tonight.memory.unknown)
    prepared = all_of(research_case.map(unknown, same(options), same(code)))

    analyst = attempt("asking the model", ask_analyst, options, otherwise=AnalystTonight()).value
    waves = first_wave(options, night, code, prepared, analyst.able)
    findings = CauseFindings(
        selection=tonight.selection,
        code=code,
        memory=tonight.memory,
        analyst=analyst,
        troubles=(code.trouble, past.trouble, untraced(traced), memory.trouble),
        code_reads=all_reads(traced, tonight.memory, prepared),
    )
    last = hear(findings.with_waves(explained(options, waves.leaders)))
    if not last.stopped:
        others = second_wave(options, waves, last.waves[0], analyst.able)
        last = hear(findings.with_waves(*last.waves, explained(options, others)))
    if not last.stopped:
        last = findings.with_waves(*looked_again(options, waves, last.waves, analyst.able))
    return hear(compared_with_base(options, last))
