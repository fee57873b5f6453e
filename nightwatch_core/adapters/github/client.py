"""A client of GitHub under one sign-in, and a repository that it asks about."""

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

import httpx
from githubkit import Response
from githubkit.versions import RestVersionSwitcher

from nightwatch_core.adapters.github.connection import (
    SAFE,
    SILENCE,
    Call,
    Connection,
    Server,
    unclear,
)
from nightwatch_core.adapters.github.rows import BlobRow, R, RepositoryRow, owner_and_name, read
from nightwatch_core.adapters.github.sign_in import (
    FixedToken,
    GitHubSignIn,
    InstallationTokens,
    TokenAuth,
    checked_address,
    checked_version,
)
from nightwatch_core.errors import GiveUp

PAGES = 100  # of one list

ADDRESS = "https://api.github.com"
K = TypeVar("K")
T = TypeVar("T")
RepositoryCall = Callable[[RestVersionSwitcher, tuple[str, str]], Response[Any, Any]]


class GitHubClient:
    """Asks GitHub under one sign-in; safe for many threads.

    Reads are repeated once where that can help, writes never are: `AnswerLost` says that one may
    have been done. Every method raises `TryLater`, `GiveUp` or `StopTheNight`.
    """

    def __init__(
        self,
        sign_in: GitHubSignIn,
        address: str = ADDRESS,
        *,
        repository: str = "",
        read_only: bool = False,
        api_version: str = "",
        pause: Callable[[float], None] = time.sleep,
        timeout: float = SILENCE,
    ) -> None:
        """Ask nothing yet.

        `address` is GITHUB_API_URL, `pause` waits that many seconds, `timeout` is how many GitHub
        may be silent. An App's tokens are for `repository`
        (owner/name) alone. A client that is `read_only` sends no write, and an App's tokens for it
        cannot write either. `api_version` is for Enterprise servers that know an older one only.
        Raises `StopTheNight` where there is no whole sign-in, or the address is none that a token
        may be sent to.
        """
        self.address, self.silence = checked_address(address), timeout
        version = checked_version(api_version)
        server = Server(self.address, version, timeout, read_only, pause)
        self._tokens = (
            InstallationTokens(sign_in, repository, server)
            if sign_in.as_app()
            else FixedToken(sign_in.plain_token())
        )
        self._connection = Connection(server, TokenAuth(self._tokens))

    def token(self) -> str:
        """Return a token for git, valid for twenty minutes at least where we know how long."""
        return self._tokens.current()

    def permissions(self) -> Mapping[str, str] | None:
        """Return the sign-in's permissions and levels; None where GitHub does not tell them."""
        return self._tokens.permissions()

    def app_login(self) -> str:
        """Return the account that an App's items are made with; empty for tokens."""
        return self._tokens.login()

    def ask(self, call: Call, *, spare: bool = False) -> tuple[httpx.Headers, Any]:
        """Return the headers and the JSON that `call` is answered with; None without a body.

        What is `spare` a sign-in need not be allowed.
        """
        response, body = self._connection.ask(call, spare=spare)
        return response.headers, body

    def location_of(self, path: str) -> str:
        """Return where GitHub sends whoever reads that, without going there; empty where nowhere.

        Only what is encrypted, or at the API's own address, is a place to go to. Raises `GiveUp`
        where GitHub does not answer.
        """
        with self._connection.get_sync_client() as http:
            try:
                further = http.get(path.removeprefix("/"), follow_redirects=False).next_request
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise GiveUp(f"GitHub did not answer ({type(error).__name__})") from None
        if further is None:
            return ""
        own, url = self._connection.config.base_url, further.url
        is_own = (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port)
        return str(url) if is_own or url.scheme == "https" else ""

    def pages(self, call: Call) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page after page; `call` asks for the first one."""
        for _ in range(PAGES):
            response, rows = self._asked(call, _listed)
            yield from (row for row in rows if isinstance(row, dict))
            following = response.links.get("next", {}).get("url")
            if not following:
                return
            call = self._page(following)
        raise GiveUp(f"GitHub's list has more than {PAGES} pages")

    def _page(self, address: str) -> Call:
        return lambda _: self._connection.request("GET", address)

    def read(self, kind: type[R], call: Call) -> R:
        """Return the answer as a row; raises `GiveUp` where it is not as documented."""
        return self._asked(call, partial(read, kind))[1]

    def _asked(self, call: Call, shape: Callable[[Any], T]) -> tuple[httpx.Response, T]:
        """Return the answer in its shape; one that was damaged on its way is asked for again.

        Who cannot read the answer to a write cannot tell
        whether it was done.
        """
        for last in (False, True):
            response, body = self._connection.ask(call)
            try:
                return response, shape(body)
            except GiveUp as odd:
                if response.request.method not in SAFE:
                    raise unclear(response.request.method, str(odd)) from None
                if last:
                    raise
        raise AssertionError("unreachable")

    def query(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query, which like all reads is repeated; no mutations."""
        return self._connection.query(text, variables)


def _listed(body: Any) -> list[Any]:
    if isinstance(body, list):
        return body
    raise GiveUp("GitHub answered no list where one is documented")


class Repository(NamedTuple):
    """A repository, and the client that asks about it."""

    client: GitHubClient
    owner: str
    name: str

    @classmethod
    def of(cls, client: GitHubClient, full_name: str) -> "Repository":
        """Take the repository called owner/name; raises `StopTheNight` where that is no name."""
        return cls(client, *owner_and_name(full_name))

    @property
    def full_name(self) -> str:
        """Return owner/name."""
        return f"{self.owner}/{self.name}"

    def describe(self) -> RepositoryRow:
        """Return what GitHub says of it."""
        return self.read(RepositoryRow, lambda rest, at: rest.repos.get(*at))

    def ask(self, call: RepositoryCall, *, spare: bool = False) -> Any:
        """Return the JSON that `call` is answered with; the sign-in may lack a `spare` right."""
        return self.client.ask(lambda rest: call(rest, (self.owner, self.name)), spare=spare)[1]

    def read(self, kind: type[R], call: RepositoryCall) -> R:
        """Return the answer as a row; raises `GiveUp` where it is not as documented."""
        return self.client.read(kind, lambda rest: call(rest, (self.owner, self.name)))

    def read_blob(self, oid: str) -> bytes:
        """Return a file's bytes; raises `GiveUp` where GitHub tells none."""
        row = self.read(BlobRow, lambda rest, at: rest.git.get_blob(*at, oid))
        try:
            return base64.b64decode(row.content)
        except ValueError as error:
            raise GiveUp(f"GitHub's file {oid[:10]} is no base64") from error

    def rows(self, call: RepositoryCall) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page after page."""
        return self.client.pages(lambda rest: call(rest, (self.owner, self.name)))

    def read_all(self, kind: type[R], call: RepositoryCall) -> Iterator[R]:
        """Yield the rows of a list as that kind."""
        return (read(kind, row) for row in self.rows(call))

    def query(self, fields: str, **variables: tuple[str, Any]) -> dict[str, Any]:
        """Return GraphQL fields of the repository; variables are their types and values."""
        declared = "".join(f",${name}:{kind}" for name, (kind, _) in variables.items())
        text = (
            f"query($owner:String!,$name:String!{declared})"
            f"{{repository(owner:$owner,name:$name){{{fields}}}}}"
        )
        values = {name: value for name, (_, value) in variables.items()}
        data = self.client.query(text, {"owner": self.owner, "name": self.name, **values})
        repository = data.get("repository")
        return repository if isinstance(repository, dict) else {}

    def query_each(self, field: str, kind: str, values: Mapping[K, Any]) -> dict[K, Any]:
        """Return one field for each value, by key; `field` names its variable of `kind` "$v"."""
        names = {f"v{number}": key for number, key in enumerate(values)}
        fields = " ".join(f"f{name}:{field.replace('$v', f'${name}')}" for name in names)
        variables = {name: (kind, values[key]) for name, key in names.items()}
        answer = self.query(fields, **variables)
        return {key: answer.get(f"f{name}") for name, key in names.items()}
