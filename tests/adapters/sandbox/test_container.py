"""Tests of containers' words and ends; what a real one holds back is shown in tests/slow."""

from pathlib import Path

import pytest

from nightwatch_core.adapters.sandbox.container import run_and_remove, start_words
from nightwatch_core.adapters.sandbox.supervision import Cell, Mount
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.proposals import Bounds

BOUNDS = Bounds(seconds=20)
CELL = Cell(("true",), {"A": "b"}, (), BOUNDS, image="tools")


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A stand-in of an engine's client that writes down what it is asked."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def made(runs="echo ran", state="exited false", removes="true"):
        client, asked = tmp_path / "docker", tmp_path / "asked"
        lines = (f"echo $3 >> {asked}", f"case $3 in run) {runs};;", f"inspect) echo {state};;")
        client.write_text("\n".join(("#!/bin/sh", *lines, f"rm) {removes};; esac")))
        client.chmod(0o755)
        words = start_words(CELL, {"DOCKER_HOST": "unix:///run/engine.sock"})
        return words, lambda: asked.read_text().split()

    return made


def test_its_walls_are_asked_for_and_nothing_but_what_was_laid_out_is_shown(engine):
    engine()
    mounts = (Mount(Path("/usr"), "/usr"), Mount(Path("/laid"), "/tree"))
    cell = CELL._replace(mounts=mounts)
    words = start_words(cell, {"DOCKER_HOST": "unix:///run/engine.sock"})
    text = " ".join(words)
    for wall in ("--network none", "--read-only", "--cap-drop ALL", "no-new-privileges", "--memory",
                 "--pids-limit 256", "--pull never", "--user", "HOME=/nonexistent"):  # fmt: skip
        assert wall in text
    shown = [words[at + 1] for at, item in enumerate(words) if item == "--mount"]
    assert shown == ["type=bind,source=/laid,target=/tree,readonly"]
    assert "engine.sock" not in " ".join(words[words.index("run") :])


@pytest.mark.parametrize(
    ("environment", "cell", "why"),
    [
        ({}, CELL, "DOCKER_HOST or CONTAINER_HOST"),
        ({"DOCKER_HOST": "tcp://10.0.0.1:2375"}, CELL, "socket of this machine"),
        ({"DOCKER_HOST": "unix:///x"}, CELL._replace(image=""), "NIGHTWATCH_SANDBOX_IMAGE"),
        ({"DOCKER_HOST": "unix:///x"}, CELL._replace(image="--privileged"), "names no image"),
        ({"DOCKER_HOST": "unix:///x"},
         CELL._replace(mounts=(Mount(Path("/a,source=/"), "/tree"),)), "read as options"),
    ],
)  # fmt: skip
def test_without_engine_or_image_it_says_what_to_set(engine, environment, cell, why):
    engine()
    with pytest.raises(GiveUp, match=why):
        start_words(cell, environment)


def test_a_container_is_removed_however_it_ends(engine):
    words, asked = engine()
    assert run_and_remove(words, BOUNDS).output == "ran\n"
    assert asked() == ["run", "inspect", "rm"]
    words, asked = engine(runs="exec sleep 9", state="running false")
    assert run_and_remove(words, Bounds(seconds=0.1)).ended == "took too long"
    assert asked()[3:] == ["run", "inspect", "rm"]


def test_memory_that_the_engine_ended_is_told(engine):
    words, _ = engine(runs="exit 137", state="exited true")
    assert run_and_remove(words, BOUNDS).ended == "took too much memory"


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"runs": "echo no such image; exit 125", "state": ""}, "no such image"),
        ({"runs": "exit 0", "state": "created false"}, "ran no container"),
        ({"removes": "exit 1"}, "remove it by hand"),
    ],
)
def test_what_the_engine_did_not_run_or_remove_is_no_result(engine, how, why):
    words, _ = engine(**how)
    with pytest.raises(GiveUp, match=why):
        run_and_remove(words, BOUNDS)
