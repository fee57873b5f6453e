"""Journals on disk: one file a process, packed when it is done, read as one night."""

import json
import lzma
import os
from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.adapters.stores.journal_files import (
    JournalFile,
    JournalFiles,
    NightAnswers,
    lines_of,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.journal.pieces import canonical, name_of
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.journal import Event, RunHeader

AT = datetime(2026, 11, 20, 2, tzinfo=UTC)


class Process:
    """A process of a run, which writes answers into its file."""

    def __init__(self, folder, night="n1", run="first"):
        self.file = JournalFile(folder, night)
        self.journal = Journal(self.file.write, RunHeader(run=run, began=AT))

    def answered(self, question, answer, minutes=0, **more):
        text, at = canonical(answer), AT + timedelta(minutes=minutes)
        event = Event(at=at, port="model@a", call="reply", exact=question, answer=name_of(text))
        self.journal.add(event.model_copy(update=more), {name_of(text): text})


def answers(folder, night="n1"):
    found = NightAnswers(folder, lambda: night)

    def of(question):
        event = Event(at=AT, port="model@a", call="reply", exact=question)
        return [item.value for item in found.of(event)]

    return of


def test_a_journal_is_packed_when_its_run_is_over_and_reads_the_same(tmp_path):
    process = Process(tmp_path)
    process.answered("a", "x" * 9_000)
    process.answered("b", "two")
    before = JournalFiles(tmp_path).read("n1")
    process.file.pack()
    (packed,) = tmp_path.iterdir()
    assert packed.name.endswith(".jsonl.xz")
    after = JournalFiles(tmp_path).read("n1")
    assert (after.events, after.texts, after.runs) == (before.events, before.texts, before.runs)

    process.answered("c", "later")  # another file: what is packed is never written again
    assert len([*tmp_path.iterdir()]) == 2
    assert len(JournalFiles(tmp_path).read("n1").events) == 3
    Process(tmp_path, "n2").file.pack()  # nothing was written: nothing to pack
    assert JournalFiles(tmp_path).nights() == ("n1",)


def test_answers_of_all_processes_are_found_as_they_come(tmp_path):
    of = answers(tmp_path)
    assert of("a") == []
    first, second = Process(tmp_path), Process(tmp_path, run="second")
    first.answered("a", "one")
    assert of("a") == ["one"]
    second.answered("a", "two", minutes=1)
    second.answered("b", "three")
    assert (of("a"), of("b")) == (["one", "two"], ["three"])
    first.file.pack()
    first.answered("a", "four", minutes=2)
    assert of("a") == ["one", "two", "four"]
    assert answers(tmp_path)("a") == ["one", "two", "four"], "a process that begins now"
    assert answers(tmp_path, "")("a") == answers(tmp_path, "n2")("a") == []


def test_half_a_line_is_read_when_the_rest_is_there(tmp_path):
    process, of = Process(tmp_path), answers(tmp_path)
    process.answered("a", "one")
    whole = process.file.path.read_bytes()
    process.file.path.write_bytes(whole[:-9])
    assert of("a") == []
    process.file.path.write_bytes(whole)
    assert of("a") == ["one"]


def test_an_answer_whose_text_is_gone_is_asked_again(tmp_path):
    process, of = Process(tmp_path), answers(tmp_path)
    process.answered("a", "one")
    lines = process.file.path.read_text().splitlines()
    process.file.path.write_text("".join(f"{line}\n" for line in lines if line[0] != "P"))
    assert of("a") == []


def test_nights_are_listed_the_newest_first(tmp_path):
    for age, night in enumerate(("n3", "n1", "n2", "")):
        process = Process(tmp_path, night)
        process.answered("a", "one")
        os.utime(process.file.path, (1_000 + age, 1_000 + age))
    (tmp_path / "n9~1.txt").write_text("not ours")
    assert JournalFiles(tmp_path).nights() == ("n2", "n1", "n3")


def test_files_of_one_run_are_told_from_those_of_another(tmp_path):
    first, second = Process(tmp_path), Process(tmp_path, run="second")
    first.answered("a", "one")
    second.answered("b", "two")
    files = JournalFiles(tmp_path)
    assert [event.exact for event in files.read("n1", "second").events] == ["b"]
    assert files.read("n1", "second", but=second.file.path).events == ()


@pytest.mark.parametrize("name", ["../../out", "/etc/passwd", "..", ".x", "a/b", "a" * 200, "n~1"])
def test_odd_names_stay_in_the_folder(tmp_path, name):
    file = JournalFile(tmp_path / "journal")
    file.write(["one"])
    with pytest.raises(GiveUp, match="cannot name a night"):
        file.belongs_to(name)
    with pytest.raises(GiveUp, match="cannot name a night"):
        JournalFiles(tmp_path / "journal").read(name)
    (written,) = tmp_path.rglob("*.jsonl")
    assert written.parent == tmp_path / "journal"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("")
    process = Process(tmp_path / "journal")
    process.file.path.parent.mkdir()
    process.file.path.symlink_to(outside)
    process.answered("a", "one")
    assert outside.read_text() == ""
    assert process.journal.lost


def test_what_cannot_be_unpacked_is_said_and_costs_that_file_alone(tmp_path, caplog):
    good, torn = Process(tmp_path), Process(tmp_path)
    for process in (good, torn):
        process.answered("a", "one")
        process.file.pack()
    first, second = sorted(tmp_path.iterdir())
    second.write_bytes(b"no lzma")
    assert [event.exact for event in JournalFiles(tmp_path).read("n1").events] == ["a"]
    assert f"{second.name} cannot be read" in caplog.text
    first.write_bytes(lzma.compress(b"a line")[:-20])
    assert list(lines_of(first)) in ([], ["a line"])


def test_lines_of_nobody_are_counted(tmp_path):
    process = Process(tmp_path)
    process.answered("a", "one")
    with process.file.path.open("ab") as file:
        file.write(b'E{"at": "2026\nE[]\n\xff\nZzzz\nP\xc3\xa4\nE' + json.dumps({}).encode())
    journal = JournalFiles(tmp_path).read("n1")
    assert (len(journal.events), journal.torn) == (1, 5)


def test_a_packed_file_that_is_cut_is_said_to_be(tmp_path, caplog):
    file = JournalFile(tmp_path, "n1")
    file.write([f"line {number}" for number in range(20_000)])
    file.pack()
    (packed,) = tmp_path.glob("*.xz")
    assert len(list(lines_of(packed))) == 20_000
    assert not caplog.text
    packed.write_bytes(packed.read_bytes()[:-200])
    assert len(list(lines_of(packed))) < 20_000
    assert "is cut: only its beginning is read" in caplog.text
