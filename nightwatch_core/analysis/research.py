"""Research for the first message: files, source, suspects, releases, learnings."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from functools import cached_property
from itertools import chain, islice
from typing import TypeVar

from nightwatch_core.analysis.previews import Read, caller, source_previews
from nightwatch_core.analysis.prompts import PRIORS
from nightwatch_core.code import candidate_symbols as symbols
from nightwatch_core.code.diffs import dependency_changes, is_manifest, renamed_to
from nightwatch_core.code.likely_files import likely_files
from nightwatch_core.code.record_fit import misfit
from nightwatch_core.code.releases import FirstFailing, ago, first_failing, onset
from nightwatch_core.code.suspects import NEAR_DAYS, as_change, candidates, is_of, suspects
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.code.tables import table_definitions
from nightwatch_core.code.value_flow import value_flow
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.intake.cases import root_class
from nightwatch_core.memory.researcher import learnings_for_case
from nightwatch_core.models import code as vcs
from nightwatch_core.models import research as context
from nightwatch_core.models.assignment import UnexplainedCase
from nightwatch_core.models.errors import Case
from nightwatch_core.models.knowledge import Pattern, PriorAnalysis, TaskFile
from nightwatch_core.models.value import Value
from nightwatch_core.patterns import patterns_for
from nightwatch_core.ports import CodeReader
from nightwatch_core.text.plain_text import release_called
from nightwatch_core.text.words import words_of_name as words
from nightwatch_core.traces.placing import PathIndex

TESTS = 4  # files
ROOM_FOR_CALLERS = 12_000  # characters of other previews
FEW_FRAMES, CALLERS, CALLER_LINES = 2, 2, 40  # own frames; items; lines of the named function
BLAMED_FRAMES, BLAMED_DEFINITIONS = 8, 5  # places
SETTING_LINES = 120  # between lines that set what the failing one reads
HISTORIES, MANIFESTS = 3, 4  # files whose past is read
RECENT, RECENT_READ = 8, 20  # commits before the onset whose changes are read; commits listed
RENAMES, SHORTEST_RENAMED = 3, 3  # items; characters
DEPENDENCIES, CANDIDATES = 12, 8  # items
CHANGED_PATHS = 20  # files of a deployment that are named

# The history of one case's files, read up to the commit the case is read at.
#
# Nothing here fails: where a reader cannot tell, there is less to say, and the analyst can still
# ask.

T = TypeVar("T")
_NEAR = timedelta(days=NEAR_DAYS)


class _Past:
    """Changes before a case began, read once and within limits."""

    def __init__(self, case: Case, code: CodeReader, releases: tuple[vcs.Release, ...]) -> None:
        self.case, self.code, self.releases = case, code, releases
        self.onset = onset(case)
        frames = case.trace.in_app if case.trace else ()
        places = [(f.repo_path, f.line) for f in frames if f.repo_path and f.line]
        self.places = tuple(dict.fromkeys(places))[:BLAMED_FRAMES]
        self.unfit = frozenset((f.repo_path, f.line) for f in frames if f.fit == "differs")
        self.files = tuple(dict.fromkeys(path for path, _ in self.places))

    @cached_property
    def recent_diffs(self) -> tuple[vcs.CommitDiff, ...]:
        near = islice(filter(self.is_near, self.history("")), RECENT)
        return tuple(diff for item in near if (diff := _asked(self.code.show_commit, item.sha)))

    @cached_property
    def released(self) -> FirstFailing | None:
        failing = first_failing(self.case, self.onset, self.releases)
        if failing is None or self.onset is None:
            return None
        is_whole = failing.before.sha and failing.release.sha not in ("", failing.before.sha)
        return failing if is_whole and self.onset.at - failing.release.at <= _NEAR else None

    @cached_property
    def released_paths(self) -> tuple[str, ...]:
        failing = self.released
        if failing is None:
            return ()
        return _asked(self.code.paths_changed, failing.before.sha, failing.release.sha) or ()

    @cached_property
    def released_manifests(self) -> tuple[vcs.ChangedFile, ...]:
        failing = self.released
        if failing is None:
            return ()
        shas = (failing.before.sha, failing.release.sha)
        manifests = [path for path in self.released_paths if is_manifest(path)][:MANIFESTS]
        compared = (_asked(self.code.compare, *shas, path) or () for path in manifests)
        return tuple(chain.from_iterable(compared))

    def is_near(self, commit: vcs.LoggedCommit) -> bool:
        return self.onset is not None and timedelta() <= self.onset.at - commit.at <= _NEAR

    def blame(self, path: str, start: int, end: int) -> tuple[vcs.Blame, ...]:
        return _asked(self.code.blame, path, start, end) or ()

    def history(self, path: str) -> tuple[vcs.LoggedCommit, ...]:
        return _asked(self.code.history, path, "", RECENT_READ) or ()

    def read(self, path: str) -> str:
        return _asked(self.code.read_file, path) or ""


def _asked(ask: Callable[..., T], *arguments: object) -> T | None:
    try:
        return ask(*arguments)
    except (GiveUp, TryLater):
        return None


# What the history says about a case: who wrote its lines, and what came before it began.

_ASIDE = re.compile(r"(?:^|[/._-])(?:tests?|docs?|dev|lint)(?:[/._-])", re.IGNORECASE)
FRESH = timedelta(hours=2)  # before an error, in which commits count as deployed for it


def changes_of(
    case: Case,
    previews: tuple[context.Preview, ...],
    likely: tuple[context.LikelyFile, ...],
    code: CodeReader,
    pulls: Iterable[vcs.MergedPull] = (),
    releases: tuple[vcs.Release, ...] = (),
) -> context.CodeChanges:
    """Gather who wrote the case's lines, and what was changed and deployed before it began."""
    past, merged = _Past(case, code, releases), tuple(pulls)
    written = tuple(_authors_of_frames(past))
    set_by = _author_of_setting(past, frozenset(item.commit.sha for item in written))
    authors = []
    for author in (*written[:1], *set_by, *written[1:], *_authors_of_definitions(past, previews)):
        commit = author.commit
        brought = next((pull for pull in merged if is_of(pull, commit.sha)), None)
        if brought and not commit.pull:
            commit = commit.model_copy(update={"pull": brought.number, "sign": brought.sign})
        authors.append(author.model_copy(update={"commit": commit}))
    return context.CodeChanges(
        onset=past.onset,
        authors=tuple(authors),
        renames=_renames(past),
        dependencies=_dependencies(past),
        deployment=_deployment(past, past.onset) if past.onset else None,
        candidates=_candidates(past, likely, merged),
    )


def _authors_of_frames(past: _Past) -> Iterator[context.LineAuthor]:
    for number, (path, line) in enumerate(past.places):
        kind: context.AuthorKind = "caller" if number else "failing"
        for blame in () if (path, line) in past.unfit else past.blame(path, line, line):
            yield context.LineAuthor(path=path, line=line, kind=kind, commit=_commit(blame))


def _author_of_setting(past: _Past, shas: frozenset[str]) -> tuple[context.LineAuthor, ...]:
    path, line = past.places[0] if past.places else ("", 0)
    text = past.read(path) if path and (path, line) not in past.unfit else ""
    steps = value_flow(path, text, line, symbols.names_in_message(past.case)) if text else ()
    lines = {step.line for step in steps if step.depth == 1}
    if not lines or max(lines) - min(lines) > SETTING_LINES:
        return ()
    blames = [blame for blame in past.blame(path, min(lines), max(lines)) if blame.line in lines]
    newest = max(blames, key=lambda blame: blame.at, default=None)
    if newest is None or newest.sha in shas:
        return ()
    return (context.LineAuthor(path=path, line=newest.line, kind="sets", commit=_commit(newest)),)


def _authors_of_definitions(
    past: _Past, previews: tuple[context.Preview, ...]
) -> Iterator[context.LineAuthor]:
    for table in [item for item in previews if item.kind == "table"][-1:]:
        written = past.blame(table.path, table.start, table.end)
        if newest := max(written, key=lambda blame: blame.at, default=None):
            line, commit = newest.line, _commit(newest)
            yield context.LineAuthor(path=table.path, line=line, kind="table", commit=commit)
    flow = [preview for preview in reversed(previews) if preview.kind == "flow"]
    heads = {(item.path, item.until or -item.start): item for item in flow}
    for preview in tuple(reversed(heads.values()))[:BLAMED_DEFINITIONS]:
        blames = past.blame(preview.path, preview.start, preview.end)
        newest = max(blames, key=lambda blame: blame.at, default=None)
        if newest and past.is_near(commit := _commit(newest)):
            line = newest.line
            yield context.LineAuthor(path=preview.path, line=line, kind="used", commit=commit)


def _renames(past: _Past) -> tuple[context.Rename, ...]:
    trace = past.case.trace
    message = (trace.root.message if trace else "") or past.case.leader.message
    symptom = symptom_of(root_class(past.case.leader, trace), message)
    name = symptom.name or symptom.keyword or symptom.key
    if len(name) < SHORTEST_RENAMED:
        return ()
    renames = (
        context.Rename(old=name, new=new, path=file.path, commit=shown.commit)
        for shown in past.recent_diffs
        for file in shown.files
        if (new := renamed_to(name, file.diff))
    )
    return tuple(renames)[:RENAMES]


def _dependencies(past: _Past) -> tuple[context.DependencyChange, ...]:
    """Libraries whose version changed shortly before; by which commit, where that is recent."""
    files: list[tuple[vcs.ChangedFile, vcs.LoggedCommit | None]]
    files = [(file, None) for file in past.released_manifests]
    files += [(file, shown.commit) for shown in past.recent_diffs for file in shown.files]
    changes = {
        (change.name, change.new): change.model_copy(update={"commit": commit})
        for file, commit in files
        if is_manifest(file.path) and not _ASIDE.search(file.path)
        for change in dependency_changes(file)
    }
    return tuple(changes.values())[:DEPENDENCIES]


def _candidates(
    past: _Past, likely: tuple[context.LikelyFile, ...], pulls: tuple[vcs.MergedPull, ...]
) -> tuple[vcs.MergedPull, ...]:
    changes = {pull.sha: pull for pull in candidates(past.case, likely, pulls)}
    for path in past.files[:HISTORIES]:
        for commit in past.history(path):
            is_known = any(commit.sha in (item.sha, *item.commits) for item in changes.values())
            if past.is_near(commit) and not is_known:
                changes[commit.sha] = as_change(commit, path)
    newest = sorted(changes.values(), key=lambda item: (item.merged_at, item.sha), reverse=True)
    return tuple(newest[:CANDIDATES])


def _deployment(past: _Past, began: context.Onset) -> context.Deployment | None:
    """The release that brought it, else the commits just before; the case's own files first."""
    release = past.released
    if release and release.release.at <= began.at and past.released_paths:
        paths, age = past.released_paths, began.at - release.release.at
        made = f"made {ago(age)} before {began.because}, against {release.before.version}"
        name = f"{release_called(release.release.version)}, {made}"
    else:
        fresh = [diff for diff in past.recent_diffs if began.at - diff.commit.at < FRESH]
        if not fresh:
            return None
        paths = tuple(dict.fromkeys(file.path for item in fresh for file in item.files))
        names = ", ".join(item.commit.sha[:10] for item in fresh)
        name = f"{names}, committed within {ago(FRESH)} before {began.because}"
    ordered = sorted(paths, key=lambda path: path not in past.files)
    return context.Deployment(name=name, paths=tuple(ordered[:CHANGED_PATHS]), changed=len(paths))


def _commit(blame: vcs.Blame) -> vcs.LoggedCommit:
    facts = {name: getattr(blame, name) for name in vcs.LoggedCommit.model_fields}
    return vcs.LoggedCommit(**facts)


def gather(
    case: Case,
    index: PathIndex,
    read: Read,
    pulls: Iterable[vcs.MergedPull] = (),
    releases: tuple[vcs.Release, ...] = (),
    priors: tuple[PriorAnalysis, ...] = (),
    search: symbols.Search | None = None,
    code: CodeReader | None = None,
) -> context.ResearchContext:
    """Collect the context of a case before its analysis; `read` gives a file's text or None.

    `search` finds lines of the tree that hold a text; without it fewer definitions are found.
    `code` reads the history; without it nothing is suspected.
    """
    likely = likely_files(case, index)
    own = tuple(frame.repo_path for frame in symbols.frames_of(case))
    files = symbols.Lookup(index, read, search, own)
    unfit = misfit(case, files.text)
    members = symbols.names_in_message(case)
    previews = source_previews(case, likely, files.text, members)
    seen = {(shown.path, line) for shown in previews for line in range(shown.start, shown.end + 1)}
    previews += table_definitions(case, files, seen)
    previews += symbols.called_definitions(case, files, seen, members)
    if sum(len(shown.text) for shown in previews) < ROOM_FOR_CALLERS:
        previews += tuple(_outside_of(case, files, seen))
    failing = dict.fromkeys(shown.path for shown in previews if shown.kind == "failing")
    route = re.search(r"/[\w/-]{5,}", case.leader.transaction)
    address = route[0] if route else ""
    named = (files.tests_of(path, _said_by_tests(case, path), address) for path in failing)
    tests = dict.fromkeys(chain.from_iterable(named))
    merged, changes = tuple(pulls), context.CodeChanges()
    if code and not unfit:
        changes = changes_of(case, previews, likely, code, merged, releases)
    useful = (
        prior
        for prior in priors
        if prior.lesson.has_cause or (prior.match.is_same and prior.lesson.outcomes)
    )
    return context.ResearchContext(
        likely_files=likely,
        previews=previews,
        tests=tuple(tests)[:TESTS],
        suspects=suspects(case, changes, merged, releases),
        changes=changes,
        misfit=unfit,
        priors=tuple(useful)[:PRIORS],
    )


_DOTTED = re.compile(r"(?P<owner>\w+)(?:\.|#|::?|->)(?P<name>[A-Za-z_]\w*[?!]?)(?![\w.#:/])")


def _outside_of(
    case: Case, lookup: symbols.Lookup, seen: symbols.Shown
) -> Iterator[context.Preview]:
    """Show the function that the transaction names, where a trace has one or two own frames.

    Where that does not use the outermost frame's function, its callers, too.
    """
    frames = symbols.frames_of(case)
    if case.trace is None or not 0 < len(frames) <= FEW_FRAMES:
        return
    outer = max(frames, key=case.trace.in_app.index)
    name = re.split(r"[^\w?!]", outer.function)[-1]
    for found in _DOTTED.finditer(case.leader.transaction):
        owner, like = found["owner"], outer.repo_path
        use = symbols.Use(name=found["name"], path=like, receiver=owner, owners=(owner,))
        classes = lookup.defining(owner, like) if owner[:1].isupper() else ()
        members = (lookup.member(use.name, owner, path) for path in classes)
        place = lookup.place(use) or next(filter(None, members), None)
        because = "the transaction names it"
        if place and (begin := symbols.cut(place, lookup, seen, "frame", because, CALLER_LINES)):
            symbols.mark(begin, seen)
            yield begin
            if name in begin.text:
                return
    for hit in lookup.callers(name, outer.repo_path)[:CALLERS]:
        if (hit.path, hit.line) not in seen:
            shown = caller(hit.path, lookup.text(hit.path) or "", hit.line)
            symbols.mark(shown, seen)
            yield shown.model_copy(update={"because": f"line {hit.line} calls {name}"})


def _said_by_tests(case: Case, path: str) -> Iterator[str]:
    """List what a test of a failing file says: its function, or the module it imports."""
    frames = case.trace.in_app if case.trace else ()
    names = (re.split(r"[^\w]", item.function)[-1] for item in frames if item.repo_path == path)
    yield from islice((n for n in names if len(words(n)) > 1 and not n.startswith("__")), 1)
    stem = path.rpartition(".")[0].removesuffix("/__init__")
    yield ".".join(stem.split("/")[-2:]) if path.endswith(".py") else stem.rpartition("/")[2]


class PromptLearnings(Value):
    """Notes and patterns of earlier nights for the analysts."""

    tasks: tuple[TaskFile, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    complaints: tuple[str, ...] = ()

    def add_to(self, unknown: UnexplainedCase) -> UnexplainedCase:
        """Add the notes and patterns about a case that its earlier cases do not hold."""
        own = {unknown.case.fingerprint, *unknown.case.aliases}
        priors = {prior.lesson.fingerprint for prior in unknown.priors} - own
        tasks = (task for task in self.tasks if task.id not in priors)
        learnings = learnings_for_case(unknown.case, tasks)
        patterns = patterns_for(unknown.case, self.patterns)
        return unknown.model_copy(update={"learnings": learnings, "patterns": patterns})


def with_learnings(
    research: context.ResearchContext, unknown: UnexplainedCase
) -> context.ResearchContext:
    """Add the notes and patterns that were found for the case."""
    learnings = {"learnings": unknown.learnings, "patterns": unknown.patterns}
    return research.model_copy(update=learnings)
