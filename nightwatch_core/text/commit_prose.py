"""Prose of commit messages: it pings and closes nothing, and its addresses are code."""

import re

from nightwatch_core.text.escaping import line, without_references, without_schemes
from nightwatch_core.text.words import core_of, spans

# Addresses that hosts take for references wherever they stand.
_TRACKED = re.compile(r"/(?:issues?|pulls?|commits?|discussions|merge_requests)/", re.IGNORECASE)


def commit_prose(text: str, limit: int = 1_000) -> str:
    """Return a paragraph of a commit message, of about `limit` characters.

    An address in code stays as it is written, any other becomes code without its scheme. One of an
    issue or a change never keeps its scheme.

    >>> commit_prose("see https://git.example:8080/a, or `curl https://git.example/b` by @dana")
    'see `git.example:8080/a`, or `curl https://git.example/b` by @ dana'
    """
    parts = spans(line(text, limit))
    whole = "".join(_coded(part) if is_code else _called(part) for part, is_code in parts)
    return line(without_references(whole), 2 * limit)


def _coded(code: str) -> str:
    return f"`{without_schemes(code) if _TRACKED.search(code) else code}`"


def _called(prose: str) -> str:
    return "".join(map(_addressed, re.split(r"(\s+)", prose)))


def _addressed(word: str) -> str:
    if without_schemes(word) == word:
        return word
    before, core, after = core_of(word)
    core = without_schemes(core).replace("`", "")
    spanned = f"`{core}`" if core else ""
    return without_schemes(f"{before}{spanned}{after}")
