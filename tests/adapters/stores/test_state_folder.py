"""The state folder's disk, and git's locks that nobody holds any more."""

import os

from nightwatch_core.adapters.stores.state_folder import OLD, state_folder

NOW = 2_000_000_000.0


def _lock(path, age):
    path.parent.mkdir(parents=True)
    path.touch()
    os.utime(path, (NOW - age, NOW - age))
    return str(path)


def test_old_locks_are_named_and_young_ones_are_not(tmp_path):
    state, app = tmp_path / "state", tmp_path / "app"
    old = _lock(state / "clones" / "acme__shop" / "view.git" / "index.lock", OLD + 1)
    mine = _lock(app / ".git" / "index.lock", OLD + 1)
    _lock(tmp_path / "busy" / ".git" / "index.lock", 10)
    looked = state_folder(state, (app, tmp_path / "busy", tmp_path / "gone"), NOW)
    assert set(looked.old_locks) == {old, mine}
    assert 0 < looked.free <= looked.size


def test_a_folder_that_is_not_there_says_nothing(tmp_path):
    assert state_folder(tmp_path / "none", (), NOW).size == 0
