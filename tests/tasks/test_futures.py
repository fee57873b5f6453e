import pytest
from prefect import flow, task

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.models.options import NightOptions
from tasks.futures import all_of, attempt, fan_out, one_by_one
from tasks.policies import when_unwell

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


@task
def square(number: int) -> int:
    return number * number


def test_only_the_unwell_are_tried_again() -> None:
    @flow
    def fan() -> list[object]:
        futures = fan_out(visit, ["well", "gone", "unwell"], NightOptions(concurrency=2))
        return [future.result(raise_on_failure=False) for future in futures]

    calls.clear()
    well, gone, unwell = fan()
    assert (well, unwell) == ("well", "unwell")
    assert isinstance(gone, GiveUp)
    assert [calls.count(name) for name in ("well", "gone", "unwell")] == [1, 1, 3]


def test_nothing_to_map_is_no_task() -> None:
    assert fan_out(visit, [], NightOptions()) == ()


def test_what_is_needed_raises_its_failure() -> None:
    @flow
    def needs_all() -> tuple[str, ...]:
        return all_of(fan_out(visit, ["well", "gone"], NightOptions()))

    with pytest.raises(GiveUp, match="gone"):
        needs_all()


def test_side_effects_keep_their_order() -> None:
    @flow
    def squares() -> tuple[int, ...]:
        return one_by_one(square, (3, 1, 2))

    assert squares() == (9, 1, 4)


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
