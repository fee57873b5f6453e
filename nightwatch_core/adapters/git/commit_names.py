"""How releases name commits, and what is said of the commit that was chosen."""

import re
from datetime import UTC, datetime

_WHOLE = re.compile(r"[0-9a-f]{7,64}")
_AT_THE_END = re.compile(r"(?:-g|[+@_.-])([0-9a-f]{7,64})$")


def spellings(release: str) -> tuple[str, ...]:
    """Return how tags may spell a release: with and without v, and without Sentry's "app@".

    >>> spellings("shop@1")
    ('shop@1', 'vshop@1', 'shop@1', '1', 'v1')
    """
    version = release.rpartition("@")[2]
    return release, f"v{release}", release.removeprefix("v"), version, f"v{version}"


def shas_in(release: str) -> tuple[str, ...]:
    """Return what may be a commit's sha, or the beginning of one, in the name of a release.

    >>> shas_in("0A1B2C3D"), shas_in("v1.4-3-g0a1b2c3d"), shas_in("shop@1.4+0a1b2c3d")
    (('0a1b2c3d',), ('0a1b2c3d',), ('0a1b2c3d',))
    >>> shas_in("main"), shas_in("2026.11.3")
    ((), ())
    """
    name = release.strip().lower()
    if _WHOLE.fullmatch(name):
        return (name,)
    return tuple(match[1] for match in _AT_THE_END.finditer(name[-100:]))


def tag_text(version: str) -> str:
    """Say why a commit was chosen that a tag names."""
    return f"release {printable(version)} (tag)"


def commit_text(sha: str) -> str:
    """Say why a commit was chosen that a release names itself."""
    return f"release {sha[:10]} (commit)"


def head_text(branch: str) -> str:
    """Say that a branch's head was chosen; an empty name is no branch.

    >>> head_text("main")
    'head of main'
    """
    return f"head of {printable(branch)}" if branch else "HEAD, which is on no branch"


def newest_text(branch: str, moment: datetime) -> str:
    """Say that the newest commit of a moment was chosen."""
    return f"newest on {printable(branch) if branch else 'HEAD'} at {_minute(moment)}"


def nothing_so_old(moment: datetime) -> str:
    """Say that a history, as far as it was read, begins after a moment."""
    return f"none of its commits that were read is from before {_minute(moment)}"


def printable(text: str) -> str:
    """Return the first 80 characters, what cannot be shown replaced.

    >>> printable("a\\nb")
    'a?b'
    """
    return "".join(c if c.isprintable() else "?" for c in text.strip()[:80])


def _minute(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
