"""Unmerged branches of a checkout: what they do to some files."""

from datetime import UTC, datetime
from pathlib import Path

from deliveries import HISTORY, delivery
from git_repositories import git, repository

SINCE = datetime(2025, 1, 1, tzinfo=UTC)
PATH = "app/total.rb"


def branch(shop: Path, name: str, text: str, path: str = PATH) -> None:
    git(shop, "checkout", "--quiet", "-b", name, "main")
    (shop / path).parent.mkdir(parents=True, exist_ok=True)
    (shop / path).write_text(text)
    git(shop, "add", path)
    git(shop, "commit", "--quiet", "-m", f"Work on {name}\n\nBecause of NoMethodError.")
    git(shop, "checkout", "--quiet", "main")


def test_only_branches_that_change_the_file_and_are_not_merged_count(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", *HISTORY)
    branch(shop, "merged", "def total\n  1\nend\n")
    git(shop, "merge", "--quiet", "--ff-only", "merged")
    branch(shop, "guard", "def total\n  0\nend\n")
    branch(shop, "other", "2\n", "old.rb")
    git(shop, "update-ref", "refs/remotes/origin/guard", "guard")
    (pull,) = delivery(shop).pulls_changing((PATH, "app"), SINCE)
    assert (pull.name, pull.title, pull.state) == ("branch guard by Ann", "Work on guard", "open")
    assert "NoMethodError" in pull.body
    assert pull.files[0].diff == "@@ -1,3 +1,3 @@\n def total\n-  1\n+  0\n end"
    assert delivery(shop).pulls_changing((PATH,), datetime(2100, 1, 1, tzinfo=UTC)) == ()


def test_names_and_paths_are_never_patterns_or_options(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", *HISTORY)
    branch(shop, "guard", "def total\n  0\nend\n")
    hostile = ("app/*.rb", ":(glob)**", "--output=x", ":!old.rb", "../shop/app/total.rb")
    assert delivery(shop).pulls_changing(hostile, SINCE) == ()
    assert not (shop / "x").exists()
