"""The whole benchmark on a small repository, and what it says where repositories are missing."""

import json

import pytest
from benchmarks.rules.__main__ import main
from benchmarks.run import was_skipped
from git_repositories import Change, git, repository

CODE = """\
def pay(cart):
    order = find(cart)
    return order.total


def find(cart):
    return None
"""
FIXED = CODE.replace("return order.total", "return order.total if order else 0")


@pytest.fixture
def data(tmp_path):
    """Data of one bug, and its repository as a mirror."""
    (tmp_path / "mirrors" / "acme+shop").mkdir(parents=True)
    bare = repository(
        tmp_path / "mirrors" / "acme+shop" / "repo",
        Change("Pay", {"shop/pay.py": CODE}),
        Change("No order, no total", {"shop/pay.py": FIXED}),
        bare=True,
    )
    parent, fix = git(bare, "rev-list", "--reverse", "main").split()
    bug = {
        "id": "shop-total", "repo": "acme/shop", "language": "python", "parent": parent, "fix": fix,
        "error_class": "AttributeError", "message": "'NoneType' object has no attribute 'total'",
        "transaction": "", "frames": [["shop/pay.py", 3, "pay"]], "fixed": ["shop/pay.py:3"],
        "ran": False,
    }  # fmt: skip
    (tmp_path / "cases.json").write_text(json.dumps([bug]))
    return tmp_path


def test_what_the_rules_say_is_listed_until_it_is_judged(data, capsys):
    left = data / "left.json"
    given = ["--mirrors", str(data / "mirrors"), "--data", str(data)]
    assert main([*given, "--show", "--held-out", "--unjudged", str(left)]) == 0
    told = capsys.readouterr().out
    assert "shop-total" in told
    assert "was not placed: none" in told
    unjudged = json.loads(left.read_text())["shop-total"]
    assert unjudged

    (data / "verdicts.json").write_text(json.dumps({"shop-total": dict.fromkeys(unjudged, "true")}))
    assert main(given) == 0
    row = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("| all | 1 ")
    )
    assert f"| {len(unjudged)} | {len(unjudged)} | 0 | 0 |" in row


def test_missing_repositories_are_a_reason_to_skip(data, capsys):
    assert main(["--mirrors", ""]) == 0
    told = capsys.readouterr().out
    assert "skipped: NIGHTWATCH_MIRRORS names no folder" in told
    assert was_skipped(told), "the part of BENCHMARKS.md stays as it was"
    (data / "none").mkdir()
    assert main(["--mirrors", str(data / "none"), "--data", str(data)]) == 0
    told = capsys.readouterr().out
    assert "skipped: 1 bugs whose repositories are not there" in told
    assert was_skipped(told)
    assert not was_skipped(f"{told}\n| all | 92 |"), "what was measured is written"
