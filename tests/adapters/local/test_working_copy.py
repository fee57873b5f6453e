import os

import pytest

from nightwatch_core.adapters.local.delivery import WorkingCopy
from nightwatch_core.errors import GiveUp, StopTheNight

NAME = "CLAUDE.md"


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "app").mkdir()
    return folder


def test_a_missing_file_is_made(checkout):
    copy = WorkingCopy(checkout / "app")
    assert copy.read(NAME) is None
    assert copy.write(NAME, "ü\r\n", None) == str(checkout / NAME)
    assert (checkout / NAME).read_bytes() == "ü\r\n".encode()
    assert copy.read(NAME) == "ü\r\n"
    assert sorted(path.name for path in checkout.iterdir()) == [".git", NAME, "app"]


def test_what_changed_meanwhile_is_not_overwritten(checkout):
    (checkout / NAME).write_text("theirs")
    for before in ("ours", None):
        with pytest.raises(GiveUp, match="changed meanwhile"):
            WorkingCopy(checkout).write(NAME, "new", before)
    assert (checkout / NAME).read_text() == "theirs"


@pytest.mark.parametrize("target", ["AGENTS.md", "missing.md", "/etc/hostname"])
def test_a_link_is_refused(checkout, target):
    (checkout / "AGENTS.md").write_text("text")
    (checkout / NAME).symlink_to(target)
    for act in (lambda c: c.read(NAME), lambda c: c.write(NAME, "x", None)):
        with pytest.raises(GiveUp, match="is a link"):
            act(WorkingCopy(checkout))
    assert (checkout / "AGENTS.md").read_text() == "text"


def test_what_is_no_text_is_left_alone(checkout):
    (checkout / NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(GiveUp, match="UTF-8"):
        WorkingCopy(checkout).read(NAME)
    (checkout / NAME).unlink()
    (checkout / NAME).mkdir()
    with pytest.raises(GiveUp):
        WorkingCopy(checkout).read(NAME)
    (checkout / NAME).rmdir()
    os.mkfifo(checkout / NAME)
    with pytest.raises(GiveUp, match="plain file"):
        WorkingCopy(checkout).read(NAME)


@pytest.mark.parametrize("name", ["../CLAUDE.md", "a/b", "..", ".", "", "/etc/passwd"])
def test_only_files_at_the_top(checkout, name):
    with pytest.raises(GiveUp, match="no file at the top"):
        WorkingCopy(checkout).read(name)


def test_without_a_checkout(tmp_path):
    for folder in (tmp_path, tmp_path / "gone"):
        with pytest.raises(StopTheNight, match="no git checkout"):
            WorkingCopy(folder).read(NAME)
