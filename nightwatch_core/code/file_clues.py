"""The forms that the name of a transaction takes in file names."""

import re

from inflection import pluralize, singularize, underscore

from nightwatch_core.code.limits import TRANSACTION_NAMES
from nightwatch_core.models.value import Value
from nightwatch_core.text.transactions import Endpoint

_PARAMETER = re.compile(r"[:<{\[*(]|^\d+$|^[0-9a-f-]{16,}$")
_ROLES = re.compile(
    r"_(?:controller|view_set|viewset|view|resource|handler|endpoint|mailer|job|worker|service)$"
)


class Clue(Value):
    """An endpoint in the forms that file names take.

    `names` as written without parameters, `path` in snake case, `resource` the last of it without
    its role ("orders" of OrdersController), `raw` with parameters, for file-based routers.
    """

    kind: str = "other"
    names: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    resource: str = ""
    action: str = ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The namespace in snake case."""
        return self.path[:-1]

    @property
    def one(self) -> str:
        """The resource in the singular: "status" of "statuses"."""
        return singularize(self.resource) if self.resource else ""

    @property
    def many(self) -> str:
        """The resource in the plural."""
        return pluralize(self.resource) if self.resource else ""

    @property
    def nouns(self) -> tuple[str, ...]:
        """Resource, singular and plural, without repetition."""
        return tuple(dict.fromkeys(n for n in (self.resource, self.one, self.many) if n))


def clue_of(endpoint: Endpoint) -> Clue:
    """Put an endpoint in the forms that file names take.

    >>> clue_of(Endpoint(kind="controller", names=("Admin", "OrdersController"))).path
    ('admin', 'orders_controller')
    >>> found = clue_of(Endpoint(kind="route", names=("api", "order_statuses", ":id")))
    >>> found.resource, found.one
    ('order_statuses', 'order_status')
    """
    raw = endpoint.names[:TRANSACTION_NAMES]
    names = tuple(name for name in raw if not _PARAMETER.search(name))
    path = tuple(underscore(name) for name in names)
    resource = _ROLES.sub("", path[-1]) if path else ""
    return Clue(
        kind=endpoint.kind,
        names=names,
        raw=raw,
        path=path,
        resource=resource,
        action=endpoint.action,
    )
