"""Reads the source tree of one commit through GitHub's API, each file once a night.

For repositories that may not be cloned. What was read is kept as records, so that neither another
analysis nor a night that is taken up again asks for it twice.
"""

import base64
import hashlib
import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

from nightwatch_core.adapters.branch_changes import FOLDER
from nightwatch_core.adapters.git import is_sha
from nightwatch_core.adapters.git_blame import LONGEST_LINE
from nightwatch_core.adapters.git_reader import LARGEST_FILE, LARGEST_LIMIT, LONGEST_QUERY
from nightwatch_core.adapters.git_tree import EXECUTABLE, FILE, KINDS
from nightwatch_core.adapters.github_rows import (
    BlameRange,
    BlobRow,
    BlobText,
    Place,
    Tree,
    TreeEntry,
    read,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Blame, Commit, Entry, Hit
from nightwatch_core.ports import Records

MOST_SEARCHED = 400  # files a search may read; it has to name a folder where there are more
_TOGETHER = 40  # files asked for at once
_SNIFFED = 8_000  # bytes; a NUL among them makes a file binary
_BLAME = (
    "query($owner:String!,$name:String!,$sha:String!,$path:String!){repository(owner:$owner,"
    "name:$name){object(expression:$sha){... on Commit{blame(path:$path){ranges{startingLine "
    "endingLine commit{oid messageHeadline committedDate author{name}}}}}}}}"
)


class ApiReader:
    """A `CodeReader`; safe for many threads, one of which asks for what the others wait for."""

    def __init__(self, place: Place, commit: Commit, records: Records) -> None:
        """Raises `GiveUp` where the commit is not named by its full sha."""
        if not is_sha(commit.sha):
            raise GiveUp(f"{commit.sha[:80]!a} is not a full commit sha")
        self._place = place
        self._commit = commit
        self._records = records
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)

    @property
    def commit(self) -> Commit:
        """The commit everything is read at."""
        return self._commit

    def paths(self) -> tuple[str, ...]:
        """Every file, sorted; links and submodules are not files."""
        return tuple(
            sorted(path for path, e in self._nodes.items() if e.mode in (FILE, EXECUTABLE))
        )

    def read_file(self, path: str) -> str | None:
        """The text at `path`; None for what is not there, no file, binary, or over 2 MiB."""
        entry = self._readable(path)
        if entry is None:
            return None
        text = self._once("read", path, lambda: self._blob(entry.sha))
        return text if isinstance(text, str) else None

    def search(self, query: str, path: str = "", limit: int = 50) -> tuple[Hit, ...]:
        """Lines that hold `query` literally, in the order of paths and lines.

        Raises `GiveUp` where more than 400 files would have to be read: name a folder.
        """
        below = _normal(path)
        inside = [
            one
            for one in self.paths()
            if (one == below or one.startswith(f"{below}/" if below else ""))
            and self._readable(one)
        ]
        if not 0 < len(query) <= LONGEST_QUERY or "\n" in query or "\0" in query:
            return ()
        if len(inside) > MOST_SEARCHED:
            raise GiveUp(f"{len(inside)} files are too many to search: name a folder")
        self._fetch_together(inside)
        limit = max(1, min(limit, LARGEST_LIMIT))
        hits: list[Hit] = []
        for one in inside:
            for number, line in enumerate((self.read_file(one) or "").split("\n"), start=1):
                if query in line:
                    text = line.rstrip("\r")[:LONGEST_LINE]
                    hits.append(Hit(path=one, line=number, text=text))
                    if len(hits) == limit:
                        return tuple(hits)
        return tuple(hits)

    def list_directory(self, path: str = "") -> tuple[Entry, ...]:
        """The names in a folder, sorted."""
        folder = _normal(path)
        head = f"{folder}/" if folder else ""
        names = {
            one.removeprefix(head): entry
            for one, entry in self._nodes.items()
            if one.startswith(head) and "/" not in one[len(head) :]
        }
        return tuple(
            Entry(
                name=name,
                kind="folder" if entry.mode == FOLDER else KINDS.get(entry.mode, "file"),
                size=entry.size,
            )
            for name, entry in sorted(names.items())
        )

    def blame(self, path: str, line: int) -> Blame | None:
        """Who last wrote `line`; None where there is no such line of text."""
        text = self.read_file(path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 1 <= line <= len(lines):
            return None
        kept = self._once("blame", path, lambda: self._ranges(path))
        ranges = (read(BlameRange, one) for one in (kept if isinstance(kept, list) else ()))
        found = next((r for r in ranges if r.startingLine <= line <= r.endingLine), None)
        if found is None:
            return None
        return Blame(
            sha=found.commit.oid,
            author=found.commit.author.name if found.commit.author else "",
            at=found.commit.committedDate,
            subject=found.commit.messageHeadline,
            line=line,
            text=lines[line - 1].rstrip("\r")[:LONGEST_LINE],
        )

    @cached_property
    def _nodes(self) -> dict[str, TreeEntry]:
        place, sha = self._place, self._commit.sha

        def ask() -> Any:
            answer = place.client.ask(lambda rest: rest.git.get_tree(*place.at, sha, recursive="1"))
            return read(Tree, answer).model_dump(mode="json")

        tree = read(Tree, self._once("tree", "", ask))
        if tree.truncated:
            raise GiveUp("the repository is too large for GitHub's API: allow it to be cloned")
        return {entry.path: entry for entry in tree.tree}

    def _readable(self, path: str) -> TreeEntry | None:
        entry = self._nodes.get(path)
        is_file = entry is not None and entry.mode in (FILE, EXECUTABLE)
        return entry if is_file and entry and (entry.size or 0) <= LARGEST_FILE else None

    def _blob(self, oid: str) -> str | None:
        at, client = self._place.at, self._place.client
        answer = read(BlobRow, client.ask(lambda rest: rest.git.get_blob(*at, oid)))
        try:
            content = base64.b64decode(answer.content)
        except ValueError as error:
            raise GiveUp(f"GitHub's file {oid} is no base64") from error
        return None if b"\0" in content[:_SNIFFED] else content.decode(errors="replace")

    def _fetch_together(self, paths: Iterable[str]) -> None:
        """Many files by one question; those it cannot tell whole are asked for one by one."""
        missing = [path for path in paths if self._records.get(self._key("read", path)) is None]
        for start in range(0, len(missing), _TOGETHER):
            some = missing[start : start + _TOGETHER]
            names = {f"e{at}": f"{self._commit.sha}:{path}" for at, path in enumerate(some)}
            fields = " ".join(
                f"f{name[1:]}:object(expression:${name})"
                "{... on Blob{oid text isBinary isTruncated}}"
                for name in names
            )
            wanted = ",".join(f"${name}:String!" for name in names)
            query = (
                f"query($owner:String!,$name:String!,{wanted})"
                f"{{repository(owner:$owner,name:$name){{{fields}}}}}"
            )
            told = self._asked(query, names)
            for at, path in enumerate(some):
                blob = read(BlobText, told.get(f"f{at}") or {})
                is_whole = blob.oid == self._nodes[path].sha and not blob.isTruncated
                if is_whole and (blob.isBinary or blob.text is not None):
                    text = None if blob.isBinary else blob.text
                    self._records.put(self._key("read", path), json.dumps(text))

    def _ranges(self, path: str) -> list[dict[str, Any]]:
        told = self._asked(_BLAME, {"sha": self._commit.sha, "path": path})
        ranges = ((told.get("object") or {}).get("blame") or {}).get("ranges")
        return ranges if isinstance(ranges, list) else []

    def _asked(self, query: str, variables: dict[str, str]) -> dict[str, Any]:
        where = {"owner": self._place.owner, "name": self._place.name}
        told = self._place.client.graph(query, {**where, **variables}).get("repository")
        return told if isinstance(told, dict) else {}

    def _key(self, operation: str, argument: str) -> str:
        digest = hashlib.sha256(argument.encode(errors="replace")).hexdigest()[:24]
        where = f"{self._place.owner}__{self._place.name}/{self._commit.sha}"
        return f"code/{where}/{operation}-{digest}"

    def _once(self, operation: str, argument: str, ask: Callable[[], Any]) -> Any:
        """The record of a read, which one thread makes and the others wait for."""
        key = self._key(operation, argument)
        with self._locks[key]:
            kept = self._records.get(key)
            if kept is not None:
                return json.loads(kept)
            told = ask()
            self._records.put(key, json.dumps(told))
            return told


def _normal(path: str) -> str:
    """A folder as people write it.

    >>> _normal("./app/"), _normal("."), _normal(".github")
    ('app', '', '.github')
    """
    path = path.removeprefix("./").removesuffix("/")
    return "" if path == "." else path
