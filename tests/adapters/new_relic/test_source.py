from datetime import timedelta

import httpx
import pytest
from services.nerdgraph import ACCOUNT, KEY, NOW, entity, frame, inbox_group

from nightwatch_core.adapters.new_relic.nerdgraph import NerdGraph
from nightwatch_core.adapters.new_relic.source import NewRelic
from nightwatch_core.errors import StopTheNight, TryLater
from nightwatch_core.models.errors import Window

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
WINDOW = Window(since=NOW - DAY, until=NOW)
QUICK = httpx.Timeout(connect=5.0, read=2.0, write=5.0, pool=10.0)
RUBY = [
    frame("app/models/cart.rb:7:in 'Cart#total'"),
    frame("app/controllers/orders.rb:3:in 'show'"),
]
# Names as attackers, languages and accidents make them.
HOSTILE = (
    "it's",
    "App\\Exceptions\\Cart",
    "x' OR error.class IS NOT NULL LIMIT MAX --",
    "line\nbreak\r\nand\ttab\x00",
    "null') FACET error.class SINCE 0",
    "Ошибка • エラー 🔥\u202egnp.exe",
    "{{#if}} ${x} <n> `%`",
    "%'\\" * 200,
)


class FixedClock:
    seconds = 0.0

    def now(self):
        return NOW

    def monotonic(self):
        return self.seconds


def source(service, key=KEY, **given):
    client = NerdGraph(key, service.url, times=QUICK, deadline=5.0, pause=lambda _: None)
    values = {**{"app_name": "shop", "watermark": None, "clock": FixedClock()}, **given}
    return NewRelic(client, ACCOUNT, **values)


def fetched(service):
    return source(service).error_groups(WINDOW)


def only(found):
    assert found.partial == ()
    assert len(found.groups) == 1
    return found.groups[0]


def test_the_window_follows_the_watermark_and_the_lag(service):
    watermark = NOW - timedelta(hours=30)
    lag = timedelta(minutes=3)
    after = source(service, watermark=watermark)
    assert after.window(None, NOW) == Window(since=watermark, until=NOW - lag)
    assert after.window(7 * DAY, NOW) == Window(since=NOW - lag - 7 * DAY, until=NOW - lag)
    assert source(service).window(None, NOW) == Window(since=NOW - lag - DAY, until=NOW - lag)
    old = source(service, watermark=NOW - 9 * DAY)
    assert old.window(None, NOW) == Window(since=NOW - lag - 7 * DAY, until=NOW - lag)
    ahead = source(service, watermark=NOW + DAY)
    assert ahead.window(None, NOW).until == NOW - lag
    assert service.requests == []


def test_a_window_that_was_read_before_is_said_to_be(service):
    just_read = source(service, watermark=NOW - timedelta(seconds=20))
    found = just_read.error_groups(just_read.window(None, NOW))
    assert found.groups == ()
    assert "were read before" in found.partial[0]


def test_a_group_carries_the_commit_of_its_newest_release(service):
    for ago, version, sha in ((20, "v1", "a" * 9), (3, "v2", "b" * 9)):
        tags = {"service.version": version, "tags.commit": sha}
        service.error("KeyError", "GET /orders/17", "no 'total'", ago * HOUR, **tags)
    group = only(fetched(service))
    assert (group.release, group.commit) == ("v2", "b" * 9)


def test_groups_carry_counts_users_hosts_releases_and_hours(service):
    for ago, user, version in ((20, "ann", "v1"), (3, "bob", "v2"), (1, "bob", "v2")):
        service.error(
            "KeyError",
            "GET /orders/17",
            f"order {ago} has no 'total'",
            ago * HOUR,
            userId=user,
            host=f"web-{ago}",
            **{"service.version": version},
        )
    group = only(fetched(service))
    assert (group.source, group.app, group.error_class) == ("newrelic", "shop", "KeyError")
    assert group.transaction == "GET /orders/<n>"
    assert group.message == "order 1 has no 'total'"
    assert (group.occurrences, group.users) == (3, 2)
    assert group.hosts == ("web-1", "web-20", "web-3")
    assert (group.release, group.releases) == ("v2", ("v1", "v2"))
    assert (group.first_seen, group.last_seen) == (NOW - 20 * HOUR, NOW - HOUR)
    assert len(group.hourly) == len(WINDOW.hours)
    assert [at for at, n in enumerate(group.hourly) if n] == [4, 21, 23]


def test_the_first_hour_counts_only_what_lies_in_the_window(service):
    window = Window(since=NOW - timedelta(minutes=90), until=NOW)
    for minutes in (110, 100, 80, 30):
        service.error("KeyError", ago=timedelta(minutes=minutes))
    group = only(source(service).error_groups(window))
    assert (group.occurrences, group.hourly) == (2, (1, 1))


def test_two_messages_of_one_transaction_are_two_groups_every_night(service):
    for at in range(6):
        name = "total" if at % 2 else "price"
        service.error("NoMethodError", "orders/show", f"no '{name}' in order {at}")
    first = fetched(service)
    assert [group.occurrences for group in first.groups] == [3, 3]
    service.error("NoMethodError", "orders/show", "no 'price' in order 77", timedelta(0, 1))
    second = fetched(service)
    assert {g.fingerprint for g in second.groups} == {g.fingerprint for g in first.groups}
    assert sum(group.occurrences for group in second.groups) == 7


def test_users_are_not_counted_once_a_message(service):
    for order in range(40):
        service.error("KeyError", message=f"order {order} is gone", userId=f"user {order % 8}")
    assert only(fetched(service)).users == 8


def test_expected_errors_and_other_applications_are_left_out(service):
    service.entities.append(entity("GUID-other", "other", "python"))
    service.error("KeyError", **{"error.expected": False})
    service.error("NotFound", **{"error.expected": True})
    service.error("Elsewhere", guid="GUID-other")
    service.error("TooOld", ago=25 * HOUR)
    service.error("TooLate", ago=timedelta(0))
    assert only(fetched(service)).error_class == "KeyError"


def test_errors_without_transaction_or_message_are_counted(service):
    service.error("BootError", transaction=None, message="no port")
    service.error("KeyError", message=None)
    service.error("KeyError", "orders/show", "no 'total'")
    found = fetched(service)
    assert found.partial == ()
    assert {(g.error_class, g.transaction, g.occurrences) for g in found.groups} == {
        ("BootError", "", 1),
        ("KeyError", "orders/show", 2),
    }


def test_a_quiet_application_is_a_complete_empty_answer(service):
    found = fetched(service)
    assert (found.groups, found.partial) == ((), ())


@pytest.mark.slow
def test_more_errors_than_the_service_lists_are_said(service):
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [f"{x}{y}{z}" for x in letters for y in letters for z in letters][:5_003]
    for name in (*names, "aaa"):
        service.error("KeyError", f"orders/{name}")
    found = fetched(service)
    assert len(found.groups) == 5_000
    assert found.groups[0].occurrences == 2
    assert found.partial == ("3 more occurrences are not listed: too many different errors",)


def test_two_entities_of_one_name_are_one_application(service):
    service.entities += [entity("GUID-two", "shop", "ruby"), entity("GUID-x", "shop", "go", 99)]
    service.error("KeyError")
    service.error("KeyError", guid="GUID-two")
    service.error("KeyError", guid="GUID-x")
    assert only(fetched(service)).occurrences == 2


def test_the_inbox_says_what_the_team_said(service):
    person = {"email": "ann@example.org", "userInfo": {"id": 1, "name": "Ann  Example"}}
    back = round((NOW - HOUR).timestamp() * 1_000)
    service.inbox = [
        inbox_group("Ignored", "no 17", "IGNORED"),
        inbox_group("Fixed", "no 17", "RESOLVED", assignment=person),
        inbox_group("Back", "no 17", "UNRESOLVED", regressedAt=back),
        inbox_group("Open", "no 17", "UNRESOLVED"),
        inbox_group("Ignored", "a different failure of this class", "UNRESOLVED"),
        inbox_group("Both", "no 1", "IGNORED"),
        inbox_group("Both", "no 2", "UNRESOLVED"),
    ]
    for name in ("Ignored", "Fixed", "Back", "Open", "Both", "Unheard"):
        service.error(name, message="no 4711")
    found = fetched(service)
    assert found.partial == ()
    assert {
        group.error_class: (group.triage.state, group.triage.assignee) for group in found.groups
    } == {
        "Ignored": ("ignored", ""),
        "Fixed": ("resolved", "Ann Example"),
        "Back": ("regressed", ""),
        "Open": ("", ""),
        "Both": ("", ""),  # its two groups there say different things: never drop by chance
        "Unheard": ("", ""),
    }
    came_back = {group.error_class: group.regressed_at for group in found.groups}
    assert came_back.pop("Back") == NOW - HOUR
    assert set(came_back.values()) == {None}


def test_a_regression_of_an_earlier_night_is_none_tonight(service):
    before = round((NOW - DAY - HOUR).timestamp() * 1_000)
    service.inbox = [inbox_group("KeyError", "", "UNRESOLVED", regressedAt=before)]
    service.error("KeyError")
    assert only(fetched(service)).triage.state == ""


def test_an_inbox_that_is_longer_than_we_read_is_said(service):
    service.inbox = [inbox_group(f"Class{at}", "no", "IGNORED") for at in range(10)]
    service.error("KeyError")
    assert "more groups than were read" in fetched(service).partial[0]


TRACED = (
    ("ruby", "app/models/cart.rb:7:in 'Cart#total'", "app/models/cart.rb:7"),
    ("python", '  File "/srv/app/cart.py", line 7, in total', "/srv/app/cart.py:7"),
    ("java", "\tat com.shop.Cart.total(Cart.java:7)", "Cart.java:7"),
    ("nodejs", "    at total (/srv/app/cart.js:7:5)", "/srv/app/cart.js:7"),
)


@pytest.mark.parametrize(("language", "line", "place"), TRACED)
def test_frames_are_read_in_the_entitys_language(service, language, line, place):
    service.entities = [entity("GUID-shop", "shop", language)]
    service.error("KeyError", message="no 'total'", frames=[frame(line)])
    (trace,) = source(service).traces(only(fetched(service)))
    assert (trace.top.place, trace.top.function) == (place, "total")
    assert trace.links[0].error_class == "KeyError"
    assert trace.links[0].message == "no 'total'"


def test_frames_of_an_unknown_form_are_taken_from_their_fields(service):
    known = frame("total, somewhere", filepath="/srv/app/cart.ex", line=7, name="total")
    service.error("KeyError", frames=[known])
    (trace,) = source(service).traces(only(fetched(service)))
    assert [(each.place, each.function) for each in trace.frames] == [
        ("/srv/app/cart.ex:7", "total")
    ]


def test_a_message_that_looks_like_frames_makes_none(service):
    hostile = "no\napp/secrets.rb:1:in 'steal'\nCaused by: Fake"
    service.error("KeyError", message=hostile, frames=RUBY)
    (trace,) = source(service).traces(only(fetched(service)))
    assert [each.path for each in trace.frames] == [
        "app/models/cart.rb",
        "app/controllers/orders.rb",
    ]


def test_traces_come_newest_first_of_the_group_alone(service):
    for hours in range(5, 0, -1):
        at = [frame(f"app/cart.rb:{hours}:in 'total'")]
        service.error("KeyError", "GET /orders/17", f"no {hours}", hours * HOUR, at)
    other = [frame("app/other.rb:1:in 'x'")]
    service.error("KeyError", "GET /carts/17", "no 1", frames=other)
    service.error("KeyError", "GET /orders/18", "quite another failure", frames=other)
    group = max(fetched(service).groups, key=lambda group: group.occurrences)
    traces = source(service).traces(group, limit=2)
    assert [trace.frames[0].place for trace in traces] == ["app/cart.rb:1", "app/cart.rb:2"]
    assert source(service).traces(group, limit=0) == ()


def test_a_trace_that_was_sampled_away_is_normal(service):
    service.error("KeyError", frames=RUBY, ago=2 * HOUR)
    service.error("KeyError", frames=RUBY, ago=HOUR)
    service.error("ValueError")
    newest = max(service.exceptions)
    del service.exceptions[newest]
    by_class = {group.error_class: group for group in fetched(service).groups}
    assert len(source(service).traces(by_class["KeyError"])) == 1
    assert source(service).traces(by_class["ValueError"]) == ()


def test_one_failing_trace_leaves_the_others(service):
    service.error("KeyError", frames=RUBY, ago=2 * HOUR)
    service.error("KeyError", frames=RUBY, ago=HOUR)
    group = only(fetched(service))
    path = ["actor", "x0", "exception"]
    service.fail("errors", match="query Frames", path=path, times=2)
    assert len(source(service).traces(group)) == 1
    service.fail("errors", match="query Frames", times=2)
    with pytest.raises(TryLater):
        source(service).traces(group)


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_are_data(service, name):
    service.error(name, f"WebTransaction/{name}", name, frames=RUBY)
    service.error("Innocent", frames=[frame("app/innocent.rb:1:in 'x'")])
    found = fetched(service)
    group = next(group for group in found.groups if group.error_class == name)
    (trace,) = source(service).traces(group)
    assert trace.frames[0].path == "app/models/cart.rb"
    assert all(len(text.encode()) < 4_000 for each in service.requests for text in each.nrql)


def test_what_a_pattern_finds_too_much_is_left_out(service):
    other = [frame("app/other.rb:1:in 'x'")]
    name = "App\\Cart'"
    service.error(name, "GET /orders/17", "no", frames=RUBY, ago=5 * HOUR)
    service.error("App/Cart!", "GET /orders/17", "no", frames=other, ago=5 * HOUR)
    service.error(name, "GET /orders/17/lines", "no", frames=other, ago=5 * HOUR)
    wanted = next(
        group
        for group in fetched(service).groups
        if (group.error_class, group.transaction) == (name, "GET /orders/<n>")
    )
    traces = source(service).traces(wanted)
    assert [trace.frames[0].path for trace in traces] == ["app/models/cart.rb"]


def test_an_application_of_a_similar_name_is_another(service):
    service.entities += [entity("GUID-1", "ann's", "go"), entity("GUID-2", "ann-s", "go")]
    service.error("Ours", guid="GUID-1")
    service.error("Theirs", guid="GUID-2")
    found = source(service, app_name="ann's").error_groups(WINDOW)
    assert [group.error_class for group in found.groups] == ["Ours"]


def test_deployments_newest_first(service):
    for days, version, commit in ((40, "v0", "c0"), (3, "v1", "c1"), (1, "v2", None)):
        at = round((NOW - days * DAY).timestamp() * 1_000)
        made = {"timestamp": at, "version": version, "commit": commit, "entityGuid": "GUID-shop"}
        service.deployments.append(made)
    releases = source(service).releases()
    assert [(each.version, each.sha) for each in releases] == [("v2", ""), ("v1", "c1")]
    assert releases[0].at == NOW - DAY


def test_the_probe_says_what_is_there(service):
    service.error("KeyError")
    assert source(service).probe() == (
        "application 'shop' (ruby) in account 1: 1 unexpected errors in the last 24 hours"
    )


def test_the_probe_says_what_to_do(service):
    with pytest.raises(StopTheNight, match="user key"):
        source(service, key="NRAK-WRONG").probe()
    with pytest.raises(StopTheNight, match="there are 'shop'"):
        source(service, app_name="shopp").probe()
    service.accounts = [{"id": 5, "name": "other"}]
    with pytest.raises(StopTheNight, match=r"account 1 is not among .* \(5\)"):
        source(service).probe()


# Every way to fail, and what a night without an answer must be told.
MATRIX = (
    ("status", {"status": 401}, StopTheNight),
    ("errors", {"code": "INVALID_INPUT"}, StopTheNight),
    ("errors", {"code": "NRDB:1109", "name": "errorCode"}, TryLater),
    ("errors", {"code": "NEVER_HEARD_OF"}, TryLater),
    ("429", {"retry_after": "99999999999999999999"}, TryLater),
    ("status", {"status": 502}, TryLater),
    ("truncated", {}, TryLater),
    ("slow", {"seconds": 4.0}, TryLater),
    ("answer", {"document": []}, TryLater),
    ("answer", {"document": {"data": {"actor": {"account": {}}}}}, TryLater),
)


@pytest.mark.parametrize("match", ["query FindEntity", "FACET"])
@pytest.mark.parametrize(("how", "given", "expected"), MATRIX)
def test_a_failed_fetch_is_never_an_empty_success(service, how, given, expected, match):
    service.error("KeyError")
    times = 1 if how == "slow" else 99
    service.fail(how, match=match, times=times, **given)
    service.fail("errors", match=match, times=99, code="TIMEOUT")  # what slow queries end in
    with pytest.raises(expected) as raised:
        fetched(service)
    assert KEY not in str(raised.value)
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(("how", "given", "_expected"), [row for row in MATRIX if row[0] != "slow"])
def test_what_stands_beside_the_counts_may_fail(service, how, given, _expected):
    service.error("KeyError", **{"service.version": "v1"})
    service.fail(how, match="query ErrorGroups", times=99, **given)
    service.fail(how, match="TIMESERIES", times=99, **given)
    found = fetched(service)
    assert [group.occurrences for group in found.groups] == [1]
    said = " ".join(found.partial)
    assert "Errors Inbox" in said
    assert "could not be read" in said


def test_messages_that_cannot_be_told_apart_are_said(service):
    service.error("KeyError", message="no 'total'")
    path = ["actor", "account", "detail"]
    service.fail("errors", match="$detail", times=9, code="SERVER_ERROR", path=path)
    found = fetched(service)
    assert [group.occurrences for group in found.groups] == [1]
    assert "told apart by message" in found.partial[0]


def test_rows_that_cannot_be_read_are_counted(service):
    rows = [
        {"facet": ["KeyError", "orders/show"], "n": 3.0, "first": "soon", "last": 1e300},
        {"facet": [None, "orders/show"], "n": 1},
        {"facet": ["NaN", "x"], "n": float("inf")},
        {"facet": ["True", "x"], "n": True},
        {"facet": ["Negative", "x"], "n": -4},
        "no row",
        None,
    ]
    part = {"results": rows, "totalResult": {"n": 3.0}, "otherResult": None}
    account = {"whole": part, "outside": {"results": []}, "detail": {"results": []}}
    service.fail("answer", match="$whole", document={"data": {"actor": {"account": account}}})
    found = fetched(service)
    assert [(group.error_class, group.occurrences) for group in found.groups] == [("KeyError", 3)]
    assert found.partial == ("6 rows of New Relic's answer are unreadable",)


# -- transactions: known where New Relic says so, and never in the way


def test_all_transactions_of_the_window_are_counted(service):
    service.entities += [entity("GUID-two", "shop", "ruby"), entity("GUID-x", "other", "go")]
    service.error("KeyError")
    assert fetched(service).traffic is None  # none at all: they are not recorded
    service.traffic(40_000)
    service.traffic(2_000, 23 * HOUR, guid="GUID-two")
    service.traffic(7, guid="GUID-x")
    service.traffic(7, 25 * HOUR)
    service.traffic(7, timedelta())
    found = fetched(service)
    assert (found.traffic, found.partial) == (42_000, ())
    assert found.groups[0].occurrences == 1


@pytest.mark.parametrize("code", ["TIMEOUT", "ACCESS_DENIED", "INVALID_INPUT"])
def test_without_it_the_night_is_whole(service, code):
    service.error("KeyError")
    service.traffic(10)
    service.fail(
        "errors", match="$traffic", times=9, code=code, path=["actor", "account", "traffic"]
    )
    found = fetched(service)
    assert (found.traffic, found.partial, found.whole) == (None, (), True)
    assert [group.occurrences for group in found.groups] == [1]
