"""What deployments/ says is true: every entrypoint, the schedule, the image's files, the words."""

import configparser
import copy
import importlib
import inspect
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import prefect.settings
import pytest
import yaml
from prefect import Flow
from prefect.client.schemas.objects import ConcurrencyLimitStrategy
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.schemas.automations import AutomationCore

from flows.commands.deploy import cron_of, deploy, of_application
from flows.commands.night import POOL
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.report import EXIT_CODES
from nightwatch_core.settings import names

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "deployments"
SHIPPED: dict[str, Any] = yaml.safe_load((FOLDER / "prefect.yaml").read_text(encoding="utf-8"))
DEPLOYMENTS: dict[str, dict[str, Any]] = {item["name"]: item for item in SHIPPED["deployments"]}
TEXTS = {
    path: path.read_text(encoding="utf-8")
    for path in (
        ROOT / "README.md",
        *(FOLDER / name for name in ("README.md", "Dockerfile", "ui.sh", "prefect.yaml")),
    )
}
OURS = {"NIGHTWATCH_CHECKOUT", "NIGHTWATCH_RESULTS"}  # read when deployments are registered
COPIES = re.findall(r"^COPY (.+) \S+$", TEXTS[FOLDER / "Dockerfile"], re.M)


def flow_of(deployment: dict[str, Any]) -> Flow[..., Any]:
    module, _, name = deployment["entrypoint"].partition(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, Flow)
    return found


@pytest.mark.parametrize("name", list(DEPLOYMENTS))
def test_every_entrypoint_is_a_flow_of_that_name(name: str) -> None:
    assert flow_of(DEPLOYMENTS[name]).name == name


def test_every_flow_is_deployed() -> None:
    files = {path.stem for path in (ROOT / "flows").glob("*.py")} - {
        "__init__",
        "morning",
        "replay",
    }
    assert {item["entrypoint"].partition(":")[0] for item in DEPLOYMENTS.values()} == {
        f"flows.{stem}" for stem in files
    }


def test_the_night_has_a_time_and_a_zone() -> None:
    (schedule,) = DEPLOYMENTS["nightly"]["schedules"]
    assert schedule["active"]
    assert ZoneInfo(schedule["timezone"])
    CronSchedule(cron=schedule["cron"], timezone=schedule["timezone"])
    assert schedule["cron"].split()[2:] == ["*", "*", "*"]  # every day


def test_the_night_maintenance_and_what_collects_a_batch_come_by_themselves() -> None:
    scheduled = [name for name, one in DEPLOYMENTS.items() if one.get("schedules")]
    assert scheduled == ["nightly", "maintenance", "triage-collect"]


@pytest.mark.parametrize("name", ["nightly", "triage-collect"])
def test_one_night_at_a_time_and_the_next_one_waits(name: str) -> None:
    limit = DEPLOYMENTS[name]["concurrency_limit"]
    assert limit["limit"] == 1
    assert ConcurrencyLimitStrategy(limit["collision_strategy"]).name == "ENQUEUE"


def test_all_share_one_pool_that_the_documents_name() -> None:
    (pool,) = {item["work_pool"]["name"] for item in DEPLOYMENTS.values()}
    assert pool == POOL  # that `nightwatch deploy` makes
    assert f"work-pool create {pool} --type process" in TEXTS[FOLDER / "README.md"]
    for path in (FOLDER / "README.md", FOLDER / "ui.sh"):
        assert f"worker start --pool {pool}" in TEXTS[path]


def test_what_the_file_takes_from_outside_is_set_and_documented() -> None:
    taken = set(re.findall(r"\{\{ \$(\w+) \}\}", TEXTS[FOLDER / "prefect.yaml"]))
    assert taken == OURS
    for name in taken:
        assert f'"{name}": ' in inspect.getsource(deploy)
        assert f"export {name}=" in TEXTS[FOLDER / "README.md"]


def test_the_version_of_prefect_is_the_one_that_is_installed() -> None:
    assert SHIPPED["prefect-version"] == prefect.__version__
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert f"prefect=={prefect.__version__}" in pins


@pytest.mark.parametrize("path", list(TEXTS), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_variable_that_is_named_exists(path: Path) -> None:
    known = {*names(), *OURS}
    levels = {"PREFECT_LOGGING_LOGGERS_PREFECT_TASK_RUNS_LEVEL"}  # of Prefect's logging.yml
    said = set(re.findall(r"\b(?:NIGHTWATCH|PREFECT)_[A-Z_]*[A-Z]", TEXTS[path]))
    wrong = {
        name
        for name in said - levels
        if not (name in known if name.startswith("NIGHT") else hasattr(prefect.settings, name))
    }
    assert not wrong


def test_runs_that_the_documents_ask_for_can_be_had() -> None:
    text = "\n".join(TEXTS.values()).replace("\\\n", " ")
    asked = re.findall(r"prefect deployment run (\S+?)/(\S+)((?: --param \w+=\S+)*)", text)
    assert {name for _, name, _ in asked} >= {"nightly", "one-error", "act"}
    for flow, name, params in asked:
        assert flow == name
        parameters = inspect.signature(flow_of(DEPLOYMENTS[name])).parameters  # of the form
        given = {word.partition("=")[0] for word in shlex.split(params) if word != "--param"}
        assert given <= set(parameters)


def test_the_image_copies_what_exists_and_all_it_needs() -> None:
    sources = {word for words in COPIES for word in words.split()}
    assert not [name for name in sources if not (ROOT / name).exists()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {*packages, "agents", "knowledge", "deployments/prefect.yaml"} <= sources
    assert {"pyproject.toml", "constraints.txt", project["project"]["readme"]} <= sources
    version = re.search(r"^FROM python:3\.(\d+)-slim$", TEXTS[FOLDER / "Dockerfile"], re.M)
    assert version
    assert f">=3.{version[1]}" in project["project"]["requires-python"]


def test_the_wheel_has_what_a_checkout_has_beside_the_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert {"agents", "knowledge/ignore.yml", "deployments/prefect.yaml"} == set(wheel)
    for name, inside in wheel.items():
        assert (ROOT / name).exists()
        assert inside == f"nightwatch_core/packaged/{name}"
        assert any(name.startswith(source) for words in COPIES for source in words.split())


def test_the_image_gets_its_files_and_nothing_private() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*", "whatever is not named stays out"
    let_in = {line.removeprefix("!") for line in rules if line.startswith("!")}
    assert {name for words in COPIES for name in words.split()} <= let_in
    private = {"**/.env", "knowledge/errors/*", "knowledge/index.yml", "knowledge/quarantine"}
    assert private <= set(rules)
    assert rules.index("!knowledge") < rules.index("knowledge/errors/*")


def test_the_automations_are_some_and_wait_for_what_nights_announce() -> None:
    text = (FOLDER / "automations.yaml").read_text(encoding="utf-8")
    automations = [AutomationCore(**item) for item in yaml.safe_load(text)["automations"]]
    assert [item.trigger.posture.name for item in automations] == ["Proactive", "Reactive"]
    expected = {event for item in automations for event in item.trigger.expect}
    assert expected == {f"nightwatch.night.{status}" for status in EXIT_CODES}


def test_the_units_run_what_the_documents_name() -> None:
    for part in ("server", "worker"):
        unit = configparser.ConfigParser(strict=False)
        unit.optionxform = str  # type: ignore[assignment,method-assign]
        unit.read_string((FOLDER / f"systemd/nightwatch-{part}.service").read_text("utf-8"))
        command = unit["Service"]["ExecStart"].split()
        assert command[0].endswith("/.venv/bin/prefect")
        assert command[1:3] == [part, "start"]
        assert unit["Service"]["EnvironmentFile"] in TEXTS[FOLDER / "README.md"]
        assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_compose_and_action_run_verbs_and_set_settings_that_exist() -> None:
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    services = compose["services"]
    assert {name for one in services.values() for name in one.get("depends_on", {})} <= set(
        services
    )
    assert (FOLDER / services["server"]["build"]["dockerfile"]).name == "Dockerfile"
    action = yaml.safe_load((FOLDER / "github-action.yml").read_text("utf-8"))
    (step,) = [one for one in action["jobs"]["night"]["steps"] if "env" in one]
    commands = [step["run"], *(one["command"] for one in services.values())]
    verbs = [words.split()[1] for words in commands if words.startswith("nightwatch ")]
    assert verbs == ["night", "deploy"]
    environment = {*step["env"], *services["worker"]["environment"]}
    assert {name for name in environment if not name.startswith("PREFECT_")} <= set(names())


def test_each_application_has_its_own_deployments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    monkeypatch.delenv("NIGHTWATCH_STATE")
    for name, schedule in (("shop", "04:30 Europe/Berlin"), ("api", "0 6 * * 1-5 UTC")):
        file = tmp_path / f"{name}.toml"
        file.write_text(f'[application]\nname = "{name}"\nschedule = "{schedule}"\n')
        monkeypatch.setenv("NIGHTWATCH_CONFIG", str(file))
        made[name] = of_application(copy.deepcopy(SHIPPED))["deployments"]
        assert {item["name"] for item in made[name]} == {name}
        assert [item["entrypoint"] for item in made[name]] == [
            item["entrypoint"] for item in SHIPPED["deployments"]
        ]
        for item in made[name]:
            assert item["tags"] == ["nightwatch", name]
            environment = item["work_pool"]["job_variables"]["env"]
            assert environment["NIGHTWATCH_CONFIG"] == str(file)
            assert environment["NIGHTWATCH_STATE"] == str(tmp_path / ".nightwatch" / name)
            assert environment["NIGHTWATCH_KNOWLEDGE_DIR"] == str(tmp_path / "knowledge" / name)
    (shop,), (api,) = (apps[0]["schedules"] for apps in made.values())
    assert (shop["cron"], shop["timezone"]) == ("30 4 * * *", "Europe/Berlin")
    assert (api["cron"], api["timezone"]) == ("0 6 * * 1-5", "UTC")


def test_without_a_file_the_deployments_are_those_of_the_yaml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert of_application(copy.deepcopy(SHIPPED)) == SHIPPED


@pytest.mark.parametrize(
    "schedule", ["25:00 UTC", "5 o'clock", "05:00 Europe/Nowhere", "* * UTC", ""]
)
def test_a_schedule_that_is_none_says_how_to_write_one(schedule: str) -> None:
    with pytest.raises(StopTheNight, match="05:00 Europe/Berlin"):
        cron_of(schedule)
