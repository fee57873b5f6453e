"""Packed files: members, archives in each other, damage, and what unpacks to very much."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest
from error_records import FULL, NOW, PYTHON, fetched, groups_of, json_lines, only, written

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.source import ErrorFiles
from nightwatch_core.errors import StopTheNight

RECORD = json_lines([FULL]).encode()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            member = zipfile.ZipInfo(
                name, date_time=(2026, 11, 3, 10, 0, 0)
            )  # not the time of this run
            archive.writestr(member, content, compress_type=zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(members, mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "pack",
    [gzip.compress, bz2.compress, lzma.compress,
     lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
     lambda data: bz2.compress(data[:40]) + bz2.compress(data[40:]),
     lambda data: gzip.compress(gzip.compress(data))],
)  # fmt: skip
def test_compressed_files(tmp_path, pack):
    assert only(written(tmp_path, pack(RECORD * 3))).occurrences == 3


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: tarred(files, "w:gz")])
def test_members_say_where_they_stand(tmp_path, pack):
    members = {
        "app/production.log": f"2026-11-03 10:00:00 ERROR no\n{PYTHON}\n{{}}\n".encode(),
        "app/export.jsonl": b'{"a": 1}\n' + RECORD,
        "old/app.jsonl.gz": gzip.compress(RECORD),
        "inner.zip": zipped({"deep/a.csv": b"error.class,message\nKeyError,no\n,no\n"}),
        "__MACOSX/._x": b"\0\1\2",
        ".hidden": RECORD,
        "empty.log": b"",
        "logo.png": b"\x89PNG\r\n\x1a\n\0\0\0\x01\x02\x03" * 9,
    }
    files = ErrorFiles((written(tmp_path, pack(members), "logs.zip"),))
    answer = groups_of(files, None, NOW)
    assert sum(group.occurrences for group in answer.groups) == 4
    assert {reject.place for reject in answer.rejects} == {
        "logs.zip/app/export.jsonl:1",
        "logs.zip/inner.zip/deep/a.csv:3",
    }
    assert answer.partial == (
        "logs.zip/logo.png is binary: give JSON, CSV or a log, packed with gzip, bzip2, xz, zip "
        "or tar or not",
    )


def test_encrypted_and_unknown_members_are_told(tmp_path):
    content = bytearray(zipped({"secret.log": RECORD, "plain.jsonl": RECORD}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + offset] |= 1
    answer = fetched(written(tmp_path, bytes(content), "a.zip"))
    assert answer.groups[0].occurrences == 1
    assert answer.partial == ("a.zip/secret.log is encrypted: unpack it first",)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (zipped({"a.log": RECORD})[:60], "damaged zip"),
        (b"\x28\xb5\x2f\xfd123", "zstd: unpack it first"),
        (b"7z\xbc\xaf\x27\x1c123", "7z archive: unpack it first"),
        (zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "save it as CSV"),
        (b"%PDF-1.7 x", "is a PDF"),
        (b"BZh9broken and more", "damaged from its beginning"),
        (b"\x00\x01\x02" * 9, "is binary: give JSON, CSV or a log"),
    ],
    ids=["zip", "zstd", "7z", "workbook", "pdf", "bz2", "binary"],
)
def test_what_cannot_be_unpacked_says_what_to_do(tmp_path, content, sentence):
    with pytest.raises(StopTheNight, match=sentence):
        fetched(written(tmp_path, content))


def test_a_cut_archive_gives_what_came_before(tmp_path):
    content = tarred({"a.jsonl": RECORD, "b.jsonl": RECORD * 500})
    answer = fetched(written(tmp_path, content[: len(content) // 2], "a.tar"))
    assert answer.groups[0].occurrences > 1
    assert "cut off or damaged" in " ".join((*answer.partial, answer.rejects[-1].reason))


def test_packing_that_never_ends_is_refused(tmp_path):
    content = zipped({"a.jsonl": RECORD})
    for _ in range(6):
        content = zipped({"a.zip": content})
    answer = fetched(written(tmp_path, content, "a.zip"))
    assert answer.groups == ()
    assert "packed more than 4 times" in answer.partial[0]


def test_names_of_members_are_data(tmp_path):
    content = zipped({"../../etc/pass\nwd\x1b[31m": b'{"a": 1}\n' + RECORD})
    (reject,) = fetched(written(tmp_path, content, "a.zip")).rejects
    assert reject.place == "a.zip/../../etc/pass wd:1"


def test_a_file_that_unpacks_to_very_much_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_RATIO", 50)
    monkeypatch.setattr(limits, "RATIO_FROM", 100_000)
    line = b'{"error.class":"Shop::Empty","message":"no order"}\n'
    path = written(tmp_path, gzip.compress(line * 20_000), "bomb.gz")
    answer = fetched(path)
    assert 0 < answer.groups[0].occurrences < 20_000
    assert answer.partial == (
        "bomb.gz: it unpacks to more than 50 times its size; what follows is left out: "
        "give a part of it",
    )


def test_a_zip_of_nothing_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_BYTES", 1_000_000)
    path = written(tmp_path, zipped({"a.log": (b"x" * 999 + b"\n") * 30_000}), "bomb.zip")
    answer = fetched(path)
    assert answer.groups == ()
    assert answer.partial == (
        "bomb.zip: 1 MB are read; what follows is left out: give a part of it",
    )


def test_many_records_end_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MOST_RECORDS", 300)
    path = written(tmp_path, gzip.compress(RECORD * 1_000), "many.gz")
    written(tmp_path, RECORD, "zz.jsonl")
    answer = fetched(tmp_path)
    assert answer.groups[0].occurrences == 300
    assert answer.partial == (
        "many.gz: 300 records are read; what follows, and 1 more files is left out: "
        "give a part of it",
    )
    assert path.is_file()


def test_progress_is_told_in_bytes_on_disk_and_records(tmp_path):
    heard = []
    for name in ("a.jsonl", "b.zip"):
        content = RECORD * 2_000
        written(tmp_path, zipped({"x.jsonl": content}) if name == "b.zip" else content, name)
    files = ErrorFiles((tmp_path,), listener=heard.append)
    groups_of(files, None, NOW)
    total = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert {one.of_bytes for one in heard} == {total}
    assert [one.bytes for one in heard] == sorted(one.bytes for one in heard)
    assert heard[-1].bytes == total
    assert {one.file for one in heard} == {"a.jsonl", "b.zip"}
    assert heard[-1].records > 2_000
