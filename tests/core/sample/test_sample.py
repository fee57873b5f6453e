"""The sample night: its history unpacks, its records are what the application reports."""

import json
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sample_capture.capture import capture, git, masked, same_capture, unpack
from sample_capture.day import RELEASES, SINCE, UNTIL

from nightwatch_core.sample import APPLICATION, errors, stream

TRUTH: dict[str, Any] = json.loads(
    Path(__file__).with_name("sample_truth.json").read_text(encoding="utf-8")
)
MENDED = Path(__file__).with_name("mended_tests.txt").read_text(encoding="utf-8")


def records() -> list[dict[str, str]]:
    return [json.loads(line) for line in errors().splitlines()]


def output(repo: Path, *args: str) -> str:
    command = ("git", *args)
    return subprocess.run(command, cwd=repo, check=True, capture_output=True, text=True).stdout


def run_its_tests(repo: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, "-B", "-m", "unittest", *names)
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = unpack(stream(), tmp_path_factory.mktemp("sample") / APPLICATION)
    git(folder, "checkout", "--quiet", "main")
    return folder


def test_the_stream_unpacks_cleanly(repo: Path) -> None:
    checked = subprocess.run(
        ("git", "fsck", "--full", "--strict"), cwd=repo, capture_output=True, text=True
    )
    assert checked.returncode == 0
    assert "error" not in checked.stderr
    assert "warning" not in checked.stderr
    assert output(repo, "rev-parse", "main").strip() == TRUTH["main"]
    assert output(repo, "branch", "--format=%(refname:short)").split() == ["main"]


def test_releases_and_pull_requests_are_in_the_history(repo: Path) -> None:
    for tag, sha in TRUTH["releases"].items():
        assert output(repo, "rev-parse", f"{tag}^{{commit}}").strip() == sha
    assert output(repo, "tag").split() == sorted(TRUTH["releases"])
    merges = output(repo, "log", "--merges", "--reverse", "--format=%H %s").splitlines()
    pattern = re.compile(rf"(\w+) Merge pull request #(\d+) from {APPLICATION}/[\w-]+")
    found = [match.groups() for match in map(pattern.fullmatch, merges) if match]
    assert len(found) == len(merges)
    told = [(request["merge"], str(request["number"])) for request in TRUTH["pull_requests"]]
    assert found == told
    assert 5 <= len(told) <= 8


def test_everybody_in_the_history_is_invented(repo: Path) -> None:
    mails = set(output(repo, "log", "--format=%ae%n%ce").split())
    assert mails
    assert all(mail.endswith("@example.com") for mail in mails)


@pytest.mark.parametrize("revision", [*TRUTH["releases"], "main"])
def test_its_own_tests_pass(repo: Path, revision: str) -> None:
    git(repo, "checkout", "--quiet", revision)
    try:
        ran = run_its_tests(repo)
    finally:
        git(repo, "checkout", "--quiet", "main")
    assert ran.returncode == 0, ran.stderr


def test_every_record_is_complete() -> None:
    told = dict(RELEASES)
    for record in records():
        at = datetime.fromisoformat(record["timestamp"])
        assert record["timestamp"].endswith("Z")
        assert SINCE <= at < UNTIL
        assert record["service.name"] == APPLICATION
        assert told[record["service.version"]] <= at
        assert record["host.name"] in {"web-1", "web-2", "jobs-1"}
        trace = record["exception.stacktrace"]
        assert trace.startswith("Traceback (most recent call last):\n")
        assert f"{record['exception.type']}: {record['exception.message']}" in trace
        assert all(
            path.startswith(("/srv/", "/usr/lib/python3.11/"))
            for path in re.findall(r'File "([^"]+)"', trace)
        )


def test_records_are_in_order_and_of_a_believable_size() -> None:
    times = [record["timestamp"] for record in records()]
    assert times == sorted(times)
    assert 300 <= len(times) <= 900
    assert len(errors()) < 1_500_000


def groups_of(record: dict[str, str]) -> list[tuple[str, int]]:
    """Return errors, and the number of their group, that the truth says a record is of."""
    return [
        (error["id"], number)
        for error in TRUTH["errors"]
        for number, group in enumerate(error["groups"])
        if group["class"] == record["exception.type"]
        and group["transaction"] == record["transaction"]
        and re.fullmatch(group["message"], record["exception.message"])
    ]


def test_every_group_belongs_to_one_error_and_one_error_is_new_since_a_release() -> None:
    counts: Counter[tuple[str, int]] = Counter()
    seen: dict[str, set[str]] = {}
    for record in records():
        ((error, number),) = groups_of(record)
        counts[error, number] += 1
        seen.setdefault(error, set()).add(record["service.version"])
    assert counts == {
        (error["id"], number): group["occurrences"]
        for error in TRUTH["errors"]
        for number, group in enumerate(error["groups"])
    }
    assert 20 <= len(counts) <= 30
    assert 8 <= sum(not error["noise"] for error in TRUTH["errors"]) <= 10
    newest = RELEASES[-1][0]
    (new,) = (error["id"] for error in TRUTH["errors"] if error["new_since_release"] == newest)
    assert [name for name, releases in seen.items() if releases == {newest}] == [new]


@pytest.mark.parametrize("error", TRUTH["errors"], ids=lambda error: error["id"])
def test_the_fault_is_where_the_truth_says(repo: Path, error: dict[str, Any]) -> None:
    place = error["place"]
    lines = (repo / place["path"]).read_text(encoding="utf-8").splitlines()
    assert lines[place["line"] - 1].strip() == place["code"]
    above = [line for line in lines[: place["line"]] if line.lstrip().startswith("def ")]
    assert above[-1].lstrip().startswith(f"def {place['function']}(")


@pytest.mark.parametrize("error", TRUTH["errors"], ids=lambda error: error["id"])
def test_the_inducing_change_is_where_the_truth_says(repo: Path, error: dict[str, Any]) -> None:
    if error["introduced_by"] is None:
        return
    told = error["introduced_by"]
    base = f"{told['merge']}^1..{told['merge']}^2"
    assert output(repo, "rev-list", "--reverse", base).split() == told["commits"]
    assert f"#{told['pull_request']} " in output(repo, "log", "-1", "--format=%s", told["merge"])


def test_the_mechanical_edits_mend_what_failed(repo: Path, tmp_path: Path) -> None:
    head = unpack(stream(), tmp_path / APPLICATION)
    git(head, "checkout", "--quiet", "main")
    (head / "tests" / "test_mended.py").write_text(MENDED, encoding="utf-8")
    before = run_its_tests(head, "tests.test_mended")
    assert "failures=3" in before.stderr
    edits = [error["fix"] for error in TRUTH["errors"] if error["fix"]]
    assert len(edits) == 3
    for edit in edits:
        path = head / edit["path"]
        text = path.read_text(encoding="utf-8")
        assert text.count(edit["old"]) == 1
        path.write_text(text.replace(edit["old"], edit["new"]), encoding="utf-8")
    after = run_its_tests(head)
    assert after.returncode == 0, after.stderr


def test_the_history_does_not_talk_about_its_faults(repo: Path) -> None:
    told = re.compile(r"\b(bug|fixme|todo|hack|deliberate\w*|on purpose|broken)\b", re.IGNORECASE)
    assert not told.search(output(repo, "log", "--format=%B"))
    for path in repo.rglob("*.py"):
        assert not told.search(path.read_text(encoding="utf-8")), path


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="another Python prints other tracebacks"
)
def test_captured_again_it_is_the_same() -> None:
    again = capture()
    assert same_capture(errors(), again)
    assert [json.loads(line)["timestamp"] for line in again.splitlines()] == [
        record["timestamp"] for record in records()
    ]


def test_masks_only_what_may_differ() -> None:
    assert masked("<X at 0x7f0012aa>") == masked("<X at 0x55e0>")
    assert masked("to 127.0.0.1:4000") == masked("to 127.0.0.1:51000")
    mine = '"/srv/app/a.py", line 3'
    assert masked(mine) == mine
