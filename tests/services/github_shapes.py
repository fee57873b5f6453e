"""What GitHub's answers look like, as `github_shapes.yml` has them: whole enough for githubkit."""

import re
from pathlib import Path
from typing import Any

import yaml

_SHAPES: dict[str, Any] = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
_UNSET = {"state_reason": None, "closed_at": None, "merged_at": None, "merge_sha": None,
          "draft": False, "kind": "User", "association": "OWNER"}  # fmt: skip


def shaped(shape: str, /, **given: Any) -> dict[str, Any]:
    """Return an answer of that name, its places filled with the given values."""
    found: dict[str, Any] = _filled(_SHAPES[shape], given)
    return found


def _filled(value: Any, given: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(part, given) for name, part in value.items()}
    if not isinstance(value, str):
        return value
    whole = re.fullmatch(r"\{(\w+)\}", value)
    return given[whole[1]] if whole else value.format_map(given)


def user(name: str, kind: str = "User") -> dict[str, Any]:
    return shaped("user", name=name, kind=kind, id=sum(name.encode()))


def label(at: str, name: str) -> dict[str, Any]:
    return shaped("label", at=at, name=name, id=sum(name.encode()))


def issue(at: str, web: str, kept: dict[str, Any]) -> dict[str, Any]:
    """An issue, or a pull request as the list of issues shows it."""
    given = {**_UNSET, **kept, "at": at, "web": web, "id": 1000 + kept["number"]}
    given |= {"user": user(kept["by"]), "labels": [label(at, name) for name in kept["labels"]]}
    closed_by = {"closed_by": user(kept["closed_by"]) if kept.get("closed_by") else None}
    if not kept.get("head"):
        return {**shaped("issue", **given, page="issues"), **closed_by}
    return {
        **shaped("issue", **given, page="pull"),
        **shaped("pull_of_issue", **given),
        **closed_by,
    }


def said(shape: str, at: str, web: str, kept: dict[str, Any]) -> dict[str, Any]:
    """A comment or a review."""
    given = {**_UNSET, **kept}
    given |= {"at": at, "web": web, "said_at": kept["at"], "user": user(kept["by"], given["kind"])}
    return shaped(shape, **given)


def ref(at: str, name: str, sha: str, kind: str = "commit") -> dict[str, Any]:
    return shaped("ref", at=at, name=name, sha=sha, kind=kind)


def commit(at: str, web: str, told: dict[str, Any], shape: str = "commit") -> dict[str, Any]:
    """A commit of the git data API; as a `listed_commit` the one that `/commits/{ref}` shows."""
    above = [shaped("parent", at=at, web=web, sha=sha) for sha in told["parents"]]
    return shaped(shape, at=at, web=web, above=above, user=user("ann"), **told)


def tree(at: str, sha: str, rows: list[dict[str, Any]], truncated: bool = False) -> dict[str, Any]:
    kinds = {"blob": "blobs", "tree": "trees", "commit": "commits"}
    listed = [{**row, "url": f"{at}/git/{kinds[row['type']]}/{row['sha']}"} for row in rows]
    return {"sha": sha, "url": f"{at}/git/trees/{sha}", "tree": listed, "truncated": truncated}


def pull(at: str, web: str, kept: dict[str, Any], repository: dict[str, Any]) -> dict[str, Any]:
    owner = repository["full_name"].split("/")[0]
    given = {**_UNSET, **kept, "at": at, "web": web, "repository": repository, "owner": owner}
    given |= {"is_merged": bool(kept.get("merged_at")), "user": user(owner)}
    return {**issue(at, web, kept), **shaped("pull", **given)}


def repository(at: str, web: str, name: str, **given: Any) -> dict[str, Any]:
    owner, short = name.split("/")
    places = {"at": at, "web": web, "name": name, "short": short}
    links = {f"{link}_url": f"{at}/{link}" for link in _SHAPES["repository_links"].split()}
    return {**links, **shaped("repository", user=user(owner, "Organization"), **places, **given)}
