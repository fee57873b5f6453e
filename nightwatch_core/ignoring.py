"""Whether a team's ignore rule covers an error group; rules are literal text or globs, no regex."""

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache

from nightwatch_core.models.error import ErrorGroup
from nightwatch_core.models.pattern import IgnoreRule, MatchMode

_LONGEST_TEXT = 4_000  # characters of a message that are matched
_LONGEST_GLOB = 300
_MOST_STARS = 8  # each costs another pass over the text

FIELDS: dict[str, Callable[[ErrorGroup], tuple[str, ...]]] = {
    "error_class": lambda group: (group.error_class,),
    "message": lambda group: (group.message,),
    "transaction": lambda group: (group.transaction,),
    "any": lambda group: (group.error_class, group.message),
}


def _contains(pattern: str, text: str) -> bool:
    return pattern in text


def _exact(pattern: str, text: str) -> bool:
    return pattern == text.strip()


def _prefix(pattern: str, text: str) -> bool:
    return text.lstrip().startswith(pattern)


def _glob(pattern: str, text: str) -> bool:
    return _compiled(pattern).match(text.strip()) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))


MODES: dict[MatchMode, Callable[[str, str], bool]] = {
    "contains": _contains,
    "exact": _exact,
    "prefix": _prefix,
    "glob": _glob,
}


def complaint(rule: IgnoreRule) -> str:
    """Why a rule never matches; empty for a rule that holds.

    >>> complaint(IgnoreRule(pattern=" ")), complaint(IgnoreRule(pattern="wp-login"))
    ('the pattern is empty', '')
    >>> complaint(IgnoreRule(pattern="*a" * 9, match="glob"))
    'a glob may have 300 characters and 8 stars'
    """
    pattern = rule.pattern.strip()
    if not pattern:
        return "the pattern is empty"
    greedy = len(pattern) > _LONGEST_GLOB or pattern.count("*") > _MOST_STARS
    if rule.match == "glob" and greedy:
        return f"a glob may have {_LONGEST_GLOB} characters and {_MOST_STARS} stars"
    return ""


def matches(rule: IgnoreRule, group: ErrorGroup) -> bool:
    """Whether the rule covers the group, without regard to case.

    A rule with a `complaint` covers nothing. `any` looks at class and message.
    """
    if complaint(rule):
        return False
    pattern = rule.pattern.strip().casefold()
    texts = (text[:_LONGEST_TEXT].casefold() for text in FIELDS[rule.field](group))
    return any(MODES[rule.match](pattern, text) for text in texts)


def ignored_by(rules: Iterable[IgnoreRule], group: ErrorGroup) -> IgnoreRule | None:
    """The first rule that covers the group; None where none does."""
    return next((rule for rule in rules if matches(rule, group)), None)
