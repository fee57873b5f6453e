"""Messages that only one class of a language has: they name it where a trace does not."""

import re

from nightwatch_core.traces.limits import LINE_CHARACTERS

# Messages of the languages' own, by what they begin with.
KNOWN: dict[str, tuple[tuple[str, str], ...]] = {
    "ruby": (
        (r"undefined local variable or method [`']", "NameError"),
        (r"uninitialized constant [A-Z]", "NameError"),
        (r"undefined method [`'][^`']{1,200}' for ", "NoMethodError"),
        (r"(?:private|protected) method [`'][^`']{1,200}' called for ", "NoMethodError"),
        (r"wrong number of arguments \(given \d", "ArgumentError"),
        (r"(?:missing|unknown) keywords?: ", "ArgumentError"),
        (r"key not found: ", "KeyError"),
        (r"divided by 0$", "ZeroDivisionError"),
        (r"stack level too deep$", "SystemStackError"),
        (r"no implicit conversion of \S{1,100} into ", "TypeError"),
    ),
    "javascript": (
        (r"Cannot read propert(?:y|ies) .{0,200}of (?:undefined|null)", "TypeError"),
        (r"Cannot set propert(?:y|ies) .{0,200}of (?:undefined|null)", "TypeError"),
        (r"[\w$.]{1,200} is not (?:a function|iterable|a constructor)$", "TypeError"),
        (r"[\w$]{1,200} is not defined$", "ReferenceError"),
        (r"Maximum call stack size exceeded$", "RangeError"),
    ),
}  # fmt: skip
_KNOWN = {
    language: tuple((re.compile(pattern), name) for pattern, name in rows)
    for language, rows in KNOWN.items()
}


def class_of(message: str, language: str) -> str:
    """Give the class whose message this is; empty where it may be of several.

    >>> class_of("undefined method `total' for nil:NilClass", "ruby"), class_of("no", "ruby")
    ('NoMethodError', '')
    """
    plain = message.strip()[:LINE_CHARACTERS]
    rows = _KNOWN.get(language, ())
    return next((name for pattern, name in rows if pattern.match(plain)), "")


def is_known(message: str) -> bool:
    """Tell whether a line is the message of one class alone, of whatever language."""
    return any(class_of(message, language) for language in _KNOWN)
