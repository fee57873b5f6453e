"""Runs the two nights whose bundles are among the tests: `python tests/bundles/golden_bundles.py`.

Needed where a night decides otherwise on purpose: a replay of the old ones is not equal then.
One night is the sample's with the rules, one a small shop's with a model that a stand-in plays.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from git_repositories import Change, repository  # noqa: E402
from services.anthropic import Anthropic  # noqa: E402

FAULTS = {
    "shop/cart.py": ("total", "AttributeError", "return sum(line.price for line in lines)"),
    "shop/pay.py": ("charge", "TypeError", "return card.balance - amount.net"),
    "shop/mail.py": ("receipt", "KeyError", "return order['mail'].lower()"),
}
FIXES = {"line.price": "line.cost", "amount.net": "amount.gross", "order['mail']": "order['email']"}
KEY = "sk-ant-test-0123456789"
NOT_OURS = ("NIGHTWATCH_", "PREFECT_", "ANTHROPIC_", "GITHUB_", "SLACK_", "NEW_RELIC_", "SENTRY_")


def clean_environment(folder: Path) -> dict[str, str]:
    """Nothing of the user's: a state folder and a Prefect of its own."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(NOT_OURS)}
    return {
        **kept,
        "NIGHTWATCH_STATE": str(folder / "state"),
        "NIGHTWATCH_KNOWLEDGE_DIR": str(folder / "state" / "knowledge"),
        "PREFECT_HOME": str(folder / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }


def run(verb: str, *given: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would."""
    return subprocess.run(
        [str(Path(sys.executable).with_name("nightwatch")), verb, *given],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def shop(folder: Path) -> tuple[str, ...]:
    """A shop with three faults, each of which the stand-in can mend; returns what a night needs."""
    files = {
        path: f"def {name}(*things):\n    {code}\n" for path, (name, _, code) in FAULTS.items()
    }
    repository(folder / "shop", Change("The shop", files))
    rows = [
        {
            "timestamp": f"2026-11-20T1{at}:00:00Z",
            "error_class": error,
            "message": f"{name} failed",
            "transaction": f"POST /{name}",
            "stacktrace": "Traceback (most recent call last):\n"
            f'  File "/srv/{path}", line 2, in {name}\n    {code}\n{error}: {name} failed',
        }
        for at, (path, (name, error, code)) in enumerate(FAULTS.items())
    ]
    (folder / "errors.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return (
        *("--errors", str(folder / "errors.jsonl"), "--repo", str(folder / "shop")),
        *("--model", "claude-opus-5-5"),
    )


def rules_night(folder: Path, **more: str) -> Path:
    """The sample night; returns its bundle."""
    done = run("night", environment={**clean_environment(folder), **more})
    assert done.returncode == 0, done.stdout + done.stderr
    return exported(folder)


def model_night(folder: Path, **more: str) -> Path:
    """The shop's night; returns its bundle."""
    with Anthropic(key=KEY, fixes=FIXES, reads=1) as claude:
        ours = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": claude.url}
        done = run(
            "night", *shop(folder), environment={**clean_environment(folder), **ours, **more}
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return exported(folder)


def exported(folder: Path) -> Path:
    """The bundle of the one night whose state is in `folder`."""
    (night,) = (path for path in (folder / "state" / "nights").iterdir() if path.is_dir())
    bundle = folder / "night.bundle"
    done = run("bundle", "export", night.name, str(bundle), environment=clean_environment(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    return bundle


def main() -> None:
    """Write both."""
    for name, night in (("rules", rules_night), ("model", model_night)):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copyfile(night(Path(folder)), HERE / f"{name}.bundle")


if __name__ == "__main__":
    main()
