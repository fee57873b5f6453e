"""Batches in files: whole, private, named where they cannot be read, and never lost."""

from datetime import UTC, datetime

import pytest

from nightwatch_core.adapters.stores.state_folder import BatchFiles
from nightwatch_core.errors import TryLater
from nightwatch_core.models.answer import Usage
from nightwatch_core.models.batch import Batch, BatchItem, FirstSight, ItemResult, TokenPrice
from nightwatch_core.models.errors import ErrorGroup, Triage

GROUP = ErrorGroup(
    fingerprint="v1:a", source="file", error_class="KeyError", message="half \ud83d",
    triage=Triage(state="resolved", service="x", inbox="y"),
)  # fmt: skip
FIRST = ItemResult(
    key="s-2", fingerprint="v1:b", kind="answered", usage=Usage(calls=1, cost=None),
    first_sight=FirstSight(severity="low", likely_cause="?", needs_deep_investigation=True),
)  # fmt: skip


def _batch(digest="ab" * 16, hour=2, **fields):
    prices = (TokenPrice(input=1, output=5, cache_read=0.1, cache_write=1.25, cache_write_1h=2),)
    return Batch.model_validate(
        {
            "digest": digest,
            "night": "2026-11-21",
            "model": "claude-haiku-5-5",
            "submitted": datetime(2026, 11, 21, hour, tzinfo=UTC),
            "items": (BatchItem(key="s-1", fingerprint="v1:a", group=GROUP),),
            "results": (FIRST,),
            "prices": prices,
            **fields,
        }
    )


def test_a_batch_comes_back_whole_and_is_nobody_elses(tmp_path):
    store = BatchFiles(tmp_path / "state")
    store.keep(_batch())
    store.keep(_batch(id="msgbatch_1", collected_by="2026-11-22"))
    kept = BatchFiles(tmp_path / "state").batches()
    message = GROUP.message.encode("utf-8", "replace").decode()
    group = GROUP.model_copy(update={"message": message})
    items = (BatchItem(key="s-1", fingerprint="v1:a", group=group),)
    assert kept == (_batch(id="msgbatch_1", collected_by="2026-11-22", items=items),)
    file = next((tmp_path / "state" / "batches").iterdir())
    assert file.stat().st_mode & 0o777 == 0o600
    assert store.complaints() == ()


def test_an_intent_is_forgotten_a_batch_is_not(tmp_path):
    store = BatchFiles(tmp_path)
    store.keep(_batch(id="msgbatch_1"))
    store.drop(_batch())  # somebody wrote its id meanwhile
    assert store.batches()
    store.keep(_batch("cc" * 8))
    store.drop(_batch("cc" * 8))
    store.drop(_batch("cc" * 8))
    assert [one.id for one in store.batches()] == ["msgbatch_1"]


def test_what_was_collected_long_ago_goes_with_a_new_intent(tmp_path):
    store, later = BatchFiles(tmp_path), datetime(2027, 3, 21, tzinfo=UTC)
    store.keep(_batch("aa" * 8, id="msgbatch_1", collected_by="2026-11-22"))
    store.keep(_batch("bb" * 8, id="msgbatch_2"))
    store.keep(_batch("cc" * 8, id="msgbatch_3", collected_by="2027-03-21", submitted=later))
    assert len(store.batches()) == 3
    store.keep(_batch("dd" * 8, submitted=later))
    assert [one.id for one in store.batches()] == ["msgbatch_2", "msgbatch_3", ""]


@pytest.mark.parametrize("raw", [b"", b'{"id":"msgb', b"[" * 100_000, b"[1]", b"null", b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named_and_stays(tmp_path, raw):
    store = BatchFiles(tmp_path)
    store.keep(_batch("aa" * 8))
    broken = tmp_path / "batches" / f"{'bb' * 8}.json"
    broken.write_bytes(raw)
    (complaint,) = store.complaints()
    assert complaint.startswith(f"{broken}: it is no batch of this version (")
    store.drop(_batch("bb" * 8))
    assert broken.read_bytes() == raw
    assert len(store.batches()) == 1


def test_a_copy_of_a_batch_is_not_a_second_one(tmp_path):
    store = BatchFiles(tmp_path)
    store.keep(_batch("aa" * 8))
    file = next((tmp_path / "batches").iterdir())
    (file.parent / f"{'dd' * 8}.json").write_bytes(file.read_bytes())
    assert len(store.batches()) == 1
    assert "under another name" in store.complaints()[0]


def test_one_process_submits_at_a_time(tmp_path):
    store, other = BatchFiles(tmp_path), BatchFiles(tmp_path, patience=0)
    with store.alone(), pytest.raises(TryLater, match="another process"), other.alone():
        pass
    with other.alone():
        other.keep(_batch())
    assert len(store.batches()) == 1
