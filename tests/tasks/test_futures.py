import threading

import httpx
import pytest
from night_world import worlds
from prefect import flow, task

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.options import NightOptions
from tasks.night import held
from tasks.runner import all_of, attempt, each, ends, when_unwell
from tasks.workers import NightRunner

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("prefect_server")]
calls: list[str] = []


@task(retries=2, retry_condition_fn=when_unwell)
def visit(name: str, options: NightOptions) -> str:
    calls.append(name)
    if name == "gone":
        raise GiveUp(name)
    if name == "unwell" and calls.count(name) < 3:
        raise TryLater(name)
    return name


def test_only_the_unwell_are_tried_again() -> None:
    @flow(task_runner=NightRunner())
    def mapped() -> tuple[object, ...]:
        return ends(each(visit, ["well", "gone", "unwell"], NightOptions()))

    calls.clear()
    well, gone, unwell = mapped()
    assert (well, unwell) == ("well", "unwell")
    assert isinstance(gone, GiveUp)
    assert [calls.count(name) for name in ("well", "gone", "unwell")] == [1, 1, 3]


@pytest.mark.parametrize("concurrency", [1, 3])
def test_as_many_run_at_once_as_the_run_was_told(concurrency: int) -> None:
    running, most, guard = 0, 0, threading.Lock()
    full = threading.Event()

    @task
    def occupy(_: int) -> None:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
            if running == concurrency:
                full.set()
        full.wait(timeout=60)
        with guard:
            running -= 1

    @flow(task_runner=NightRunner())
    def occupied() -> None:
        with held(worlds().open(concurrency=concurrency)):
            ends(each(occupy, range(2 * concurrency)))

    occupied()
    assert most == concurrency


def test_a_night_without_the_parameter_takes_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTWATCH_CONCURRENCY", "1")
    order: list[int] = []

    @task
    def append(number: int) -> None:
        order.append(number)

    @flow(task_runner=NightRunner())
    def appended() -> None:
        with held(worlds().open()):
            ends(each(append, range(20)))

    appended()
    assert order == list(range(20))


def test_what_is_needed_raises_its_failure() -> None:
    @flow
    def needs_all() -> tuple[str, ...]:
        return all_of(each(visit, ["well", "gone"], NightOptions()))

    with pytest.raises(GiveUp, match="gone"):
        needs_all()


def test_an_attempt_has_a_stand_in_but_never_hides_a_stop() -> None:
    def gives_up() -> int:
        raise GiveUp("no disk")

    def stops() -> int:
        raise StopTheNight("no key")

    assert attempt("keeping", gives_up, otherwise=7).value == 7
    assert attempt("keeping", gives_up, otherwise=7).trouble == "keeping: no disk"
    assert attempt("keeping", lambda: 1, otherwise=7).trouble == ""
    with pytest.raises(StopTheNight):
        attempt("keeping", stops, otherwise=7)


def test_a_night_can_do_without_what_only_the_server_shows() -> None:
    def shown() -> str:
        raise httpx.ConnectError("All connection attempts failed")

    ended = attempt("showing it", shown, otherwise="")
    assert (ended.value, ended.trouble[:10]) == ("", "showing it")
