"""What GitHub's API is asked about the code at one commit."""

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nightwatch_core.adapters.github.rows import BlobRow, BlobText, Place, Tree, read
from nightwatch_core.errors import GiveUp

TOGETHER = 40  # files asked for at once
_SNIFFED = 8_000  # bytes; a NUL among them makes a file binary
_BLAME = (
    "query($owner:String!,$name:String!,$sha:String!,$path:String!){repository(owner:$owner,"
    "name:$name){object(expression:$sha){... on Commit{blame(path:$path){ranges{startingLine "
    "endingLine commit{oid messageHeadline committedDate author{name}}}}}}}}"
)


class Questions:
    """Asks about one commit; the answers are JSON that can be kept."""

    def __init__(self, place: Place, sha: str, counted: Callable[[], None]) -> None:
        """`counted` is called before every question."""
        self._place = place
        self._sha = sha
        self._counted = counted

    def tree(self) -> Any:
        """Every name in the commit's tree."""
        place, sha = self._place, self._sha
        self._counted()
        answer = place.client.ask(lambda rest: rest.git.get_tree(*place.at, sha, recursive="1"))
        return read(Tree, answer).model_dump(mode="json")

    def text(self, oid: str) -> str | None:
        """A file's text; None where it is binary."""
        place = self._place
        self._counted()
        answer = read(BlobRow, place.client.ask(lambda rest: rest.git.get_blob(*place.at, oid)))
        try:
            content = base64.b64decode(answer.content)
        except ValueError as error:
            raise GiveUp(f"GitHub's file {oid} is no base64") from error
        return None if b"\0" in content[:_SNIFFED] else content.decode(errors="replace")

    def texts(self, oids: Mapping[str, str]) -> Iterator[tuple[str, str | None]]:
        """The texts of at most 40 files, given by path; one by one what is not told whole."""
        told = self._together(tuple(oids)) if len(oids) > 1 else {}
        for path, oid in oids.items():
            blob = told.get(path, BlobText())
            is_whole = blob.oid == oid and not blob.isTruncated
            if is_whole and (blob.isBinary or blob.text is not None):
                yield path, None if blob.isBinary else blob.text
            else:
                yield path, self.text(oid)

    def ranges(self, path: str) -> list[Any]:
        """Who wrote which lines of a file."""
        told = self._asked(_BLAME, {"sha": self._sha, "path": path})
        ranges = ((told.get("object") or {}).get("blame") or {}).get("ranges")
        return ranges if isinstance(ranges, list) else []

    def _together(self, paths: tuple[str, ...]) -> dict[str, BlobText]:
        names = {f"e{at}": f"{self._sha}:{path}" for at, path in enumerate(paths)}
        wanted = ",".join(f"${name}:String!" for name in names)
        fields = " ".join(
            f"f{at}:object(expression:$e{at}){{... on Blob{{oid text isBinary isTruncated}}}}"
            for at in range(len(paths))
        )
        query = (
            f"query($owner:String!,$name:String!,{wanted})"
            f"{{repository(owner:$owner,name:$name){{{fields}}}}}"
        )
        told = self._asked(query, names)
        return {path: read(BlobText, told.get(f"f{at}") or {}) for at, path in enumerate(paths)}

    def _asked(self, query: str, variables: dict[str, str]) -> dict[str, Any]:
        where = {"owner": self._place.owner, "name": self._place.name}
        self._counted()
        told = self._place.client.graph(query, {**where, **variables}).get("repository")
        return told if isinstance(told, dict) else {}
