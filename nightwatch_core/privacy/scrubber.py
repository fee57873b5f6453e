"""The scrubber: secrets and personal data become masks, the rest of a text stays."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from nightwatch_core.privacy.masks import MASK, Masks
from nightwatch_core.privacy.rules import ADDRESSES, RULES, Rule, is_secret
from nightwatch_core.privacy.second_check import own_pattern

# Values of an INSERT whose columns say that they are secret: known by their place alone.

_INSERT = re.compile(
    r"\bINSERT\s+INTO\s+[^\s(]{1,200}\s{0,4}\((?P<columns>[^()]{1,2000})\)\s{0,4}VALUES\s{0,4}"
    r"\((?P<values>(?:'(?:[^'\n]|''){0,400}+'|[^'()]){1,400}+)\)",
    re.I,
)
_SECRET_COLUMN = re.compile(
    r"pass(?:word|wd|phrase|code)?|pwd|secret|token|otp|api_?key|private_?key|salt|digest|pin|cvv",
    re.I,
)
_VALUE = re.compile(r"\s{0,4}(?:'(?P<text>(?:[^'\n]|''){0,400}+)'|[^',]{0,400})\s{0,4}(?:,|$)")


def without_inserted(text: str, mask: Callable[[str, str], str]) -> str:
    """Return the text with `mask(kind, value)` where a secret would be inserted.

    >>> sql = "INSERT INTO users (name, password) VALUES ('ana', 'hunter2')"
    >>> without_inserted(sql, lambda kind, value: f"<{kind}>")
    "INSERT INTO users (name, password) VALUES ('ana', '<secret>')"
    """
    return _INSERT.sub(lambda insert: _masked(insert, mask), text)


def _masked(insert: re.Match[str], mask: Callable[[str, str], str]) -> str:
    columns, values = insert["columns"].split(","), insert["values"]
    parts = list(_VALUE.finditer(values))[: len(columns)]
    for column, value in reversed(list(zip(columns, parts, strict=False))):
        hidden = value["text"]
        if hidden and _SECRET_COLUMN.search(column) and is_secret(hidden):
            start, end = value.span("text")
            values = f"{values[:start]}{mask('secret', hidden)}{values[end:]}"
    start, end = insert.start("values") - insert.start(), insert.end("values") - insert.start()
    return f"{insert[0][:start]}{values}{insert[0][end:]}"


_SHORTEST = 6  # characters that can be anything secret
_REMEMBERED = 256  # texts: the same files and turns come again and again
_MASK = 24  # characters of the longest mask, and some


class Scrubber:
    """Replaces secrets and people's data by masks; what is masked stays as it is.

    Safe for threads; the time grows with the length of a text alone.
    """

    def __init__(self, masks: Masks, own: Iterable[str] = (), *, addresses: bool = False) -> None:
        """Know `own` secrets by their value; `addresses` of networks go only where that is asked."""
        self.masks = masks
        self._own = own_pattern(own)
        self._rules = (*RULES, *ADDRESSES) if addresses else RULES
        self._remembered = lru_cache(_REMEMBERED)(self._scrubbed)

    def scrub(self, text: str) -> str:
        """Return the text with masks in it.

        >>> scrubber = Scrubber(Masks(b"key"))
        >>> scrubber.scrub("login of mia@acme.io failed, password=hunter2")
        'login of <email-975123> failed, password=<secret-203036>'
        >>> scrubber.scrub("token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f")
        'token: str, total = sum(prices), sha 8f2c1d9e4b7a6c5d3e2f'
        """
        return text if len(text) < _SHORTEST else self._remembered(text)

    def _scrubbed(self, text: str) -> str:
        if self._own:
            text = self._own.sub(lambda match: self.masks.mask("own", match[0]), text)
        small = text.lower()
        if "insert" in small:
            text = without_inserted(text, self.masks.mask)
        for rule in self._rules:
            if not rule.needs or any(need in small for need in rule.needs):
                text = self._by_line(rule, text) if rule.by_line else self._without(rule, text)
        return text

    def _by_line(self, rule: Rule, text: str) -> str:
        lines = text.split("\n")
        for at, line in enumerate(lines):
            small = line.lower()
            if any(need in small for need in rule.needs):
                lines[at] = self._without(rule, line)
        return "\n".join(lines)

    def _without(self, rule: Rule, text: str) -> str:
        def masked(match: re.Match[str]) -> str:
            if not rule.accept(match):
                return match[0]
            names = (name for name in ("v", "v2", "v3") if name in match.re.groupindex)
            start, end = next(
                (match.span(name) for name in names if match[name] is not None), match.span()
            )
            around = MASK.finditer(text, max(0, start - _MASK), min(len(text), start + _MASK))
            behind = MASK.finditer(text, max(start, end - _MASK), min(len(text), end + _MASK))
            cuts_mask = any(
                mask.start() <= start < mask.end() or mask.start() < end < mask.end()
                for mask in (*around, *behind)
            )
            if cuts_mask:
                return match[0]
            mask = self.masks.mask(rule.kind, text[start:end], _same(rule.kind, text[start:end]))
            lines = "\n" * text.count("\n", start, end)  # line numbers stay what they were
            return f"{text[match.start() : start]}{mask}{lines}{text[end : match.end()]}"

        return rule.pattern.sub(masked, text)


REMOVAL = Scrubber(Masks())
"""Takes out without telling values apart: for what is shown before a night has a key."""


def _same(kind: str, value: str) -> str:
    if kind == "email":
        return value.lower().replace("%40", "@")
    if kind in ("phone", "card", "iban"):
        return re.sub(r"[^0-9A-Za-z]", "", value).upper()
    return ""
