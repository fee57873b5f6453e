import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from twins.reading import MemoryRecords

from nightwatch_core.adapters.github.code_cache import CodeCache, Memory, Told
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.analysis import Usage

MANY = 8


def as_it_is(told: Any) -> Any:
    return told


class Network:
    """Answers what it was told, after everybody had the time to ask."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.asked = 0
        self.busy, self.go = threading.Event(), threading.Event()

    def __call__(self) -> object:
        self.asked += 1
        self.busy.set()
        assert self.go.wait(60)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer


def at_once(cache: CodeCache, network: Network) -> list[Future[Told]]:
    """Many threads read one key; all but one wait when the network answers."""
    with ThreadPoolExecutor(MANY) as threads:
        started = threading.Barrier(MANY + 1)

        def read() -> Told:
            started.wait(60)
            return cache.read("k", network, as_it_is)

        futures = [threads.submit(read) for _ in range(MANY)]
        started.wait(60)
        assert network.busy.wait(60)
        threading.Event().wait(0.5)  # until the others wait
        network.go.set()
    return futures


def test_many_threads_ask_once() -> None:
    network = Network("text")
    told = [one.result() for one in at_once(CodeCache(MemoryRecords()), network)]
    assert network.asked == 1
    assert sorted(told) == [("text", "asked"), *[("text", "memory")] * (MANY - 1)]


@pytest.mark.parametrize("kind", [TryLater, GiveUp, StopTheNight])
def test_who_waited_for_a_failure_is_told_the_same(kind: type[NightWatchError]) -> None:
    records = MemoryRecords()
    cache, network = CodeCache(records), Network(kind("as it is"), "text")
    errors = [one.exception() for one in at_once(cache, network)]
    assert network.asked == 1
    assert {(type(error), str(error)) for error in errors} == {(kind, "as it is")}
    errors[0].usage = Usage(calls=1)  # type: ignore[union-attr]
    assert all(error.usage is None for error in errors[1:])  # type: ignore[union-attr]
    assert records.kept == {}
    assert cache.read("k", network, as_it_is) == ("text", "asked")


def test_who_waited_for_a_bug_asks_again() -> None:
    network = Network(ZeroDivisionError(), "text")
    ends = at_once(CodeCache(MemoryRecords()), network)
    assert sum(isinstance(one.exception(), ZeroDivisionError) for one in ends) == 1
    assert {one.result().value for one in ends if not one.exception()} == {"text"}
    assert network.asked == 2


def test_what_has_no_text_is_kept_too() -> None:
    cache, network = CodeCache(MemoryRecords()), Network(None)
    network.go.set()
    assert [cache.read("k", network, as_it_is) for _ in "12"] == [(None, "asked"), (None, "memory")]


def test_another_process_reads_records() -> None:
    records, network = MemoryRecords(), Network(["a"])
    network.go.set()
    CodeCache(records).read("k", network, tuple)
    other = CodeCache(records)
    assert other.read("k", network, tuple) == (("a",), "disk")
    assert other.read("k", network, tuple) == (("a",), "memory")


def test_readers_of_many_keys_never_wait_in_a_circle() -> None:
    cache, together, asked = CodeCache(MemoryRecords()), threading.Barrier(2), []

    def ask(missing: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
        asked.extend(missing)
        return ((key, key.upper()) for key in missing)

    def read(keys: str) -> dict[str, Told]:
        together.wait(60)
        return cache.read_all(tuple(keys), ask, as_it_is)

    alphabet = "abcdefghijklmnopqrstuvwxyz"
    with ThreadPoolExecutor(2) as threads:
        told = list(threads.map(read, (alphabet, alphabet[::-1])))
    assert sorted(asked) == list(alphabet)
    for each in told:
        assert {key: one.value for key, one in each.items()} == {k: k.upper() for k in alphabet}


def test_what_was_answered_before_a_failure_is_kept() -> None:
    cache = CodeCache(MemoryRecords())

    def breaks_off(missing: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
        yield missing[0], "first"
        raise TryLater("cut")

    with pytest.raises(TryLater):
        cache.read_all(("a", "b"), breaks_off, as_it_is)
    told = cache.read_all(("a", "b"), lambda missing: [(key, "again") for key in missing], as_it_is)
    assert told == {"a": ("first", "memory"), "b": ("again", "asked")}


def test_an_answer_that_leaves_a_key_out_is_a_bug_and_nobody_waits_for_it() -> None:
    cache = CodeCache(MemoryRecords())
    with pytest.raises(KeyError, match="nothing was answered for b"):
        cache.read_all(("a", "b"), lambda missing: (("a", 1),), as_it_is)
    assert cache.read("b", lambda: 2, as_it_is) == (2, "asked")


def test_an_answer_that_is_refused_is_not_kept() -> None:
    def refuse(told: Any) -> Any:
        raise GiveUp("not as documented")

    records = MemoryRecords()
    cache = CodeCache(records)
    with pytest.raises(GiveUp):
        cache.read("k", lambda: 1, refuse)
    assert records.kept == {}
    assert cache.read("k", lambda: 2, as_it_is).value == 2


@pytest.mark.parametrize(
    ("uses", "left"),
    [("abc", "abc"), ("abcd", "bcd"), ("abcad", "cad"), ("abcL", "abc")],
)
def test_memory_forgets_what_was_not_used_for_longest(uses: str, left: str) -> None:
    memory = Memory(room=30)
    for key in uses:
        if memory.find(key) is None:
            memory.keep(key, key, 31 if key == "L" else 10)
    assert {key for key in "abcdL" if memory.find(key)} == set(left)


def test_what_memory_forgot_is_read_from_records() -> None:
    cache = CodeCache(MemoryRecords(), room=10)
    read: Callable[[str], Told] = lambda key: cache.read(key, lambda: "12345678", as_it_is)  # noqa: E731
    assert [read(key).source for key in "aaba"] == ["asked", "memory", "asked", "disk"]
