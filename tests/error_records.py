"""Invented records of errors, and the shortest way to read them from a file."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from nightwatch_core.adapters.files.occurrences import Entry, FileReader
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.models.errors import ErrorGroup, ExceptionLink, Fetched
from nightwatch_core.traces.parsing import parse

NOW = datetime(2026, 11, 20, tzinfo=UTC)
EPOCH_MS = 1_793_700_000_000  # 2026-11-03 10:00 UTC
AT = datetime(2026, 11, 3, 10, tzinfo=UTC)
RUBY = "app/models/order.rb:12:in `total'\napp/controllers/orders_controller.rb:5:in `show'"
PYTHON = (
    'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 7, in total\n'
    "    return prices[name]\nKeyError: 'total'"
)


def written(folder: Path, content: str | bytes, name: str = "errors.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def json_lines(records: Iterable[object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def groups_of(files: ErrorFiles, since: datetime | None, now: datetime) -> Fetched:
    """What files hold, as far back from `now` as `since`."""
    return files.error_groups(files.window(None if since is None else now - since, now))


def entries_of(path: Path) -> list[Entry]:
    """Every entry of one file."""
    return list(FileReader(path.name, exception_of).entries(path))


def exception_of(raw: str) -> ExceptionLink:
    """The exception that a raw stack trace reports, and one of its frames."""
    trace = parse(raw)
    reported = trace.links[0] if trace.links else ExceptionLink()
    return reported.model_copy(update={"frames": trace.frames[:1]})


def fetched(path: Path, since: datetime | None = None) -> Fetched:
    return groups_of(ErrorFiles((path,)), since, NOW)


def only(path: Path) -> ErrorGroup:
    groups = fetched(path).groups
    assert len(groups) == 1, groups
    return groups[0]


FULL = {
    "timestamp": EPOCH_MS,
    "error.class": "Shop::Empty",
    "error.message": "no order 17",
    "transactionName": "Controller/orders/show",
    "appName": "shop",
    "host": "web-1",
    "enduser.id": 7,
    "service.version": "2.1",
    "error.stack_trace": RUBY,
}
