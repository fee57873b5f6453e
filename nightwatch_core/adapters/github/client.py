"""A client of GitHub under one sign-in, a repository that it asks about, and its writes."""

import base64
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx
from githubkit import Response
from githubkit.versions import RestVersionSwitcher

from nightwatch_core.adapters.github.connection import SERVICE, Call, Connection, Server
from nightwatch_core.adapters.github.errors import AnswerLost, Rejected, Unavailable
from nightwatch_core.adapters.github.etag_cache import AnswerStore
from nightwatch_core.adapters.github.limits import (
    LONGEST_WAIT,
    LOOKS,
    PAGES,
    SETTLING,
    SILENCE,
    WRITE_SPACING,
    WRITES_AN_HOUR,
)
from nightwatch_core.adapters.github.rows import BlobRow, R, RepositoryRow, owner_and_name, read
from nightwatch_core.adapters.github.sign_in import GitHubSignIn, checked_address, checked_version
from nightwatch_core.adapters.github.tokens import FixedToken, InstallationTokens, TokenAuth
from nightwatch_core.adapters.stores.service_meter import PROCESS
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.ports import Clock

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
        answers: Path | None = None,
        api_version: str = "",
        pause: Callable[[float], None] = time.sleep,
        timeout: float = SILENCE,
    ) -> None:
        """Ask nothing yet.

        `address` is GITHUB_API_URL, `answers` a folder to keep some in, `pause` waits that many
        seconds, `timeout` is how many GitHub may be silent. An App's tokens are for `repository`
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
        kept = AnswerStore(answers, f"{self._tokens.owner}\n{version}") if answers else None
        self._connection = Connection(server, TokenAuth(self._tokens), kept)

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

    def pages(self, call: Call) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page after page; `call` asks for the first one."""
        for _ in range(PAGES):
            response, rows = self._connection.ask(call)
            if not isinstance(rows, list):
                self._connection.forget_answers()
                raise GiveUp("GitHub answered no list where one is documented")
            yield from (row for row in rows if isinstance(row, dict))
            following = response.links.get("next", {}).get("url")
            if not following:
                return
            call = self._page(following)
        raise GiveUp(f"GitHub's list has more than {PAGES} pages")

    def _page(self, address: str) -> Call:
        return lambda _: self._connection.request("GET", address)

    def read(self, kind: type[R], answer: Any) -> R:
        """Return an answer as a row; one that is not as documented is not kept, and `GiveUp`."""
        try:
            return read(kind, answer)
        except GiveUp:
            self._connection.forget_answers()
            raise

    def query(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query, which like all reads is repeated; no mutations."""
        return self._connection.query(text, variables)


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
        """owner/name."""
        return f"{self.owner}/{self.name}"

    def describe(self) -> RepositoryRow:
        """Return what GitHub says of it."""
        return self.read(RepositoryRow, lambda rest, at: rest.repos.get(*at))

    def ask(self, call: RepositoryCall) -> Any:
        """Return the JSON that `call` is answered with; it gets owner and name."""
        return self.client.ask(lambda rest: call(rest, (self.owner, self.name)))[1]

    def ask_spare(self, call: RepositoryCall) -> Any:
        """Return the JSON of something that the sign-in need not be allowed to read."""
        return self.client.ask(lambda rest: call(rest, (self.owner, self.name)), spare=True)[1]

    def read(self, kind: type[R], call: RepositoryCall) -> R:
        """Return the answer as a row; raises `GiveUp` where it is not as documented."""
        return self.client.read(kind, self.ask(call))

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
        return (self.client.read(kind, row) for row in self.rows(call))

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


class Writes:
    """Writes to GitHub: one after the other, not too many, and none twice where it was lost."""

    def __init__(self, clock: Clock, pause: Callable[[float], None]) -> None:
        """Make nothing yet; `pause` waits that many seconds."""
        self._clock = clock
        self._pause = pause
        self._times: deque[float] = deque()

    def make(self, make: Callable[[], T], find: Callable[[], T | None] = lambda: None) -> T:
        """Return what `make` makes; where its answer is lost, `find` looks before it is made again.

        Raises `AnswerLost` where nobody can tell whether it was made.
        """
        for last in (False, True):
            self._take_turn()
            try:
                return make()
            except AnswerLost as lost:
                if (there := self._look(find, lost)) is not None:
                    return there
                if last:
                    raise
            except Unavailable as refused:  # not done for sure, so it may be asked again
                if last or refused.wait > LONGEST_WAIT:
                    raise
                PROCESS.wait(SERVICE, refused.wait)
                self._pause(refused.wait)
        raise AssertionError("unreachable")

    def _look(self, find: Callable[[], T | None], lost: AnswerLost) -> T | None:
        for left in range(LOOKS - 1, -1, -1):
            self._pause(SETTLING)
            try:
                return find()
            except TryLater as error:
                if not left:
                    raise AnswerLost(f"{lost}; and looking failed: {error}") from None
        raise AssertionError("unreachable")

    def _take_turn(self) -> None:
        now = self._clock.monotonic()
        while self._times and now - self._times[0] >= 3600:
            self._times.popleft()
        if len(self._times) >= WRITES_AN_HOUR:
            raise Rejected(
                f"{WRITES_AN_HOUR} writes within an hour are enough: the rest has to wait"
            )
        if self._times and (wait := self._times[-1] + WRITE_SPACING - now) > 0:
            self._pause(wait)
        self._times.append(self._clock.monotonic())
