"""All lessons followed up at once: their proposals, their merged fixes, the files they cite.

A document's own word on merges and verdicts is none: what counts is what the tracker bears out.
"""

from collections.abc import Callable, Collection, Iterable

from nightwatch_core.code.code_view import has_quote
from nightwatch_core.code.edits import fix_digest
from nightwatch_core.memory.limits import MOST_FILES_READ
from nightwatch_core.memory.outcomes import Tonight, fix_stands, follow_lesson, no_news
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import FEEDBACK, CitedLine, Lesson, OutcomeKind, OutcomeUpdate
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import digest
from nightwatch_core.traces.placing import ReadFile

AFTER_A_MERGE: tuple[OutcomeKind, ...] = (
    "merged", "edited before merge", "verified", "no effect", "regressed",
)  # fmt: skip


def follow_lessons(
    lessons: tuple[Lesson, ...],
    own: tuple[OwnItem, ...],
    tonight: Tonight,
    cases: tuple[Case, ...],
    pulls: Iterable[MergedPull],
    code: CodeReader,
) -> tuple[OutcomeUpdate, ...]:
    """Find what tonight brought for these lessons, those without news left out.

    `own` are all our issues and pull requests, `cases` tonight's, `pulls` those merged lately.
    """
    paths, changed = frozenset(code.paths()), touched_files(pulls, lessons)

    def stands(lesson: Lesson) -> bool:
        return fix_stands(lesson.edits, code.read_file)

    def news_of(lesson: Lesson) -> OutcomeUpdate | None:
        news = follow_lesson(_with_tonights_names(lesson, cases), own, tonight, stands)
        why = staleness(lesson, paths, changed, code.read_file, code.commit.sha)
        if why is None:
            return news
        is_of_this_code = lesson.commit in ("", code.commit.sha) or code.show_commit(lesson.commit)
        if why and not is_of_this_code:
            return news
        return (news or no_news(lesson)).model_copy(update={"stale": why})

    return tuple(filter(None, map(news_of, lessons)))


def _with_tonights_names(lesson: Lesson, cases: tuple[Case, ...]) -> Lesson:
    """The lesson by every name its case has tonight: a trace may tell that it is the same."""
    names = {
        name
        for case in cases
        if not lesson.names.isdisjoint((case.fingerprint, *case.aliases))
        for name in (case.fingerprint, *case.aliases)
    }
    more = tuple(sorted(names - lesson.names))
    return lesson.model_copy(update={"aliases": (*lesson.aliases, *more)}) if more else lesson


def touched_files(pulls: Iterable[MergedPull], lessons: Iterable[Lesson]) -> frozenset[str]:
    """Find files that lessons cite and recent pull requests changed, at most 200."""
    cited = {evidence.path for lesson in lessons for evidence in lesson.evidence}
    changed = {file for pull in pulls for file in pull.files}
    return frozenset(sorted(cited & changed)[:MOST_FILES_READ])


def staleness(
    lesson: Lesson,
    paths: Collection[str],
    changed: Collection[str],
    read: Callable[[str], str | None],
    commit: str = "",
) -> str | None:
    """Say why a lesson no longer fits the code; empty where it does again, None for no news.

    `paths` are all files of the tree at `commit`; only files among `changed` are read. A file was
    rewritten where the quoted lines are gone, whatever else is different in it.
    """
    is_same_code = bool(commit) and lesson.commit == commit
    if lesson.watch:  # its own fix rewrote what it cites: whether that helped is measured
        changed = ()
    why = ""
    for cited in lesson.evidence:
        if cited.path not in paths:
            why = f"{cited.path} is gone"
        elif not is_same_code and cited.path in changed and is_rewritten(cited, read(cited.path)):
            why = f"{cited.path} was rewritten"
        if why:
            break
    named = (item.path for item in lesson.evidence if f"{item.path} was rewritten" == lesson.stale)
    if not why and not is_same_code and any(path not in changed for path in named):
        why = lesson.stale
    return None if why == lesson.stale else why


def is_rewritten(cited: CitedLine, text: str | None) -> bool:
    """Tell whether a file, which has this text now, lost the lines that were quoted of it."""
    is_another = bool(cited.digest) and digest(text) != cited.digest
    return is_another and not has_quote(cited.quote, text)


def cites_other_code(lesson: Lesson, read: Callable[[str], str | None]) -> bool:
    """Tell whether a line that a lesson cites is gone from the code that `read` reads."""
    return any(is_rewritten(cited, read(cited.path)) for cited in lesson.evidence)


def with_standing_patches(
    own: tuple[OwnItem, ...], lessons: Iterable[Lesson], read: ReadFile
) -> tuple[OwnItem, ...]:
    """Our items, those patches merged that somebody applied: the base, which `read` reads, has it.

    A lesson whose fix is another one by now cannot tell.
    """
    edits = {
        (name, fix_digest(lesson.edits)): lesson.edits
        for lesson in lessons
        if lesson.edits
        for name in lesson.names
    }

    def stands(item: OwnItem) -> bool:
        fixes = (edits.get((name, item.fix), ()) for name in item.names)
        return item.as_patch and item.state == "open" and any(fix_stands(e, read) for e in fixes)

    return tuple(
        item.model_copy(update={"state": "merged"}) if stands(item) else item for item in own
    )


def merged_pulls(own: Iterable[OwnItem]) -> tuple[OwnItem, ...]:
    """Return our pull requests that were merged, as the tracker says."""
    return tuple(item for item in own if item.kind == "pull" and item.state == "merged")


def without_unconfirmed_watch(lesson: Lesson, merged: tuple[OwnItem, ...] | None) -> Lesson:
    """Take the watch from a lesson where the tracker knows no such merge; None: not asked."""
    watch = lesson.watch
    if merged is None or watch is None:
        return lesson
    names = {name for item in merged if item.number == watch.number for name in item.names}
    return lesson if names & lesson.names else lesson.model_copy(update={"watch": None})


def confirmed_by_tracker(lesson: Lesson, own: Iterable[OwnItem]) -> Lesson:
    """Keep those of a lesson's proposals that are ours, and what may have become of them."""
    mine = [item for item in own if not lesson.names.isdisjoint(item.names)]
    items = {(item.kind, item.number) for item in mine}
    numbers = {item.number for item in mine}
    merged = {pull.number for pull in merged_pulls(mine)}
    proposed = (item for item in lesson.proposed if (item.kind, item.number) in items)
    return lesson.model_copy(
        update={
            "proposed": tuple(
                item
                if _may_be(item.outcome, item.number, merged)
                else item.model_copy(update={"outcome": ""})
                for item in proposed
            ),
            "outcomes": tuple(
                event
                for event in lesson.outcomes
                if (event.number is None and event.kind in FEEDBACK)
                or (event.number in numbers and _may_be(event.kind, event.number, merged))
            ),
        }
    )


def _may_be(kind: str, number: int | None, merged: set[int]) -> bool:
    if kind in AFTER_A_MERGE:
        return number in merged
    return kind != "closed unmerged" or number not in merged
