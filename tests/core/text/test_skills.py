"""The skill files: their form, and that every command in them is one that exists."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer

from flows.commands.app import app
from nightwatch_core.memory.note_reader import notes_in
from nightwatch_core.text import frontmatter

FOLDER = Path(__file__).parents[3] / "agents" / "skills"
OURS = ("compound", "research", "ship")


def text_of(name: str) -> str:
    return (FOLDER / name / "SKILL.md").read_text(encoding="utf-8")


def commands(text: str) -> list[list[str]]:
    """Every `nightwatch …` in fenced blocks and inline code, as words."""
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)).splitlines()
    spans = re.findall(r"`(nightwatch [^`\n]+)`", text)
    words = [shlex.split(line) for line in (*blocks, *spans)]
    return [line[1:] for line in words if line[:1] == ["nightwatch"]]


def verb(name: str):
    """The command as click sees it: registered, or the function of its module."""
    registered = typer.main.get_command(app()).commands
    if name in registered:
        return registered[name]
    alone = typer.Typer()
    alone.command()(getattr(importlib.import_module(f"flows.commands.{name}"), name))
    return typer.main.get_command(alone)


def test_these_are_ours():
    assert sorted(path.parent.name for path in FOLDER.glob("*/SKILL.md")) == list(OURS)
    assert [path for path in FOLDER.rglob("*") if path.is_file() and path.name != "SKILL.md"] == []


@pytest.mark.parametrize("name", OURS)
def test_the_front_matter_and_that_no_other_project_is_named(name):
    meta, body = frontmatter.read(text_of(name))
    assert set(meta) == {"name", "description"}
    assert meta["name"] == name
    assert 40 < len(meta["description"]) < 1_024
    assert body.strip().startswith(f"# {name.capitalize()}\n")
    assert not re.search(r"\bapex\b|(?<![\w<])/(?:work|root)\b", body, re.IGNORECASE)


@pytest.mark.parametrize("name", OURS)
def test_every_command_can_be_run(name):
    found = commands(text_of(name))
    assert found
    for first, *rest in found:
        words = [word for word in rest if word != "…"]
        verb(first).make_context(first, words, resilient_parsing=False)


def test_what_each_must_say():
    assert {words[0] for words in commands(text_of("compound"))} == {
        *("learnings", "compound", "promote")
    }
    research = text_of("research")
    assert re.search(r"`learnings-researcher`.*\(REQUIRED\)", research)
    assert "<past-learnings>\n    <count>" in research
    ship = text_of("ship")
    assert ship.index("## 7. Commit") < ship.index("## 8. Prompt for compounding")
    assert "✓ Committed: [commit SHA]" in ship


def test_the_notes_in_the_example_can_be_read():
    (example,) = re.findall(r"^```xml\n(.*?)^```$", text_of("compound"), re.S | re.M)
    (notes,) = notes_in(example)
    assert (len(notes.problems), len(notes.decisions), len(notes.gotchas)) == (1, 1, 1)
    assert notes.problems[0].symptoms == ("API responses > 30s on /users endpoint",)
