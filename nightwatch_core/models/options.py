"""Options of a night: one definition for parameters, flags and settings.

Every field is the parameter `field` of the flow `nightly`, the flag `--field` of `nightwatch night`
and, but for those `OF_A_RUN`, the setting `NIGHTWATCH_FIELD`. Nothing secret belongs here: Prefect
stores and shows it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from nightwatch_core.models.value import Value

# Words for what left the machine: every request, and how much went to whom.


class SentRequest(Value):
    """One request as it was about to leave; headers, which hold tokens, are never noted."""

    at: datetime
    service: str
    method: str  # of HTTP, or "git fetch"
    to: str  # the address, with its query
    bytes: int  # of the body
    sha256: str = ""  # of the body; empty where there was none
    masked: bool = False  # the text that is kept has masks where the body had none


class Destination(Value):
    """Bytes that a night sent to one host."""

    service: str
    host: str
    requests: int = 0
    bytes: int = 0  # of their bodies
    listed: bool = True  # False: of what goes there nobody keeps a list


Publish = Literal["all", "patches", "issues", "none"]
Tier = Literal["report", "issue", "draft"]
MAX_OPEN_ISSUES = 10  # of ours at any time
MAX_LESSONS = 500  # at hand; the least useful are archived
LESSON_DAYS = 90  # until a known error is analysed again
SECONDS_PER_ERROR = 600
STANDARD_INPUT = "-"  # of a command, among `errors`
MAX_TURNS = 20  # of the model, an error
TOKENS_PER_ERROR = 120_000  # new ones


def _option(default: object, description: str, **bounds: Any) -> Any:
    return Field(default, description=description, **bounds)


class NightOptions(Value):
    """The choices of one night; an empty port means "as the settings and credentials say"."""

    # ports
    source: str = _option("", "Where errors come from: newrelic, file, sample (comma list).")
    code: str = _option("", "Where code comes from: github, checkout or sample.")
    model: str = _option("", "Who analyses: a model's id, or rules.")
    delivery: str = _option("", "Where issues and pull requests go: github or local.")
    notify: str = _option("", "Where the report goes besides its files: slack or local.")

    # application
    errors: str = _option(
        "",
        "Exports or logs: files, folders, patterns (comma list), @list of names, - for the input.",
    )
    timezone: str = _option(
        "", "Time zone of files that name none: Europe/Berlin, +02:00; empty: UTC."
    )
    since: str = _option(
        "",
        "How far to look back: 24h, 7d; empty: all of a file; for New Relic 24h, or since the last "
        "scheduled night.",
    )
    repo: str = _option("", "Git checkout of the application.")
    commit: str = _option(
        "", "Tag, branch or sha to read all errors at; empty: the commit that failed."
    )
    base_branch: str = _option("", "Base branch of pull requests; empty: HEAD's.")
    app_root: str = _option("", "Folder of the application inside a monorepo.")
    app_prefixes: str = _option("", "Own packages or folders in stack traces (comma list).")
    source_maps: str = _option(
        "", "Folder of source maps of JavaScript bundles (needs the extra source-maps)."
    )

    # model and budget
    agent: str = _option("", "Agent file that leads the analysis; empty: by language.")
    max_errors: int | None = _option(
        None, "Errors analysed a night; empty: 5, with rules 10.", ge=1, le=1_000
    )
    total_token_budget: int = _option(1_000_000, "New tokens a night.", ge=1_000)
    cost_per_error: float = _option(1.50, "USD an error; 0: only its share of the night's.", ge=0)
    cost_per_night: float = _option(6.00, "USD a night; 0: no cap on USD.", ge=0)
    concurrency: int = _option(4, "Analyses at the same time.", ge=1, le=64)

    # publishing
    publish: Publish = _option(
        "all",
        "What may be published: all (issues and draft pull requests), patches (a fix is a patch on "
        "its issue, so that no CI runs before somebody has read it), issues, or none.",
    )
    max_issues: int = _option(3, "New issues a night.", ge=0, le=100)
    issues_for_unknown: bool = _option(False, "Open issues for errors without a known cause, too.")
    max_pull_requests: int = _option(1, "New draft pull requests a night.", ge=0, le=100)

    # proof
    gate: bool = _option(True, "Run the project's checks and tests on every fix in a sandbox.")
    gate_seconds: int = _option(300, "Seconds to test one fix.", ge=10, le=7_200)
    reproduce: bool = _option(True, "Ask the model for a test that reproduces the error.")
    verify: str = _option(
        "", "Command that tests the project, run in the sandbox; empty: as its files say."
    )
    prepare: str = _option(
        "", "Command that installs its dependencies into /env; empty: as its files say."
    )
    prepare_network: bool = _option(
        False,
        "Let dependencies be downloaded: only manifests are shown, no secrets; install scripts may "
        "run and reach the network of this machine.",
    )
    sandbox_folders: str = _option(
        "", "Folders of programs that the sandbox shows besides /usr (comma list)."
    )
    story_cost: float = _option(
        0.0, "USD for a fix made in several commits; 0: every fix is one commit.", ge=0
    )

    # batches
    batch_mode: bool = _option(
        False,
        "Ask a model about all errors at first sight, as one batch for half the price, and exit; "
        "--collect goes on with those that deserve an analysis. Short flag: --batch.",
    )
    collect_minutes: int = _option(
        60, "Minutes --collect waits for a batch; then a later --collect reads it.", ge=0, le=120
    )

    # this run
    dry_run: bool = _option(False, "Change nothing outside the state folder.")
    force: bool = _option(False, "Analyse again: use no lesson and no cached result.")

    def highest_tier(self) -> tuple[Tier, str]:
        """Return the most that may become of an error, and the setting that says so.

        >>> NightOptions(publish="issues").highest_tier()
        ('issue', 'publish issues')
        """
        tiers: dict[Publish, Tier] = {"none": "report", "issues": "issue"}
        return tiers.get(self.publish, "draft"), f"publish {self.publish}"

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


OF_A_RUN = ("commit", "agent", "dry_run", "force")
"""Options that are chosen run by run: as settings they would hold for every night, unseen."""

REPLACED: Mapping[str, str] = {
    "run": "use `nightwatch night`: it takes the same flags",
    "NIGHTWATCH_EFFORT": "agent files name the effort: set it in agents/*.md",
    "NIGHTWATCH_MAX_ITERATIONS": "agent files name max_iterations: set it in agents/*.md",
    "NIGHTWATCH_TOKEN_BUDGET_PER_ERROR": "set NIGHTWATCH_COST_PER_ERROR, or agent files' bounds",
    "NIGHTWATCH_COMPOUND_ENABLED": "lessons are always kept and recalled: delete this variable",
    "NIGHTWATCH_AGENTS_ENABLED": "agent files are always read: delete this variable",
    "NIGHTWATCH_PATTERNS_ENABLED": "patterns are always searched: delete this variable",
    "NIGHTWATCH_USE_COMPACTION": "models that can compact always do: delete this variable",
    **{
        f"NIGHTWATCH_{name.upper()}": f"choose it run by run: --{name.replace('_', '-')}, or the "
        f"parameter {name} of a deployment"
        for name in OF_A_RUN
    },
}
"""Verbs and settings of the design documents that have no effect today, and what to do instead."""


# Words for how well the services of a night were: what was asked of them, and what is due.


class ServiceCalls(Value):
    """Requests to one service that the night's own process sent."""

    service: str
    requests: int = 0
    unanswered: int = 0  # thereof: no answer came, or one that says to come later
    refused: int = 0  # thereof: for want of a right, or of a valid sign-in
    waits: int = 0  # before a request was sent again
    waited: float = 0.0  # seconds, in all of them
    trouble: str = ""  # what the last one that failed came to, one line
    is_last_well: bool = True  # whether the last one was answered
    expires: datetime | None = None  # the sign-in; None: the service does not say


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
    left: tuple[Destination, ...] | None = None  # who was sent how much; None: nobody looked

    @property
    def is_good(self) -> bool:
        """Tell whether nobody has to do anything."""
        return not self.due and all(
            service.state in ("well", "not asked") for service in self.services
        )
