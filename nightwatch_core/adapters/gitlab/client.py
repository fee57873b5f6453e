"""A project of GitLab, asked through python-gitlab by an HTTP client of ours.

python-gitlab's own repetition never begins: it would sleep as long as GitLab says, and send lost
writes again. Refusals are raised before it sees them.
"""

import re
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import httpx
from gitlab import Gitlab
from gitlab._backends.requests_backend import RequestsBackend, RequestsResponse
from gitlab.exceptions import GitlabParsingError

from nightwatch_core.adapters.hosts import writes
from nightwatch_core.adapters.hosts.rows import R, made, read
from nightwatch_core.adapters.stores import traffic
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight
from nightwatch_core.text.plain_text import retry_after, text_table

SERVICE = "GitLab"
SILENCE = 30.0  # seconds that GitLab may say nothing
UNNAMED_WAIT = 60.0  # seconds, where it names no time
BOUNDS = traffic.Bounds(SERVICE, 32 * 1024 * 1024, seconds=120.0)
ADVICE = text_table("nightwatch_core.adapters.gitlab", "advice.toml")
_PATH = re.compile(r"\w[\w.+-]{0,250}(?:/\w[\w.+-]{0,250}){1,20}", re.ASCII)
_SSH = re.compile(r"(?:ssh://)?git@([^:/@]+)[:/]")
_TEXTS = ("/raw", "/trace")  # how paths of what is no JSON end


class Place(NamedTuple):
    """A GitLab server, and the path of a project there."""

    server: str
    path: str

    @classmethod
    def of(cls, project: str) -> "Place":
        """Read an address, or the path of a project of gitlab.com; raises `StopTheNight`.

        >>> Place.of("https://git.example/group/sub/shop.git"), Place.of("gitlab:group/shop").server
        (Place(server='https://git.example', path='group/sub/shop'), 'https://gitlab.com')
        """
        text = _SSH.sub(r"https://\1/", project.strip())
        text = text if "://" in text else f"https://gitlab.com/{text.removeprefix('gitlab:')}"
        address = text.removesuffix("/").removesuffix(".git")
        server, _, path = address.partition("://")[2].partition("/")
        if "@" in server or not traffic.is_private(text) or not _PATH.fullmatch(path):
            raise StopTheNight(
                f"{project[:80]!a} is no project of GitLab: set GITLAB_PROJECT to its address, "
                "such as https://gitlab.example.com/group/project"
            )
        return cls(f"{urlsplit(text).scheme}://{server}", path)


class _Backend(RequestsBackend):
    """Sends python-gitlab's requests: noted, counted, bounded, and refused by name."""

    def __init__(
        self, server: str, *, read_only: bool, pause: Callable[[float], None], silence: float
    ) -> None:
        self._http = traffic.http_client(BOUNDS, server, silence)
        weakref.finalize(self, self._http.close)
        self._client, self._read_only, self._pause = self._http, read_only, pause  # type: ignore[assignment]

    def http_request(self, method: str, url: str, *_: Any, **given: Any) -> RequestsResponse:
        """Ask; a read that fails is asked once more where that can help."""
        asked = {name: given.get(name) for name in ("json", "params", "headers", "auth")}
        if self._read_only and method != "get":
            raise GiveUp("this sign-in to GitLab is for reading only")
        try:
            return self._asked(method, url, asked)
        except writes.Unavailable as error:
            if method != "get" or error.wait > writes.LONGEST_WAIT:
                raise
            traffic.METER.wait(SERVICE, error.wait)
            self._pause(error.wait)
        return self._asked(method, url, asked)

    def _asked(self, method: str, url: str, asked: dict[str, Any]) -> RequestsResponse:
        with traffic.METER.request(SERVICE, (StopTheNight, writes.Forbidden)):
            try:
                response = self._http.request(method, url, **asked)
                if response.is_success and response.content and not url.endswith(_TEXTS):
                    traffic.json_of(response.content)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                kind = type(error).__name__
                raise writes.Unavailable(f"GitLab cannot be reached ({kind})") from None
            except (httpx.HTTPError, ValueError) as error:
                raise _unclear(method, f"no whole answer ({type(error).__name__})") from None
            if not response.is_success:
                raise _refusal(method, response)
            return RequestsResponse(response)  # type: ignore[arg-type]  # what it needs is there


def _unclear(method: str, what: str) -> NightWatchError:
    text = f"GitLab gave {what}: the next night tries again"
    return writes.Unavailable(text) if method == "get" else writes.AnswerLost(text)


def _refusal(method: str, response: httpx.Response) -> NightWatchError:
    """Return what a refusal means; its words are untrusted."""
    status, words = response.status_code, ""
    try:
        body = traffic.json_of(response.content[:10_000])
        parts = (body.get(key) for key in ("message", "error", "error_description", "scope"))
        words = traffic.words_of("; ".join(str(part) for part in parts if part), "\0")
    except (ValueError, AttributeError):
        pass
    reason = f"{status} {words}".strip()
    advice = next((do for sign, do in ADVICE.items() if re.search(sign, reason, re.I)), "")
    asked = f"{method.upper()} {traffic.words_of(response.url.path, chr(0))}"
    text = f"GitLab refused {asked} ({reason}): {advice or 'run `nightwatch check`'}"
    if status == 429:
        return writes.Unavailable(text, _wait(response.headers))
    if status in (408, 425) or status >= 500:
        return _unclear(method, f"status {status}")
    if status == 401 or status < 400:
        return StopTheNight(text)
    return (writes.Forbidden if status == 403 else writes.Rejected)(text, status, words)


def _wait(headers: httpx.Headers) -> float:
    now = time.time()
    wait, reset = (retry_after(headers.get(n, ""), now) for n in ("Retry-After", "RateLimit-Reset"))
    if wait is None and reset is not None:
        wait = max(1.0, reset - now)
    return UNNAMED_WAIT if wait is None else wait


class Project:
    """One project under one sign-in; safe for many threads. Raises as ports do."""

    def __init__(
        self,
        project: str,
        token: str,
        *,
        read_only: bool = False,
        pause: Callable[[float], None] = time.sleep,
        silence: float = SILENCE,
    ) -> None:
        """Ask nothing yet; `project` is GITLAB_PROJECT. A `read_only` one sends no write."""
        self.place, self.token, self.silence = Place.of(project), token.strip(), silence
        if not self.token.isascii() or not self.token.isprintable():
            raise StopTheNight("GITLAB_TOKEN is no token")
        backend = _Backend(self.place.server, read_only=read_only, pause=pause, silence=silence)
        self._gitlab = Gitlab(
            self.place.server,
            private_token=self.token,
            keep_base_url=True,  # the token goes to no other server
            user_agent="nightwatch",
            backend=lambda: backend,
        )
        self._at = f"/projects/{quote(self.place.path, safe='')}"

    def account(self) -> str:
        """Return the name that our items are made with."""
        return str(self.ask("/user", below=False).get("username", ""))

    def ask(self, path: str = "", *, below: bool = True, **query: Any) -> dict[str, Any]:
        """Return the JSON object at a path `below` the project."""
        answer = self._gitlab.http_get(f"{self._at}{path}" if below else path, query)
        if not isinstance(answer, dict):
            raise GiveUp(f"GitLab answered no object to {traffic.words_of(path, chr(0))}")
        return answer

    def content(self, path: str) -> bytes:
        """Return a file or a log."""
        return bytes(self._gitlab.http_get(f"{self._at}{path}", raw=True).content)  # type: ignore[union-attr]

    def read(self, kind: type[R], path: str = "", /, **query: Any) -> R:
        return read(kind, self.ask(path, **query), SERVICE)

    def find(self, kind: type[R], path: str, /, **query: Any) -> R | None:
        return writes.unless_absent(lambda: self.read(kind, path, **query))

    def rows(self, kind: type[R], path: str, /, **query: Any) -> Iterator[R]:
        """Yield the rows of a list; raises `GiveUp` for an answer that is none."""
        asked = {"per_page": 100, **query}
        try:
            for row in self._gitlab.http_list(f"{self._at}{path}", asked, iterator=True):
                yield read(kind, row, SERVICE)
        except (GitlabParsingError, LookupError, TypeError, RecursionError):
            raise GiveUp("GitLab answered no list where one is documented") from None

    def make(self, kind: type[R], path: str, /, **body: Any) -> R:
        """Make something; raises `AnswerUnread` where GitLab took it and answered in another form.

        Nothing is made again after that: whoever makes it looks for it.
        """
        try:
            answer = self._gitlab.http_post(f"{self._at}{path}", post_data=body)
        except GitlabParsingError:
            answer = {}
        return made(kind, answer, SERVICE)

    def change(self, path: str, /, **body: Any) -> None:
        """Change something; what GitLab answers to a change that it made is not needed."""
        with suppress(GitlabParsingError):
            self._gitlab.http_put(f"{self._at}{path}", post_data=body)

    def delete(self, path: str) -> None:
        self._gitlab.http_delete(f"{self._at}{path}")
