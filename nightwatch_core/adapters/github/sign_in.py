"""Sign in to GitHub: with a token, or as an App that requests its own tokens."""

import re
import threading
import time
from collections.abc import Callable, Generator
from datetime import datetime
from functools import partial
from ipaddress import ip_address
from typing import Any

import httpx
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from githubkit.auth import AppAuthStrategy, BaseAuthStrategy
from githubkit.response import Response
from pydantic import SecretStr

from nightwatch_core.adapters.github.connection import BadCredentials, Connection, Server
from nightwatch_core.adapters.github.rows import owner_and_name, row
from nightwatch_core.adapters.hosts.rows import R, Row, Text
from nightwatch_core.adapters.hosts.writes import Rejected
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.value import Value

RENEWED_BEFORE = 1_200.0  # seconds before an App's token ends; git may fetch for 900

_TOKEN = re.compile(r"[\x21-\x7e]{1,1000}")
_APP_ID = re.compile(r"[A-Za-z0-9._-]{1,80}")  # its number, or its client id
_PEM = re.compile(r"(-----BEGIN ([A-Z ]{1,40})-----)([^-]{1,20000})(-----END \2-----)")
_BREAK = re.compile(r"\\r|\\n|\s")  # as keys come through environments: "\n" in two characters


class GitHubSignIn(Value):
    """Credentials for GitHub; if both are complete, the App is used."""

    token: SecretStr | None = None
    app_id: str = ""
    installation_id: str = ""  # empty: that of the repository
    private_key: SecretStr | None = None  # PEM

    def as_app(self) -> bool:
        """Tell whether to sign in as an App; raises `StopTheNight` where neither way is whole."""
        app_id, number = self.app_id.strip(), self.installation_id.strip()
        key, token = _plain(self.private_key), self.plain_token()
        if not (app_id or number or key):
            if not token:
                raise StopTheNight(
                    "there is no sign-in to GitHub: set GITHUB_TOKEN, or GITHUB_APP_ID and "
                    "GITHUB_APP_PRIVATE_KEY"
                )
            if not _TOKEN.fullmatch(token):
                raise StopTheNight("GITHUB_TOKEN holds blanks or odd characters: paste it again")
            return False
        for name, value in (("GITHUB_APP_ID", app_id), ("GITHUB_APP_PRIVATE_KEY", key)):
            if not value:
                raise StopTheNight(f"a GitHub App is half configured: set {name}, too")
        if not _APP_ID.fullmatch(app_id):
            raise StopTheNight(
                "GITHUB_APP_ID is no App's number or client id: see the App's settings"
            )
        if not re.fullmatch(r"[0-9]{0,18}", number):
            raise StopTheNight(
                "GITHUB_APP_INSTALLATION_ID is no number: correct it or leave it out"
            )
        return True

    def plain_token(self) -> str:
        return _plain(self.token)


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret else ""


def checked_key(text: str) -> str:
    r"""Return an RSA key as PEM, whose line ends may have been lost, blanks, or written "\n"."""
    parts = _PEM.search(text[:40_000])
    if not parts:
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY is no PEM text: give the content of the .pem file that GitHub "
            "made for the App, from -----BEGIN to -----END; line ends may be written \\n"
        )
    pem = "\n".join((parts[1], _BREAK.sub("", parts[3]), parts[4], ""))
    try:
        key = serialization.load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, RSAPrivateKey):
        raise StopTheNight(
            "GITHUB_APP_PRIVATE_KEY cannot be read as an RSA key: it is cut off, has a passphrase "
            "or is of another kind; make a new key in the App's settings"
        )
    return pem


def checked_address(address: str) -> str:
    """Return the address where a token may be sent to it, else raise `StopTheNight`."""
    try:
        url = httpx.URL(address.strip())
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    if url.userinfo or url.query or url.fragment or not url.host:
        raise StopTheNight("GITHUB_API_URL is no plain address: set it to https://host/api/v3")
    if url.scheme != "https" and not (url.scheme == "http" and _is_loopback(url.host)):
        raise StopTheNight("GITHUB_API_URL would send the token in the clear: use https")
    if url.host in ("github.com", "www.github.com"):
        raise StopTheNight(
            "GITHUB_API_URL is the web site's: leave it out, or set it to a server's"
        )
    return str(url).rstrip("/")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# The token of an App, requested anew before the last one ends.
#
# githubkit signs for the App. Its own installation tokens are not used: they are bound to one
# installation's number, and are not renewed after a 401 or early enough for git.

_UNKNOWN = "integration not found"  # so GitHub calls an App of that id
_PERMISSIONS = ("metadata", "contents", "issues", "pull_requests")
_SPARE = ("checks", "statuses", "actions")  # to read what became of drafts; and no others


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
    login: str = ""  # of the account that the App's items are made with, where GitHub tells it


class AppTokens(BaseAuthStrategy, httpx.Auth):
    """Signs requests as a GitHub App, for one repository and the permissions we want, no more."""

    def __init__(self, sign_in: GitHubSignIn, repository: str, server: Server) -> None:
        """Take the App; `repository` is owner/name; where the server is read only, so are tokens.

        Raises `StopTheNight` where the key is none. Nothing is asked before the first token.
        """
        app_id = sign_in.app_id.strip()
        self._installation_id = sign_in.installation_id.strip()
        self._at = owner_and_name(repository)
        self._repository = repository
        self._read_only = server.read_only
        signing = AppAuthStrategy(app_id, checked_key(_plain(sign_in.private_key)))
        self._connection = Connection(server._replace(read_only=False, harmless=True), signing)
        self._lock = threading.Lock()
        self._current: TokenRow | None = None

    def token(self, stale: str = "") -> str:
        """Return a token that is valid for twenty minutes at least, and not the `stale` one.

        One thread asks for it and the others wait. Raises `StopTheNight` where the App is refused
        one, `TryLater` where GitHub is unwell.
        """
        return self.current(stale).token.get_secret_value()

    def get_auth_flow(self, github: object) -> httpx.Auth:
        return self

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign the request; repeat it with a new token after a 401."""
        token = self.token()
        request.headers["Authorization"] = f"token {token}"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = f"token {self.token(stale=token)}"
            yield request

    def current(self, stale: str = "") -> TokenRow:
        """Return the token with what it may do, as `token` does."""
        with self._lock:
            token, soon = self._current, time.time() + RENEWED_BEFORE
            is_stale = token and token.token.get_secret_value() == stale
            if token is None or is_stale or token.expires_at.timestamp() <= soon:
                self._current = token = self._make()
            return token

    def _make(self) -> TokenRow:
        installation = self._installation()
        granted = installation.permissions
        held = {
            name: "read" if self._read_only else granted[name]
            for name in _PERMISSIONS
            if name in granted
        }
        held |= {name: "read" for name in _SPARE if name in granted}
        apps, number = self._connection.rest.apps, installation.id
        wanted = {"repositories": [self._at[1]], "permissions": held}
        ask = partial(apps.create_installation_access_token, number, data=wanted)
        token = self._ask(
            TokenRow,
            ask,
            f"installation {number} of the GitHub App may not use {self._repository}: "
            "give it access in the installation's settings, or correct GITHUB_REPO",
        )
        login = f"{installation.app_slug}[bot]" if installation.app_slug else ""
        return token.model_copy(update={"login": login})

    def _installation(self) -> InstallationRow:
        apps = self._connection.rest.apps
        ask = partial(apps.get_repo_installation, *self._at)
        if number := self._installation_id:
            ask = partial(apps.get_installation, int(number))
            advice = (
                f"the GitHub App has no installation {number}: correct "
                "GITHUB_APP_INSTALLATION_ID, or leave it out to have it looked up"
            )
        else:
            advice = (
                f"the GitHub App is not installed on {self._repository}: install it there, or "
                "correct GITHUB_REPO"
            )
        installation = self._ask(InstallationRow, ask, advice)
        if installation.suspended_at:
            raise StopTheNight(
                "the GitHub App's installation is suspended: lift that in the settings of the "
                "organisation or account, under GitHub Apps"
            )
        return installation

    def _ask(self, kind: type[R], ask: Callable[[], Response[Any, Any]], advice: str) -> R:
        try:
            return row(kind, ask())
        except (BadCredentials, Rejected) as error:
            if isinstance(error, BadCredentials) or _UNKNOWN in error.reason.lower():
                raise StopTheNight(
                    f"GitHub does not accept the App ({error.reason}): check GITHUB_APP_ID, "
                    "GITHUB_APP_PRIVATE_KEY and this machine's clock"
                ) from None
            if error.status in (404, 422):
                raise StopTheNight(f"{advice} (GitHub says: {error.reason})") from None
            raise StopTheNight(f"the GitHub App gets no token: {error}") from None
