from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.code.releases import first_failing, hourly, onset, rise_of
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.research import Onset

LAST = datetime(2026, 11, 3, 2, 20, tzinfo=UTC)
LONG_AGO = LAST - timedelta(days=60)
QUIET, LOUD = (1, 0, 2, 1, 0, 1), (30, 28, 35, 31)


def group(**more: object) -> ErrorGroup:
    told = {"fingerprint": "v1:1", "source": "file", "error_class": "E", "last_seen": LAST, **more}
    return ErrorGroup.model_validate(told)


def test_an_error_began_when_it_was_first_seen() -> None:
    first = LAST - timedelta(hours=5)
    both = Case(
        leader=group(first_seen=LAST), others=(group(fingerprint="v1:2", first_seen=first),)
    )
    assert onset(both) == Onset(at=first, because="first seen")
    assert onset(Case(leader=group())) == Onset(at=LAST, because="last seen")
    assert onset(Case(leader=group(last_seen=None))) is None


def test_an_old_error_began_anew_when_its_rate_rose() -> None:
    old = Case(leader=group(first_seen=LONG_AGO, hourly=(*QUIET, *LOUD)))
    began = onset(old)
    assert began is not None
    assert began.at == LAST.replace(minute=0) - timedelta(hours=3)
    assert began.because == "its hourly rate rose from 0.8 to 31.0"


def test_a_first_sighting_within_the_counted_hours_is_the_onset() -> None:
    first = LAST - timedelta(hours=8)
    young = Case(leader=group(first_seen=first, hourly=(*QUIET, *LOUD)))
    assert onset(young) == Onset(at=first, because="first seen")


@pytest.mark.parametrize(
    "hours",
    [
        (),
        (5,),
        (3, 5, 2, 4, 6, 3, 4, 5),
        (0, 0, 0, 1, 0, 1, 2),
        (*LOUD, *QUIET),
        (10, 12, 9, 11, 20, 22, 25, 19, 24),
        (2, 3, 2, 4, 6, 7, 9, 8, 9, 10, 9, 8),
    ],
)
def test_noise_falls_and_days_are_no_rise(hours: tuple[int, ...]) -> None:
    assert rise_of(hours) is None
    old = Case(leader=group(first_seen=LONG_AGO, hourly=hours))
    assert onset(old) == Onset(at=LONG_AGO, because="first seen")


def test_hours_of_groups_end_together() -> None:
    both = Case(leader=group(hourly=(1, 2)), others=(group(fingerprint="v1:2", hourly=(5, 0, 1)),))
    assert hourly(both) == (5, 1, 3)


def test_the_first_failing_release_is_named_or_was_running() -> None:
    one, two, three = (
        Release(version=str(n), sha=f"{n}" * 40, at=LAST - timedelta(days=10 - n))
        for n in (1, 2, 3)
    )
    began = Onset(at=LAST - timedelta(days=7, hours=12))
    named = first_failing(Case(leader=group(releases=("3",))), began, (three, one, two))
    assert named is not None
    assert (named.before, named.release, named.because) == (two, three, "the first one failing")
    running = first_failing(Case(leader=group()), began, (three, one, two))
    assert running is not None
    assert (running.before, running.release) == (one, two)
    assert first_failing(Case(leader=group()), began, (one,)) is None
    assert first_failing(Case(leader=group()), None, (one, two)) is None
