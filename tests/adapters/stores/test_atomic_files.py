import os
import stat

import pytest

from nightwatch_core.adapters.stores import atomic_files
from nightwatch_core.errors import GiveUp, StopTheNight


class Disk:
    """Notes what is brought to the disk, and what stood there under the file's name by then."""

    def __init__(self, *watched):
        self.watched = watched
        self.kept = []

    def sync(self, handle):
        os.fsync(handle)
        status = os.fstat(handle)
        what = "folder" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes"
        shown = tuple(one.read_bytes() if one.exists() else None for one in self.watched)
        self.kept.append((what, shown))


@pytest.mark.parametrize("old", [None, b"old"])
def test_the_content_is_on_the_disk_before_its_name_and_its_name_before_the_end(tmp_path, old):
    path = tmp_path / "new" / "file"
    if old:
        atomic_files.write(path, old)
    disk = Disk(path)
    atomic_files.write(path, b"content", sync=disk.sync)
    assert disk.kept == [("7 bytes", (old,)), ("folder", (b"content",))]
    assert [one.name for one in path.parent.iterdir()] == ["file"]


def test_a_move_is_on_the_disk_in_both_folders(tmp_path):
    path, target = tmp_path / "errors" / "a", tmp_path / "archive" / "a"
    atomic_files.write(path, b"x")
    disk = Disk(path, target)
    atomic_files.move(path, target, sync=disk.sync)
    assert disk.kept == [("folder", (None, b"x"))] * 2


def test_a_removal_is_on_the_disk(tmp_path):
    path = tmp_path / "a"
    atomic_files.write(path, b"x")
    disk = Disk(path)
    atomic_files.remove(path, sync=disk.sync)
    atomic_files.remove(path, sync=disk.sync)
    assert disk.kept == [("folder", (None,))] * 2


def test_a_disk_that_fails_leaves_what_was_there(tmp_path):
    def full(_):
        raise OSError("no space left")

    calls = [
        lambda: atomic_files.write(tmp_path / "a", b"new", sync=full),
        lambda: atomic_files.write(tmp_path / "b", b"new", through=tmp_path / "c", sync=full),
    ]
    atomic_files.write(tmp_path / "a", b"old")
    (tmp_path / "c").mkdir()
    for call in calls:
        with pytest.raises(OSError, match="no space"):
            call()
    assert (tmp_path / "a").read_bytes() == b"old"
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a", "c"]


def test_a_file_that_is_written_over_keeps_its_permissions(tmp_path):
    path = tmp_path / "a"
    atomic_files.rewrite(path, b"new")
    path.chmod(0o640)
    atomic_files.rewrite(path, b"newer")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"newer", 0o640)


@pytest.mark.parametrize("trouble", [GiveUp, StopTheNight])
def test_a_place_that_cannot_be_written_is_named(tmp_path, trouble):
    with (
        pytest.raises(trouble, match="cannot write to the place .*check its permissions"),
        atomic_files.only_writer(tmp_path / ".lock", 1, "the place", trouble),
    ):
        (tmp_path / "gone" / "file").write_text("")
