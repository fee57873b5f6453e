"""Lessons are read once, and again when their documents change."""

from datetime import date
from pathlib import Path

from nightwatch_core.adapters.stores.knowledge_files import KnowledgeFiles
from nightwatch_core.models.knowledge import Lesson

LESSON = Lesson(
    fingerprint="v1:aaaabbbb", error_class="E", root_cause="r", first_detected=date(2031, 3, 1)
)


def test_a_lesson_is_read_again_when_its_document_changes(tmp_path: Path):
    reader, writer = KnowledgeFiles(tmp_path), KnowledgeFiles(tmp_path)
    file = writer.write(LESSON)
    first = reader.read(file)
    assert first
    assert first.root_cause == "r"
    assert reader.read(file) is first
    writer.write(first.model_copy(update={"root_cause": "other"}))
    again = reader.read(file)
    assert again
    assert again.root_cause == "other"
    (tmp_path / file).write_text("no front matter")
    assert reader.read(file) is None
    (tmp_path / file).unlink()
    assert reader.read(file) is None
    assert reader.read("errors/\0.md") is None


def test_a_document_that_became_a_link_is_not_read(tmp_path: Path):
    knowledge = KnowledgeFiles(tmp_path)
    file = knowledge.write(LESSON)
    assert knowledge.read(file)
    (tmp_path / file).rename(tmp_path / "elsewhere.md")
    (tmp_path / file).symlink_to(tmp_path / "elsewhere.md")
    assert knowledge.read(file) is None
