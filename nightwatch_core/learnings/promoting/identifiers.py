"""The code that a sentence is about: the names, paths and lines it tells of.

Two sentences with the same words and another name in them are two facts: likeness of words never
makes one of them.
"""

import re

_LONGEST = 4_000  # characters of a text that are looked at
_ESCAPED = re.compile(r"\\([^\w\s]|_)")  # as Markdown writes a plain character
_SPAN = re.compile(r"`+([^`]{1,300})`+")
_LINE = re.compile(r"\blines?\s+(\d{1,7})\b", re.IGNORECASE)
_AROUND = "\"'“”‘’()[]{}<>*,;:.!?…"
_NAMES = tuple(
    map(
        re.compile,
        (
            r"\w*[^\W_]_+[^\W_]\w*",  # snake_case
            r"_+[^\W_]\w*|[^\W_]\w*_+",  # _private, class_
            r"\w*[a-z0-9][A-Z]\w*",  # CamelCase
            r"[A-Z]{2,}[a-z]{2,}\w*",  # HTTPException
            r"[^\W\d]\w+(?:(?:\.|::|#|->)\w{2,})+",  # Orders::Price, user.name, lines.py
            r"[.~]{0,2}/[^/\s]\S*",  # /orders
            r"[\w.@~-]+(?:/[\w.@~<>*-]+)+\.\w{1,8}",  # shop/line.py
            r"(?:[\w.@~-]+/){2,}[\w.@~-]*",  # app/models/zones
        ),
    )
)
_PLACED = re.compile(r"(\S+?):(\d{1,7}(?:[-:]\d{1,7})?)")  # a path and its line


def identifiers(text: str) -> frozenset[str]:
    r"""What a text has in backticks, names in snake or camel case, paths, and their lines.

    >>> sorted(identifiers("`net_price` is defined in shop/line.py:3; see OrderLine, and/or ask"))
    ['OrderLine', 'net_price', 'shop/line.py:3']
    >>> identifiers(r"Use net\_price") == identifiers("Use `net_price`")
    True
    """
    plain = _ESCAPED.sub(r"\1", text[:_LONGEST])
    quoted = (" ".join(span.split()) for span in _SPAN.findall(plain))
    words = (word for each in _SPAN.sub(" ", plain).split() if (word := _bare(each)))
    found = {_called(one) for one in quoted} | {_called(word) for word in words if _is_name(word)}
    if any("/" in one or _PLACED.fullmatch(one) for one in found):
        found |= {f":{number}" for number in _LINE.findall(plain)}
    return frozenset(found - {""})


def _bare(word: str) -> str:
    """A word without the punctuation around it; a call keeps nothing of its arguments."""
    return word.strip(_AROUND).removesuffix("'s").removesuffix("’s")


def _is_name(word: str) -> bool:
    placed = _PLACED.fullmatch(word)
    name = placed[1] if placed else _called(word)
    is_known = any(pattern.fullmatch(name) for pattern in _NAMES)
    return is_known or bool(placed and "/" in name)


def _called(name: str) -> str:
    return name.strip().removesuffix("()").removesuffix("(")
