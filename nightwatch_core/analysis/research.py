"""What the analyst is told besides the error: files, source, suspects, releases, learnings."""

from collections.abc import Iterable
from typing import NamedTuple

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.changes import changes_of
from nightwatch_core.analysis.source_previews import Read, failing_place, source_previews
from nightwatch_core.code.called_names import frames_of
from nightwatch_core.code.callees import callees
from nightwatch_core.code.definition_lookup import Lookup, Search
from nightwatch_core.code.elsewhere import callers, other_uses, sibling_methods
from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.limits import CALLEE_HITS
from nightwatch_core.code.named_in_message import (
    meant_definitions,
    named_definitions,
    names_in_message,
)
from nightwatch_core.code.named_templates import named_templates
from nightwatch_core.code.record_fit import misfit
from nightwatch_core.code.suspects import suspects
from nightwatch_core.code.tested_by import files_testing
from nightwatch_core.intake.cases import root_class
from nightwatch_core.memory.notes.researcher import learnings_for_case
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.code import MergedPull, Release, SearchHit
from nightwatch_core.models.error import Case, DroppedGroup
from nightwatch_core.models.knowledge import PriorAnalysis, TaskFile
from nightwatch_core.models.pattern import Pattern
from nightwatch_core.models.research import CodeChanges, LikelyFile, Preview, ResearchContext
from nightwatch_core.models.value import Value
from nightwatch_core.patterns import patterns_for
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.error_classes import last_segment
from nightwatch_core.text.message_templates import message_template
from nightwatch_core.traces.path_index import PathIndex


class Source(NamedTuple):
    """What is shown of the code."""

    previews: tuple[Preview, ...]
    other_uses: tuple[SearchHit, ...]
    callers: tuple[SearchHit, ...]
    tests: tuple[str, ...]


def gather(
    case: Case,
    index: PathIndex,
    read: Read,
    pulls: Iterable[MergedPull] = (),
    releases: tuple[Release, ...] = (),
    priors: tuple[PriorAnalysis, ...] = (),
    dropped: tuple[DroppedGroup, ...] = (),
    search: Search | None = None,
    code: CodeReader | None = None,
) -> ResearchContext:
    """Put together what is known before an analysis starts; `read` gives a file's text or None.

    `search` finds lines of the tree that hold a text; without it fewer definitions are found.
    `code` tells the history, without it nothing is suspected.
    """
    likely = likely_files(case, index)
    known = Lookup(index, read, search, tuple(frame.repo_path for frame in frames_of(case)))
    find = (lambda text: search(text, "", CALLEE_HITS)) if search else None
    unfit = misfit(case, known.text, find)
    source = _source(case, likely, known)
    merged, changes = tuple(pulls), CodeChanges()
    if code and not unfit:
        changes = changes_of(case, source.previews, likely, code, merged, releases)
    return ResearchContext(
        likely_files=likely,
        previews=source.previews,
        other_uses=source.other_uses,
        callers=source.callers,
        tests=source.tests,
        suspects=suspects(case, changes, merged, releases),
        changes=changes,
        misfit=unfit,
        releases=recent_releases(case, releases),
        priors=tuple(filter(_tells, priors))[: limits.PRIORS],
        similar_ignored=similar_ignored(case, dropped),
    )


def only_fit(
    case: Case,
    index: PathIndex,
    read: Read,
    search: Search | None = None,
    priors: tuple[PriorAnalysis, ...] = (),
) -> ResearchContext:
    """Earlier cases, and whether the trace's lines are of this code: what is known unresearched."""
    known = Lookup(index, read, search, tuple(frame.repo_path for frame in frames_of(case)))
    find = (lambda text: search(text, "", CALLEE_HITS)) if search else None
    told = tuple(filter(_tells, priors))[: limits.PRIORS]
    return ResearchContext(priors=told, misfit=misfit(case, known.text, find))


def _tells(prior: PriorAnalysis) -> bool:
    """Whether an earlier case says anything: its cause, or what became of a fix of this one."""
    return prior.lesson.has_cause or (prior.match.is_same and bool(prior.lesson.fates))


def _source(case: Case, likely: tuple[LikelyFile, ...], known: Lookup) -> Source:
    """Cut out where it fails, then what that comes from, then what is like it."""
    members = names_in_message(case)
    shown = source_previews(case, likely, known.text, members)
    seen = {(one.path, line) for one in shown for line in range(one.start, one.end + 1)}
    shown += callees(case, known, seen, members)
    shown += named_templates(case, known, seen)
    shown += named_definitions(case, known, seen)
    if all(one.kind in ("guess", "named") for one in shown):
        shown += meant_definitions(case, known, seen)
    paths = dict.fromkeys(one.path for one in shown if one.kind == "failing")
    tests = (test for one in paths for test in files_testing(one, known.index))
    path, line = failing_place(case, known.text)
    return Source(
        previews=(*shown, *(sibling_methods(path, line, known, seen) if path else ())),
        other_uses=other_uses(path, line, known, seen) if path else (),
        callers=callers(case, known, seen),
        tests=tuple(dict.fromkeys(tests))[: limits.TESTS],
    )


class PromptLearnings(Value):
    """Everything a night may tell its analysts besides earlier cases: notes, and patterns."""

    tasks: tuple[TaskFile, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    complaints: tuple[str, ...] = ()

    def add_to(self, unknown: UnexplainedCase) -> UnexplainedCase:
        """Add to a case what there is about it, but for what its earlier cases tell already.

        What its own lesson is linked with is found, whether that lesson is told or not.
        """
        own = {unknown.case.fingerprint, *unknown.case.aliases}
        priors = {prior.lesson.fingerprint for prior in unknown.priors} - own
        tasks = (one for one in self.tasks if one.id not in priors)
        learnings = learnings_for_case(unknown.case, tasks)
        patterns = patterns_for(unknown.case, self.patterns)
        return unknown.model_copy(update={"learnings": learnings, "patterns": patterns})


def with_learnings(research: ResearchContext, unknown: UnexplainedCase) -> ResearchContext:
    """Add the notes and patterns that were found for the case."""
    learnings = {"learnings": unknown.learnings, "patterns": unknown.patterns}
    return research.model_copy(update=learnings)


def recent_releases(case: Case, releases: tuple[Release, ...]) -> tuple[Release, ...]:
    """List the last three releases made before the error was last seen, newest first."""
    seen = max((g.last_seen for g in case.groups if g.last_seen), default=None)
    known = (release for release in releases if seen is None or release.at <= seen)
    return tuple(sorted(known, key=lambda release: release.at, reverse=True)[: limits.RELEASES])


def similar_ignored(case: Case, dropped: tuple[DroppedGroup, ...]) -> tuple[DroppedGroup, ...]:
    """List at most three ignored groups of the case's class, or of its message but for names."""
    classes = {last_segment(g.error_class) for g in case.groups}
    classes.add(last_segment(root_class(case.leader, case.trace)))
    templates = {message_template(g.message) for g in case.groups} - {""}

    def alike(group: DroppedGroup) -> bool:
        same_class = last_segment(group.group.error_class) in classes
        return same_class or message_template(group.group.message) in templates

    similar = (one for one in dropped if one.kind == "ignored" and alike(one))
    return tuple(similar)[: limits.IGNORED_KEPT]
