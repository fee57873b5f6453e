"""Where frameworks keep the code of a transaction: a table of guesses, each an end of a path.

A guess names files that may not exist; whoever asks keeps those that do.
"""

import re
from collections.abc import Callable, Iterable

from inflection import camelize, pluralize, singularize, underscore

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
    def nouns(self) -> tuple[str, ...]:
        """Resource, singular and plural, without repetition."""
        many = pluralize(self.resource) if self.resource else ""
        return tuple(dict.fromkeys(n for n in (self.resource, self.one, many) if n))


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
    action, kind = endpoint.action, endpoint.kind
    return Clue(kind=kind, names=names, raw=raw, path=path, resource=resource, action=action)


_TEMPLATES = ("html.erb", "html.haml", "html.slim", "json.jbuilder", "rss.builder", "text.erb")
_SCRIPTS = ("ts", "js", "tsx", "jsx", "mjs")


def _joined(*parts: str | tuple[str, ...]) -> str:
    flat = (p for part in parts for p in ((part,) if isinstance(part, str) else part))
    return "/".join(part for part in flat if part)


def rails_controllers(c: Clue) -> Iterable[str]:
    """Guess `app/controllers/admin/orders_controller.rb`, for routes also without the namespace."""
    for noun in c.nouns if c.kind == "route" else c.nouns[:1]:
        yield _joined("app/controllers", c.folders, f"{noun}_controller.rb")
        if c.kind == "route":
            yield f"app/controllers/{noun}_controller.rb"


def rails_models(c: Clue) -> Iterable[str]:
    """Guess `app/models/admin/order.rb`, else `app/models/order.rb`."""
    for noun in dict.fromkeys((c.one, c.resource)):
        if noun:
            yield _joined("app/models", c.folders, f"{noun}.rb")
            yield f"app/models/{noun}.rb"


def rails_views(c: Clue) -> Iterable[str]:
    """Guess `app/views/admin/orders/show.html.erb` and the other template languages."""
    is_mailer = bool(c.path) and c.path[-1].endswith(("_mailer", "_notifier"))
    folder = c.resource if c.kind != "mail" and not is_mailer else (c.path or ("",))[-1]
    if folder and c.action:
        for ending in _TEMPLATES:
            yield _joined("app/views", c.folders, folder, f"{c.action}.{ending}")


def rails_helpers(c: Clue) -> Iterable[str]:
    """Guess `app/helpers/admin/orders_helper.rb`."""
    if c.resource:
        yield _joined("app/helpers", c.folders, f"{c.resource}_helper.rb")
        yield f"app/helpers/{c.resource}_helper.rb"


def ruby_constants(c: Clue) -> Iterable[str]:
    """Guess where autoloading looks: `app/jobs/foo/bar_job.rb`, `lib/foo/bar_job.rb`."""
    if c.kind == "route" or not c.path:
        return
    for folder in ("app/jobs", "app/workers", "app/sidekiq", "app/mailers", "app/services", "lib"):
        yield _joined(folder, c.path) + ".rb"
    yield _joined(c.path) + ".rb"


def python_modules(c: Clue) -> Iterable[str]:
    """Guess `shop/views/orders.py` of shop.views.orders, `shop/views.py` of shop.views.View."""
    if c.kind == "route":
        return
    parts = (*c.names, *((c.action,) if c.action else ()))  # the action may be a module, too
    shortest = 1 if len(c.names) > 1 else 0  # a package alone says too little
    for end in range(len(parts), shortest, -1):
        yield _joined(parts[:end]) + ".py"
        yield _joined(parts[:end], "__init__.py")


def python_routes(c: Clue) -> Iterable[str]:
    """Guess views of Django, blueprints of Flask, routers of FastAPI, by the noun."""
    if c.kind == "route":
        forms = ("{}/views", "views/{}", "routers/{}", "routes/{}", "{}/routes", "{}/router")
        for noun in c.nouns:
            yield from (f"{form}.py".format(noun) for form in (*forms, "api/{}", "blueprints/{}"))
            yield f"{noun}.py"


def python_neighbours(c: Clue) -> Iterable[str]:
    """Guess `shop/models.py` of shop.views.orders, `models/order.py` of a noun."""
    if c.kind != "route" and len(c.names) > 1:
        yield _joined(c.names[0], "models.py")
    for noun in c.nouns:
        yield f"models/{noun}.py"
        yield f"{noun}/models.py"


def next_routes(c: Clue) -> Iterable[str]:
    """Guess `app/api/orders/[id]/route.ts`, `pages/api/orders/[id].ts` and the like."""
    if c.kind not in ("route", "other") or not c.raw:
        return
    last = (c.action,) if c.kind == "other" and c.action else ()  # pages/api/orders looks like one
    parts = tuple(_bracketed(part) for part in (*c.raw, *last))
    stem = _joined(parts).removeprefix("pages/").removeprefix("app/")
    for form in ("app/{}/route", "app/{}/page", "pages/{}", "pages/{}/index"):
        for ending in _SCRIPTS[:4]:
            yield f"{form.format(stem)}.{ending}"


def _bracketed(part: str) -> str:
    return f"[{part.strip(':<>{}[]').split(':')[-1]}]" if part[:1] in ":<{[" else part


def script_routes(c: Clue) -> Iterable[str]:
    """Guess those of Express and Nest: `routes/orders.js`, `orders.controller.ts`."""
    for noun in c.nouns:
        dashed, camel = noun.replace("_", "-"), camelize(noun, False)
        for ending in _SCRIPTS[:2]:
            for name in dict.fromkeys((dashed, camel, noun)):
                yield f"routes/{name}.{ending}"
                yield f"routes/{name}/index.{ending}"
                yield f"controllers/{name}.{ending}"
                yield f"controllers/{name}Controller.{ending}"
                yield f"{name}.controller.{ending}"
                yield f"{name}.routes.{ending}"


def jvm_classes(c: Clue) -> Iterable[str]:
    """Guess `com/acme/OrderController.java` of a class; controllers of the noun for routes."""
    if c.names and c.kind != "route":
        for ending in ("java", "kt", "cs", "scala", "groovy"):
            yield f"{_joined(c.names)}.{ending}"
            yield f"{c.names[-1]}.{ending}"


def class_routes(c: Clue) -> Iterable[str]:
    """Guess `OrderController.java`, `OrdersController.cs`, `OrderController.php` of a noun."""
    for noun in c.nouns if c.kind in ("route", "controller") else ():
        for ending in ("java", "kt", "cs", "php"):
            for role in ("Controller", "Resource", "Handler"):
                yield f"{camelize(noun)}{role}.{ending}"


def class_services(c: Clue) -> Iterable[str]:
    """Guess `OrderService.java` beside an OrderController."""
    for noun in dict.fromkeys((c.one, c.resource)):
        for ending in ("java", "kt", "cs", "php") if noun else ():
            yield f"{camelize(noun)}Service.{ending}"


def class_models(c: Clue) -> Iterable[str]:
    """Guess `Models/Order.php`, `Order.java`."""
    if c.one and c.kind != "job":
        yield f"Models/{camelize(c.one)}.php"
        for ending in ("java", "kt", "cs"):
            yield f"{camelize(c.one)}.{ending}"


def php_classes(c: Clue) -> Iterable[str]:
    r"""Guess `app/Http/Controllers/OrderController.php` of App\Http\Controllers\OrderController."""
    if c.names and c.kind != "route":
        yield _joined(c.names) + ".php"
        yield _joined(c.names[1:] or c.names) + ".php"


def go_routes(c: Clue) -> Iterable[str]:
    """Guess `handlers/orders.go`, `order_handler.go`, `orders.go`."""
    for noun in c.nouns:
        for form in ("handlers/{}.go", "{}_handler.go", "{}_handlers.go", "{}/handler.go", "{}.go"):
            yield form.format(noun)


Guess = Callable[[Clue], Iterable[str]]

# What a file is to the transaction, how likely it holds the fault (0 to 1), and its names: the
# first name that exists is taken.
GUESSES: tuple[tuple[str, float, Guess], ...] = (
    ("Rails controller", 0.7, rails_controllers),
    ("Ruby class", 0.7, ruby_constants),
    ("Python module", 0.7, python_modules),
    ("Next.js route", 0.7, next_routes),
    ("class", 0.7, jvm_classes),
    ("PHP class", 0.7, php_classes),
    ("Express or Nest route", 0.6, script_routes),
    ("controller by its noun", 0.6, class_routes),
    ("Python view by its noun", 0.6, python_routes),
    ("Go handler by its noun", 0.6, go_routes),
    ("Rails model", 0.45, rails_models),
    ("model by its noun", 0.4, class_models),
    ("Python models", 0.4, python_neighbours),
    ("Rails view", 0.35, rails_views),
    ("service by its noun", 0.35, class_services),
    ("Rails helper", 0.2, rails_helpers),
)
