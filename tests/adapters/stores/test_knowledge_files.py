"""A folder of knowledge: what is written is found again, and what is broken harms nothing."""

from functools import partial
from pathlib import Path

import pytest
from core.lesson_shapes import lesson
from threads import at_once

from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.memory.index import index_text
from nightwatch_core.models.knowledge import IgnoreRules, Index, Pattern

PATTERN = Pattern(
    title="One cause in a.rb:3",
    description="D.",
    pattern_type="systemic_issue",
    occurrences=3,
    modules=("a.rb",),
)


def known(folder):
    """A fresh reader, as another process would have."""
    return KnowledgeFiles(folder)


def tree(folder):
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


def test_a_folder_that_is_not_there_is_empty_and_stays_so(tmp_path):
    folder = tmp_path / "none"
    assert known(folder).index() == Index()
    assert known(folder).read("errors/a.md") is None
    assert known(folder).ignore_rules() == IgnoreRules()
    assert not folder.exists()


def test_what_is_written_is_listed_and_read(tmp_path):
    files = known(tmp_path)
    file = files.write(lesson(title="T", aliases=("v1:b",)))
    assert file == "errors/2031-03-01_billing-ratemissing-controller-invoices-create_aaaaaaaa.md"
    for reader in (files, known(tmp_path)):
        assert reader.read(file) == lesson(title="T", aliases=("v1:b",), file=file)
        (entry,) = reader.index().solutions
        assert (entry.file, entry.fingerprint, entry.aliases) == (
            file,
            "v1:aaaaaaaabbbb",
            ("v1:b",),
        )
        assert entry.last_seen == lesson().nights[-1].date
    assert known(tmp_path).probe() == "1 lesson, 0 patterns"


def test_two_fingerprints_of_one_short_name_are_two_documents(tmp_path):
    one = known(tmp_path).write(lesson("v1:aaaaaaaa1"))
    two = known(tmp_path).write(lesson("v1:aaaaaaaa2"))
    assert two == one.replace(".md", "-2.md")
    assert len(known(tmp_path).index().solutions) == 2


@pytest.mark.parametrize("file", ["../outside.md", "/tmp/outside.md", "errors/../../outside.md"])
def test_the_file_a_lesson_asks_for_is_not_trusted(tmp_path, file):
    folder = tmp_path / "knowledge"
    written = known(folder).write(lesson(file=file))
    assert (folder / written).is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"knowledge"}


def test_writing_the_same_changes_no_byte_and_no_time(tmp_path):
    files = known(tmp_path)
    for number in range(3):
        files.write(lesson(f"v1:{number}{number}", first_detected=f"2031-03-0{number + 1}"))
    files.write_pattern(PATTERN)
    files.rebuild_index()
    before = tree(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "errors").iterdir()}
    other = known(tmp_path)
    for entry in other.index().solutions:
        other.write(other.read(entry.file))
    other.write_pattern(PATTERN)
    other.rebuild_index()
    assert tree(tmp_path) == before
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "errors").iterdir()} == times


def test_documents_are_the_truth_whatever_happens_to_the_list_of_them(tmp_path):
    known(tmp_path).write(lesson("v1:a"))
    whole, text = known(tmp_path).rebuild_index(), (tmp_path / "index.yml").read_text()
    (tmp_path / "index.yml").write_text("[" * 100_000)
    assert known(tmp_path).index() == whole
    assert known(tmp_path).rebuild_index() == whole
    assert (tmp_path / "index.yml").read_text() == text


BROKEN = {
    "errors/no-front-matter.md": b"# Prose\n",
    "errors/open.md": b"---\nerror_class: X\n",
    "errors/bomb.md": b"---\na: &a [x]\nb: *a\n---\n",
    "errors/latin.md": b"---\nerror_class: \xe9\n---\n",
    "errors/huge.md": b"---\n" + b"x" * 1_100_000,
    "errors/nested.md": b"---\na: " + b"[" * 50_000 + b"\n---\n",
    "errors/empty.md": b"",
    "patterns/bad.md": b"---\ntitle: [\n---\n",
}


def broken(folder):
    for name, content in BROKEN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def test_broken_documents_are_listed_when_reading_and_stay_where_they_are(tmp_path):
    broken(tmp_path)
    good = known(tmp_path).write(lesson())
    before = tree(tmp_path)
    index = known(tmp_path).index()
    assert [entry.file for entry in index.solutions] == [good]
    assert {said.partition(":")[0] for said in index.quarantined} == set(BROKEN)
    assert all(known(tmp_path).read(name) is None for name in BROKEN)
    assert tree(tmp_path) == before
    assert known(tmp_path).probe() == "1 lesson, 0 patterns, 8 unreadable"


def test_broken_documents_are_moved_away_with_a_reason_when_writing(tmp_path):
    broken(tmp_path)
    good = known(tmp_path).write(lesson())
    index = known(tmp_path).rebuild_index()
    assert {path.name for path in (tmp_path / "errors").glob("*.md")} == {Path(good).name}
    moved = {path.name: path.read_bytes() for path in (tmp_path / "quarantine").glob("*.md")}
    assert moved == {Path(name).name: content for name, content in BROKEN.items()}
    reason = (tmp_path / "quarantine" / "bomb.reason.txt").read_text()
    assert reason == "errors/bomb.md: front matter: line 1: anchors and aliases are refused\n"
    assert len(index.quarantined) == len(BROKEN)
    assert known(tmp_path).index() == index


def test_a_document_in_the_way_is_not_overwritten(tmp_path):
    file = known(tmp_path).write(lesson())
    (tmp_path / file).write_text("# torn by hand")
    again = known(tmp_path).write(lesson())
    assert again != file
    assert (tmp_path / file).read_text() == "# torn by hand"


def test_links_are_not_followed(tmp_path):
    folder, outside = tmp_path / "knowledge", tmp_path / "secret.md"
    file = known(folder).write(lesson())
    outside.write_bytes((folder / file).read_bytes())
    (folder / "errors" / "link.md").symlink_to(outside)
    index = known(folder).index()
    assert [entry.file for entry in index.solutions] == [file]
    assert index.quarantined == ("errors/link.md: a link, not followed",)
    assert known(folder).read("errors/link.md") is None
    known(folder).rebuild_index()
    assert outside.is_file()
    assert (folder / "errors" / "link.md").is_symlink()


def test_a_subfolder_that_is_a_link_is_neither_read_nor_written(tmp_path):
    folder, outside = tmp_path / "knowledge", tmp_path / "outside"
    folder.mkdir()
    known(outside).write(lesson())
    (folder / "errors").symlink_to(outside / "errors")
    assert known(folder).index().solutions == ()
    assert known(folder).index().quarantined == ("errors: a link, not followed",)
    assert known(folder).read(f"errors/{next((outside / 'errors').iterdir()).name}") is None
    with pytest.raises(GiveUp, match="is a link"):
        known(folder).write(lesson("v1:ffff"))


@pytest.mark.parametrize(
    "file",
    ["", "errors", "../a.md", "errors/../../a.md", "/etc/passwd", "errors/a\x00.md",
     "patterns/x.md", "errors/sub/x.md", "index.yml"],
)  # fmt: skip
def test_only_lessons_are_read(tmp_path, file):
    known(tmp_path / "k").write_pattern(PATTERN.model_copy(update={"title": "x"}))
    (tmp_path / "a.md").write_text("secret")
    assert known(tmp_path / "k").read(file) is None


def test_a_writer_that_was_killed_leaves_nothing_behind(tmp_path):
    (tmp_path / "errors").mkdir()
    for name in (".tmp-1", "errors/.tmp-2"):
        (tmp_path / name).write_text("half a docu")
    known(tmp_path).index()
    assert (tmp_path / ".tmp-1").exists()  # reading changes nothing
    known(tmp_path).write(lesson())
    assert not list(tmp_path.rglob(".tmp-*"))


def test_writers_take_turns(tmp_path):
    def keep(number):
        KnowledgeFiles(tmp_path).write(lesson(f"v1:{number:08x}"))
        KnowledgeFiles(tmp_path).rebuild_index()

    at_once(*(partial(keep, number) for number in range(8)))
    assert len(known(tmp_path).index().solutions) == 8
    assert (tmp_path / "index.yml").read_text() == index_text(known(tmp_path).index())


def test_patterns_are_known_by_their_title(tmp_path):
    files = known(tmp_path)
    file = files.write_pattern(PATTERN)
    more = files.write_pattern(PATTERN.model_copy(update={"occurrences": 9}))
    other = files.write_pattern(PATTERN.model_copy(update={"title": "One cause in a.rb: 3"}))
    unnamed = files.write_pattern(PATTERN.model_copy(update={"title": "\u65e5\u672c"}))
    assert (file, more) == ("patterns/one-cause-in-a-rb-3.md",) * 2
    assert len({file, other, unnamed}) == 3
    assert unnamed.startswith("patterns/pattern-")
    assert [
        entry.occurrences for entry in known(tmp_path).index().patterns if entry.file == file
    ] == [9]


def test_patterns_that_people_wrote_are_listed_and_their_notes_kept(tmp_path):
    (tmp_path / "patterns").mkdir()
    (tmp_path / "patterns" / "by-hand.md").write_text("# Ask the vendor\n")
    (tmp_path / "patterns" / "README.md").write_text("---\n---\n")
    files = known(tmp_path)
    file = files.write_pattern(PATTERN)
    with (tmp_path / file).open("a") as document:
        document.write("\n## Notes\n\nOurs.\n")
    files.write_pattern(PATTERN.model_copy(update={"occurrences": 9}))
    assert (tmp_path / file).read_text().endswith("\n## Notes\n\nOurs.\n")
    titles = [entry.title for entry in known(tmp_path).rebuild_index().patterns]
    assert titles == ["by-hand", PATTERN.title]


def test_a_folder_that_is_a_file_stops_the_night_with_advice(tmp_path):
    (tmp_path / "knowledge").write_text("")
    with pytest.raises(StopTheNight, match="NIGHTWATCH_KNOWLEDGE_DIR"):
        known(tmp_path / "knowledge").index()
    with pytest.raises(GiveUp, match="cannot write to the knowledge folder"):
        known(tmp_path / "knowledge").write(lesson())


def test_ignore_rules_and_their_complaints(tmp_path):
    (tmp_path / "ignore.yml").write_text("ignore:\n- pattern: a\n- b\n")
    rules = known(tmp_path).ignore_rules()
    assert [rule.pattern for rule in rules.rules] == ["a"]
    assert rules.complaints[0].startswith("ignore.yml: line 3: ")
    other = tmp_path / "team.yml"
    other.write_bytes(b"\xff")
    assert KnowledgeFiles(tmp_path, other).ignore_rules().complaints == (
        "team.yml: not UTF-8 text: byte 0",
    )


def test_a_lesson_is_read_again_only_when_its_document_changes(tmp_path):
    reader, writer = known(tmp_path), known(tmp_path)
    file = writer.write(lesson(root_cause="r"))
    first = reader.read(file)
    assert first.root_cause == "r"
    assert reader.read(file) is first
    writer.write(first.model_copy(update={"root_cause": "other"}))
    assert reader.read(file).root_cause == "other"
    (tmp_path / file).unlink()
    assert reader.read(file) is None
