"""Research: what an analyst is told before it starts."""

from prefect import task

from nightwatch_core.analysis.research import gather, only_fit, with_learnings
from nightwatch_core.analysis.waves import Prepared
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.record_fit import with_doubts
from nightwatch_core.models.assignment import CodeTonight, UnexplainedCase
from nightwatch_core.models.error import Selection
from nightwatch_core.models.options import NightOptions
from tasks.code import commit_of_case, index_in, reader_of, reads_of
from tasks.policies import KEPT, PATIENTLY


@task(
    name="research",
    task_run_name="research · {unknown.case.leader.short}",
    **KEPT,
    **PATIENTLY,
)
def research_case(
    unknown: UnexplainedCase, options: NightOptions, code: CodeTonight, selection: Selection
) -> Prepared:
    """Likely files, previews, suspects and earlier cases for one error; off: those cases alone."""
    commit = commit_of_case(unknown.case, code)
    tree = reader_of(options, commit)
    case = with_doubts(unknown.case, tree.read_file, tree.search)
    unknown = unknown.model_copy(update={"case": case})
    if not options.research_enabled:
        research = only_fit(case, index_in(tree), tree.read_file, tree.search, unknown.priors)
        return Prepared(
            unknown=unknown, research=with_learnings(research, unknown), code_reads=reads_of(tree)
        )
    research = gather(
        case,
        index=index_in(tree),
        read=tree.read_file,
        search=tree.search,
        code=tree,
        pulls=merged_before(code.pulls, commit),
        releases=code.releases,
        priors=unknown.priors,
        dropped=selection.dropped,
    )
    return Prepared(
        unknown=unknown, research=with_learnings(research, unknown), code_reads=reads_of(tree)
    )
