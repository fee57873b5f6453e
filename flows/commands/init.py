"""`nightwatch init`: five questions, and the nightwatch.toml that their answers make."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from jinja2 import Environment, PackageLoader

from flows.commands.deploy import cron_of
from flows.commands.setup import check
from nightwatch_core.errors import NightWatchError, StopTheNight
from nightwatch_core.intake.default_ports import HOSTS, RULES, SAMPLE
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.proof.preparing import projects_of
from nightwatch_core.settings import CONFIG, settings
from tasks import wiring

EXPORTS = ("*.jsonl", "*error*.json", "*error*.csv", "*.log", "logs/*.log")  # the first there is
Yes = Annotated[bool, typer.Option("--yes", help="Ask nothing: take what is found.")]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that is there.")]


class Found(NamedTuple):
    """What a checkout says about itself."""

    repository: str = ""
    branch: str = ""
    tests: str = ""  # how they are run, in a few words
    gitlab: str = ""  # the address of a project there


def init(yes: Yes = False, force: Force = False) -> None:
    """Ask five questions, find out the rest, and write nightwatch.toml.

    Then every connected service is tried, as `nightwatch check` does. Exit code: as there.
    """
    file = Path(os.environ.pop("NIGHTWATCH_CONFIG", "") or CONFIG)
    if file.exists() and not force:
        raise StopTheNight(f"{file} is there already: change it, or write it anew with --force")
    if not (yes or sys.stdin.isatty()):
        raise StopTheNight("init asks questions, and this is no terminal: use --yes")
    ask, at = (_take if yes else _ask), settings()
    ready = {name for names in wiring.services.available(at).values() for name in names}
    live = wiring.services.LIVE
    here = (str(path) for pattern in EXPORTS for path in sorted(Path().glob(pattern)))
    errors = ask(
        f"Where do errors come from: {', '.join(live)}, {SAMPLE}, or files "
        "(export.jsonl, logs/*.gz)?",
        ",".join(name for name in live if name in ready) or next(here, SAMPLE),
        lambda text: _are_sources(text) or _check(errors=text, source="file"),
    )
    code = (
        errors
        if errors == SAMPLE
        else ask(
            "Which git checkout has the code (a folder; github or gitlab: read it there)?",
            next((h for h in HOSTS if h in ready and not Path(".git").exists()), "."),
            lambda text: text in HOSTS or _check(repo=text),
        )
    )
    found = Found(at.github_repo) if code in (*HOSTS, SAMPLE) else _look_at(code)
    model = ask(
        "Which model analyses: a Claude model, or rules (no language model)?",
        wiring.DEFAULT_MODEL if "claude" in ready else RULES,
        lambda text: wiring.with_default_ports(NightOptions(source=SAMPLE, model=text), at),
    )
    hosted = bool(at.github_token or at.github_app_id) and "/" in found.repository
    hosted = hosted and not found.gitlab
    at_gitlab = "gitlab" in ready and (code == "gitlab" or bool(found.gitlab))
    desk = "gitlab" if at_gitlab else "github" if hosted else "local"
    desk = "local" if errors == SAMPLE else desk
    desks = ask(
        "Where do findings go: local, github or gitlab; and slack, after a comma?",
        f"{desk},slack" if "slack" in ready else desk,
        _check_desks,
    )
    zone = re.search(r"zoneinfo/(.+)", str(Path("/etc/localtime").resolve()))
    schedule = ask(
        "When does the night run (time and time zone)?",
        f"05:00 {zone[1].removeprefix('Etc/') if zone else 'UTC'}",
        cron_of,
    )
    templates = Environment(
        loader=PackageLoader("flows.commands", "."), trim_blocks=True, keep_trailing_newline=True
    )
    templates.filters["toml"] = lambda text: json.dumps(text, ensure_ascii=False)
    text = templates.get_template("nightwatch.toml.j2").render(
        errors=errors,
        from_files=not _are_sources(errors),
        code=code,
        model=model,
        desks=listed(desks),
        desk=next((host for host in HOSTS if host in listed(desks)), "local"),
        schedule=schedule,
        found=found,
        hosted=hosted,
        name=re.sub(r"[^\w.-]", "", found.repository.rpartition("/")[2]) or SAMPLE,
    )
    file.write_text(text, "utf-8")
    os.environ["NIGHTWATCH_CONFIG"] = str(file.absolute())
    print(f"Wrote {file}. Try it: {settings().command} night --dry-run\n")
    check()


def _take(question: str, found: str, check_answer: Callable[[str], object]) -> str:
    check_answer(found)
    return found


def _ask(question: str, found: str, check_answer: Callable[[str], object]) -> str:
    while True:
        answer = str(typer.prompt(question, default=found)).strip()
        try:
            return _take(question, answer, check_answer)
        except NightWatchError as trouble:
            print(f"  {trouble}")


def _are_sources(text: str) -> bool:
    return set(listed(text)) <= {*wiring.services.LIVE, SAMPLE}


def _check(**options: str) -> bool:
    wiring.check_inputs(NightOptions.model_validate(options), settings())
    return True


def _check_desks(text: str) -> None:
    if not set(listed(text)) <= {"local", *HOSTS, "slack"}:
        raise StopTheNight("choose local, github or gitlab, and slack after a comma if you like")


def _look_at(checkout: str) -> Found:
    """Find out what a checkout says of its remote, its branch and its tests."""
    options = NightOptions(code="checkout", repo=checkout)
    host = wiring.services.bare_code(options, settings())
    head = host.head()
    kit = projects_of(host.reader(head), options)[0]
    tests = (
        kit if isinstance(kit, str) else f"{kit.language}: {', '.join(r.name for r in kit.runners)}"
    )
    project = head.address.removesuffix("/-") if head.address.endswith("/-") else ""
    return Found(head.repository, head.branch, tests, project)
