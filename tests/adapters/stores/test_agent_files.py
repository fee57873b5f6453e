"""A folder of agent files."""

import pytest

from nightwatch_core.adapters.stores.task_files import AgentFiles
from nightwatch_core.analysis.agent_specs import BUILT_IN
from nightwatch_core.errors import StopTheNight


@pytest.fixture
def folder(tmp_path):
    for name in ("zebra", "base-analyzer", "README"):
        (tmp_path / f"{name}.md").write_text(f"---\nlanguages: [go]\n---\nI am {name}.\n")
    (tmp_path / "notes.txt").write_text("no agent")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "link.md").symlink_to(tmp_path / "notes.txt")
    return tmp_path


def test_the_agents_of_a_folder(folder):
    shelf = AgentFiles(folder)
    assert shelf.names() == ("base-analyzer", "zebra")
    assert shelf.agent("zebra").prompt == "I am zebra."
    assert shelf.agent("base-analyzer").prompt == "I am base-analyzer."


@pytest.mark.parametrize("name", ["none", "../secret", "link", "folder", "README", "", "a\x00"])
def test_an_agent_that_is_not_there_stops_the_night_with_the_choice(folder, name):
    (folder.parent / "secret.md").write_text("secret")
    with pytest.raises(StopTheNight, match="choose base-analyzer, zebra"):
        AgentFiles(folder).agent(name)


def test_without_a_folder_there_is_the_built_in_agent(tmp_path):
    for folder in (None, tmp_path / "none"):
        shelf = AgentFiles(folder)
        assert shelf.names() == ()
        assert shelf.agent("base-analyzer") == BUILT_IN
        with pytest.raises(StopTheNight, match="choose base-analyzer$"):
            shelf.agent("ruby-rails")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"---\nmood: sunny\n---\nx", "agents/a.md: mood: it is not known"),
        (b"\xff", "cannot read agents/a.md: not UTF-8"),
        (b"x" * 300_000, "cannot read agents/a.md: longer than 256 KiB"),
        (b"", "agents/a.md: the prompt"),
        (b"---\nextends: link\n---\nx", "agents/link.md: there is no such file"),
    ],
)
def test_a_wrong_file_stops_the_night(tmp_path, content, said):
    (tmp_path / "a.md").write_bytes(content)
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    with pytest.raises(StopTheNight) as raised:
        AgentFiles(tmp_path).agent("a")
    assert str(raised.value).startswith(said)


def test_a_folder_that_is_a_file_stops_the_night_with_advice(tmp_path):
    (tmp_path / "agents").write_text("")
    with pytest.raises(StopTheNight, match="permissions"):
        AgentFiles(tmp_path / "agents").names()
