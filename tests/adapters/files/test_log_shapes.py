"""Logs in the shapes that platforms and loggers give them, one file each (`logs/`)."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from nightwatch_core.adapters.files.file_reader import FileReader
from nightwatch_core.models.error import Occurrence, RejectedRecord
from nightwatch_core.models.trace import ExceptionLink
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
    "azure_container.json": (Seen(*NONE, "10:23:01", *NONE_TOP, *POD),),
    "bunyan.jsonl": (Seen(*TYPE, "10:38:00.123000", *TYPE_TOP, "shop-api", "web-1"),),
    "cloudwatch_console.json": (Seen(*KEY, "10:04:00.250000", *KEY_TOP, "shop-web", "11aa"),),
    "cloudwatch_filter.json": (Seen(*KEY, "10:00:01", *KEY_TOP, "", "11aa"),),
    "cloudwatch_insights.json": (Seen(*KEY, "10:04:00.250000", *KEY_TOP, "shop-web", "11aa"),),
    "cloudwatch_lambda_python.json": (
        Seen(*KEY, "10:01:00.002000", "/var/task/shop/cart.py:17", 2),
    ),
    "cloudwatch_s3.log": (Seen(*KEY, "10:06:01", *KEY_TOP),),
    "cloudwatch_subscription.json": (
        Seen(*TYPE, "10:02:00.500000", "/var/task/src/cart.js:33", 3, "checkout"),
    ),
    "cloudwatch_tail.log": (Seen(*EMPTY, "10:03:01", "Cart.java:58", 2),),
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
    "docker.log": (Seen(*KEY, "10:00:01", *KEY_TOP),),
    "docker_over_pino.log": (
        Seen(*TYPE, "10:05:00.123000", *TYPE_TOP, "shop-api", "web-1", "", "POST /orders/77/pay"),
    ),
    "docker_partial.log": (Seen("ValueError", LONG, "10:05:00", "/srv/shop/orders/cart.py:20", 1),),
    "ecs.jsonl": (Seen(*EMPTY, "10:32:00", *EMPTY_TOP, "billing", "web-1", "5.0.2", "POST /pay"),),
    "fluent_bit.jsonl": (Seen(*TYPE, "10:30:01", *TYPE_TOP, *POD, "2.4.1"),),
    "gcp_lines.jsonl": (Seen(*TYPE, "10:21:01.500000", *TYPE_TOP, *GCP),),
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
    "lambda.jsonl": (
        Seen(*KEY, "10:07:01", "/var/task/shop/cart.py:17", 2),
        Seen(*TYPE, "10:07:02", *TYPE_TOP),
    ),
    "logcli.jsonl": (Seen(*EMPTY, "10:25:01", *EMPTY_TOP, *POD),),
    "lograge.jsonl": (
        Seen(*EMPTY_RUBY, "10:44:00", *RUBY_TOP, "", "web-1", "", "OrdersController#show"),
    ),
    "logstash.jsonl": (Seen(*EMPTY, "10:33:00", *EMPTY_TOP, "billing", "web-1"),),
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
    "structlog.jsonl": (
        Seen(*KEY, "10:36:00", *KEY_TOP),
        Seen(*KEY, "10:36:02", *KEY_TOP),
    ),
    "vector.jsonl": (Seen(*KEY, "10:31:01.300000", *KEY_TOP, *POD, "2.4.1"),),
    "winston.jsonl": (
        Seen(*TYPE, "10:39:00.123000", *TYPE_TOP, "shop-api"),
        Seen(*TYPE, "10:39:01", *TYPE_TOP),
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
    "zerolog.jsonl": (Seen(*LOGGED, "10:42:00", "cart.go:58", 2),),
}


def read(path: Path) -> list[object]:
    return list(FileReader(path.name, exception_of).entries(path))


def exception_of(raw: str) -> ExceptionLink:
    trace = parse(raw)
    reported = trace.links[0] if trace.links else ExceptionLink()
    return reported.model_copy(update={"frames": trace.frames[:1]})


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
def test_every_shape_is_read(name: str) -> None:
    entries = read(LOGS / name)
    assert tuple(seen(one) for one in entries if isinstance(one, Occurrence)) == EXPECTED[name]
    assert not [one for one in entries if isinstance(one, RejectedRecord | str)]


def test_every_file_is_expected() -> None:
    assert {path.name for path in LOGS.iterdir()} == set(EXPECTED)
