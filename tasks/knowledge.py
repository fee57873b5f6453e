"""Doors to knowledge: recall before the analysis, lessons after it."""

from prefect import task

from nightwatch_core.lessons import lesson_from
from nightwatch_core.matching import own_entry
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.assignment import CodeTonight, Recollection, Traced, Unknown
from nightwatch_core.models.error import Case
from nightwatch_core.models.knowledge import Index
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night, RunReport
from nightwatch_core.recollecting import Similar, recollected
from nightwatch_core.tracing import digest
from tasks.code import reader_of
from tasks.policies import PATIENTLY
from tasks.settle import attempt
from tasks.wiring import publishing, reading


@task(name="recall", task_run_name="recall", **PATIENTLY)
def recall_cases(
    options: NightOptions,
    night: Night,
    code: CodeTonight,
    cases: tuple[Case, ...],
    traced: tuple[Traced, ...],
) -> Recollection:
    """Split cases into those a lesson still explains and those to analyse."""
    if not options.compound_enabled:
        return nothing_recalled(cases, traced)
    knowledge, tree = reading(options).knowledge, reader_of(options, code.commit)
    index = knowledge.index()
    search = attempt("searching lessons", _search, options, otherwise=None)
    ends = [
        recollected(case, index, knowledge.read, tree, night, options.force, search.value)
        for case in cases
    ]
    unsearched = (search.trouble,) if search.trouble else ()
    complaints = (*index.quarantined, *knowledge.ignore_rules().complaints, *unsearched)
    return Recollection(
        known=tuple(end for end in ends if isinstance(end, Analysis)),
        unknown=tuple(_with_traces(end, traced) for end in ends if isinstance(end, Unknown)),
        complaints=complaints,
    )


def _search(options: NightOptions) -> Similar | None:
    """The search over lessons, brought up to date; None where the index is read through."""
    recall = reading(options).recall
    if recall is None:
        return None
    recall.compare()
    return recall.similar


def nothing_recalled(cases: tuple[Case, ...], traced: tuple[Traced, ...]) -> Recollection:
    """Every case as a new one: without knowledge, or where it cannot be read."""
    return Recollection(unknown=tuple(_with_traces(Unknown(case=case), traced) for case in cases))


@task(name="keep lesson", task_run_name="keep lesson · {analysis.case.leader.short}")
def keep_lesson(analysis: Analysis, options: NightOptions, report: RunReport) -> str:
    """Write one case's lesson; returns its file."""
    writer, knowledge = publishing(options).knowledge, reading(options).knowledge
    entry = own_entry(analysis.case, knowledge.index().solutions)
    earlier = knowledge.read(entry.file) if entry else None
    lesson = lesson_from(
        analysis, report.night, _digests(options, report, analysis), report.receipts, earlier
    )
    return writer.write(lesson)


@task(name="rebuild index", task_run_name="rebuild index", **PATIENTLY)
def rebuild_index(options: NightOptions) -> Index:
    """Read all documents and write index.yml."""
    return publishing(options).knowledge.rebuild_index()


def _digests(options: NightOptions, report: RunReport, analysis: Analysis) -> dict[str, str]:
    if report.commit is None:
        return {}
    read = reader_of(options, report.commit).read_file
    return {one.path: digest(read(one.path)) for one in analysis.evidence}


def _with_traces(unknown: Unknown, traced: tuple[Traced, ...]) -> Unknown:
    names = {group.fingerprint for group in unknown.case.groups}
    traces = tuple(t for one in traced if one.group.fingerprint in names for t in one.traces)
    return unknown.model_copy(update={"traces": traces[:3]})
