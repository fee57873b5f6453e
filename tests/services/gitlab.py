"""A GitLab that keeps what it is told, and refuses what its REST API documentation does not allow.

    with GitLab(bare_repository) as server:
        server.project, server.token      # for GITLAB_PROJECT and GITLAB_TOKEN
        server.fail("POST", "/issues", status=502, stored=True)

Quick actions in texts are carried out, as GitLab does: `server.commands` has those that were.
"""

import base64
import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

import yaml
from services.github_git import BareRepository, Refusal
from services.serving import Quiet, Served

START = datetime(2026, 11, 21, 2, 0, tzinfo=UTC)
_ROUTES = [
    (
        method,
        re.compile(path.replace("/projects/:id", r"/projects/[^/]+")),
        name,
        role,
        takes.split(),
    )
    for method, path, name, role, takes in yaml.safe_load(
        Path(__file__).with_suffix(".yml").read_text("utf-8")
    )
]
_PAGED = {"list": ("page", "per_page"), "keyset": ("page", "per_page", "pagination", "cursor")}
_QUICK = re.compile(r"^/(close|reopen|label|merge|assign|approve|title|lock)\b.*$", re.M | re.I)
_CODE = re.compile(r"^```.+?\n```$", re.M | re.S)


class Failure(NamedTuple):
    """How a request is to fail; `stored` does what was asked first."""

    method: str
    pattern: str
    status: int
    headers: dict[str, str]
    stored: bool
    body: bytes


class GitLab(Served):
    """The stand-in; one project, one token."""

    def __init__(self, folder: Path, path: str = "acme/web/shop") -> None:
        self.git, self.path, self.token = BareRepository(folder), path, "glpat-stand-in"
        with (folder / "config").open("a") as config:
            config.write("[uploadpack]\n\tallowFilter = true\n\tallowAnySHA1InWant = true\n")
        self.scopes, self.level, self.account = ["api", "read_repository"], 30, "nightwatch"
        self.people = {"ann": 40, "nightwatch": 30, "project_7_bot_x": 30}  # roles of members
        self.items: dict[tuple[str, int], dict[str, Any]] = {}
        self.said: dict[tuple[str, int], list[dict[str, Any]]] = {}
        self.all_pipelines: list[dict[str, Any]] = []
        self.failed_jobs: dict[int, list[dict[str, Any]]] = {}
        self.commands: list[str] = []
        self.calls: list[str] = []
        self.labels: dict[str, dict[str, Any]] = {}
        self.more: dict[str, Any] = {}  # of the project
        self._failures: list[Failure] = []
        self._ticks = 0

    @property
    def project(self) -> str:
        return f"{self.root}/{self.path}"

    def fail(
        self, method: str, pattern: str, status: int = 502, stored: bool = False,
        body: bytes = b'{"message": "spoilt"}', **headers: str,
    ) -> None:  # fmt: skip
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        kind = {"Content-Type": "application/json"}
        self._failures.append(Failure(method, pattern, status, kind | named, stored, body))

    def writes(self) -> list[str]:
        return [call for call in self.calls if not call.startswith("GET")]

    def now(self) -> str:
        self._ticks += 1
        return (START + timedelta(seconds=self._ticks)).isoformat().replace("+00:00", "Z")

    def add(self, kind: str, title: str, body: str, by: str = "ann", **more: Any) -> dict[str, Any]:
        number, at = 1 + sum(key[0] == kind for key in self.items), self.now()
        kept = self._quick(body)
        item = {
            "id": 1000 + len(self.items), "iid": number, "title": title, "description": kept,
            "state": "opened", "labels": [], "author": {"id": 1, "username": by},
            "web_url": f"{self.project}/-/{kind}/{number}", "created_at": at, "updated_at": at,
            "closed_at": None, "discussion_locked": None,
            "_links": {"closed_as_duplicate_of": None}, **more,
        }  # fmt: skip
        self.items[kind, number], self.said[kind, number] = item, []
        return item

    def say(
        self, kind: str, number: int, body: str, by: str = "ann", system: bool = False
    ) -> dict[str, Any]:
        notes = self.said[kind, number]
        note = {
            "id": 5000 + sum(map(len, self.said.values())), "body": self._quick(body),
            "author": {"username": by}, "created_at": self.now(), "system": system,
        }  # fmt: skip
        notes.append(note)
        self.items[kind, number]["updated_at"] = note["created_at"]
        return note

    def close(self, kind: str, number: int, **more: Any) -> None:
        at = self.now()
        self.items[kind, number].update(
            {"state": "closed", "closed_at": at, "updated_at": at, **more}
        )

    def merge(self, number: int) -> None:
        item = self.items["merge_requests", number]
        self.git.run("update-ref", "refs/heads/main", item["sha"])
        at = self.now()
        item.update(state="merged", merged_at=at, updated_at=at)

    def run_pipeline(self, sha: str, status: str, *failed: str) -> None:
        number = 1 + len(self.all_pipelines)
        self.all_pipelines.append({"id": number, "sha": sha, "status": status, "ref": "x"})
        self.failed_jobs[number] = [
            {
                "id": 100 * number + at,
                "name": name,
                "status": "failed",
                "allow_failure": name == "lint",
            }
            for at, name in enumerate(failed)
        ]

    def _quick(self, text: str) -> str:
        """Carry out commands at the start of a line outside of code blocks, and drop them."""
        outside = _CODE.sub("", text)
        self.commands += [found.group() for found in _QUICK.finditer(outside)]
        return text

    # What is asked.

    def answer(
        self, method: str, target: str, headers: Any, given: Any
    ) -> tuple[int, Any, dict[str, str]]:
        parts = urlsplit(target)
        query = {k: v[0] for k, v in parse_qs(parts.query, keep_blank_values=True).items()}
        path = parts.path.removeprefix("/api/v4")
        if headers.get("private-token") != self.token:
            return 401, {"message": "401 Unauthorized"}, {}
        needed = "read_api" if method == "GET" else "api"
        if not {"api", needed} & set(self.scopes):
            told = {"error": "insufficient_scope", "scope": needed}
            return 403, {**told, "error_description": "The request requires higher privileges"}, {}
        for verb, pattern, name, role, takes in _ROUTES:
            found = pattern.fullmatch(path)
            if verb != method or not found:
                continue
            if "/projects/" in path and unquote(path.split("/")[2]) != self.path:
                return 404, {"message": "404 Project Not Found"}, {}
            if self.level < role:
                return 403, {"message": "403 Forbidden"}, {}
            asked = query if method in ("GET", "DELETE") else given or {}
            allowed = {one.rstrip("*") for one in takes}.union(*(_PAGED.get(t, ()) for t in takes))
            if unknown := set(asked) - allowed:
                return 400, {"error": f"{min(unknown)} is unknown"}, {}
            lacking = [one[:-1] for one in takes if one.endswith("*") and not asked.get(one[:-1])]
            if lacking:
                return 400, {"error": ", ".join(f"{one} is missing" for one in lacking)}, {}
            kind = "merge_requests" if "/merge_requests" in path else "issues"
            try:
                body = getattr(self, f"_{name}")(asked, kind, *map(unquote, found.groups()))
            except Refusal as refused:
                return refused.status, {"message": refused.message}, {}
            if isinstance(body, list):
                return self._paged(parts.path, query, body)
            return {"POST": 201, "DELETE": 204}.get(method, 200), body, {}
        return 404, {"error": "404 Not Found"}, {}

    def _paged(
        self, path: str, query: dict[str, str], rows: list[Any]
    ) -> tuple[int, Any, dict[str, str]]:
        size, keyset = min(int(query.get("per_page", 20)), 100), query.get("pagination") == "keyset"
        page = (
            int(base64.b64decode(query.get("cursor", "")) or 1)
            if keyset
            else int(query.get("page", 1))
        )
        if page * size >= len(rows):
            return 200, rows[(page - 1) * size :], {}
        at = base64.b64encode(str(page + 1).encode()).decode() if keyset else str(page + 1)
        asked = {**query, "cursor" if keyset else "page": at}
        link = f"{self.root}{path}?{'&'.join(f'{k}={v}' for k, v in asked.items())}"
        return 200, rows[(page - 1) * size : page * size], {"Link": f'<{link}>; rel="next"'}

    def _user(self, *_: Any) -> Any:
        return {"id": 7, "username": self.account}

    def _token_self(self, *_: Any) -> Any:
        return {"scopes": self.scopes, "expires_at": "2027-01-01"}

    def _project(self, *_: Any) -> Any:
        rights = {"project_access": {"access_level": self.level}, "group_access": None}
        return {
            "path_with_namespace": self.path, "default_branch": "main", "web_url": self.project,
            "visibility": "private", "archived": False, "issues_access_level": "enabled",
            "merge_requests_access_level": "enabled", "permissions": rights, **self.more,
        }  # fmt: skip

    def _members(self, *_: Any) -> Any:
        return [{"username": name, "access_level": level} for name, level in self.people.items()]

    def _items(self, query: dict[str, str], kind: str) -> Any:
        labels, state = (
            set(filter(None, query.get("labels", "").split(","))),
            query.get("state", "all"),
        )
        if state not in ("all", "opened", "closed", "merged") or query.get("scope", "all") != "all":
            raise Refusal(400, "state does not have a valid value")
        rows = [
            self._shown(kind, item)
            for (of, _), item in self.items.items()
            if of == kind and labels <= set(item["labels"]) and state in ("all", item["state"])
            and query.get("source_branch", item.get("source_branch")) == item.get("source_branch")
            and item["updated_at"] >= query.get("updated_after", "")[:19]
        ]  # fmt: skip
        newest_first = query.get("sort", "desc") == "desc"
        rows.sort(key=lambda row: row[query.get("order_by", "created_at")], reverse=newest_first)
        return [{k: v for k, v in row.items() if k != "head_pipeline"} for row in rows]

    def _shown(self, kind: str, item: dict[str, Any]) -> dict[str, Any]:
        if kind == "issues":
            return item
        item["sha"] = self.git.commit_of(item["source_branch"]) or item["sha"]
        runs = [run for run in self.all_pipelines if run["sha"] == item["sha"]]
        base = {"base_sha": item["base"], "head_sha": item["sha"], "start_sha": item["base"]}
        return {
            "merged_at": None,
            **item,
            "head_pipeline": runs[-1] if runs else None,
            "diff_refs": base,
        }

    def _found(self, kind: str, number: str) -> dict[str, Any]:
        if (kind, int(number)) not in self.items:
            raise Refusal(404, "404 Not found")
        return self.items[kind, int(number)]

    def _item(self, query: Any, kind: str, number: str) -> Any:
        return self._shown(kind, self._found(kind, number))

    def _make_issue(self, given: Any, kind: str) -> Any:
        return self._shown(kind, self._new(kind, given))

    def _new(self, kind: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        if len(given["title"]) > 255:
            raise Refusal(400, "title is too long (maximum is 255 characters)")
        labels = [name for name in given.get("labels", "").split(",") if name]
        body = given.get("description", "")
        return self.add(kind, given["title"], body, self.account, labels=labels, **more)

    def _make_merge(self, given: Any, kind: str) -> Any:
        source, target = given["source_branch"], given["target_branch"]
        tips = [self.git.commit_of(name) for name in (source, target)]
        if not all(tips):
            raise Refusal(409, "source or target branch does not exist")
        for item in self.items.values():
            if item.get("source_branch") == source and item["state"] == "opened":
                raise Refusal(409, f"Another open merge request already exists: !{item['iid']}")
        sides = {"source_branch": source, "target_branch": target, "sha": tips[0], "base": tips[1]}
        draft = given["title"].startswith("Draft: ")
        return self._shown(kind, self._new(kind, given, **sides, draft=draft, merged_at=None))

    def _change(self, given: Any, kind: str, number: str) -> Any:
        item = self._found(kind, number)
        if given.get("state_event", "reopen") not in ("reopen", "close") or not given:
            raise Refusal(400, "state_event does not have a valid value")
        if given.get("state_event"):
            item["state"] = "opened" if given["state_event"] == "reopen" else "closed"
        item["description"] = self._quick(given.get("description", item["description"]))
        added = [name for name in given.get("add_labels", "").split(",") if name]
        item["labels"] = list(dict.fromkeys((*item["labels"], *added)))
        item["updated_at"] = self.now()
        return self._shown(kind, item)

    def _notes(self, query: dict[str, str], kind: str, number: str) -> Any:
        self._found(kind, number)
        rows = self.said[kind, int(number)]
        return rows[:] if query.get("sort") == "asc" else rows[::-1]

    def _make_note(self, given: Any, kind: str, number: str) -> Any:
        self._found(kind, number)
        return self.say(kind, int(number), given["body"], self.account)

    def _label(self, query: Any, kind: str, name: str) -> Any:
        if name not in self.labels:
            raise Refusal(404, "404 Label Not Found")
        return self.labels[name]

    def _make_label(self, given: Any, kind: str) -> Any:
        if given["name"] in self.labels or not re.fullmatch("#[0-9a-f]{6}", given["color"]):
            raise Refusal(400, "Label already exists, or color is invalid")
        self.labels[given["name"]] = given
        return given

    def _merge_commits(self, query: Any, kind: str, number: str) -> Any:
        item = self._shown(kind, self._found(kind, number))
        shas = self.git.run("rev-list", f"{item['base']}..{item['sha']}").split()
        return [self._row(sha) for sha in shas]

    def _merge_diffs(self, query: Any, kind: str, number: str) -> Any:
        item = self._shown(kind, self._found(kind, number))
        return self._diffs(item["base"], item["sha"])

    def _diffs(self, before: str, after: str) -> list[dict[str, Any]]:
        rows = []
        for path in self.git.run("diff", "--name-only", "--no-renames", before, after).splitlines():
            text = self.git.run("diff", "--no-renames", before, after, "--", path)
            hunks = text[text.find("@@") :] + "\n" if "@@" in text else ""
            rows.append({"old_path": path, "new_path": path, "diff": hunks, "renamed_file": False})
        return rows

    def _pipelines(self, query: dict[str, str], kind: str) -> Any:
        rows = [run for run in self.all_pipelines if query.get("sha", run["sha"]) == run["sha"]]
        return rows[::-1]

    def _jobs(self, query: dict[str, str], kind: str, number: str) -> Any:
        return self.failed_jobs[int(number)]

    def _trace(self, query: Any, kind: str, number: str) -> Any:
        return b"\x1b[0Ksection_start:1:script\r\x1b[31mFAILED\x1b[0m tests/test_total.py\n"

    def _branch(self, query: Any, kind: str, name: str) -> Any:
        if f"refs/heads/{name}" not in self.git.refs():
            raise Refusal(404, "404 Branch Not Found")
        return {"name": name, "commit": self._row(self.git.commit_of(name)), "protected": False}

    def _delete_branch(self, query: Any, kind: str, name: str) -> Any:
        self.git.run("update-ref", "-d", f"refs/heads/{name}")

    def _row(self, sha: str) -> dict[str, Any]:
        row = self.git.commit(sha)
        at = row["person"]["date"]
        return {
            "id": row["sha"],
            "parent_ids": row["parents"],
            "message": row["message"],
            "committed_date": at,
        }

    def _commits(self, query: dict[str, str], kind: str) -> Any:
        since = query.get("since", "2000-01-01")
        shas = self.git.run("rev-list", f"--since={since}", query.get("ref_name", "main")).split()
        return [self._row(sha) for sha in shas]

    def _commit(self, query: Any, kind: str, name: str) -> Any:
        sha = self.git.commit_of(name)
        if not sha:
            raise Refusal(404, "404 Commit Not Found")
        return self._row(sha)

    def _diff(self, query: Any, kind: str, name: str) -> Any:
        return self._diffs(f"{name}^", name)

    def _make_commit(self, given: Any, kind: str) -> Any:
        branch, there = given["branch"], self.git.commit_of(given["branch"])
        if given.get("start_sha") and there:
            raise Refusal(400, f"A branch called '{branch}' already exists.")
        parent = there or given.get("start_sha", "")
        if not parent:
            raise Refusal(400, "You can only create or edit files when you are on a branch")
        held = {row["path"]: row["mode"] for row in self.git.tree(parent, recursive=True)}
        entries = []
        for action in given["actions"]:
            verb, path = action["action"], action["file_path"]
            if unknown := set(action) - {
                "action",
                "file_path",
                "content",
                "encoding",
                "last_commit_id",
            }:
                raise Refusal(400, f"actions[{min(unknown)}] is unknown")
            if verb not in ("create", "update", "delete") or (verb == "create") == (path in held):
                raise Refusal(400, "A file with this name already exists, or doesn't exist")
            text = {"sha": None} if verb == "delete" else {"content": action["content"]}
            entries.append({"path": path, "mode": held.get(path, "100644"), **text})
        tree = self.git.write_tree(parent, entries)
        sha = self.git.write_commit(given["commit_message"], tree, [parent], by=self.account)
        self.git.run("update-ref", f"refs/heads/{branch}", sha)
        return self._row(sha)

    def _tree(self, query: dict[str, str], kind: str) -> Any:
        path, ref = query.get("path", ""), query["ref"]
        try:
            rows = self.git.tree(f"{ref}:{path}" if path else ref, recursive=False)
        except Refusal:
            raise Refusal(404, "404 Tree Not Found") from None
        above = f"{path}/" if path else ""
        return [
            {"id": row["sha"], "name": row["path"], "type": row["type"], "mode": row["mode"],
             "path": f"{above}{row['path']}"}
            for row in rows
        ]  # fmt: skip

    def _blob(self, query: Any, kind: str, sha: str) -> Any:
        return self.git.blob(sha)

    # How it is served.

    def _handler(self) -> type[Quiet]:
        gitlab = self

        class Handler(Quiet):
            def _any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                path = urlsplit(self.path).path
                if not path.startswith("/api/v4/"):
                    self._git(path, body)
                    return
                own = unquote(path).removeprefix(f"/api/v4/projects/{gitlab.path}")
                gitlab.calls.append(f"{self.command} {own}")
                one = next(
                    (
                        f
                        for f in gitlab._failures
                        if f.method == self.command and re.search(f.pattern, own)
                    ),
                    None,
                )
                if one:
                    gitlab._failures.remove(one)
                given = json.loads(body) if body else None
                if not one or one.stored:
                    status, told, more = gitlab.answer(self.command, self.path, self.headers, given)
                if one:
                    status, told, more = one.status, one.body, one.headers
                self._send(status, told, more)

            do_GET = do_POST = do_PUT = do_DELETE = _any

            def _git(self, path: str, body: bytes) -> None:
                wanted = base64.b64encode(f"oauth2:{gitlab.token}".encode()).decode()
                if self.headers.get("authorization") != f"Basic {wanted}":
                    self._send(401, b"", {"www-authenticate": 'Basic realm="GitLab"'})
                    return
                if "read_repository" not in gitlab.scopes:
                    self._send(403, b"insufficient scope", {})
                    return
                below = path.removeprefix(f"/{gitlab.path}.git")
                page = gitlab.git.serve(
                    below, urlsplit(self.path).query, self.command, self.headers, body
                )
                self._send(page.status, page.body, page.headers)

            def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
                raw = isinstance(body, bytes)
                content = body if raw else b"" if status == 204 else json.dumps(body).encode()
                kind = {} if raw else {"Content-Type": "application/json"}
                self.send_response(status)
                limits = {"RateLimit-Limit": "600", "RateLimit-Reset": str(int(time.time()) + 30)}
                for name, value in {**kind, **limits, **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        return Handler
