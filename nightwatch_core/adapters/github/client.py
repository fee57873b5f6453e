"""A client of GitHub under one sign-in, and a repository that it asks about."""

import base64
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import httpx
from githubkit.auth import TokenAuthStrategy
from githubkit.response import Response
from githubkit_schemas.core import RestVersionSwitcher
from pydantic import SecretStr

from nightwatch_core.adapters.github.connection import SILENCE, Connection, Server, origin
from nightwatch_core.adapters.github.rows import (
    AccountRow,
    BlobRow,
    RefRow,
    RepositoryRow,
    owner_and_name,
    read,
    row,
)
from nightwatch_core.adapters.github.sign_in import AppTokens, GitHubSignIn, checked_address
from nightwatch_core.adapters.hosts.rows import R
from nightwatch_core.adapters.hosts.writes import Rejected, unless_absent
from nightwatch_core.errors import GiveUp

PAGES = 100  # of one list

ADDRESS = "https://api.github.com"
K = TypeVar("K")


class GitHubClient(Connection):
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
        may be silent. An App's tokens are for `repository` (owner/name) alone. A client that is
        `read_only` sends no write, and an App's tokens for it cannot write either. `api_version` is
        for Enterprise servers that know an older one only. Raises `StopTheNight` where there is no
        whole sign-in, or the address is none that a token may be sent to.
        """
        self.address, self.silence = checked_address(address), timeout
        server = Server(self.address, api_version.strip(), timeout, read_only, pause)
        self.app = AppTokens(sign_in, repository, server) if sign_in.as_app() else None
        self._fixed = SecretStr(sign_in.plain_token())
        super().__init__(server, self.app or TokenAuthStrategy(sign_in.plain_token()))

    def token(self) -> str:
        """Return a token for git; that of an App is valid for twenty minutes at least."""
        return self.app.token() if self.app else self._fixed.get_secret_value()

    def location_of(self, path: str) -> str:
        """Return the address that GitHub redirects to; empty without one, or if it is unencrypted.

        Raises `GiveUp` where GitHub does not answer.
        """
        with self.get_sync_client() as http:
            try:
                further = http.get(path.removeprefix("/"), follow_redirects=False).next_request
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise GiveUp(f"GitHub did not answer ({type(error).__name__})") from None
        if further is None:
            return ""
        is_own = origin(further.url) == origin(self.config.base_url)
        return str(further.url) if is_own or further.url.scheme == "https" else ""


class _Pages:
    """Takes the rows out of the pages of one list; raises `GiveUp` for one that does not end."""

    def __init__(self) -> None:
        self._left = PAGES

    def __call__(self, page: Response[Any, Any]) -> list[Any]:
        self._left -= 1
        rows = page.json()
        if not isinstance(rows, list):
            raise GiveUp("GitHub answered no list where one is documented")
        if self._left < 0:
            raise GiveUp(f"GitHub's list has more than {PAGES} pages")
        return [row for row in rows if isinstance(row, dict)]


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
        return f"{self.owner}/{self.name}"

    @property
    def at(self) -> tuple[str, str]:
        """Return owner and name, as githubkit's methods take them first."""
        return self.owner, self.name

    @property
    def rest(self) -> RestVersionSwitcher:
        return self.client.rest

    def describe(self) -> RepositoryRow:
        return row(RepositoryRow, self.rest.repos.get(*self.at))

    def rows(
        self, kind: type[R], ask: Callable[..., Response[Any, Any]], page: int = 100
    ) -> Iterator[R]:
        """Yield the rows of a list; `ask` is a method of githubkit that takes only `per_page`."""
        listed = self.rest.paginate(ask, _Pages(), per_page=page)
        return (read(kind, item) for item in listed)

    def find_ref(self, branch: str) -> RefRow | None:
        """Return where a branch stands; None where there is none."""
        ask = partial(self.rest.git.get_ref, *self.at, ref_of(branch))
        return unless_absent(lambda: row(RefRow, ask()))

    def read_blob(self, oid: str) -> bytes:
        """Return a file's bytes; raises `GiveUp` where GitHub tells none."""
        blob = row(BlobRow, self.rest.git.get_blob(*self.at, oid))
        try:
            return base64.b64decode(blob.content)
        except ValueError as error:
            raise GiveUp(f"GitHub's file {oid[:10]} is no base64") from error

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


def ref_of(branch: str) -> str:
    """Return a branch as paths name it."""
    return f"heads/{quote(branch, safe='/')}"


def account(client: GitHubClient) -> str:
    """Return the login that our items are made with; empty where GitHub does not tell it."""
    if client.app and (login := client.app.current().login):
        return login
    try:
        return row(AccountRow, client.rest.users.get_authenticated()).login
    except Rejected:  # a token of GitHub Actions
        pass
    try:
        return read(AccountRow, client.query("query{viewer{login}}", {}).get("viewer")).login
    except GiveUp:
        return ""
