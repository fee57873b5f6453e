"""`nightwatch deploy`: the deployments of one application, registered at a Prefect server."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import yaml

from flows.commands import night
from nightwatch_core.errors import StopTheNight
from nightwatch_core.settings import PACKAGED, configuration, night_options, settings
from tasks import wiring


def deploy() -> None:
    """Register the deployments of this application, or register them again after a change.

    Needs a Prefect server: `make ui`, or PREFECT_API_URL. Each application has its own
    deployments: nightly/NAME, where nightwatch.toml says name = "NAME".
    """
    wiring.with_default_ports(night_options(), settings())
    night.make_prefect_ready(settings().state, verbose=False)
    from prefect.settings import PREFECT_API_URL  # reads its environment when imported

    address = PREFECT_API_URL.value()
    if not address:
        raise StopTheNight("no Prefect server was found: start `make ui`, or set PREFECT_API_URL")
    text = (PACKAGED / "deployments/prefect.yaml").read_text("utf-8")
    file = configuration().file
    places = {
        "NIGHTWATCH_CHECKOUT": str(file.parent if file else Path.cwd()),
        "NIGHTWATCH_RESULTS": str(settings().state / "results"),
    }
    with TemporaryDirectory() as folder:
        described = Path(folder) / "prefect.yaml"
        described.write_text(yaml.safe_dump(of_application(yaml.safe_load(text))), "utf-8")
        command = [sys.executable, "-m", "prefect", "--no-prompt"]
        made = ("work-pool", "create", night.POOL, "--type", "process")
        subprocess.run([*command, *made], capture_output=True, check=False)  # may be there already
        done = subprocess.run(
            [*command, "deploy", "--all", "--prefect-file", str(described)],
            env={**os.environ, **places},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise StopTheNight(f"the deployments were not registered:\n{done.stdout}{done.stderr}")
    registered = re.findall(r"deployment run '([^']+)'", done.stdout)
    print(f"Registered at {address}: {', '.join(registered)}")


def of_application(shipped: Mapping[str, Any]) -> dict[str, Any]:
    """Return the shipped deployments as this application's: its name, schedule and settings."""
    at, file = settings(), configuration().file
    cron, zone = cron_of(at.schedule)
    deployments = []
    for deployment in shipped["deployments"]:
        own = {**deployment, "name": at.application or deployment["name"]}
        own["tags"] = [*deployment["tags"], *filter(None, [at.application])]
        pool = deployment["work_pool"]
        environment = {**pool["job_variables"]["env"]}
        if file:
            environment["NIGHTWATCH_CONFIG"] = str(file)
        if at.application:  # whatever the worker's environment says: it works for several
            environment["NIGHTWATCH_STATE"] = str(at.state)
            environment["NIGHTWATCH_KNOWLEDGE_DIR"] = str(at.knowledge)
        own["work_pool"] = {**pool, "job_variables": {"env": environment}}
        for schedule in own.get("schedules", ()):
            schedule["timezone"] = zone
            if deployment["name"] == "nightly":
                schedule["cron"] = cron
        deployments.append(own)
    return {**shipped, "deployments": deployments}


def cron_of(schedule: str) -> tuple[str, str]:
    """Return a schedule as a cron expression and its time zone; raises `StopTheNight`.

    >>> cron_of("05:30 Europe/Berlin"), cron_of("0 5 * * 1-5 UTC"), cron_of("4:00")
    (('30 5 * * *', 'Europe/Berlin'), ('0 5 * * 1-5', 'UTC'), ('0 4 * * *', 'UTC'))
    """
    words = schedule.split()
    zone = words.pop() if len(words) in (2, 6) else "UTC"
    time = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", words[0]) if len(words) == 1 else None
    try:
        ZoneInfo(zone)
    except (OSError, ValueError, LookupError):
        time, words = None, []
    if not time and len(words) != 5:
        example = "05:00 Europe/Berlin, or 0 5 * * 1-5 Europe/Berlin"
        raise StopTheNight(f"schedule {schedule!r} was not understood: write it as {example}")
    return (f"{int(time[2])} {int(time[1])} * * *" if time else " ".join(words)), zone
