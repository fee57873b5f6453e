"""Files that may hold the fault of a case, best first: from its trace, transaction and message."""

import re
from collections.abc import Callable, Iterable, Iterator

from inflection import camelize, pluralize, singularize, underscore

from nightwatch_core.code.limits import (
    FILES_A_GUESS,
    LIKELY_FILES,
    MESSAGE,
    MESSAGE_WORDS,
    RANKED_FRAMES,
    TRANSACTION_NAMES,
    TRANSACTIONS,
)
from nightwatch_core.models.errors import Case, Frame, Trace
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.models.value import Value
from nightwatch_core.text.transactions import Endpoint, endpoint
from nightwatch_core.text.words import words_error_classes as words
from nightwatch_core.traces.placing import PathIndex, Placement, by_tail, plain

# Where frameworks keep the code of a transaction: a table of guesses, each an end of a path.
#
# A guess names files that may not exist; whoever asks keeps those that do.

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
    parts = tuple(
        (f"[{part.strip(':<>{}[]').split(':')[-1]}]" if part[:1] in ":<{[" else part)
        for part in (*c.raw, *last)
    )
    stem = _joined(parts).removeprefix("pages/").removeprefix("app/")
    for form in ("app/{}/route", "app/{}/page", "pages/{}", "pages/{}/index"):
        for ending in _SCRIPTS[:4]:
            yield f"{form.format(stem)}.{ending}"


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

_DECAY = 0.75  # a frame further out counts this much of the one inside it
_AGAIN = 0.15  # share of a file's lesser frames that is added to its best one

CHECKING = {
    *("check", "assert", "validate", "verify", "require", "ensure", "expect", "must", "refuse"),
    *("raise", "throw", "fail", "reject", "report", "complain", "error", "warn"),
}
COMPLAINTS = {"exception", "exceptions", "error", "errors", "failure"}
HELPERS = {
    *("util", "utils", "helper", "helpers", "precondition", "preconditions", "common"),
    *("validate", "validator", "assert", "assertions", "reporter"),
}
PLUMBING = {
    *("call", "invoke", "dispatch", "perform", "run", "process", "execute", "main"),
    *("intercept", "apply", "proxy", "delegate", "forward"),
}
TEST = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*$|([._-](test|spec)|Tests?|TestCase)\.\w+$"
)
_ENTRY = re.compile(
    r"(^|/)(config|bin|exe|scripts?|benchmarks?|examples?)/|(^|/)(manage\.py|Rakefile|config\.ru)$"
)
_LEVELS = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")
_CALLED = re.compile(r"wrong number of arguments|(?:missing|unknown) keywords?:")

Rule = Callable[[Frame], bool]

WEIGHTS: tuple[tuple[float, str, Rule], ...] = (
    (0.05, "it belongs to a test", lambda f: bool(TEST.search(_path(f)))),
    (0.1, "it defines an exception", lambda f: bool(COMPLAINTS & {*_stem(f)[-1:]})),
    (0.3, "it checks or reports", lambda f: _reports(_words(f))),
    (0.5, "it holds common helpers", lambda f: bool(HELPERS & {*_stem(f)[-1:]})),
    (0.8, "it is a constructor", lambda f: _name(f) in {"<init>", "initialize", "__init__"}),
    (0.6, "it carries the call", lambda f: bool(PLUMBING & {*_words(f)[:1]})),
    (0.4, "it is an entry point", lambda f: bool(_ENTRY.search(_path(f)))),
)


def ranked_places(trace: Trace) -> tuple[LikelyFile, ...]:
    """List files of the trace, most likely first; score 0 to 1, relative to the best.

    In-app frames are ranked; where no frame is in-app, all are. Paths are repository paths where
    they are known.

    >>> from nightwatch_core.models.errors import ExceptionLink
    >>> frames = (Frame(path="app/checks.py", function="require_stock", in_app=True),
    ...           Frame(path="app/basket.py", function="add", in_app=True))
    >>> trace = Trace(links=(ExceptionLink(error_class="ValueError", frames=frames),))
    >>> [place.path for place in ranked_places(trace)]
    ['app/basket.py', 'app/checks.py']
    """
    scores: dict[str, float] = {}
    reasons: dict[str, tuple[str, ...]] = {}
    callee = _callee(trace)
    for depth, frame in enumerate(_distinct(trace)):
        held = [(weight, reason) for weight, reason, rule in WEIGHTS if rule(frame)]
        if frame == callee:
            held.append((0.4, "its caller passed the wrong arguments"))
        score = _DECAY**depth
        for weight, _ in held:
            score *= weight
        path = _path(frame)
        best, other = max(score, scores.get(path, 0.0)), min(score, scores.get(path, 0.0))
        scores[path] = best + _AGAIN * other
        place = f"frame {depth + 1} of the application" if frame.in_app else f"frame {depth + 1}"
        reasons.setdefault(path, (place, *(reason for _, reason in held)))
    top = max(scores.values(), default=0.0)
    return tuple(
        LikelyFile(path=path, score=round(scores[path] / top, 3), because=reasons[path])
        for path in sorted(scores, key=lambda path: -scores[path])
    )


def _distinct(trace: Trace) -> tuple[Frame, ...]:
    """Ranked frames, innermost first, each function once: recursion says nothing new."""
    known = [frame for frame in trace.frames if frame.path]
    frames = [frame for frame in known if frame.in_app] or known
    once: dict[tuple[str, str], Frame] = {}
    for frame in frames[:RANKED_FRAMES]:
        once.setdefault((_path(frame), frame.function), frame)
    return tuple(once.values())


def _callee(trace: Trace) -> Frame | None:
    ruby = trace.language == "ruby" and bool(_CALLED.search(trace.root.message[:MESSAGE]))
    return trace.top if ruby else None


def _path(frame: Frame) -> str:
    return frame.repo_path or frame.path


def _stem(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_path(frame).rsplit("/", 1)[-1].rsplit(".", 1)[0]))


def _name(frame: Frame) -> str:
    return re.split(r"[#.:]", _LEVELS.sub("", frame.function[:300]))[-1]


def _words(frame: Frame) -> tuple[str, ...]:
    return tuple(word.lower() for word in words(_name(frame)))


def _reports(name: tuple[str, ...]) -> bool:
    return bool(CHECKING & {*name[:1]}) or bool(COMPLAINTS & {*name[-1:]})


IN_MESSAGE, NAMED_CLASS, OWN_CLASS = 0.65, 0.35, 0.2

_FILE = re.compile(
    r"[\w@~./\\-]{1,200}\."
    r"(?:rb|erb|haml|slim|rake|py|html|[jt]sx?|mjs|vue|java|kt|scala|groovy|go|php|cs)\b"
)
_CLASS = re.compile(r"\b[A-Z][A-Za-z0-9]{2,60}(?:(?:::|\.|\\)[A-Z][A-Za-z0-9]{0,60}){0,5}")
_CLASS_FILES = ("{snake}.rb", "models/{snake}.py", "{camel}.java", "{camel}.kt", "{camel}.cs")
_MORE_CLASS_FILES = ("{camel}.php", "{camel}.ts", "{camel}.tsx", "{camel}.js")

# Endings of the files a language's applications are made of; a trace's language rules others out.
ENDINGS: dict[str, tuple[str, ...]] = {
    "ruby": (".rb", ".rake", ".erb", ".haml", ".slim", ".builder", ".jbuilder"),
    "python": (".py", ".html"),
    "javascript": (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue"),
    "java": (".java", ".kt", ".scala", ".groovy"),
    "go": (".go",),
    "php": (".php",),
    "csharp": (".cs",),
    "rust": (".rs",),
    "elixir": (".ex", ".exs", ".eex", ".heex", ".leex"),
}

Found = Iterator[tuple[str, float, str]]


def likely_files(case: Case, index: PathIndex, limit: int = LIKELY_FILES) -> tuple[LikelyFile, ...]:
    """Rank the files of the tree for a case; a file found twice keeps its best score.

    Asked in turn: the trace, the transaction, the message, the error class. Only files that are in
    the tree are named.
    """
    scores: dict[str, float] = {}
    reasons: dict[str, list[str]] = {}
    for source in SOURCES:
        for path, score, because in source(case, index):
            scores[path] = max(score, scores.get(path, 0.0))
            reasons.setdefault(path, [])
            if because not in reasons[path]:
                reasons[path].append(because)
    best = sorted(scores, key=lambda path: -scores[path])[: max(0, limit)]
    return tuple(
        LikelyFile(path=path, score=round(scores[path], 3), because=tuple(reasons[path]))
        for path in best
    )


def from_trace(case: Case, index: PathIndex) -> Found:
    """List files of frames, in the order that the trace alone suggests."""
    for place in ranked_places(case.trace) if case.trace else ():
        if place.path in index:
            yield place.path, place.score, "; ".join(place.because)


def from_transaction(case: Case, index: PathIndex) -> Found:
    """List files that frameworks give to a transaction of this name."""
    names = dict.fromkeys(group.transaction for group in case.groups if group.transaction)
    endings = ENDINGS.get(case.trace.language if case.trace else "", ("",))
    for transaction in tuple(names)[:TRANSACTIONS]:
        clue = clue_of(endpoint(transaction))
        for what, score, guess in GUESSES:
            guessed = (name for name in guess(clue) if name.endswith(endings))
            for path in _existing(guessed, index):
                yield path, score, f"{what} of the transaction"


def _existing(suffixes: Iterable[str], index: PathIndex) -> tuple[str, ...]:
    existing = (index.ending(suffix) for suffix in suffixes)
    return next((paths[:FILES_A_GUESS] for paths in existing if paths), ())


def from_message(case: Case, index: PathIndex) -> Found:
    """List files and classes that the message names."""
    message = case.leader.message[:MESSAGE]
    for text in _first(_FILE, message):
        frame = Frame(path=text, in_app=True)
        path = by_tail(plain(text), frame, index, Placement())
        if path:
            yield path, IN_MESSAGE, "the message names the file"
    for name in _first(_CLASS, message):
        for path in class_files(name, index):
            yield path, NAMED_CLASS, "the message names the class"


def from_error_class(case: Case, index: PathIndex) -> Found:
    """Give the file that defines an error class of the application."""
    for path in class_files(case.leader.error_class, index):
        yield path, OWN_CLASS, "defines the error class"


def _first(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[0] for match in pattern.finditer(text)))[:MESSAGE_WORDS]


def class_files(name: str, index: PathIndex) -> tuple[str, ...]:
    """List files that a class of this name would be in: those with its namespace first.

    >>> class_files("Shop::OrderItem", PathIndex(("app/models/shop/order_item.rb", "a.rb")))
    ('app/models/shop/order_item.rb',)
    """
    parts = tuple(part for part in re.split(r"::|[.\\]", name[:MESSAGE]) if part)
    if not parts:
        return ()
    forms = (*_CLASS_FILES, *_MORE_CLASS_FILES)
    whole = {"snake": "/".join(map(underscore, parts)), "camel": "/".join(parts)}
    last = {"snake": underscore(parts[-1]), "camel": parts[-1]}
    suffixes = (form.format(**words) for words in (whole, last) for form in forms)
    return _existing(suffixes, index)


# Who is asked for files, in this order: of equal scores the earlier one's file is better.
SOURCES = (from_trace, from_transaction, from_message, from_error_class)
