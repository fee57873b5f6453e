"""Whole nights among all four services, each in a process of its own."""

from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from connected import shop
from connected.world import MODEL, Night, World, about

from nightwatch_core.journal.requests import body_of, sent_requests
from nightwatch_core.text.markers import read_marker

pytestmark = pytest.mark.slow


@pytest.fixture
def world(tmp_path: Path, server: str) -> Iterator[World]:
    with World(tmp_path, prefect=server) as made:
        yield made


def items(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of ours."""
    return [item for item in found if read_marker(item["body"])]


@pytest.mark.parametrize("runner", ["threads", "dask"])
def test_a_night_without_any_option_finds_and_publishes(tmp_path: Path, runner: str) -> None:
    """These nights start Prefect's own server, as a user's first does."""
    with World(tmp_path) as world:
        night = world.night(NIGHTWATCH_TASK_RUNNER=runner)
        assert night.code == 0, night.output
        _chosen_by_itself(night)
        _what_was_asked(world)
        _what_github_holds(world)
        _what_slack_shows(world, night)
        _what_the_report_says(world, night)
        _what_left(world, night)
        (checks,) = night.report["ci"]
        assert "the state of its checks is unknown: check runs cannot be read" in checks["text"]


def _what_left(world: World, night: Night) -> None:
    """The manifest is what the services received, byte for byte, and nothing else."""
    journal = world.journal(night.report["night"]["id"])
    requests = sent_requests(journal)
    for service, there in (
        ("New Relic", world.newrelic.received),
        ("GitHub", world.github.received),
        ("Claude", world.claude.received),
        ("Slack", world.slack.received),
    ):
        ours = [
            request
            for request in requests
            if request.service == service and request.method != "git fetch"
        ]
        texts = [body_of(journal, item) for item in ours if item.bytes]
        assert Counter(texts) == Counter(body for body in there if body), service
        assert any(item.sha256 == sha256(body).hexdigest() for body in there for item in ours)
    reads = [
        request.method for request in world.github.requests if ".git/" not in request.path
    ].count("GET")
    assert [(request.service, request.method) for request in requests].count(
        ("GitHub", "GET")
    ) == reads
    assert any(request.method == "git fetch" for request in requests)
    assert not any(request.masked for request in requests)
    left = {item["service"]: item["bytes"] for item in night.report["health"]["left"]}
    assert left["Claude"] == sum(map(len, world.claude.received))
    assert "nightwatch manifest" in night.output


def _chosen_by_itself(night: Night) -> None:
    options = night.report["options"]
    ports = ("source", "code", "model", "delivery", "notify")
    assert [options[port] for port in ports] == ["newrelic", "github", MODEL, "github", "slack"]


def _what_was_asked(world: World) -> None:
    """Every service with the right key; each effect once, issues before drafts before Slack."""
    assert {request.key for request in world.newrelic.requests} == {"NRAK-TEST"}
    assert {request.token for request in world.slack.requests} == {world.slack.token}
    failed = [request for request in world.github.requests if request.status >= 400]
    left_out = ("/git/ref/", "/labels/", "/check-runs", "/actions/runs", "/status")  # may lack
    assert all(item.method == "GET" and any(x in item.path for x in left_out) for item in failed)
    assert world.newrelic.most_at_once <= 4

    seen = ("POST /issues", "POST /git/refs", "POST /pulls", "chat.postMessage")
    effects = [effect.what for effect in world.bell.effects if effect.what.startswith(seen)]
    shown = [what.split(" error")[0] for what in effects if not what.endswith("/labels")]
    assert shown == [
        *["POST /issues"] * 3,
        *["POST /git/refs", "POST /pulls"],
        *["chat.postMessage parent", *["chat.postMessage"] * 3],
    ]

    first, *others = world.claude.bodies
    assert first["model"] == MODEL
    assert first["stream"]
    results = [
        block["content"][0]["text"] if isinstance(block["content"], list) else block["content"]
        for body in others
        for message in body["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block["type"] == "tool_result"
    ]
    openings = [str(body["messages"][0]["content"]) for body in world.claude.bodies]
    assert any("9|     lines.sum { |line| line.line_total }" in text for text in openings)
    assert not any("# Paid ones" in text for text in (*openings, *results)), "it is of main"
    assert any("app/models/basket.rb:9: " in text and "line_total" in text for text in results)
    assert any("-  def line_total" in text for text in results), "what a commit did"


def _what_github_holds(world: World) -> None:
    issues, pulls = items(world.github.issues()), items(world.github.pulls())
    assert len(world.github.issues()) == len(issues) == 3
    assert all({"nightwatch", "confidence-high"} <= set(issue["labels"]) for issue in issues)
    assert len({read_marker(issue["body"]).fingerprint for issue in issues}) == 3  # type: ignore[union-attr]
    (basket,) = (issue for issue in issues if "basket.rb" in issue["title"])
    assert "lines.sum { |line| line.line_total }" in basket["body"]
    assert shop.BROKEN_BASKET.message in basket["body"]
    assert f"#{shop.CAUSE}" in basket["body"]
    page = f"{world.github.url}/{shop.REPOSITORY}"
    assert f"{page}/blob/{world.released}/app/models/basket.rb#L9" in basket["body"]
    assert "Suspected" not in next(o["body"] for o in issues if "order.rb" in o["title"])

    (pull,) = pulls
    assert pull["draft"]
    assert pull["state"] == "open"
    assert pull["base"] == "main"
    assert "nightwatch" in pull["labels"]
    assert f"Refs #{basket['number']}" in pull["body"]
    assert world.github.branches() == ["main", pull["head"]]
    assert world.github.changed("main", pull["head"]) == ["app/models/basket.rb"]
    fixed = shop.BASKET.replace("line.line_total", "line.line_price")
    assert world.github.text(pull["head"], "app/models/basket.rb") == fixed
    commit = world.github.git.commit(world.github.git.refs()[f"refs/heads/{pull['head']}"])
    assert commit["parents"] == [world.head]
    assert world.github.git.refs()["refs/heads/main"] == world.head


def _what_slack_shows(world: World, night: Night) -> None:
    parent, *replies = world.slack.shown()
    assert parent.thread_ts is None
    assert {reply.thread_ts for reply in replies} == {parent.ts}
    shown = [part.split()[0] for _, part in world.slack.parts()]
    assert shown == ["parent", "error", "error", "error"]
    assert {night for night, _ in world.slack.parts()} == {night.report["night"]["id"]}
    table = next(block for block in parent.blocks if block["type"] == "table")
    assert len(table["rows"]) == 1 + 3
    causes = [row[3]["text"] for row in table["rows"][1:]]
    titles = [found["title"] for found in night.report["analyses"]]
    assert all(any(title.startswith(cause.rstrip("…")) for title in titles) for cause in causes)
    links = {item["number"] for item in items([*world.github.issues(), *world.github.pulls()])}
    page = f"{world.github.url}/{shop.REPOSITORY}"
    linked = [link for link in world.slack.links() if link.startswith(f"{page}/")]
    lines = [link for link in linked if "/blob/" in link]
    assert {int(link.rsplit("/", 1)[1]) for link in {*linked} - {*lines}} == links
    assert f"{page}/blob/{world.released}/app/models/basket.rb#L9" in lines
    assert not world.slack.pings()
    assert not any(message.unfurl for message in world.slack.shown())


def _what_the_report_says(world: World, night: Night) -> None:
    report = night.report
    assert report["status"] == "complete"
    assert report["commit"]["sha"] == world.released != world.head
    assert len(report["analyses"]) == 3
    assert all(a["ending"]["kind"] == "answered" for a in report["analyses"])
    quotes = [e for a in report["analyses"] for e in a["evidence"]]
    assert len(quotes) == 3
    assert all(quote["verified"] for quote in quotes)
    statuses = [(receipt["kind"], receipt["status"]) for receipt in report["receipts"]]
    assert statuses == [("issue", "done")] * 3 + [("pull", "done")]
    suspects = [
        suspect["pull"]["number"] for suspect in about(report, shop.BROKEN_BASKET)["suspects"]
    ]
    assert suspects == [shop.CAUSE]
    assert not about(report, shop.NO_ADDRESS)["suspects"], "the analysis named none"
    assert report["usage"]["calls"] == len(world.claude.bodies)


def test_a_second_night_publishes_nothing_twice(tmp_path: Path, server: str) -> None:
    with World(tmp_path, (shop.BROKEN_BASKET, shop.NO_RATE, shop.TYPO), server) as world:
        first = world.night("--max-pull-requests", "2")
        assert first.code == 0, first.output
        held = world.github.branches(), len(world.github.items), len(world.github.comments)
        world.forget_requests()
        again = world.night()
        assert again.code == 0, again.output
        known = world.github.branches(), len(world.github.items), len(world.github.comments)
        assert known == held
        _told_as_known(world, again)


def _told_as_known(world: World, again: Night) -> None:
    assert not [effect for effect in world.bell.effects if effect.service == "github"]
    assert not world.claude.bodies, "known errors cost nothing"
    assert [a["ending"]["kind"] for a in again.report["analyses"]] == ["reused"] * 3
    parent = next(m for m in world.slack.shown()[::-1] if m.thread_ts is None)
    assert not [block for block in parent.blocks if block["type"] == "table"]
    told = again.report["night"]["id"]
    assert [part for night, part in world.slack.parts() if night == told] == ["parent"]


WRITES: dict[str, Callable[[World], int]] = {
    "New Relic": lambda world: sum(
        "mutation" in request.query for request in world.newrelic.requests
    ),
    "GitHub": lambda world: sum(
        request.method not in ("GET", "HEAD")
        and not request.path.endswith(("/graphql", "/git-upload-pack"))
        for request in world.github.requests
    ),
    "GitHub mutations": lambda world: sum(
        "mutation" in (request.body or {}).get("query", "")
        for request in world.github.requests
        if request.path == "/graphql"
    ),
    "Slack": lambda world: len(world.slack.requests),
}


def test_a_dry_run_writes_nothing_anywhere_and_heeds_the_errors_inbox(world: World) -> None:
    before = world.github.branches(), dict(world.github.items), dict(world.github.labels)
    night = world.night("--dry-run")
    assert night.code == 0, night.output
    assert {name: count(world) for name, count in WRITES.items()} == dict.fromkeys(WRITES, 0)
    assert not world.bell.effects
    assert (world.github.branches(), world.github.items, world.github.labels) == before
    assert [r["status"] for r in night.report["receipts"]] == ["held back"] * 4
    assert world.claude.bodies
    assert not (world.state / "knowledge").exists()
    _heeded_the_inbox(night.report)


def _heeded_the_inbox(report: dict[str, Any]) -> None:
    dropped = {dropped["group"]["message"]: dropped["reason"] for dropped in report["dropped"]}
    assert "Errors Inbox" in dropped[shop.IGNORED.message]
    told = [a["case"]["leader"]["message"] for a in report["analyses"]]
    assert shop.EXPECTED.message not in {*told, *dropped}
    assert about(report, shop.NO_ADDRESS)["case"]["leader"]["triage"]["state"] == "regressed"
