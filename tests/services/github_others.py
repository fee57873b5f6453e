"""Everybody's pull requests on the GitHub stand-in: their list and their files."""

from typing import Any

LISTED = (
    "pullRequests(states:[OPEN,CLOSED,MERGED],orderBy:{field:UPDATED_AT,direction:DESC},"
    "first:25,after:$cursor){pageInfo{hasNextPage endCursor} "
    "nodes{number title body state url updatedAt mergedAt headRefName author{login} "
    "mergeCommit{oid} files(first:100){nodes{path}}}}"
)


def listed(github: Any, rows: list[dict[str, Any]], start: int) -> dict[str, Any]:
    """A page of pull requests, with the fields of every query."""
    rows = sorted(rows, key=lambda one: one["updated_at"], reverse=True)
    nodes = [
        {
            "number": one["number"],
            "title": one["title"],
            "body": one["body"],
            "state": "MERGED" if one.get("merged_at") else one["state"].upper(),
            "url": f"https://github.test/acme/shop/pull/{one['number']}",
            "updatedAt": one["updated_at"],
            "mergedAt": one.get("merged_at"),
            "headRefName": one["head"],
            "author": {"login": one["by"]} if one["by"] else None,
            "mergeCommit": _merge_commit(github, one),
            "commits": {
                "nodes": [{"commit": {"oid": sha}} for sha in one.get("commits", ())[-100:]]
            },
            "files": {"nodes": [{"path": path} for path in _paths(github, one)[:100]]},
        }
        for one in rows[start : start + 25]
    ]
    more = len(rows) > start + 25
    page = {"hasNextPage": more, "endCursor": str(start + 25) if more else None}
    return {"pageInfo": page, "nodes": nodes}


def _paths(github: Any, pull: dict[str, Any]) -> list[str]:
    return pull.get("files") or [row["filename"] for row in files(github, pull)]


def _merge_commit(github: Any, pull: dict[str, Any]) -> dict[str, Any] | None:
    if not pull.get("merge_sha"):
        return None
    sha = pull["merge_sha"]
    known = github.git.kind(sha) == "commit"
    parents = len(github.git.commit(sha)["parents"]) if known else 1
    return {"oid": sha, "parents": {"totalCount": parents}}


def files(github: Any, item: dict[str, Any]) -> list[dict[str, Any]]:
    """What its branch does since it left the base; a patch without the heads of files."""
    between = f"{item['base_sha']}...{item['head_sha']}"
    rows = github.git.run("diff", "--name-status", "-M", between).splitlines()
    return [_file(github, between, *row.split("\t")) for row in rows]


def _file(github: Any, between: str, status: str, *paths: str) -> dict[str, Any]:
    patch = github.git.run("diff", "-M", between, "--", *paths)
    at = patch.find("@@ ")
    rows = patch[at:].splitlines() if at >= 0 else []
    return {
        "sha": "0" * 40,
        "filename": paths[-1],
        "status": {"A": "added", "D": "removed", "R": "renamed"}.get(status[0], "modified"),
        "additions": sum(row.startswith("+") for row in rows),
        "deletions": sum(row.startswith("-") for row in rows),
        **({"previous_filename": paths[0]} if len(paths) > 1 else {}),
        **({"patch": "\n".join(rows)} if rows else {}),
    }
