import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from nightwatch_core.adapters.hosts.writes import Unavailable
from nightwatch_core.adapters.stores.code_cache import SingleFlight
from nightwatch_core.errors import GiveUp, NightWatchError, StopTheNight, TryLater
from nightwatch_core.models.answer import Usage

TOGETHER = 8


class Maker:
    """Makes the upper case of a key, or fails first; where `waits`, once `release` is set."""

    def __init__(self, *failures, waits=False):
        self.failures = list(failures)
        self.made = []
        self.busy, self.release = threading.Event(), threading.Event()
        if not waits:
            self.release.set()

    def __call__(self, key):
        self.made.append(key)
        self.busy.set()
        assert self.release.wait(60)
        if self.failures:
            raise self.failures.pop(0)
        return key.upper()


def get(values, maker, key="a"):
    return values.get(key, lambda: maker(key))


def get_together(values, maker):
    """Many threads get one value; all but one wait for the first, who is let go then."""
    with ThreadPoolExecutor(TOGETHER) as threads:
        started = threading.Barrier(TOGETHER + 1)

        def get_one():
            started.wait(60)
            return get(values, maker)

        futures = [threads.submit(get_one) for _ in range(TOGETHER)]
        started.wait(60)
        assert maker.busy.wait(60)
        threading.Event().wait(0.5)  # until the others wait
        maker.release.set()
    return futures


def test_one_thread_makes_what_the_others_wait_for():
    maker = Maker(waits=True)
    futures = get_together(SingleFlight(4), maker)
    assert [one.result() for one in futures] == ["A"] * TOGETHER
    assert maker.made == ["a"]


@pytest.mark.parametrize(
    ("uses", "left"), [("abc", "abc"), ("abcd", "bcd"), ("abcad", "cad"), ("abcL", "abc")]
)
def test_the_values_used_last_are_kept(uses, left):
    maker = Maker()
    values = SingleFlight(30, lambda value: 31 if value == "L" else 10)
    for key in uses:
        get(values, maker, key)
    maker.made.clear()
    for key in left:
        get(values, maker, key)
    assert maker.made == []
    for key in sorted(set(uses) - set(left)):
        get(values, maker, key)
        assert maker.made.pop() == key


def test_who_makes_one_value_does_not_hinder_another():
    maker = Maker(waits=True)
    values = SingleFlight(1)
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(get, values, maker, "a")
        assert maker.busy.wait(60)
        assert get(values, Maker(), "b") == "B"
        maker.release.set()
    assert slow.result() == "A"


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [TryLater("no"), GiveUp("no"), StopTheNight("no"), Unavailable("no", 2.0, safe=True)]
)
def test_who_waited_for_a_failure_gets_a_copy_and_it_is_not_kept(error):
    maker, values = Maker(error, waits=True), SingleFlight[str, str](4)
    errors = [one.exception() for one in get_together(values, maker)]
    assert maker.made == ["a"]
    assert {(type(one), str(one)) for one in errors} == {(type(error), "no")}
    assert len({id(one) for one in errors}) == TOGETHER
    assert {getattr(one, "wait", None) for one in errors} == {getattr(error, "wait", None)}
    error.usage = Usage(calls=1)
    assert sum(one.usage is not None for one in errors if isinstance(one, NightWatchError)) == 1
    assert get(values, maker) == "A"


def test_what_was_made_elsewhere_is_kept():
    values = SingleFlight(4)
    values.put("a", "A")
    assert values.kept(("a", "b")) == {"a": "A"}
