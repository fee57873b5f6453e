"""The nights on disk."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from core.report_fixture import HOSTILE, NOW, complete, degraded, empty, hostile, remembered

from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.adapters.stores.state_folder import one_night
from nightwatch_core.errors import NotTonight, StopTheNight
from nightwatch_core.models.report import Night, NightKind, RunReport, Window

NAME = "2026-11-20-3fa9c1"
BEGIN = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from nightwatch_core.adapters.local.quiet import SystemClock
from nightwatch_core.adapters.stores.database import NightStore
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.report import Night, Window
now = datetime(2026, 11, 20, tzinfo=UTC)
def night(id, resumed):
    return Night(id=id, window=Window(since=now, until=now), now=now, resumed=resumed)
store = NightStore(Path(sys.argv[1]), SystemClock())
try:
    begun = store.begin(sys.argv[2], night)
except StopTheNight as error:
    print("stopped:", error, flush=True)
    sys.exit(1)
print("begun", begun.id, begun.resumed, flush=True)
"""
HOLD = f"{BEGIN}\ntime.sleep(60)\n"


class Clock:
    """A minute goes by at every look."""

    def __init__(self):
        self._now = NOW

    def now(self):
        self._now += timedelta(minutes=1)
        return self._now

    def monotonic(self):
        return 0.0


@pytest.fixture
def store(tmp_path):
    return NightStore(tmp_path / "state", Clock())


def night(id, resumed):
    window = Window(since=NOW - timedelta(days=1), until=NOW)
    return Night(id=id, window=window, now=NOW, resumed=resumed)


def lived(store, report, name=NAME):
    """A whole night that ends with this report."""
    begun = store.begin(name, night)
    report = report.model_copy(update={"night": begun})
    store.keep(report)
    store.finish(report)
    return report


def elsewhere(script, state, name=NAME):
    root = Path(__file__).parents[3]
    return subprocess.Popen(
        [sys.executable, "-c", script, str(state), name],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'tests'}"},
    )


def test_an_unfinished_night_is_taken_up_again(store, tmp_path):
    store.begin(NAME, night)
    started = store.history()[0].started
    again = NightStore(tmp_path / "state", Clock()).begin(NAME, night)
    assert (again.id, again.resumed) == (NAME, True)
    assert [each.started for each in store.history()] == [started]


def test_finished_nights_are_counted_up(store):
    ids = [lived(store, empty()).night.id for _ in range(3)]
    assert ids == [NAME, f"{NAME}-2", f"{NAME}-3"]
    assert store.begin(NAME, night).id == f"{NAME}-4"
    assert [each.status for each in store.history()] == ["running", *["complete"] * 3]


def test_one_process_at_a_time_runs_a_night(store, tmp_path):
    holder = elsewhere(HOLD, tmp_path / "state")
    try:
        assert holder.stdout.readline() == f"begun {NAME} False\n"
        with pytest.raises(NotTonight, match="running in another process"):
            store.begin(NAME, night)
        assert store.begin("another", night).id == "another"
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    assert store.begin(NAME, night).resumed


ALONE = """
import pathlib, sys, time
from nightwatch_core.adapters.stores.state_folder import one_night
with one_night(pathlib.Path(sys.argv[1]), print):
    print("begun", flush=True)
    time.sleep(60)
"""


def test_a_night_of_another_application_waits_and_says_so(tmp_path):
    state, said = tmp_path / "state", []
    holder = elsewhere(ALONE, state)
    try:
        assert holder.stdout.readline() == "begun\n"
        threading.Timer(1, holder.send_signal, [signal.SIGKILL]).start()
        with one_night(state, said.append):
            assert holder.wait() == -signal.SIGKILL
        assert said == [f"Another night runs in {state}: this one waits until it has ended."]
    finally:
        holder.communicate()
    with one_night(state, said.append):
        assert len(said) == 1


LIVE = NightKind(key="newrelic|||1|shop", scheduled=True)


def live(hours=24, **kind):
    """A night of a live source whose window ends `hours` before `NOW`."""
    until = NOW - timedelta(hours=hours)
    made = LIVE.model_copy(update=kind)

    def begun(id, resumed):
        window = Window(since=until - timedelta(days=1), until=until)
        return Night(id=id, window=window, now=until, resumed=resumed, kind=made)

    return begun


def ended(store, hours, name, read=True, **changes):
    """A scheduled night that read all, unless said otherwise."""
    report_changes = {key: changes.pop(key) for key in ("status", "degraded") if key in changes}
    begun = store.begin(name, live(hours, **changes))
    store.finish(empty(night=begun, read_whole=read, **report_changes))


def test_the_watermark_is_where_the_last_scheduled_whole_night_ended(store):
    assert store.watermark(LIVE.key) is None
    ended(store, 96, "first")
    assert store.watermark(LIVE.key) == NOW - timedelta(hours=96)
    assert store.watermark("newrelic|||1|till") is None
    ended(store, 72, "second", status="degraded", degraded=("publishing: GitHub is away",))
    assert store.watermark(LIVE.key) == NOW - timedelta(hours=72)
    ended(store, 48, "by-hand", scheduled=False)
    ended(store, 48, "dry", dry=True)
    ended(store, 48, "partial", read=False)
    ended(store, 48, "failed", status="failed")
    ended(store, 48, "other", key="newrelic|||1|till")
    store.begin("running", live(0))
    assert store.watermark(LIVE.key) == NOW - timedelta(hours=72)


def test_an_unfinished_night_keeps_its_window_for_its_own_kind_alone(store):
    begun = store.begin("n", live(1))
    assert store.unfinished(LIVE, NOW) == begun
    others = (
        {"key": "newrelic|||1|till"}, {"scheduled": False}, {"dry": True}, {"since": "7d"},
    )  # fmt: skip
    for other in others:
        assert store.unfinished(LIVE.model_copy(update=other), NOW) is None
    store.begin("newer", live(0))
    found = store.unfinished(LIVE, NOW)
    assert found.id == "newer"


def test_what_began_too_long_ago_has_ended_or_had_no_window_is_not_taken_up(store):
    store.begin("n", live(1))
    assert store.unfinished(LIVE, NOW + timedelta(minutes=2)) is None
    ended(store, 1, "n")
    assert store.unfinished(LIVE, NOW) is None
    empty_one = Window(since=NOW, until=NOW)
    made = live(0)
    store.begin("e", lambda id, r: made(id, r).model_copy(update={"window": empty_one}))
    assert store.unfinished(LIVE, NOW) is None


def test_a_failed_night_is_found_until_it_ends_well(store):
    ended(store, 1, "n", status="failed")
    found = store.unfinished(LIVE, NOW)
    again = store.begin(found.id, live(1))
    assert (again.id, again.resumed) == ("n", True)
    ended(store, 1, "n")
    assert store.unfinished(LIVE, NOW) is None
    assert store.watermark(LIVE.key) == NOW - timedelta(hours=1)


def test_files_of_a_night(store):
    report = lived(store, degraded())
    folder = Path(report.night.folder)
    kept = RunReport.model_validate_json((folder / "report.json").read_text())
    assert kept == report
    assert (
        (folder / "report.md").read_text().startswith(f"# NightWatch tidepool-bookings · {NAME}\n")
    )
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")
    rejects = [json.loads(each) for each in (folder / "rejects.jsonl").read_text().splitlines()]
    first = {"place": "export.jsonl:2000", "reason": "not JSON", "text": '{"error": ', "count": 1}
    assert rejects[0] == first
    assert len(rejects) == 12
    assert not list(folder.glob(".tmp-*"))


def test_reports_newest_first_without_those_that_cannot_be_read(store, tmp_path):
    for name in ("b", "a", "c", "d"):
        lived(store, complete(), name)
    nights = tmp_path / "state" / "nights"
    (nights / "a" / "report.json").write_text('{"night": ')
    (nights / "d" / "report.json").write_bytes(b"\xff\xfe")
    (nights / "stray").mkdir()
    assert [each.night.id for each in store.reports()] == ["c", "b"]


def test_a_report_with_fields_that_left_since_is_read_without_them(store):
    report = complete()
    file = Path(store.keep(report)) / "report.json"
    kept = json.loads(file.read_text())
    kept["analyses"][0]["handed"] = ["a fact of another error"]
    kept["weather"] = {"rain": True}
    file.write_text(json.dumps(kept))
    assert store.report(report.night.id).analyses == report.analyses


def test_one_report_by_its_night(store):
    report = lived(store, complete())
    assert store.report(NAME) == report
    assert store.report("none") is None
    assert store.report(f"../nights/{NAME}") is None


def test_reports_outlive_a_lost_history(store, tmp_path):
    lived(store, complete())
    for file in (tmp_path / "state").glob("nightwatch.db*"):
        file.unlink()
    assert store.history() == ()
    assert next(store.reports()).night.id == NAME
    assert store.begin(NAME, night).id == f"{NAME}-2"


@pytest.mark.parametrize("name", ["", ".", "../x", "a/b", ".hidden", "a b", "a\n", "x" * 200, "ä"])
def test_names_that_could_leave_the_folder_are_refused(store, name):
    with pytest.raises(StopTheNight, match="cannot name a night"):
        store.begin(name, night)


def test_what_a_killed_process_left_half_written_is_removed(store, tmp_path):
    torn = tmp_path / "state" / "nights" / NAME / ".tmp-1234"
    torn.parent.mkdir(parents=True)
    torn.write_text("half")
    store.begin(NAME, night)
    assert not torn.exists()


def test_a_full_disk_leaves_the_report_that_was_there(store, tmp_path):
    lived(store, complete())
    script = f"""{BEGIN}
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
report = store.report("{NAME}")
try:
    store.keep(report)
except StopTheNight as error:
    print("stopped:", error)
"""
    said, _ = elsewhere(script, tmp_path / "state").communicate()
    assert "stopped:" in said
    assert "free some space" in said
    assert store.report(NAME) is not None
    assert not list((tmp_path / "state" / "nights" / NAME).glob(".tmp-*"))


def test_one_page_lists_the_nights_of_every_application_beside_this_one(store, tmp_path):
    lived(NightStore(tmp_path / "billing's", Clock()), remembered(), "n1")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "nightwatch.db").write_bytes(b"no database" * 999)
    lived(store, hostile(HOSTILE), "n2")
    lived(store, empty(), "n3")
    lived(store, complete(), "one-0a1b2c3d-20261120-040000")  # a single run is no night
    page = (tmp_path / "state" / "nights" / "index.html").read_text()
    assert re.findall(r'href="([^"]+)"', page) == [
        *("n2/report.html", "n3/report.html"),
        "../../billing%27s/nights/n1/report.html",
    ]
    assert "<script" not in page
    assert "Fixes verified so far: 1" in page
    assert '<a href="../index.html">' in (tmp_path / "state/nights/n3/report.html").read_text()
