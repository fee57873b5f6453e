"""Sign in to GitHub: with a token, or as an App that requests its own tokens."""

import re
import threading
import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, NamedTuple, cast

import httpx
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from githubkit.auth import AppAuthStrategy, BaseAuthStrategy
from pydantic import SecretStr

from nightwatch_core.adapters.github.connection import (
    BadCredentials,
    Call,
    Connection,
    Rejected,
    Server,
)
from nightwatch_core.adapters.github.rows import Row, Text, owner_and_name, read
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.value import Value

RENEWED_BEFORE = 1_200.0  # an App's token ends; git may fetch for 900
KEY_CHARACTERS = 40_000

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
        is_app, half = bool(app_id or number or key), "a GitHub App is half configured: set"
        wrong = (
            (is_app and not app_id, f"{half} GITHUB_APP_ID, too"),
            (is_app and not key, f"{half} GITHUB_APP_PRIVATE_KEY, too"),
            (
                is_app and not _APP_ID.fullmatch(app_id),
                "GITHUB_APP_ID is no App's number or client id: see its settings",
            ),
            (
                not re.fullmatch(r"[0-9]{0,18}", number),
                "GITHUB_APP_INSTALLATION_ID is no number: correct it or leave it out",
            ),
            (
                not is_app and not token,
                "there is no sign-in to GitHub: set GITHUB_TOKEN, or GITHUB_APP_ID and "
                "GITHUB_APP_PRIVATE_KEY",
            ),
            (
                not is_app and not _TOKEN.fullmatch(token),
                "GITHUB_TOKEN holds blanks or odd characters: paste it again",
            ),
        )
        if todo := next((todo for is_wrong, todo in wrong if is_wrong), ""):
            raise StopTheNight(todo)
        return is_app

    def plain_token(self) -> str:
        """Return the token itself."""
        return _plain(self.token)

    def plain_key(self) -> str:
        """Return the App's key as PEM; raises `StopTheNight` where it is none."""
        return checked_key(_plain(self.private_key))


def _plain(secret: SecretStr | None) -> str:
    return secret.get_secret_value().strip() if secret else ""


def checked_key(text: str) -> str:
    r"""Return an RSA key as PEM, whose line ends may have been lost, blanks, or written "\n"."""
    parts = _PEM.search(text[:KEY_CHARACTERS])
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
    """Return the address where a token may be sent to it, else raise `StopTheNight`.

    >>> checked_address("https://ghe.example/api/v3/")
    'https://ghe.example/api/v3'
    """
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


def checked_version(version: str) -> str:
    """Return the version of the API where it can be one, else raise `StopTheNight`.

    >>> checked_version(" 2022-11-28 ")
    '2022-11-28'
    """
    version = version.strip()
    if version and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", version):
        raise StopTheNight("GITHUB_API_VERSION is no date: set it to one like 2022-11-28")
    return version


def _is_loopback(host: str) -> bool:
    """Tell whether the host is this machine.

    >>> _is_loopback("127.0.0.1"), _is_loopback("localhost"), _is_loopback("github.com")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# The token of an App, requested anew before the last one ends.
#
# githubkit signs for the App. Its own installation tokens are not used: they are bound to one
# installation's number, are not renewed after a 401 or early enough for git, and trust this
# machine's clock.

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


class _Current(NamedTuple):
    token: str
    until: float  # epoch seconds
    permissions: Mapping[str, str]
    login: str

    def __repr__(self) -> str:
        return f"until {self.until:.0f}"


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
        self._connection = Connection(
            server._replace(read_only=False), AppAuthStrategy(app_id, sign_in.plain_key())
        )
        self._lock = threading.Lock()
        self._current: _Current | None = None

    def token(self, stale: str = "") -> str:
        """Return a token that is valid for twenty minutes at least, and not the `stale` one.

        One thread asks for it and the others wait. Raises `StopTheNight` where the App is refused
        one, `TryLater` where GitHub is unwell.
        """
        return self._valid(stale).token

    def permissions(self) -> Mapping[str, str]:
        """Return what the current token may do."""
        return self._valid().permissions

    def login(self) -> str:
        """Return the account that the App's items are made with; empty where GitHub tells none."""
        return self._valid().login

    def get_auth_flow(self, github: object) -> httpx.Auth:
        """Return itself."""
        return self

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Sign the request; repeat it with a new token after a 401."""
        token = self.token()
        request.headers["Authorization"] = f"token {token}"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = f"token {self.token(stale=token)}"
            yield request

    def _valid(self, stale: str = "") -> _Current:
        with self._lock:
            now = self._current
            if now is None or now.token == stale or time.time() >= now.until:
                self._current = now = self._make()
            return now

    def _make(self) -> _Current:
        installation = self._installation()
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
        login = f"{installation.app_slug}[bot]" if installation.app_slug else ""
        return _Current(row.token.get_secret_value(), until, row.permissions or held, login)

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


def _date(response: httpx.Response) -> datetime:
    """Return GitHub's own time: this machine's clock may differ."""
    try:
        date = parsedate_to_datetime(response.headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return date if date.tzinfo else date.replace(tzinfo=UTC)
