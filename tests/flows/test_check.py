"""What `nightwatch check` says of batches: bad news only where they are wanted."""

import json
from dataclasses import replace

import pytest
import typer
from night_world import worlds
from scripted_sandbox import ScriptedSandbox, unittest_run
from twins.batches import MemoryBatches

from flows.commands.setup import Probe, probes, show_answers
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.options import NightOptions
from nightwatch_core.settings import settings
from tasks.wiring.services import one_token_does_both


class NoBatches(MemoryBatches):
    def probe(self) -> str:
        raise GiveUp("http://here has no Message Batches")


def _answer(desk: MemoryBatches | None, options: NightOptions) -> tuple[str, bool] | None:
    world = worlds()
    reading = replace(world.reading, batches=desk)
    opened = replace(world, reading=reading).over(options)
    found = {one.service: (one.answer, one.is_well) for one in probes(opened)}
    return found.get("batches")


def test_batches_are_probed_where_there_may_be_some() -> None:
    plain, wanted = NightOptions(), NightOptions(batch_mode=True)
    none = "http://here has no Message Batches"
    assert _answer(None, plain) is None
    assert _answer(MemoryBatches(), plain) == ("0 batches in memory", True)
    assert _answer(NoBatches(), plain) == (f"{none} (not needed: batch mode is off)", True)
    assert _answer(NoBatches(), wanted) == (none, False)


def test_what_programs_read_of_a_check_is_what_people_see(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for desk, code in ((MemoryBatches(), 0), (NoBatches(), 1)):
        world = worlds()
        reading = replace(world.reading, batches=desk)
        opened = replace(world, reading=reading).open(batch_mode=True, model="claude-opus-5-5")
        with pytest.raises((SystemExit, typer.Exit)) as end:
            show_answers(probes(opened), as_json=True)
        found = {item["service"]: item for item in json.loads(capsys.readouterr().out)}
        batches = found["batches"]
        assert (batches["is_well"], batches["is_needed"]) == (not code, True)
        assert {*batches} == {*Probe._fields}
        assert getattr(end.value, "exit_code", getattr(end.value, "code", None)) == code


def test_ci_that_would_run_a_draft_is_named_unless_drafts_are_patches() -> None:
    world = worlds()
    told = {one.service: one.answer for one in probes(world.over(NightOptions()))}
    assert told["CI of drafts"] == "no CI workflow runs on branches of NightWatch"
    assert "sign-in" not in told
    for quiet in (NightOptions(publish="patches"), NightOptions(publish="issues")):
        assert "CI of drafts" not in {one.service for one in probes(world.over(quiet))}


def test_one_token_that_reads_and_writes_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    options = NightOptions(code="github", delivery="github")
    monkeypatch.setenv("GITHUB_TOKEN", "github_pat_x")
    assert one_token_does_both(options, settings())
    assert not one_token_does_both(NightOptions(code="checkout", delivery="local"), settings())
    monkeypatch.setenv("GITHUB_READ_TOKEN", "github_pat_y")
    assert not one_token_does_both(options, settings())


def test_the_sandbox_and_how_the_tests_are_run_are_named() -> None:
    world, options = worlds(), NightOptions()
    for place, words in (
        (ScriptedSandbox(lambda *_: unittest_run()), "scripted"),
        (
            ScriptedSandbox(lambda *_: unittest_run(), lacking="get it"),
            "without running their tests: get it",
        ),
    ):
        at = replace(world, reading=replace(world.reading, sandbox=place))
        answers = {one.service: one for one in probes(at.over(options))}
        assert words in answers["sandbox"].answer
        assert answers["sandbox"].is_well or not answers["sandbox"].is_needed
        assert "tests" in answers
