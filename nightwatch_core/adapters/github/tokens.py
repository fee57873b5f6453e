"""The token of the moment: the one that was given, or one an App asks for before the last ends.

githubkit signs for the App. Its own installation tokens are not used: they are bound to one
installation's number, are not renewed after a 401 or early enough for git, and trust this machine's
clock.
"""

import threading
import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast

import httpx
from githubkit.auth import AppAuthStrategy, BaseAuthStrategy
from pydantic import SecretStr

from nightwatch_core.adapters.github.connection import Call, Connection, Server
from nightwatch_core.adapters.github.errors import BadCredentials, Rejected
from nightwatch_core.adapters.github.limits import RENEWED_BEFORE
from nightwatch_core.adapters.github.rows import Row, Text, owner_and_name, read
from nightwatch_core.adapters.github.sign_in import GitHubSignIn
from nightwatch_core.errors import StopTheNight

_UNKNOWN = "integration not found"  # so GitHub calls an App of that id
_PERMISSIONS = ("metadata", "contents", "issues", "pull_requests")
_SPARE = ("checks", "statuses", "actions")  # to read what became of drafts; and no others


class FixedToken:
    """A token that somebody gave us."""

    def __init__(self, token: str) -> None:
        """Keep it; it is never renewed."""
        self._token = SecretStr(token)

    @property
    def owner(self) -> str:
        """Whose answers may be kept together: the token is all we know of it."""
        return self.current()

    def current(self) -> str:
        """Return the token."""
        return self._token.get_secret_value()

    def renew(self, stale: str) -> str:
        """Return nothing: there is no other."""
        return ""

    def permissions(self) -> Mapping[str, str] | None:
        """Return None: nobody tells."""
        return None

    def login(self) -> str:
        """Return nothing: who it is has to be asked with it."""
        return ""


class InstallationRow(Row):
    """Where an App is installed."""

    id: int
    permissions: dict[str, str] = {}
    suspended_at: datetime | None = None
    app_slug: Text = ""


class TokenRow(Row):
    """A token that was made for an installation."""

    token: SecretStr
    expires_at: datetime
    permissions: dict[str, str] = {}


class _Kept(NamedTuple):
    token: SecretStr
    until: float  # epoch seconds
    permissions: Mapping[str, str]


class InstallationTokens:
    """Tokens of a GitHub App, for one repository and the permissions we want, no more."""

    def __init__(self, sign_in: GitHubSignIn, repository: str, server: Server) -> None:
        """Take the App; `repository` is owner/name; where the server is read only, so are tokens.

        Raises `StopTheNight` where the key is none. Nothing is asked before the first token.
        """
        app_id = sign_in.app_id.strip()
        self._installation_id = sign_in.installation_id.strip()
        self._at = owner_and_name(repository)
        self._repository = repository
        self._read_only = server.read_only
        self._connection = Connection(
            server._replace(read_only=False), AppAuthStrategy(app_id, sign_in.plain_key())
        )
        self._lock = threading.Lock()
        self._kept: _Kept | None = None
        self._login = ""
        self.owner = f"app {app_id} {repository} {server.read_only}"

    def current(self) -> str:
        """Return a token that is valid for twenty minutes at least.

        Raises `StopTheNight` where the App is refused one, `TryLater` where GitHub is unwell.
        """
        return self._valid().token.get_secret_value()

    def renew(self, stale: str) -> str:
        """Return another token than `stale`; one thread asks for it and the others wait."""
        with self._lock:
            if self._kept and self._kept.token.get_secret_value() == stale:
                self._kept = None
        return self.current()

    def permissions(self) -> Mapping[str, str] | None:
        """Return what the current token may do."""
        return self._valid().permissions

    def login(self) -> str:
        """Return the account that the App's items are made with; empty where GitHub tells none."""
        self._valid()
        return self._login

    def _valid(self) -> _Kept:
        with self._lock:
            if self._kept is None or time.time() >= self._kept.until:
                self._kept = self._make()
            return self._kept

    def _make(self) -> _Kept:
        installation = self._installation()
        self._login = f"{installation.app_slug}[bot]" if installation.app_slug else ""
        levels = {name: installation.permissions.get(name) for name in _PERMISSIONS}
        held = {
            name: "read" if self._read_only else level for name, level in levels.items() if level
        }
        held |= {name: "read" for name in _SPARE if name in installation.permissions}
        response, answer = self._ask(
            lambda rest: rest.apps.create_installation_access_token(
                installation.id, repositories=[self._at[1]], permissions=cast("Any", held)
            ),
            f"installation {installation.id} of the GitHub App may not use {self._repository}: "
            "give it access in the installation's settings, or correct GITHUB_REPO",
        )
        row = read(TokenRow, answer)
        if self._read_only and "write" in row.permissions.values():
            raise StopTheNight(
                "GitHub gave the App a token that can write where one for reading was asked for"
            )
        lasts = (row.expires_at - _date(response)).total_seconds()
        until = time.time() + lasts - min(RENEWED_BEFORE, lasts / 3)
        return _Kept(row.token, until, row.permissions or held)

    def _installation(self) -> InstallationRow:
        if number := self._installation_id:
            call: Call = lambda rest: rest.apps.get_installation(int(number))  # noqa: E731
            advice = (
                f"the GitHub App has no installation {number}: correct "
                "GITHUB_APP_INSTALLATION_ID, or leave it out to have it looked up"
            )
        else:
            call = lambda rest: rest.apps.get_repo_installation(*self._at)  # noqa: E731
            advice = (
                f"the GitHub App is not installed on {self._repository}: install it there, or "
                "correct GITHUB_REPO"
            )
        installation = read(InstallationRow, self._ask(call, advice)[1])
        if installation.suspended_at:
            raise StopTheNight(
                "the GitHub App's installation is suspended: lift that in the settings of the "
                "organisation or account, under GitHub Apps"
            )
        return installation

    def _ask(self, call: Call, advice: str) -> tuple[httpx.Response, Any]:
        try:
            return self._connection.ask(call, harmless=True)
        except (BadCredentials, Rejected) as error:
            if isinstance(error, BadCredentials) or _UNKNOWN in error.reason.lower():
                raise StopTheNight(
                    f"GitHub does not accept the App ({error.reason}): check GITHUB_APP_ID, "
                    "GITHUB_APP_PRIVATE_KEY and this machine's clock"
                ) from None
            if error.status in (404, 422):
                raise StopTheNight(f"{advice} (GitHub says: {error.reason})") from None
            raise StopTheNight(f"the GitHub App gets no token: {error}") from None


Tokens = FixedToken | InstallationTokens


class TokenAuth(BaseAuthStrategy, httpx.Auth):
    """Sends the token of the moment; one that is not taken any more is renewed once."""

    def __init__(self, tokens: Tokens) -> None:
        """Ask nothing before the first request."""
        self._tokens = tokens

    def get_auth_flow(self, github: object) -> httpx.Auth:
        """Return itself."""
        return self

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send; a request that was answered with 401 was not done."""
        token = self._tokens.current()
        request.headers["Authorization"] = f"token {token}"
        response = yield request
        if response.status_code == 401 and (other := self._tokens.renew(token)):
            request.headers["Authorization"] = f"token {other}"
            yield request


def _date(response: httpx.Response) -> datetime:
    """Return GitHub's own time: this machine's clock may differ."""
    try:
        date = parsedate_to_datetime(response.headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return date if date.tzinfo else date.replace(tzinfo=UTC)
