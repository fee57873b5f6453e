"""Transactions without what changes from one call to the next."""

import re
from functools import lru_cache

from nightwatch_core.text.former_templates import placed

TRANSACTION_LIMIT = 1_024
REMEMBERED = 2_048

_URL_LIKE = re.compile(r"(?:[A-Z]{3,8} )?(?:/|[a-z][a-z0-9+.-]{1,20}://)")
_QUERY = re.compile(r"\?[\w.%\[\]-]{1,200}=|;jsessionid=", re.IGNORECASE)
_STEP = re.compile(r"[^/\s]+")
_VERSION = re.compile(r"v\d{1,3}(?:\.\d{1,3})?|[A-Za-z]+\d{1,2}")  # v2, s3, oauth2: names


def transaction_template(transaction: str) -> str:
    """The transaction without ids in its path and without a query string.

    >>> transaction_template("GET /api/v1/orders/4711/lines/9f8e7d6c5b?page=2")
    'GET /api/v1/orders/<n>/lines/<hex>'
    >>> transaction_template("Controller/orders/update"), transaction_template("Order#paid?")
    ('Controller/orders/update', 'Order#paid?')
    """
    return _transaction_template(transaction[:TRANSACTION_LIMIT])


@lru_cache(maxsize=REMEMBERED)
def _transaction_template(transaction: str) -> str:
    text = " ".join(transaction.split())
    is_url = bool(_URL_LIKE.match(text))
    query = _QUERY.search(text)
    text = text.partition("?")[0] if is_url else text
    text = text[: query.start()] if query else text
    text = _STEP.sub(_step, text)
    return text.rstrip("/") or "/" if is_url else text


def _step(match: re.Match[str]) -> str:
    step = match[0]
    if _VERSION.fullmatch(step) or (not any(map(str.isdigit, step)) and "%" not in step):
        return "<email>" if "@" in step[1:] and "." in step else step
    if "%" in step:
        return "<id>"
    return placed(step)
