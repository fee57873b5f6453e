"""`nightwatch try` as a program: no Prefect, nothing written, an exit code that says it all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import Change, repository

CART = "def total(prices, sku):\n    return prices[sku]\n"
RECORD = {
    "timestamp": "2026-11-20T02:11:09Z",
    "error.class": "KeyError",
    "error.message": "'sku-7'",
    "user.id": "dana@example.org",
    "error.stack_trace": 'Traceback (most recent call last):\n  File "/srv/shop/cart.py", line 2, '
    "in total\n    return prices[sku]\nKeyError: 'sku-7'",
}


def nightwatch_try(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the verb in an empty folder, with Prefect out of reach."""
    return nightwatch(folder, "try", *arguments)


def nightwatch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a verb in an empty folder, with Prefect out of reach."""
    program = (
        "import sys; sys.modules['prefect'] = None; sys.argv[0] = 'nightwatch';"
        "from flows.commands.app import main; main()"
    )
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env={**os.environ, "NIGHTWATCH_STATE": str(folder / "state"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_it_says_what_it_understood_and_writes_nothing(tmp_path: Path) -> None:
    shop = repository(tmp_path / "shop", Change("Carts", {"shop/cart.py": CART}))
    export = tmp_path / "export.jsonl"
    export.write_text(f"{json.dumps(RECORD)}\n{json.dumps(RECORD)}\n{{}}\n", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    done = nightwatch_try(tmp_path, str(export), "--repo", str(shop))
    assert done.returncode == 0, done.stderr
    assert "2 records of errors, 2026-11-20 02:11 UTC\n" in done.stdout.replace(" \n", "\n")
    assert "(export.jsonl:3)" in done.stdout
    assert "KeyError: 'sku-7'" in done.stdout
    assert "shop/cart.py:2 ✓" in done.stdout
    assert f"nightwatch night --errors {export} --repo {shop}" in done.stdout
    assert "dana" not in done.stdout
    assert sorted(tmp_path.iterdir()) == before
    (tmp_path / "nightwatch.toml").write_text('[source]\nfrom = "file"\nerrors = "*.jsonl"\n')
    (tmp_path / "copy.jsonl").write_bytes(export.read_bytes())
    done = nightwatch_try(tmp_path)  # as the file says
    assert "2 records of errors" in done.stdout, done.stderr
    assert "1 × a file that is a copy of another one (read once)" in done.stdout
    (tmp_path / "nightwatch.toml").unlink()
    assert "name files of errors, here or in nightwatch.toml" in nightwatch_try(tmp_path).stderr


@pytest.mark.slow
def test_a_file_that_is_no_export_ends_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text('[{"id": 1}, {"id": 2}]', encoding="utf-8")
    done = nightwatch_try(tmp_path, "list.json")
    assert done.returncode == 1
    assert "2 records: no error class and no stack trace; its fields: id" in done.stdout
    assert "What can be read" in done.stdout
    assert done.stderr == ""


def test_a_forecast_says_what_the_night_would_cost_and_asks_no_model(tmp_path: Path) -> None:
    (tmp_path / "errors.jsonl").write_text(json.dumps(RECORD))
    shop = repository(tmp_path / "shop", Change("Carts", {"shop/cart.py": CART}))
    asked = ("--errors", "errors.jsonl", "--repo", str(shop), "--model", "claude-opus-5-5")
    told = nightwatch(tmp_path, "forecast", *asked)
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("Tonight: 1 error for about $0.08, on four nights of five")
    assert "KeyError" in told.stdout
    assert "Rules cost nothing" in nightwatch(tmp_path, "forecast", *asked[:4]).stdout
    expected = json.loads(nightwatch(tmp_path, "forecast", *asked, "--json").stdout)
    assert expected["least"] < expected["cost"] < expected["most"] < expected["cap"] == 6
