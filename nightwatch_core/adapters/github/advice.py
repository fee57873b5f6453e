"""What to do about GitHub's refusals, by what GitHub says."""

import re

from nightwatch_core.adapters.github.limits import REASON_CHARACTERS

# What GitHub says, as a regular expression, and what helps; the first that fits counts.
ADVICE = (
    (
        r"archived",
        "the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none",
    ),
    (
        r"issues (has|have) been disabled|issues are disabled",
        "switch issues on in the repository's settings, or set NIGHTWATCH_PUBLISH to none",
    ),
    (
        r"ip allow list",
        "add this machine's address to the organisation's list of allowed addresses",
    ),
    (
        r"SAML|single sign-on",
        "authorise the token for the organisation's single sign-on, in GitHub's settings of tokens",
    ),
    (
        r"forbids access via a fine-grained",
        "the organisation refuses such tokens: shorten the token's lifetime or have it approved, "
        "or use a GitHub App",
    ),
    (
        r"forbids access via a personal access tokens? \(classic\)",
        "the organisation refuses classic tokens: set GITHUB_TOKEN to a fine-grained one, or use "
        "a GitHub App",
    ),
    (r"suspended", "lift the suspension in GitHub's settings, under GitHub Apps or the account"),
    (
        r"api.?version|version is not supported",
        "set GITHUB_API_VERSION to one that the server knows, such as 2022-11-28",
    ),
    (r"repository is empty", "push a first commit to the repository"),
    (
        r"could not resolve to a repository",
        "check GITHUB_REPO, and that the token may see the repository",
    ),
    (
        r"rule violations|protected branch|creations? being restricted",
        "a rule of the repository forbids it: let NightWatch make branches called nightwatch/*",
    ),
)


def advice(reason: str) -> str:
    """Say what helps against a refusal in these words; empty where nobody knows.

    >>> advice("Repository was archived so is read-only.")
    'the repository is archived: unarchive it, or set NIGHTWATCH_PUBLISH to none'
    """
    reason = reason[:REASON_CHARACTERS]
    return next((do for words, do in ADVICE if re.search(words, reason, re.IGNORECASE)), "")
