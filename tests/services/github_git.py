"""The git half of the GitHub stand-in: a real bare repository, its data API and smart HTTP."""

import base64
import os
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

CLEAN = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "LC_ALL": "C.UTF-8",
}
MODES = ("100644", "100755", "040000", "160000", "120000")


class Refusal(Exception):
    """An HTTP answer other than success."""

    def __init__(self, status: int, message: str, *errors: Mapping[str, str], **headers: str):
        super().__init__(message)
        self.status, self.message, self.errors = status, message, errors
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class Page(NamedTuple):
    """What the CGI answered."""

    status: int
    headers: dict[str, str]
    body: bytes


class BareRepository:
    """Refs, trees, blobs and commits of one repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(
        self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None
    ) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            input=stdin,
            env={**CLEAN, **(more or {})},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise Refusal(422, done.stderr.decode(errors="replace").strip()[:200])
        return done.stdout.decode(errors="replace").rstrip("\n")

    def kind(self, name: str) -> str:
        done = subprocess.run(
            ["git", "cat-file", "-t", name], cwd=self.folder, env=CLEAN, capture_output=True
        )
        return done.stdout.decode().strip() if not done.returncode else ""

    def refs(self, below: str = "refs/") -> dict[str, str]:
        listing = self.run("for-each-ref", "--format=%(refname) %(objectname)", below)
        return dict(line.rsplit(" ", 1) for line in listing.splitlines())

    def commit_of(self, name: str) -> str:
        """A branch, tag, or sha as the commit it stands for; empty where it is none."""
        refs = self.refs()
        for ref in (f"refs/heads/{name}", f"refs/tags/{name}", f"refs/{name}"):
            if ref in refs:
                return self.run("rev-parse", f"{ref}^{{commit}}")
        is_hex = len(name) >= 7 and set(name) <= set("0123456789abcdef")
        if is_hex and self.kind(f"{name}^{{commit}}") == "commit":
            return self.run("rev-parse", f"{name}^{{commit}}")
        return ""

    def create_ref(self, ref: str, sha: str) -> None:
        if not ref.startswith("refs/") or ref.count("/") < 2:
            raise Refusal(
                422, "Reference name must start with 'refs/' and have at least two slashes"
            )
        if self.kind(sha) != "commit":
            raise Refusal(422, "Object does not exist")
        if ref in self.refs():
            raise Refusal(422, "Reference already exists")
        self.run("update-ref", ref, sha, "")

    def tree(self, name: str, recursive: bool) -> list[dict[str, Any]]:
        depth = ("-r", "-t") if recursive else ()
        listing = self.run("ls-tree", "-l", "-z", *depth, name)
        rows = []
        for record in filter(None, listing.split("\0")):
            about, path = record.split("\t", 1)
            mode, kind, sha, size = about.split()
            row = {"path": path, "mode": mode, "type": kind, "sha": sha}
            rows.append(row | ({"size": int(size)} if size.isdigit() else {}))
        return rows

    def write_tree(self, base: str, entries: list[dict[str, Any]]) -> str:
        if base and self.kind(base) not in ("tree", "commit"):
            raise Refusal(422, "base_tree is not a valid tree oid")
        with tempfile.TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.run("read-tree", base or "--empty", more=index)
            there = set(self.run("ls-files", "-z", more=index).split("\0"))
            lines = b"".join(self._entry(entry, there) for entry in entries)
            self.run("update-index", "-z", "--index-info", stdin=lines, more=index)
            return self.run("write-tree", more=index)

    def _entry(self, entry: dict[str, Any], there: set[str]) -> bytes:
        path, mode = entry.get("path", ""), entry.get("mode", "")
        if mode not in MODES:
            raise Refusal(422, "Must supply a valid tree.mode")
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
            raise Refusal(422, "tree.path contains a malformed path component")
        if "content" in entry and "sha" in entry:
            raise Refusal(422, "Must supply either tree.sha or tree.content")
        if "content" in entry:
            oid = self.write_blob(entry["content"].encode())
        elif entry.get("sha", "") is None:
            if path not in there:
                raise Refusal(422, "GitRPC::BadObjectState")
            return b"0 %s\t%s\0" % (b"0" * 40, path.encode())
        else:
            oid = entry.get("sha", "")
        if self.kind(oid) != "blob" and mode != "160000":
            raise Refusal(422, "tree.sha is not a valid blob")
        return f"{mode} {oid}\t{path}\0".encode()

    def write_blob(self, content: bytes) -> str:
        return self.run("hash-object", "-w", "-t", "blob", "--stdin", stdin=content)

    def blob(self, sha: str) -> bytes:
        done = subprocess.run(
            ["git", "cat-file", "blob", sha], cwd=self.folder, env=CLEAN, capture_output=True
        )
        if done.returncode:
            raise Refusal(404, "Not Found")
        return done.stdout

    def write_commit(
        self, message: str, tree: str, parents: list[str], by: str = "the-token"
    ) -> str:
        if self.kind(tree) != "tree":
            raise Refusal(422, "Tree SHA does not exist")
        if any(self.kind(parent) != "commit" for parent in parents):
            raise Refusal(422, "Parent SHA does not exist or is not a commit object")
        who = {"NAME": by, "EMAIL": f"{by.removeprefix('the-')}@users.noreply.example"}
        signature = {f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in who.items()}
        above = [word for parent in parents for word in ("-p", parent)]
        return self.run("commit-tree", tree, *above, stdin=message.encode(), more=signature)

    def commit(self, sha: str) -> dict[str, Any]:
        if self.kind(sha) != "commit":
            raise Refusal(404, "Not Found")
        shown = self.run("log", "-1", "--format=%H%n%T%n%P%n%an%n%ae%n%ct%n%B", sha).split("\n", 6)
        own, tree, parents, name, email, at, message = shown
        when = datetime.fromtimestamp(int(at), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        person = {"name": name, "email": email, "date": when}
        return {
            "sha": own,
            "tree": tree,
            "parents": parents.split(),
            "person": person,
            "message": message,
        }

    def serve(self, path: str, query: str, method: str, headers: Any, body: bytes) -> Page:
        """Answer as `git http-backend` does; `path` is below the repository."""
        environment = {
            **CLEAN,
            "GIT_PROJECT_ROOT": str(self.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": method,
            "CONTENT_TYPE": headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": headers.get("content-encoding", ""),
            "GIT_PROTOCOL": headers.get("git-protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=environment, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        told = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(told.pop("Status", "200 OK").split()[0])
        return Page(status, told, content)


def basic_token(header: str) -> str:
    """The token in an Authorization header, of the API's forms or git's."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() in ("token", "bearer"):
        return value.strip()
    if scheme.lower() == "basic":
        with suppress(ValueError):  # not base64, or not a text
            user, _, token = base64.b64decode(value).decode().partition(":")
            return token if user == "x-access-token" else ""
    return ""
