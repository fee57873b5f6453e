"""Publishes issues, notes and draft merge requests on GitLab, each once, whatever is lost."""

import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from urllib.parse import quote

from nightwatch_core.adapters.gitlab.branches import Branches
from nightwatch_core.adapters.gitlab.client import SERVICE, Project
from nightwatch_core.adapters.gitlab.rows import ItemRow, LabelRow, NoteRow, ProjectRow, TokenRow
from nightwatch_core.adapters.hosts.outbox import HostOutbox, Kind
from nightwatch_core.adapters.hosts.ownership import Ours
from nightwatch_core.adapters.hosts.rows import read
from nightwatch_core.adapters.hosts.writes import Forbidden, Rejected, Writes
from nightwatch_core.errors import GiveUp
from nightwatch_core.models import proposals
from nightwatch_core.ports import Clock
from nightwatch_core.privacy.scrubber import REMOVAL
from nightwatch_core.text.markers import LABEL

LISTS = {"issue": "/issues", "pull": "/merge_requests"}
TITLE = 255  # characters
REPORTER, DEVELOPER = 20, 30  # roles: who may label issues, who may push
_COMMAND = re.compile(r"^(?=/[a-z])", re.IGNORECASE | re.MULTILINE)


class GitLabOutbox(HostOutbox):
    """An `Outbox` into one project; issues and merge requests have numbers of their own."""

    longest_label = 255

    def __init__(
        self,
        project: Project,
        clock: Clock,
        pause: Callable[[float], None] = time.sleep,
        *,
        pulls: bool = True,
        ours: Ours | None = None,
        scrub: Callable[[str], str] = REMOVAL.scrub,
    ) -> None:
        """Ask nothing yet; `pulls` is whether `probe` asks for what merge requests need, too."""
        self._project, self._pulls = project, pulls
        writes = Writes(SERVICE, clock, pause)
        branches = Branches(project, writes)
        super().__init__(branches, writes, clock, ours or Ours(project.account), scrub)

    def probe(self) -> str:
        """Say what can be written, without writing; raises `GiveUp` that names what is missing."""
        row, name = self._project.read(ProjectRow), self._project.place.path
        try:
            answer = self._project.ask("/personal_access_tokens/self", below=False)
        except Rejected:  # an older server, or another kind of token
            answer = {}
        scopes = read(TokenRow, answer, SERVICE).scopes
        if "api" not in scopes:
            held = ", ".join(scopes) or "none"
            raise Forbidden(f"the token lacks the scope api (it has {held}): make a new one")
        role, needed = ("Developer", DEVELOPER) if self._pulls else ("Reporter", REPORTER)
        if row.role < needed:
            raise Forbidden(f"the token's owner needs the role {role} in {name}")
        levels = {"issues": row.issues, "merge requests": row.merge_requests}
        for what in tuple(levels)[: 1 + self._pulls]:
            if row.archived or levels[what] == "disabled":
                raise GiveUp(f"{what} are switched off in {name}, or it is archived")
        finding = f"{name}: issues{' and merge requests' * self._pulls} can be written"
        if row.visibility != "public":
            return finding
        warning = f"{name} is public, everybody will read production errors in its issues"
        return f"{finding}. Warning: {warning}"

    def _default_branch(self) -> str:
        return self._project.read(ProjectRow).default_branch

    def _issues(self) -> Iterable[ItemRow]:
        asked = {"labels": LABEL, "scope": "all", "order_by": "created_at", "sort": "desc"}
        return self._project.rows(ItemRow, LISTS["issue"], **asked, pagination="keyset")

    def _item(self, on: Kind, number: int) -> ItemRow | None:
        return self._project.find(ItemRow, f"{LISTS[on]}/{number}")

    def _comments(self, on: Kind, number: int) -> Iterable[NoteRow]:
        return notes(self._project, on, number)

    def _pulls_of(self, branch: str) -> Iterable[ItemRow]:
        asked = {"source_branch": branch, "state": "all", "scope": "all"}
        return self._project.rows(ItemRow, LISTS["pull"], **asked)

    def _make_issue(self, issue: proposals.OpenIssue, labels: list[str]) -> ItemRow:
        return self._made("issue", issue.title, issue.body, labels)

    def _make_comment(self, on: Kind, number: int, body: str) -> NoteRow:
        path = f"{LISTS[on]}/{number}"
        row = self._project.make(NoteRow, f"{path}/notes", body=without_commands(body))
        return row.model_copy(update={"html_url": note_url(self._project, path, row)})

    def _make_pull(
        self, pull: proposals.DraftPull, base: str, labels: list[str]
    ) -> tuple[ItemRow, tuple[str, ...]]:
        branches = {"source_branch": pull.branch, "target_branch": base}
        return self._made("pull", f"Draft: {pull.title}", pull.body, labels, **branches), ()

    def _made(self, on: Kind, title: str, body: str, labels: list[str], **more: str) -> ItemRow:
        return self._project.make(
            ItemRow,
            LISTS[on],
            title=title[:TITLE],
            description=without_commands(body),
            labels=_commas(labels),
            **more,
        )

    def _reopen(self, number: int) -> None:
        self._project.change(f"{LISTS['issue']}/{number}", state_event="reopen")

    def _close(self, number: int) -> None:
        self._project.change(f"{LISTS['issue']}/{number}", state_event="close")

    def _make_label(self, name: str, color: str, text: str) -> None:
        find = partial(self._project.find, LabelRow, f"/labels/{quote(name, safe='')}")
        if find() is None:
            words = {"name": name, "color": f"#{color}", "description": text}
            self._writes.make(partial(self._project.make, LabelRow, "/labels", **words), find)

    def _rewrite(self, on: Kind, number: int, body: str) -> None:
        self._project.change(f"{LISTS[on]}/{number}", description=without_commands(body))

    def _label(self, on: Kind, number: int, labels: list[str]) -> None:
        self._project.change(f"{LISTS[on]}/{number}", add_labels=_commas(labels))


def without_commands(body: str) -> str:
    r"""Return a text of which no line is a quick action; the texts' own escapes come first.

    >>> without_commands("A\n/close\n /x")
    'A\n\\/close\n /x'
    """
    return _COMMAND.sub(r"\\", body.replace("\r", ""))


def notes(project: Project, on: Kind, number: int) -> Iterable[NoteRow]:
    """Yield what people and programs wrote about an item, oldest first."""
    path = f"{LISTS[on]}/{number}"
    rows = project.rows(NoteRow, f"{path}/notes", sort="asc", order_by="created_at")
    for row in rows:
        if not row.system:
            yield row.model_copy(update={"html_url": note_url(project, path, row)})


def note_url(project: Project, path: str, row: NoteRow) -> str:
    """Return where people read a note; GitLab does not tell it."""
    return f"{project.place.server}/{project.place.path}/-{path}#note_{row.id}"


def _commas(labels: Iterable[str]) -> str:
    return ",".join(label.replace(",", " ") for label in labels)
