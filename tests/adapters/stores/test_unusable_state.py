"""A state folder that nothing can be kept in is refused in a sentence, before anything is paid."""

import sys

import pytest

from nightwatch_core.adapters.stores import state_folder
from nightwatch_core.adapters.stores.state_folder import check_state_folder
from nightwatch_core.errors import StopTheNight
from nightwatch_core.settings import settings

WAYS = {
    "a file": lambda at: (at.write_text(""), at)[1],
    "below a file": lambda at: (at.write_text(""), at / "state")[1],
    "a device": lambda at: at.parent / "../../../../../../../../dev/null",
    "a link to nowhere": lambda at: (at.symlink_to("/nonexistent/x"), at)[1],
    "a link to itself": lambda at: (at.symlink_to(at.name), at)[1],
    "too long": lambda at: (at.mkdir(), at / ("x" * 300))[1],
    "nights are a file": lambda at: (at.mkdir(), (at / "nights").write_text(""), at)[2],
    "the database is a folder": lambda at: ((at / "nightwatch.db").mkdir(parents=True), at)[1],
    "the key is a folder": lambda at: ((at / "mask-key").mkdir(parents=True), at)[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_used_is_refused_in_a_sentence(way, tmp_path):
    state = WAYS[way](tmp_path / "here\x1b[31m")
    before = sorted(map(str, tmp_path.rglob("*")))
    with pytest.raises(StopTheNight) as refused:
        check_state_folder(state)
    text = str(refused.value)
    assert "NIGHTWATCH_STATE" in text
    assert text.isascii()
    assert "\x1b" not in text
    assert sorted(map(str, tmp_path.rglob("*"))) == before


@pytest.mark.needs("ordinary user")
@pytest.mark.parametrize("rights", [0o000, 0o555])
def test_what_may_not_be_written_is_refused(rights, tmp_path):
    tmp_path.chmod(rights)
    try:
        for state in (tmp_path, tmp_path / "state"):
            with pytest.raises(StopTheNight, match="NIGHTWATCH_STATE"):
                check_state_folder(state)
    finally:
        tmp_path.chmod(0o700)


def test_a_folder_that_is_there_or_can_be_made_will_do(tmp_path):
    for state in (tmp_path, tmp_path / "a" / "b"):
        check_state_folder(state)
        check_state_folder(state, needed=1)
    assert not [*tmp_path.iterdir()]


def test_a_night_does_not_begin_on_a_disk_without_room(tmp_path):
    with pytest.raises(StopTheNight, match=r"MiB are left on its disk, and a night needs [\d]+"):
        check_state_folder(tmp_path / "state", needed=sys.maxsize)
    assert state_folder.NIGHT_BYTES


@pytest.mark.parametrize(
    ("name", "value"),
    [("NIGHTWATCH_STATE", "~no-such-user/x"), ("NIGHTWATCH_HOME", "~no-such-user")],
)
def test_a_folder_of_nobody_is_no_traceback(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(StopTheNight, match=r"'~no-such-user.*' is not a valid folder name"):
        settings()
