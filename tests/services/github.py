"""A GitHub that keeps what it is told, and is as strict as the service.

    with GitHub(bare_repository) as server:
        server.url, server.token          # for GITHUB_API_URL and GITHUB_TOKEN
        server.requests                   # what was asked, in order
        server.fail("POST", "/issues", status=502, stored=True)

Issues, pull requests, labels and comments live in memory; refs, trees, blobs and commits in a real
bare repository that can be cloned over HTTP.
"""

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from services import github_checks
from services import github_history as history
from services import github_shapes as shapes
from services.github_app import App
from services.github_checks import Checks
from services.github_git import BareRepository, Refusal, basic_token
from services.serving import Quiet, Served

START = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
PERMISSIONS = {"metadata": "read", "contents": "write", "issues": "write", "pull_requests": "write"}
VERSIONS = ("2022-11-28", "2026-03-10")
_CREATED_A_MINUTE = 80  # content, beyond which GitHub calls it a secondary limit
_MANY = 100  # rows a page
_ROLES = ("pull", "triage", "push", "maintain", "admin")


class Asked(NamedTuple):
    """A request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: Mapping[str, str]
    status: int


class Failure(NamedTuple):
    """How a request is to fail; `stored` does what was asked before the answer is spoilt."""

    method: str
    pattern: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    how: str  # answer | slow | cut | truncated
    stored: bool
    seconds: float


class Route(NamedTuple):
    """One endpoint: what it takes and which permission it needs."""

    method: str
    pattern: re.Pattern[str]
    needs: str
    answer: Callable[..., "Answer"]


class Answer(NamedTuple):
    """Status, JSON and headers."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


class GitHub(Served):
    """The stand-in; one repository, one token."""

    def __init__(
        self,
        folder: Path,
        repository: str = "acme/shop",
        token: str = "github_pat_stand_in",
        permissions: Mapping[str, str] = PERMISSIONS,
        prefix: str = "",
    ) -> None:
        """An Enterprise server has its API below the prefix /api/v3."""
        self.prefix = prefix
        self.git = BareRepository(folder)
        with (folder / "config").open("a") as config:
            config.write("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
        self.repository, self.token, self.permissions = repository, token, dict(permissions)
        self.default_branch = "main"
        self.size = 1_000  # KiB, as the repository says
        self.has_issues = self.has_drafts = self.has_clone = self.has_pulls = True
        self.is_public = self.is_archived = False
        self.role = "push"  # of the token's user
        self.account = "the-token"  # that user; empty: the token is no user's
        self.scopes: str | None = None  # of a classic token
        self.versions: tuple[str, ...] = VERSIONS  # of the API
        self.app = App()
        self._held: Mapping[str, str] = self.permissions  # by whoever asks now
        self._who = ""
        self.moved_to = ""  # the repository's new name
        self.largest_tree = 100_000  # entries
        self.labels: dict[str, dict[str, Any]] = {}
        self.items: dict[int, dict[str, Any]] = {}
        self.comments: list[dict[str, Any]] = []
        self.reviews: list[dict[str, Any]] = []
        self.checks: dict[str, Checks] = {}  # by commit
        self.log_address = ""  # where logs lie; empty: beside the API
        self.review_comments: list[dict[str, Any]] = []
        self.requests: list[Asked] = []
        self.received: list[bytes] = []  # every body that came to the API, as it came
        self._failures: list[Failure] = []
        self._befores: list[tuple[str, str, Callable[[], object]]] = []
        self._created: list[float] = []
        self._ticks = 0
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        super().__enter__()
        self.url = f"{self.root}{self.prefix}"
        self._at = f"{self.url}/repos/{self.repository}"
        self._web = f"{self.root}/{self.repository}"
        return self

    def _handler(self) -> type[Quiet]:
        return _handler(self)

    # What a test says.

    def fail(
        self,
        method: str,
        pattern: str,
        *,
        status: int = 502,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"<html>Bad gateway</html>",
        how: str = "answer",
        stored: bool = False,
        seconds: float = 0.0,
        times: int = 1,
    ) -> None:
        """The next `times` requests of that method whose path matches fail so."""
        one = Failure(method, pattern, status, headers or {}, body, how, stored, seconds)
        self._failures += [one] * times

    def before(self, method: str, pattern: str, do: Callable[[], object]) -> None:
        """Before the next request of that method whose path matches, somebody does something."""
        self._befores.append((method, pattern, do))

    def calls(self) -> list[str]:
        """Method and path, without the repository, of every API request."""
        start = f"/repos/{self.repository}"
        return [f"{one.method} {one.path.removeprefix(start)}" for one in self.requests]

    def writes(self) -> list[str]:
        return [call for call in self.calls() if not call.startswith(("GET", "HEAD"))]

    def issues(self) -> list[dict[str, Any]]:
        return [item for item in self.items.values() if not item.get("head")]

    def pulls(self) -> list[dict[str, Any]]:
        return [item for item in self.items.values() if item.get("head")]

    def add_item(self, title: str, body: str, **more: Any) -> dict[str, Any]:
        """An issue or, with `head`, a pull request that somebody opened."""
        now = self._now()
        item = {
            "number": max(self.items, default=0) + 1,
            "title": title,
            "body": body,
            "labels": [],
            "state": "open",
            "by": "ann",
            "comments": 0,
            "created_at": now,
            "updated_at": now,
            **more,
        }
        self.items[item["number"]] = item
        return item

    def add_comment(self, number: int, body: str, **more: Any) -> dict[str, Any]:
        said = {"id": 9000 + len(self.comments), "number": number, "body": body, "by": "ann"}
        self.comments.append({**said, "at": self._now(), **more})
        self.items[number]["comments"] += 1
        self._touch(self.items[number])
        return self.comments[-1]

    def add_review(
        self, number: int, body: str, state: str = "CHANGES_REQUESTED", **more: Any
    ) -> None:
        said = {"id": 7000 + len(self.reviews), "number": number, "body": body, "by": "ann"}
        self.reviews.append({**said, "state": state, "at": self._now(), **more})
        self._touch(self.items[number])

    # What the service does.

    def _now(self) -> str:
        self._ticks += 1
        return (START + timedelta(seconds=self._ticks)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _touch(self, item: dict[str, Any]) -> None:
        item["updated_at"] = self._now()

    def failure(self, method: str, path: str) -> Failure | None:
        with self._lock:
            for one in self._failures:
                if one.method == method and re.search(one.pattern, path):
                    self._failures.remove(one)
                    return one
        return None

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Everything that GitHub checks before it does what it is asked."""
        with self._lock:
            path = unquote(urlsplit(target).path)
            for one in [b for b in self._befores if b[0] == method and re.search(b[1], path)]:
                self._befores.remove(one)
                one[2]()
            query = {k: v[0] for k, v in parse_qs(urlsplit(target).query).items()}
            try:
                self._check_request(headers)
                given = _json(body) if method in ("POST", "PATCH", "PUT") else None
                signed = headers.get("authorization", "")
                if told := self.app.answer(method, path, signed, self.repository, given):
                    return Answer(*told)
                self._check_sign_in(headers)
                answer = self._routed(method, path, query, given)
            except Refusal as refused:
                said = {"message": refused.message, "documentation_url": "https://docs.github.test"}
                errors = {"errors": list(refused.errors)} if refused.errors else {}
                answer = Answer(refused.status, {**said, **errors}, refused.headers)
            return answer._replace(headers={**self._scopes(), **answer.headers})

    def within(self, target: str) -> str | None:
        """What is asked for below the prefix; None where nothing is."""
        if not self.prefix:
            return target
        if target == self.prefix.replace("v3", "graphql"):
            return "/graphql"
        below = target.removeprefix(self.prefix)
        return below if below != target else None

    def may_clone(self, token: str) -> bool:
        """Whether the token is one, and may read contents."""
        held = self.permissions if token == self.token else self.app.may(token)
        return self.has_clone and "contents" in (held or {})

    def knows(self, token: str) -> bool:
        return token == self.token or self.app.may(token) is not None

    def _scopes(self) -> dict[str, str]:
        if self.scopes is None:
            return {}
        return {"x-oauth-scopes": self.scopes, "x-accepted-oauth-scopes": "repo"}

    def _check_sign_in(self, headers: Mapping[str, str]) -> None:
        token = basic_token(headers.get("authorization", ""))
        if not self.knows(token):
            raise Refusal(401, "Bad credentials")
        self._held = self.permissions if token == self.token else self.app.may(token) or {}
        self._who = (
            (self.account or "github-actions[bot]") if token == self.token else self.app.login
        )

    def _check_request(self, headers: Mapping[str, str]) -> None:
        if not headers.get("user-agent"):
            raise Refusal(403, "Request forbidden by administrative rules.")
        if headers.get("x-github-api-version", self.versions[0]) not in self.versions:
            raise Refusal(400, "The specified API version is not supported.")

    def _routed(self, method: str, path: str, query: dict[str, str], given: Any) -> Answer:
        start = f"/repos/{self.repository}"
        if path == "/user" and method == "GET":
            if self._who.endswith("[bot]"):
                raise Refusal(403, "Resource not accessible by integration")
            return Answer(200, shapes.user(self._who))
        if path == "/graphql" and method == "POST":
            return self._graphql(given)
        if self.moved_to and path.startswith(start):
            rest = path.removeprefix(start)
            status = 301 if method in ("GET", "HEAD") else 307
            return Answer(
                status,
                {"message": "Moved Permanently"},
                {"location": f"{self.url}/repos/{self.moved_to}{rest}"},
            )
        if self.moved_to and path.startswith(f"/repos/{self.moved_to}"):
            path = start + path.removeprefix(f"/repos/{self.moved_to}")
        if not path.startswith(start):
            raise Refusal(404, "Not Found")
        for route in _ROUTES:
            found = route.pattern.fullmatch(path.removeprefix(start))
            if route.method == method and found:
                self._check_permission(route)
                if self.is_archived and method != "GET":
                    raise Refusal(403, "Repository was archived so is read-only.")
                return route.answer(self, query, given, *found.groups())
        raise Refusal(404, "Not Found")

    def _check_permission(self, route: Route) -> None:
        accepted = [need.split("=") for need in route.needs.split("; ")]
        levels = {"read": 1, "write": 2}
        held = (levels.get(self._held.get(name, ""), 0) >= levels[at] for name, at in accepted)
        if not any(held):
            headers = {"x_accepted_github_permissions": route.needs}
            raise Refusal(403, "Resource not accessible by personal access token", **headers)

    def _creates(self) -> None:
        """Content that others are told about; too much of it in a minute is refused."""
        now = time.monotonic()
        self._created = [at for at in self._created if now - at < 60] + [now]
        if len(self._created) > _CREATED_A_MINUTE:
            raise Refusal(
                403, "You have exceeded a secondary rate limit. Please wait a few minutes"
            )

    def _repository(self) -> dict[str, Any]:
        below = _ROLES.index(self.role)
        return shapes.repository(
            self._at,
            self._web,
            self.moved_to or self.repository,
            branch=self.default_branch,
            size=self.size,
            has_issues=self.has_issues,
            has_pulls=self.has_pulls,
            is_private=not self.is_public,
            is_archived=self.is_archived,
            visibility="public" if self.is_public else "private",
            permissions={name: at <= below for at, name in enumerate(_ROLES)},
        )

    def _get_repository(self, query: Any, given: Any) -> Answer:
        return Answer(200, self._repository())

    def _listed(self, rows: list[Any], query: dict[str, str], path: str) -> Answer:
        """One page of a list, with Link as GitHub writes it."""
        size, page = min(int(query.get("per_page", 30)), _MANY), int(query.get("page", 1))
        more = len(rows) > size * page
        following = urlencode({**query, "page": page + 1})
        link = {"link": f'<{self._at}{path}?{following}>; rel="next"'} if more else {}
        return Answer(200, rows[size * (page - 1) : size * page], link)

    def _list_issues(self, query: dict[str, str], given: Any) -> Answer:
        wanted = set(filter(None, query.get("labels", "").split(",")))
        state = query.get("state", "open")
        rows = [
            item
            for item in self.items.values()
            if wanted <= set(item["labels"]) and state in ("all", item["state"])
        ]
        sort = {"created": "created_at", "updated": "updated_at"}[query.get("sort", "created")]
        rows.sort(key=lambda item: item[sort], reverse=query.get("direction", "desc") == "desc")
        return self._listed([shapes.issue(self._at, self._web, i) for i in rows], query, "/issues")

    def _create_issue(self, query: Any, given: Any) -> Answer:
        if not self.has_issues:
            raise Refusal(410, "Issues has been disabled in this repository.")
        self._creates()
        title, body, labels = given.get("title"), given.get("body") or "", given.get("labels", [])
        _check_text("Issue", "title", title, 256)
        _check_text("Issue", "body", body, 65_536, empty=True)
        for name in labels:
            self.labels.setdefault(name, shapes.label(self._at, name))
        item = self.add_item(title, body, labels=list(labels), by=self._who)
        return Answer(201, shapes.issue(self._at, self._web, item))

    def _item(self, number: str) -> dict[str, Any]:
        if int(number) not in self.items:
            raise Refusal(404, "Not Found")
        return self.items[int(number)]

    def _get_issue(self, query: Any, given: Any, number: str) -> Answer:
        return Answer(200, shapes.issue(self._at, self._web, self._item(number)))

    def _update_issue(self, query: Any, given: Any, number: str) -> Answer:
        item = self._item(number)
        if given.get("state") not in (None, "open", "closed"):
            raise Refusal(422, "Validation Failed", _error("Issue", "state", "invalid"))
        reason = given.get("state_reason")
        if reason not in (None, "completed", "not_planned", "reopened", "duplicate"):
            raise Refusal(422, "Validation Failed", _error("Issue", "state_reason", "invalid"))
        if given.get("state"):
            item["state"], item["state_reason"] = given["state"], reason
            item["closed_at"] = self._now() if given["state"] == "closed" else None
        if given.get("body") is not None:
            item["body"] = str(given["body"])
        self._touch(item)
        return Answer(200, shapes.issue(self._at, self._web, item))

    def _list_comments(self, query: dict[str, str], given: Any, number: str) -> Answer:
        self._item(number)
        rows = self._said("comment", self.comments, number)
        return self._listed(rows, query, f"/issues/{number}/comments")

    def _said(self, shape: str, kept: list[dict[str, Any]], number: str) -> list[dict[str, Any]]:
        about = [one for one in kept if one["number"] == int(number)]
        return [shapes.said(shape, self._at, self._web, one) for one in about]

    def _create_comment(self, query: Any, given: Any, number: str) -> Answer:
        self._item(number)
        self._creates()
        _check_text("IssueComment", "body", given.get("body"), 65_536)
        one = self.add_comment(int(number), given["body"], by=self._who)
        return Answer(201, shapes.said("comment", self._at, self._web, one))

    def _list_labels(self, query: dict[str, str], given: Any) -> Answer:
        return self._listed(list(self.labels.values()), query, "/labels")

    def _get_label(self, query: Any, given: Any, name: str) -> Answer:
        found = self.labels.get(unquote(name))
        return Answer(200, found) if found else Answer(404, {"message": "Not Found"})

    def _create_label(self, query: Any, given: Any) -> Answer:
        if given["name"] in self.labels or len(given["description"]) > 100:
            return Answer(422, {"message": "Validation Failed"})
        self.labels[given["name"]] = shapes.label(self._at, given["name"])
        return Answer(201, self.labels[given["name"]])

    def _add_labels(self, query: Any, given: Any, number: str) -> Answer:
        item = self._item(number)
        for name in given.get("labels", []) if isinstance(given, dict) else given:
            self.labels.setdefault(name, shapes.label(self._at, name))
            if name not in item["labels"]:
                item["labels"].append(name)
        self._touch(item)
        return Answer(200, [self.labels[name] for name in item["labels"]])

    def _pull_shape(self, item: dict[str, Any]) -> dict[str, Any]:
        return shapes.pull(self._at, self._web, item, self._repository())

    def _list_pulls(self, query: dict[str, str], given: Any) -> Answer:
        state, head = query.get("state", "open"), query.get("head", "")
        owner = self.repository.split("/")[0]
        rows = [
            item
            for item in self.pulls()
            if state in ("all", item["state"]) and head in ("", f"{owner}:{item['head']}")
        ]
        sort = {"created": "created_at", "updated": "updated_at"}[query.get("sort", "created")]
        rows.sort(key=lambda item: item[sort], reverse=query.get("direction", "asc") == "desc")
        return self._listed([self._pull_shape(item) for item in rows], query, "/pulls")

    def _get_pull(self, query: Any, given: Any, number: str) -> Answer:
        item = self._item(number)
        if not item.get("head"):
            raise Refusal(404, "Not Found")
        return Answer(200, self._pull_shape(item))

    def _list_files(self, query: dict[str, str], given: Any, number: str) -> Answer:
        self._get_pull(query, given, number)
        item = self._item(number)
        rows = history.changed_files(
            self.git, self._at, self._web, item["head_sha"], item["base_sha"]
        )
        return self._listed(rows, query, f"/pulls/{number}/files")

    def _create_pull(self, query: Any, given: Any) -> Answer:
        self._creates()
        _check_text("PullRequest", "title", given.get("title"), 256)
        _check_text("PullRequest", "body", given.get("body") or "", 65_536, empty=True)
        heads, sides = self.git.refs("refs/heads/"), {}
        for side in ("base", "head"):
            name = str(given.get(side, "")).removeprefix(f"{self.repository.split('/')[0]}:")
            if f"refs/heads/{name}" not in heads:
                raise Refusal(422, "Validation Failed", _error("PullRequest", side, "invalid"))
            sides[side], sides[f"{side}_sha"] = name, heads[f"refs/heads/{name}"]
        if not self.git.run("rev-list", f"{sides['base_sha']}..{sides['head_sha']}"):
            told = f"No commits between {sides['base']} and {sides['head']}"
            raise Refusal(422, "Validation Failed", {"message": told})
        if any(p["head"] == sides["head"] and p["state"] == "open" for p in self.pulls()):
            who = ":".join((self.repository.split("/")[0], sides["head"]))
            told = f"A pull request already exists for {who}."
            raise Refusal(422, "Validation Failed", {"resource": "PullRequest", "message": told})
        if given.get("draft") and not self.has_drafts:
            raise Refusal(422, "Draft pull requests are not supported in this repository.")
        item = self.add_item(
            given["title"],
            given.get("body") or "",
            draft=bool(given.get("draft")),
            by=self._who,
            **sides,
        )
        return Answer(201, self._pull_shape(item))

    def _list_reviews(self, query: dict[str, str], given: Any, number: str) -> Answer:
        rows = self._said("review", self.reviews, number)
        return self._listed(rows, query, f"/pulls/{number}/reviews")

    def _list_review_comments(self, query: dict[str, str], given: Any, number: str) -> Answer:
        rows = self._said("comment", self.review_comments, number)
        return self._listed(rows, query, f"/pulls/{number}/comments")

    def _get_ref(self, query: Any, given: Any, name: str) -> Answer:
        sha = self.git.refs().get(f"refs/{name}")
        if sha is None:
            raise Refusal(404, "Not Found")
        return Answer(200, shapes.ref(self._at, f"refs/{name}", sha, self.git.kind(sha)))

    def _create_ref(self, query: Any, given: Any) -> Answer:
        self.git.create_ref(given.get("ref", ""), given.get("sha", ""))
        return Answer(201, shapes.ref(self._at, given["ref"], given["sha"]))

    def _update_ref(self, query: Any, given: Any, name: str) -> Answer:
        now, new = self.git.refs().get(f"refs/{name}"), given.get("sha", "")
        if now is None or self.git.kind(new) != "commit":
            raise Refusal(
                422, "Reference does not exist" if now is None else "Object does not exist"
            )
        if not given.get("force") and now not in self.git.run("rev-list", new).split():
            raise Refusal(422, "Update is not a fast forward")
        self.git.run("update-ref", f"refs/{name}", new, now)
        for item in self.pulls():
            if f"heads/{item['head']}" == name and item["state"] == "open":
                item["head_sha"] = new
        return Answer(200, shapes.ref(self._at, f"refs/{name}", new))

    def _delete_ref(self, query: Any, given: Any, name: str) -> Answer:
        if f"refs/{name}" not in self.git.refs():
            raise Refusal(422, "Reference does not exist")
        self.git.run("update-ref", "-d", f"refs/{name}")
        return Answer(204, None)

    def _get_tree(self, query: dict[str, str], given: Any, sha: str) -> Answer:
        if self.git.kind(sha) not in ("tree", "commit"):
            raise Refusal(404, "Not Found")
        rows = self.git.tree(sha, "recursive" in query)
        cut = len(rows) > self.largest_tree
        return Answer(200, shapes.tree(self._at, sha, rows[: self.largest_tree], cut))

    def _create_tree(self, query: Any, given: Any) -> Answer:
        sha = self.git.write_tree(given.get("base_tree", ""), given.get("tree", []))
        return Answer(201, shapes.tree(self._at, sha, self.git.tree(sha, recursive=False)))

    def _get_blob(self, query: Any, given: Any, sha: str) -> Answer:
        content = self.git.blob(sha)
        body = {"content": base64.encodebytes(content).decode(), "encoding": "base64"}
        where = {"url": f"{self._at}/git/blobs/{sha}", "sha": sha, "node_id": f"B_{sha}"}
        return Answer(200, {**body, **where, "size": len(content)})

    def _get_commit(self, query: Any, given: Any, sha: str) -> Answer:
        return Answer(200, shapes.commit(self._at, self._web, self.git.commit(sha)))

    def _list_checks(self, query: Any, given: Any, sha: str) -> Answer:
        return Answer(200, github_checks.check_runs(self.checks, sha))

    def _list_runs(self, query: dict[str, str], given: Any) -> Answer:
        return Answer(200, github_checks.workflow_runs(self.checks, query["head_sha"]))

    def _get_status(self, query: Any, given: Any, sha: str) -> Answer:
        return Answer(200, github_checks.combined_status(self.checks, sha))

    def _list_jobs(self, query: Any, given: Any, run: str) -> Answer:
        return Answer(200, github_checks.jobs(self.checks, int(run)))

    def _get_log(self, query: Any, given: Any, job: str) -> Answer:
        """Logs lie elsewhere: whoever brings the token there has given it away."""
        if not github_checks.log(self.checks, int(job)):
            raise Refusal(404, "Not Found")
        return Answer(302, None, {"location": self.log_address or f"{self.url}/logs/{job}"})

    def _create_commit(self, query: Any, given: Any) -> Answer:
        message, tree = given.get("message"), given.get("tree", "")
        _check_text("Commit", "message", message, 1_000_000)
        sha = self.git.write_commit(message, tree, given.get("parents", []))
        return Answer(201, shapes.commit(self._at, self._web, self.git.commit(sha)))

    def _find_commit(self, query: Any, given: Any, name: str) -> Answer:
        sha = self.git.commit_of(name)
        if not sha:
            raise Refusal(422, f"No commit found for SHA: {name}")
        return Answer(200, history.whole_commit(self.git, self._at, self._web, sha))

    def _list_commits(self, query: dict[str, str], given: Any) -> Answer:
        sha = self.git.commit_of(query.get("sha", self.default_branch))
        if not sha:
            raise Refusal(404, "Not Found")
        path, since = query.get("path", ""), query.get("since", "")
        rows = history.listed(self.git, self._at, self._web, sha, path, since)
        return self._listed(rows, query, "/commits")

    def _compare(self, query: dict[str, str], given: Any, basehead: str) -> Answer:
        page = int(query.get("page", 1))
        return Answer(200, history.compared(self.git, self._at, self._web, basehead, page))

    def _list_tags(self, query: dict[str, str], given: Any) -> Answer:
        rows = []
        for ref in sorted(self.git.refs("refs/tags/"), reverse=True):
            sha = self.git.run("rev-parse", f"{ref}^{{commit}}")
            name = ref.removeprefix("refs/tags/")
            rows.append(shapes.shaped("tag", at=self._at, name=name, sha=sha))
        return self._listed(rows, query, "/tags")

    def _graphql(self, given: Any) -> Answer:
        from services.github_graphql import answer

        if given.get("query") == "query{viewer{login}}":
            return Answer(200, {"data": {"viewer": {"login": self._who}}})
        self._check_permission(_GRAPHQL)
        return Answer(200, answer(self, given))


def _route(method: str, pattern: str, needs: str, answer: Callable[..., Answer]) -> Route:
    return Route(method, re.compile(pattern), needs, answer)


_N, _SHA, _REF = r"(\d+)", r"([0-9a-f]{40})", r"((?:heads|tags)/.+)"
_READ, _WRITE = "contents=read", "contents=write"
_TALK = "issues=write; pull_requests=write"
_HEAR = "issues=read; pull_requests=read"
_GRAPHQL = _route("POST", "/graphql", _READ, GitHub._graphql)
_ROUTES = (
    _route("GET", "", "metadata=read", GitHub._get_repository),
    _route("GET", "/issues", _HEAR, GitHub._list_issues),
    _route("POST", "/issues", "issues=write", GitHub._create_issue),
    _route("GET", f"/issues/{_N}", _HEAR, GitHub._get_issue),
    _route("PATCH", f"/issues/{_N}", _TALK, GitHub._update_issue),
    _route("GET", f"/issues/{_N}/comments", _HEAR, GitHub._list_comments),
    _route("POST", f"/issues/{_N}/comments", _TALK, GitHub._create_comment),
    _route("POST", f"/issues/{_N}/labels", _TALK, GitHub._add_labels),
    _route("GET", "/labels", _HEAR, GitHub._list_labels),
    _route("POST", "/labels", _TALK, GitHub._create_label),
    _route("GET", "/labels/([^/]+)", _HEAR, GitHub._get_label),
    _route("GET", "/pulls", "pull_requests=read", GitHub._list_pulls),
    _route("POST", "/pulls", "pull_requests=write", GitHub._create_pull),
    _route("GET", f"/pulls/{_N}", "pull_requests=read", GitHub._get_pull),
    _route("GET", f"/pulls/{_N}/files", "pull_requests=read", GitHub._list_files),
    _route("GET", f"/pulls/{_N}/reviews", "pull_requests=read", GitHub._list_reviews),
    _route("GET", f"/pulls/{_N}/comments", "pull_requests=read", GitHub._list_review_comments),
    _route("GET", f"/git/ref/{_REF}", _READ, GitHub._get_ref),
    _route("POST", "/git/refs", _WRITE, GitHub._create_ref),
    _route("PATCH", f"/git/refs/{_REF}", _WRITE, GitHub._update_ref),
    _route("DELETE", f"/git/refs/{_REF}", _WRITE, GitHub._delete_ref),
    _route("GET", f"/git/trees/{_SHA}", _READ, GitHub._get_tree),
    _route("POST", "/git/trees", _WRITE, GitHub._create_tree),
    _route("GET", f"/git/blobs/{_SHA}", _READ, GitHub._get_blob),
    _route("GET", f"/git/commits/{_SHA}", _READ, GitHub._get_commit),
    _route("POST", "/git/commits", _WRITE, GitHub._create_commit),
    _route("GET", "/commits", _READ, GitHub._list_commits),
    _route("GET", f"/commits/{_SHA}/check-runs", "checks=read", GitHub._list_checks),
    _route("GET", "/actions/runs", "actions=read", GitHub._list_runs),
    _route("GET", f"/actions/runs/{_N}/jobs", "actions=read", GitHub._list_jobs),
    _route("GET", f"/actions/jobs/{_N}/logs", "actions=read; checks=read", GitHub._get_log),
    _route("GET", f"/commits/{_SHA}/status", "statuses=read", GitHub._get_status),
    _route("GET", "/compare/(.+)", _READ, GitHub._compare),
    _route("GET", "/commits/(.+)", _READ, GitHub._find_commit),
    _route("GET", "/tags", "metadata=read", GitHub._list_tags),
)


def _error(resource: str, field: str, code: str) -> dict[str, str]:
    return {"resource": resource, "field": field, "code": code}


def _check_text(resource: str, field: str, text: Any, longest: int, *, empty: bool = False) -> None:
    if not isinstance(text, str) or not (text.strip() or empty):
        raise Refusal(422, "Validation Failed", _error(resource, field, "missing_field"))
    if len(text) > longest:
        raise Refusal(422, "Validation Failed", _error(resource, field, "too_long"))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body or b"{}")
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None


def _handler(github: GitHub) -> type[Quiet]:
    class Handler(Quiet):
        wbufsize = -1

        def _any(self) -> None:
            body = b"".join(self._body())
            headers = {name.lower(): value for name, value in self.headers.items()}
            path = urlsplit(self.path).path
            failure = github.failure(self.command, path)
            if failure and failure.seconds:
                time.sleep(failure.seconds)
            if path.startswith(f"/{github.moved_to or github.repository}.git/"):
                self._git(path, headers, body, failure)
                return
            github.received.append(body)
            if stored := re.fullmatch(r"/logs/(\d+)", path):
                asked = Asked(self.command, path, {}, None, headers, 200)
                github.requests.append(asked)
                text = github_checks.log(github.checks, int(stored[1]))
                self._send(200, {"content-type": "text/plain"}, text.encode())
                return
            target, answer = github.within(self.path), Answer(404, {"message": "Not Found"})
            path = urlsplit(target or self.path).path
            if target and (failure is None or failure.stored):
                answer = github.answer(self.command, target, headers, body)
            status = failure.status if failure else answer.status
            query = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
            given = _lenient(body)
            asked = Asked(self.command, unquote(path), query, given, headers, status)
            github.requests.append(asked)
            if failure:
                self._spoil(failure, answer)
            else:
                self._tell(answer, headers)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _any

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(time.time() + github.app.ahead)

        def _body(self) -> Iterator[bytes]:
            if self.headers.get("transfer-encoding") == "chunked":
                while size := int(self.rfile.readline().strip(), 16):
                    yield self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                yield self.rfile.read(int(self.headers.get("content-length", 0)))

        def _tell(self, answer: Answer, headers: Mapping[str, str]) -> None:
            body = b"" if answer.status == 204 else json.dumps(answer.body).encode()
            more = dict(answer.headers)
            self._send(
                answer.status, {"content-type": "application/json; charset=utf-8", **more}, body
            )

        def _spoil(self, failure: Failure, answer: Answer) -> None:
            if failure.how == "cut":
                self.close_connection = True
                self.connection.close()
            elif failure.how == "truncated":
                whole = json.dumps(answer.body).encode() if failure.stored else b'{"number": 1, "ti'
                self._send(200, {"content-type": "application/json"}, whole[: len(whole) // 2])
            else:
                self._send(failure.status, failure.headers, failure.body)

        def _git(
            self, path: str, headers: Mapping[str, str], body: bytes, failure: Failure | None
        ) -> None:
            below = path.removeprefix(f"/{github.moved_to or github.repository}.git")
            github.requests.append(
                Asked(self.command, path, {}, None, headers, failure.status if failure else 200)
            )
            if failure:
                self._spoil(failure, Answer(failure.status, None))
            elif not github.knows(basic_token(headers.get("authorization", ""))):
                self._send(401, {"www-authenticate": 'Basic realm="GitHub"'}, b"")
            elif not github.may_clone(basic_token(headers.get("authorization", ""))):
                self._send(403, {}, b"Write access to repository not granted.")
            else:
                query = urlsplit(self.path).query
                page = github.git.serve(below, query, self.command, headers, body)
                self._send(page.status, page.headers, page.body)

        def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

    return Handler


def _lenient(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None
