"""Everything that can be set from outside: the environment and `.env`, read once, checked at start.

The choices of a night (models/options.py) are settings too, `NIGHTWATCH_` in front; here are the rest:
folders, addresses and secrets. Secrets are `SecretStr`, so that no repr, log or report shows them.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import NightOptions

CHECKOUT = Path(__file__).resolve().parents[1]
_FROM_OUTSIDE = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True)


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
    github_repo: str = Field("", alias="GITHUB_REPO", description="Repository, owner/name.")
    github_api_url: str = Field(
        "https://api.github.com", alias="GITHUB_API_URL", description="GitHub API address."
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

    @property
    def state(self) -> Path:
        """The state folder."""
        return self.home / self.state_dir

    @property
    def knowledge(self) -> Path:
        """The folder of lessons, patterns and ignore.yml."""
        return self.home / self.knowledge_dir


class _Choices(NightOptions, BaseSettings):
    """The night's options as environment variables."""

    model_config = SettingsConfigDict(**_FROM_OUTSIDE, env_prefix="NIGHTWATCH_")


def settings() -> Settings:
    """Read folders, addresses and secrets; raises `StopTheNight` listing every problem."""
    read: Callable[..., Settings] = Settings
    try:
        return read(_env_file=_env_file())
    except ValidationError as problems:
        raise StopTheNight(_listed(problems, "settings")) from None


def night_options(given: Mapping[str, object] | None = None) -> NightOptions:
    """The options of a night: what is given wins over the environment, which wins over defaults.

    `None` values count as not given. Raises `StopTheNight` with one message for all problems.
    """
    said = {name: value for name, value in (given or {}).items() if value is not None}
    unknown = sorted(set(said) - set(NightOptions.model_fields))
    if unknown:
        raise StopTheNight(f"unknown option {', '.join(unknown)}: see `nightwatch night --help`")
    read: Callable[..., NightOptions] = _Choices
    try:
        return NightOptions(**read(_env_file=_env_file(), **said).model_dump())
    except ValidationError as problems:
        raise StopTheNight(_listed(problems, "options")) from None


def _env_file() -> Path:
    return Path(os.environ.get("NIGHTWATCH_HOME") or CHECKOUT) / ".env"


def _listed(problems: ValidationError, what: str) -> str:
    lines = [
        f"  {problem['loc'][0] if problem['loc'] else '?'}: {problem['msg']}"
        for problem in problems.errors(include_input=False)
    ]
    return f"{what} cannot be used:\n" + "\n".join(lines)
