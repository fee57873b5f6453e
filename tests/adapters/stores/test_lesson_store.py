"""Lessons at hand and in the archive: one document an error, and nothing is lost on the way."""

from datetime import date
from hashlib import sha256

import pytest
from core.lesson_shapes import lesson, seen

from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.memory.index import file_name
from nightwatch_core.memory.lesson_text import document, lesson_of
from nightwatch_core.models.knowledge import Notes

ONE, OTHER = "v1:0123456789abcdef", "v1:fedcba9876543210"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "knowledge"


@pytest.fixture
def files(folder):
    return KnowledgeFiles(folder)


def seeds(folder, day, message="no rate for LU", **more):
    """One of several documents about one error."""
    told = {"occurrences": day, "confidence": "high", "has_fix": "false", **more}
    rows = "".join(f"{key}: {value}\n" for key, value in told.items())
    name = sha256(message.encode()).hexdigest()[:16]
    text = (
        f'---\nfingerprint: v1:{name}\nnights:\n- date: "2031-03-0{day}"\n'
        f"  night: night-{day}\n  occurrences: {day}\n  verdict: new\n"
        f'error_class: "RateMissing"\ntransaction: "bills/new"\nmessage: "{message}"\n{rows}'
        f'root_cause: "Night {day}"\nfirst_detected: "2031-03-0{day}"\nrun_id: "night-{day}"\n'
        f"---\n\n# Title {day}\n\n## Analysis\n\nProse of night {day}.\n"
    )
    place = folder / "errors" / f"2031-03-0{day}_ratemissing-bills-new.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def archived(folder):
    return sorted(path.name for path in (folder / "archive").iterdir())


# finding a fingerprint's document


@pytest.mark.parametrize("indexed", [False, True])
def test_a_document_of_any_name_is_the_lessons_own(folder, files, indexed):
    first = files.write(lesson(ONE))
    (folder / first).rename(folder / "errors" / "by hand.md")
    if indexed:
        files.rebuild_index()
    for told in (lesson(ONE, root_cause="B"), lesson(ONE, root_cause="C", file=first)):
        assert KnowledgeFiles(folder).write(told) == "errors/by hand.md"
    assert [path.name for path in (folder / "errors").iterdir()] == ["by hand.md"]


def test_notes_that_were_added_by_hand_survive_a_writer_that_never_saw_them(folder, files):
    file = files.write(lesson(ONE, notes=(Notes(gotchas=("first",)),)))
    with (folder / file).open("a") as text:
        text.write("\n<future-agent-notes>\n<gotcha>by hand</gotcha>\n</future-agent-notes>\n")
    files.write(lesson(ONE, root_cause="B", notes=(Notes(gotchas=("new",)),)))
    notes = files.read(file).notes
    assert [one.gotchas for one in notes] == [("first",), ("by hand",), ("new",)]
    files.write(files.read(file))
    assert files.read(file).notes == notes


# uniting


def test_seeds_documents_of_one_error_are_united_and_kept(folder, files):
    texts = {place.name: place.read_text() for place in (seeds(folder, 1), seeds(folder, 2))}
    alone = seeds(folder, 3, message="another")
    index = files.rebuild_index()
    assert len(index.solutions) == 2
    whole = next(files.read(e.file) for e in index.solutions if e.file != f"errors/{alone.name}")
    assert (whole.root_cause, whole.first_detected) == ("Night 2", date(2031, 3, 1))
    assert [(n.night, n.occurrences) for n in whole.nights] == [("night-1", 1), ("night-2", 2)]
    assert whole.file == file_name(whole)
    assert alone.read_text().endswith("Prose of night 3.\n")
    assert {n: (folder / "archive" / n).read_text() for n in texts} == texts
    reason = (folder / "archive/2031-03-01_ratemissing-bills-new.reason.txt").read_text()
    assert reason == (
        "errors/2031-03-01_ratemissing-bills-new.md: "
        f"superseded by {whole.file}, of {whole.fingerprint}\n"
    )
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    KnowledgeFiles(folder).rebuild_index()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert files.archived_lesson(whole.names) is None  # what gave way does not come back


def test_uniting_that_was_interrupted_is_finished(folder, files):
    for day in (1, 2, 3):
        seeds(folder, day)
    files.rebuild_index()
    whole = document(files.read(files.index().solutions[0].file))
    # as if the writer had been killed after the first of three steps, and after the second
    for name in ("2031-03-02_ratemissing-bills-new", "2031-03-03_ratemissing-bills-new"):
        (folder / f"archive/{name}.md").rename(folder / f"errors/{name}.md")
    (entry,) = files.rebuild_index().solutions
    assert document(files.read(entry.file)) == whole
    assert len([name for name in archived(folder) if name.endswith(".md")]) == 3


# the archive


def test_archived_lessons_are_out_of_the_way_and_still_there(folder, files):
    one, other = files.write(lesson(ONE, aliases=("v1:b",))), files.write(lesson(OTHER))
    text = (folder / one).read_text()
    assert files.archive([one, "errors/gone.md", "../x.md", "patterns/x.md", ""]) == (
        one.replace("errors", "archive"),
    )
    assert [entry.file for entry in KnowledgeFiles(folder).index().solutions] == [other]
    (entry,) = KnowledgeFiles(folder).archived().solutions
    assert entry.fingerprint == ONE
    assert (folder / entry.file).read_text() == text
    assert files.read(entry.file) == lesson_of(text, entry.file)
    assert files.archived_lesson(frozenset({ONE, "f1:1"})).file == entry.file
    assert files.archived_lesson(frozenset({OTHER})) is None
    assert files.archived_lesson(frozenset({"v1:b"})) is None  # by an alias alone: missed
    assert files.archived_lesson(frozenset()) is None


def test_a_lesson_comes_back_to_its_place(folder, files):
    file = files.write(lesson(ONE, aliases=("v1:b",)))
    files.archive([file])
    back = files.archived_lesson(frozenset({ONE}))
    assert files.write(back.model_copy(update={"nights": seen(1, 9)})) == file
    assert files.read(file).nights == seen(1, 9)
    assert archived(folder) == []
    assert files.archived() == type(files.archived())()


# putting away
