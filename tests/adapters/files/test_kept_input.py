import os
from io import BytesIO
from pathlib import Path

import pytest

from nightwatch_core.adapters.files.limits import PASTE_LIMIT
from nightwatch_core.adapters.files.source import keep_pasted, keep_stream
from nightwatch_core.errors import StopTheNight

RECORD = '{"error_class": "KeyError", "message": "größe"}'


def test_a_record_becomes_a_file_of_its_own(tmp_path):
    path = keep_pasted(RECORD, tmp_path / "pasted")
    assert (path.read_text(), path.stat().st_mode & 0o777) == (RECORD, 0o600)
    assert path.parent == tmp_path / "pasted"
    assert keep_pasted(RECORD, tmp_path / "pasted") == path
    assert keep_pasted(RECORD + " ", tmp_path / "pasted") != path


@pytest.mark.parametrize("text", ["", " \n\t", "x" * (PASTE_LIMIT + 1)])
def test_nothing_and_too_much_stop_it(text, tmp_path):
    with pytest.raises(StopTheNight, match="paste one record"):
        keep_pasted(text, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_no_text_are_no_accident(tmp_path):
    path = keep_pasted("KeyError \udcff\ud800", tmp_path)
    assert path.read_text().startswith("KeyError ")


def test_the_same_input_is_kept_once(tmp_path):
    folder = tmp_path / "input"
    path = keep_stream(BytesIO(b"a" * 3_000_000), folder)
    assert path.read_bytes() == b"a" * 3_000_000
    assert keep_stream(BytesIO(b"a" * 3_000_000), folder) == path
    assert keep_stream(BytesIO(b"b"), folder) != path
    assert len(list(folder.iterdir())) == 2


def test_input_that_is_empty_or_endless_is_refused(tmp_path):
    with pytest.raises(StopTheNight, match="the input is empty"):
        keep_stream(BytesIO(b""), tmp_path)
    with Path("/dev/zero").open("rb") as endless, pytest.raises(StopTheNight, match="longer than"):
        keep_stream(endless, tmp_path, most=5_000_000)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    with pytest.raises(StopTheNight, match="NIGHTWATCH_STATE"):
        keep_stream(BytesIO(b"x"), tmp_path / "file" / "input")


def test_input_of_long_ago_is_deleted(tmp_path):
    old, new = (keep_stream(BytesIO(text), tmp_path) for text in (b"old", b"new"))
    os.utime(old, (0, 0))
    keep_stream(BytesIO(b"third"), tmp_path)
    assert new.exists()
    assert not old.exists()
