"""Lays the files of a commit out in a folder.

Never by `git checkout`: a hostile configuration names programs that it starts (filters, hooks).
Names that lead out of the tree are left out when it is read, and nothing is written through a link.
"""

import os
from pathlib import Path

from nightwatch_core.adapters.git.command import Git
from nightwatch_core.adapters.git.objects import (
    EXECUTABLE,
    BlobReader,
    Node,
    parent_folders,
    read_tree,
)
from nightwatch_core.errors import GiveUp

_LINK_BYTES = 4_096


def lay_out(git: Git, sha: str, folder: Path, most_bytes: int, most_files: int) -> int:
    """Write every file and link of a commit below an empty folder; returns how many are not here.

    Submodules are left out. Raises `GiveUp` where the tree is too large to be laid out.
    """
    nodes = [node for node in read_tree(git, sha).values() if node.kind in ("file", "link")]
    size = sum(node.size or 0 for node in nodes)
    if len(nodes) > most_files or size > most_bytes:
        raise GiveUp(f"the tree has {len(nodes)} files of {size // 1024**2} MiB: too large")
    for name in sorted(parent_folders(node.raw for node in nodes)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name).chmod(0o755)
    blobs, missing = BlobReader(git), 0
    files = [node for node in nodes if node.kind == "file"]
    for node in (*files, *(node for node in nodes if node.kind == "link")):  # links come last
        missing += not _write(blobs, node, folder / node.raw)
    return missing


def _write(blobs: BlobReader, node: Node, path: Path) -> bool:
    """Write one; False where the clone lacks it, or its name is taken."""
    try:
        content = blobs.read(node.oid)
        if node.kind == "link":
            path.symlink_to(os.fsdecode(content[:_LINK_BYTES]))
            return True
        with path.open("xb") as file:
            file.write(content)
        path.chmod(0o755 if node.mode == EXECUTABLE else 0o644)
    except (GiveUp, OSError, ValueError):
        return False
    return True
