"""What the rules make of a bug: its parent commit as a repository of its own, then as at night."""

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.rules.cases import Bug, Place, printed

from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.analysis import agent_specs
from nightwatch_core.analysis import analyst as plans
from nightwatch_core.analysis.analyst import Briefing, analyse
from nightwatch_core.analysis.research import gather
from nightwatch_core.code.failed_commit import merged_before
from nightwatch_core.code.record_fit import with_doubts
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Allowance
from nightwatch_core.models.errors import Case
from nightwatch_core.models.options import NightOptions
from nightwatch_core.rules.engine import RulesModel
from nightwatch_core.traces.placing import PathIndex, place_frames

_OPTIONS = NightOptions(model="rules")
_LOOK_BACK = timedelta(days=30)
_ALLOWANCE = Allowance(iterations=20, tokens=10_000_000, cost=None, seconds=120)


class Analysed(NamedTuple):
    """The verdict, and the frames of the data that were not placed at their file and line."""

    analysis: Analysis
    misplaced: tuple[Place, ...]


def mirror_of(bug: Bug, mirrors: Path) -> Path | None:
    """The bare repository that holds the bug's commits; None where there is none."""
    folder = mirrors / bug.repo.replace("/", "+") / "repo"
    there = folder.is_dir() and not _git(folder, "cat-file", "-e", f"{bug.fix}^{{commit}}")[0]
    return folder if there else None


def analysed(bug: Bug, mirror: Path) -> Analysed:
    """Analyse the bug as a night with the rules does that runs when the fix was written."""
    with TemporaryDirectory(prefix="nightwatch-bug-") as name:
        folder = Path(name)
        repository = _at_parent(bug, mirror, folder / "repo.git")
        export = folder / "export.jsonl"
        export.write_text(json.dumps(_record(bug, mirror)) + "\n", "utf-8")
        return _analysed(bug, export, repository)


def _at_parent(bug: Bug, mirror: Path, folder: Path) -> Path:
    """A repository whose newest commit is the bug's parent; it borrows the mirror's objects."""
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", folder), check=True)
    (folder / "objects" / "info" / "alternates").write_text(f"{(mirror / 'objects').resolve()}\n")
    subprocess.run(
        ("git", "-C", folder, "update-ref", "refs/heads/main", bug.parent), check=True
    )  # fmt: skip
    return folder


def _record(bug: Bug, mirror: Path) -> dict[str, str | int]:
    def line_of(place: Place) -> str:
        if place not in bug.own:
            return ""
        rows = _git(mirror, "show", f"{bug.parent}:{place.path}")[1].split("\n")
        return rows[place.line - 1] if place.line <= len(rows) else ""

    written = int(_git(mirror, "show", "-s", "--format=%ct", bug.fix)[1])
    return {
        "error_class": bug.error_class,
        "message": bug.message,
        "transaction": bug.transaction,
        "timestamp": datetime.fromtimestamp(written, UTC).isoformat(),
        "commit": bug.parent,
        "count": 3,
        "stack_trace": printed(bug, line_of),
    }


def _analysed(bug: Bug, export: Path, repository: Path) -> Analysed:
    source, host = ErrorFiles((export,)), Checkout(repository)
    window = source.window(None, datetime.now(UTC))
    (group,) = source.error_groups(window).groups
    commit = host.head()
    tree = host.reader(commit)
    index = PathIndex(tree.paths())
    traces = tuple(
        place_frames(trace, index, tree.read_file, _OPTIONS) for trace in source.traces(group)
    )
    case = Case(leader=group, trace=traces[0] if traces else None)
    case = with_doubts(case, tree.read_file)
    research = gather(
        case,
        index=index,
        read=tree.read_file,
        search=tree.search,
        pulls=merged_before(host.pulls_merged_since(window.since - _LOOK_BACK), commit),
        code=tree,
    )
    briefing = Briefing(
        case=case,
        traces=traces,
        research=research,
        code=tree,
        model=RulesModel(),
        agent=agent_specs.BUILT_IN,
        plan=plans.plan(case, agent_specs.BUILT_IN, _OPTIONS),
        allowance=_ALLOWANCE,
        clock=SystemClock(),
    )
    return Analysed(analyse(briefing), _misplaced(bug, case))


def _misplaced(bug: Bug, case: Case) -> tuple[Place, ...]:
    frames = case.trace.in_app if case.trace else ()
    placed = {(frame.repo_path or frame.path, frame.line) for frame in frames}
    return tuple(item for item in bug.own if (item.path, item.line) not in placed)


def _git(folder: Path, *arguments: str) -> tuple[int, str]:
    ended = subprocess.run(
        ("git", "-C", folder, *arguments), capture_output=True, text=True, errors="replace"
    )
    return ended.returncode, ended.stdout
