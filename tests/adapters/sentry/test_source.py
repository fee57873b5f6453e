from datetime import timedelta

import pytest
from services.sentry import NOW, ORGANIZATION, PREFIX, TOKEN, Answer, frame, stamp, thrown
from tables import tables_of
from twins.reading import MemoryClock

from nightwatch_core.adapters.sentry import source as limits
from nightwatch_core.adapters.sentry.client import SentryApi
from nightwatch_core.adapters.sentry.source import Sentry
from nightwatch_core.errors import StopTheNight, TryLater
from nightwatch_core.models.errors import Triage, Window

TABLES = tables_of(__file__)

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
WINDOW = Window(since=NOW - DAY, until=NOW)
PYTHON = [
    frame("django/core/handlers.py", 55, "inner", in_app=False),
    frame("app/orders.py", 3, "show", context=[[2, "def show():"], [3, "    return total()"]]),
    frame("app/cart.py", 7, "total", context=[[6, "def total():"], [7, "    cart['total']"]]),
]
NO_MORE = Answer(404, {"detail": "No matching event"})


def source(service, *projects, environments=(), watermark=None, token=TOKEN):
    waits = []
    api = SentryApi(token, service.url, ORGANIZATION, times=2.0, deadline=5.0, pause=waits.append)
    given = (projects or ("shop",), environments, watermark, MemoryClock(NOW))
    made = Sentry(api, *given)
    made.waits = waits
    return made


def fetched(service, **given):
    return source(service, **given).error_groups(WINDOW)


def only(found):
    assert found.partial == ()
    (group,) = found.groups
    return group


def test_a_group_has_the_counts_of_the_window_and_the_age_of_the_issue(service):
    times = (40 * DAY, 20 * HOUR, 3 * HOUR, HOUR)
    service.error("KeyError", "GET /orders/17", "order 7 has no 'total'", PYTHON, times)
    group = only(fetched(service))
    assert (group.source, group.app, group.error_class) == ("sentry", "shop", "KeyError")
    assert (group.transaction, group.message) == ("GET /orders/<n>", "order 7 has no 'total'")
    assert (group.occurrences, group.users, group.hosts) == (3, 3, ("web-1",))
    assert (group.first_seen, group.last_seen) == (NOW - 40 * DAY, NOW - HOUR)
    assert (group.release, group.releases, group.commit) == ("shop@1.9.0", ("shop@1.9.0",), "")
    assert [at for at, n in enumerate(group.hourly) if n] == [4, 21, 23]
    assert len(group.hourly) == len(WINDOW.hours)
    assert {request.token for request in service.requests} == {TOKEN}
    assert all(request.path.startswith(f"{PREFIX}/api/0/") for request in service.requests)


def test_hours_are_counted_where_sentry_counts_by_the_hour(service):
    service.error("KeyError", times=(90 * HOUR, 5 * HOUR, HOUR / 2))
    week = Window(since=NOW - 7 * DAY, until=NOW)
    assert source(service).error_groups(week).groups[0].hourly == ()
    short = Window(since=NOW - 6 * HOUR, until=NOW)
    assert source(service).error_groups(short).groups[0].hourly == (0, 1, 0, 0, 0, 1)


def test_the_window_follows_the_watermark_and_the_lag(service):
    watermark = NOW - timedelta(hours=30)
    after = source(service, watermark=watermark).window(None, NOW + timedelta(microseconds=7))
    assert after == Window(since=watermark, until=NOW - limits.LAG)
    just_read = source(service, watermark=NOW)
    found = just_read.error_groups(just_read.window(None, NOW))
    assert "were read before" in found.partial[0]
    assert service.requests == []


def test_only_errors_of_the_projects_and_environments_are_read(service):
    service.projects["web"], service.projects["till"] = "18", "19"
    for name, more in {
        "Ours": {},
        "Web": {"project": "web"},
        "Till": {"project": "till"},
        "Slow": {"issueCategory": "performance"},
        "Old": {"times": ((25 * HOUR),)},
        "Staged": {"event": {"tags": {"environment": "staging"}}},
        "Info": {"level": "info", "metadata": {"title": "cache is cold"}, "title": "cache is cold"},
    }.items():
        service.error(name, **more)
    found = source(service, "shop", "web", environments=("production",)).error_groups(WINDOW)
    assert {(group.error_class, group.app) for group in found.groups} == {
        ("Ours", "shop"), ("Web", "web"),
    }  # fmt: skip
    with pytest.raises(StopTheNight, match="SENTRY_ENVIRONMENT"):
        fetched(service, environments=("prod",))


def test_what_the_team_resolved_or_archived_is_honoured(service):
    person = {"type": "user", "id": "1", "name": "Ann  Example", "email": "ann@example.org"}
    for name, status, more in (
        ("Open", "unresolved", {"assignedTo": person}),
        ("Archived", "ignored", {"substatus": "archived_until_escalating"}),
        ("Forever", "ignored", {"substatus": "archived_forever"}),
        ("Fixed", "resolved", {}),
        ("Louder", "unresolved", {"substatus": "escalating"}),
    ):
        service.error(name, status=status, **more)
    found = fetched(service)
    states = {group.error_class: group.triage.state for group in found.groups}
    assert states == {"Open": "", "Archived": "ignored", "Forever": "ignored", "Louder": ""}
    assert found.left_out == ("1 issue resolved in Sentry",)
    (open_group,) = (group for group in found.groups if group.error_class == "Open")
    assert open_group.triage == Triage(assignee="Ann Example", service="Sentry", inbox="Issues")
    texts = {group.triage.state_text for group in found.groups}
    assert texts == {"", "ignored in Sentry's Issues"}


def test_issues_of_one_name_are_one_group_and_the_open_ones_count(service):
    for status, times in (("unresolved", 3), ("unresolved", 2), ("ignored", 7)):
        service.error(
            "KeyError", message="no 17", frames=PYTHON, times=(HOUR,) * times, status=status
        )
    group = only(fetched(service))
    assert (group.occurrences, group.triage.state) == (5, "")


@pytest.mark.parametrize(
    ("ago", "state"), [(2 * HOUR, "regressed"), (50 * HOUR, ""), (None, "regressed")]
)
def test_a_regression_is_one_in_the_night_it_came_back(service, ago, state):
    issue = service.error("KeyError", substatus="regressed", frames=PYTHON)
    kinds = [("first_seen", 9 * DAY), ("set_regression", 60 * HOUR), ("set_resolved", HOUR)]
    kinds += [("set_regression", ago)] if ago else []
    dated = [{"type": kind, "dateCreated": stamp(NOW - at)} for kind, at in kinds]
    issue.details = {"activity": dated} if ago else None
    group = only(fetched(service))
    assert group.triage.state == state
    assert group.regressed_at == (NOW - ago if ago and state else None)


def test_long_lists_are_paged_and_the_limit_is_said(service):
    service.page = 2
    for number in range(5):
        service.error(f"Error{'ABCDE'[number]}", times=(HOUR,) * (number + 1))
    found = fetched(service)
    assert [group.occurrences for group in found.groups] == [5, 4, 3, 2, 1]
    assert found.partial == ()
    asked = [request.parameters.get("cursor") for request in service.requests]
    assert asked[1:4] == [None, ["0:2:0"], ["0:4:0"]]
    service.page = 1
    for number in range(8):
        service.error(f"Other{'ABCDEFGH'[number]}")
    found = fetched(service)
    assert len(found.groups) == limits.PAGES
    assert found.partial == ("Sentry has more than 1,000 open issues: the rarest were not read",)


def test_traces_are_of_the_latest_and_the_recommended_event(service):
    causes = (thrown("ValueError", "no price", [frame("app/prices.py", 3, "price")]),)
    tags = {"tags": {"transaction": "orders/show"}}
    issue = service.error("KeyError", "orders/show", "'total'", PYTHON, (5 * HOUR, HOUR),
                          causes=causes, event=tags)  # fmt: skip
    issue.events[0] |= {"recommended": True, "release": {"version": "shop@1.8.0"}}
    found = source(service)
    group = only(found.error_groups(WINDOW))
    newest, recommended = found.traces(group)
    assert [trace.release for trace in (newest, recommended)] == ["shop@1.9.0", "shop@1.8.0"]
    assert [link.error_class for link in newest.links] == ["KeyError", "ValueError"]
    own = [(item.path, item.line, item.function) for item in newest.links[0].frames if item.in_app]
    assert own == [("/srv/app/cart.py", 7, "total"), ("/srv/app/orders.py", 3, "show")]
    assert newest.links[0].frames[0].code.strip() == "cart['total']"
    assert newest.links[0].frames[0].before == ("def total():",)
    assert not newest.links[0].frames[2].in_app
    assert newest.root.frames[0].path == "/srv/app/prices.py"
    assert len(found.traces(group, 1)) == 1
    assert found.traces(group, 0) == ()


def test_traces_are_found_in_another_process(service):
    service.error("KeyError", frames=PYTHON)
    group = only(fetched(service))
    (trace,) = source(service).traces(group)
    assert trace.top.path == "/srv/app/cart.py"
    assert source(service).traces(group.model_copy(update={"fingerprint": "v1:other"})) == ()


def test_frames_of_a_minified_bundle_keep_their_columns(service):
    bundle = "https://shop.example/static/app.min.js"
    frames = [frame("/static/app.min.js", 1, "t", absPath=bundle, colNo=48213)]
    service.error("TypeError", "/cart", "x is undefined", frames, event={"platform": "javascript"})
    found = source(service)
    (trace,) = found.traces(only(found.error_groups(WINDOW)))
    (place,) = trace.frames
    assert (place.path, place.line, place.column, place.in_app) == (bundle, 1, 48213, True)


@pytest.mark.parametrize("event", TABLES["test_an_event_without_exception_has_no_trace"])
def test_an_event_without_exception_has_no_trace(service, event):
    service.error("KeyError", event={"dateCreated": stamp(NOW - HOUR)}).events[0] |= event
    found = source(service)
    assert found.traces(only(found.error_groups(WINDOW))) == ()


def test_issues_that_make_no_sense_are_left_out(service):
    service.error("KeyError")
    broken = [7, None, {}, {"id": "x"}, {"id": "5", "count": "9"}, ["a"]]
    rows = Answer(200, [*broken, {"id": "6", "metadata": [], "stats": 4}])
    service.answers = [None, rows]
    assert fetched(service).groups == ()


def test_suspect_commits_are_named_with_the_trace(service):
    shas = ["a" * 40, "no sha", "b" * 40, "a" * 40]
    commits = [{"id": sha, "message": "feat", "score": 3} for sha in shas]
    issue = service.error("KeyError", frames=PYTHON)
    issue.committers = [{"author": {"name": "Ann"}, "commits": commits}, {"commits": None}]
    found = source(service)
    (trace,) = found.traces(only(found.error_groups(WINDOW)))
    assert trace.suspected == ("a" * 40, "b" * 40)
    issue.committers = None
    (trace,) = found.traces(only(found.error_groups(WINDOW)))
    assert trace.suspected == ()


def test_releases_are_told_with_their_commits(service):
    def released(version, ago, **more):
        return {"version": version, "dateCreated": stamp(NOW - ago), "dateReleased": None, **more}

    last = {"environment": "production", "dateFinished": stamp(NOW - HOUR)}
    service.releases = [
        released("shop@3", 2 * DAY, lastCommit={"id": "c" * 40}, lastDeploy=last),
        released("shop@2", 3 * DAY, lastCommit=None, lastDeploy=last | {"environment": "staging"}),
        released("shop@0", 31 * DAY),
    ]
    found = source(service, environments=("production",)).releases()
    assert [(item.version, item.sha, item.at) for item in found] == [
        ("shop@3", "c" * 40, NOW - HOUR), ("shop@2", "", NOW - 3 * DAY),
    ]  # fmt: skip
    assert source(service).releases()[1].at == NOW - HOUR


def test_a_release_that_cannot_be_read_leaves_the_answer_partial(service):
    service.error("KeyError", frames=PYTHON)
    service.answers = [None, None, None, *[Answer(502, {})] * 2]
    found = fetched(service)
    assert len(found.groups) == 1
    assert found.partial == (
        "releases of errors could not be read: Sentry has a problem: try again in some minutes "
        "(HTTP 502)",
    )


def test_probing_says_what_is_read(service):
    service.error("KeyError")
    said = source(service, environments=("production",)).probe()
    assert said == "1 project shop of 'acme' in production: 1 open issues in the last 24 hours"


@pytest.mark.parametrize(
    ("scopes", "lacking"), TABLES["test_probing_names_every_scope_that_is_missing"]
)
def test_probing_names_every_scope_that_is_missing(service, scopes, lacking):
    service.scopes = frozenset(scopes)
    with pytest.raises(StopTheNight, match=lacking):
        source(service).probe()


@pytest.mark.parametrize(("wrong", "words"), TABLES["test_a_wrong_setting_is_named"])
def test_a_wrong_setting_is_named(service, wrong, words):
    with pytest.raises(StopTheNight, match=words):
        source(service, *wrong.pop("projects", ()), **wrong).probe()
    with pytest.raises(StopTheNight, match="SENTRY_ORG and SENTRY_PROJECT"):
        Sentry(SentryApi(TOKEN, service.url, ""), ("shop",), (), None, MemoryClock())


def test_a_night_is_tried_again_where_sentry_is_unwell(service):
    service.answers = [Answer(503, {})] * 2
    with pytest.raises(TryLater, match="has a problem"):
        fetched(service)
