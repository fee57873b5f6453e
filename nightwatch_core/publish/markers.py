"""The hidden first line of our issues, comments and pull requests, by which they are found again.

It names the error, and on the same line the others that share its cause.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, unquote

from nightwatch_core.models.proposal import Marker

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


def marker(fingerprint: str, key: str, night: str, also: Iterable[str] = ()) -> str:
    """The line that tells our items from everybody's, on any service.

    >>> marker("v1:0a", "k", "2026-11-20-ab", ("v1:0b",))
    '<!-- nightwatch:v1 fp=v1:0a key=k run=2026-11-20-ab --><!-- also v1:0b -->'
    """
    fp, key, run = (_plain(part) for part in (fingerprint, key, night))
    names = [name[:200] for name in dict.fromkeys(map(_plain, also)) if name and name != fp]
    others = f"<!-- also {' '.join(names[:MOST_NAMES])} -->" if names else ""
    return f"<!-- nightwatch:v1 fp={fp} key={key} run={run} -->{others}"


def read_marker(body: str) -> Marker | None:
    """The marker a body begins with; None where it is not ours, wherever else it holds one.

    >>> read_marker(marker("v1:0a", "k", "2026-11-20-ab") + "\\nText").key
    'k'
    """
    found = _MARKER.match(body[:_HEAD].removeprefix("\ufeff"))
    if not found:
        return None
    also = tuple((found[4] or "").split())
    return Marker(fingerprint=found[1], also=also, key=found[2], night=found[3])


def patch_marker(fix: str, base: str) -> str:
    """The line below the marker of a patch: its fix, and the branch that it is for.

    >>> patch_marker("0a1b", "main")
    '<!-- patch fix=0a1b base=main -->'
    """
    return f"<!-- patch fix={_plain(fix)} base={quote(base, safe='/')} -->"


def read_patch_marker(body: str) -> tuple[str, str] | None:
    """The fix and the base of a patch of ours; None where the body is none.

    >>> read_patch_marker(marker("v1:0a", "k", "n") + "\\n" + patch_marker("0a1b", "main") + "\\n")
    ('0a1b', 'main')
    """
    head = body[:_HEAD].removeprefix("\ufeff")
    found = _PATCH.match(head, mark.end()) if (mark := _MARKER.match(head)) else None
    return (found[1], unquote(found[2])) if found else None


def joined_body(body: str, names: Iterable[str]) -> str:
    """The body with these errors entered in its marker; the body itself where nothing is new.

    >>> joined_body(marker("v1:0a", "k", "n") + "\\nText", ("v1:0b", "v1:0a"))
    '<!-- nightwatch:v1 fp=v1:0a key=k run=n --><!-- also v1:0b -->\\nText'
    """
    mark = read_marker(body)
    found = _MARKER.match(body[:_HEAD].removeprefix("\ufeff"))
    if mark is None or found is None:
        return body
    if not (names := tuple(names)):
        return body
    text = marker(mark.fingerprint, mark.key, mark.night, (*mark.also, *names))
    old = found.group().strip()
    return body if old == text else text + body.removeprefix("\ufeff")[found.end() :]


def step_line(number: int, of: int) -> str:
    """The line in a commit's message that tells the steps of one draft.

    >>> steps_told(f"Title\\n\\n{step_line(2, 3)}\\n")
    3
    """
    return f"Step {number} of {of} of one fix."


CORRECTION = "Correct the fix\n\nThe checks of the first attempt failed."
"""The message of the one commit that we put onto a draft's branch after it was opened."""


def steps_told(message: str) -> int:
    """Of how many steps the message's commit is one; 0 where it is none of ours."""
    found = _STEP.search(message[:_HEAD])
    return int(found[1]) if found else 0


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_:.-]", "", text)
