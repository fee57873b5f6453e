"""Addresses of code on the web, at the commit that was read."""

import re
from typing import NamedTuple
from urllib.parse import quote

from nightwatch_core.models.code import Commit
from nightwatch_core.text.escaping import is_web

_PLACE = re.compile(r"([^\s:]+\.\w+)(?::(\d{1,7})(?:-(\d{1,7}))?)?")
_SHA = re.compile(r"[0-9a-f]{7,40}")


class Permalinks(NamedTuple):
    """Where a repository can be read on the web; without an address nothing is linked."""

    address: str = ""  # https://github.com/owner/name
    sha: str = ""

    @classmethod
    def of(cls, commit: Commit | None, sha: str = "") -> "Permalinks":
        """Take the address of a commit's repository, and the commit that was read."""
        if commit is None:
            return cls()
        return cls(commit.address.rstrip("/"), sha or commit.sha)

    def place(self, place: str) -> str:
        """The address of `path:line`; empty for what names no line.

        >>> links = Permalinks("https://github.com/acme/shop", "c0ffee0")
        >>> links.place("app/cart.py:12"), links.place("app/cart.py"), Permalinks().place("a.py:1")
        ('https://github.com/acme/shop/blob/c0ffee0/app/cart.py#L12', '', '')
        """
        found = _PLACE.fullmatch(place)
        return self.line(found[1], int(found[2]), int(found[3] or 0)) if found and found[2] else ""

    def code(self, code: str) -> str:
        """The address of a place or a commit in prose; empty for a file's name alone."""
        return (self.place(code) if "/" in code else "") or self.commit(code)

    def line(self, path: str, number: int, last: int = 0) -> str:
        """The address of a line, or of all lines up to `last`."""
        if not self.address or not _SHA.fullmatch(self.sha) or number < 1:
            return ""
        lines = f"L{number}-L{last}" if last > number else f"L{number}"
        address = (
            f"{self.address}/blob/{self.sha}/{quote(path, safe='/', errors='replace')}#{lines}"
        )
        return address if is_web(address) and ".." not in path.split("/") else ""

    def commit(self, sha: str) -> str:
        """The address of a commit."""
        address = f"{self.address}/commit/{sha}"
        return address if self.address and _SHA.fullmatch(sha) and is_web(address) else ""
