from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from twins.reading import MemoryRecords

from nightwatch_core.adapters.stores.code_cache import (
    NAMED_FILES,
    CachedRead,
    CodeCache,
    ReadCounter,
)
from nightwatch_core.errors import GiveUp, TryLater

HIT, KEPT, MISS = CachedRead("", "memory"), CachedRead("", "disk"), CachedRead("", "asked")


def as_it_is(answer: Any) -> Any:
    return answer


def test_what_has_no_text_is_kept_too() -> None:
    cache = CodeCache(MemoryRecords())
    reads = [cache.read("k", lambda: None, as_it_is) for _ in "12"]
    assert reads == [(None, "asked"), (None, "memory")]


def test_another_process_reads_records() -> None:
    records = MemoryRecords()
    CodeCache(records).read("k", lambda: ["a"], tuple)
    other = CodeCache(records)
    assert [other.read("k", list, tuple) for _ in "12"] == [(("a",), "disk"), (("a",), "memory")]


@pytest.mark.parametrize("record", ["not JSON", '"refused"'])
def test_a_damaged_or_outdated_record_is_as_good_as_none(record: str) -> None:
    def shape(answer: Any) -> Any:
        if answer == "refused":
            raise GiveUp("not as documented")
        return answer

    records = MemoryRecords()
    records.put("k", record)
    assert CodeCache(records).read("k", lambda: 2, shape) == (2, "asked")
    assert records.kept == {"k": "2"}


def test_failures_and_answers_that_are_refused_are_not_kept() -> None:
    def fail() -> Any:
        raise TryLater("away")

    def refuse(answer: Any) -> Any:
        raise GiveUp("not as documented")

    records = MemoryRecords()
    cache = CodeCache(records)
    with pytest.raises(TryLater):
        cache.read("k", fail, as_it_is)
    with pytest.raises(GiveUp):
        cache.read("k", lambda: 1, refuse)
    assert records.kept == {}
    assert cache.read("k", lambda: 2, as_it_is) == (2, "asked")


def test_only_what_is_missing_is_asked_for() -> None:
    cache, asked = CodeCache(MemoryRecords()), list[tuple[str, ...]]()

    def ask(missing: tuple[str, ...]) -> list[tuple[str, Any]]:
        asked.append(missing)
        return [(key, key.upper()) for key in missing]

    cache.read_all(("a", "b"), ask, as_it_is)
    reads = cache.read_all(("b", "c"), ask, as_it_is)
    assert reads == {"b": ("B", "memory"), "c": ("C", "asked")}
    assert asked == [("a", "b"), ("c",)]


def test_what_memory_forgot_is_read_from_records() -> None:
    cache = CodeCache(MemoryRecords(), room=10)
    reads = [cache.read(key, lambda: "12345678", as_it_is) for key in "aaba"]
    assert [read.source for read in reads] == ["asked", "memory", "asked", "disk"]


def test_threads_lose_no_count() -> None:
    counter = ReadCounter()

    def count(number: int) -> None:
        counter.add_request()
        counter.add_reads((HIT, MISS), (f"{number % 50}.rb",))
        counter.add_reads((HIT, KEPT), ())

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(count, range(2_000)))
    counts = counter.counts()
    assert (counts.memory, counts.disk, counts.asked, counts.requests) == (
        4_000, 2_000, 2_000, 2_000,
    )  # fmt: skip
    assert counts.saved == 2_000  # the requests that would have been made for hits alone
    assert len(counts.files) == 50


def test_too_many_files_are_counted_and_not_named() -> None:
    counter = ReadCounter()
    for _ in "12":
        counter.add_reads((MISS,), (f"{number}.rb" for number in range(NAMED_FILES + 5)))
    assert (len(counter.counts().files), counter.counts().more_files) == (NAMED_FILES, 5)
