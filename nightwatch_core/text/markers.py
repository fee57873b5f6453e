"""The hidden first line of our issues, comments and pull requests, by which they are found again.

It names the error, and on the same line the others that share its cause.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote, unquote

from nightwatch_core.models.code import Commit
from nightwatch_core.models.proposals import Marker
from nightwatch_core.text.escaping import code_span, is_web

LABEL = "nightwatch"  # that all our items carry
MOST_NAMES = 20  # of other errors
_NAME = r"[\w:.-]{1,200}"
_MARKER = re.compile(
    rf"\s{{0,20}}<!-- nightwatch:v1 fp=({_NAME}) key=([\w.-]{{1,100}}) run=([\w:.-]{{0,100}}) -->"
    rf"(?:<!-- also((?: {_NAME}){{1,{MOST_NAMES}}}) -->)?",
    re.ASCII,
)
_PATCH = re.compile(r"\r?\n<!-- patch fix=([\w:.-]{1,100}) base=([\w./%~-]{1,600}) -->", re.ASCII)
_STEP = re.compile(r"^Step \d{1,2} of (\d{1,2}) of one fix\.$", re.ASCII | re.MULTILINE)
_HEAD = 6_000  # characters, more than a marker may be
COMMENT_LIMIT = 65_000  # characters of a draft's body and its patch


def marker(fingerprint: str, key: str, night: str, also: Iterable[str] = ()) -> str:
    """Return the line that tells our items from everybody's, on any service.

    >>> marker("v1:0a", "k", "2026-11-20-ab", ("v1:0b",))
    '<!-- nightwatch:v1 fp=v1:0a key=k run=2026-11-20-ab --><!-- also v1:0b -->'
    """
    fp, key, run = (_plain(part) for part in (fingerprint, key, night))
    names = [name[:200] for name in dict.fromkeys(map(_plain, also)) if name and name != fp]
    others = f"<!-- also {' '.join(names[:MOST_NAMES])} -->" if names else ""
    return f"<!-- nightwatch:v1 fp={fp} key={key} run={run} -->{others}"


def read_marker(body: str) -> Marker | None:
    """Return the marker a body begins with; None where it is not ours, wherever else it holds one.

    >>> read_marker(marker("v1:0a", "k", "2026-11-20-ab") + "\\nText").key
    'k'
    """
    found = _MARKER.match(body[:_HEAD].removeprefix("\ufeff"))
    if not found:
        return None
    also = tuple((found[4] or "").split())
    return Marker(fingerprint=found[1], also=also, key=found[2], night=found[3])


def patch_marker(fix: str, base: str) -> str:
    """Return the line below the marker of a patch: its fix, and the branch that it is for.

    >>> patch_marker("0a1b", "main")
    '<!-- patch fix=0a1b base=main -->'
    """
    return f"<!-- patch fix={_plain(fix)} base={quote(base, safe='/')} -->"


def read_patch_marker(body: str) -> tuple[str, str] | None:
    """Return the fix and the base of a patch of ours; None where the body is none.

    >>> read_patch_marker(marker("v1:0a", "k", "n") + "\\n" + patch_marker("0a1b", "main") + "\\n")
    ('0a1b', 'main')
    """
    head = body[:_HEAD].removeprefix("\ufeff")
    found = _PATCH.match(head, mark.end()) if (mark := _MARKER.match(head)) else None
    return (found[1], unquote(found[2])) if found else None


def patch_comment(body: str, fix: str, base: str, patch: str) -> str:
    """Return the comment with a patch below the draft's own body; empty where it is too long."""
    head, _, rest = body.partition("\n")
    how = "save the block as `nightwatch.patch`, then `git am nightwatch.patch`"
    ticks = "`" * max(3, 1 + max(map(len, re.findall("`+", patch)), default=0))
    text = f"## Patch\n\nNo branch was pushed. On {code_span(base)}: {how}.\n\n"
    text += f"{ticks}diff\n{patch.rstrip(chr(10))}\n{ticks}"
    whole = "\n".join((head, patch_marker(fix, base), rest.rstrip("\n"), "", text, ""))
    return whole if len(whole) <= COMMENT_LIMIT else ""


def joined_body(body: str, names: Iterable[str]) -> str:
    """The body with these errors entered in its marker; the body itself where nothing is new.

    >>> joined_body(marker("v1:0a", "k", "n") + "\\nText", ("v1:0b", "v1:0a"))
    '<!-- nightwatch:v1 fp=v1:0a key=k run=n --><!-- also v1:0b -->\\nText'
    """
    mark = read_marker(body)
    found = _MARKER.match(body[:_HEAD].removeprefix("\ufeff"))
    new = tuple(names)
    if mark is None or found is None or not new:
        return body
    text = marker(mark.fingerprint, mark.key, mark.night, (*mark.also, *new))
    old = found.group().strip()
    return body if old == text else text + body.removeprefix("\ufeff")[found.end() :]


def step_line(number: int, of: int) -> str:
    """Return the line in a commit's message that tells the steps of one draft.

    >>> count_of_steps(f"Title\\n\\n{step_line(2, 3)}\\n")
    3
    """
    return f"Step {number} of {of} of one fix."


CORRECTION = "Correct the fix\n\nThe checks of the first fix failed."
"""The message of the one commit that we put onto a draft's branch after it was opened."""


def count_of_steps(message: str) -> int:
    """Of how many steps the message's commit is one; 0 where it was not made by NightWatch."""
    found = _STEP.search(message[:_HEAD])
    return int(found[1]) if found else 0


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_:.-]", "", text)


# Addresses of code on the web, at the commit that was read.

_PLACE = re.compile(r"([^\s:]+\.\w+)(?::(\d{1,7})(?:-(\d{1,7}))?)?")
_SHA = re.compile(r"[0-9a-f]{7,40}")


class Permalinks(NamedTuple):
    """Where a repository can be read on the web; without an address nothing is linked."""

    address: str = ""  # https://github.com/owner/name
    sha: str = ""

    @classmethod
    def of(cls, commit: Commit | None, sha: str = "") -> "Permalinks":
        """Take the address of a commit's repository, and the commit that was read."""
        return cls(commit.address.rstrip("/"), sha or commit.sha) if commit else cls()

    def place(self, place: str) -> str:
        """Return the address of `path:line`; empty for what names no line.

        >>> links = Permalinks("https://github.com/acme/shop", "c0ffee0")
        >>> links.place("app/cart.py:12"), links.place("app/cart.py"), Permalinks().place("a.py:1")
        ('https://github.com/acme/shop/blob/c0ffee0/app/cart.py#L12', '', '')
        """
        found = _PLACE.fullmatch(place)
        return self.line(found[1], int(found[2]), int(found[3] or 0)) if found and found[2] else ""

    def code(self, code: str) -> str:
        """Return the address of a place or a commit in prose; empty for a file's name alone."""
        return (self.place(code) if "/" in code else "") or self.commit(code)

    def line(self, path: str, number: int, last: int = 0) -> str:
        """Return the address of a line, or of all lines up to `last`."""
        if not self.address or not _SHA.fullmatch(self.sha) or number < 1:
            return ""
        lines = f"L{number}-L{last}" if last > number else f"L{number}"
        file = quote(path, safe="/", errors="replace")
        address = f"{self.address}/blob/{self.sha}/{file}#{lines}"
        return address if is_web(address) and ".." not in path.split("/") else ""

    def commit(self, sha: str) -> str:
        """Return the address of a commit."""
        address = f"{self.address}/commit/{sha}"
        return address if self.address and _SHA.fullmatch(sha) and is_web(address) else ""
