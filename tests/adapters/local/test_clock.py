import time

from nightwatch_core import ports
from nightwatch_core.adapters.local.clock import SystemClock


def test_now_is_aware_and_here(monkeypatch):
    clock: ports.Clock = SystemClock()
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert clock.now().utcoffset().total_seconds() == 19_800
        before, now, after = time.time(), clock.now().timestamp(), time.time()
        assert before - 1 <= now <= after + 1
    finally:
        monkeypatch.undo()
        time.tzset()


def test_monotonic_never_goes_back():
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(100)]
    assert readings == sorted(readings)
