"""Everything that can be set from outside: environment, `.env` and `nightwatch.toml`.

The choices of a night (models/options.py) are settings too, `NIGHTWATCH_` in front; here are the
rest: folders, addresses and secrets. Secrets are `SecretStr`: no repr, log or report shows them.
"""

import difflib
import os
import shlex
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import OF_A_RUN, PATHS, REPLACED, SECTIONS, NightOptions

CHECKOUT = Path(__file__).resolve().parents[1]
_WHEEL = Path(__file__).resolve().with_name("packaged")  # where there is no checkout
PACKAGED = _WHEEL if _WHEEL.is_dir() else CHECKOUT  # has agents/, knowledge/, deployments/
_HOME = Path("~/.nightwatch") if PACKAGED == _WHEEL else CHECKOUT
PREFIX = "NIGHTWATCH_"
CONFIG = "nightwatch.toml"
_ADDRESSES = (  # that keys and errors are sent to
    *("new_relic_api_url", "github_api_url", "slack_api_url", "anthropic_base_url", "sentry_url"),
    "gitlab_project",
)
T = TypeVar("T")


def _from(name: str, description: str, default: object = "", **bounds: Any) -> Any:
    return Field(default, alias=name, description=description, **bounds)


def _named(folder: Path) -> Path:
    with suppress(RuntimeError):
        if "\0" not in str(folder):
            return folder.expanduser()
    raise StopTheNight(f"invalid settings: {ascii(str(folder))} is not a valid folder name")


class _FromOutside(BaseSettings):
    """What is given wins over the environment, that over `.env`, that over nightwatch.toml."""

    model_config = SettingsConfigDict(
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        str_strip_whitespace=True,
        coerce_numbers_to_str=True,
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the file behind everything else."""
        file = InitSettingsSource(settings_cls, dict(configuration().values))
        return init_settings, env_settings, dotenv_settings, file


class Settings(_FromOutside):
    """Folders, addresses and secrets. Relative folders count from `home`."""

    config: str = _from(
        "NIGHTWATCH_CONFIG",
        "Settings file; empty: nightwatch.toml in the current folder, else in NIGHTWATCH_HOME.",
    )
    application: str = _from(
        "NIGHTWATCH_APPLICATION",
        "Name of the application and of its deployments.",
        pattern=r"^([A-Za-z0-9][\w.-]{0,59})?$",
    )
    schedule: str = _from(
        "NIGHTWATCH_SCHEDULE",
        "When its deployment runs: a time or a cron expression, then the time zone.",
        "05:00 Europe/Berlin",
    )
    home: Path = _from(
        "NIGHTWATCH_HOME",
        "Folder that contains agents/ and knowledge/.",
        _HOME,
        validate_default=True,
    )
    state_dir: Path = _from(
        "NIGHTWATCH_STATE", "Folder for state: reports, results, database.", Path(".nightwatch")
    )
    database_url: SecretStr | None = _from(
        "NIGHTWATCH_DATABASE",
        "Database of several workers, postgresql://USER:PASSWORD@HOST/NAME; empty: a file of the "
        "state folder.",
        None,
    )
    shared_url: str = _from(
        "NIGHTWATCH_SHARED",
        "Folder that several workers share, s3://BUCKET/FOLDER, gs://… or file:///…: records, "
        "reports, lessons.",
        pattern=r"^((s3|gs|file|memory)://[^@?#]+)?$",
    )
    knowledge_dir: Path = _from("NIGHTWATCH_KNOWLEDGE_DIR", "Folder of lessons.", Path("knowledge"))
    task_runner: str = _from(
        "NIGHTWATCH_TASK_RUNNER",
        "Where tracing, research, analysis and proofs run: threads; dask or ray: processes of this "
        "machine; dask=tcp://host:8786 or ray=ray://host:10001: a cluster.",
        "threads",
        pattern=r"^(threads|(dask|ray)(=\S+)?)$",
    )
    tasks_dir: Path = _from(
        "NIGHTWATCH_TASKS_DIR",
        "Folder of task files that hold notes for future agents.",
        Path("apex/tasks"),
    )
    new_relic_api_key: SecretStr | None = _from(
        "NEW_RELIC_API_KEY", "New Relic user key (NRAK-…).", None
    )
    new_relic_account_id: str = _from("NEW_RELIC_ACCOUNT_ID", "New Relic account.")
    new_relic_app_name: str = _from("NEW_RELIC_APP_NAME", "Application name in New Relic.")
    new_relic_region: str = _from(
        "NEW_RELIC_REGION", "New Relic region: US, EU, JP or FEDRAMP.", "US"
    )
    new_relic_api_url: str = _from("NEW_RELIC_API_URL", "NerdGraph address; empty: the region's.")
    sentry_auth_token: SecretStr | None = _from(
        "SENTRY_AUTH_TOKEN", "Sentry token with the scopes event:read and project:read.", None
    )
    sentry_org: str = _from("SENTRY_ORG", "Organization in Sentry, as its addresses have it.")
    sentry_project: str = _from("SENTRY_PROJECT", "Projects in Sentry (comma list).")
    sentry_environment: str = _from(
        "SENTRY_ENVIRONMENT", "Environments in Sentry (comma list); empty: all of them."
    )
    sentry_url: str = _from(
        "SENTRY_URL", "Sentry's address, with its path prefix.", "https://sentry.io"
    )
    github_token: SecretStr | None = _from(
        "GITHUB_TOKEN", "GitHub token for reading code and publishing.", None
    )
    github_read_token: SecretStr | None = _from(
        "GITHUB_READ_TOKEN", "Read-only token; empty: GITHUB_TOKEN is used for reading, too.", None
    )
    github_app_id: str = _from("GITHUB_APP_ID", "GitHub App's id, instead of a token.")
    github_app_installation_id: str = _from(
        "GITHUB_APP_INSTALLATION_ID", "The app's installation; empty: the repository's."
    )
    github_app_private_key: SecretStr | None = _from(
        "GITHUB_APP_PRIVATE_KEY", "The app's private key, PEM; line ends may be written \\n.", None
    )
    github_repo: str = _from("GITHUB_REPO", "Repository, owner/name.")
    former_accounts: str = _from(
        "NIGHTWATCH_FORMER_ACCOUNTS", "Accounts that NightWatch published with earlier."
    )
    github_api_url: str = _from("GITHUB_API_URL", "GitHub API address.", "https://api.github.com")
    github_api_version: str = _from("GITHUB_API_VERSION", "API version of an Enterprise server.")
    gitlab_token: SecretStr | None = _from(
        "GITLAB_TOKEN", "GitLab token with the scopes api and read_repository.", None
    )
    gitlab_project: str = _from(
        "GITLAB_PROJECT", "Project's address, https://gitlab.example.com/group/project."
    )
    slack_bot_token: SecretStr | None = _from("SLACK_BOT_TOKEN", "Slack bot token (xoxb-…).", None)
    slack_channel: str = _from("SLACK_CHANNEL", "Channel id, user id or e-mail.")
    slack_api_url: str = _from("SLACK_API_URL", "Slack API address.", "https://slack.com/api/")
    notify_urls: SecretStr | None = _from(
        "NIGHTWATCH_NOTIFY_URLS",
        "Channels in the form of Apprise (mailto://, msteams://, mmosts://, jsons://), commas "
        "between.",
        None,
    )
    anthropic_api_key: SecretStr | None = _from("ANTHROPIC_API_KEY", "Anthropic API key.", None)
    anthropic_base_url: str = _from("ANTHROPIC_BASE_URL", "Address of a compatible server.")

    scrub_addresses: bool = _from(
        "NIGHTWATCH_SCRUB_ADDRESSES",
        "Also mask IP addresses, wherever secrets and personal data are masked.",
        False,
    )
    libraries: str = _from(
        "NIGHTWATCH_LIBRARIES",
        "Folders of installed dependencies (environments, node_modules, gems), commas between; "
        "empty: those in the checkout's folder; none: their source is not read.",
    )
    _of_the_user = field_validator("home", "state_dir", "knowledge_dir", "tasks_dir")(_named)

    @field_validator("new_relic_region", *_ADDRESSES)
    @classmethod
    def _is_encrypted(cls, address: str) -> str:
        """Refuse what would send keys and errors over a network for everybody to read."""
        if not address.lower().startswith("http:") or _is_this_machine(address):
            return address
        raise ValueError("http:// is allowed for localhost only: use https://")

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, address: SecretStr | None) -> SecretStr | None:
        start = address.get_secret_value().partition("://")[0] if address else "postgresql"
        if start.removesuffix("+psycopg") == "postgresql":
            return address
        raise ValueError("it has to begin with postgresql://")

    @property
    def command(self) -> str:
        """Return the command as it is typed for the application of these settings."""
        file = os.path.relpath(self.config or CONFIG)
        return "nightwatch" if file == CONFIG else f"nightwatch --config {shlex.quote(file)}"

    @property
    def agents(self) -> Path:
        """Return the folder of agent files: one's own, else those that came with the package."""
        own = self.home / "agents"
        return own if own.is_dir() else PACKAGED / "agents"

    @property
    def state(self) -> Path:
        """Return the state folder."""
        return self.home / self.state_dir

    @property
    def database(self) -> Path | SecretStr:
        """Return the file or the address of ledger, nights and history."""
        return self.database_url or self.state / "nightwatch.db"

    @property
    def knowledge(self) -> Path:
        """Return the folder of lessons, patterns and ignore.yml."""
        return self.home / self.knowledge_dir

    @property
    def tasks(self) -> Path:
        """Return the folder of task files."""
        return self.home / self.tasks_dir


class _Choices(NightOptions, _FromOutside):
    """The night's options as environment variables."""

    model_config = SettingsConfigDict(env_prefix=PREFIX)


def settings() -> Settings:
    """Read folders, addresses and secrets; raises `StopTheNight` listing every problem."""
    return _read(_settings, "settings", {})


def _settings(_env_file: Path) -> Settings:
    """Make them anew only after something outside has changed: every step of a night asks."""
    outside = (*os.environ.items(), dotenv_values(_env_file), configuration())
    return _settings_of(repr(outside), _env_file)


@lru_cache(maxsize=4)
def _settings_of(_outside: str, file: Path) -> Settings:
    return Settings(_env_file=file)  # type: ignore[call-arg]


def night_options(given: Mapping[str, object] | None = None) -> NightOptions:
    """Return the options of a night; `given` wins over the environment, which wins over defaults.

    `None` values count as not given. Raises `StopTheNight` with one message for all problems.
    """
    options = {name: value for name, value in (given or {}).items() if value is not None}
    unknown = sorted(set(options) - set(NightOptions.model_fields))
    if unknown:
        raise StopTheNight(f"unknown option {', '.join(unknown)}: see `nightwatch night --help`")
    choices = _read(_Choices, "options", options)
    values = {**dotenv_values(_env_file()), **os.environ}
    replaced = (f"  {name}: {advice}" for name, advice in REPLACED.items() if values.get(name))
    if wrong := (*replaced, *_misspelt()):
        raise StopTheNight("\n".join(("invalid options:", *wrong)))
    return NightOptions(**choices.model_dump())


def names() -> tuple[str, ...]:
    """Return every environment variable that is read, in the order of `.env.example`."""
    kept = (name for name in NightOptions.model_fields if name not in OF_A_RUN)
    options = tuple(f"{PREFIX}{name.upper()}" for name in kept)
    return (*options, *(_ALIASES[name] for name in Settings.model_fields))


# nightwatch.toml: the same settings by shorter names, in sections.

_ALIASES = {name: field.alias or name for name, field in Settings.model_fields.items()}
_SECRETS = [n for n, field in Settings.model_fields.items() if field.annotation == SecretStr | None]


class Configuration(NamedTuple):
    """The settings of a file, by the names of the models; no file, no settings."""

    file: Path | None = None
    values: Mapping[str, object] = {}
    keys: Mapping[str, str] = {}  # where each value stands in the file


def configuration() -> Configuration:
    """Read nightwatch.toml; raises `StopTheNight` listing every key that cannot stand there."""
    file, is_chosen = _config_file()
    if file is None:
        return Configuration()
    try:
        sections = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as trouble:
        raise StopTheNight(f"{file} cannot be read: {trouble}") from None
    if wrong := [f"  {line}" for line in _wrong_keys(sections, is_chosen=is_chosen)]:
        raise StopTheNight("\n".join((f"invalid {file}:", *wrong)))
    values: dict[str, object] = {}
    if name := sections.get("application", {}).get("name"):
        values[_ALIASES["state_dir"]] = file.parent / ".nightwatch" / str(name)
        values[_ALIASES["knowledge_dir"]] = file.parent / "knowledge" / str(name)
    keys = {}
    for section, given in sections.items():
        for key, value in given.items():
            field = SECTIONS[section][key]
            name = _ALIASES.get(field, field)
            items = value if isinstance(value, list) else [value]
            if field in PATHS:
                items = [_beside(file.parent, part) for item in items for part in item.split(",")]
            values[name] = ",".join(map(str, items)) if len(items) != 1 else items[0]
            keys[name] = f"[{section}] {key}"
    return Configuration(file, values, keys)


def _config_file() -> tuple[Path | None, bool]:
    """Find the file; tell, too, whether somebody chose it, or it lay in the current folder."""
    named = os.environ.get(_ALIASES["config"]) or dotenv_values(_env_file()).get(_ALIASES["config"])
    if named and not _named(Path(named)).is_file():
        raise StopTheNight(f"there is no settings file {named}: see --config, NIGHTWATCH_CONFIG")
    home = _env_file().with_name(CONFIG).absolute()
    places = (Path(named),) if named else (Path(CONFIG), home)
    file = next((_named(path).absolute() for path in places if _named(path).is_file()), None)
    return file, bool(named) or file == home


def _beside(folder: Path, item: str) -> str:
    """Count a path from a folder; what is no path stays.

    >>> [_beside(Path("/a"), item) for item in ("b.log", " @lists/b", "-", "none", "~/b", "")]
    ['/a/b.log', '@/a/lists/b', '-', 'none', '~/b', '']
    """
    item = item.strip()
    if item in ("", "-", "none") or item.startswith("~"):
        return item
    return f"@{folder / item[1:]}" if item.startswith("@") else str(folder / item)


def _wrong_keys(sections: Mapping[str, object], *, is_chosen: bool) -> Iterator[str]:
    for section, given in sections.items():
        if not isinstance(given, dict):
            yield f"{section} stands outside a section{_meant(section)}"
        elif section not in SECTIONS:
            near = difflib.get_close_matches(section, SECTIONS, n=1)
            yield f"[{section}] is not a section{f': did you mean [{near[0]}]?' if near else ''}"
        else:
            for key, value in given.items():
                items = value if isinstance(value, list) else [value]
                field = SECTIONS[section].get(key, key.lower())
                secret = [n for n in _SECRETS if field in (n, _ALIASES[n].lower())]
                if secret:
                    yield (
                        f"[{section}] {key} is a secret: set {_ALIASES[secret[0]]} in the "
                        "environment instead"
                    )
                elif section == "run":
                    yield f"[run] {key}: {REPLACED.get(f'{PREFIX}{key.upper()}', 'no such key')}"
                elif key not in SECTIONS[section]:
                    yield f"[{section}] {key} is not a key{_meant(key, section)}"
                elif SECTIONS[section][key] in _ADDRESSES and not is_chosen:
                    yield (
                        f"[{section}] {key} says where keys are sent: a file that lies in the "
                        "current folder may not; choose it with --config"
                    )
                elif not all(isinstance(item, str | int | float) for item in items) or (
                    field in PATHS and not all(isinstance(item, str) for item in items)
                ):
                    yield f"[{section}] {key}: text was expected"


def _meant(key: str, section: str = "") -> str:
    likely: dict[str, str] = {}
    for name, keys in sorted(SECTIONS.items(), key=lambda item: item[0] == section):
        for short, field in keys.items():
            place = f"[{name}] {short}"
            likely |= {field: place, f"{PREFIX}{field}".lower(): place, short: place}
    near = difflib.get_close_matches(key.lower(), likely, n=1, cutoff=0.7)
    return f": did you mean {likely[near[0]]}?" if near else ""


def _is_this_machine(address: str) -> bool:
    """Tell whether an address is of the loopback, whatever a resolver says of other names.

    >>> _is_this_machine("http://127.0.0.1:80/v1"), _is_this_machine("http://localhost.evil.io")
    (True, False)
    """
    try:
        host = urlsplit(address).hostname or ""
        return "\\" not in address and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        return False


def _env_file() -> Path:
    return _named(Path(os.environ.get("NIGHTWATCH_HOME") or _HOME)) / ".env"


def _read(kind: Callable[..., T], what: str, given: Mapping[str, object]) -> T:
    try:
        return kind(_env_file=_env_file(), **given)
    except ValidationError as problems:
        every = problems.errors(include_input=False)
        lines = (f"  {_place(item['loc'], given)}: {item['msg']}" for item in every)
        raise StopTheNight("\n".join((f"invalid {what}:", *lines))) from None
    except (OSError, UnicodeDecodeError) as trouble:
        raise StopTheNight(f"{_env_file()} cannot be read: {trouble}") from None


def _place(location: tuple[int | str, ...], given: Mapping[str, object]) -> str:
    """Name an option or setting, with its place where nightwatch.toml set it."""
    name, file = str(location[0] if location else "?"), configuration()
    outside = {*os.environ, *dotenv_values(_env_file())}
    if name not in file.keys or name in given or {name, f"{PREFIX}{name.upper()}"} & outside:
        return name
    return f"{file.keys[name]} of {file.file}"


def _misspelt() -> tuple[str, ...]:
    known_names = {name.removeprefix(PREFIX): name for name in names() if name.startswith(PREFIX)}
    set_names = {name.upper() for name in (*os.environ, *dotenv_values(_env_file()))}
    ours = sorted(name.removeprefix(PREFIX) for name in set_names if name.startswith(PREFIX))
    meant = {
        name: difflib.get_close_matches(name, known_names, n=1, cutoff=0.8)
        for name in ours
        if name not in known_names
    }
    return tuple(
        f"  {PREFIX}{name} is not a setting: did you mean {PREFIX}{likely[0]}?"
        for name, likely in meant.items()
        if likely
    )
