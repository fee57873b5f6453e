"""Everything that can be set from outside: the environment and `.env`, read once, checked at start.

The choices of a night (models/options.py) are settings too, `NIGHTWATCH_` in front; here are the
rest: folders, addresses and secrets. Secrets are `SecretStr`: no repr, log or report shows them.
"""

import difflib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import NightOptions

CHECKOUT = Path(__file__).resolve().parents[1]
PREFIX = "NIGHTWATCH_"
_FROM_OUTSIDE = SettingsConfigDict(
    extra="ignore", frozen=True, env_ignore_empty=True, str_strip_whitespace=True
)
T = TypeVar("T")


class Settings(BaseSettings):
    """Folders, addresses and secrets. Relative folders count from `home`."""

    model_config = _FROM_OUTSIDE

    home: Path = Field(
        CHECKOUT, alias="NIGHTWATCH_HOME", description="Where agents/ and knowledge/ are."
    )
    state_dir: Path = Field(
        Path(".nightwatch"), alias="NIGHTWATCH_STATE", description="Folder of everything kept."
    )
    knowledge_dir: Path = Field(
        Path("knowledge"), alias="NIGHTWATCH_KNOWLEDGE_DIR", description="Folder of lessons."
    )
    tasks_dir: Path = Field(
        Path("apex/tasks"),
        alias="NIGHTWATCH_TASKS_DIR",
        description="Folder of task files that hold notes for future agents.",
    )
    new_relic_api_key: SecretStr | None = Field(
        None, alias="NEW_RELIC_API_KEY", description="New Relic user key (NRAK-…)."
    )
    new_relic_account_id: str = Field(
        "", alias="NEW_RELIC_ACCOUNT_ID", description="New Relic account."
    )
    new_relic_app_name: str = Field(
        "", alias="NEW_RELIC_APP_NAME", description="Application name in New Relic."
    )
    new_relic_region: str = Field(
        "US", alias="NEW_RELIC_REGION", description="New Relic region: US, EU, JP or FEDRAMP."
    )
    new_relic_api_url: str = Field(
        "", alias="NEW_RELIC_API_URL", description="NerdGraph address; empty: the region's."
    )
    github_token: SecretStr | None = Field(
        None, alias="GITHUB_TOKEN", description="GitHub token for reading code and publishing."
    )
    github_read_token: SecretStr | None = Field(
        None,
        alias="GITHUB_READ_TOKEN",
        description="Token for reading alone; empty: GITHUB_TOKEN reads, too.",
    )
    github_app_id: str = Field(
        "", alias="GITHUB_APP_ID", description="GitHub App's id, instead of a token."
    )
    github_app_installation_id: str = Field(
        "",
        alias="GITHUB_APP_INSTALLATION_ID",
        description="The app's installation; empty: the repository's.",
    )
    github_app_private_key: SecretStr | None = Field(
        None,
        alias="GITHUB_APP_PRIVATE_KEY",
        description="The app's private key, PEM; line ends may be written \\n.",
    )
    github_repo: str = Field("", alias="GITHUB_REPO", description="Repository, owner/name.")
    github_api_url: str = Field(
        "https://api.github.com", alias="GITHUB_API_URL", description="GitHub API address."
    )
    github_api_version: str = Field(
        "", alias="GITHUB_API_VERSION", description="API version of an Enterprise server."
    )
    github_clone: bool = Field(
        True,
        alias="NIGHTWATCH_GITHUB_CLONE",
        description="Clone the repository; false: read files through the API.",
    )
    slack_bot_token: SecretStr | None = Field(
        None, alias="SLACK_BOT_TOKEN", description="Slack bot token (xoxb-…)."
    )
    slack_channel: str = Field(
        "", alias="SLACK_CHANNEL", description="Channel id, user id or e-mail."
    )
    slack_api_url: str = Field(
        "https://slack.com/api/", alias="SLACK_API_URL", description="Slack API address."
    )
    anthropic_api_key: SecretStr | None = Field(
        None, alias="ANTHROPIC_API_KEY", description="Anthropic API key."
    )
    anthropic_base_url: str = Field(
        "", alias="ANTHROPIC_BASE_URL", description="Address of a compatible server."
    )

    clear_at_tokens: int = Field(
        80_000,
        ge=0,
        alias="NIGHTWATCH_CLEAR_AT_TOKENS",
        description="Prompt size at which the service clears old tool results; 0: never.",
    )
    compact_at_tokens: int = Field(
        150_000,
        ge=0,
        alias="NIGHTWATCH_COMPACT_AT_TOKENS",
        description="Prompt size at which the service sums a conversation up; 0: never.",
    )
    keep_thinking_turns: int = Field(
        0,
        ge=0,
        alias="NIGHTWATCH_KEEP_THINKING_TURNS",
        description="Turns whose thinking the service keeps; 0: its own default.",
    )

    @field_validator("home", "state_dir", "knowledge_dir", "tasks_dir")
    @classmethod
    def _of_the_user(cls, folder: Path) -> Path:
        return folder.expanduser()

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.home / self.state_dir

    @property
    def knowledge(self) -> Path:
        """The folder of lessons, patterns and ignore.yml."""
        return self.home / self.knowledge_dir

    @property
    def tasks(self) -> Path:
        """The folder of task files."""
        return self.home / self.tasks_dir


class _Choices(NightOptions, BaseSettings):
    """The night's options as environment variables."""

    model_config = SettingsConfigDict(**_FROM_OUTSIDE, env_prefix=PREFIX)


def settings() -> Settings:
    """Read folders, addresses and secrets; raises `StopTheNight` listing every problem."""
    return _read(Settings, "settings", {})


def night_options(given: Mapping[str, object] | None = None) -> NightOptions:
    """The options of a night: what is given wins over the environment, which wins over defaults.

    `None` values count as not given. Raises `StopTheNight` with one message for all problems.
    """
    said = {name: value for name, value in (given or {}).items() if value is not None}
    unknown = sorted(set(said) - set(NightOptions.model_fields))
    if unknown:
        raise StopTheNight(f"unknown option {', '.join(unknown)}: see `nightwatch night --help`")
    choices = _read(_Choices, "options", said)
    if wrong := _misspelt():
        raise StopTheNight("\n".join(("options cannot be used:", *wrong)))
    return NightOptions(**choices.model_dump())


def names() -> tuple[str, ...]:
    """Every environment variable that is read, in the order of `.env.example`."""
    options = tuple(f"{PREFIX}{name.upper()}" for name in NightOptions.model_fields)
    rest = tuple(field.alias or name for name, field in Settings.model_fields.items())
    return (*options, *rest)


def _env_file() -> Path:
    return Path(os.environ.get("NIGHTWATCH_HOME") or CHECKOUT).expanduser() / ".env"


def _read(kind: Callable[..., T], what: str, said: Mapping[str, object]) -> T:
    try:
        return kind(_env_file=_env_file(), **said)
    except ValidationError as problems:
        raise StopTheNight(_listed(problems, what)) from None
    except (OSError, UnicodeDecodeError) as trouble:
        raise StopTheNight(f"{_env_file()} cannot be read: {trouble}") from None


def _misspelt() -> tuple[str, ...]:
    """Variables of ours that nobody reads and that look like one that is read."""
    known = {name.removeprefix(PREFIX): name for name in names() if name.startswith(PREFIX)}
    said = {name.upper() for name in (*os.environ, *dotenv_values(_env_file()))}
    ours = sorted(name.removeprefix(PREFIX) for name in said if name.startswith(PREFIX))
    meant = {
        name: difflib.get_close_matches(name, known, n=1, cutoff=0.8)
        for name in ours
        if name not in known
    }
    return tuple(
        f"  {PREFIX}{name} is not a setting: did you mean {PREFIX}{likely[0]}?"
        for name, likely in meant.items()
        if likely
    )


def _listed(problems: ValidationError, what: str) -> str:
    lines = [
        f"  {problem['loc'][0] if problem['loc'] else '?'}: {problem['msg']}"
        for problem in problems.errors(include_input=False)
    ]
    return f"{what} cannot be used:\n" + "\n".join(lines)
