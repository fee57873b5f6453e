""""""

from datetime import UTC, datetime, timedelta

import pytest
from analysis_shapes import DAY

from nightwatch_core.code.releases import first_failing, merged, onset, rise_of, sha_of
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.models.research import Onset

OLD, NEW, NEXT = (letter * 40 for letter in "abc")


def release(version, sha="", hours=0):
    return Release(version=version, sha=sha, at=DAY + timedelta(hours=hours))


def shown(releases):
    return [
        (one.version, one.sha[:4], int((one.at - DAY).total_seconds()) // 3600) for one in releases
    ]


def test_a_deployment_takes_its_tags_sha_and_its_own_time_and_name():
    tags = (release("v2", NEW, 5), release("v1", OLD, 0))
    assert shown(merged(tags, (release("2", "", 7),))) == [("2", "bbbb", 7), ("v1", "aaaa", 0)]


@pytest.mark.parametrize("sha", [NEW, NEW[:7], f" {NEW[:10].upper()} "])
def test_a_shortened_sha_becomes_whole(sha):
    (found,) = merged((release("v2", NEW),), (release("2026-11-20", sha, 3),))
    assert (found.version, found.sha) == ("2026-11-20", NEW)


def test_a_rollback_is_a_release_of_its_own():
    deployed = (release("1", OLD, 1), release("2", NEW, 2), release("1", OLD, 3))
    assert shown(merged((), deployed)) == [("1", "aaaa", 3), ("2", "bbbb", 2), ("1", "aaaa", 1)]


def test_what_was_only_tagged_and_what_was_only_deployed_are_kept():
    tags, deployed = (release("v3", NEXT, 9),), (release("main-build", "", 2),)
    assert shown(merged(tags, deployed)) == [("v3", "cccc", 9), ("main-build", "", 2)]
    assert merged(tags, ()) == tags
    assert merged((), ()) == ()


def test_the_commit_that_was_deployed_last_under_a_version():
    deployed = (release("v2", NEW[:8], 1), release("v2", NEXT, 2), release("v1", OLD, 3))
    assert sha_of("v2", deployed) == NEXT
    assert sha_of("shop@2", deployed) == NEXT
    assert sha_of("v1", deployed) == OLD
    assert sha_of("v9", deployed) == ""
    assert sha_of("", (release("", NEW),)) == ""


LAST = datetime(2026, 11, 3, 2, 20, tzinfo=UTC)
LONG_AGO = LAST - timedelta(days=60)
QUIET, LOUD = (1, 0, 2, 1, 0, 1), (30, 28, 35, 31)


def group(**more):
    told = {"fingerprint": "v1:1", "source": "file", "error_class": "E", "last_seen": LAST, **more}
    return ErrorGroup.model_validate(told)


def test_an_error_began_when_it_was_first_seen():
    first = LAST - timedelta(hours=5)
    both = Case(
        leader=group(first_seen=LAST), others=(group(fingerprint="v1:2", first_seen=first),)
    )
    assert onset(both) == Onset(at=first, because="first seen")
    assert onset(Case(leader=group())) == Onset(at=LAST, because="last seen")
    assert onset(Case(leader=group(last_seen=None))) is None


def test_an_old_error_began_anew_when_its_rate_rose():
    old = Case(leader=group(first_seen=LONG_AGO, hourly=(*QUIET, *LOUD)))
    began = onset(old)
    assert began.at == LAST.replace(minute=0) - timedelta(hours=3)
    assert began.because == "its hourly rate rose from 0.8 to 31.0"


@pytest.mark.parametrize(
    "hours",
    [
        (),
        (3, 5, 2, 4, 6, 3, 4, 5),
        (0, 0, 0, 1, 0, 1, 2),
        (*LOUD, *QUIET),
        (2, 3, 2, 4, 6, 7, 9, 8, 9, 10, 9, 8),
    ],
)
def test_noise_falls_and_days_are_no_rise(hours):
    assert rise_of(hours) is None
    old = Case(leader=group(first_seen=LONG_AGO, hourly=hours))
    assert onset(old) == Onset(at=LONG_AGO, because="first seen")


def test_the_first_failing_release_is_named_or_was_running():
    one, two, three = (
        Release(version=str(n), sha=f"{n}" * 40, at=LAST - timedelta(days=10 - n))
        for n in (1, 2, 3)
    )
    began = Onset(at=LAST - timedelta(days=7, hours=12))
    named = first_failing(Case(leader=group(releases=("3",))), began, (three, one, two))
    assert (named.before, named.release, named.because) == (two, three, "the first one failing")
    running = first_failing(Case(leader=group()), began, (three, one, two))
    assert (running.before, running.release) == (one, two)
    assert first_failing(Case(leader=group()), began, (one,)) is None
    assert first_failing(Case(leader=group()), None, (one, two)) is None
