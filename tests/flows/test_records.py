from datetime import timedelta
from pathlib import Path

import pytest

from tasks.records import PrefectRecords


def test_what_was_put_is_there_in_another_process(tmp_path: Path) -> None:
    PrefectRecords(tmp_path).put("turns/night/a", "said")
    assert PrefectRecords(tmp_path).get("turns/night/a") == "said"
    assert PrefectRecords(tmp_path).get("turns/night/b") is None


def test_an_expired_record_is_gone(tmp_path: Path) -> None:
    PrefectRecords(tmp_path, keep=timedelta(seconds=-1)).put("k", "old")
    assert PrefectRecords(tmp_path).get("k") is None


@pytest.mark.parametrize("damage", [b"", b"{", b"garbage", b'{"result": 1}'])
def test_a_damaged_record_counts_as_absent(tmp_path: Path, damage: bytes) -> None:
    PrefectRecords(tmp_path).put("turns/a", "said")
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    file.write_bytes(damage)
    assert PrefectRecords(tmp_path).get("turns/a") is None
