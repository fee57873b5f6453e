"""Calls that begin alike, side by side: the first one writes the cache that the others read."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from claude_talks import claude, shown
from services.anthropic import Anthropic

from nightwatch_core.adapters.claude.request import Gate
from nightwatch_core.errors import TryLater

LONG = 20.0  # seconds that nothing here takes


class Watched(Anthropic):
    """Takes its time before the first response begins, and notes who asked until then."""

    def __init__(self, others=0, seconds=0.3, until=99, **more):
        super().__init__(**more)
        self._took, self._seconds, self._until = 0, seconds, until
        self._together = threading.Barrier(others, timeout=LONG) if others else None
        self.asked_before_it_began = 0

    def message(self, body, headers, stop=""):
        with self._lock:
            self._took += 1
            is_first = self._took == 1
        if is_first:
            end = time.monotonic() + self._seconds
            while self._took < self._until and time.monotonic() < end:
                self.closing.wait(0.02)
            self.asked_before_it_began = self._took
        elif self._together:
            self._together.wait()  # all of them at once, or this breaks
        return super().message(body, headers, stop)


def ask(models, timeout=LONG, **more):
    """A first call of every model, side by side: replies or errors."""

    def one(model):
        try:
            return model.reply(shown(**more), timeout)
        except TryLater as error:
            return error

    with ThreadPoolExecutor(len(models)) as pool:
        return list(pool.map(one, models))


def known(model):
    """A model whose capabilities were asked for, so that nothing else is waited for."""
    model.capabilities()
    return model


def test_one_writes_what_the_others_read():
    with Watched(others=3) as server:
        replies = ask([known(claude(server, gate=Gate()))] * 4)
        assert server.asked_before_it_began == 1
    read = sorted(reply.usage.cache_read_tokens for reply in replies)
    assert read[0] == 0
    assert read[1] > 600


def test_models_of_one_process_share_a_gate():
    # a key of its own: the process's gate knows what other tests wrote at this address
    with Watched(others=2, key="sk-ant-test-shared-gate") as server:
        assert all(one.stop == "answer" for one in ask([known(claude(server)) for _ in range(3)]))
        assert server.asked_before_it_began == 1


def test_once_it_is_written_nobody_waits():
    with Watched(others=3) as server:
        model = known(claude(server, gate=Gate()))
        model.reply(shown(), LONG)
        replies = ask([model] * 3)
    assert all(reply.usage.cache_read_tokens for reply in replies)


@pytest.mark.slow
def test_other_prompts_wait_for_nobody():
    with Watched(others=0, seconds=1.0) as server:
        model = known(claude(server, gate=Gate()))
        with ThreadPoolExecutor(2) as pool:
            slow = pool.submit(model.reply, shown(), LONG)
            while not server.bodies:
                time.sleep(0.01)
            model.reply(shown(system="Another agent. " * 200), LONG)
            assert not slow.done()
            assert slow.result().stop == "answer"


def test_a_server_without_a_cache_is_asked_at_once():
    with Watched(seconds=LONG, until=3, compatible=True) as server:
        ask([claude(server, gate=Gate())] * 3)
        assert server.asked_before_it_began == 3


@pytest.mark.parametrize("fault", ["529", "cut", "drop", "no events"])
def test_the_others_go_on_where_the_first_fails(fault):
    with Anthropic() as server:
        model = known(claude(server, gate=Gate(), attempts=1))
        server.fail(fault)
        replies = ask([model] * 4)
        assert len(server.bodies) == 4
    assert [type(one).__name__ for one in replies].count("TryLater") == 1


@pytest.mark.slow
def test_a_first_call_that_says_nothing_is_not_waited_for_long():
    with Watched(seconds=LONG) as server:
        model = known(claude(server, gate=Gate(patience=0.2)))
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(ask, [model], 3.0)
            while not server.bodies:
                time.sleep(0.01)
            assert model.reply(shown(), LONG).stop == "answer"
            assert not slow.done()
            assert isinstance(slow.result()[0], TryLater)


def test_after_four_minutes_without_a_call_one_goes_ahead_again():
    now = [0.0]
    gate = Gate(patience=0.2, clock=lambda: now[0])

    def seconds_waited():
        began = time.monotonic()
        with gate.entered("p", LONG):
            return time.monotonic() - began

    with gate.entered("p", LONG) as first:
        assert seconds_waited() > 0.1
        first(True)
    assert seconds_waited() < 0.1
    now[0] = 241.0
    with gate.entered("p", LONG):
        assert seconds_waited() > 0.1
