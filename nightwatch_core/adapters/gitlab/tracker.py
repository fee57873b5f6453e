"""Our issues and merge requests on GitLab, as people and pipelines have left them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, islice

from nightwatch_core.adapters.git.history import hunks
from nightwatch_core.adapters.gitlab.client import Project
from nightwatch_core.adapters.gitlab.outbox import LISTS, REPORTER, notes
from nightwatch_core.adapters.gitlab.rows import (
    CommitRow,
    DiffRow,
    ItemRow,
    JobRow,
    MemberRow,
    MergeRow,
    NoteRow,
    PipelineRow,
)
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.rows import Item
from nightwatch_core.adapters.hosts.tracker import HISTORY_READ, HostTracker, other_pulls
from nightwatch_core.adapters.hosts.writes import unless_absent
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile, CiRun, CiState, OtherPull
from nightwatch_core.text.markers import CORRECTION, LABEL, count_of_steps

OTHER_PULLS = 40  # whose changes are read, a request each; open ones first
FAILED_JOBS, LOG_CHARACTERS = 10, 12_000
STATES: Mapping[str, CiState] = {
    "success": "passed", "failed": "failed", "canceled": "failed", "skipped": "none",
}  # fmt: skip
"""What a pipeline's status means; any other one has not ended."""
_BOT = re.compile(r"(project|group)_\d+_bot")
_CODES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|section_(?:start|end):\d+:[^\r\n]{0,200}\r")


class GitLabTracker(HostTracker):
    """A `Tracker` of one project."""

    def __init__(self, project: Project, ours: Ours | None = None) -> None:
        super().__init__(project.place.path, ours or Ours(project.account))
        self._project = project

    def ci(self, numbers: tuple[int, ...]) -> tuple[CiRun, ...]:
        return tuple(map(self._run, map(self._pull, numbers)))

    def pulls_changing(self, paths: tuple[str, ...], since: datetime) -> tuple[OtherPull, ...]:
        asked = {"state": "all", "order_by": "updated_at", "updated_after": since.isoformat()}
        rows = self._project.rows(ItemRow, LISTS["pull"], scope="all", **asked)
        pulls = other_pulls(rows, lambda row: self._files(row, frozenset(paths)), OTHER_PULLS)
        return tuple(pull for pull in pulls if pull.files)

    def _rows(self) -> Iterable[Item]:
        asked = {"labels": LABEL, "scope": "all", "order_by": "created_at", "sort": "asc"}
        issues = self._project.rows(ItemRow, LISTS["issue"], **asked, pagination="keyset")
        return chain(issues, self._project.rows(ItemRow, LISTS["pull"], **asked, state="all"))

    def _with_branches(self, rows: tuple[Item, ...]) -> tuple[Item, ...]:
        return rows

    def _comments(self, row: Item) -> Iterable[NoteRow]:
        rows = notes(self._project, "pull" if row.is_pull else "issue", row.number)
        comments = unless_absent(lambda: tuple(rows)) or ()
        return [n.model_copy(update={"is_of_the_team": n.author in self._team}) for n in comments]

    @cached_property
    def _team(self) -> frozenset[str]:
        rows = self._project.rows(MemberRow, "/members/all")
        names = (row.name for row in rows if row.role >= REPORTER)
        return frozenset(name for name in names if not _BOT.match(name))

    def _edited(self, merged: Sequence[int]) -> frozenset[int]:
        return frozenset(number for number in merged if self._was_edited(number))

    def _was_edited(self, number: int) -> bool:
        """Tell whether more commits than ours were merged; an amended one is not noticed."""
        rows = self._project.rows(CommitRow, f"{LISTS['pull']}/{number}/commits")
        texts = [row.message for row in rows if not row.message.startswith("Merge ")]
        texts = [text for text in texts if text.strip() != CORRECTION]
        return len(texts) > 1 and {count_of_steps(text) for text in texts} != {len(texts)}

    def _ci_states(self, heads: Mapping[int, str]) -> Mapping[int, CiState]:
        return {number: _state(self._pull(number).pipeline) for number in heads}

    def _lacking(self) -> str:
        try:
            next(self._project.rows(PipelineRow, "/pipelines", per_page=1), None)
        except GiveUp as refused:
            return str(refused)
        return ""

    def _applied_at(self, key: str, base: str, since: datetime) -> datetime | None:
        asked = {"ref_name": base, "since": since.isoformat()}
        rows = self._project.rows(CommitRow, "/repository/commits", **asked)
        applied = (row.at for row in islice(rows, HISTORY_READ) if key in row.message)
        return next(applied, None)

    def _pull(self, number: int) -> MergeRow:
        return self._project.read(MergeRow, f"{LISTS['pull']}/{number}")

    def _run(self, pull: MergeRow) -> CiRun:
        pipeline, former = pull.pipeline, None
        failed = self._failed(pipeline.id) if pipeline and _state(pipeline) == "failed" else {}
        if failed and pull.base:
            asked = {"sha": pull.base, "order_by": "id", "sort": "desc"}
            former = next(self._project.rows(PipelineRow, "/pipelines", **asked), None)
        before = self._failed(former.id) if former else {}
        return CiRun(
            state=_state(pipeline),
            sha=pipeline.sha if pipeline else pull.head,
            failed=tuple(failed)[:FAILED_JOBS],
            before=bool(failed) and before.keys() >= failed.keys(),
            log=self._log(next(iter(failed.values()))) if failed else "",
        )

    def _failed(self, pipeline: int) -> dict[str, int]:
        """Return the ids of failed jobs by name, without those that may fail."""
        rows = self._project.rows(JobRow, f"/pipelines/{pipeline}/jobs", scope="failed")
        return {row.name: row.id for row in rows if not row.may_fail}

    def _log(self, job: int) -> str:
        try:
            text = self._project.content(f"/jobs/{job}/trace").decode(errors="replace")
        except GiveUp:  # it was deleted, or may not be read: that it failed stands
            return ""
        return _CODES.sub("", text[-4 * LOG_CHARACTERS :]).strip()[-LOG_CHARACTERS:]

    def _files(self, row: ItemRow, paths: frozenset[str]) -> Iterator[ChangedFile]:
        diffs = self._project.rows(DiffRow, f"{LISTS['pull']}/{row.number}/diffs")
        for diff in islice(diffs, 100):
            path, old = diff.new_path, diff.old_path
            if not paths.isdisjoint((path, old)):
                marks = [line[:1] for line in diff.diff.splitlines()]
                yield ChangedFile(
                    path=path,
                    old_path=old if old != path else "",
                    added=marks.count("+"),
                    removed=marks.count("-"),
                    diff=hunks(diff.diff),
                )


def _state(pipeline: PipelineRow | None) -> CiState:
    return STATES.get(pipeline.status, "pending") if pipeline else "none"
