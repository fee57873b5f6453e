"""Files by name, folder, pattern and list; what cannot be read is a sentence."""

import os

import pytest
from error_records import EPOCH_MS, FULL, NOW, fetched, groups_of, json_lines, written

from nightwatch_core.adapters.files import limits
from nightwatch_core.adapters.files.source import ErrorFiles, File, files_of, named_paths
from nightwatch_core.errors import StopTheNight

RECORD, OTHER, THIRD, *_ = RECORDS = [
    json_lines([{**FULL, "timestamp": EPOCH_MS + n}]) for n in range(5)
]


def read(errors):
    return groups_of(ErrorFiles(named_paths(errors)), None, NOW)


def labels(path):
    return [item.label for item in files_of(path) if isinstance(item, File)]


def test_names_with_commas_between_them(tmp_path):
    a, b = written(tmp_path, RECORD, "a.jsonl"), written(tmp_path, OTHER, "b, c.jsonl")
    spaces = written(tmp_path, THIRD, " my errors .jsonl")
    for errors, count in (
        (f"{a}", 1),
        (f"{b}", 1),
        (f"{a},{b}", 2),
        (f" {b} ,, {a} ", 2),
        (f"{b},{a},{spaces}", 3),
    ):
        assert sum(group.occurrences for group in read(errors).groups) == count, errors
        ErrorFiles(named_paths(errors)).check_names()


def test_a_name_that_cannot_be_one_does_not_exist(tmp_path):
    for errors in ("x" * 5_000, "a\0b", str(tmp_path / "gone"), "~nobody-is-called-this/x"):
        for look in (read, lambda errors: ErrorFiles(named_paths(errors)).check_names()):
            with pytest.raises(StopTheNight, match="does not exist|cannot be read"):
                look(errors)


def test_a_file_lists_names(tmp_path):
    a, b = written(tmp_path, RECORD, "a,1.jsonl"), written(tmp_path, OTHER, "b.jsonl")
    names = written(tmp_path, f"\ufeff{a}\n\n {b}\n{tmp_path}/*.none\n", "names.txt")
    answer = read(f"@{names}")
    assert answer.groups[0].occurrences == 2
    assert answer.partial == (f"no file matches {tmp_path}/*.none",)
    at = written(tmp_path, RECORD, "@real.jsonl")
    assert read(str(at)).groups[0].occurrences == 1


@pytest.mark.parametrize("content", ["", "\n \n", "@{0}\n"])
def test_a_list_that_leads_nowhere_stops_the_night(tmp_path, content):
    names = tmp_path / "names.txt"
    names.write_text(content.format(names))
    with pytest.raises(StopTheNight):
        read(f"@{names}")
    with pytest.raises(StopTheNight, match="the list .* cannot be read"):
        read(f"@{tmp_path / 'gone'}")


def test_patterns(tmp_path):
    (tmp_path / "logs/old").mkdir(parents=True)
    for name in ("logs/a.jsonl", "logs/b.txt", "logs/old/c.jsonl", "logs/.hidden.jsonl"):
        written(tmp_path, RECORD, name)
    assert labels(tmp_path / "logs/*.jsonl") == ["a.jsonl"]
    assert labels(tmp_path / "**/*.jsonl") == ["a.jsonl", "c.jsonl"]
    assert labels(tmp_path / "logs/?.*") == ["a.jsonl", "b.txt"]
    bracket = written(tmp_path, RECORD, "logs/[a].jsonl")
    assert labels(bracket) == ["[a].jsonl"]
    with pytest.raises(StopTheNight, match=r"no file matches .*\*\.csv"):
        read(f"{tmp_path}/*.csv")


def test_what_is_no_file_in_a_folder_is_told(tmp_path):
    written(tmp_path, RECORD, "a.jsonl")
    (tmp_path / "broken").symlink_to(tmp_path / "gone")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "round").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    answer = fetched(tmp_path)
    assert answer.groups[0].occurrences == 1
    assert answer.partial == (
        f"{tmp_path}/broken is a broken link",
        f"{tmp_path}/loop is a broken link",
        f"{tmp_path}/pipe is no file",
    )


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "pipe", "loop"])
def test_what_never_ends_is_not_opened(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(StopTheNight, match="neither a file nor a folder|symbolic links"):
        fetched(tmp_path / name)


def test_the_standard_input_is_read_by_commands_alone():
    with pytest.raises(StopTheNight, match="--errors -"):
        read("-")


def test_very_many_files_are_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 3)
    for n, record in enumerate(RECORDS):
        written(tmp_path, record, f"{n}.jsonl")
    names = written(tmp_path, f"{tmp_path}/*.jsonl\n{tmp_path}/*.jsonl\n", "names")
    for errors in (f"{tmp_path}", f"{tmp_path}/*.jsonl", f"@{names}"):
        answer = read(errors)
        assert answer.groups[0].occurrences == 3
        assert "files after the first 3 are left out" in answer.partial[-1]


def test_names_of_any_bytes_are_told_on_one_line(tmp_path):
    name = os.fsdecode(b"a\n\x1b[31m\xff.jsonl")
    written(tmp_path, RECORD + "{broken\n", name)
    for errors in (str(tmp_path), str(tmp_path / name), f"{tmp_path}/*.jsonl"):
        answer = read(errors)
        assert answer.groups[0].occurrences == 1
        (reject,) = answer.rejects
        assert reject.place == "a ?.jsonl:2"
        assert answer.model_dump_json()
    with pytest.raises(StopTheNight) as gone:
        read(str(tmp_path / f"{name}.gone"))
    assert str(gone.value).isprintable()


def test_sentences_about_files_are_bounded(tmp_path):
    written(tmp_path, RECORD)
    for number in range(limits.MAX_SENTENCES + 7):
        written(tmp_path, "", f"{number}.empty")
    answer = read(str(tmp_path))
    assert len(answer.partial) == limits.MAX_SENTENCES + 1
    assert answer.partial[-1] == "7 more sentences like these"
