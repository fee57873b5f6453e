"""Nobody but the owner reads what is kept, whoever made the folder and however long ago."""

import stat

import pytest

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.adapters.stores.atomic_files import make_private
from nightwatch_core.adapters.stores.state_folder import mask_key
from nightwatch_core.errors import StopTheNight


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_an_existing_folder_is_closed_with_everything_in_it(tmp_path):
    state, elsewhere = tmp_path / "state", tmp_path / "elsewhere"
    (state / "nights" / "one").mkdir(parents=True)
    report, run = state / "nights" / "one" / "report.json", state / "run"
    for file, rights in ((report, 0o644), (run, 0o755), (elsewhere, 0o644)):
        file.write_text("x")
        file.chmod(rights)
    (state / "link").symlink_to(elsewhere)
    state.chmod(0o777)
    make_private(state)
    folders = [state, state / "nights", report.parent]
    assert [mode(path) for path in folders] == [0o700] * 3
    assert (mode(report), mode(run), mode(elsewhere)) == (0o600, 0o700, 0o644)


def test_a_new_folder_is_private_and_a_file_is_no_folder(tmp_path):
    make_private(tmp_path / "a" / "state")
    assert mode(tmp_path / "a" / "state") == 0o700
    (tmp_path / "file").write_text("")
    with pytest.raises(StopTheNight, match="NIGHTWATCH_STATE"):
        make_private(tmp_path / "file")


def test_files_are_the_owners_unless_they_are_a_teams(tmp_path):
    atomic_files.write(tmp_path / "ours", b"")
    atomic_files.write(tmp_path / "teams", b"", mode=atomic_files.SHARED)
    (tmp_path / "plain").write_bytes(b"")
    assert mode(tmp_path / "ours") == 0o600
    assert mode(tmp_path / "teams") == mode(tmp_path / "plain")


@pytest.mark.parametrize("torn", [b"", b"short", b"x" * 33])
def test_a_torn_key_for_masks_is_made_again_and_then_kept(torn, tmp_path):
    (tmp_path / "mask-key").write_bytes(torn)
    key = mask_key(tmp_path)
    assert len(key) == 32
    assert mask_key(tmp_path) == key
    assert mode(tmp_path / "mask-key") == 0o600
