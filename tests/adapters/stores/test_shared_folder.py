"""What several workers share: a folder that is mounted and an object store promise the same."""

from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
from threads import at_once

from nightwatch_core.adapters.stores.shared_folder import SharedFiles, SharedFolder, SharedRecords
from nightwatch_core.errors import StopTheNight, TryLater

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)


@pytest.fixture(params=["file", "memory"])
def url(request, tmp_path):
    """An own place of each scheme; `memory` has what object stores have."""
    return f"{request.param}://{tmp_path}/shared"


class Worker:
    """A worker with folders of its own."""

    def __init__(self, folder, url):
        self.nights, self.knowledge = folder / "nights", folder / "knowledge"
        folders = {"nights": self.nights, "knowledge": self.knowledge}
        self.files = SharedFiles(SharedFolder(url), folders, folder / "shared.lock")

    def write(self, name, text):
        path = self.knowledge.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def meet(self):
        self.files.send()
        self.files.fetch()

    def has(self):
        paths = (path for root in (self.nights, self.knowledge) for path in root.rglob("[!.]*"))
        return {
            path.relative_to(self.nights.parent).as_posix(): path.read_text()
            for path in paths
            if path.is_file()
        }


@pytest.fixture
def workers(tmp_path, url):
    return Worker(tmp_path / "a", url), Worker(tmp_path / "b", url)


def test_what_one_worker_writes_changes_and_removes_the_other_one_gets(workers):
    one, other = workers
    report = one.write("nights/n1/report.json", "{}")
    lesson = one.write("knowledge/errors/a.md", "cause")
    one.files.send()
    other.meet()
    assert other.has() == one.has() == {
        "nights/n1/report.json": "{}", "knowledge/errors/a.md": "cause"
    }  # fmt: skip

    one.meet()  # which leaves what it has
    lesson.rename(one.write("knowledge/archive/b.md", "").with_name("a.md"))
    other.write("nights/n1/report.json", '{"later": 1}')
    for worker in (one, other, one):
        worker.meet()
    assert one.has() == other.has() == {
        "nights/n1/report.json": '{"later": 1}',
        **{"knowledge/archive/a.md": "cause", "knowledge/archive/b.md": ""},
    }  # fmt: skip
    assert report.read_text() == '{"later": 1}'


def test_what_was_changed_here_and_not_sent_yet_is_not_overwritten(workers):
    one, other = workers
    one.write("knowledge/errors/a.md", "first")
    one.files.send()
    other.files.fetch()
    other.write("knowledge/errors/a.md", "second")
    one.write("knowledge/errors/a.md", "mine, longer")
    other.files.send()

    one.files.fetch()
    assert one.has() == {"knowledge/errors/a.md": "mine, longer"}
    one.files.send()
    other.files.fetch()
    assert other.has() == one.has()


def test_no_link_is_sent_or_written_through(workers, tmp_path, url):
    one, other = workers
    (tmp_path / "secret").write_text("key")
    (tmp_path / "outside").mkdir()
    one.write("knowledge/errors/a.md", "cause")
    (one.knowledge / "errors" / "b.md").symlink_to(tmp_path / "secret")
    one.files.send()
    other.knowledge.mkdir(parents=True)
    (other.knowledge / "errors").symlink_to(tmp_path / "outside")
    other.files.fetch()

    assert not list((tmp_path / "outside").iterdir())
    third = Worker(tmp_path / "c", url)
    third.files.fetch()
    assert third.has() == {"knowledge/errors/a.md": "cause"}


def test_of_keys_that_are_made_at_once_one_stays(url):
    kept = []
    at_once(*[lambda n=n: kept.append(SharedFolder(url).create("k", b"%d" % n)) for n in range(6)])

    assert len(set(kept)) == 1
    assert SharedFolder(url).read(["k"]) == {"k": kept[0]}


def test_a_record_of_a_dead_worker_is_found_until_it_expires(url):
    one, other = {}, {}
    clock = SimpleNamespace(now=lambda: NOW)
    later = SimpleNamespace(now=lambda: NOW + timedelta(hours=21))

    def records(own, at):
        twin = SimpleNamespace(get=own.get, put=own.__setitem__)
        return SharedRecords(twin, SharedFolder(url), at, timedelta(hours=20))

    records(one, clock).put("talks/n1/a", "said\nso")
    assert records({}, later).get("talks/n1/a") is None
    assert records(other, clock).get("talks/n1/a") == "said\nso" == other["talks/n1/a"]
    assert records(other, clock).get("talks/n1/b") is None


@pytest.mark.needs("ordinary user")
def test_a_folder_that_cannot_be_used_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(TryLater, match="NIGHTWATCH_SHARED"):
        SharedFolder(f"file://{tmp_path}/a").write({"a": b""})


def test_records_are_written_here_where_the_shared_folder_is_away(tmp_path, caplog):
    (tmp_path / "shared").write_text("in its place")
    own = {}
    twin = SimpleNamespace(get=own.get, put=own.__setitem__)
    clock = SimpleNamespace(now=lambda: NOW)
    records = SharedRecords(twin, SharedFolder(f"file://{tmp_path}/shared/x"), clock, None)
    records.put("code/a", "text")

    assert (records.get("code/a"), records.get("code/b")) == ("text", None)
    assert "NIGHTWATCH_SHARED" in caplog.text


@pytest.mark.skipif(find_spec("s3fs") is not None, reason="s3fs is installed")
def test_a_scheme_without_its_library_says_what_to_install():
    with pytest.raises(StopTheNight, match=r"nightwatch\[s3\]"):
        SharedFolder("s3://bucket/folder")
