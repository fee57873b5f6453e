"""What git is run in: its settings, its environment, and an empty repository of our own."""

import tempfile
import threading
from pathlib import Path

SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.symlinks=false",
    "core.attributesFile=/dev/null",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.splitIndex=false",
    "core.untrackedCache=false",
    "protocol.ext.allow=never",
    "safe.directory=*",
    "submodule.recurse=false",
    "log.showSignature=false",
    "log.mailmap=false",
    "grep.column=false",
    "core.quotePath=false",
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "gc.auto=0",
    "maintenance.auto=false",
)
# Commands about names and settings, which alone are asked in a stranger's own git folder.
OF_ITS_FOLDER = frozenset(
    ("config", "for-each-ref", "rev-parse", "symbolic-ref", "update-ref", "check-ref-format")
)
ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",  # none: nothing here ever talks to another machine
    "GIT_PAGER": "cat",
}
_lock = threading.Lock()
_views: dict[str, tempfile.TemporaryDirectory[str]] = {}  # by form; removed when Python ends


def plain_view(form: str) -> Path:
    """Return a git folder without configuration, attributes, refs and objects.

    `form` is how its objects are named: sha1 or sha256.
    """
    with _lock:
        kept = _views.get(form)
        if kept is None or not (Path(kept.name) / "HEAD").is_file():  # folders below /tmp age
            kept = _views[form] = _made(form)
        return Path(kept.name)


def _made(form: str) -> tempfile.TemporaryDirectory[str]:
    made = tempfile.TemporaryDirectory(prefix="nightwatch-git-", ignore_cleanup_errors=True)
    folder = Path(made.name)
    for part in ("objects", "refs"):
        (folder / part).mkdir()
    extension = "" if form == "sha1" else "[extensions]\n\tobjectFormat = sha256\n"
    version = 1 if extension else 0
    (folder / "config").write_text(f"[core]\n\trepositoryFormatVersion = {version}\n{extension}")
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    return made
