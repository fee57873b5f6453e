import base64
import json
import pickle
from datetime import timedelta
from pathlib import Path

import pytest
from prefect.filesystems import LocalFileSystem
from prefect.results import ResultStore

from tasks.records import PrefectRecords


def test_what_was_put_is_there_in_another_process(tmp_path: Path) -> None:
    PrefectRecords(tmp_path).put("talks/night/a", "said")
    assert PrefectRecords(tmp_path).get("talks/night/a") == "said"
    assert PrefectRecords(tmp_path).get("talks/night/b") is None


def test_an_expired_record_is_gone(tmp_path: Path) -> None:
    PrefectRecords(tmp_path, keep=timedelta(seconds=-1)).put("k", "old")
    assert PrefectRecords(tmp_path).get("k") is None


def test_a_record_is_prefects_own(tmp_path: Path) -> None:
    PrefectRecords(tmp_path).put("code/a__b/c/read-d", '"said"')
    storage = LocalFileSystem(basepath=str(tmp_path))
    record = ResultStore(result_storage=storage).read("code/a__b/c/read-d")
    assert record.result == '"said"'
    assert record.serializer.type == "json"
    assert record.metadata.expiration is not None


def test_a_record_torn_anywhere_counts_as_absent(tmp_path: Path) -> None:
    records = PrefectRecords(tmp_path)
    records.put("code/a", "said")
    file = tmp_path / "code/a"
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert records.get("code/a") is None
    file.write_bytes(whole)
    assert records.get("code/a") == "said"


def test_a_record_is_never_unpickled(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return Path.touch, (tmp_path / "sprung",)

    pickled = base64.b64encode(pickle.dumps(Trap())).decode()
    expiration = "2999-01-01T00:00:00Z"
    metadata = {"expiration": expiration, "serializer": {"type": "pickle"}}
    (tmp_path / "a").write_text(json.dumps({"metadata": metadata, "result": pickled}))
    assert PrefectRecords(tmp_path).get("a") is None
    assert not (tmp_path / "sprung").exists()


def test_a_record_that_cannot_be_written_is_no_failure(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "code").write_text("in the way")
    PrefectRecords(tmp_path).put("code/a", "said")
    assert PrefectRecords(tmp_path).get("code/a") is None
    assert "could not be kept" in caplog.text
