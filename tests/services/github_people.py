"""What people do to pull requests on the GitHub stand-in: push, amend, rebase, update and merge.

Pushes that replace commits are noted, as GitHub does; a merge deletes the branch, as many
repositories are set to.
"""

from collections.abc import Mapping
from typing import Any, Literal

from services.github import GitHub

Files = Mapping[str, str | None]  # None deletes


def push(github: GitHub, number: int, files: Files, message: str = "More") -> str:
    """Another commit on top of the branch."""
    head = github.items[number]["head_sha"]
    return _moved(github, number, _commit(github, head, files, message, [head]))


def amend(github: GitHub, number: int, files: Files, message: str = "Amended") -> str:
    """The last commit again, with other files."""
    head = github.items[number]["head_sha"]
    made = _commit(github, head, files, message, github.git.commit(head)["parents"])
    return _replaced(github, number, made)


def rebase(github: GitHub, number: int, files: Files | None = None) -> str:
    """The last commit again on the base's head, with other files where given."""
    git, head = github.git, github.items[number]["head_sha"]
    changed = git.run("diff-tree", "-r", "--no-commit-id", f"{head}^", head).splitlines()
    rows = [(row.split("\t")[1], row.split()[1], row.split()[3]) for row in changed]
    entries = [{"path": path, "mode": mode, "sha": sha} for path, mode, sha in rows]
    base = _base(github, number)
    tree = git.write_tree(git.commit(base)["tree"], [*entries, *_entries(files or {})])
    told = git.commit(head)
    return _replaced(github, number, git.write_commit(told["message"], tree, [base], by="ann"))


def update(github: GitHub, number: int) -> str:
    """What the button "Update branch" does: merge the base into the branch."""
    head, base = github.items[number]["head_sha"], _base(github, number)
    tree = github.git.run("merge-tree", "--write-tree", head, base)
    made = github.git.write_commit("Merge branch 'main'", tree, [head, base], by="ann")
    github.items[number]["base_sha"] = base
    return _moved(github, number, made)


def move_base(github: GitHub, files: Files, branch: str = "main") -> str:
    """Somebody else's commit on the base."""
    head = github.git.refs()[f"refs/heads/{branch}"]
    made = _commit(github, head, files, "Somebody else's", [head])
    github.git.run("update-ref", f"refs/heads/{branch}", made)
    return made


def merge(
    github: GitHub, number: int, how: Literal["merge", "squash"] = "merge", at: str = ""
) -> None:
    """What the button "Merge" does; `at` is when, as GitHub writes it."""
    pull, base = github.items[number], _base(github, number)
    head, git = pull["head_sha"], github.git
    commits = git.run("rev-list", "--reverse", f"{base}..{head}").split()
    tree = git.run("merge-tree", "--write-tree", base, head)
    parents = [base, head] if how == "merge" else [base]
    made = git.write_commit(f"{pull['title']} (#{number})", tree, parents, by="ann")
    git.run("update-ref", f"refs/heads/{pull['base']}", made)
    git.run("update-ref", "-d", f"refs/heads/{pull['head']}")
    when = at or github._now()
    pull |= {"state": "closed", "merged_at": when, "closed_at": when, "base_sha": base}
    files = git.run("diff", "--name-only", base, made).splitlines()
    pull |= {"merge_sha": made, "commits": commits, "files": files}
    github._touch(pull)


def _base(github: GitHub, number: int) -> str:
    return github.git.refs()[f"refs/heads/{github.items[number]['base']}"]


def _commit(github: GitHub, on: str, files: Files, message: str, parents: list[str]) -> str:
    tree = github.git.write_tree(github.git.commit(on)["tree"], _entries(files))
    return github.git.write_commit(message, tree, parents, by="ann")


def _entries(files: Files) -> list[dict[str, Any]]:
    return [
        {"path": path, "mode": "100644", **({"sha": None} if text is None else {"content": text})}
        for path, text in files.items()
    ]


def _replaced(github: GitHub, number: int, made: str) -> str:
    pull = github.items[number]
    pull.setdefault("replaced", []).append(pull["head_sha"])
    return _moved(github, number, made)


def _moved(github: GitHub, number: int, made: str) -> str:
    pull = github.items[number]
    github.git.run("update-ref", f"refs/heads/{pull['head']}", made)
    pull["head_sha"] = made
    github._touch(pull)
    return made
