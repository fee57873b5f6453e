import lzma
import os

import pytest
from analysis_shapes import OPENING, answer, asks, says
from core.report_fixture import NOW, complete
from journal_runs import JournalRuns
from twins.reading import MemoryModel

from nightwatch_core.adapters.stores import bundle_files
from nightwatch_core.adapters.stores.bundle_files import read_bundle, write_bundle
from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.decisions import Writes
from nightwatch_core.journal.pieces import name_of
from nightwatch_core.journal.sealing import SCHEMA, Begun, sealed, write_begun, write_decisions
from nightwatch_core.journal.writer import Journal


@pytest.fixture
def whole():
    """The lines of a night's bundle: a long report, and two turns of a model."""
    night = JournalRuns()
    model = night.model(MemoryModel([asks(("read_file", {"path": "a.py"})), says(answer())]))
    for _ in range(2):
        model.reply(OPENING, 5.0)
    journal = Journal(night.files[0].extend)
    write_begun(journal, Begun(night=complete().night), NOW, str)
    write_decisions(journal, complete(), Writes(), NOW, str)
    return sealed(night.journal)


def write(folder, lines, root="", after=b""):
    path, name = folder / "a.bundle", root or name_of(lines[0])
    head = f"NIGHTWATCH BUNDLE {SCHEMA} {name}\n".encode()
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


def test_a_bundle_is_whole_or_not_there_and_its_owners_alone(tmp_path, whole):
    path = tmp_path / "out" / "a.bundle"
    before = os.umask(0)
    write_bundle(path, whole)
    os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    read = read_bundle(path)
    assert read.root == name_of(whole[0])
    assert read.bytes == path.stat().st_size
    (tmp_path / "file").write_text("")
    with pytest.raises(GiveUp, match="cannot be written"):
        write_bundle(tmp_path / "file" / "a.bundle", whole)
    with pytest.raises(GiveUp, match="cannot be read"):
        read_bundle(tmp_path / "nowhere.bundle")
