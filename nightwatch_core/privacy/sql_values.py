"""Values of an INSERT whose columns say that they are secret: known by their place alone."""

import re
from collections.abc import Callable

from nightwatch_core.privacy.key_values import is_secret

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
