"""The model's key is taken away in mid-night: what was paid is told, and the next night goes on."""

from pathlib import Path

import pytest
from connected.matrix import ALWAYS
from connected.world import World

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("failures")]
PAID = 2 * 2  # calls of two errors: the third's are refused
COUNTED = ("calls", "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
ONE_BY_ONE = {"NIGHTWATCH_CONCURRENCY": "1"}


def test_two_errors_are_paid_for_and_then_the_key_is_refused(tmp_path: Path, server: str) -> None:
    with World(tmp_path, prefect=server) as world:
        world.claude.fail("401", ALWAYS, after=PAID, path="/v1/messages")
        night = world.night(**ONE_BY_ONE)
        report = night.report
        assert (night.code, report["status"]) == (1, "failed"), night.output
        assert "ANTHROPIC_API_KEY" in night.told

        billed = world.claude.bills.totals
        assert billed["calls"] == PAID
        assert {name: report["usage"][name] for name in COUNTED} == {
            name: billed[name] for name in COUNTED
        }
        assert len(report["analyses"]) == 2, "what the calls had found"
        cases = [one["case"] for one in (*report["analyses"], *report["failures"])]
        groups = [case["leader"]["fingerprint"] for case in cases]
        groups += [one["group"]["fingerprint"] for one in report["dropped"]]
        assert len(set(groups)) == report["errors"]
        place = world.state / "nights" / report["night"]["id"] / "report.md"
        told = place.read_text(encoding="utf-8").replace("`", "")
        assert all(one["title"] in told for one in report["analyses"])
        assert report["code_reads"]["fetched"] > 0
        assert world.slack.shown(), "the team is told"
        assert len(world.github.issues()) == len(report["analyses"]), "and published"
        assert report["learned"]["new"] == 2
        print(f"401 after {PAID} calls: {report['usage']}, {len(report['analyses'])} verdicts, ")
        print(f"{len(report['failures'])} failed, {report['code_reads']}")

        asked = len(world.claude.bodies)
        world.claude._faults.clear()
        after = world.night(**ONE_BY_ONE)
        assert after.code == 0, after.output
        assert after.report["night"]["resumed"]
        assert len(after.report["analyses"]) == len(report["analyses"]) + 1
        again = [body for body in world.claude.bodies[asked:] if body in world.claude.bodies[:PAID]]
        assert not again, "what was paid is not asked for again"
        assert not world.published_twice()
