"""An installation from the ranges in pyproject.toml alone: what broke without pins before."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fresh")]
IMPORTS = (
    "import anthropic, githubkit, jwt, hishel, slack_sdk, prefect.server.api.server, flows.nightly"
)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without extras."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check"]
    without_pins = {k: v for k, v in os.environ.items() if k != "PIP_CONSTRAINT"}
    subprocess.run([*pip, "-e", str(ROOT)], check=True, env=without_pins, timeout=900)
    return folder / "bin"


def test_a_night_needs_no_extra_and_what_needs_one_says_so(fresh: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ, "NIGHTWATCH_HOME": str(tmp_path), "PREFECT_HOME": str(tmp_path / "prefect")
    }  # fmt: skip

    def nightwatch(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        command = [fresh / "nightwatch", *arguments]
        given = {"env": environment | more, "cwd": tmp_path, "timeout": 300}
        return subprocess.run(command, capture_output=True, text=True, **given)  # type: ignore[call-overload, no-any-return]

    done = nightwatch("night", "--max-errors", "1")
    assert done.returncode == 0, done.stderr
    files = ("--errors", "a.log", "--repo", "app")
    for verb in ("night", "check"):
        done = nightwatch(
            verb,
            *files,
            GITLAB_TOKEN="t",
            GITLAB_PROJECT="https://gitlab.example/a/b",
            NIGHTWATCH_TASK_RUNNER="dask",
        )
        assert done.returncode == 1
        for name, extra in (("GitLab", "gitlab"), ("Dask", "dask")):
            assert f'{name} needs an extra: pip install "nightwatch[{extra}]"' in done.stderr


def test_everything_the_night_needs_can_be_imported(fresh: Path) -> None:
    done = subprocess.run([fresh / "python", "-c", IMPORTS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_all_deployments_can_be_registered_without_a_server(fresh: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PREFECT_HOME": str(tmp_path),
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "600",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "NIGHTWATCH_CHECKOUT": str(ROOT),
        "NIGHTWATCH_RESULTS": str(tmp_path / "results"),
    }
    environment.pop("PREFECT_API_URL", None)
    prefect = [fresh / "prefect", "--no-prompt"]
    create = [*prefect, "work-pool", "create", "nightwatch", "--type", "process"]
    subprocess.run(create, check=True, env=environment, cwd=ROOT, timeout=300)
    deploy = [*prefect, "deploy", "--all", "--prefect-file", "deployments/prefect.yaml"]
    done = subprocess.run(
        deploy, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    listed = subprocess.run(
        [*prefect, "deployment", "ls"], env=environment, capture_output=True, text=True, timeout=300
    )
    assert "nightly/nightly" in listed.stdout, listed.stderr
