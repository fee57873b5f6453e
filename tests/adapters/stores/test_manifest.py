"""What left the machine: every request, its body once, whatever happens meanwhile."""

import os
import shutil

from nightwatch_core.adapters.stores.journal_files import JournalFile, JournalFiles
from nightwatch_core.adapters.stores.traffic import Outgoing
from nightwatch_core.journal.requests import body_of, sent_requests
from nightwatch_core.journal.writer import Journal
from nightwatch_core.models.options import Destination

TO = "https://api.example/v1?page=2#part"


def masked(text):
    return text.replace("hunter2", "<password-1>")


class Process:
    """A process that notes what it sends in a journal of its own."""

    def __init__(self, folder, night=""):
        self.file = JournalFile(folder / "journal", night)
        self.journal, self.outgoing = Journal(self.file.write), Outgoing()
        self.outgoing.begin(self.journal.add, masked)
        self.sent = self.outgoing.sent


def sent_in(folder, night=""):
    """The requests of a night, and their bodies."""
    journal = JournalFiles(folder / "journal").read(night)
    requests = sent_requests(journal)
    return requests, [body_of(journal, request) for request in requests]


def test_what_was_sent_can_be_read_again_byte_for_byte(tmp_path):
    process = Process(tmp_path)
    process.sent("Slack", "POST", TO, b"text=%C3%A9\xff")
    process.file.belongs_to("2026-11-20-ab")  # named only now
    process.sent("Slack", "POST", "https://me:secret@api.example/v1", b"text=%C3%A9\xff")
    process.sent("GitHub", "GET", TO)

    (first, second, read), bodies = sent_in(tmp_path, "2026-11-20-ab")
    assert bodies == [b"text=%C3%A9\xff", b"text=%C3%A9\xff", None]
    assert (first.to, second.to) == ("https://api.example/v1?page=2", "https://api.example/v1")
    assert (read.bytes, read.sha256) == (0, "")
    (file,) = (tmp_path / "journal").iterdir()
    assert [line[:1] for line in file.read_text().splitlines()].count("P") == 1
    assert sent_in(tmp_path) == sent_in(tmp_path, "2026-11-20") == ((), [])
    assert process.outgoing.destinations() == (
        Destination(service="GitHub", host="api.example", requests=1),
        Destination(service="Slack", host="api.example", requests=2, bytes=24),
    )


def test_files_of_a_draft_are_kept_masked_under_the_hash_of_what_was_sent(tmp_path):
    process = Process(tmp_path)
    process.sent("GitHub", "POST", "https://api.example/git/trees", b'"password = hunter2"')
    (sent,), (body,) = sent_in(tmp_path)
    assert sent.masked
    assert sent.bytes == 20
    assert body == b'"password = <password-1>"'


def test_half_a_line_of_a_killed_process_costs_that_line_alone(tmp_path):
    Process(tmp_path, "n1").sent("Claude", "POST", TO, b"one")
    (file,) = (tmp_path / "journal").glob("*.jsonl")
    file.write_bytes(file.read_bytes() + b'E{"at":"2026-11-2')
    Process(tmp_path, "n1").sent("Claude", "POST", TO, b"taken up")
    assert sent_in(tmp_path, "n1")[1] == [b"one", b"taken up"]
    assert JournalFiles(tmp_path / "journal").read("n1").torn == 1


def test_nobody_else_can_read_it_and_a_full_disk_stops_nothing(tmp_path):
    process, before = Process(tmp_path), os.umask(0)
    process.sent("Claude", "POST", TO, b"one")
    process.file.pack()
    process.sent("Claude", "POST", TO, b"two")
    os.umask(before)
    modes = [path.stat().st_mode & 0o077 for path in (tmp_path / "journal").rglob("*")]
    assert modes == [0, 0]
    assert not (tmp_path / "journal").stat().st_mode & 0o077

    shutil.rmtree(tmp_path / "journal")
    (tmp_path / "journal").write_text("no folder can be here")
    process.sent("Claude", "POST", TO, b"three")
    assert process.journal.lost
    assert process.outgoing.destinations()[0].requests == 3


def test_runs_of_one_night_are_one_list_and_other_commands_are_none_of_it(tmp_path):
    for body in (b"first", b"taken up"):
        Process(tmp_path, "night").sent("Claude", "POST", TO, body)
    Process(tmp_path).sent("Claude", "POST", TO, b"a check")
    assert sent_in(tmp_path, "night")[1] == [b"first", b"taken up"]
    assert sent_in(tmp_path)[1] == [b"a check"]


def test_it_goes_with_its_night_and_other_commands_after_a_month(tmp_path):
    (tmp_path / "nights/kept").mkdir(parents=True)
    for night in ("kept", "gone", "new", "", ""):
        process = Process(tmp_path, night)
        process.sent("Claude", "POST", TO, night.encode() or b"a check")
        if night in ("kept", "gone"):  # but of the last day a night may be taken up
            os.utime(process.file.path, (0, 0))
    os.utime(process.file.path, (0, 0))
    process.file.pack()  # packing makes it new
    (packed,) = (tmp_path / "journal").glob("*.xz")
    os.utime(packed, (0, 0))
    JournalFiles(tmp_path / "journal").delete_old(tmp_path / "nights")
    assert sent_in(tmp_path, "kept")[1] == [b"kept"]
    assert sent_in(tmp_path, "gone")[1] == []
    assert sent_in(tmp_path, "new")[1] == [b"new"]
    assert sent_in(tmp_path)[1] == [b"a check"]
