"""Folders that a project's own scripts make before anything of it runs: for its data, its logs."""

import re
from collections.abc import Callable

from nightwatch_core.gate.limits import MADE_FOLDERS, MANIFEST_CHARACTERS, SCRIPTS

_SCRIPT = re.compile(
    r"^(\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|(?:docker/)?[^/]*Dockerfile[^/]*"
    r"|Makefile|(?:bin/|scripts?/)?[^/]+\.sh)$"
)
_MADE = re.compile(r"\bmkdir(?: -p| --parents)?((?: +\w[\w./-]*)+)[ \t]*(?=$|&|;|\|)", re.M)


def made_folders(
    root: str, paths: tuple[str, ...], read: Callable[[str], str | None]
) -> tuple[str, ...]:
    """List folders of the project below `root` that its scripts make and its tree has not.

    >>> files = {"run.sh": "mkdir -p data/images logs shop && run\\nmkdir -p /srv/x $HOME/y ../z"}
    >>> made_folders("", (*files, "shop/a.py"), files.get)
    ('data/images', 'logs')
    """
    inside = [path.removeprefix(root) for path in paths if path.startswith(root)]
    there = {folder for path in inside for folder in _above(path)} | set(inside)
    scripts = sorted(filter(_SCRIPT.match, inside))[:SCRIPTS]
    texts = ((read(root + one) or "")[:MANIFEST_CHARACTERS] for one in scripts)
    calls = (call for text in texts for call in _MADE.findall(text))
    named = (name.rstrip("/") for call in calls for name in call.split())
    new = (name for name in named if name not in there and ".." not in name.split("/"))
    return tuple(dict.fromkeys(new))[:MADE_FOLDERS]


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
