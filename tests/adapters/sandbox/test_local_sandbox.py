"""Tests of the sandbox's own steps; what it holds back is shown in tests/slow."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT, shell
from machine import needs

from nightwatch_core.adapters.sandbox import launcher
from nightwatch_core.adapters.sandbox import local_sandbox as place
from nightwatch_core.adapters.sandbox.interpreters import interpreters
from nightwatch_core.adapters.sandbox.ladder import Confinement
from nightwatch_core.adapters.sandbox.local_sandbox import LocalSandbox, laid_out
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import NOT_LAID_OUT, FileChange


def refused(state, *ladder):
    laid = []
    made = LocalSandbox(state, lambda commit, folder: laid.append(commit) or 0, ladder=ladder)
    with pytest.raises(GiveUp) as why:
        made.run(COMMIT, (), shell("echo ran > /tmp/nightwatch-ran-bare"))
    assert not laid
    return str(why.value)


def test_where_nothing_confines_nothing_is_run_and_it_says_what_to_install(tmp_path):
    absent = Confinement("bubblewrap", lambda cell: ())
    assert "apt-get install bubblewrap" in refused(tmp_path, absent)


def test_a_folder_of_programs_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(GiveUp, match="NIGHTWATCH_SANDBOX_FOLDERS names /nowhere/x, which is no"):
        cells.sandbox(tmp_path, folders=(Path("/nowhere/x"),)).confinement()


def test_what_starts_programs_without_confining_them_is_not_trusted(tmp_path):
    bare = Confinement("bare", lambda cell: ("env", *cell.words))
    failing = Confinement("failing", lambda cell: ("sh", "-c", "echo it holds; exit 1"))
    why = refused(tmp_path, bare, failing)
    assert "bare: " in why
    assert not Path("/tmp/nightwatch-ran-bare").exists()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "a//x", "./x", "a/\0", ""])
def test_changes_that_lead_out_of_the_tree_are_refused(tmp_path, path):
    with pytest.raises(GiveUp):
        place.lay_changes((FileChange(path=path, text="x"),), tmp_path / "in")
    assert not [item for item in tmp_path.rglob("*") if item.is_file()]


def test_a_name_cannot_become_a_command_where_it_is_deleted_or_linked():
    script = laid_out(("a'; touch /tmp/pwned; '", "-rf", "$(id)"), (("$(id)", "/env/x"),))
    assert """'/work/a'"'"'; touch /tmp/pwned; '"'"''""" in script
    assert "'/work/$(id)'" in script
    assert script.endswith(f"exit {NOT_LAID_OUT}")


def test_a_place_that_somebody_else_may_write_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    state = tmp_path / "state"
    made = place.open_place(state, os.geteuid())
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert {stat.S_IMODE(item.stat().st_mode) for item in (made / "etc").iterdir()} == {0o600}
    made.rename(tmp_path / "moved")
    made.symlink_to(tmp_path / "moved")
    with pytest.raises(GiveUp, match="other users can write"):
        place.open_place(state, os.geteuid())


def test_what_a_killed_run_left_is_deleted_what_others_use_is_not(tmp_path):
    trees = place.open_place(tmp_path, os.geteuid()) / "trees"
    for name in ("left", "used"):
        (trees / name).mkdir()
    os.utime(trees / "left", (0, 0))
    place.open_place(tmp_path, os.geteuid())
    assert [item.name for item in trees.iterdir()] == ["used"]


def test_a_program_changes_and_deletes_what_it_was_told_to(tmp_path):
    needs("sandbox")
    sandbox = cells.sandbox(tmp_path, {"app/a.py": "old", "b.txt": "gone"})
    changes = (FileChange(path="app/a.py", text="new"), FileChange(path="b.txt", text=None))
    run = sandbox.run(COMMIT, changes, shell("cat app/a.py; ls; exit 3"))
    assert (run.code, run.output.split()) == (3, ["newapp"])
    assert sandbox.run(COMMIT, (), shell("cat app/a.py")).output == "old"
    sandbox.close()


def test_a_tree_that_does_not_fit_is_said_to(tmp_path):
    needs("sandbox")
    sandbox = cells.sandbox(tmp_path, {"large": "x" * 3_000_000})
    assert sandbox.run(COMMIT, (), shell("true", work_mb=1)).code == NOT_LAID_OUT
    sandbox.close()


def test_a_limit_that_somebody_set_lower_stays_as_it_is():
    needs("sandbox", "prlimit")
    starts = [sys.executable, "-I", "-S", launcher.__file__, str(os.geteuid()), "NOFILE=512", "--"]
    words = ["prlimit", "--nofile=128:128", *starts, "/bin/sh", "-c", "ulimit -n"]
    run = subprocess.run(words, capture_output=True, text=True)
    assert run.stdout == "128\n", run.stderr


def test_the_number_of_a_folder_of_programs_is_not_taken_for_the_interpreters(tmp_path):
    for name in ("tools-0.1", "cpython-3.8.19"):
        for path in ("bin/python3.8", "lib/python3.8/os.py"):
            file = tmp_path / name / path
            file.parent.mkdir(parents=True)
            file.touch()
    named = [tmp_path / "tools-0.1", tmp_path / "cpython-3.8.19"]
    assert [item.version for item in interpreters("python", tmp_path, named)][:2] == [
        "3.8",
        "3.8.19",
    ]
