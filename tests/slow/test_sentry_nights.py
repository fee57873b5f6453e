"""Nights among the services that read Sentry, alone and beside New Relic."""

import subprocess
import sys
from pathlib import Path

import pytest
from connected import shop
from connected.story import a_sentry
from connected.world import World, about
from kept_files import kept_texts
from services.sentry import ORGANIZATION, PREFIX, SentryService, stamp

from nightwatch_core.journal.requests import sent_requests
from nightwatch_core.text.markers import read_marker

pytestmark = pytest.mark.slow


def variables(sentry: SentryService) -> dict[str, str]:
    return {
        "SENTRY_AUTH_TOKEN": sentry.token,
        "SENTRY_ORG": ORGANIZATION,
        "SENTRY_PROJECT": "shop",
        "SENTRY_ENVIRONMENT": "production",
        "SENTRY_URL": sentry.url,
    }


def ours(world: World) -> list[str]:
    """Titles of our issues."""
    return sorted(item["title"] for item in world.github.issues() if read_marker(item["body"]))


def test_a_night_from_sentry_finds_and_publishes(tmp_path: Path, server: str) -> None:
    with World(tmp_path, prefect=server) as world, a_sentry(world.now, shop.THREE) as sentry:
        broken, back = sentry.issues[0], sentry.issues[1]
        cause = world.github.items[shop.CAUSE]["head_sha"]
        broken.committers = [{"author": {"name": "Ann"}, "commits": [{"id": cause, "score": 3}]}]
        returned = {"type": "set_regression", "dateCreated": stamp(world.now)}
        back.more["substatus"], back.details = "regressed", {"activity": [returned]}
        for row in sentry.issues:
            row.events[-1]["user"] = {"id": "7", "email": "mia@example.com"}
        night = world.night("--source", "sentry", **variables(sentry))
        assert night.code == 0, night.output
        report = night.report
        assert (report["status"], report["options"]["source"]) == ("complete", "sentry")
        assert not world.newrelic.requests
        found = [analysis["case"]["leader"] for analysis in report["analyses"]]
        assert {leader["source"] for leader in found} == {"sentry"}
        assert {leader["release"] for leader in found} == {"shop@1.9.0"}
        assert all(quote["verified"] for a in report["analyses"] for quote in a["evidence"])
        assert report["commit"]["sha"] == world.released
        case = about(report, shop.BROKEN_BASKET)["case"]
        assert case["trace"]["suspected"] == [cause]
        assert about(report, shop.BROKEN_BASKET)["suspects"][0]["pull"]["number"] == shop.CAUSE
        assert about(report, shop.NO_ADDRESS)["case"]["leader"]["triage"]["state"] == "regressed"
        assert len(ours(world)) == 3
        assert "ignored in Sentry's Issues" in (world.state / _markdown(world)).read_text("utf-8")
        assert "Sentry (" in night.output
        _only_what_was_asked_left(world, sentry, report["night"]["id"])


def _markdown(world: World) -> Path:
    (found,) = world.state.glob("nights/*/report.md")
    return found.relative_to(world.state)


def _only_what_was_asked_left(world: World, sentry: SentryService, night: str) -> None:
    """The manifest lists each request; the token is in no file."""
    sent = [r for r in sent_requests(world.journal(night)) if r.service == "Sentry"]
    assert len(sent) == len(sentry.requests)
    assert all(f"{PREFIX}/api/0/" in request.to and not request.bytes for request in sent)
    for file, held in kept_texts(world.state):
        assert sentry.token not in held, file
        assert "mia@example.com" not in held, file


def test_what_new_relic_and_sentry_both_saw_is_one_error(tmp_path: Path, server: str) -> None:
    other = {shop.NO_RATE.transaction: "Rates#of"}  # a name of its own
    with (
        World(tmp_path, prefect=server) as world,
        a_sentry(world.now, (*shop.THREE, shop.TYPO), other) as sentry,
    ):
        settings = variables(sentry) | {"NIGHTWATCH_MAX_ISSUES": "9"}
        night = world.night(**settings)
        assert night.code == 0, night.output
        report = night.report
        assert report["options"]["source"] == "newrelic,sentry"
        groups = {
            found["case"]["leader"]["message"]: [
                group["source"] for group in (found["case"]["leader"], *found["case"]["others"])
            ]
            for found in report["analyses"]
        }
        assert groups == {
            shop.BROKEN_BASKET.message: ["newrelic"],
            shop.NO_ADDRESS.message: ["newrelic"],
            shop.NO_RATE.message: ["newrelic", "sentry"],
            shop.TYPO.message: ["sentry"],
        }
        rates = about(report, shop.NO_RATE)["case"]
        assert rates["leader"]["occurrences"] == rates["others"][0]["occurrences"]
        name = Path(shop.NO_RATE.path).name
        (body,) = (item["body"] for item in world.github.issues() if name in item["title"])
        assert f"{shop.NO_RATE.occurrences} times" in body
        assert len(ours(world)) == 4
        kinds = {analysis["case"]["leader"]["fingerprint"] for analysis in report["analyses"]}
        again = world.night(**settings)
        assert again.code == 0, again.output
        assert {a["case"]["leader"]["fingerprint"] for a in again.report["analyses"]} == kinds
        assert len(ours(world)) == 4


def test_check_names_the_scopes_that_a_token_lacks(tmp_path: Path) -> None:
    with World(tmp_path, ()) as world, a_sentry(world.now, shop.THREE) as sentry:
        environment = world.environment() | variables(sentry)
        command = [str(Path(sys.executable).parent / "nightwatch"), "check", "--source", "sentry"]

        def check() -> tuple[int, str]:
            done = subprocess.run(
                command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120
            )
            return done.returncode, " ".join((done.stdout + done.stderr).split())

        code, said = check()
        assert code == 0, said
        assert "1 project shop of 'acme' in production: 3 open issues" in said
        sentry.scopes = frozenset(("project:read",))
        code, said = check()
        assert code == 1, said
        assert "the token of SENTRY_AUTH_TOKEN lacks event:read, or may not see" in said
        assert sentry.token not in said
