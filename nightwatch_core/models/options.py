"""What can be chosen for one night: the one definition of parameters, flags and settings.

Every field is the parameter `field` of the flow `nightly`, the flag `--field` of `nightwatch night`
and the setting `NIGHTWATCH_FIELD`. Nothing secret belongs here: Prefect stores and shows it.
"""

from typing import Literal

from pydantic import Field

from nightwatch_core.models.value import Value

Publish = Literal["all", "issues", "none"]
EffortChoice = Literal["", "low", "medium", "high"]


class NightOptions(Value):
    """The choices of one night; an empty port means "as the settings and credentials say"."""

    source: str = Field(
        default="", description="Where errors come from: newrelic, file, sample (comma list)."
    )
    code: str = Field(default="", description="Where code comes from: github, checkout or sample.")
    model: str = Field(default="", description="Who analyses: a model's id, or rules.")
    delivery: str = Field(
        default="", description="Where issues and pull requests go: github or local."
    )
    notify: str = Field(
        default="", description="Where the report goes besides its files: slack or local."
    )
    errors: str = Field(
        default="", description="Error export or log file to read (comma list; .gz too)."
    )
    repo: str = Field(
        default="", description="Git checkout of the application the errors come from."
    )
    base_branch: str = Field(
        default="", description="Branch that pull requests aim at; empty: HEAD's."
    )
    app_root: str = Field(default="", description="Folder of the application inside a monorepo.")
    path_prefixes: str = Field(
        default="", description="Trace path prefixes to cut off (comma list)."
    )
    app_prefixes: str = Field(
        default="", description="Own packages or folders in traces (comma list)."
    )
    since: str = Field(
        default="",
        description="How far to look back: 24h, 7d; empty: all of a file; of New Relic 24h, or "
        "what no scheduled night has read.",
    )
    max_errors: int | None = Field(
        default=None, ge=1, le=200, description="Errors analysed a night; empty: 5, with rules 10."
    )
    max_issues: int = Field(default=3, ge=0, le=100, description="New issues a night.")
    max_open_issues: int = Field(
        default=10, ge=0, le=1000, description="Our open issues at any time."
    )
    max_pull_requests: int = Field(
        default=1, ge=0, le=100, description="New draft pull requests a night."
    )
    agent: str = Field(
        default="", description="Agent file that leads the analysis; empty: by language."
    )
    agents_enabled: bool = Field(
        default=True, description="Read agent files; false: the built-in prompt."
    )
    compound_enabled: bool = Field(default=True, description="Keep lessons and recall them.")
    patterns_enabled: bool = Field(
        default=True, description="Look for patterns and ignore suggestions."
    )
    lesson_days: int = Field(
        default=90, ge=0, description="Days until a known error is looked at afresh; 0: never."
    )
    max_lessons: int = Field(
        default=500, ge=1, description="Lessons kept at hand; the least useful are archived."
    )
    max_iterations: int = Field(
        default=15, ge=1, le=100, description="Ceiling of model turns an error."
    )
    iterations: int | None = Field(
        default=None, ge=1, le=100, description="Model turns an error; empty: by its class."
    )
    effort: EffortChoice = Field(
        default="", description="How hard the model thinks: low, medium, high; empty: by class."
    )
    max_tokens: int | None = Field(
        default=None, ge=1_000, le=128_000, description="Tokens of one answer; empty: 32000."
    )
    token_budget_per_error: int = Field(
        default=120_000, ge=1_000, description="New tokens an error."
    )
    total_token_budget: int = Field(default=1_000_000, ge=1_000, description="New tokens a night.")
    cost_per_error: float = Field(
        default=1.50, ge=0, description="USD an error; 0: only its share of the night's."
    )
    cost_per_night: float = Field(default=6.00, ge=0, description="USD a night; 0: no cap on USD.")
    seconds_per_error: int = Field(default=600, ge=5, le=7_200, description="Wall time an error.")
    concurrency: int = Field(default=4, ge=1, le=64, description="Analyses at the same time.")
    publish: Publish = Field(
        default="all", description="What may be published: all, issues or none."
    )
    dry_run: bool = Field(default=False, description="Change nothing outside the state folder.")
    force: bool = Field(
        default=False, description="Analyse afresh: use no lesson, no cached result."
    )

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
