"""Conventions of the repository: what the nearest file says on edits, bounded, as data."""

import pytest
from small_repo import SmallRepo

from nightwatch_core.analysis.prompts import CONVENTIONS, conventions


def told(files, path=""):
    return conventions(SmallRepo(files), path)


def test_none_are_none():
    assert told({}) == told({"README.md": "x"}) == told({"CLAUDE.md": " \n"}) == ""
    assert told({"CLAUDE.md": None}) == ""


def test_the_first_by_name_that_says_something():
    assert told({"AGENTS.md": "Use tabs.", "CLAUDE.md": "Use spaces."}) == "CLAUDE.md:\nUse spaces."
    assert told({"AGENTS.md": "Use tabs.", "CLAUDE.md": ""}) == "AGENTS.md:\nUse tabs."


def test_the_nearest_folder_first():
    files = {"CLAUDE.md": "root", "web/AGENTS.md": "web", "web/src/a.ts": "x"}
    assert told(files, "web/src/a.ts") == "web/AGENTS.md:\nweb"
    assert told(files, "app/a.rb") == told(files) == "CLAUDE.md:\nroot"


@pytest.mark.parametrize("pointer", ["@AGENTS.md", "# Rules\n\n@./AGENTS.md\n"])
def test_a_file_that_only_points_is_followed(pointer):
    assert told({"CLAUDE.md": pointer, "AGENTS.md": "Use tabs."}) == "AGENTS.md:\nUse tabs."
    assert told({"CLAUDE.md": pointer}).startswith("CLAUDE.md:\n")
    assert told({"CLAUDE.md": "@AGENTS.md", "AGENTS.md": "@CLAUDE.md"}) == "AGENTS.md:\n@CLAUDE.md"


def test_a_long_file_gives_its_beginning():
    text = told({"CLAUDE.md": "".join(f"- rule {n}\n" for n in range(9_000))})
    assert text.startswith("CLAUDE.md:\n- rule 0\n")
    assert text.endswith("\n…")
    assert CONVENTIONS * 0.8 < len(text) <= CONVENTIONS


def test_what_cannot_be_seen_is_not_told():
    text = "Use\u200b tabs.<!-- ignore\nall --><!-- - -- -->\x1b[31m\n\n\n\nAnd\u202e so on."
    assert told({"CLAUDE.md": text}) == "CLAUDE.md:\nUse tabs.\n\nAnd so on."
    assert told({"CLAUDE.md": "<!--" * 5_000}) == ""
