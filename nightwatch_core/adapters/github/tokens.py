"""The token of the moment: the one that was given, or one an App asks for before the last ends."""

import threading
import time
from collections.abc import Callable, Generator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import httpx
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from nightwatch_core.adapters.github.errors import NotAccepted, Rejected
from nightwatch_core.adapters.github.http import Asking, Call, Connection, Server, owner_and_name
from nightwatch_core.adapters.github.sign_in import GitHubSignIn, app_token
from nightwatch_core.errors import GiveUp, StopTheNight

RENEWED = 1_200.0  # seconds before a token ends; git may fetch for 900
_UNKNOWN = "integration not found"  # so GitHub calls an App of that id
WANTED = ("metadata", "contents", "issues", "pull_requests")  # permissions, and no others


class Tokens(Protocol):
    """Where the token comes from; safe for many threads."""

    @property
    def owner(self) -> str:
        """Whose answers may be kept together: the same for all tokens of one sign-in."""
        ...

    def current(self) -> str:
        """A token that is valid for a while."""
        ...

    def renewed(self, stale: str) -> str:
        """A token in place of one that GitHub did not take; empty where there is no other."""
        ...

    def granted(self) -> Mapping[str, str] | None:
        """Permissions and their levels; None where GitHub does not tell them."""
        ...


class FixedToken:
    """A token that somebody gave us."""

    def __init__(self, token: str) -> None:
        """It is never renewed."""
        self._token = SecretStr(token)

    @property
    def owner(self) -> str:
        """The token is all we know of it."""
        return self._token.get_secret_value()

    def current(self) -> str:
        """The token."""
        return self._token.get_secret_value()

    def renewed(self, stale: str) -> str:
        """There is no other."""
        return ""

    def granted(self) -> Mapping[str, str] | None:
        """Nobody tells."""
        return None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


P = TypeVar("P", bound=_Part)


class _Installation(_Part):
    id: int
    permissions: dict[str, str] = {}
    suspended_at: datetime | None = None


class _Minted(_Part):
    token: SecretStr
    expires_at: datetime
    permissions: dict[str, str] = {}


class _Kept(NamedTuple):
    token: SecretStr
    until: float
    permissions: Mapping[str, str]


class InstallationTokens:
    """Tokens of a GitHub App, for one repository and the four permissions we want, no more."""

    def __init__(
        self,
        sign_in: GitHubSignIn,
        repository: str,
        server: Server,
        pause: Callable[[float], None],
    ) -> None:
        """`repository` is owner/name; where the server is read only, so are the tokens.

        Raises `StopTheNight` where the key is none. Nothing is asked before the first token.
        """
        self._app_id = sign_in.app_id.strip()
        self._installation_id = sign_in.installation_id.strip()
        self._at = owner_and_name(repository)
        self._repository = repository
        self._read_only = server.read_only
        as_app = server._replace(read_only=False)
        self._asking = Asking(Connection(as_app, _AsApp(self._app_id, sign_in)), pause)
        self._lock = threading.Lock()
        self._kept: _Kept | None = None

    @property
    def owner(self) -> str:
        """The App on this repository."""
        return f"app {self._app_id} {self._repository} {self._read_only}"

    def current(self) -> str:
        """A token that is valid for twenty minutes at least.

        Raises `StopTheNight` where the App is refused one, `TryLater` where GitHub is unwell.
        """
        return self._valid().token.get_secret_value()

    def renewed(self, stale: str) -> str:
        """Another token than `stale`, which one thread asks for and the others wait for."""
        with self._lock:
            if self._kept and self._kept.token.get_secret_value() == stale:
                self._kept = None
        return self.current()

    def granted(self) -> Mapping[str, str] | None:
        """What the current token may do."""
        return self._valid().permissions

    def _valid(self) -> _Kept:
        with self._lock:
            if self._kept is None or time.time() >= self._kept.until:
                self._kept = self._made()
            return self._kept

    def _made(self) -> _Kept:
        installation = self._installation()
        levels = {name: installation.permissions.get(name) for name in WANTED}
        held = {
            name: "read" if self._read_only else level for name, level in levels.items() if level
        }
        response, told = self._asked(
            lambda rest: rest.apps.create_installation_access_token(
                installation.id, repositories=[self._at[1]], permissions=cast("Any", held)
            ),
            f"installation {installation.id} of the GitHub App may not use {self._repository}: "
            "give it access in the installation's settings, or correct GITHUB_REPO",
        )
        minted = _read(_Minted, told)
        lasts = (minted.expires_at - _date(response)).total_seconds()
        until = time.time() + lasts - min(RENEWED, lasts / 3)
        return _Kept(minted.token, until, minted.permissions or held)

    def _installation(self) -> _Installation:
        if number := self._installation_id:
            _, told = self._asked(
                lambda rest: rest.apps.get_installation(int(number)),
                f"the GitHub App has no installation {number}: correct "
                "GITHUB_APP_INSTALLATION_ID, or leave it out to have it looked up",
            )
        else:
            _, told = self._asked(
                lambda rest: rest.apps.get_repo_installation(*self._at),
                f"the GitHub App is not installed on {self._repository}: install it there, or "
                "correct GITHUB_REPO",
            )
        found = _read(_Installation, told)
        if found.suspended_at:
            raise StopTheNight(
                "the GitHub App's installation is suspended: lift that in the settings of the "
                "organisation or account, under GitHub Apps"
            )
        return found

    def _asked(self, call: Call, advice: str) -> tuple[httpx.Response, Any]:
        try:
            response, told = self._asking.answered(call, harmless=True)
        except (NotAccepted, Rejected) as error:
            if isinstance(error, NotAccepted) or _UNKNOWN in error.said.lower():
                raise StopTheNight(
                    f"GitHub does not accept the App ({error.said}): check GITHUB_APP_ID, "
                    "GITHUB_APP_PRIVATE_KEY and this machine's clock"
                ) from None
            if error.status in (404, 422):
                raise StopTheNight(f"{advice} (GitHub says: {error.said})") from None
            raise StopTheNight(f"the GitHub App gets no token: {error}") from None
        return response.raw_response, told


class _AsApp(httpx.Auth):
    """Signs each request as the App."""

    def __init__(self, app_id: str, sign_in: GitHubSignIn) -> None:
        self._app_id = app_id
        self._key = sign_in.key()

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        signed = app_token(self._app_id, self._key, int(time.time()))
        request.headers["Authorization"] = f"Bearer {signed}"
        yield request


class Bearing(httpx.Auth):
    """Sends the token of the moment; one that is not taken any more is renewed once."""

    def __init__(self, tokens: Tokens) -> None:
        """Nothing is asked before the first request."""
        self._tokens = tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send; a request that was answered with 401 was not done."""
        token = self._tokens.current()
        request.headers["Authorization"] = f"token {token}"
        response = yield request
        if response.status_code == 401 and (other := self._tokens.renewed(token)):
            request.headers["Authorization"] = f"token {other}"
            yield request


def _date(response: httpx.Response) -> datetime:
    """GitHub's own time: this machine's clock may differ."""
    try:
        said = parsedate_to_datetime(response.headers.get("date", ""))
    except ValueError:
        return datetime.now(UTC)
    return said if said.tzinfo else said.replace(tzinfo=UTC)


def _read(kind: type[P], told: Any) -> P:
    try:
        return kind.model_validate(told)
    except ValidationError:
        raise GiveUp("GitHub's answer to the App is not as documented") from None
