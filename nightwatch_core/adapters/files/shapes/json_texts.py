"""JSON that stands in a text: a line of a container's log, a message, the end of Lambda's line."""

import json
import re

DECODER = json.JSONDecoder(strict=False)  # exports and logs hold raw tabs and newlines in strings
# AWS Lambda writes an error of Node behind time, request, level and "Invoke Error".
_BEHIND_TABS = re.compile(r"\s{0,9}[^\t{]{1,60}(?:\t[^\t{]{0,60}){1,5}\t(?=\{\")")


def json_in(text: str) -> dict[str, object] | None:
    """Give the JSON object that a text is, or that a line of Lambda ends with; else None.

    >>> json_in(' {"level": "error"}'), json_in("{no"), json_in("[1]")
    ({'level': 'error'}, None, None)
    >>> json_in('2026-11-03T10:00:00Z\\tid\\tERROR\\tInvoke Error\\t{"errorType": "TypeError"}')
    {'errorType': 'TypeError'}
    """
    start = text[:1]
    if start == "{" or (start.isspace() and text.lstrip()[:1] == "{"):
        return object_in(text)
    behind = _BEHIND_TABS.match(text) if "\t{" in text[:400] else None
    return object_in(text[behind.end() :]) if behind else None


def object_in(text: str) -> dict[str, object] | None:
    """Give the JSON object that all of a text is; else None, whatever the text is."""
    try:
        value = DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
