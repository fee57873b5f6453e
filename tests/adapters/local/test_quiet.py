from pathlib import Path

import pytest
from core.lesson_shapes import lesson
from core.report_fixture import empty

from nightwatch_core.adapters.local import quiet
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.knowledge import IgnoreRule, IgnoreRules, Pattern
from nightwatch_core.models.proposals import OpenIssue


def test_lessons_are_kept_by_fingerprint():
    knowledge = quiet.MemoryKnowledge()
    file = knowledge.write(lesson("v1:a", title="one"))
    assert knowledge.write(lesson("v1:a", title="two")) == file
    assert knowledge.read(file).title == "two"
    assert knowledge.read(file).file == file
    assert knowledge.read("errors/gone.md") is None
    index = knowledge.index()
    assert [entry.file for entry in index.solutions] == [file]
    assert index.solutions[0].last_seen == index.last_updated


def test_an_archived_lesson_is_out_of_the_way_until_its_error_returns():
    knowledge = quiet.MemoryKnowledge()
    file = knowledge.write(lesson("v1:a", aliases=("v1:b",)))
    assert knowledge.archive([file, "errors/gone.md"]) == ("archive/v1:a.md",)
    assert knowledge.index().solutions == ()
    assert [entry.file for entry in knowledge.archived().solutions] == ["archive/v1:a.md"]
    back = knowledge.archived_lesson(frozenset({"v1:b"}))
    assert back == knowledge.read("archive/v1:a.md")
    assert knowledge.archived_lesson(frozenset({"v1:c"})) is None
    assert knowledge.write(back) == file
    assert knowledge.archived().solutions == ()


def test_patterns_and_rules():
    rules = IgnoreRules(rules=(IgnoreRule(pattern="x"),))
    knowledge = quiet.MemoryKnowledge(rules=rules)
    told = {"description": "D", "pattern_type": "systemic_issue", "tags": ("t",)}
    file = knowledge.write_pattern(Pattern(title="One cause: Rates!", occurrences=3, **told))
    assert file == "patterns/one-cause-rates.md"
    entry = knowledge.rebuild_index().patterns[0]
    assert (entry.file, entry.occurrences, entry.tags) == (file, 3, ("t",))
    assert knowledge.ignore_rules() == rules


def test_a_quiet_outbox_publishes_nothing_and_says_so():
    issue = OpenIssue(key="k1", fingerprint="v1:a", title="T", body="B")
    receipt = quiet.QuietOutbox().publish(issue)
    assert (receipt.status, receipt.number, receipt.title) == ("held back", None, "T")


def test_the_news_is_where_the_page_is(tmp_path: Path):
    page = tmp_path / "report.html"
    page.write_text("")
    night = empty().night.model_copy(update={"folder": str(tmp_path)})
    assert quiet.LocalNotifier().publish(empty(night=night)) == str(page.resolve())


@pytest.mark.parametrize("folder", ["", "nowhere"])
def test_there_is_no_news_without_a_page(tmp_path: Path, folder: str):
    unkept = empty().night.model_copy(update={"folder": folder and str(tmp_path / folder)})
    with pytest.raises(GiveUp, match="has not been written"):
        quiet.LocalNotifier().publish(empty(night=unkept))
