"""What belongs to libraries, runtimes and tools: tables for in_app.py."""

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
# fmt: on
