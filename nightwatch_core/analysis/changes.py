"""What the history says about a case: who wrote its lines, and what came before it began."""

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.past import Past
from nightwatch_core.code.candidates import candidates
from nightwatch_core.code.diff_reading import dependency_changes, is_manifest, renamed_to
from nightwatch_core.code.named_change import is_of
from nightwatch_core.code.named_in_message import names_in_message
from nightwatch_core.code.onset import ago
from nightwatch_core.code.suspects import as_change
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.code.value_flow import value_flow
from nightwatch_core.intake.cases import root_class
from nightwatch_core.models.code import Blame, ChangedFile, LoggedCommit, MergedPull, Release
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import (
    AuthorKind,
    CodeChanges,
    DependencyChange,
    Deployment,
    LikelyFile,
    LineAuthor,
    Onset,
    Preview,
    Rename,
)
from nightwatch_core.ports import CodeReader

_ASIDE = re.compile(r"(?:^|[/._-])(?:tests?|docs?|dev|lint)(?:[/._-])", re.IGNORECASE)
FRESH = timedelta(hours=2)  # what was deployed later than that before an error is shown whole


def changes_of(
    case: Case,
    previews: tuple[Preview, ...],
    likely: tuple[LikelyFile, ...],
    code: CodeReader,
    pulls: Iterable[MergedPull] = (),
    releases: tuple[Release, ...] = (),
) -> CodeChanges:
    """Gather who wrote the case's lines, and what was changed and deployed before it began."""
    past, merged = Past(case, code, releases), tuple(pulls)
    written = tuple(_authors_of_frames(past))
    set_by = _author_of_setting(past, frozenset(one.commit.sha for one in written))
    authors = (*written[:1], *set_by, *written[1:], *_authors_of_definitions(past, previews))
    return CodeChanges(
        onset=past.onset,
        authors=tuple(_with_pull(author, merged) for author in authors),
        renames=_renames(past),
        dependencies=_dependencies(past),
        deployment=_deployment(past, past.onset) if past.onset else None,
        candidates=_candidates(past, likely, merged),
    )


def _authors_of_frames(past: Past) -> Iterator[LineAuthor]:
    """Who wrote the lines of the frames; of none whose record is of other code."""
    for number, (path, line) in enumerate(past.places):
        kind: AuthorKind = "caller" if number else "failing"
        for blame in () if (path, line) in past.unfit else past.blame(path, line, line):
            yield LineAuthor(path=path, line=line, kind=kind, commit=_commit(blame))


def _author_of_setting(past: Past, known: frozenset[str]) -> tuple[LineAuthor, ...]:
    """Who last changed what sets the value that the failing line reads, where that is another."""
    path, line = past.places[0] if past.places else ("", 0)
    text = past.read(path) if path and (path, line) not in past.unfit else ""
    steps = value_flow(path, text, line, names_in_message(past.case)) if text else ()
    lines = {one.line for one in steps if one.depth == 1}
    if not lines or max(lines) - min(lines) > limits.SETTING_LINES:
        return ()
    blames = [one for one in past.blame(path, min(lines), max(lines)) if one.line in lines]
    newest = max(blames, key=lambda blame: blame.at, default=None)
    if newest is None or newest.sha in known:
        return ()
    return (LineAuthor(path=path, line=newest.line, kind="sets", commit=_commit(newest)),)


def _authors_of_definitions(past: Past, previews: tuple[Preview, ...]) -> Iterator[LineAuthor]:
    """Who wrote the newest line of each definition that the failing lines use, where it is new."""
    flow = [one for one in reversed(previews) if one.kind == "flow"]
    heads = {(one.path, one.until or -one.start): one for one in flow}
    for preview in tuple(reversed(heads.values()))[: limits.BLAMED_DEFINITIONS]:
        blames = past.blame(preview.path, preview.start, preview.end)
        newest = max(blames, key=lambda blame: blame.at, default=None)
        if newest and past.is_near(commit := _commit(newest)):
            line = newest.line
            yield LineAuthor(path=preview.path, line=line, kind="used", commit=commit)


def _renames(past: Past) -> tuple[Rename, ...]:
    """Recent changes that replaced the name which the message misses."""
    trace = past.case.trace
    message = (trace.root.message if trace else "") or past.case.leader.message
    symptom = symptom_of(root_class(past.case.leader, trace), message)
    name = symptom.name or symptom.keyword or symptom.key
    if len(name) < limits.SHORTEST_RENAMED:
        return ()
    renames = (
        Rename(old=name, new=new, path=file.path, commit=shown.commit)
        for shown in past.recent_diffs
        for file in shown.files
        if (new := renamed_to(name, file.diff))
    )
    return tuple(renames)[: limits.RENAMES]


def _dependencies(past: Past) -> tuple[DependencyChange, ...]:
    """Libraries whose version changed shortly before; by which commit, where that is recent."""
    between = (
        one
        for file in past.released_files
        if _is_of_application(file)
        for one in dependency_changes(file)
    )
    recent = (
        one.model_copy(update={"commit": shown.commit})
        for shown in past.recent_diffs
        for file in shown.files
        if _is_of_application(file)
        for one in dependency_changes(file)
    )
    known = {(one.name, one.new): one for one in (*between, *recent)}
    return tuple(known.values())[: limits.DEPENDENCIES]


def _candidates(
    past: Past, likely: tuple[LikelyFile, ...], pulls: tuple[MergedPull, ...]
) -> tuple[MergedPull, ...]:
    """Changes before the onset that touched the case's files, newest first."""
    ranked = candidates(past.case, likely, pulls, past.releases)
    known = {one.pull.sha: one.pull for one in ranked}
    for path in past.files[: limits.HISTORIES]:
        for commit in past.history(path):
            is_known = any(commit.sha in (one.sha, *one.commits) for one in known.values())
            if past.is_near(commit) and not is_known:
                known[commit.sha] = as_change(commit, path)
    newest = sorted(known.values(), key=lambda one: (one.merged_at, one.sha), reverse=True)
    return tuple(newest[: limits.CANDIDATES])


def _deployment(past: Past, began: Onset) -> Deployment | None:
    """What went to production last before the onset: a release, else the commits of two hours."""
    return _release(past, began) or _fresh_commits(past, began)


def _release(past: Past, began: Onset) -> Deployment | None:
    one = past.released
    if one is None or one.release.at > began.at or not past.released_paths:
        return None
    age = began.at - one.release.at
    files = past.released_files + (past.compared(one) if age < FRESH else ())
    made = f"made {ago(age)} before {began.because}, against {one.before.version}"
    name = f"release {one.release.version}, {made}"
    return _shown(past, name, past.released_paths, files, whole=age < FRESH)


def _fresh_commits(past: Past, began: Onset) -> Deployment | None:
    fresh = [one for one in past.recent_diffs if began.at - one.commit.at < FRESH]
    if not fresh:
        return None
    names = ", ".join(one.commit.sha[:10] for one in fresh)
    files = tuple(file for one in fresh for file in one.files)
    paths = tuple(dict.fromkeys(file.path for file in files))
    name = f"{names}, committed within {ago(FRESH)} before {began.because}"
    return _shown(past, name, paths, files, whole=True)


def _shown(
    past: Past, name: str, paths: tuple[str, ...], files: tuple[ChangedFile, ...], *, whole: bool
) -> Deployment:
    """The case's own files come first; the changes of others are shown only where `whole`."""
    own = set(past.files)
    once = {(file.path, file.diff): file for file in files}.values()
    shown = [file for file in once if file.path in own or (whole and not _is_bulk(file))]
    return Deployment(
        name=name,
        paths=tuple(sorted(paths, key=lambda path: path not in own))[: limits.CHANGED_PATHS],
        changed=len(paths),
        diffs=tuple(sorted(shown, key=lambda file: file.path not in own))[: limits.DIFFS],
    )


def _with_pull(author: LineAuthor, pulls: tuple[MergedPull, ...]) -> LineAuthor:
    """Add the number of the pull request that brought the commit, where only `pulls` knows it."""
    commit = author.commit
    brought = next((one.number for one in pulls if is_of(one, commit.sha)), 0)
    commit = commit.model_copy(update={"pull": commit.pull or brought})
    return author.model_copy(update={"commit": commit})


def _commit(blame: Blame) -> LoggedCommit:
    return LoggedCommit(
        sha=blame.sha, author=blame.author, at=blame.at, subject=blame.subject, pull=blame.pull
    )


def _is_of_application(file: ChangedFile) -> bool:
    """Tests and documents have libraries of their own."""
    return is_manifest(file.path) and not _ASIDE.search(file.path)


def _is_bulk(file: ChangedFile) -> bool:
    """Lock files and the like say little line by line."""
    return is_manifest(file.path) or not file.diff
