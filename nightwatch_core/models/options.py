"""Options of a night: one definition for parameters, flags and settings.

Every field is the parameter `field` of the flow `nightly`, the flag `--field` of `nightwatch night`
and, but for those `OF_A_RUN`, the setting `NIGHTWATCH_FIELD` and a key of nightwatch.toml. Nothing
secret belongs here: Prefect stores and shows it.
"""

import tomllib
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field

from nightwatch_core.models.value import Value


class Destination(Value):
    """Bytes that a night sent to one host."""

    service: str
    host: str
    requests: int = 0
    bytes: int = 0  # of their bodies
    listed: bool = True  # False: of what goes there nobody keeps a list

    def __add__(self, other: "Destination | None") -> "Destination":
        """Return what two processes sent to one host."""
        if other is None:
            return self
        update = {"requests": self.requests + other.requests, "bytes": self.bytes + other.bytes}
        return self.model_copy(update=update)


Code = Literal["", "github", "gitlab", "checkout", "sample"]
Delivery = Literal["", "github", "gitlab", "local"]
Notify = Literal["", "slack", "channels", "local"]
Publish = Literal["all", "proved", "patches", "issues", "none"]
Tier = Literal["report", "issue", "draft"]
_PULL_SIGNS = {"gitlab": "!"}  # where it is not #
MAX_OPEN_ISSUES = 10  # of ours at any time
MAX_LESSONS = 500  # at hand; the least useful are archived
LESSON_DAYS = 90  # until a known error is analysed again
SECONDS_PER_ERROR = 600
STANDARD_INPUT = "-"  # of a command, among `errors`
MAX_TURNS = 20  # of the model, an error, where neither option nor agent file says


def _option(default: object, description: str, **bounds: Any) -> Any:
    return Field(default, description=description, **bounds)


class NightOptions(Value):
    """The choices of one night; an empty port means "as the settings and credentials say"."""

    # ports
    source: str = _option(
        "", "Where errors come from: newrelic, sentry, file, sample (comma list)."
    )
    code: Code = _option("", "Where code comes from: github, gitlab, checkout or sample.")
    model: str = _option("", "Model that analyses: a model id, or rules (no language model).")
    lead_model: str = _option(
        "",
        "Cheaper model that analyses simple errors first; `model` looks again where its answer "
        "cannot be verified; empty: off.",
    )
    delivery: Delivery = _option("", "Where issues and pull requests go: github, gitlab or local.")
    notify: Notify = _option(
        "", "Where the report is sent: slack, channels (e-mail, chats), or local (files only)."
    )

    # application
    errors: str = _option(
        "",
        "Exports or logs: files, folders, patterns (comma list), @list of names, - "
        "for standard input.",
    )
    timezone: str = _option(
        "", "Time zone of files without one: Europe/Berlin, +02:00; empty: UTC."
    )
    since: str = _option(
        "",
        "How far to look back: 24h, 7d; empty: all of a file; for a service 24h, or since the last "
        "scheduled night.",
    )
    repo: str = _option("", "Git checkout of the application.")
    commit: str = _option(
        "", "Tag, branch or commit of the code to read; empty: the commit that failed."
    )
    base_branch: str = _option("", "Base branch of pull requests; empty: HEAD's.")
    app_root: str = _option("", "Folder of the application inside a monorepo.")
    app_prefixes: str = _option("", "Your own packages or folders in stack traces (comma list).")
    source_maps: str = _option(
        "", "Folder of source maps of JavaScript bundles (needs the extra source-maps)."
    )

    # model and budget
    agent: str = _option("", "Agent file to use; empty: chosen by language.")
    max_errors: int | None = _option(
        None, "Errors to analyse a night, at most; empty: 5, or 10 with rules.", ge=1, le=1_000
    )
    total_token_budget: int = _option(1_000_000, "New tokens a night, at most.", ge=1_000)
    token_budget_per_error: int = _option(
        120_000, "New tokens per error, at most; cache reads do not count.", ge=1_000
    )
    max_iterations: int | None = _option(
        None,
        "Turns of the model per error, at most; empty: 12 to 20, by error class. Agent files may "
        "set fewer.",
        ge=1,
        le=100,
    )
    cost_per_error: float = _option(
        1.50, "USD per error, at most; 0: limited by the night's budget alone.", ge=0
    )
    cost_per_night: float = _option(6.00, "USD per night, at most; 0: no limit.", ge=0)
    concurrency: int = _option(4, "Analyses that run in parallel.", ge=1, le=64)
    use_compaction: bool = _option(
        True, "Let the service summarise long conversations, where the model supports it."
    )

    # publishing
    publish: Publish = _option(
        "all",
        "What to publish: all (issues and draft pull requests), proved (drafts only of fixes "
        "with which a reproduced crash is gone), patches (each fix as "
        "a patch on its issue, so that no CI runs before review), issues, or none.",
    )
    max_issues: int = _option(3, "New issues a night, at most.", ge=0, le=100)
    issues_for_unknown: bool = _option(False, "Also open issues for errors without a known cause.")
    close_verified: bool = _option(
        False, "Close an issue once its fix is verified in production; else a comment proposes it."
    )
    max_pull_requests: int = _option(1, "New draft pull requests a night, at most.", ge=0, le=100)
    ci_seconds: int = _option(
        120,
        "Seconds to wait for the first CI check of a draft, where earlier drafts do not show how "
        "long that takes; 0: never wait for it.",
        ge=0,
        le=900,
    )

    # proof
    gate: bool = _option(True, "Run the project's checks and tests on every fix in a sandbox.")
    gate_seconds: int = _option(
        180,  # half for a suite without the fix, half for it with the fix
        "Seconds for the tests of one fix; four times as many where the machine is busy.",
        ge=10,
        le=7_200,
    )
    reproduce: bool = _option(True, "Ask the model for a test that reproduces the error.")
    verify: str = _option(
        "", "Test command of the project, run in the sandbox; empty: detected from its files."
    )
    prepare: str = _option(
        "",
        "Command that installs dependencies into /env; empty: detected from the project's files.",
    )
    prepare_network: bool = _option(
        False,
        "Download missing dependencies. Install scripts may run and use the "
        "network; they see manifests only, no secrets.",
    )
    sandbox_folders: str = _option(
        "", "Program folders to add to the sandbox, in addition to /usr (comma list)."
    )
    story_cost: float = _option(
        0.0, "USD for splitting a fix into several commits; 0: every fix is one commit.", ge=0
    )

    # batches
    batch_mode: bool = _option(
        False,
        "Submit all errors to a model for triage, as one batch at half price, and "
        "exit. --collect then analyses the flagged errors. Short flag: --batch.",
    )
    collect_minutes: int = _option(
        60, "Minutes that --collect waits for a batch to end.", ge=0, le=120
    )

    # features
    compound_enabled: bool = _option(
        True,
        "Use and write lessons; off: a night neither reads nor writes them, and analyses known "
        "errors again. Their documents stay.",
    )
    agents_enabled: bool = _option(
        True, "Use agent files; off: the built-in prompt leads every analysis."
    )
    patterns_enabled: bool = _option(
        True, "Detect patterns and suggest ignore rules; off: neither, and no pattern is used."
    )

    # this run
    dry_run: bool = _option(False, "Change nothing outside the state folder.")
    force: bool = _option(False, "Analyse again: ignore lessons and cached results.")

    @property
    def analysts(self) -> str:
        """Name the models that analyse: what errors cost with one lead says little of another."""
        return f"{self.lead_model}, then {self.model}" if self.lead_model else self.model

    @property
    def is_hosted(self) -> bool:
        """Tell whether a code host takes issues and pull requests."""
        return self.delivery not in ("", "local")

    @property
    def pull_sign(self) -> str:
        """Return what stands before a pull request's number, so that its host links it."""
        return _PULL_SIGNS.get(self.delivery, "#")

    def highest_tier(self) -> tuple[Tier, str]:
        """Return the most that may become of an error, and the setting that says so.

        >>> NightOptions(publish="issues").highest_tier()
        ('issue', '--publish issues')
        """
        tiers: dict[Publish, Tier] = {"none": "report", "issues": "issue"}
        return tiers.get(self.publish, "draft"), f"--publish {self.publish}"

    def sources(self) -> tuple[str, ...]:
        """Return the named sources.

        >>> NightOptions(source="file, sample").sources()
        ('file', 'sample')
        """
        return listed(self.source)


def listed(text: str) -> tuple[str, ...]:
    """Split a comma list.

    >>> listed(" a,, b ")
    ('a', 'b')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


_TABLE = tomllib.loads((files(__package__) / "sections.toml").read_text("utf-8"))
PATHS: tuple[str, ...] = tuple(_TABLE.pop("paths"))
SECTIONS: Mapping[str, Mapping[str, str]] = _TABLE
"""Sections of nightwatch.toml: each key, and the option or setting behind it."""
SECTION_OF = {field: name for name, keys in SECTIONS.items() for field in keys.values()}
OF_A_RUN = tuple(SECTIONS["run"])
"""Options that are chosen run by run: as settings they would hold for every night, unseen."""

REPLACED: Mapping[str, str] = {
    "run": "use `nightwatch night`: it takes the same flags",
    "NIGHTWATCH_EFFORT": "set effort in agents/*.md",
    **{
        f"NIGHTWATCH_{name.upper()}": f"set it per run with --{name.replace('_', '-')}, or the "
        f"parameter {name} of a deployment"
        for name in OF_A_RUN
    },
}
"""Verbs and settings of the design documents that have no effect today, and what to do instead."""


# Words for how well the services of a night were: what was asked of them, and what is due.


class ServiceCalls(Value):
    """Requests to one service that the night's own processes sent."""

    service: str
    requests: int = 0
    unanswered: int = 0  # thereof: no answer came, or one that says to come later
    refused: int = 0  # thereof: for want of a right, or of a valid sign-in
    waits: int = 0  # before a request was sent again
    waited: float = 0.0  # seconds, in all of them
    trouble: str = ""  # what the last one that failed came to, one line
    is_last_well: bool = True  # whether the last one was answered
    expires: datetime | None = None  # the sign-in; None: the service does not say

    def __add__(self, other: "ServiceCalls") -> "ServiceCalls":
        """Return the calls of two processes together."""
        counts = ("requests", "unanswered", "refused", "waits", "waited")
        return ServiceCalls(
            service=self.service,
            **{name: getattr(self, name) + getattr(other, name) for name in counts},
            trouble=other.trouble or self.trouble,
            is_last_well=self.is_last_well and other.is_last_well,
            expires=other.expires or self.expires,
        )


class ServiceHealth(Value):
    """One service that took part in a night."""

    name: str
    state: Literal["well", "troubled", "away", "not asked"] = "well"
    calls: ServiceCalls | None = None  # None: its requests are not counted
    detail: str = ""  # what there is, or what is wrong
    last_well: datetime | None = None  # of one that is away: the last night that reached it


class StateFolder(Value):
    """Where NightWatch keeps what must survive a night."""

    free: int = 0  # bytes of its disk
    size: int = 0  # bytes of its disk, used or not


class Health(Value):
    """Health of a night's services, and what needs attention."""

    services: tuple[ServiceHealth, ...] = ()
    due: tuple[str, ...] = ()  # one sentence each
    advice: tuple[str, ...] = ()  # what whoever runs it might set, one sentence each
    left: tuple[Destination, ...] | None = None  # who was sent how much; None: nobody looked

    @property
    def is_good(self) -> bool:
        """Tell whether nobody has to do anything."""
        return not self.due and all(
            service.state in ("well", "not asked") for service in self.services
        )
