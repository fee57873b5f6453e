"""Logs in the shapes that platforms and loggers give them, one file each (`logs/`)."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from error_records import entries_of

from nightwatch_core.models.errors import Occurrence, RejectedRecord
from nightwatch_core.traces.parsing import parse

LOGS = Path(__file__).parent / "logs"
DAY = datetime(2026, 11, 3, tzinfo=UTC)


class Seen(NamedTuple):
    """What a night knows of one record."""

    error_class: str
    message: str
    time: str  # on DAY, in UTC; empty: none is known
    top: str
    frames: int
    app: str = ""
    host: str = ""
    release: str = ""
    transaction: str = ""


KEY = ("KeyError", "'sku-881'")
KEY_TOP = ("/srv/shop/orders/cart.py:17", 2)
EMPTY = ("org.shop.billing.EmptyCartException", "cart 4711 has no lines")
EMPTY_TOP = ("Cart.java:58", 3)
TYPE = ("TypeError", "Cannot read properties of undefined (reading 'price')")
TYPE_TOP = ("/srv/shop/src/cart.js:33", 3)
NONE = ("System.InvalidOperationException", "Sequence contains no elements")
NONE_TOP = ("/src/Shop/Billing/Cart.cs:64", 2)
EMPTY_RUBY = ("Cart::Empty", "cart 4711 has no lines")
RUBY_TOP = ("app/models/cart.rb:31", 2)
LOGGED = ("logged error", "cannot pay: cart 4711 has no lines")
GCP = ("shop-web", "0069c7a9888c3f29", "shop-web-00123-kl6")
POD = ("shop-web", "shop-web-7d9f")
LONG = "cart " + "x" * 1_983  # what is looked at of one line

EXPECTED: dict[str, tuple[Seen, ...]] = {
    "aws_powertools.json": (Seen(*KEY, "10:00:00.123000", *KEY_TOP, "payment"),),
    "azure_container.json": (Seen(*NONE, "10:23:01", *NONE_TOP, *POD),),
    "bunyan.jsonl": (Seen(*TYPE, "10:38:00.123000", *TYPE_TOP, "shop-api", "web-1"),),
    "cloudwatch_console.csv": (Seen(*KEY, "10:00:00.001000", *KEY_TOP),),
    "cloudwatch_console.json": (Seen(*KEY, "10:04:00.250000", *KEY_TOP, "shop-web", "11aa"),),
    "cloudwatch_filter.json": (
        Seen(*KEY, "10:00:01", *KEY_TOP, "", "11aa"),
        Seen(*KEY, "10:00:04", KEY_TOP[0], 1, "", "22bb"),  # began before the events did
    ),
    "cloudwatch_insights.csv": (Seen(*KEY, "10:04:00.250000", *KEY_TOP),),
    "cloudwatch_insights.json": (Seen(*KEY, "10:04:00.250000", *KEY_TOP, "shop-web", "11aa"),),
    "cloudwatch_insights_newest_first.json": (Seen(*EMPTY, "10:04:01", *EMPTY_TOP),),
    "cloudwatch_lambda_lines.json": (
        Seen("ValueError", "bad\nsecond line", "10:00:01", "/var/task/a.py:3", 1),
        Seen(
            "Runtime.ImportModuleError",
            "Unable to import module 'app': No module named 'requests'",
            "10:00:02",
            "",
            0,
        ),
        Seen("Sandbox.Timedout", "Task timed out after 3.00 seconds", "10:00:06", "", 0),
        Seen("Runtime.ExitError", "Runtime exited with error: signal: killed", "10:00:07", "", 0),
        Seen(*KEY, "10:00:00", *KEY_TOP),
        Seen(*TYPE, "10:00:03", *TYPE_TOP),
        Seen(*TYPE, "10:00:04", *TYPE_TOP),
        Seen("Error", "boom", "10:00:05", "/var/task/index.js:3", 1),
    ),
    "cloudwatch_lambda_python.json": (
        Seen(*KEY, "10:01:00.002000", "/var/task/shop/cart.py:17", 2),
    ),
    "cloudwatch_s3.log": (Seen(*KEY, "10:06:01", *KEY_TOP),),
    "cloudwatch_subscription.json": (
        Seen(*TYPE, "10:02:00.500000", "/var/task/src/cart.js:33", 3, "checkout"),
    ),
    "cloudwatch_tail.log": (Seen(*EMPTY, "10:03:01", "Cart.java:58", 2),),
    "cloudwatch_tail_python.log": (Seen(*KEY, "10:03:00", "/var/task/handler.py:12", 1),),
    "compose.log": (
        Seen(*KEY, "10:12:00", *KEY_TOP, "web"),
        Seen(*EMPTY, "", *EMPTY_TOP, "worker"),
    ),
    "cri.log": (
        Seen(*EMPTY, "10:10:01", *EMPTY_TOP),
        Seen(
            "org.shop.billing.GoneException",
            "order 12 is gone",
            "10:10:02.000100",
            "Orders.java:7",
            1,
        ),
    ),
    "cri_json.log": (Seen("TypeError", "m", "10:00:00.100000", *TYPE_TOP),),
    "docker.log": (Seen(*KEY, "10:00:01", *KEY_TOP),),
    "docker_json_in_json.log": (Seen("ValueError", "x", "10:00:00", *KEY_TOP),),
    "docker_over_pino.log": (
        Seen(*TYPE, "10:05:00.123000", *TYPE_TOP, "shop-api", "web-1", "", "POST /orders/77/pay"),
    ),
    "docker_partial.log": (Seen("ValueError", LONG, "10:05:00", "/srv/shop/orders/cart.py:20", 1),),
    "dotnet.jsonl": (Seen(*NONE, "10:00:00", *NONE_TOP),),
    "ecs.jsonl": (Seen(*EMPTY, "10:32:00", *EMPTY_TOP, "billing", "web-1", "5.0.2", "POST /pay"),),
    "escaped_newlines.jsonl": (Seen(*KEY, "10:00:00", *KEY_TOP),),
    "fluent_bit.jsonl": (Seen(*TYPE, "10:30:01", *TYPE_TOP, *POD, "2.4.1"),),
    "gcp.csv": (Seen(*KEY, "10:20:01.523504", *KEY_TOP, "shop"),),
    "gcp_lines.jsonl": (Seen(*TYPE, "10:21:01.500000", *TYPE_TOP, *GCP),),
    "gcp_newest_first.jsonl": (Seen(*TYPE, "10:21:01.500000", *TYPE_TOP, "s"),),
    "gcp_payload.jsonl": (
        Seen(*EMPTY, "10:22:00", *EMPTY_TOP, *GCP),
        Seen(*NONE, "10:22:02", *NONE_TOP, *GCP),
        Seen(*TYPE, "10:22:01", *TYPE_TOP, "shop-api", "0069c7a9888c3f29", "v31", "POST /pay"),
        Seen(
            "panic",
            "runtime error: index out of range [3] with length 3",
            "10:22:04",
            "/srv/shop/cart.go:88",
            2,
            *GCP,
        ),
    ),
    "gcp_text.json": (Seen(*KEY, "10:20:01.523504", *KEY_TOP, *GCP, "GET /orders/7"),),
    "grafana.csv": (Seen(*KEY, "10:00:00.001000", *KEY_TOP, "shop"),),
    "grafana.json": (Seen(*KEY, "10:26:00.001000", *KEY_TOP, *POD),),
    "grafana.txt": (Seen(*KEY, "10:27:01", *KEY_TOP),),
    "heroku.log": (
        Seen(
            "NoMethodError", "undefined method 'price' for nil", "10:50:01", *RUBY_TOP, "", "web.1"
        ),
    ),
    "journald.jsonl": (
        Seen(*KEY, "10:28:00.001000", *KEY_TOP, "shop-web", "web-3"),
        Seen(*EMPTY, "10:28:00.021000", *EMPTY_TOP, "shop-billing", "web-3"),
    ),
    "journald.log": (Seen(*KEY, "10:00:01", *KEY_TOP, "gunicorn", "web-1"),),
    "kibana.jsonl": (Seen(*EMPTY, "10:00:00", *EMPTY_TOP, "shop", "p1"),),
    "kubectl_prefix.log": (Seen(*KEY, "", *KEY_TOP, "web", "shop-7d9f"),),
    "lambda.jsonl": (
        Seen(*KEY, "10:07:01", "/var/task/shop/cart.py:17", 2),
        Seen(*TYPE, "10:07:02", *TYPE_TOP),
    ),
    "lambda_payloads.jsonl": (
        Seen("KeyError", "key not found: :a", "", "/var/task/app.rb:5", 2),
        Seen("org.shop.Empty", "cart", "", "Cart.java:58", 2),
        Seen("KeyError", "'x'", "", "/var/task/b.py:3", 2),
        Seen("TypeError", "m", "", "/var/task/index.js:3", 1),
    ),
    "levels_alone.jsonl": (
        Seen("logged error", "lost connection", "10:00:00", "", 0),
        Seen("logged error", "just words", "", "", 0),
        Seen("logged error", "request done", "", "", 0, "", "", "", "/x"),
        Seen("logged error", "oh", "10:00:00", "", 0),
    ),
    "log15.jsonl": (Seen(*LOGGED, "10:05:01.001000", "", 0),),
    "log4j2.jsonl": (Seen("org.shop.Empty", "cart", "10:00:00", "Cart.java:58", 1),),
    "log4j2_millis.jsonl": (Seen("org.shop.Empty", "cart", "10:05:00.001000", "Cart.java:58", 1),),
    "logback_json.jsonl": (Seen("org.shop.Empty", "cart", "10:00:00.123000", "Cart.java:58", 1),),
    "logcli.jsonl": (Seen(*EMPTY, "10:25:01", *EMPTY_TOP, *POD),),
    "lograge.jsonl": (
        Seen(*EMPTY_RUBY, "10:44:00", *RUBY_TOP, "", "web-1", "", "OrdersController#show"),
    ),
    "logrus.jsonl": (
        Seen("logged error", "cannot pay: no lines", "10:00:00", "/srv/shop/pay.go:7", 1),
    ),
    "logstash.jsonl": (Seen(*EMPTY, "10:33:00", *EMPTY_TOP, "billing", "web-1"),),
    "loguru.jsonl": (Seen(*KEY, "10:00:00", *KEY_TOP),),
    "loki.json": (
        Seen(*EMPTY, "10:24:01", *EMPTY_TOP, "shop-worker", "shop-worker-1"),
        Seen(*KEY, "10:24:00.001000", *KEY_TOP, *POD),
    ),
    "monolog.jsonl": (
        Seen(
            "Shop\\Billing\\EmptyCart",
            "cart 4711 has no lines",
            "10:45:00.123456",
            "/srv/shop/src/Billing/Cart.php:58",
            3,
        ),
    ),
    "papertrail.log": (Seen(*KEY, "10:51:01", *KEY_TOP, "shop", "web-1"),),
    "pino.jsonl": (
        Seen(*TYPE, "10:05:00.123000", *TYPE_TOP, "shop-api", "web-1", "", "POST /orders/77/pay"),
    ),
    "python_json_logger.jsonl": (
        Seen(*KEY, "10:37:00.250000", *KEY_TOP),
        Seen(*KEY, "10:37:01.250000", *KEY_TOP),
    ),
    "quarkus.jsonl": (Seen("org.shop.Empty", "cart", "10:00:00", "<unknown>:58", 1),),
    "rust_tracing.jsonl": (
        Seen("logged error", "cannot pay: no lines", "10:00:00", "src/cart.rs:7", 1),
    ),
    "semantic_logger.jsonl": (
        Seen(
            *EMPTY_RUBY, "10:43:00.123456", *RUBY_TOP, "shop", "web-1", "", "OrdersController#show"
        ),
    ),
    "serilog.jsonl": (Seen(*NONE, "10:35:00.123456", *NONE_TOP, "billing", "web-1", "", "/pay"),),
    "serilog_compact.jsonl": (
        Seen(*NONE, "10:34:00.123456", *NONE_TOP, "billing", "web-1", "", "/pay"),
    ),
    "slog.jsonl": (Seen(*LOGGED, "10:41:00.123456", "/srv/shop/billing/checkout.go:112", 1),),
    "splunk.jsonl": (Seen(*KEY, "10:00:00", *KEY_TOP, "python", "web-1"),),
    "structlog.jsonl": (Seen(*KEY, "10:36:00", *KEY_TOP), Seen(*KEY, "10:36:02", *KEY_TOP)),
    "syslog_drain.log": (Seen(*TYPE, "09:00:01.500000", *TYPE_TOP, "app", "host"),),
    "vector.jsonl": (Seen(*KEY, "10:31:01.300000", *KEY_TOP, *POD, "2.4.1"),),
    "winston.jsonl": (
        Seen(*TYPE, "10:39:00.123000", *TYPE_TOP, "shop-api"),
        Seen(*TYPE, "10:39:01", *TYPE_TOP),
    ),
    "words_before.jsonl": (
        Seen("java.lang.IllegalStateException", "bad", "10:00:00", "Cart.java:58", 2),
        Seen(*TYPE, "10:00:01", *TYPE_TOP),
        Seen(*EMPTY, "10:00:02", *EMPTY_TOP),
        Seen(*TYPE, "10:00:03", *TYPE_TOP),
        Seen("Shop\\Empty", "no lines", "10:00:04", "/srv/a.php:12", 2),
        Seen("Shop::Empty", "none", "10:00:05", *RUBY_TOP),
        Seen(
            "panic",
            "runtime error: index out of range [3] with length 3",
            "10:00:06",
            "/srv/shop/cart.go:88",
            2,
        ),
        Seen(*KEY, "10:00:07", *KEY_TOP),
        Seen(*NONE, "10:00:08", *NONE_TOP),
    ),
    "zap.jsonl": (
        Seen(*LOGGED, "10:40:00.250000", "/srv/shop/billing/cart.go:58", 2),
        Seen(
            "logged error",
            "cannot pay: dial tcp 10.0.0.1:5432: connect: connection refused",
            "10:40:01.250000",
            "billing/checkout.go:113",
            1,
        ),
    ),
    "zap_console.log": (
        Seen(*LOGGED, "10:50:02.123000", "", 0),
        Seen(*LOGGED, "10:50:01.123000", "controller/cart.go:58", 1),
    ),
    "zerolog.jsonl": (Seen(*LOGGED, "10:42:00", "cart.go:58", 2),),
}


def of_2026(path: Path, folder: Path) -> Path:
    """A copy written in the year of its times, which some of them do not say."""
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    written = (DAY + timedelta(days=9)).timestamp()
    os.utime(copy, (written, written))
    return copy


def seen(one: Occurrence) -> Seen:
    at = one.last_seen
    trace = parse(one.stacktrace)
    return Seen(
        one.error_class,
        one.message,
        at.isoformat().removeprefix(f"{DAY:%Y-%m-%dT}").removesuffix("+00:00") if at else "",
        trace.links[0].frames[0].place if trace.links and trace.links[0].frames else "",
        len(trace.frames),
        one.app,
        one.host,
        one.release,
        one.transaction,
    )


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_shape_is_read(tmp_path: Path, name: str) -> None:
    entries = entries_of(of_2026(LOGS / name, tmp_path))
    read = [seen(one) for one in entries if isinstance(one, Occurrence)]
    assert sorted(read) == sorted(EXPECTED[name])
    assert not [one for one in entries if isinstance(one, RejectedRecord | str)]


def test_every_file_is_expected() -> None:
    assert {path.name for path in LOGS.iterdir()} == set(EXPECTED)
