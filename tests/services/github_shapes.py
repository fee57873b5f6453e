"""What GitHub's answers look like, whole enough for githubkit's models."""

from typing import Any


def user(name: str, kind: str = "User") -> dict[str, Any]:
    at = f"https://api.github.test/users/{name}"
    links = (
        "followers", "following", "gists", "starred", "subscriptions", "organizations", "repos",
        "events", "received_events",
    )  # fmt: skip
    return {
        "login": name,
        "id": sum(name.encode()),
        "node_id": f"U_{name}",
        "avatar_url": "https://avatars.test/1",
        "gravatar_id": "",
        "url": at,
        "html_url": f"https://github.test/{name}",
        **{f"{link}_url": f"{at}/{link}" for link in links},
        "type": kind,
        "site_admin": False,
    }


def label(
    at: str, name: str, color: str = "ededed", description: str | None = None
) -> dict[str, Any]:
    return {
        "id": sum(name.encode()),
        "node_id": f"L_{name}",
        "url": f"{at}/labels/{name}",
        "name": name,
        "color": color,
        "default": False,
        "description": description,
        "archived_at": None,
        "archived_by": None,
    }


def issue(at: str, web: str, kept: dict[str, Any]) -> dict[str, Any]:
    """An issue, or a pull request as the list of issues shows it."""
    number = kept["number"]
    own = f"{at}/issues/{number}"
    pull = {
        "pull_request": {
            "url": f"{at}/pulls/{number}",
            "html_url": f"{web}/pull/{number}",
            "diff_url": f"{web}/pull/{number}.diff",
            "patch_url": f"{web}/pull/{number}.patch",
            "merged_at": kept.get("merged_at"),
        },
        "draft": kept.get("draft", False),
    }
    return {
        "id": 1000 + number,
        "node_id": f"I_{number}",
        "url": own,
        "repository_url": at,
        "labels_url": f"{own}/labels{{/name}}",
        "comments_url": f"{own}/comments",
        "events_url": f"{own}/events",
        "html_url": f"{web}/{'pull' if kept.get('head') else 'issues'}/{number}",
        "number": number,
        "state": kept["state"],
        "state_reason": kept.get("state_reason"),
        "title": kept["title"],
        "body": kept["body"],
        "user": user(kept["by"]),
        "labels": [label(at, name) for name in kept["labels"]],
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "locked": False,
        "active_lock_reason": None,
        "comments": kept["comments"],
        "closed_at": kept.get("closed_at"),
        "created_at": kept["created_at"],
        "updated_at": kept["updated_at"],
        "author_association": "OWNER",
        **(pull if kept.get("head") else {}),
    }


def comment(at: str, web: str, kept: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": kept["id"],
        "node_id": f"IC_{kept['id']}",
        "url": f"{at}/issues/comments/{kept['id']}",
        "html_url": f"{web}/issues/{kept['number']}#issuecomment-{kept['id']}",
        "issue_url": f"{at}/issues/{kept['number']}",
        "body": kept["body"],
        "user": user(kept["by"], kept.get("kind", "User")),
        "created_at": kept["at"],
        "updated_at": kept["at"],
        "author_association": kept.get("association", "OWNER"),
        "performed_via_github_app": None,
    }


def review(web: str, kept: dict[str, Any]) -> dict[str, Any]:
    address = f"{web}/pull/{kept['number']}"
    return {
        "id": kept["id"],
        "node_id": f"PRR_{kept['id']}",
        "user": user(kept["by"], kept.get("kind", "User")),
        "body": kept["body"],
        "state": kept["state"],
        "html_url": f"{address}#pullrequestreview-{kept['id']}",
        "pull_request_url": address,
        "_links": {"html": {"href": address}, "pull_request": {"href": address}},
        "submitted_at": kept["at"],
        "commit_id": "0" * 40,
        "author_association": kept.get("association", "OWNER"),
    }


def ref(at: str, name: str, sha: str, kind: str = "commit") -> dict[str, Any]:
    return {
        "ref": name,
        "node_id": f"REF_{name}",
        "url": f"{at}/git/{name}",
        "object": {"type": kind, "sha": sha, "url": f"{at}/git/{kind}s/{sha}"},
    }


def commit(at: str, web: str, told: dict[str, Any]) -> dict[str, Any]:
    return {
        "sha": told["sha"],
        "node_id": f"C_{told['sha']}",
        "url": f"{at}/git/commits/{told['sha']}",
        "html_url": f"{web}/commit/{told['sha']}",
        "author": told["person"],
        "committer": told["person"],
        "message": told["message"],
        "tree": {"sha": told["tree"], "url": f"{at}/git/trees/{told['tree']}"},
        "parents": [
            {"sha": one, "url": f"{at}/git/commits/{one}", "html_url": f"{web}/commit/{one}"}
            for one in told["parents"]
        ],
        "verification": {
            "verified": False,
            "reason": "unsigned",
            "signature": None,
            "payload": None,
            "verified_at": None,
        },
    }


def listed_commit(at: str, web: str, told: dict[str, Any]) -> dict[str, Any]:
    """A commit as `/commits/{ref}` shows it."""
    whole = commit(at, web, told)
    return {
        "url": f"{at}/commits/{told['sha']}",
        "sha": told["sha"],
        "node_id": whole["node_id"],
        "html_url": whole["html_url"],
        "comments_url": f"{at}/commits/{told['sha']}/comments",
        "commit": {
            "url": whole["url"],
            "author": told["person"],
            "committer": told["person"],
            "message": told["message"],
            "comment_count": 0,
            "tree": whole["tree"],
        },
        "author": user("ann"),
        "committer": user("ann"),
        "parents": whole["parents"],
    }


def tree(at: str, sha: str, rows: list[dict[str, Any]], truncated: bool = False) -> dict[str, Any]:
    kinds = {"blob": "blobs", "tree": "trees", "commit": "commits"}
    listed = [{**row, "url": f"{at}/git/{kinds[row['type']]}/{row['sha']}"} for row in rows]
    return {"sha": sha, "url": f"{at}/git/trees/{sha}", "tree": listed, "truncated": truncated}


def pull(at: str, web: str, kept: dict[str, Any], repository: dict[str, Any]) -> dict[str, Any]:
    number = kept["number"]
    own = f"{at}/pulls/{number}"
    whole = issue(at, web, kept)
    names = (
        "id", "node_id", "number", "state", "title", "body", "user", "labels", "created_at",
        "updated_at", "closed_at", "assignee", "assignees", "milestone", "locked", "draft",
        "active_lock_reason", "author_association",
    )  # fmt: skip
    paths = ("comments", "commits", "statuses", "review_comments")

    def side(name: str, sha: str) -> dict[str, Any]:
        owner = repository["full_name"].split("/")[0]
        return {
            "label": f"{owner}:{name}",
            "ref": name,
            "sha": sha,
            "repo": repository,
            "user": user(owner),
        }

    return {
        **{name: whole[name] for name in names},
        "url": own,
        "html_url": f"{web}/pull/{number}",
        "diff_url": f"{web}/pull/{number}.diff",
        "patch_url": f"{web}/pull/{number}.patch",
        "issue_url": f"{at}/issues/{number}",
        **{f"{path}_url": f"{own}/{path}" for path in paths},
        "review_comment_url": f"{own}/comments{{/number}}",
        "_links": {
            link: {"href": own}
            for link in (
                "comments", "commits", "statuses", "html", "issue", "review_comments",
                "review_comment", "self",
            )
        },
        "merged_at": kept.get("merged_at"),
        "merge_commit_sha": kept.get("merge_sha"),
        "requested_reviewers": [],
        "requested_teams": [],
        "auto_merge": None,
        "head": side(kept["head"], kept["head_sha"]),
        "base": side(kept["base"], kept["base_sha"]),
        "merged": bool(kept.get("merged_at")),
        "mergeable": True,
        "mergeable_state": "clean",
        "merged_by": None,
        "comments": kept["comments"],
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": 1,
        "additions": 1,
        "deletions": 1,
        "changed_files": 1,
    }  # fmt: skip


def repository(at: str, web: str, name: str, branch: str, size: int) -> dict[str, Any]:
    owner, short = name.split("/")
    flags = (
        "private", "fork", "archived", "disabled", "has_issues", "has_projects", "has_wiki",
        "has_pages", "has_discussions",
    )  # fmt: skip
    links = (
        "archive", "assignees", "blobs", "branches", "collaborators", "comments", "commits",
        "compare", "contents", "contributors", "deployments", "downloads", "events", "forks",
        "git_commits", "git_refs", "git_tags", "git", "issue_comment", "issue_events", "issues",
        "keys", "labels", "languages", "merges", "milestones", "notifications", "pulls",
        "releases", "ssh", "stargazers", "statuses", "subscribers", "subscription", "tags",
        "teams", "trees", "hooks", "svn",
    )  # fmt: skip
    counts = ("forks", "stargazers", "watchers", "open_issues")
    return {
        "id": 1,
        "node_id": "R_1",
        "name": short,
        "full_name": name,
        "owner": user(owner, "Organization"),
        "html_url": web,
        "description": None,
        "url": at,
        **{f"{link}_url": f"{at}/{link}" for link in links},
        **{flag: flag in ("private", "has_issues") for flag in flags},
        **{f"{count}_count": 0 for count in counts},
        "forks": 0,
        "watchers": 0,
        "open_issues": 0,
        "clone_url": f"{web}.git",
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "size": size,
        "default_branch": branch,
        "pushed_at": "2026-11-20T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-11-20T00:00:00Z",
        "permissions": {"admin": False, "push": True, "pull": True},
        "network_count": 0,
        "subscribers_count": 0,
    }
