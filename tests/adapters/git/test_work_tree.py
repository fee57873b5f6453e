"""Tests of laying a commit out: what is in it, and nothing that its repository wants to be done."""

import os
import subprocess

import pytest

from nightwatch_core.adapters.git.command import Git
from nightwatch_core.adapters.git.reader import lay_out
from nightwatch_core.errors import GiveUp


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()

    def git(*words):
        about = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "core.hooksPath=/dev/null")
        done = subprocess.run(["git", *about, *words], cwd=folder, check=True, capture_output=True)
        return done.stdout.decode().strip()

    git("init", "-q", "-b", "main")
    return folder, git


def test_files_modes_and_links_are_those_of_the_commit(repository, tmp_path):
    folder, git = repository
    (folder / "bin").mkdir()
    (folder / "bin/run").write_bytes(b"#!/bin/sh\r\n")
    (folder / "bin/run").chmod(0o755)
    (folder / "data.bin").write_bytes(bytes(range(256)))
    (folder / "link").symlink_to("/etc/passwd")
    git("add", ".")
    git("commit", "-qm", "one")
    (folder / "later").write_text("not committed")
    out = tmp_path / "out"
    out.mkdir()
    assert lay_out(Git(folder / ".git"), git("rev-parse", "HEAD"), out, 10_000, 10) == 0
    assert sorted(one.name for one in out.iterdir()) == ["bin", "data.bin", "link"]
    assert (out / "bin/run").read_bytes() == b"#!/bin/sh\r\n"
    assert os.access(out / "bin/run", os.X_OK)
    assert (out / "data.bin").read_bytes() == bytes(range(256))
    assert str((out / "link").readlink()) == "/etc/passwd"


def test_a_hostile_configuration_starts_nothing(repository, tmp_path):
    folder, git = repository
    (folder / ".gitattributes").write_text("* filter=evil\nhidden export-ignore\n")
    (folder / "hidden").write_text("seen")
    git("add", ".")
    git("commit", "-qm", "one")
    (folder / ".git/hooks/post-checkout").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (folder / ".git/hooks/post-checkout").chmod(0o755)
    git("config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    git("config", "filter.evil.required", "true")
    out = tmp_path / "out"
    out.mkdir()
    lay_out(Git(folder / ".git"), git("rev-parse", "HEAD"), out, 10_000, 10)
    assert (out / "hidden").read_text() == "seen"
    assert not (tmp_path / "ran").exists()


def test_a_tree_that_is_too_large_is_refused(repository, tmp_path):
    folder, git = repository
    (folder / "a").write_text("x" * 100)
    git("add", ".")
    git("commit", "-qm", "one")
    for size, count in ((99, 10), (1_000, 0)):
        with pytest.raises(GiveUp, match="too large"):
            lay_out(Git(folder / ".git"), git("rev-parse", "HEAD"), tmp_path, size, count)


def test_nothing_is_written_through_a_link_that_a_tree_smuggles_in(repository, tmp_path):
    """`a` is a link and a folder with a file at once: git itself would not make such a tree."""
    folder, git = repository
    outside = tmp_path / "outside"
    outside.mkdir()

    def put(text):
        return subprocess.run(
            ["git", "hash-object", "-w", "--stdin"], cwd=folder, input=text, text=True,
            capture_output=True, check=True,
        ).stdout.strip()  # fmt: skip

    def tree(*rows):
        return subprocess.run(
            ["git", "mktree"], cwd=folder, input="".join(f"{row}\n" for row in rows), text=True,
            capture_output=True, check=True,
        ).stdout.strip()  # fmt: skip

    inner = tree(f"100644 blob {put('x')}\tf")
    both = tree(f"120000 blob {put(str(outside))}\ta", f"040000 tree {inner}\ta")
    commit = git("commit-tree", "-m", "evil", both)
    out = tmp_path / "out"
    out.mkdir()
    lay_out(Git(folder / ".git"), commit, out, 10_000, 10)
    assert not list(outside.iterdir())
