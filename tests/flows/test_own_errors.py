"""Real input without accounts: an export and a checkout of one's own."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_repositories import CLEAN, git
from prefect.settings import PREFECT_RESULTS_LOCAL_STORAGE_PATH, temporary_settings

from flows.nightly import nightly

pytestmark = [pytest.mark.xdist_group("prefect"), pytest.mark.usefixtures("prefect_server")]

PRICES = "def cart_total(lines):\n    return sum(line['price'] for line in lines)\n"
CART = "from shop import prices\n\n\ndef show(cart):\n    return prices.total(cart['lines'])\n"
TRACE = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/shop/cart.py", line 5, in show\n'
    "    return prices.total(cart['lines'])\n"
    "           ^^^^^^^^^^^^\n"
    "AttributeError: module 'shop.prices' has no attribute 'total'\n"
)
RECORD = {
    "timestamp": "2026-11-20T02:11:09Z",
    "exception.type": "AttributeError",
    "exception.message": "module 'shop.prices' has no attribute 'total'",
    "exception.stacktrace": TRACE,
    "transaction": "cart/show",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "my shop"
    (folder / "shop").mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    days = (
        ("02", "Sell", {"__init__": "", "prices": PRICES.replace("cart_", "")}),
        ("05", "Show the cart", {"cart": CART}),
        ("18", "Say which total is meant", {"prices": PRICES}),
    )
    for day, message, files in days:
        for name, text in files.items():
            (folder / f"shop/{name}.py").write_text(text, encoding="utf-8")
        at = f"2026-11-{day}T10:00:00+00:00"
        git(folder, "add", ".")
        dated = {**CLEAN, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        commit = ["git", "commit", "--quiet", "--message", message]
        subprocess.run(commit, cwd=folder, env=dated, check=True)
    return folder


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "errors, of today.jsonl"
    path.write_text(f"{json.dumps(RECORD)}\n" * 12 + '{"torn": ', encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", str(tmp_path / "knowledge"))
    with temporary_settings({PREFECT_RESULTS_LOCAL_STORAGE_PATH: tmp_path / "results"}):
        yield


def everything_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.slow
def test_a_dry_run_changes_nothing_outside_the_state_folder(
    shop: Path, export: Path, tmp_path: Path
) -> None:
    (shop / "shop/cart.py").write_text("# work in progress\n", encoding="utf-8")
    before = everything_in(shop)
    report = nightly(errors=str(export), repo=str(shop), dry_run=True)
    assert report.status == "complete"
    assert [receipt.status for receipt in report.receipts] == ["held back", "held back"]
    assert everything_in(shop) == before
    assert not (tmp_path / "knowledge").exists()
    assert not list((tmp_path / "state").rglob("outbox/*.md"))


@pytest.mark.slow
def test_a_night_on_ones_own_errors_drafts_the_fix_on_a_branch(shop: Path, export: Path) -> None:
    (shop / "shop/cart.py").write_text("# work in progress\n", encoding="utf-8")
    head, status = git(shop, "rev-parse", "HEAD"), git(shop, "status", "--porcelain")
    report = nightly(errors=str(export), repo=str(shop))
    assert report.status == "complete"
    assert [reject.place.rsplit(":")[-1] for reject in report.rejects] == ["13"]
    (analysis,) = report.analyses
    assert analysis.case.occurrences == 12
    assert [edit.path for edit in analysis.fix] == ["shop/cart.py"]

    (branch,) = git(
        shop, "for-each-ref", "--format=%(refname:short)", "refs/heads/nightwatch"
    ).splitlines()
    drafted = git(shop, "show", f"{branch}:shop/cart.py")
    assert drafted == CART.replace("prices.total", "prices.cart_total").strip()
    assert "Refs" not in git(shop, "log", "-1", "--format=%B", branch)
    assert git(shop, "rev-parse", "HEAD") == head
    assert git(shop, "status", "--porcelain") == status
