"""What can be chosen for one night: the one definition of parameters, flags and settings.

Every field is the parameter `field` of the flow `nightly`, the flag `--field` of `nightwatch night`
and the setting `NIGHTWATCH_FIELD`. Nothing secret belongs here: Prefect stores and shows it.
"""

from typing import Any, Literal

from pydantic import Field

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
