"""Task files in a folder that people write into, too."""

import pytest

from nightwatch_core.adapters.stores.task_files import TaskFiles
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.knowledge import Notes

NOTES = Notes(gotchas=("x",))
BROKEN = "---\na: [\n---\n"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "apex" / "tasks"
    place.mkdir(parents=True)
    (place / "b.md").write_text("# B\n")
    (place / "a.md").write_text("---\ntitle: A\n---\n")
    (place / "broken.md").write_text(BROKEN)
    return place


@pytest.fixture
def store(folder, tmp_path):
    return TaskFiles(folder, tmp_path / "state" / "tasks.lock")


def test_tasks_are_listed_and_broken_ones_are_named(store):
    assert [(task.id, task.title) for task in store.tasks()] == [("a", "A"), ("b", "B")]
    (complaint,) = store.complaints()
    assert complaint.startswith("tasks/broken.md: front matter: line ")


def test_one_is_read_by_its_id(store):
    found = store.read("a")
    assert found.file == "tasks/a.md"
    assert store.read("broken") is None
    assert store.read("../../etc/passwd") is None
    assert store.read("nul\0") is None


def test_notes_and_promotions_are_kept(store):
    assert store.append("b", NOTES, ("a",)) == "tasks/b.md"
    assert store.mark_promoted("b", ("d1",)) == "tasks/b.md"
    found = store.read("b")
    assert (found.notes, found.related_tasks, found.promoted) == ((NOTES,), ("a",), ("d1",))


def test_links_are_named_and_not_followed(folder, tmp_path, store):
    (tmp_path / "secret.md").write_text("# secret\n")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    assert store.read("link") is None
    assert any("link" in complaint for complaint in store.complaints())
    with pytest.raises(GiveUp, match="there is no task"):
        store.append("link", NOTES)
    assert (tmp_path / "secret.md").read_text() == "# secret\n"


def test_a_file_that_would_grow_too_large_stays_as_it_is(folder, store):
    text = "x" * (1024 * 1024 - 5)
    (folder / "b.md").write_text(text)
    with pytest.raises(GiveUp, match="longer than"):
        store.append("b", NOTES)
    assert (folder / "b.md").read_text() == text


def test_a_task_may_have_a_directory_of_its_own(store, folder):
    for place in ("a", ".git", "a/deeper"):
        (folder / place).mkdir()
        (folder / place / "plan.md").write_text("# Plan\n")
    (folder / "elsewhere").symlink_to(folder / "a")
    assert [task.id for task in store.tasks()] == ["a", "a/plan", "b"]
    assert store.append("a/plan", NOTES) == "tasks/a/plan.md"
    found = store.read("a/plan")
    assert (found.title, found.notes) == ("Plan", (NOTES,))
    assert store.read("elsewhere/plan") is None
    assert store.read("a/../b") is None
