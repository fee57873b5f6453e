"""Whether our drafts passed their checks: as far as that may be read, and never a guess."""

import pytest
from github_world import as_app, outbox, pull, tracker
from services.github import PERMISSIONS
from services.github_checks import Checks
from tables import tables_of

from nightwatch_core.adapters.github.client import GitHubClient
from nightwatch_core.adapters.github.tracker import GitHubTracker
from nightwatch_core.adapters.stores.traffic import METER
from nightwatch_core.models.proposals import FileChange

TABLES = tables_of(__file__)

CHANGE = FileChange(path="lib/basket.rb", text="0\n")
ALL = {"checks": "read", "actions": "read", "statuses": "read"}


@pytest.fixture
def drafted(server):
    outbox(server).publish(pull(server, CHANGE))
    return server


def _may(server, *more):
    server.permissions = dict(PERMISSIONS) | {name: ALL[name] for name in more}


def _head(server):
    (item,) = (one for one in server.items.values() if one.get("head_sha"))
    return str(item["head_sha"])


def _verdict(server):
    (item,) = tracker(server).own_items()
    return item.checks


@pytest.mark.parametrize(
    ("runs", "statuses", "verdict"), TABLES["test_what_checks_and_statuses_say_together"]
)
def test_what_checks_and_statuses_say_together(drafted, runs, statuses, verdict):
    _may(drafted, *ALL)
    drafted.checks[_head(drafted)] = Checks(runs, statuses)
    assert _verdict(drafted) == verdict


@pytest.mark.parametrize(("allowed", "verdict"), TABLES["test_what_may_not_be_read_is_not_known"])
def test_what_may_not_be_read_is_not_known(drafted, allowed, verdict):
    _may(drafted, *allowed)
    drafted.checks[_head(drafted)] = Checks(("success",))
    METER.reset()
    assert _verdict(drafted) == verdict
    assert METER.calls()["GitHub"].refused == 0  # nobody has to give these rights


def test_an_app_asks_for_the_right_to_read_them_where_it_was_granted(drafted):
    drafted.app.permissions |= {"checks": "write", "statuses": "read"}
    drafted.items[1]["by"] = drafted.app.login
    drafted.checks[_head(drafted)] = Checks(("success",))
    client = GitHubClient(
        as_app(), drafted.url, repository="acme/shop", read_only=True, pause=lambda _: None
    )
    (item,) = GitHubTracker(client, "acme/shop").own_items()
    assert item.checks == "passed"
    assert drafted.app.minted[-1]["permissions"]["checks"] == "read"
    assert "actions" not in drafted.app.minted[-1]["permissions"]


FAILURE = "2026-11-21T03:00:00.1234567Z \x1b[31mFAILED test_total: 1 != 2\x1b[0m\n"


def _run(server):
    (item,) = server.pulls()
    (run,) = tracker(server).ci((item["number"],))
    return run


@pytest.mark.parametrize("allowed", [("checks", "statuses"), ("actions", "statuses")])
def test_the_end_of_what_failed_printed_is_fetched_without_the_token(drafted, allowed):
    _may(drafted, *allowed)
    drafted.checks[_head(drafted)] = Checks(("success", "failure"), (), FAILURE * 1000)
    run = _run(drafted)
    assert (run.state, run.failed, run.sha) == ("failed", ("run 1",), _head(drafted))
    assert run.log.endswith("FAILED test_total: 1 != 2")
    assert len(run.log) <= 12_000
    (fetched,) = (one for one in drafted.requests if one.path.startswith("/logs/"))
    assert "authorization" not in fetched.headers


@pytest.mark.parametrize("address", ["http://elsewhere.test/x", "file:///etc/passwd", "gopher://x"])
def test_a_log_that_lies_in_the_open_is_not_fetched(drafted, address):
    _may(drafted, *ALL)
    drafted.log_address = address
    drafted.checks[_head(drafted)] = Checks(("failure",), (), FAILURE)
    assert (_run(drafted).state, _run(drafted).log) == ("failed", "")


def test_what_fails_on_the_base_as_well_is_told(drafted):
    _may(drafted, *ALL)
    base = drafted.pulls()[0]["base_sha"]
    drafted.checks = {_head(drafted): Checks(("failure",)), base: Checks(("failure",))}
    assert _run(drafted).before
    drafted.checks[base] = Checks(("success",))
    assert not _run(drafted).before


def test_a_right_that_is_lacking_is_asked_for_once_however_often_one_looks(drafted):
    watched = tracker(drafted)
    for _ in range(5):
        watched.ci((1,))
    assert len([one for one in drafted.requests if one.status == 403]) == 3
