import pytest

from nightwatch_core.adapters.files.kept_input import keep_pasted
from nightwatch_core.adapters.files.limits import PASTE_LIMIT
from nightwatch_core.errors import StopTheNight

RECORD = '{"error_class": "KeyError", "message": "größe"}'


def test_a_record_becomes_a_file_of_its_own(tmp_path):
    path = keep_pasted(RECORD, tmp_path / "pasted")
    assert path.read_text() == RECORD
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


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StopTheNight, match="NIGHTWATCH_STATE"):
        keep_pasted(RECORD, tmp_path / "file" / "pasted")
