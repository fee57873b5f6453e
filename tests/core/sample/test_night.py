import threading
from pathlib import Path

import pytest
from git_repositories import Change, git, repository

from nightwatch_core.errors import StopTheNight
from nightwatch_core.sample.night import SampleCode


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = repository(
        tmp_path_factory.mktemp("git") / "shop",
        Change("First", {"a.rb": "1\n", "bin/run": "x"}, {"bin/run": "100755"}),
    )
    return git(folder, "fast-export", "--all").encode() + b"\n"


def test_the_sample_is_unpacked_once(stream: bytes, tmp_path: Path) -> None:
    head = SampleCode(stream, tmp_path / "shop").head()
    (folder,) = tmp_path.glob("*/shop")
    git(folder, "branch", "nightwatch/fix", "main")
    again = SampleCode(stream, tmp_path / "shop")

    assert again.head() == head
    assert head.because == "head of main"
    assert again.reader(head).read_file("a.rb") == "1\n"
    assert git(folder, "branch", "--list", "nightwatch/fix")
    assert [path.name for path in folder.parent.iterdir()] == ["shop"]


def test_a_changed_stream_is_unpacked_again(stream: bytes, tmp_path: Path) -> None:
    first = SampleCode(stream, tmp_path / "shop").head()
    changed = stream.replace(b"First", b"Other")

    assert SampleCode(changed, tmp_path / "shop").head().sha != first.sha
    assert SampleCode(stream, tmp_path / "shop").head() == first


@pytest.mark.parametrize("broken", [b"not a stream\n", b"commit refs/heads/main\n"])
def test_a_broken_stream_says_what_to_do(broken: bytes, tmp_path: Path) -> None:
    with pytest.raises(StopTheNight, match="cannot be unpacked"):
        SampleCode(broken, tmp_path / "shop").head()
    assert not [path for path in tmp_path.glob("*/*")]


def test_two_at_once_unpack_one(stream: bytes, tmp_path: Path) -> None:
    heads: list[str] = []

    def work() -> None:
        heads.append(SampleCode(stream, tmp_path / "shop").head().sha)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(heads) == 4
    assert len(set(heads)) == 1
