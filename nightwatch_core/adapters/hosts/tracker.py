"""Our issues and pull requests on a code host: found by their keys, and as people have left them.

All are read from lists, which are up to date at once; a host's search is not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from nightwatch_core.adapters.git.command import TITLE_CHARACTERS
from nightwatch_core.adapters.hosts.ownership import Ours, why_unsure
from nightwatch_core.adapters.hosts.rows import Comment, Item
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile, CiState, OtherPull
from nightwatch_core.models.proposals import OwnItem
from nightwatch_core.text.markers import read_marker, read_patch_marker

ITEMS_WITH_COMMENTS = 30  # those that changed last
COMMENTS = 20  # of one item, the last ones
COMMENT_CHARACTERS = 2_000
BODY_CHARACTERS = 20_000  # of pull requests of others
HISTORY_READ = 500  # commits of the base in which an applied patch is looked for
PULLS_WITH_CHECKS = 10  # those that changed last
_LAST = datetime.max.replace(tzinfo=UTC)


class _Tracker(Protocol):
    """What a host answers."""

    def _rows(self) -> Iterable[Item]: ...  # with our label, in the order of making

    def _with_branches(self, rows: tuple[Item, ...]) -> tuple[Item, ...]: ...

    def _comments(self, row: Item) -> Iterable[Comment]: ...  # nothing of what was deleted

    def _edited(self, merged: Sequence[int]) -> frozenset[int]: ...

    def _ci_states(self, heads: Mapping[int, str]) -> Mapping[int, CiState]: ...

    def _lacking(self) -> str: ...  # what of checks cannot be read, and what to do

    def _applied_at(self, key: str, base: str, since: datetime) -> datetime | None: ...


class HostTracker(_Tracker):
    """A `Tracker` of one repository: ours has our label and marker, and we made it (`Ours`)."""

    def __init__(self, repository: str, ours: Ours) -> None:
        """Ask nothing before the first call; `repository` is its name with its owner."""
        self._name, self._ours = repository, ours

    def own_items(self) -> tuple[OwnItem, ...]:
        """Raises `GiveUp` where nobody can tell whether what carries our marker is ours."""
        rows, others = self._ours.sift(self._marked())
        if others and not self._ours.remembers(self._name):
            raise GiveUp(why_unsure(others))
        rows = self._with_branches(rows)
        recent = sorted(rows, key=lambda row: (row.updated_at or _LAST, row.number))
        recent = recent[-ITEMS_WITH_COMMENTS:]
        comments = {
            (row.is_pull, row.number): sorted(self._comments(row), key=lambda c: c.at or _LAST)
            for row in recent
        }
        edited = self._edited([row.number for row in recent if row.merged_at])
        heads = {row.number: row.head for row in recent if row.is_pull and row.head}
        latest = [*heads][-PULLS_WITH_CHECKS:]
        states = self._ci_states({number: heads[number] for number in latest})
        items = [
            _own_item(
                row,
                comments.get((row.is_pull, row.number), ()),
                edited=row.is_pull and row.number in edited,
                state=states.get(row.number, "none") if row.is_pull else "none",
            )
            for row in rows
        ]
        issues = (row for row in recent if not row.is_pull)
        patches = (p for row in issues for p in self._patch(row, comments[False, row.number]))
        return tuple(sorted((*items, *patches), key=lambda item: item.number))

    def probe(self) -> str:
        items, (_, others) = self.own_items(), self._ours.sift(self._marked())
        open_now = sum(item.state == "open" for item in items)
        finding = f"{self._name}: {len(items)} own items, {open_now} open"
        if others:
            finding += f"; {len(others)} items by others carry our marker and are ignored"
        if lacking := self._lacking():
            finding += f"; whether drafts pass is not known: {lacking}"
        return finding

    def _marked(self) -> tuple[Item, ...]:
        rows = {(row.is_pull, row.number): row for row in self._rows() if read_marker(row.body)}
        return tuple(rows.values())

    # Drafts without a branch: their patch is a comment on the issue, and people apply it.

    def _patch(self, issue: Item, comments: Sequence[Comment]) -> Iterator[OwnItem]:
        """Yield the newest patch that the issue carries, as a draft that has the issue's number.

        It is open until it is applied, or the issue is closed as not planned.
        """
        ours, own = self._ours.sift(comments)[0], read_marker(issue.body)
        for comment in reversed(ours):
            mark, patch = read_marker(comment.body), read_patch_marker(comment.body)
            if not mark or not patch or not own:
                continue
            fix, base = patch
            rejected = issue.state != "open" and issue.state_reason in ("not_planned", "duplicate")
            applied_at = self._applied_at(mark.key, base, comment.at or issue.updated_at or _LAST)
            yield OwnItem(
                kind="pull",
                number=issue.number,
                fingerprint=mark.fingerprint,
                also=tuple(dict.fromkeys((*mark.also, own.fingerprint, *own.also))),
                key=mark.key,
                title=issue.title,
                state="merged" if applied_at else "closed" if rejected else "open",
                url=comment.html_url,
                night=mark.night,
                closed_at=issue.closed_at if rejected else None,
                merged_at=applied_at,
                as_patch=True,
                fix=fix,
            )
            return


P = TypeVar("P", bound=Item)


def other_pulls(
    rows: Iterable[P], files_of: Callable[[P], Iterable[ChangedFile]], most: int
) -> tuple[OtherPull, ...]:
    """Return at most so many pull requests, open ones before others, as a list newest first."""
    read = sorted(rows, key=lambda row: row.state != "open")[:most]
    return tuple(
        OtherPull(
            number=row.number,
            title=row.title[:TITLE_CHARACTERS],
            body=row.body[:BODY_CHARACTERS],
            author=row.author,
            branch=row.branch,
            url=row.html_url,
            state="merged" if row.merged_at else "open" if row.state == "open" else "closed",
            at=row.updated_at or _LAST,
            merged_at=row.merged_at,
            sha=row.merged_as,
            files=tuple(files_of(row)),
        )
        for row in sorted(read, key=lambda row: row.updated_at or _LAST, reverse=True)
    )


def _own_item(row: Item, comments: Sequence[Comment], *, edited: bool, state: CiState) -> OwnItem:
    marker = read_marker(row.body)
    assert marker is not None
    closed = row.state != "open"
    said = [(word, comment.author) for comment in comments if (word := _word(comment))][-COMMENTS:]
    return OwnItem(
        kind="pull" if row.is_pull else "issue",
        number=row.number,
        fingerprint=marker.fingerprint,
        also=marker.also,
        key=marker.key,
        title=row.title,
        state="merged" if row.merged_at else "closed" if closed else "open",
        # A duplicate is one that nobody wants to see again.
        state_reason=row.state_reason.replace("duplicate", "not_planned"),
        url=row.html_url,
        branch=row.branch,
        labels=row.labels,
        words=tuple(word for word, _ in said),
        speakers=tuple(author for _, author in said),
        closed_by=row.closed_by if closed else "",
        night=marker.night,
        closed_at=row.closed_at if closed else None,
        merged_at=row.merged_at,
        edited=edited,
        checks=state if state in ("passed", "failed") else "",
    )


def _word(comment: Comment) -> str:
    """Return what somebody of the team wrote; empty for strangers, programs and ourselves."""
    if not comment.is_of_the_team or read_marker(comment.body):
        return ""
    text = comment.body.strip()[:COMMENT_CHARACTERS]
    return ": ".join(part for part in (comment.verdict, text) if part)
