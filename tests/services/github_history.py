"""What the GitHub stand-in tells of commits, their files, and how two of them stand."""

import re
from typing import Any

from services import github_shapes as shapes
from services.github_git import BareRepository, Refusal

_STATUS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "T": "changed"}


def whole_commit(git: BareRepository, at: str, web: str, sha: str) -> dict[str, Any]:
    """A commit with what it changed against its first parent."""
    told = _listed(git, at, web, sha)
    files = changed_files(git, at, web, sha)
    counts = [sum(file[key] for file in files) for key in ("additions", "deletions", "changes")]
    stats = dict(zip(("additions", "deletions", "total"), counts, strict=True))
    return {**told, "stats": stats, "files": files[:300]}


def changed_files(
    git: BareRepository, at: str, web: str, sha: str, base: str = ""
) -> list[dict[str, Any]]:
    shown = ("show", "--format=", "--first-parent", "-m", "-M", sha)
    shown = ("diff", "-M", f"{base}...{sha}") if base else shown
    names = git.run(*shown, "--name-status").splitlines()
    patches = re.split(r"^diff --git ", git.run(*shown, "--patch"), flags=re.M)[1:]
    files = []
    for row, patch in zip(names, patches, strict=True):
        status, *paths = row.split("\t")
        hunks = patch[patch.find("\n@@ ") + 1 :] if "\n@@ " in patch else ""
        added = len(re.findall(r"^\+", hunks, flags=re.M))
        removed = len(re.findall(r"^-", hunks, flags=re.M))
        file = {
            "sha": "b" * 40,
            "filename": paths[-1],
            "status": _STATUS[status[0]],
            "additions": added,
            "deletions": removed,
            "changes": added + removed,
            "blob_url": f"{web}/blob/{sha}/{paths[-1]}",
            "raw_url": f"{web}/raw/{sha}/{paths[-1]}",
            "contents_url": f"{at}/contents/{paths[-1]}?ref={sha}",
        }
        file |= {"patch": hunks.rstrip("\n")} if hunks else {}
        files.append(file | ({"previous_filename": paths[0]} if len(paths) > 1 else {}))
    return files


def listed(
    git: BareRepository, at: str, web: str, sha: str, path: str, since: str = ""
) -> list[dict[str, Any]]:
    """Commits from `sha` on, newest first, merges and all; `since` is a time, or empty."""
    below = (f":(literal){path}",) if path else ()
    after = (f"--since={since}",) if since else ()
    shas = git.run("rev-list", "--full-history", *after, sha, "--", *below).split()
    return [_listed(git, at, web, one) for one in shas]


def compared(
    git: BareRepository, at: str, web: str, basehead: str, page: int = 1
) -> dict[str, Any]:
    """How two commits stand to each other; files are told on the first page alone."""
    base, _, head = basehead.partition("...")
    commits = [git.commit_of(name) for name in (base, head)]
    if not all(commits):
        raise Refusal(404, "Not Found")
    base, head = commits
    counts = git.run("rev-list", "--left-right", "--count", f"{base}...{head}").split()
    behind, ahead = (int(count) for count in counts)
    if ahead and behind:
        status = "diverged"
    else:
        status = "ahead" if ahead else "behind" if behind else "identical"
    fork = git.run("merge-base", base, head)
    return shapes.shaped(
        "compared",
        at=at,
        web=web,
        basehead=basehead,
        base=_listed(git, at, web, base),
        fork=_listed(git, at, web, fork),
        status=status,
        ahead=ahead,
        behind=behind,
        files=changed_files(git, at, web, head, base)[:300] if page == 1 else [],
    )


def _listed(git: BareRepository, at: str, web: str, sha: str) -> dict[str, Any]:
    return shapes.commit(at, web, git.commit(sha), "listed_commit")
