"""The rules for changed files, on listings that name folders and on those that do not."""

import pytest
from tables import tables_of

from nightwatch_core.adapters.git.branch import (
    UNSAFE,
    PathState,
    Refused,
    check_not_moved,
    expected_changes,
    state_at,
    why_unsafe,
)
from nightwatch_core.adapters.git.command import CHANGED_FILES, FILE_BYTES
from nightwatch_core.adapters.git.objects import (
    EXECUTABLE,
    FILE,
    FOLDER,
    GONE,
    LINK,
    SUBMODULE,
    Node,
)
from nightwatch_core.models.proposals import FileChange

TABLES = tables_of(__file__)

CONTENT = {"1": b"one", "2": b"#!/bin/sh", "3": b"caf\xe9", "4": b"x"}


def node(path, mode, oid, size=3):
    return Node(path, mode, oid, size, path)


FILES = {
    one.path: one
    for one in (
        node("app/a.rb", FILE, "1"),
        node("bin/run", EXECUTABLE, "2"),
        node("latin.rb", FILE, "3"),
        node("huge.rb", FILE, "4", FILE_BYTES + 1),
        node("link", LINK, "5"),
        node("lib/vendored", SUBMODULE, "6"),
    )
}
FOLDERS = {path: node(path, FOLDER, f"tree-{path}", 0) for path in ("app", "bin", "lib")}
LISTINGS = {"files only": FILES, "with folders": FILES | FOLDERS}


def wanted(listing, *changes):
    made = tuple(FileChange(path=path, text=text) for path, text in changes)
    return expected_changes(
        made,
        LISTINGS[listing],
        lambda node: CONTENT[node.oid],
        lambda content, beside: f"new {content.decode()} {beside.oid if beside else '-'}",
    )


@pytest.mark.parametrize("listing", list(LISTINGS))
def test_modes_are_kept_and_new_files_are_plain(listing):
    assert wanted(
        listing, ("app/a.rb", "two"), ("bin/run", "go"), ("app/new/b.rb", "x"), ("latin.rb", None)
    ) == {
        "app/a.rb": PathState(FILE, "new two 1"),
        "bin/run": PathState(EXECUTABLE, "new go 2"),
        "app/new/b.rb": PathState(FILE, "new x -"),
        "latin.rb": PathState(GONE, ""),
    }


REFUSED = TABLES["refused"] | {
    "too much": ((("app/a.rb", "x" * (FILE_BYTES + 1)),), "binary or over"),
    "half a character": ((("app/a.rb", "\ud800"),), "half a character"),
    "too many": (tuple((f"n{at}", "x") for at in range(CHANGED_FILES + 1)), "are more than"),
}


@pytest.mark.parametrize("listing", list(LISTINGS))
@pytest.mark.parametrize("how", list(REFUSED))
def test_what_must_not_be_made_is_refused_with_its_reason(listing, how):
    changes, said = REFUSED[how]
    with pytest.raises(Refused, match=said):
        wanted(listing, *changes)


def test_an_unchanged_file_is_no_change():
    change = (FileChange(path="app/a.rb", text="one"), FileChange(path="n", text="x"))
    found = expected_changes(change, FILES, lambda node: b"one", lambda text, beside: "1")
    assert found == {"n": PathState(FILE, "1")}


@pytest.mark.parametrize("listing", list(LISTINGS))
def test_a_base_that_moved_is_noticed(listing):
    then = LISTINGS[listing]
    now = then | {"app/a.rb": node("app/a.rb", FILE, "9"), "app": node("app", FOLDER, "other")}
    check_not_moved((FileChange(path="bin/run", text="x"),), then, now)
    check_not_moved((FileChange(path="app", text="x"),), then, now)
    with pytest.raises(Refused, match=r"base moved: 'app/a\.rb'"):
        check_not_moved((FileChange(path="app/a.rb", text="x"),), then, now)
    assert state_at(then, "app") is None


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "a\\..\\b", "C:/x", "c:x",
     "a\0b", "a\nb", "a\u202eb", "a\u200b", ".git/config", "a/.GIT/hooks", ".git./x", ".git /x",
     "git~1/x", "\uff0e\uff0e/x", "a/\u2024\u2024/b", "\uff0fetc", "%2e%2e/x", "%252e%252e%252fx",
     "a/%2egit/x", ".g\u200cit/x", "-rf", "~/x", "x" * 1_001, "a/ ../b", "a::$DATA"],
)  # fmt: skip
def test_unsafe_paths_are_named(path):
    assert why_unsafe(path) in dict(UNSAFE)


def test_plain_paths_are_safe():
    paths = ("a.rb", "app/models/order.rb", ".rubocop.yml", "a b/ü.py", "x..y")
    assert [why_unsafe(path) for path in paths] == [""] * len(paths)
