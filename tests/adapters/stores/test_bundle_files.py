import lzma
import os
from pathlib import Path

import pytest

from nightwatch_core.adapters.stores import state_folder as bundle_files
from nightwatch_core.adapters.stores.state_folder import BundleFiles, read_bundle
from nightwatch_core.errors import GiveUp
from nightwatch_core.replay.record import name_of

BUNDLES = Path(__file__).resolve().parents[2] / "bundles"
DAY = 86_400


@pytest.fixture
def whole():
    """The lines of a night's bundle."""
    packed = (BUNDLES / "model.bundle").read_bytes().partition(b"\n")[2]
    return lzma.decompress(packed).decode().split("\n")


def write(folder, lines, root="", after=b""):
    path, name = folder / "a.bundle", root or name_of(lines[0])
    head = f"NIGHTWATCH BUNDLE 1 {name}\n".encode()
    path.write_bytes(head + lzma.compress("\n".join(lines).encode(), preset=0) + after)
    return path


def test_every_change_is_seen(whole, tmp_path):
    root = name_of(whole[0])
    assert read_bundle(write(tmp_path, whole)).root == root
    for at in (0, 1, *range(2, len(whole), 9), len(whole) - 1):
        changed = [*whole[:at], whole[at].replace("e", "f", 1), *whole[at + 1 :]]
        with pytest.raises(GiveUp, match="was changed|cannot be read"):
            read_bundle(write(tmp_path, changed, root))
    for lines in (whole[:-1], [*whole, '"one more"'], []):
        with pytest.raises(GiveUp, match="was changed"):
            read_bundle(write(tmp_path, lines or [""], root))


def test_a_file_that_was_cut_or_goes_on_is_told(tmp_path, whole):
    path = write(tmp_path, whole)
    content = path.read_bytes()
    for cut in (content[:-40], content[:200], content[:60], b"", content + b"more"):
        path.write_bytes(cut)
        with pytest.raises(GiveUp, match="cut|changed|no bundle"):
            read_bundle(path)


def test_what_unpacks_to_more_than_a_night_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_files, "BUNDLE_TEXT", 1_000_000)
    path = write(tmp_path, ["a" * 20_000_000])
    assert path.stat().st_size < 10_000
    with pytest.raises(GiveUp, match="larger than any night"):
        read_bundle(path)


@pytest.mark.parametrize(
    "line",
    ["[" * 100_000, "{}", "null", '"' + "x" * 50, "9" * 6_000, '{"made":"never"}'],
    ids=["deep", "empty", "null", "torn", "long number", "no moment"],
)
def test_what_is_no_manifest_is_a_sentence(line, tmp_path):
    with pytest.raises(GiveUp, match="cannot be read"):
        read_bundle(write(tmp_path, [line]))


def test_a_newer_schema_is_a_clear_sentence(tmp_path):
    path = tmp_path / "a.bundle"
    path.write_bytes(b"NIGHTWATCH BUNDLE 7 " + b"a" * 64 + b"\nwhatever comes then")
    with pytest.raises(GiveUp, match="of a newer NightWatch .its schema is 7"):
        read_bundle(path)


@pytest.mark.parametrize("night", ["../../etc/passwd", "a/b", "", ".x", "a" * 200])
def test_no_name_leaves_the_folder(night, tmp_path):
    with pytest.raises(GiveUp, match="cannot name a night"):
        BundleFiles(tmp_path).path(night)


def test_a_journal_becomes_a_bundle_that_its_owner_alone_can_read(tmp_path):
    files = BundleFiles(tmp_path / "bundles")
    files.add("n1", ["R", "Pone"])
    files.add("n1", ["Ptwo"])
    assert list(files.journal("n1")) == ["R", "Pone", "Ptwo"]
    journal = tmp_path / "bundles" / "n1.journal"
    assert journal.stat().st_mode & 0o777 == 0o600
    path = files.seal("n1", ["{}"], is_over=False)
    assert path.stat().st_mode & 0o777 == 0o600
    assert journal.exists(), "a night that failed is taken up again"
    files.seal("n1", ["{}"], is_over=True)
    assert not journal.exists()


def test_old_and_large_ones_go_the_oldest_first(tmp_path):
    files = BundleFiles(tmp_path)
    for day in range(6):
        path = files.seal(f"n{day}", [f'"{day}"'], is_over=True)
        os.utime(path, (day * DAY, day * DAY))
    assert files.newest().name == "n5.bundle"
    assert files.prune(days=4, now=5.5 * DAY) == 2
    size = files.path("n5").stat().st_size
    assert files.prune(days=4, room=2 * size, now=5.5 * DAY) == 2
    assert sorted(one.name for one in tmp_path.iterdir()) == ["n4.bundle", "n5.bundle"]
    assert files.prune(days=4, now=-9 * DAY) == 0, "a clock that was set back deletes nothing"
