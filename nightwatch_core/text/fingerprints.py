"""Names for failures that stay the same from night to night."""

import hashlib
import json
import re

from nightwatch_core.text.templates import message_template, transaction_template

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{1,32}|(?<=\$\$Lambda)[$/\w]{1,80}")

# What compilers, closures and language versions change in a function's name.
FUNCTION_NOISE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+"), ""),  # Ruby
    (re.compile(r"^.*[#](?=[^#]+$)"), ""),  # Ruby 3.4 writes Order#total for total
    (re.compile(r"^(?:async |new |Object\.)+"), ""),  # JavaScript
    (re.compile(r"(?:\.func\d+(?:\.\d+)*)+$"), ""),  # Go closures
    (re.compile(r"(?<=lambda\$)(\w+)\$\d+"), r"\1"),  # Java
    (re.compile(r"\d{3,}"), "0"),  # compiled Rails templates
)


def fingerprint(app: str, error_class: str, transaction: str, message: str) -> str:
    """Name an error group: `v1:` and 16 hexadecimal digits. Frames never enter it.

    >>> one = fingerprint("shop", "KeyError", "GET /orders/17", "order 17 has no 'total'")
    >>> one, one == fingerprint("shop", "KeyError", "GET /orders/4", "order 4 has no 'total'")
    ('v1:7c2f7b6478e4b183', True)
    >>> one == fingerprint("shop", "KeyError", "GET /orders/17", "order 17 has no 'price'")
    False
    """
    parts = {
        "app": app.strip(),
        "class": _ADDRESS.sub("<hex>", error_class.strip()[:500]),
        "transaction": transaction_template(transaction),
        "message": message_template(message),
    }
    return f"v1:{_digest(parts)}"


def frame_signature(error_class: str, path: str, function: str) -> str:
    """Name a root class and its top in-app frame: `f1:` and 16 hexadecimal digits.

    Line numbers stay out, and what closures add to a function's name. Empty where no place is
    known: a class alone would name too much.

    >>> one = frame_signature("KeyError", "app/models/order.rb", "block (2 levels) in total")
    >>> one, one == frame_signature("KeyError", "app/models/order.rb", "Order#total")
    ('f1:8f06bee29b9a3515', True)
    >>> frame_signature("KeyError", "", "")
    ''
    """
    if not path and not function:
        return ""
    name = plain_function(function)
    parts = {"class": error_class.strip()[:500], "path": path.strip()[:1_000], "function": name}
    return f"f1:{_digest(parts)}"


def plain_function(function: str) -> str:
    """Return a function's name without what compilers and closures add to it.

    >>> plain_function("block (2 levels) in Order#total"), plain_function("main.run.func1")
    ('total', 'main.run')
    """
    name = function.strip()[:500]
    for pattern, replacement in FUNCTION_NOISE:
        name = pattern.sub(replacement, name)
    return name


def _digest(parts: dict[str, str]) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:16]
