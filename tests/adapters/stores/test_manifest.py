"""What left the machine: every request, its body once, whatever happens meanwhile."""

import os
import shutil

from nightwatch_core.adapters.stores.traffic import Manifest, SentRequests
from nightwatch_core.models.options import Destination

TO = "https://api.example/v1?page=2#part"


def masked(text):
    return text.replace("hunter2", "<password-1>")


def opened(folder):
    manifest = Manifest()
    manifest.open(folder / "sent", masked)
    return manifest


def test_what_was_sent_can_be_read_again_byte_for_byte(tmp_path):
    manifest = opened(tmp_path)
    manifest.sent("Slack", "POST", TO, b"text=%C3%A9\xff")
    manifest.belongs_to("2026-11-20-ab")  # named only now
    manifest.sent("Slack", "POST", "https://me:secret@api.example/v1", b"text=%C3%A9\xff")
    manifest.sent("GitHub", "GET", TO)

    kept = SentRequests(tmp_path / "sent")
    first, second, read = kept.of("2026-11-20-ab")
    assert kept.text(first) == kept.text(second) == b"text=%C3%A9\xff"
    assert (first.to, second.to) == ("https://api.example/v1?page=2", "https://api.example/v1")
    assert (read.bytes, read.sha256, kept.text(read)) == (0, "", None)
    assert len([*(tmp_path / "sent/texts").iterdir()]) == 1
    assert kept.of("") == kept.of("2026-11-20") == ()
    assert manifest.destinations() == (
        Destination(service="GitHub", host="api.example", requests=1),
        Destination(service="Slack", host="api.example", requests=2, bytes=24),
    )


def test_files_of_a_draft_are_kept_masked_under_the_hash_of_what_was_sent(tmp_path):
    manifest = opened(tmp_path)
    manifest.sent("GitHub", "POST", "https://api.example/git/trees", b'"password = hunter2"')
    (sent,) = SentRequests(tmp_path / "sent").of("")
    assert sent.masked
    assert sent.bytes == 20
    assert SentRequests(tmp_path / "sent").text(sent) == b'"password = <password-1>"'


def test_half_a_line_of_a_killed_process_costs_that_line_alone(tmp_path):
    manifest = opened(tmp_path)
    manifest.sent("Claude", "POST", TO, b"one")
    (file,) = (tmp_path / "sent").glob("*.jsonl")
    file.write_bytes(file.read_bytes() + b'{"at":"2026-11-2')
    assert [one.bytes for one in SentRequests(tmp_path / "sent").of("")] == [3]


def test_nobody_else_can_read_it_and_a_full_disk_stops_nothing(tmp_path):
    manifest, before = opened(tmp_path), os.umask(0)
    manifest.sent("Claude", "POST", TO, b"one")
    os.umask(before)
    modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "sent").rglob("*.*")}
    assert modes == {0}
    assert not (tmp_path / "sent").stat().st_mode & 0o077

    shutil.rmtree(tmp_path / "sent")
    (tmp_path / "sent").write_text("no folder can be here")
    manifest.sent("Claude", "POST", TO, b"two")
    assert manifest.destinations()[0].requests == 2


def test_runs_of_one_night_are_one_list_and_other_commands_are_none_of_it(tmp_path):
    for body in (b"first", b"taken up"):
        manifest = opened(tmp_path)
        manifest.belongs_to("night")
        manifest.sent("Claude", "POST", TO, body)
    manifest.reset()
    manifest.sent("Claude", "POST", TO, b"a check")
    kept = SentRequests(tmp_path / "sent")
    assert [kept.text(one) for one in kept.of("night")] == [b"first", b"taken up"]
    assert [kept.text(one) for one in kept.of("")] == [b"a check"]


def test_it_goes_with_its_night(tmp_path):
    (tmp_path / "nights/kept").mkdir(parents=True)
    for night in ("kept", "gone"):
        manifest = opened(tmp_path)
        manifest.sent("Claude", "POST", TO, night.encode())
        manifest.belongs_to(night)
    for text in (tmp_path / "sent/texts").iterdir():
        os.utime(text, (0, 0))
    kept = SentRequests(tmp_path / "sent")
    kept.forget_old(tmp_path / "nights")
    assert (len(kept.of("kept")), len(kept.of("gone"))) == (1, 0)
    assert [kept.text(one) for one in kept.of("kept")] == [b"kept"]
    assert len([*(tmp_path / "sent/texts").iterdir()]) == 1
