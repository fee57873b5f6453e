"""What can be chosen for one night: the one definition of parameters, flags and settings.

Every field is the parameter `field` of the flow `nightly`, the flag `--field` of `nightwatch night`
and the setting `NIGHTWATCH_FIELD`. Nothing secret belongs here: Prefect stores and shows it.
"""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from nightwatch_core.models.manifest import Destination
from nightwatch_core.models.value import Value

Publish = Literal["all", "issues", "none"]
RiskyFixes = Literal["refuse", "show"]
BandAids = Literal["mitigation", "fix", "refuse"]
Drafts = Literal["branch", "patch"]
StopAt = Literal["report", "issue", "draft"]
STANDARD_INPUT = "-"  # of a command, among `errors`
EffortChoice = Literal["", "low", "medium", "high"]


def _option(default: object, description: str, **bounds: Any) -> Any:
    return Field(default, description=description, **bounds)


class NightOptions(Value):
    """The choices of one night; an empty port means "as the settings and credentials say"."""

    source: str = _option("", "Where errors come from: newrelic, file, sample (comma list).")
    code: str = _option("", "Where code comes from: github, checkout or sample.")
    model: str = _option("", "Who analyses: a model's id, or rules.")
    delivery: str = _option("", "Where issues and pull requests go: github or local.")
    notify: str = _option("", "Where the report goes besides its files: slack or local.")
    errors: str = _option(
        "",
        "Exports or logs: files, folders, patterns (comma list), @list of names, - for the input.",
    )
    timezone: str = _option(
        "", "Zone of times in files that name none: Europe/Berlin, +02:00; empty: UTC."
    )
    repo: str = _option("", "Git checkout of the application the errors come from.")
    commit: str = _option(
        "", "Tag, branch or sha that all errors are read at; empty: each at the one that failed."
    )
    base_branch: str = _option("", "Branch that pull requests aim at; empty: HEAD's.")
    app_root: str = _option("", "Folder of the application inside a monorepo.")
    path_prefixes: str = _option("", "Trace path prefixes to cut off (comma list).")
    source_maps: str = _option(
        "", "Folder of source maps of JavaScript bundles (the extra source-maps)."
    )
    app_prefixes: str = _option("", "Own packages or folders in traces (comma list).")
    since: str = _option(
        "",
        "How far to look back: 24h, 7d; empty: all of a file; of New Relic 24h, or what no "
        "scheduled night has read.",
    )
    max_errors: int | None = _option(
        None, "Errors analysed a night; empty: 5, with rules 10.", ge=1, le=200
    )
    max_issues: int = _option(3, "New issues a night.", ge=0, le=100)
    max_open_issues: int = _option(10, "Our open issues at any time.", ge=0, le=1000)
    issues_for_unknown: bool = _option(
        False, "Issues for errors without a known cause, too; never drafts."
    )
    max_pull_requests: int = _option(1, "New draft pull requests a night.", ge=0, le=100)
    agent: str = _option("", "Agent file that leads the analysis; empty: by language.")
    agents_enabled: bool = _option(True, "Read agent files; false: the built-in prompt.")
    compound_enabled: bool = _option(True, "Keep lessons and recall them.")
    learnings_enabled: bool = _option(True, "Tell analysts of notes, and note verified fixes.")
    patterns_enabled: bool = _option(True, "Look for patterns and ignore suggestions.")
    research_enabled: bool = _option(
        True, "Look up source, callers, history and suspects before an analysis."
    )
    run_context: bool = _option(
        True, "Tell an error what code drew from others of the night, where it touches it."
    )
    lesson_days: int = _option(90, "Days until a known error is looked at afresh; 0: never.", ge=0)
    max_lessons: int = _option(500, "Lessons kept at hand; the least useful are archived.", ge=1)
    max_iterations: int = _option(20, "Ceiling of model turns an error.", ge=1, le=100)
    iterations: int | None = _option(
        None, "Model turns an error; empty: by its class.", ge=1, le=100
    )
    batch_mode: bool = _option(
        False,
        "Ask a model about all errors at first sight, as one batch for half the price, and exit; "
        "--collect goes on with those that deserve an analysis. Short flag: --batch.",
    )
    long_tail: bool = _option(
        False,
        "Ask at a night's end about errors it had no room for, as a batch; the next night collects "
        "it. Off: it costs money, and pays from dozens of errors on. Needs a model with batches.",
    )
    collect_minutes: int = _option(
        60,
        "Minutes that --collect waits for a batch to end; then it is collected later.",
        ge=0,
        le=120,
    )
    effort: EffortChoice = _option(
        "", "How hard the model thinks: low, medium, high; empty: by class."
    )
    max_tokens: int | None = _option(
        None, "Tokens of one answer; empty: 32000.", ge=1_000, le=128_000
    )
    token_budget_per_error: int = _option(120_000, "New tokens an error.", ge=1_000)
    total_token_budget: int = _option(1_000_000, "New tokens a night.", ge=1_000)
    cost_per_error: float = _option(1.50, "USD an error; 0: only its share of the night's.", ge=0)
    cost_per_night: float = _option(6.00, "USD a night; 0: no cap on USD.", ge=0)
    seconds_per_error: int = _option(600, "Wall time an error.", ge=5, le=7_200)
    concurrency: int = _option(4, "Analyses at the same time.", ge=1, le=64)
    publish: Publish = _option(
        "all", "What may be published: all, issues or none; of it and stop_at the lower counts."
    )
    risky_fixes: RiskyFixes = _option(
        "refuse",
        "Drafts with new network, process, environment or key code: refuse, or show (warned).",
    )
    band_aids: BandAids = _option(
        "mitigation", "Drafts that only keep a crash away: as mitigation, as fix, or refuse."
    )
    drafts: Drafts = _option(
        "branch",
        "What a fix becomes: a branch with a draft pull request, or a patch on its issue, so that "
        "no CI runs before somebody has read it.",
    )
    gate: bool = _option(
        True,
        "Run the project's checks and tests on every fix in a sandbox, before it is drafted.",
    )
    gate_seconds: int = _option(300, "Seconds a fix in the gate.", ge=10, le=7_200)
    verify: str = _option(
        "", "Shell words that test the project, run in the sandbox; empty: as its files say."
    )
    prepare: str = _option(
        "", "Shell words that put its dependencies into /env; empty: as its files say."
    )
    prepare_network: bool = _option(
        False,
        "Let dependencies be fetched: only manifests are shown, no secrets; what is fetched may "
        "run its install scripts, and reaches the network of this machine.",
    )
    sandbox_folders: str = _option(
        "", "Folders of programs that the sandbox shows besides /usr (comma list)."
    )
    sandbox_image: str = _option(
        "",
        "Image with all programs, for an engine (DOCKER_HOST, CONTAINER_HOST).",
    )
    reproduce: bool = _option(
        True, "Look for a test that raises production's error; it becomes part of the draft."
    )
    run_tools: bool = _option(
        True, "Let the analyst run tests and snippets of code in the sandbox."
    )
    proof_budget: int = _option(
        60_000,
        "New tokens a fix for its reproduction and its correction; 0: no model is asked for them.",
        ge=0,
    )
    story_cost: float = _option(
        0.0, "USD that a fix made in several steps may take; 0: fixes are made in one piece.", ge=0
    )
    ci_minutes: int = _option(
        15, "Minutes a night waits for the CI of its drafts; 0: the next night looks.", ge=0, le=240
    )
    stop_at: StopAt = _option(
        "draft",
        "The most that comes of an error: report, issue or draft; of it and publish (none, issues, "
        "all) the lower counts.",
    )
    dry_run: bool = _option(False, "Change nothing outside the state folder.")
    force: bool = _option(False, "Analyse afresh: use no lesson, no cached result.")

    def highest_tier(self) -> tuple[StopAt, str]:
        """The most that may come of an error, and the setting that says so.

        >>> NightOptions(publish="issues").highest_tier()
        ('issue', 'publish issues')
        >>> NightOptions(publish="issues", stop_at="report").highest_tier()
        ('report', 'stop_at report')
        """
        tiers: dict[Publish, StopAt] = {"none": "report", "issues": "issue", "all": "draft"}
        published, order = tiers[self.publish], tuple(tiers.values())
        if order.index(self.stop_at) < order.index(published):
            return self.stop_at, f"stop_at {self.stop_at}"
        return published, f"publish {self.publish}"

    def sources(self) -> tuple[str, ...]:
        """The named sources.

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


# What the documents that NightWatch was designed in name, and what it is called today.
#
# Whoever sets or types one of these names gets what it says, or a sentence that names what to use
# instead: none is passed over.

# A variable, a flag, a verb of the command, or a field of an agent file's front matter.
DesignedKind = Literal["setting", "flag", "verb", "agent field"]


class Designed(Value):
    """A name of the design; it works unless it has to be `refused`, with a sentence that helps."""

    kind: DesignedKind
    name: str
    today: str  # what does it now: the same name, or another one
    note: str = ""  # what else differs, one sentence
    refused: str = ""  # what whoever uses it is told to do instead; empty: it works


DESIGNED: tuple[Designed, ...] = (
    Designed(
        kind="setting",
        name="NIGHTWATCH_KNOWLEDGE_DIR",
        today="NIGHTWATCH_KNOWLEDGE_DIR",
        note="`knowledge` unless set; relative folders count from NIGHTWATCH_HOME.",
    ),
    Designed(
        kind="setting", name="NIGHTWATCH_COMPOUND_ENABLED", today="NIGHTWATCH_COMPOUND_ENABLED"
    ),
    Designed(kind="setting", name="NIGHTWATCH_AGENTS_ENABLED", today="NIGHTWATCH_AGENTS_ENABLED"),
    Designed(
        kind="setting", name="NIGHTWATCH_PATTERNS_ENABLED", today="NIGHTWATCH_PATTERNS_ENABLED"
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_MODEL",
        today="NIGHTWATCH_MODEL",
        note="Any model's id, or `rules`; where its price is not known, a cap on USD stops the "
        "night.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_MAX_ITERATIONS",
        today="NIGHTWATCH_MAX_ITERATIONS",
        note="The ceiling; how many turns an error gets is by its class, or NIGHTWATCH_ITERATIONS.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_TOKEN_BUDGET_PER_ERROR",
        today="NIGHTWATCH_TOKEN_BUDGET_PER_ERROR",
        note="120,000 unless set, in new tokens: what is read from the cache does not count.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_TOTAL_TOKEN_BUDGET",
        today="NIGHTWATCH_TOTAL_TOKEN_BUDGET",
        note="1,000,000 unless set, in new tokens.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_USE_COMPACTION",
        today="NIGHTWATCH_USE_COMPACTION",
        note="On unless set, for every model that can; NIGHTWATCH_COMPACT_AT_TOKENS says when.",
    ),
    Designed(
        kind="setting",
        name="NIGHTWATCH_BATCH_MODE",
        today="NIGHTWATCH_BATCH_MODE",
        note="NIGHTWATCH_LONG_TAIL asks only about what a night has no room for.",
    ),
    Designed(kind="flag", name="--agent", today="--agent"),
    *(Designed(kind="flag", name=name, today=name) for name in ("--batch", "--collect")),
    Designed(
        kind="verb",
        name="run",
        today="nightwatch night",
        note="`python -m nightwatch run` in the design.",
        refused="it is called `nightwatch night`, with the same flags",
    ),
    Designed(kind="agent field", name="name", today="name"),
    Designed(kind="agent field", name="description", today="description"),
    Designed(kind="agent field", name="model", today="model"),
    Designed(
        kind="agent field",
        name="thinking_budget",
        today="thinking_budget",
        note="For models that take a number; the others take `effort`.",
    ),
    Designed(kind="agent field", name="max_tokens", today="max_tokens"),
    Designed(kind="agent field", name="max_iterations", today="max_iterations"),
    Designed(kind="agent field", name="tools", today="tools"),
)


def refused(kind: DesignedKind) -> dict[str, str]:
    """Return the names of this kind that do nothing, each with what to do instead."""
    return {one.name: one.refused for one in DESIGNED if one.kind == kind and one.refused}


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
    roles: tuple[str, ...] = ()  # errors, code, model, issues, news, memory, records
    state: Literal["well", "troubled", "away", "not asked"] = "well"
    calls: ServiceCalls | None = None  # None: its requests are not counted
    detail: str = ""  # what there is, or what is wrong
    last_well: datetime | None = None  # of one that is away: the last night that reached it


class StateFolder(Value):
    """Where NightWatch keeps what must survive a night."""

    free: int = 0  # bytes of its disk
    size: int = 0  # bytes of its disk, used or not
    old_locks: tuple[str, ...] = ()  # git's locks that a killed process may have left


class Health(Value):
    """How well a night's services were, and what somebody has to see to."""

    services: tuple[ServiceHealth, ...] = ()
    due: tuple[str, ...] = ()  # one sentence each
    left: tuple[Destination, ...] | None = None  # who was sent how much; None: nobody looked

    @property
    def is_good(self) -> bool:
        """Whether nobody has to do anything."""
        return not self.due and all(one.state in ("well", "not asked") for one in self.services)
