"""The GraphQL queries that the GitHub stand-in answers: blobs, blame, and pull requests."""

import re
from typing import Any

from services.github_git import BareRepository

_BLOB = re.compile(
    r"(\w+):object\(expression:\$(\w+)\)\{\.\.\. on Blob\{oid text isBinary isTruncated\}\}"
)
_BLAME = (
    "blame(path:$path){ranges{startingLine endingLine "
    "commit{oid messageHeadline committedDate author{name}}}}"
)

_MERGED = (
    "pullRequests(states:MERGED,baseRefName:$base,orderBy:{field:UPDATED_AT,direction:DESC},"
    "first:25,after:$cursor){pageInfo{hasNextPage endCursor}"
)
_NODES = (
    "nodes{number title mergedAt updatedAt author{login} files(first:100){nodes{path}} "
    "mergeCommit{oid parents(first:2){totalCount}} commits(last:100){nodes{commit{oid}}}}"
)
_LISTED = (
    "pullRequests(states:[OPEN,CLOSED,MERGED],orderBy:{field:UPDATED_AT,direction:DESC},"
    "first:25,after:$cursor){pageInfo{hasNextPage endCursor} "
    "nodes{number title body state url updatedAt mergedAt headRefName author{login} "
    "mergeCommit{oid} files(first:100){nodes{path}}}}"
)
_NAMED = "oid message tree{oid} parents(first:2){nodes{oid tree{oid}}}"
_EDITED = re.compile(
    r"(\w+):pullRequest\(number:\$(\w+)\)\{"
    + re.escape(
        f"additions deletions commits(first:50){{nodes{{commit{{{_NAMED}}}}}}} "
        "timelineItems(first:1,itemTypes:[HEAD_REF_FORCE_PUSHED_EVENT]){nodes{"
        "... on HeadRefForcePushedEvent{beforeCommit{"
        f"additions deletions {_NAMED}}}}}}}}}}}"
    )
)


def answer(github: Any, given: dict[str, Any]) -> dict[str, Any]:
    query, variables = given.get("query", ""), given.get("variables", {})
    cursor = variables.pop("cursor", None)
    named = set(re.findall(r"\$(\w+):(?:String|Int)!", query))
    if named != set(variables):
        return _error("Variables are not those that are declared")
    if f"{variables.get('owner')}/{variables.get('name')}" != github.repository:
        return _error("Could not resolve to a Repository", "NOT_FOUND")
    if _BLAME in query:
        return _told({"object": {"blame": {"ranges": _ranges(github, variables)}}})
    if _MERGED in query and _NODES in query:
        merged = [one for one in github.pulls() if one.get("merged_at")]
        rows = [one for one in merged if one["base"] == variables["base"]]
        return _told({"pullRequests": _listed(github, rows, int(cursor or 0))})
    if _LISTED in query:
        return _told({"pullRequests": _listed(github, github.pulls(), int(cursor or 0))})
    if asked := _EDITED.findall(query):
        numbers = {name: variables[value] for name, value in asked}
        gone = [n for n in numbers.values() if not github.items.get(n, {}).get("head")]
        if gone:
            said = f"Could not resolve to a PullRequest with the number of {gone[0]}."
            return _error(said, "NOT_FOUND")
        return _told({name: _brought_in(github, github.items[n]) for name, n in numbers.items()})
    blobs = {name: _blob(github, variables[value]) for name, value in _BLOB.findall(query)}
    return _told(blobs) if blobs else _error("Parse error")


def _told(repository: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"repository": repository}}


def _error(message: str, kind: str = "") -> dict[str, Any]:
    return {"data": None, "errors": [{"message": message, "type": kind}]}


def _listed(github: Any, rows: list[dict[str, Any]], start: int) -> dict[str, Any]:
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
    between = f"{pull['base_sha']}...{pull['head_sha']}"
    return pull.get("files") or github.git.run("diff", "--name-only", between).splitlines()


def _merge_commit(github: Any, pull: dict[str, Any]) -> dict[str, Any] | None:
    if not pull.get("merge_sha"):
        return None
    sha = pull["merge_sha"]
    known = github.git.kind(sha) == "commit"
    parents = len(github.git.commit(sha)["parents"]) if known else 1
    return {"oid": sha, "parents": {"totalCount": parents}}


def _blob(github: Any, expression: str) -> dict[str, Any] | None:
    sha, _, path = expression.partition(":")
    rows = {row["path"]: row for row in github.git.tree(sha, recursive=True)}
    if path not in rows or rows[path]["type"] != "blob":
        return None
    content = github.git.blob(rows[path]["sha"])
    binary = b"\0" in content
    text = None if binary else content[:512_000].decode(errors="replace")
    return {
        "oid": rows[path]["sha"],
        "text": text,
        "isBinary": binary,
        "isTruncated": len(content) > 512_000,
    }


def _ranges(github: Any, variables: dict[str, str]) -> list[dict[str, Any]]:
    asked = ("blame", "--porcelain", variables["sha"], "--", variables["path"])
    heads = re.findall(r"^([0-9a-f]{40}) \d+ (\d+)", github.git.run(*asked), re.MULTILINE)
    found = []
    for sha, line in heads:
        told = github.git.commit(sha)
        commit = {
            "oid": sha,
            "messageHeadline": told["message"].split("\n")[0],
            "committedDate": told["person"]["date"],
            "author": {"name": told["person"]["name"]},
        }
        found.append({"startingLine": int(line), "endingLine": int(line), "commit": commit})
    return found


def _brought_in(github: Any, pull: dict[str, Any]) -> dict[str, Any]:
    """What the branch of a pull request held, and what stood there before the first replacing."""
    git, base, head = github.git, pull["base_sha"], pull["head_sha"]
    shas = pull.get("commits") or git.run("rev-list", "--reverse", f"{base}..{head}").split()
    added, deleted = _size(git, f"{base}...{head}")
    replaced = [
        {"beforeCommit": _named(git, sha) | _sized(git, sha) if sha else None}
        for sha in pull.get("replaced", ())
    ]
    return {
        "additions": added,
        "deletions": deleted,
        "commits": {"nodes": [{"commit": _named(git, sha)} for sha in shas[:50]]},
        "timelineItems": {"nodes": replaced[:1]},
    }


def _named(git: BareRepository, sha: str) -> dict[str, Any]:
    told = git.commit(sha)
    above = [{"oid": one, "tree": {"oid": git.commit(one)["tree"]}} for one in told["parents"][:2]]
    message = told["message"]
    return {
        "oid": sha,
        "message": message,
        "tree": {"oid": told["tree"]},
        "parents": {"nodes": above},
    }


def _sized(git: BareRepository, sha: str) -> dict[str, int]:
    added, deleted = _size(git, f"{sha}^", sha)
    return {"additions": added, "deletions": deleted}


def _size(git: BareRepository, *between: str) -> tuple[int, int]:
    rows = [row.split("\t") for row in git.run("diff", "--numstat", *between).splitlines()]
    return sum(int(row[0]) for row in rows), sum(int(row[1]) for row in rows)
