"""Transcripts on disk."""

import json
import os

import pytest
from analysis_shapes import analysed, case, group, trace
from claude_talks import claude
from services.anthropic import Anthropic

from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.state_folder import Transcripts
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.analysis.model_wrappers import TranscribedModel
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.conversation import (
    RecordedCall,
    RecordedResult,
    TranscriptEntry,
    TranscriptOpening,
)

ONE, TWO = "v1:aaaa111122223333", "v1:aaaa444455556666"


def opened(store, fingerprint=ONE, night="n1", look=1, text="hello"):
    opening = TranscriptOpening(night=night, fingerprint=fingerprint, error="KeyError", look=look)
    store.keep(night, fingerprint, TranscriptEntry(kind="opening", opening=opening))
    store.keep(night, fingerprint, TranscriptEntry(kind="user", text=text))


@pytest.fixture
def store(tmp_path):
    return Transcripts(tmp_path / "transcripts", SystemClock())


def file_of(tmp_path, night="n1", name="v1-aaaa111122223333"):
    return tmp_path / "transcripts" / night / f"{name}.jsonl"


def test_an_analysis_is_kept_and_found_again(tmp_path, store):
    with Anthropic() as server:
        model = TranscribedModel(claude(server), store, "n1")
        of = case(group(fingerprint=ONE))
        found = analysed(model, of, agent=BUILT_IN, clock=SystemClock(), traces=(trace(),))
    kept = store.find("aaaa1")
    assert (kept.night, kept.fingerprint, kept.unread) == ("n1", ONE, 0)
    assert [entry.kind for entry in kept.entries] == [
        "opening", "user", "assistant", "results", "user", "assistant"
    ]  # fmt: skip
    assert all(entry.at for entry in kept.entries)
    assert sum(entry.usage.input_tokens for entry in kept.entries) == found.usage.input_tokens
    assert kept.entries[2].calls[0].name == "read_file"
    lines = file_of(tmp_path).read_text().splitlines()
    assert all(json.loads(line)["kind"] for line in lines)


def test_secrets_do_not_reach_the_disk(tmp_path, store):
    secret = "ghp_" + "aB3" * 12
    store.keep(
        "n1", ONE,
        TranscriptEntry(
            kind="results", text=secret, detail=f"password={secret}",
            calls=(RecordedCall(name="f", arguments={secret: [secret, {"a": secret}]}),),
            results=(RecordedResult(name=secret, text=f"   12| key = {secret}"),),
            opening=TranscriptOpening(night="n1", fingerprint=ONE, error=secret, system=secret),
        ),
    )  # fmt: skip
    raw = file_of(tmp_path).read_text()
    assert "aB3aB3" not in raw
    assert raw.count("<key-000000>") == 9
    assert "password=<" in raw


def test_texts_and_files_are_bounded(tmp_path, store):
    opened(store, text="x" * 100_000)
    kept = store.find(ONE).entries[1].text
    assert len(kept) < 21_000
    assert "80000 characters left out" in kept
    small = Transcripts(tmp_path / "transcripts", SystemClock(), most=60_000)
    for number in range(20):
        small.keep("n1", ONE, TranscriptEntry(kind="user", text=f"{number}" * 9_000))
    assert file_of(tmp_path).stat().st_size < 61_000
    assert store.find(ONE).entries[-1].kind == "full"


def test_the_last_run_is_shown_and_its_second_look(store):
    opened(store, text="first run")
    opened(store, text="second run")
    opened(store, look=2, text="looked again")
    texts = [entry.text for entry in store.find(ONE).entries if entry.kind == "user"]
    assert texts == ["second run", "looked again"]


def test_torn_and_odd_lines_are_counted(tmp_path, store):
    opened(store)
    with file_of(tmp_path).open("ab") as file:
        file.write(b'{"kind": "user", "te\n[]\n\xff\n{"kind": "dance"}\n{"kind": "user"')
    kept = store.find(ONE)
    assert (len(kept.entries), kept.unread) == (2, 5)


def test_the_newest_night_or_the_one_that_is_named(tmp_path, store):
    for age, night in enumerate(("n3", "n1", "n2")):
        opened(store, night=night)
        os.utime(file_of(tmp_path, night), (1_000 + age, 1_000 + age))
    assert store.find(ONE).night == "n2"
    assert store.find(ONE, "n1").night == "n1"
    with pytest.raises(StopTheNight, match=r"not kept|in that night: see n2, n1, n3"):
        store.find(ONE, "n9")


def test_a_beginning_that_is_not_enough(store):
    opened(store, ONE)
    opened(store, TWO)
    assert store.find("v1:aaaa4").fingerprint == TWO
    assert store.find("aaaa4").fingerprint == TWO
    with pytest.raises(StopTheNight, match=f"matches {ONE}, {TWO}: give more"):
        store.find("v1:aaaa")


@pytest.mark.parametrize("wanted", ["v1:ffff", "../n1/v1-aaaa", "*", "\x00", "n1"])
def test_nothing_is_found_where_there_is_nothing(tmp_path, store, wanted):
    with pytest.raises(StopTheNight, match="no transcript"):
        store.find(wanted)
    opened(store)
    with pytest.raises(StopTheNight, match="no transcript"):
        store.find(wanted)


@pytest.mark.parametrize("name", ["../../out", "/etc/passwd", "..", "ä/ö"])
def test_odd_names_stay_in_the_folder(tmp_path, store, name):
    opened(store, fingerprint=name, night=name)
    (file,) = tmp_path.rglob("*.jsonl")
    assert file.resolve().parent.parent == (tmp_path / "transcripts").resolve()
    assert store.find(name).fingerprint == name


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path, store, caplog):
    outside = tmp_path / "outside"
    outside.write_text("")
    file_of(tmp_path).parent.mkdir(parents=True)
    file_of(tmp_path).symlink_to(outside)
    opened(store)
    assert outside.read_text() == ""
    assert len([one for one in caplog.records if "cannot be written" in one.message]) == 1
