"""What unpackers of trackers' exports share: fields by dotted names, titles, and our own record."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from nightwatch_core.adapters.files.limits import NAME_LIMIT
from nightwatch_core.adapters.files.record_frames import LOGGED
from nightwatch_core.adapters.files.shapes.shape import Record

# Our words of a record, and the names by which `record_fields` knows them first.
NAMES = {
    "error_class": "exception.type",
    "message": "exception.message",
    "stack": "exception.stacktrace",
    "transaction": "transaction.name",
    "app": "service.name",
    "release": "service.version",
    "commit": "tags.commit",
    "host": "host.name",
    "user": "enduser.id",
    "users": "users",
    "count": "occurrences",
    "first_seen": "first_seen",
    "last_seen": "last_seen",
    "time": "timestamp",
    "level": "level",
}
MESSAGE = LOGGED  # the class of what a tracker calls an error, and holds no exception
QUIET = {"level": "info"}  # a record that is no error: counted, and no more

_TITLE = re.compile(
    r"(?P<error_class>[A-Za-z_$][\w$]*(?:(?:::|[.\\/])[\w$]+)*)(?: \([\w .:-]{1,80}\))?:\s+"
    r"(?P<message>.+)",
    re.DOTALL,
)
_CLASS_ALONE = re.compile(r"(?:[A-Za-z_$][\w$]*(?:::|[.\\]))*[A-Z][\w$]*")
_LIKE_CLASS = re.compile(r"[A-Z]\w*$")


def at(record: object, *paths: str) -> object:
    """Give the first value that says anything; a name with dots may be a key itself.

    >>> at({"a": {"b": ""}, "c.d": 3}, "a.b", "c.d")
    3
    """
    for path in paths:
        value = _one(record, path)
        if value not in (None, "", [], {}):
            return value
    return None


def _one(record: object, path: str) -> object:
    if isinstance(record, dict):
        if path in record:
            return record[path]
        head, _, rest = path.partition(".")
        return _one(record.get(head), rest) if rest else None
    if isinstance(record, list):
        head, _, rest = path.partition(".")
        inner = record[int(head)] if head in ("0", "1") and int(head) < len(record) else None
        return _one(inner, rest) if rest else inner
    return None


def text_at(record: object, *paths: str) -> str:
    """Give the first value that is a text or a number, as a text.

    >>> text_at({"a": {"b": 1}, "c": 3}, "a", "c")
    '3'
    """
    values = (at(record, path) for path in paths)
    return next(
        (str(one) for one in values if isinstance(one, str | int | float) and one is not True), ""
    )


def record_of(**fields: object) -> Record:
    """Make a record in our own words; what says nothing is left out.

    >>> record_of(error_class="KeyError", count=3, users=None)
    {'exception.type': 'KeyError', 'occurrences': 3}
    """
    return {NAMES[name]: value for name, value in fields.items() if value not in (None, "", [], {})}


def title_parts(title: str) -> tuple[str, str]:
    """Split what trackers show as a title into class and message.

    >>> title_parts("KeyError: 'total'"), title_parts("Shop::Empty"), title_parts("no total left")
    (('KeyError', "'total'"), ('Shop::Empty', ''), ('', 'no total left'))
    """
    plain = re.sub(r"^#\d{1,9} ", "", title.strip()[: 20 * NAME_LIMIT])
    match = _TITLE.match(plain)
    if match and _LIKE_CLASS.search(match["error_class"]):
        return match["error_class"], match["message"]
    return (plain, "") if _CLASS_ALONE.fullmatch(plain) else ("", plain)


def someone(user: object) -> str:
    """Give what tells a user from others, whatever the record has; never shown, only counted.

    >>> someone({"id": None, "email": "a@example.com"}), someone({"id": 7}), someone("u1")
    ('a@example.com', '7', 'u1')
    """
    if isinstance(user, Mapping):
        return text_at(
            user, "id", "email", "username", "name", "identifier", "ip_address", "ipAddress"
        )
    return str(user) if isinstance(user, str | int) and user is not True else ""


def path_of(url: object) -> str:
    """Give the path of an address, without what may name people.

    >>> path_of("https://shop.example/orders/7?email=a@example.com")
    '/orders/7'
    """
    if not isinstance(url, str):
        return ""
    try:
        return urlsplit(url[: 4 * NAME_LIMIT]).path
    except ValueError:
        return ""


def request_of(method: object, url: object) -> str:
    """Give `METHOD /path` where both are known, or the path.

    >>> request_of("get", "https://shop.example/orders")
    'GET /orders'
    """
    path = path_of(url)
    word = method.upper() if isinstance(method, str) and method.isalpha() else ""
    return f"{word} {path}" if word and path else path
