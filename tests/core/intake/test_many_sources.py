from datetime import timedelta

import pytest
from analysis_shapes import DAY, group, trace
from twins.reading import MemoryErrors

from nightwatch_core.errors import GiveUp, StopTheNight, TryLater
from nightwatch_core.intake.cases import cases
from nightwatch_core.intake.grouping import ManySources
from nightwatch_core.intake.selection import score
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import Triage, Window

WINDOW = Window(since=DAY - timedelta(days=1), until=DAY)


class Fixed(MemoryErrors):
    """A source with a window of its own, as files have it; may be told to fail there too."""

    since = DAY - timedelta(days=3)
    until = DAY - timedelta(days=2)

    def window(self, lookback, now):
        if self.fails:
            raise self.fails
        return Window(since=self.since, until=self.until)


def of(name, *groups, **more):
    return MemoryErrors(tuple(g.model_copy(update={"source": name}) for g in groups), **more)


def test_one_that_fails_leaves_the_answer_partial():
    for trouble in (TryLater("503"), GiveUp("no such account"), StopTheNight("bad key")):
        both = ManySources({"a": of("a", group()), "b": MemoryErrors(fails=trouble)})
        fetched = both.error_groups(WINDOW)
        assert len(fetched.groups) == 1
        assert fetched.partial == (f"b: {trouble}",)
        assert not fetched.whole


def test_what_a_source_cannot_bring_back_leaves_the_answer_whole():
    sources = {"a": of("a", group("v1:1"), partial=("3 are not listed",)), "b": of("b", group())}
    fetched = ManySources(sources).error_groups(WINDOW)
    assert (fetched.whole, fetched.partial) == (True, ("3 are not listed",))
    assert [(g.source, g.fingerprint) for g in fetched.groups] == [("a", "v1:1"), ("b", "v1:a")]


def test_deployments_of_those_that_answer_newest_first():
    told = [Release(version=v, sha="", at=DAY - timedelta(days=n)) for n, v in enumerate("cba")]
    sources = {"a": of("a", deployed=(told[1],)), "b": of("b", deployed=(told[0], told[2]))}
    assert ManySources(sources).releases() == tuple(told)
    sources["c"] = Silent()
    assert ManySources(sources).releases() == tuple(told)


class Silent(MemoryErrors):
    def traces(self, group, limit=3):
        raise StopTheNight("bad key")

    def releases(self):
        raise TryLater("503")

    def probe(self):
        raise GiveUp("no answer")


@pytest.mark.parametrize(
    ("second", "kind"), [(TryLater("502"), TryLater), (StopTheNight("bad key"), StopTheNight)]
)
def test_where_nobody_answers_it_is_tried_again_if_all_are_unwell(second, kind):
    troubles = {"a": TryLater("503"), "b": second}
    both = ManySources({name: MemoryErrors(fails=why) for name, why in troubles.items()})
    with pytest.raises(kind, match=f"a: 503; b: {second}"):
        both.error_groups(WINDOW)


def test_a_group_that_two_sources_know_is_counted_once():
    few, many = group(occurrences=3), group(occurrences=8)
    both = ManySources({"a": of("a", few, group("v1:z")), "b": of("b", many)})
    groups = both.error_groups(WINDOW).groups
    assert [(g.fingerprint, g.occurrences, g.source) for g in groups] == [
        ("v1:a", 8, "b"), ("v1:z", 5, "a"),
    ]  # fmt: skip


def test_a_group_that_two_sources_know_has_what_either_knows():
    begin, back = DAY - timedelta(days=9), Triage(state="regressed", service="Sentry")
    many = group(occurrences=8, release="", users=3)
    few = group(occurrences=3, release="v2", users=4, first_seen=begin)
    few = few.model_copy(update={"triage": back, "regressed_at": DAY, "releases": ("v2",)})
    for sources in ((many, few), (few, many)):
        (one,) = (
            ManySources({f"{n}": of(f"{n}", g) for n, g in enumerate(sources)})
            .error_groups(WINDOW)
            .groups
        )
        assert (one.occurrences, one.users, one.release, one.releases) == (8, 4, "v2", ("v2",))
        assert (one.first_seen, one.triage, one.regressed_at) == (begin, back, DAY)


def test_one_cause_that_two_sources_saw_under_two_names_occurred_once():
    seen = {
        "a": group("v1:1", occurrences=8, source="a"),
        "b": group("v1:2", occurrences=5, source="b"),
        "c": group("v1:3", occurrences=4, source="b"),
    }
    (case,) = cases(tuple((found, trace()) for found in seen.values()))
    assert (len(case.groups), case.occurrences) == (3, 9)
    assert score(*case.groups) == score(group(occurrences=9))


def test_traces_come_from_the_groups_own_source():
    told = {"v1:a": (trace(raw="of b"),) * 3}
    both = ManySources({"a": of("a"), "b": of("b", group(), known_traces=told)})
    (found,) = both.error_groups(WINDOW).groups
    assert [item.raw for item in both.traces(found, 2)] == ["of b", "of b"]
    assert both.traces(group(fingerprint="v1:a")) == ()
    assert len(both.traces(group(fingerprint="v1:a", source="a"))) == 3
    assert ManySources({"a": of("a"), "c": Silent()}).traces(group(source="a")) == ()


def test_the_window_spans_all_that_answer():
    window = ManySources({"a": MemoryErrors(), "b": Fixed()}).window(None, DAY)
    assert (window.since, window.until) == (Fixed.since, DAY)
    gone = Fixed(fails=GiveUp("gone"))
    alone = ManySources({"a": MemoryErrors(), "b": gone})
    assert alone.window(timedelta(hours=1), DAY).since == DAY - timedelta(hours=1)


def test_probing_tells_of_all_and_fails_for_one():
    both = ManySources({"a": of("a", group()), "b": of("b")})
    assert both.probe() == "a: 1 groups in memory; b: 0 groups in memory"
    with pytest.raises(StopTheNight, match="b: no answer; a: 1 groups|b: no answer; 1 groups"):
        ManySources({"a": of("a", group()), "b": Silent()}).probe()


@pytest.mark.parametrize(
    ("item", "other", "both"), [(3, 4, 7), (3, None, None), (None, None, None), (0, 4, 4)]
)
def test_traffic_is_known_where_every_source_knows_its_own(item, other, both):
    sources = {"a": of("a", traffic=item), "b": of("b", traffic=other)}
    assert ManySources(sources).error_groups(WINDOW).traffic == both
    sources["c"] = MemoryErrors(fails=TryLater("503"))
    assert ManySources(sources).error_groups(WINDOW).traffic is None
