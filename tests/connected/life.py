"""A small shop that lives from day to day: its errors, its code, and people who review drafts.

    life = Life(folder, prefect=address)
    report = life.night(1, failing=80)       # a process of its own: flows/nightly.py
    life.merge(2, branch)                    # the second day, a person merges the draft

Dates are invented, so that ten nights take minutes; everything else is as on a team's machine:
an export of errors, a checkout, files as delivery, the rules as model.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from git_repositories import CLEAN, git

from nightwatch_core.text.frontmatter import read, render

ROOT = Path(__file__).resolve().parents[2]
OURS = ("NIGHTWATCH_", "NEW_RELIC_", "GITHUB_", "SLACK_", "ANTHROPIC_", "PREFECT_")
BEGIN = datetime(2030, 3, 1, tzinfo=UTC)  # midnight before the first day
STEADY = 6  # occurrences a day of the error that nobody mends

LINE = """class Line:
    def __init__(self, {name}, amount):
        self.{name} = {name}
        self.amount = amount
"""
CART = """def total(lines):
    return sum(line.price * line.amount for line in lines)
"""
VIEWS = """from shop.cart import total


def show(request):
    return total(request.basket)
"""
RATES = """RATES = {"DE": 19, "FR": 20}


def rate(country):
    return RATES[country]
"""
BROKEN = (
    'Traceback (most recent call last):\n  File "/srv/shop/views.py", line 5, in show\n'
    '    return total(request.basket)\n  File "/srv/shop/cart.py", line 2, in total\n'
    "    return sum(line.{name} * line.amount for line in lines)\n"
    "AttributeError: 'Line' object has no attribute '{name}'"
)
NO_RATE = (
    'Traceback (most recent call last):\n  File "/srv/shop/rates.py", line 5, in rate\n'
    "    return RATES[country]\nKeyError: 'LU'"
)


class Life:
    """The shop in `folder`: `repo`, `errors.json`, `state`."""

    def __init__(self, folder: Path, prefect: str = "") -> None:
        self.folder, self.prefect = folder, prefect
        self.repo, self.state = folder / "shop", folder / "state"
        self.repo.mkdir(parents=True)
        git(self.repo, "init", "--quiet", "--initial-branch=main")
        files = {"line": LINE.format(name="price"), "cart": CART, "views": VIEWS, "rates": RATES}
        self.commit(-20, "A shop", **files)
        self.rename(0, "price", "unit_price")
        self.asked = "price"  # what the cart asks for in vain

    # The people.

    def commit(self, day: float, message: str, **modules: str) -> None:
        """Write modules of the package `shop` and commit them, at noon of a day."""
        for name, text in modules.items():
            path = self.repo / "shop" / f"{name}.py"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._git(day, "add", ".")
        self._git(day, "commit", "--quiet", "-m", message)

    def rename(self, day: float, old: str, new: str) -> None:
        """Rename the attribute, and forget the cart."""
        self.commit(day, f"Rename {old} to {new}", line=LINE.format(name=new))

    def merge(self, day: float, branch: str) -> None:
        """Merge a draft into main."""
        self._git(day, "merge", "--quiet", "--no-ff", "-m", f"Merge {branch}", branch)

    def reject(self, number: int, words: str) -> None:
        """Close a draft with a word, and delete its branch."""
        path = self.document("pull", number)
        meta, body = read(path.read_text(encoding="utf-8"))
        branch = str(meta["branch"])
        path.write_text(render({**meta, "words": [words]}, body), encoding="utf-8")
        self._git(0, "branch", "--quiet", "-D", branch)

    def close(self, number: int, day: float) -> None:
        """Close an issue as done."""
        path = self.document("issue", number)
        meta, body = read(path.read_text(encoding="utf-8"))
        at = (BEGIN + timedelta(days=day)).isoformat()
        closed = {**meta, "state": "closed", "state_reason": "completed", "closed_at": at}
        path.write_text(render(closed, body), encoding="utf-8")

    def _git(self, day: float, *arguments: str) -> str:
        """Git, at noon of a day."""
        at = (BEGIN + timedelta(days=day - 0.5)).isoformat()
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        done = subprocess.run(
            ["git", *arguments], cwd=self.repo, env={**CLEAN, **dates}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    # The night.

    def night(self, day: int, failing: int, *flags: str) -> dict[str, Any]:
        """The night after a day on which the cart failed so often; its report."""
        records = [*self._records(day, "cart", failing), *self._records(day, "rates", STEADY)]
        (self.folder / "errors.json").write_text(json.dumps(records), encoding="utf-8")
        command = [
            *(sys.executable, str(ROOT / "flows/nightly.py")),
            *("--errors", str(self.folder / "errors.json"), "--repo", str(self.repo)),
            *("--model", "rules", *flags),
        ]
        done = subprocess.run(
            command, env=self._environment(), cwd=self.folder, capture_output=True, text=True,
            timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 3), done.stdout + done.stderr
        found = sorted(self.state.glob("nights/*/report.json"), key=lambda p: p.stat().st_mtime)
        report: dict[str, Any] = json.loads(found[-1].read_text(encoding="utf-8"))
        report["terminal"] = done.stdout
        return report

    def _records(self, day: int, kind: str, count: int) -> list[dict[str, Any]]:
        """So many records, from the first minute of a day to its last."""
        name, message, transaction, trace = {
            "cart": (
                "AttributeError",
                f"'Line' object has no attribute '{self.asked}'",
                "cart/show",
                BROKEN.format(name=self.asked),
            ),
            "rates": ("KeyError", "'LU'", "rates/show", NO_RATE),
        }[kind]
        begin, day_long = BEGIN + timedelta(days=day - 1), timedelta(hours=23, minutes=59)
        return [
            {
                "timestamp": (begin + day_long * (number / max(count - 1, 1))).isoformat(),
                "error.class": name,
                "error.message": message,
                "transactionName": transaction,
                "appName": "shop",
                "error.stack_trace": trace,
            }
            for number in range(count)
        ]

    def _environment(self) -> dict[str, str]:
        clean = {name: v for name, v in os.environ.items() if not name.startswith(OURS)}
        ours = {
            "NIGHTWATCH_STATE": str(self.state),
            "NIGHTWATCH_KNOWLEDGE_DIR": str(self.state / "knowledge"),
            "PREFECT_HOME": str(self.folder / "prefect"),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
            "COLUMNS": "140",
            "TZ": "UTC",
        }
        return clean | ours | ({"PREFECT_API_URL": self.prefect} if self.prefect else {})

    # What is there.

    def document(self, kind: str, number: int) -> Path:
        """The file of an issue or a draft."""
        (path,) = self.state.glob(f"nights/*/outbox/{kind}-{number:04d}-*.md")
        return path

    def documents(self, kind: str) -> list[Path]:
        """Files of issues, drafts (`pull`) or comments, oldest first."""
        return sorted(self.state.glob(f"nights/*/outbox/{kind}-*.md"))

    def branches(self) -> list[str]:
        """Branches of drafts."""
        told = git(self.repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/nightwatch")
        return told.split()
