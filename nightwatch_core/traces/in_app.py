"""Tell the application's own frames from libraries."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import ExceptionLink, Frame

# What belongs to libraries, runtimes and tools: tables for in_app.py.

# Folders, as regular expressions that begin behind a slash; case does not matter.
FOLDERS = (
    # Python
    r"site-packages/", r"dist-packages/", r"lib/(?:python|pypy)\d[\d.]*/", r"python\d+/lib/",
    r"\.?(?:mini|ana)conda\d?/", r"var/runtime/",
    # Ruby
    r"gems/(?=[^/]+-\d[^/]*/)", r"bundler/(?:gems/|\w+\.rb)", r"lib/j?ruby/",
    r"rubygems/(?:core_ext/|\w+\.rb)", r"uri:classloader:", r"org/jruby/", r"META-INF/jruby",
    r"(?:bin|exe)/(?:rails|rake|bundler?|rspec|spring|puma|sidekiq|unicorn|rackup|irb|cap)$",
    # version managers
    r"\.(?:rbenv|rvm|asdf|pyenv|nvm|cargo|m2|gradle|nuget)/",
    # JavaScript; ~ is what old webpack calls node_modules
    r"node_modules/", r"~/", r"bower_components/", r"node:", r"_(?:http|stream|tls)_\w+\.js$",
    r"webpack/(?:bootstrap|runtime)", r"(?:chrome|moz|safari-web)-extension:",
    r"/(?:unpkg\.com|cdn\.jsdelivr\.net|cdnjs\.cloudflare\.com|www\.googletagmanager\.com)/",
    # PHP, Go and others
    r"vendor/", r"phpunit/",
    # Go
    r"goroot/", r"go/src/(?:runtime|net|reflect|testing|sync|internal|encoding|os|io|syscall)/",
    r"usr/(?:local|lib|share)/(?:lib/)?go(?:-[\d.]+)?/", r"libexec/src/", r"hostedtoolcache/go/",
    r"pkg/mod/", r"(?=[^/]+@v\d+\.\d+\.\d+[^/]*/)", r"gopkg\.in/", r"golang\.org/",
    r"google\.golang\.org/",
    # Rust and Elixir
    r"rustc[/-][\w.+-]{5,80}/", r"cargo/(?:registry|git)/",
    r"library/(?:core|std|alloc|test)/src/(?=[\w/]+\.rs$)",
    r"lib(?:core|std|alloc)/(?=[\w/]+\.rs$)",
    r"deps/(?=[^/]+/(?:lib|src)/.*\.(?:exs?|erl|[hl]?eex)$)",
    # Unity
    r"buildslave/unity/", r"unity\.app/", r"packagecache/",
)  # fmt: skip

# Whole paths, for runtimes that print their own files without a folder.
FILES = (
    r"internal/[\w/-]+\.js",
    r"(?:module|events|timers|fs|net|domain|vm|util|bootstrap_node|node|stream|assert)\.js",
    r"phar:.*",
)

# Beginnings of paths that are no files: "<frozen importlib>", "(eval)", "[native code]".
NO_FILE = ("<", "(", "[native", "native", "-e")

# fmt: off
# Packages of Python, for services that print paths relative to site-packages.
PYTHON_PACKAGES = (
    "_pytest", "aiohttp", "alembic", "anyio", "asgiref", "asyncio", "billiard", "boto3",
    "botocore", "celery", "click", "concurrent", "contextlib.py", "cherrypy", "dask", "django",
    "dramatiq", "eventlet", "fastapi", "flask", "flask_cors", "flask_login", "flask_restful",
    "flask_sqlalchemy", "functools.py", "gevent", "google", "grpc", "gunicorn", "httpcore",
    "httpx", "importlib", "jinja2", "json", "kombu", "marshmallow", "multiprocessing", "mysql",
    "numpy", "newrelic", "pandas", "peewee", "pip", "pkg_resources", "pluggy", "prefect",
    "psycopg", "psycopg2", "pydantic", "pymongo", "pymysql", "pytest", "raven", "redis",
    "requests", "rest_framework", "rq", "runpy.py", "scipy", "sentry_sdk", "socket.py",
    "sqlalchemy", "ssl.py", "starlette", "subprocess.py", "tenacity", "threading.py", "tornado",
    "twisted", "unittest", "urllib", "urllib2.py", "urllib3", "uvicorn", "uvloop", "waitress",
    "webob", "werkzeug", "wtforms", "xml", "zmq",
)

# First names of the packages of Go's standard library; paths of modules have a dot there.
GO_PACKAGES = (
    "archive", "bufio", "builtin", "bytes", "cmp", "compress", "container", "context", "crypto",
    "database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash",
    "html", "image", "index", "internal", "io", "iter", "log", "maps", "math", "mime", "net",
    "os", "path", "plugin", "reflect", "regexp", "runtime", "slices", "sort", "strconv",
    "strings", "sync", "syscall", "testing", "text", "time", "unicode", "unsafe", "vendor",
)

# Beginnings of class names of the JVM.
JAVA_CLASSES = (
    "akka.", "android.", "androidx.", "antlr.", "brave.", "ch.qos.", "clojure.", "com.android.",
    "com.codahale.", "com.fasterxml.", "com.google.", "com.mongodb.", "com.mysql.",
    "com.netflix.", "com.squareup.", "com.sun.", "com.typesafe.", "com.zaxxer.", "dalvik.",
    "feign.", "freemarker.", "graphql.", "groovy.", "groovyx.", "gw.lang.", "io.grpc.",
    "io.jsonwebtoken.", "io.ktor.", "io.lettuce.", "io.micrometer.", "io.micronaut.", "io.netty.",
    "io.opentelemetry.", "io.quarkus.", "io.reactivex.", "io.sentry.", "io.smallrye.",
    "io.undertow.", "io.vertx.", "jakarta.", "java.", "javafx.", "javassist.", "javax.", "jdk.",
    "jnr.", "junit.", "kotlin.", "kotlinx.", "libcore.", "liquibase.", "lombok.",
    "net.bytebuddy.", "net.sf.", "okhttp3.", "okio.", "oracle.", "org.apache.", "org.aspectj.",
    "org.codehaus.", "org.eclipse.", "org.elasticsearch.", "org.flywaydb.", "org.glassfish.",
    "org.gradle.", "org.h2.", "org.hibernate.", "org.hsqldb.", "org.infinispan.", "org.jboss.",
    "org.jdbi.", "org.jetbrains.", "org.joda.", "org.jooq.", "org.jruby.", "org.json.",
    "org.junit.", "org.mariadb.", "org.mockito.", "org.mortbay.", "org.mybatis.",
    "org.postgresql.", "org.quartz.", "org.redisson.", "org.scala.", "org.scalatest.",
    "org.slf4j.", "org.springframework.", "org.testng.", "org.thymeleaf.", "org.wildfly.",
    "org.xerial.", "org.xml.", "org.xnio.", "org.yaml.", "play.api.", "play.core.", "reactor.",
    "redis.clients.", "retrofit2.", "rx.", "sbt.", "scala.", "scalaz.", "slick.", "sun.", "sunw.",
    "worker.org.gradle.",
)

# Beginnings of class names of .NET.
CSHARP_CLASSES = (
    "(unknown)", "Amazon.", "Autofac.", "AutoMapper.", "Azure.", "Castle.", "Dapper.",
    "Elasticsearch.", "FluentAssertions.", "FluentValidation.", "Google.", "Grpc.", "Hangfire.",
    "HotChocolate.", "IdentityServer4.", "Jint.", "Lamar.", "log4net.", "Lucene.", "MassTransit.",
    "MediatR.", "Microsoft.", "Mono.", "MongoDB.", "Moq.", "MS.", "MySql.", "MySqlConnector.",
    "Nest.", "Newtonsoft.", "NHibernate.", "NLog.", "Npgsql.", "NServiceBus.", "NUnit.",
    "Oracle.", "Orleans.", "Owin.", "Polly.", "Quartz.", "RabbitMQ.", "RazorEngine.",
    "RestSharp.", "Rebus.", "Refit.", "Sentry.", "Serilog.", "ServiceStack.", "SixLabors.",
    "SQLitePCL.", "StackExchange.", "Swashbuckle.", "System.", "UnityEditor.", "UnityEngine.",
    "Windows.", "Xamarin.", "Xunit.",
)

# Beginnings of modules of Elixir: its own, and libraries; those of Erlang begin with a colon.
ELIXIR_MODULES = (
    ":", "Absinthe.", "Access.", "Agent.", "Ash.", "Bamboo.", "Bandit.", "Broadway.", "Calendar.",
    "Collectable.", "Commanded.", "Cowboy.", "DBConnection.", "Date.", "DateTime.",
    "DynamicSupervisor.", "EEx.", "Ecto.", "Enum.", "Enumerable.", "ExAws.", "ExUnit.", "File.",
    "Finch.", "Floki.", "GenServer.", "GenStage.", "Gettext.", "Guardian.", "HTTPoison.", "IEx.",
    "IO.", "Inspect.", "Integer.", "Jason.", "Kernel.", "Keyword.", "List.", "Logger.", "Macro.",
    "Map.", "MapSet.", "Mint.", "Mix.", "Module.", "MyXQL.", "NaiveDateTime.", "Nebulex.",
    "NimblePool.", "Oban.", "Phoenix.", "Plug.", "Poison.", "Postgrex.", "Process.", "Protocol.",
    "Quantum.", "Range.", "Redix.", "Regex.", "Registry.", "Req.", "Stream.", "String.",
    "Supervisor.", "Surface.", "Swoosh.", "System.", "Task.", "Tesla.", "ThousandIsland.", "Time.",
    "Timex.", "Tuple.", "URI.", "Version.", "WebSockAdapter.",
)

# Which frames a tracker calls the application's own, said in a text for its frames.
#
# Records whose frames come as objects carry it; the lines that say it are not shown to people.

_ROW = re.compile(r" {4}in app\| (?P<path>.{1,1500}):(?P<line>\d{1,9})$")
_SCHEME = re.compile(r"(?:file://|webpack:///)?(?:\./)?")

Place = tuple[str, int]  # path as printed, without a scheme; line, 0 where none is known


def own_row(path: str, line: int) -> str:
    """Write a place so that `own_places_in` knows it again.

    >>> own_row("/srv/cart.rb", 7)
    '    in app| /srv/cart.rb:7'
    """
    return f"    in app| {path}:{line}"


def own_places_in(lines: Sequence[str]) -> tuple[tuple[str, ...], frozenset[Place]]:
    """Split a text into what is no such row, and the places that the rows name.

    >>> own_places_in(("E: no", own_row("./a.rb", 7)))
    (('E: no',), frozenset({('a.rb', 7)}))
    """
    kept: list[str] = []
    places: set[Place] = set()
    for text in lines:
        row = _ROW.match(text)
        if row:
            places.add((_bare(row["path"]), int(row["line"])))
        else:
            kept.append(text)
    return tuple(kept), frozenset(places)


def without_own_rows(raw: str) -> str:
    """Leave out of a text the rows that `own_row` wrote."""
    if "    in app| " not in raw:
        return raw
    return "\n".join(item for item in raw.split("\n") if not _ROW.match(item))


def is_at(frame: Frame, places: frozenset[Place]) -> bool:
    """Tell whether a frame stands at one of the places."""
    return (_bare(frame.path), frame.line or 0) in places


def _bare(path: str) -> str:
    return path[_SCHEME.match(path).end() :]  # type: ignore[union-attr]  # matches every text

UNKNOWN_PATH = "<unknown>"  # the path of a frame whose file the trace does not print

# A lookahead, because folders overlap: "/lib/python3/dist-packages/" names two.
_FOLDER = re.compile(rf"/(?=({'|'.join(FOLDERS)}))", re.IGNORECASE)
_FILE = re.compile("|".join(FILES))
_LIBRARY_CLASSES = {
    "java": JAVA_CLASSES,
    "csharp": CSHARP_CLASSES,
    "elixir": ELIXIR_MODULES,
}
_RELATIVE_PACKAGES = {"python": frozenset(PYTHON_PACKAGES)}
_GO_PACKAGES = frozenset(GO_PACKAGES)


def is_own(frame: Frame, language: str) -> bool:
    """Tell whether a frame is the application's, as far as tables of libraries tell.

    >>> is_own(Frame(path="/srv/shop/app/cart.rb"), "ruby")
    True
    >>> is_own(Frame(path="/usr/lib/ruby/3.3.0/set.rb"), "ruby")
    False
    """
    if frame.path.startswith(NO_FILE) and frame.path != UNKNOWN_PATH:
        return False
    if language in _LIBRARY_CLASSES:
        classes = frame.module.removeprefix("None.")
        is_named = bool(classes) or language == "elixir"  # which prints scripts and tests without
        if not is_named or f"{classes}.".startswith(_LIBRARY_CLASSES[language]):
            return False
    if language == "go" and _is_go_library(frame):
        return False
    if frame.path.partition("/")[0] in _RELATIVE_PACKAGES.get(language, ()):
        return False
    return not (_FILE.fullmatch(frame.path) or _FOLDER.search(_slashed(frame.path)))


def lies_elsewhere(frame: Frame, language: str) -> bool:
    """Tell whether the path itself leads to other people's files, whatever the repository holds.

    Tables of packages and classes may be wrong about the one application that makes such a
    library; folders are not. `~/` is a home folder, except where webpack means node_modules.

    >>> lies_elsewhere(Frame(path="~/shop/app/cart.rb"), "ruby")
    False
    >>> lies_elsewhere(Frame(path="~/.rbenv/versions/3.3.0/cart.rb"), "ruby")
    True
    """
    if frame.path.startswith(NO_FILE):
        return True
    path = frame.path if language == "javascript" else frame.path.removeprefix("~/")
    return bool(_FILE.fullmatch(path) or _FOLDER.search(_slashed(path)))


def _is_go_library(frame: Frame) -> bool:
    if frame.module == "" and frame.function == "panic":
        return True
    package = frame.module
    if package.partition("/")[0] not in _GO_PACKAGES:
        return False
    return f"/{package}/" in _slashed(frame.path)


def belongs(frame: Frame, app_prefixes: tuple[str, ...]) -> bool:
    """Tell whether a frame lies under one of the prefixes that the owner of an application gave.

    >>> belongs(Frame(path="/usr/lib/python3/dist-packages/shop/cart.py"), ("shop",))
    True
    >>> belongs(Frame(path="/srv/node_modules/dep/src/a.js"), ("src/",))
    False
    """
    path = _slashed(frame.path)
    library_end = max((match.end(1) for match in _FOLDER.finditer(path)), default=0)
    return any(
        frame.module.removeprefix("None.").startswith(prefix)
        or _lies_under(path, library_end, _slashed(prefix))
        for prefix in app_prefixes
        if prefix
    )


def _lies_under(path: str, library_end: int, prefix: str) -> bool:
    """Inside of a library's folder only that library itself may be meant."""
    if library_end:
        starts_inside = path.startswith(prefix, library_end - 1)
        return starts_inside or (path.startswith(prefix) and len(prefix) > library_end)
    return prefix in path


def _slashed(path: str) -> str:
    path = path.replace("\\", "/").removeprefix("./")
    return path if path.startswith("/") else f"/{path}"


def mark(
    chain: tuple[ExceptionLink, ...],
    language: str,
    app_prefixes: tuple[str, ...],
    own_places: frozenset[Place] = frozenset(),
) -> tuple[ExceptionLink, ...]:
    """Return links whose frames say whether they are the application's.

    Prefixes decide alone where one of them fits; where none does they were meant for other code.
    Then a tracker's `own_places` do, and the tables of libraries where it names none.
    """
    frames = [frame for link in chain for frame in link.frames]
    by_prefix = any(belongs(frame, app_prefixes) for frame in frames)
    by_place = any(is_at(frame, own_places) for frame in frames)
    no_files = all(frame.path == UNKNOWN_PATH for frame in frames)

    def marked(link: ExceptionLink) -> ExceptionLink:
        handling = frames_of_panic(link) if language == "go" else 0
        return link.model_copy(
            update={
                "frames": tuple(
                    decided(frame) if index >= handling else frame
                    for index, frame in enumerate(link.frames)
                )
            }
        )

    def decided(frame: Frame) -> Frame:
        if frame.path == UNKNOWN_PATH and not no_files:
            return frame  # leads nowhere while other frames have a file
        if by_prefix:
            own = belongs(frame, app_prefixes)
        else:
            own = is_at(frame, own_places) if by_place else is_own(frame, language)
        return frame.model_copy(update={"in_app": own})

    return tuple(marked(link) for link in chain)


def frames_of_panic(link: ExceptionLink) -> int:
    """Count how many innermost frames only handle the panic: deferred functions, panic itself.

    >>> inner, outer = Frame(path="/go/panic.go", function="panic"), Frame(path="/srv/cart.go")
    >>> frames_of_panic(ExceptionLink(frames=(inner, outer)))
    1
    """
    handling = [
        index
        for index, frame in enumerate(link.frames)
        if frame.function == "panic" and frame.module in ("", "runtime")
    ]
    return handling[-1] + 1 if handling else 0
