"""Permissions of a token on a repository, found without writing anything."""

from collections.abc import Mapping
from typing import NamedTuple

import httpx

from nightwatch_core.adapters.github.client import Repository, ref_of
from nightwatch_core.adapters.github.connection import printable
from nightwatch_core.adapters.github.rows import RepositoryRow, read
from nightwatch_core.adapters.hosts.writes import Forbidden
from nightwatch_core.errors import GiveUp

_ACTIONS = "ghs_"  # how tokens of GitHub Actions begin, and those that other Apps got
_SCOPES = ("repo", "public_repo")  # the second is enough for a public repository


class Need(NamedTuple):
    """Something we write, its permission, and GitHub's own name of that."""

    what: str
    permission: str
    shown: str


NEEDS = (
    Need("issues", "issues", "Issues"),
    Need("branches", "contents", "Contents"),
    Need("pull requests", "pull_requests", "Pull requests"),
)


def probe(repository: Repository, *, pulls: bool) -> str:
    """Say what can be written to the repository, as far as that can be told without writing.

    Only issues count unless `pulls`. Raises `Forbidden` where a permission is missing, which the
    message names, and `GiveUp` where the repository takes no issues, or no pull requests.
    """
    rest, at = repository.rest, repository.at
    response = rest.repos.get(*at)
    row = read(RepositoryRow, response.json())
    needs = NEEDS if pulls else NEEDS[:1]
    _check_repository(row, pulls=pulls)
    rest.issues.list_for_repo(*at, per_page=1)
    if pulls:
        rest.git.get_ref(*at, ref_of(row.default_branch))
        rest.pulls.list(*at, per_page=1)
    if app := repository.client.app:
        finding = _of_app(app.current().permissions, needs)
    elif "x-oauth-scopes" in response.headers:
        finding = _of_classic(response.headers, row, needs)
    else:
        finding = _of_others(repository.client.token(), row, needs)
    return f"{row.full_name}: {finding}{_warning(row)}"


def _check_repository(row: RepositoryRow, *, pulls: bool) -> None:
    state = "archived" if row.archived else "disabled by GitHub" if row.disabled else ""
    general = "switch them on in its settings, under General, or set NIGHTWATCH_PUBLISH to"
    if state:
        raise GiveUp(
            f"{row.full_name} is {state}, nothing can be written to it: change that, or set "
            "NIGHTWATCH_PUBLISH to none"
        )
    if not row.has_issues:
        raise GiveUp(f"issues are switched off in {row.full_name}: {general} none")
    if pulls and not row.has_pull_requests:
        raise GiveUp(f"pull requests are switched off in {row.full_name}: {general} issues")


def _of_app(permissions: Mapping[str, str], needs: tuple[Need, ...]) -> str:
    lacking = [need.permission for need in needs if permissions.get(need.permission) != "write"]
    if lacking:
        raise Forbidden(
            f"the GitHub App lacks the permission {_and([f'{item}=write' for item in lacking])}: "
            "grant it in the App's settings, then accept it in those of the installation"
        )
    return f"{_and([need.what for need in needs])} can be written (as a GitHub App)"


def _of_classic(headers: httpx.Headers, repository: RepositoryRow, needs: tuple[Need, ...]) -> str:
    scopes = {scope.strip() for scope in headers["x-oauth-scopes"].split(",")}
    enough = _SCOPES if not repository.private else _SCOPES[:1]
    scope = next((item for item in enough if item in scopes), None)
    if scope is None:
        held = printable(", ".join(sorted(scopes))) or "none"
        raise Forbidden(
            f"the token lacks the scope {' or '.join(enough)} (it has {held}): add it in GitHub's "
            "settings of tokens"
        )
    _check_role(repository)
    return f"{_and([need.what for need in needs])} can be written (scope {scope})"


def _of_others(token: str, repository: RepositoryRow, needs: tuple[Need, ...]) -> str:
    """Fine-grained tokens and those of Actions: GitHub tells nobody what they may do."""
    shown = _and([need.shown for need in needs])
    if token.startswith(_ACTIONS):
        return (
            "can be read; whether this token of an App or of GitHub Actions may write "
            f"{shown} cannot be told without writing. Actions allow it in the workflow and in the "
            "repository's settings, and run no checks on pull requests made so"
        )
    _check_role(repository)
    return (
        "can be read, and the token's owner may push; whether the token itself has Read and write "
        f"for {shown} cannot be told without writing: see its page in GitHub's settings"
    )


def _check_role(repository: RepositoryRow) -> None:
    if repository.may_push is False:
        raise Forbidden(
            f"the token's owner may not push to {repository.full_name}, nor label issues there: "
            "give that account the role Write"
        )


def _warning(repository: RepositoryRow) -> str:
    if repository.private:
        return ""
    return (
        f". Warning: {repository.full_name} is public, everybody will read production errors in "
        "its issues: point GITHUB_REPO to a private repository, or set NIGHTWATCH_PUBLISH to none"
    )


def _and(words: list[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
