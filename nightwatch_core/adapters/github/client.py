"""GitHub's REST and GraphQL interfaces: our own sign-in, timeouts, retries, cache and errors."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
from githubkit.exception import GitHubException, GraphQLFailed

from nightwatch_core.adapters.github.errors import (
    SOON,
    Lost,
    Unwell,
    answered_wrongly,
    refused_query,
    translated,
)
from nightwatch_core.adapters.github.etag_cache import Answers
from nightwatch_core.adapters.github.http import (
    ATTEMPTS,
    LONGEST_WAIT,
    TIMEOUT,
    Asking,
    Call,
    Connection,
    Server,
    checked_address,
    checked_version,
)
from nightwatch_core.adapters.github.sign_in import GitHubSignIn
from nightwatch_core.adapters.github.tokens import Bearing, FixedToken, InstallationTokens, Tokens
from nightwatch_core.errors import GiveUp

ADDRESS = "https://api.github.com"
MOST_PAGES = 100


class GitHubClient:
    """Asks GitHub under one sign-in; safe for many threads.

    Reads are repeated once where that can help, writes never are: `Lost` says that one may have
    been done. Every method raises `TryLater`, `GiveUp` or `StopTheNight`.
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
        timeout: float = TIMEOUT,
    ) -> None:
        """`address` is GITHUB_API_URL, `answers` a folder to keep some in, `pause` waits
        that long, `timeout` is how many seconds GitHub may be silent.

        An App's tokens are for `repository` (owner/name) alone. A client that is `read_only` sends
        no write, and an App's tokens for it cannot write either. `api_version` is for Enterprise
        servers that know an older one only. Raises `StopTheNight` where there is no whole sign-in,
        or the address is none that a token may be sent to.
        """
        self.address = checked_address(address)
        self.pause = pause
        server = Server(self.address, checked_version(api_version), timeout, read_only)
        self._tokens = _tokens(sign_in, repository, server, pause)
        owner = f"{self._tokens.owner}\n{server.api_version}"
        kept = Answers(answers, owner) if answers else None
        self._github = Connection(server, Bearing(self._tokens), kept)
        self._asking = Asking(self._github, pause)

    def token(self) -> str:
        """A token for git, valid for twenty minutes at least where we know how long."""
        return self._tokens.current()

    def granted(self) -> Mapping[str, str] | None:
        """The sign-in's permissions and their levels; None where GitHub does not tell them."""
        return self._tokens.granted()

    def ask(self, call: Call) -> Any:
        """The JSON that `call` is answered with; None where the answer has no body."""
        return self._asking.answered(call)[1]

    def told(self, call: Call) -> tuple[httpx.Headers, Any]:
        """The headers, too."""
        response, body = self._asking.answered(call)
        return response.raw_response.headers, body

    def pages(self, call: Call) -> Iterator[dict[str, Any]]:
        """The rows of a list, page after page; `call` asks for the first one."""
        for _ in range(MOST_PAGES):
            response, rows = self._asking.answered(call)
            if not isinstance(rows, list):
                raise GiveUp("GitHub answered no list where one is documented")
            yield from (row for row in rows if isinstance(row, dict))
            following = response.raw_response.links.get("next", {}).get("url")
            if not following:
                return
            call = self._page(following)
        raise GiveUp(f"GitHub's list has more than {MOST_PAGES} pages")

    def graph(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The data of a GraphQL query, which like all reads is repeated; never for mutations."""
        for attempt in range(ATTEMPTS):
            try:
                return dict(self._github.graphql(query, dict(variables)) or {})
            except GraphQLFailed as error:
                told = "; ".join(str(one.message) for one in error.response.errors or ())
                trouble = refused_query(told)
            except GitHubException as error:
                trouble = translated(error)
            except ValueError:
                asked = httpx.Request("GET", "https://github.com/graphql")  # repeated like one
                trouble = answered_wrongly(asked, "no JSON")
            wait = trouble.wait if isinstance(trouble, Unwell) else SOON
            again = isinstance(trouble, Unwell | Lost) and wait <= LONGEST_WAIT
            if not again or attempt + 1 == ATTEMPTS:
                raise trouble
            self.pause(wait)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the connections."""
        self._github.close()

    def _page(self, address: str) -> Call:
        return lambda _: self._github.request("GET", address)


def _tokens(
    sign_in: GitHubSignIn, repository: str, server: Server, pause: Callable[[float], None]
) -> Tokens:
    if not sign_in.as_app():
        return FixedToken(sign_in.plain_token())
    return InstallationTokens(sign_in, repository, server, pause)
