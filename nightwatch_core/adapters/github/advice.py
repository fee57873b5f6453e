"""What to do about GitHub's refusals, by what GitHub says."""

import re
from typing import NamedTuple

LONGEST_SAID = 300  # characters of GitHub's words


class Advice(NamedTuple):
    """Words of GitHub's, and what helps."""

    said: re.Pattern[str]
    do: str


def _when(said: str, do: str) -> Advice:
    return Advice(re.compile(said, re.IGNORECASE), do)


# The first that fits counts.
ADVICE = (
    _when(
        r"archived",
        "the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none",
    ),
    _when(
        r"issues (has|have) been disabled|issues are disabled",
        "switch issues on in the repository's settings, or set NIGHTWATCH_PUBLISH to none",
    ),
    _when(
        r"ip allow list",
        "add this machine's address to the organisation's list of allowed addresses",
    ),
    _when(
        r"SAML|single sign-on",
        "authorise the token for the organisation's single sign-on, in GitHub's settings of tokens",
    ),
    _when(
        r"forbids access via a fine-grained",
        "the organisation refuses such tokens: shorten the token's lifetime or have it approved, "
        "or use a GitHub App",
    ),
    _when(
        r"forbids access via a personal access tokens? \(classic\)",
        "the organisation refuses classic tokens: set GITHUB_TOKEN to a fine-grained one, or use "
        "a GitHub App",
    ),
    _when(
        r"suspended", "lift the suspension in GitHub's settings, under GitHub Apps or the account"
    ),
    _when(
        r"api.?version|version is not supported",
        "set GITHUB_API_VERSION to one that the server knows, such as 2022-11-28",
    ),
    _when(r"repository is empty", "push a first commit to the repository"),
    _when(
        r"could not resolve to a repository",
        "check GITHUB_REPO, and that the token may see the repository",
    ),
    _when(
        r"rule violations|protected branch|creations? being restricted",
        "a rule of the repository forbids it: let NightWatch make branches called nightwatch/*",
    ),
)


def advice(said: str) -> str:
    """What helps against a refusal in these words; empty where nobody knows.

    >>> advice("Repository was archived so is read-only.")
    'the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none'
    """
    said = said[:LONGEST_SAID]
    return next((one.do for one in ADVICE if one.said.search(said)), "")
