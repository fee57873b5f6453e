"""Logs in the shapes of platforms and loggers, one file each (`logs/`), and their errors."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
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


EXPECTED = {
    name: sorted(Seen(**row) for row in rows)
    for name, rows in yaml.safe_load((LOGS.with_name("expected_logs.yml")).read_text()).items()
}


def of_2026(path, folder):
    """A copy written in the year of its times, which some of them do not say."""
    copy = folder / path.name
    copy.write_bytes(path.read_bytes())
    written = (DAY + timedelta(days=9)).timestamp()
    os.utime(copy, (written, written))
    return copy


def seen(one):
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
def test_every_shape_is_read(tmp_path, name):
    entries = entries_of(of_2026(LOGS / name, tmp_path))
    read = [seen(one) for one in entries if isinstance(one, Occurrence)]
    assert sorted(read) == EXPECTED[name]
    assert not [one for one in entries if isinstance(one, RejectedRecord | str)]


def test_every_file_is_expected():
    assert {path.name for path in LOGS.iterdir()} == set(EXPECTED)
