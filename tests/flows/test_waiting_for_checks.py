"""Nights over GitHub wait for a draft's first check as long as earlier drafts show."""

from dataclasses import replace

from github_world import bare_shop, client, outbox, pull
from night_world import FILES, on_prefect, worlds
from services.github import PERMISSIONS, GitHub
from services.github_checks import Checks
from twins.reading import MemoryCode, MemoryHost

from nightwatch_core.adapters.github.tracker import GitHubTracker
from nightwatch_core.models.assignment import PublishResult
from nightwatch_core.models.errors import Window
from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.report import Night
from nightwatch_core.report.builder import add_ci, start_report
from tasks.publish import watch_ci

RIGHTS = dict.fromkeys(("checks", "actions", "statuses"), "read")
CI = {".github/workflows/ci.yml": "on: [push, pull_request]\n"}


@on_prefect
def test_what_was_seen_of_earlier_drafts_decides_how_long_a_night_waits(tmp_path):
    with GitHub(bare_shop(tmp_path), permissions=PERMISSIONS | RIGHTS) as server:
        draft = pull(server)
        receipt = outbox(server).publish(draft)
        world = worlds()
        tracker = GitHubTracker(client(server, read_only=True), server.repository)
        code = MemoryHost(MemoryCode(FILES | CI))
        world = replace(world, reading=replace(world.reading, tracker=tracker, code=code))

        def night(name, *, seen=0):
            """Watch the draft as one of the night; a check is there from look number `seen` on."""
            now = world.reading.clock.now()
            of = Night(id=name, window=Window(since=now, until=now), now=now)
            report = start_report(of, NightOptions(delivery="github"), (), now)
            update = {"base": code.head(), "outcomes": tracker.own_items()}
            report, server.checks = report.model_copy(update=update), {}
            _appears(server, receipt.sha, seen)
            opened = world.over(report.options)
            opened.begin(of)
            published = PublishResult(drafts=(draft,), receipts=(receipt,))
            result = watch_ci(opened, report, published)
            world.publishing.nights.keep(add_ci(report, result))
            (ci,) = result.ci
            return ci.state, ci.waited, ci.text

        none = "no CI checks appeared: this does not count as passed; "
        why = "waited 120 s, as ci_seconds says: no earlier draft shows how long they take"
        assert night("1") == ("none", 120, f"{none}{why}")
        why = f"not waited for: the last draft in {code.head().repository} had none"
        assert night("2") == ("none", 0, f"{none}{why}")

        server.checks = {receipt.sha: Checks(runs=("success",))}  # long after its night
        assert night("3", seen=3) == ("passed", 60, "its checks passed")

        why = "waited 150 s: twice as long as on earlier drafts, and 30 s more"
        assert night("4") == ("none", 150, f"{none}{why}")


def _appears(server, sha, look):
    def before_it():
        if look == 1:
            server.checks = {sha: Checks(runs=("success",))}
        else:
            _appears(server, sha, look - 1)

    if look:
        server.before("GET", "/check-runs$", before_it)
