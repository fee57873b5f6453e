"""`nightwatch learnings` and `nightwatch compound`: what they print, write and refuse."""

from dataclasses import replace
from pathlib import Path

import pytest
import typer
import yaml
from analysis_shapes import OPENING, case, group, says
from core.lesson_shapes import lesson
from night_world import SEEN, worlds
from twins.reading import MemoryModel
from typer.testing import CliRunner
from world import World

from flows.commands.compound import Target, compound, draw_notes, drawn_text, feedback
from flows.commands.memory import ask_researcher, learnings
from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.memory.note_reader import as_task, notes_in
from nightwatch_core.memory.outcomes import open_trouble
from nightwatch_core.memory.scoreboard import judgements
from nightwatch_core.models.conversation import Capabilities
from nightwatch_core.models.errors import Window
from nightwatch_core.models.report import Night
from nightwatch_core.settings import CHECKOUT

NAME = "v1:aaaaaaaabbbb"
WINDOW = Window(since=SEEN, until=SEEN)
TASK = """\
---
title: Show rates
---
<plan>
Country rates are cached for a day.
</plan>
"""

app = typer.Typer()
app.command()(learnings)
app.command()(compound)
app.command()(feedback)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a night has taught two lessons, and a person keeps a task file."""
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "knowledge"))
    monkeypatch.setenv("NIGHTWATCH_TASKS_DIR", str(tmp_path / "apex" / "tasks"))
    knowledge = KnowledgeFiles(tmp_path / "knowledge")
    knowledge.write(lesson(NAME, title="No rate for new countries"))
    knowledge.write(lesson("v1:cccc", title="No rate for old countries", message="other"))
    (tmp_path / "apex" / "tasks").mkdir(parents=True)
    (tmp_path / "apex" / "tasks" / "show-rates.md").write_text(TASK)
    return tmp_path


def with_agents(model: MemoryModel) -> World:
    """A world with the agent files that come with the product."""
    world = worlds(model=model)
    return replace(world, reading=replace(world.reading, agents=AgentFiles(CHECKOUT / "agents")))


def kept(home: Path, name: str = NAME):
    knowledge = KnowledgeFiles(home / "knowledge")
    (entry,) = [item for item in knowledge.index().solutions if item.fingerprint == name]
    return knowledge.read(entry.file)


def test_learnings_of_lessons_and_tasks_are_found(home: Path) -> None:
    done = CliRunner().invoke(app, ["learnings", "cache the rates of a country"])
    assert done.exit_code == 0, done.output
    found = yaml.safe_load(done.output)
    assert found["learnings_found"] == len(found["relevant_learnings"]) == 3
    first = found["relevant_learnings"][0]
    assert first["task_id"] == "show-rates"
    assert first["source_sections"] == ["plan"]
    one = CliRunner().invoke(app, ["learnings", "cache the rates of a country", "--limit", "1"])
    assert yaml.safe_load(one.output)["learnings_found"] == 1


def test_a_model_is_asked_on_request_alone_and_the_output_keeps_its_shape(home: Path) -> None:
    ask = ["learnings", "cache the rates of a country"]
    alone = CliRunner().invoke(app, ask)
    offline = CliRunner().invoke(app, [*ask, "--ask-model"])
    assert offline.stdout == alone.stdout
    assert "own words: no language model is set up" in offline.stderr
    able = Capabilities(model="claude-x", input_price=5.0, output_price=25.0)
    model = MemoryModel(['{"searches": []}', '{"applying": ["show-rates"]}'], able=able)
    opened = with_agents(model).open(model="claude-x")
    chosen = ask_researcher(opened, "cache the rates of a country", 5, archive=False)
    assert [learning.task_id for learning in chosen.found] == ["show-rates"]
    assert "Chosen by claude-x of 3 that share words." in chosen.text


def test_what_a_person_says_of_a_finding_is_kept_and_has_it_analysed_again(home: Path) -> None:
    troubles = []
    for verdict in ("wrong", "useful", "nonsense"):
        done = CliRunner().invoke(app, ["feedback", "aaaaaaaa", verdict])
        assert done.exit_code == (2 if verdict == "nonsense" else 0), (done.output, done.exception)
        troubles.append(open_trouble(kept(home)))
    assert troubles == ["a proposal of ours was marked as wrong", "", ""]  # the last word counts
    assert [event.kind for event in kept(home).outcomes] == ["wrong", "useful"]
    assert [item.right for item in judgements((kept(home),))] == [1.0]
    unknown = CliRunner().invoke(app, ["feedback", "v1:0000", "wrong"])
    assert f"there is no lesson 'v1:0000'; the newest: {NAME}" in str(unknown.exception)


def test_compound_writes_notes_into_a_lesson_and_links_what_is_similar(home: Path) -> None:
    done = CliRunner().invoke(app, ["compound", "aaaaaaaa", "--yes"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert 'v1:cccc: "No rate for old countries' in done.output
    assert "Drawn by rule from the lesson itself: no language model is set up." in done.output
    assert "Run `nightwatch promote` to choose." in done.output
    written = kept(home)
    assert "v1:cccc" in written.related
    assert written.notes[0].problems[0].what == "No rate for new countries"
    assert written.notes[0].timestamp is not None
    again = CliRunner().invoke(app, ["compound", NAME, "--yes"])
    assert again.exit_code == 0
    assert len(kept(home).notes) == 1


def test_without_a_terminal_nothing_is_written_unless_yes_says_so(home: Path) -> None:
    before = kept(home)
    done = CliRunner().invoke(app, ["compound", NAME])
    assert isinstance(done.exception, StopTheNight)
    assert "--yes" in str(done.exception)
    assert "Found potentially related learnings" in done.output
    assert kept(home) == before


def test_a_task_that_names_nothing_stays_as_it_is_and_one_that_does_is_noted(home: Path) -> None:
    file = home / "apex" / "tasks" / "show-rates.md"
    done = CliRunner().invoke(app, ["compound", "show-rates", "--yes"])
    assert isinstance(done.exception, GiveUp)
    assert "label it there" in str(done.exception)
    assert file.read_text() == TASK
    told = "\n<ship>\nGotcha: rates end with the day, in UTC\n</ship>\n"
    file.write_text(TASK + told)
    done = CliRunner().invoke(app, ["compound", "show-rates", "--yes"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "Drawn by rule from the task's own sections: no language model" in done.output
    assert notes_in(file.read_text())[0].gotchas == ("rates end with the day, in UTC",)


@pytest.mark.parametrize(
    ("id", "why"),
    [("", "no night has published"), ("v1:ffff", "there is no lesson"), ("v1:", "matches v1:")],
)
def test_what_is_not_there_is_said(home: Path, id: str, why: str) -> None:
    done = CliRunner().invoke(app, ["compound", id, "--yes"])
    assert isinstance(done.exception, StopTheNight)
    assert why in str(done.exception)


def test_a_model_draws_the_notes_from_the_nights_transcript(home: Path) -> None:
    able = Capabilities(model="claude-x", input_price=5.0, output_price=25.0)
    model = MemoryModel(['{"gotchas": ["Rates are cached for a day"]}'], able=able)
    asked = OPENING.model_copy(update={"case": case(group(fingerprint=NAME))})
    before = worlds(model=MemoryModel([says("RATES.fetch raises")])).open(model="claude-x")
    before.begin(Night(id="n1", window=WINDOW, now=WINDOW.until))
    before.reading.model.reply(asked, 5.0)
    before.close()
    opened = with_agents(model).open(model="claude-x")
    target = Target(as_task(lesson(NAME, title="No rate")), lesson(NAME, title="No rate"))
    drawn = draw_notes(opened, target, by_rule=False)
    assert "Drawn by claude-x. It took 100 in, 10 out, $0.0010." in drawn_text(drawn)
    assert drawn.notes.gotchas == ("Rates are cached for a day",)
    assert "RATES.fetch raises" in model.shown[0].turns[0].text
    assert "you chose --no-model" in drawn_text(draw_notes(opened, target, by_rule=True))
    assert len(model.shown) == 1
