import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nightwatch_core.adapters.github.errors import Unwell
from nightwatch_core.adapters.stores.single_flight import Latest
from nightwatch_core.errors import NightWatchError

TOGETHER = 8


class Maker:
    """Makes the upper case of a key; where `waits`, no sooner than `release` is set."""

    def __init__(self, *, waits: bool = False) -> None:
        self.made: list[str] = []
        self.release = threading.Event()
        self.trouble: BaseException | None = None
        if not waits:
            self.release.set()

    def __call__(self, key: str) -> str:
        self.made.append(key)
        assert self.release.wait(60)
        if self.trouble:
            raise self.trouble
        return key.upper()


def test_the_values_used_last_are_kept() -> None:
    maker = Maker()
    latest = Latest(maker, 2)
    assert [latest.get(key) for key in "abacab"] == ["A", "B", "A", "C", "A", "B"]
    assert maker.made == ["a", "b", "c", "b"]


def test_one_thread_makes_what_the_others_wait_for() -> None:
    maker = Maker(waits=True)
    latest = Latest(maker, 4)
    with ThreadPoolExecutor(TOGETHER) as threads:
        futures = [threads.submit(latest.get, "a") for _ in range(TOGETHER)]
        maker.release.set()
    assert [one.result() for one in futures] == ["A"] * TOGETHER
    assert maker.made == ["a"]


def test_who_makes_one_value_does_not_hinder_another() -> None:
    maker = Maker(waits=True)
    latest = Latest(maker, 1)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(latest.get, "a")
        quick = threads.submit(latest.get, "b")
        while len(maker.made) < 2:
            threading.Event().wait(0.01)
        maker.release.set()
    assert (slow.result(), quick.result()) == ("A", "B")


def test_a_failure_is_told_to_all_who_wait_and_not_kept() -> None:
    maker = Maker(waits=True)
    maker.trouble = Unwell("GitHub is away", 2.0, safe=True)
    latest = Latest(maker, 4)
    waiting = threading.Barrier(TOGETHER + 1)

    def get() -> str:
        waiting.wait(60)
        return latest.get("a")

    with ThreadPoolExecutor(TOGETHER) as threads:
        futures = [threads.submit(get) for _ in range(TOGETHER)]
        waiting.wait(60)
        threading.Event().wait(0.2)  # until most of them wait for the first
        maker.release.set()
    ends = [one.exception() for one in futures]
    assert {(type(end), str(end)) for end in ends} == {(Unwell, "GitHub is away")}
    assert {vars(end)["wait"] for end in ends if isinstance(end, NightWatchError)} == {2.0}
    assert len({id(end) for end in ends}) > TOGETHER - len(maker.made)

    maker.trouble = None
    assert latest.get("a") == "A"


def test_a_bug_frees_who_waits() -> None:
    maker = Maker()
    maker.trouble = ZeroDivisionError("oops")
    latest = Latest(maker, 4)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            latest.get("a")
    assert maker.made == ["a", "a"]
