"""SECURITY.md promises nothing that no test holds."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def promises() -> list[str]:
    """Rows of the tables of promises, without their heads."""
    rows = TEXT.split("## What is promised")[1].split("\n## ")[0].split("\n")
    return [row for row in rows if row.startswith("| ") and not row.startswith(("| Pro", "| ---"))]


def test_every_promise_names_a_test():
    assert len(promises()) > 10
    assert [row for row in promises() if not NAMED.search(row)] == []


def test_every_test_that_is_named_exists():
    for file, name in NAMED.findall(TEXT):
        source = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^(?:async )?def {name}\(", source, re.M), f"{file}::{name}"


def test_what_looks_like_a_test_is_one():
    assert len(re.findall(r"test_\w+`", TEXT)) == len(NAMED.findall(TEXT))


def test_it_is_read_from_where_people_are():
    for document in ("README.md", "deployments/README.md"):
        assert "SECURITY.md" in (ROOT / document).read_text(encoding="utf-8"), document
