"""A file's content as GitHub's git data API tells it and names it."""

import base64
import hashlib

from nightwatch_core.adapters.git.tree import Node
from nightwatch_core.adapters.github.rows import BlobRow, Place, read
from nightwatch_core.errors import GiveUp


def content(place: Place, node: Node) -> bytes:
    """The file's bytes; raises `GiveUp` where GitHub tells none."""
    answer = read(BlobRow, place.client.ask(lambda rest: rest.git.get_blob(*place.at, node.oid)))
    try:
        return base64.b64decode(answer.content)
    except ValueError as error:
        raise GiveUp(f"GitHub's file {node.oid[:10]} is no base64") from error


def oid(content: bytes, beside: Node | None) -> str:
    """The name git will give the content, in a repository of that file's kind of names.

    >>> oid(b"", None)
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    kind = hashlib.sha256 if beside and len(beside.oid) == 64 else hashlib.sha1
    return kind(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()
