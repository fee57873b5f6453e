"""One error found again."""

from core.report_fixture import analysis, complete, degraded, empty, group

from nightwatch_core.models.errors import Case, DroppedGroup
from nightwatch_core.report.view import case_of, cases_like


def test_by_full_name_with_and_without_version() -> None:
    reports = [complete()]
    case = complete().analyses[1].case
    assert case_of(reports, "v1:0000000000000002") == case
    assert case_of(reports, " 0000000000000002 ") == case


def test_by_alias() -> None:
    case = complete().analyses[1].case
    assert case_of([complete()], case.others[0].fingerprint) == case
    assert case_of([complete()], case.signature or "v1:0000000000000007") == case


def test_the_newest_night_wins() -> None:
    older = empty(analyses=(analysis(1, case=Case(leader=group(1, occurrences=5))),))
    newer = empty(analyses=(analysis(1, case=Case(leader=group(1, occurrences=9))),))
    found = case_of([newer, older], "v1:0000000000000001")
    assert found is not None
    assert found.occurrences == 9
    assert len(cases_like([newer, older], "v1:00000000")) == 1


def test_a_prefix_has_to_be_unique_and_long_enough() -> None:
    named = (group(1, fingerprint="v1:abcd1111"), group(2, fingerprint="v1:abcd2222"))
    report = empty(analyses=tuple(analysis(case=Case(leader=each)) for each in named))
    assert case_of([report], "abcd") is None
    assert len(cases_like([report], "v1:abcd")) == 2
    assert case_of([report], "v1:abcd1") == Case(leader=named[0])
    assert case_of([report], "v1:abc") is None
    assert case_of([report], "v1:") is None
    assert case_of([report], "") is None


def test_a_full_name_is_found_though_it_begins_another() -> None:
    named = (group(1, fingerprint="v1:abcd1111"), group(2, fingerprint="v1:abcd"))
    report = empty(analyses=tuple(analysis(case=Case(leader=each)) for each in named))
    assert case_of([report], "v1:abcd") == Case(leader=named[1])


def test_failed_and_dropped_errors_are_found_too() -> None:
    assert case_of([degraded()], "v1:0000000000000005") == degraded().failures[0].case
    dropped = DroppedGroup(group=group(99), reason="over the limit")
    found = case_of([empty(dropped=(dropped,))], group(99).fingerprint)
    assert found == Case(leader=dropped.group)


def test_reports_are_read_no_further_than_needed() -> None:
    def reports():  # type: ignore[no-untyped-def]
        yield complete()
        raise AssertionError("read too far")

    assert case_of(reports(), "v1:0000000000000001") is not None
