"""Workers with nothing in common but a database, a shared folder, and the services."""

import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from connected import shop
from connected.world import PATIENCE, World
from postgres_cluster import PASSWORD, cluster
from slow.test_turn_kills import TURNS, Turns
from threads import at_once

from nightwatch_core.models.journal import Event
from nightwatch_core.text.markers import read_marker

pytestmark = pytest.mark.slow
PROGRAMS = Path(sys.executable).parent


class Worker(World):
    """One of several, on folders of its own; `places` are those of all."""

    name, places = "a", dict[str, str]()

    def environment(self) -> dict[str, str]:
        self.state = self.folder / self.name / "state"
        own = {"NIGHTWATCH_STATE": str(self.state)}
        own["NIGHTWATCH_KNOWLEDGE_DIR"] = str(self.folder / self.name / "knowledge")
        own["PREFECT_HOME"] = str(self.folder / self.name / "prefect")
        return super().environment() | own | self.places


class Killed(Worker, Turns):
    """One whose nights are killed as they ask for another turn: the last one is shared by then."""

    def kept(self) -> list[Event]:
        return []


def places(database: str, folder: Path) -> dict[str, str]:
    return {"NIGHTWATCH_DATABASE": database, "NIGHTWATCH_SHARED": f"file://{folder}/shared"}


@contextmanager
def process_worker(folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    """Prefect's own worker, in that folder."""
    words = (PROGRAMS / "prefect", "worker", "start", "--type", "process", "--pool", "nightwatch")
    with (folder / "worker.log").open("wb") as log:
        worker = subprocess.Popen(words, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        yield
    finally:
        worker.kill()  # asked to end, it would wait for its server
        worker.wait()


def printed(folder: Path, environment: Mapping[str, str], program: str, *words: str) -> str:
    """What a command prints in that folder."""
    done = subprocess.run(
        (PROGRAMS / program, *words), env=environment, cwd=folder,
        capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def kept(folder: Path) -> dict[str, bytes]:
    """Reports and lessons of a worker, by file."""
    paths = [*folder.glob("state/nights/*/[!.]*"), *folder.glob("knowledge/**/[!.]*.*")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths if path.is_file()}


def told(folder: Path) -> bytes:
    """Everything that was written anywhere."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def causes(world: World) -> Counter[str]:
    """How often each cause was published; two nights tell the team twice, and are right to."""
    markers = (read_marker(item["body"]) for item in world.github.items.values())
    return Counter(marker.key for marker in markers if marker)


def test_what_a_killed_worker_paid_for_another_one_goes_on_with(
    tmp_path: Path, server: str
) -> None:
    with cluster() as address, Killed(tmp_path, server, invents=False) as world:
        world.places = places(address.get_secret_value(), tmp_path)
        world.environment()
        finished = [turn for _ in range(3) for turn in world.killed_after(1)[:1]]

        world.name = "b"
        world.claude.let_in(math.inf)
        night = world.night()
        assert night.code == 0, night.output
        assert night.report["night"]["resumed"]
        asked = Counter(world.claude.asked)
        assert len(set(finished)) == 3
        assert {
            turn: asked[turn] - world.claude.waited[turn] for turn in finished
        } == dict.fromkeys(finished, 1)
        assert len(asked) == TURNS
        assert (tmp_path / "shared/nights" / night.report["night"]["id"] / "report.json").exists()
        assert list((tmp_path / "shared/knowledge/errors").glob("*.md"))
        assert PASSWORD.encode() not in told(tmp_path) + night.output.encode()


def test_of_two_workers_at_once_one_publishes_each_cause(tmp_path: Path, server: str) -> None:
    with cluster() as address, World(tmp_path, shop.THREE, server) as world:
        nights = {}

        def run(name: str, *flags: str) -> None:
            own = {
                "NIGHTWATCH_STATE": str(tmp_path / name / "state"),
                "NIGHTWATCH_KNOWLEDGE_DIR": str(tmp_path / name / "knowledge"),
            }
            given = own | places(address.get_secret_value(), tmp_path)
            nights[name] = world.night(*flags, **given)

        # Over windows of their own they are two nights, which find the same.
        at_once(lambda: run("a", "--since", "24h"), lambda: run("b", "--since", "23h"))
        assert [nights[name].code for name in "ab"] == [0, 0], nights
        published = causes(world)
        assert set(published.values()) == {1}
        assert len(published) >= len(shop.THREE)

        at_once(lambda: run("c"), lambda: run("d"))
        assert causes(world) == published
        refused = [night.output for night in nights.values() if night.code == 1]
        assert all("is running in another process" in output for output in refused), refused


def test_what_a_process_worker_elsewhere_did_is_known_in_the_first_folder(
    tmp_path: Path, server: str
) -> None:
    with cluster() as address, Worker(tmp_path, shop.THREE, server) as world:
        world.places = places(address.get_secret_value(), tmp_path)
        here, there = tmp_path / "a", tmp_path / "b"
        first = world.environment()
        world.name = "b"
        second = world.environment()
        here.mkdir()
        there.mkdir()
        printed(there, second, "nightwatch", "deploy")
        with process_worker(there, second):
            asked = ("deployment", "run", "nightly/nightly", "--watch")
            printed(here, first, "prefect", *asked)
        log = (there / "worker.log").read_text()
        assert len(world._report()["analyses"]) == len(shop.THREE), log
        assert not [*here.glob("state/nights/*")]

        for words in (("history",), ("report",), ("knowledge", "search", "basket")):
            known = printed(here, first, "nightwatch", *words)
            assert known == printed(there, second, "nightwatch", *words)
            assert "basket" in known or words == ("history",)
        assert kept(here) == kept(there)
        assert any("knowledge/errors" in name for name in kept(here))

        published = causes(world)
        assert len(published) >= len(shop.THREE)
        world.name = "a"
        night = world.night()
        assert night.code == 0, night.output
        assert causes(world) == published
        assert PASSWORD.encode() not in told(tmp_path)
