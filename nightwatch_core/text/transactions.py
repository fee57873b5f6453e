r"""Reads the name of a transaction: which module or controller, and which action in it.

Agents and frameworks write the same thing in many ways: `Controller/admin/orders/update`,
`OrdersController#show`, `OtherTransaction/Celery/shop.tasks.import_stock`, `GET /orders/:id`.
"""

import re
from typing import Literal

from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import data_table

_LONGEST = 500

Kind = Literal["", "controller", "job", "mail"]
_WRAPPERS = data_table("nightwatch_core.text", "wrappers.toml", dict[Kind, str])
WRAPPERS = {name: kind for kind, names in _WRAPPERS.items() for name in names.split()}
_VERB = re.compile(r"^(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)[\s/]+(?=/|\w|https?:)")
_ORIGIN = re.compile(r"^https?://[^/\s]*")
_PARAMETER = re.compile(r"/[:<{\[]\w")
_METHOD = re.compile(r"^(.+?)(?:#|@|(?<!:):(?!:))([\w?!]+)$")
_SEPARATORS = re.compile(r"::|[/.\\]+")
_FORMAT = re.compile(r"\s*\([\w./]*\)$")  # "HomeController#index (rss)"


class Endpoint(Value):
    """`names` from the outside in: ("admin", "orders"), ("shop", "views", "OrderView")."""

    kind: Literal["controller", "job", "mail", "route", "other"] = "other"
    names: tuple[str, ...] = ()
    action: str = ""

    @property
    def module(self) -> str:
        """Return the common controller or module of transactions; may be empty."""
        return "/".join(self.names)


def endpoint(transaction: str) -> Endpoint:
    """Take a transaction's name apart; an empty `Endpoint` where there is nothing to read."""
    text = _FORMAT.sub("", transaction.strip()[:_LONGEST])
    kind, text = _unwrapped(text)
    route = _route(text)
    if route is not None:
        return route
    names, action = _split(text, kind)
    if action and not kind and names and names[-1].endswith(("Controller", "_controller")):
        kind = "controller"
    return Endpoint(kind=kind or "other", names=names, action=action)


def _unwrapped(text: str) -> tuple[Kind, str]:
    kind: Kind = ""
    while "/" in text and not kind:
        head, rest = text.split("/", 1)
        if head.lower() not in WRAPPERS or not rest:
            break
        kind, text = WRAPPERS[head.lower()], rest
    return kind, text


def _route(text: str) -> Endpoint | None:
    verb = _VERB.match(text)
    path = text[verb.end() :] if verb else text
    if not (verb or path.startswith(("/", "http://", "https://")) or _PARAMETER.search(path)):
        return None
    path = _ORIGIN.sub("", path).split("?")[0]
    names = tuple(part for part in path.split("/") if part)
    return Endpoint(kind="route", names=names, action=verb[1].lower() if verb else "")


def _split(text: str, kind: str) -> tuple[tuple[str, ...], str]:
    method = _METHOD.match(text)
    owner, action = (method[1], method[2]) if method else (text, "")
    names = tuple(part for part in _SEPARATORS.split(owner) if part)
    if not action and len(names) > 1:
        last = names[-1]
        if last[:1].islower() or (kind == "controller" and not last.endswith("Controller")):
            names, action = names[:-1], last
    return names, action
