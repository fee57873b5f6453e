import re
from pathlib import Path

import pytest
import yaml
from pydantic import SecretStr

from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.options import OF_A_RUN, PATHS, SECTIONS, NightOptions
from nightwatch_core.settings import (
    CHECKOUT,
    PREFIX,
    Settings,
    configuration,
    names,
    night_options,
    settings,
)

EXAMPLE = CHECKOUT / ".env.example"
FILES = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
MOST_OPTIONS = 46


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of this test's own, so that no .env of the checkout is read."""
    monkeypatch.setenv("NIGHTWATCH_HOME", str(tmp_path))
    return tmp_path


def example():
    """What .env.example says: name to (value, description)."""
    text = EXAMPLE.read_text()
    found = re.findall(r"^# (.+)\n# ([A-Z_]+)=(.*)$", text, re.MULTILINE)
    assert len(found) == len(re.findall(r"^# [A-Z_]+=", text, re.MULTILINE))
    return {name: (value, description) for description, name, value in found}


def shown(default):
    if default is None:
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def test_the_example_lists_every_setting_in_order_and_sets_none():
    assert tuple(example()) == names()
    assert len(set(names())) == len(names())
    lines = EXAMPLE.read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("# ")] == []


def test_the_example_says_what_the_options_say():
    told = example()
    for name, field in NightOptions.model_fields.items():
        if name in OF_A_RUN:
            continue
        assert told[f"{PREFIX}{name.upper()}"] == (shown(field.default), field.description)


def test_the_example_says_what_the_settings_say():
    told = example()
    for name, field in Settings.model_fields.items():
        value = "" if name == "home" else shown(field.default)
        assert told[field.alias] == (value, field.description)


def test_the_example_can_be_used_as_it_is(home, monkeypatch):
    monkeypatch.delenv("NIGHTWATCH_STATE")
    text = re.sub(r"^# (?=[A-Z_]+=)", "", EXAMPLE.read_text(), flags=re.MULTILINE)
    text = re.sub(r"^# NIGHTWATCH_HOME.*$", "", text)
    (home / ".env").write_text(text)
    assert night_options() == NightOptions()
    assert settings().state == home / ".nightwatch"


def test_flag_over_environment_over_file_over_default(home, monkeypatch):
    (home / ".env").write_text("NIGHTWATCH_MAX_ISSUES=4\nNIGHTWATCH_CONCURRENCY=2\n")
    assert night_options().max_issues == 4
    monkeypatch.setenv("NIGHTWATCH_MAX_ISSUES", "5")
    assert night_options().max_issues == 5
    assert night_options({"max_issues": 6}).max_issues == 6
    assert night_options({"max_issues": None}).max_issues == 5
    assert night_options().concurrency == 2


def test_an_empty_flag_wins_and_an_empty_variable_does_not_count(monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_SOURCE", "sample")
    monkeypatch.setenv("NIGHTWATCH_MAX_ERRORS", "")
    assert night_options({"source": ""}).source == ""
    assert night_options().source == "sample"
    assert night_options().max_errors is None


def test_settings_come_from_the_file_too_and_white_space_goes(home, monkeypatch):
    (home / ".env").write_text("GITHUB_REPO=' shop/shop '\nGITHUB_TOKEN=secret-1\n")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "secret-2\n")
    read = settings()
    assert read.github_repo == "shop/shop"
    assert read.github_token == SecretStr("secret-1")
    assert read.slack_bot_token == SecretStr("secret-2")


@pytest.mark.parametrize("name", OF_A_RUN)
def test_a_choice_of_one_run_is_no_setting(name, home):
    (home / ".env").write_text(f"{PREFIX}{name.upper()}=1\n")
    with pytest.raises(StopTheNight, match=f"per run with --{name.replace('_', '-')}"):
        night_options()


def test_every_problem_is_told_at_once(monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_MAX_ISSUES", "many")
    monkeypatch.setenv("NIGHTWATCH_PUBLISH", "some")
    with pytest.raises(StopTheNight) as raised:
        night_options({"concurrency": 0})
    told = str(raised.value)
    assert all(name in told for name in ("max_issues", "publish", "concurrency"))
    assert told.startswith("invalid options:\n")


def test_an_unknown_option_is_no_option():
    with pytest.raises(StopTheNight, match="unknown option colour, size"):
        night_options({"size": 1, "colour": "red"})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("NIGHTWATCH_MAX_ERROR", "NIGHTWATCH_MAX_ERRORS"),
        ("NIGHTWATCH_MAXISSUES", "NIGHTWATCH_MAX_ISSUES"),
        ("NIGHTWATCH_TOTAL_TOKENS_BUDGET", "NIGHTWATCH_TOTAL_TOKEN_BUDGET"),
        ("NIGHTWATCH_KNOWLEDGE", "NIGHTWATCH_KNOWLEDGE_DIR"),
    ],
)
def test_a_misspelt_setting_is_not_passed_over(wrong, right, home, monkeypatch):
    monkeypatch.setenv(wrong, "1")
    with pytest.raises(StopTheNight, match=f"did you mean {right}"):
        night_options()
    monkeypatch.delenv(wrong)
    (home / ".env").write_text(f"{wrong}=1\n")
    with pytest.raises(StopTheNight, match=f"did you mean {right}"):
        night_options()


def test_a_file_that_cannot_be_read_stops_the_night(home):
    (home / ".env").write_bytes(b"NIGHTWATCH_SOURCE=\xff\xfe\n")
    for read in (settings, night_options):
        with pytest.raises(StopTheNight, match=r"\.env cannot be read"):
            read()


def test_folders_count_from_home_and_a_tilde_is_the_users(home, monkeypatch):
    monkeypatch.setenv("NIGHTWATCH_STATE", "state")
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("NIGHTWATCH_KNOWLEDGE_DIR", "~/lessons")
    assert settings().state == home / "state"
    assert settings().knowledge == Path("/home/ann/lessons")
    monkeypatch.setenv("NIGHTWATCH_HOME", "~/night")
    assert settings().home == Path("/home/ann/night")


def test_secrets_are_in_no_repr_and_no_complaint(monkeypatch):
    secret = "very-secret"
    for name in ("NEW_RELIC_API_KEY", "GITHUB_TOKEN", "SLACK_BOT_TOKEN", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, secret)
    read = settings()
    assert read.anthropic_api_key.get_secret_value() == secret
    assert secret not in f"{read!r} {read} {read.model_dump()} {read.model_dump_json()}"
    monkeypatch.setenv("NIGHTWATCH_MAX_ISSUES", secret)
    with pytest.raises(StopTheNight) as raised:
        night_options()
    assert secret not in str(raised.value)


def test_settings_that_hold_secrets_say_so():
    secret = re.compile(r"key|token|secret|password|database_url|notify_urls", re.IGNORECASE)
    for name, field in Settings.model_fields.items():
        is_secret = bool(secret.search(name.removesuffix("_at_tokens")))
        assert is_secret == ("SecretStr" in str(field.annotation))
    counted = ("total_token_budget", "token_budget_per_error")
    assert not [n for n in NightOptions.model_fields if secret.search(n) and n not in counted]


BACKSLASH = "http://evil.io\\@localhost/"  # programs disagree on where its host begins
ADDRESSES = ("NEW_RELIC_REGION", "NEW_RELIC_API_URL", "GITHUB_API_URL", "SLACK_API_URL",
             "SENTRY_URL")  # fmt: skip


@pytest.mark.parametrize("name", [*ADDRESSES, "ANTHROPIC_BASE_URL"])
def test_no_key_goes_over_a_network_unencrypted(name, monkeypatch):
    for address in (
        "http://api.acme.io",
        "HTTP://10.0.0.7:80",
        "http://localhost.evil.io/v1",
        BACKSLASH,
    ):
        monkeypatch.setenv(name, address)
        with pytest.raises(StopTheNight, match=f"{name}: .*use https://"):
            settings()
    for address in (
        "http://localhost:11434",
        "http://127.0.0.1:80/",
        "http://[::1]:80",
        "https://a",
    ):
        monkeypatch.setenv(name, address)
        assert settings()


def row(name):
    return pytest.mark.parametrize("row", FILES[name], ids=lambda row: row["name"])


def test_every_option_and_setting_has_its_place_in_the_file():
    fields = [field for keys in SECTIONS.values() for field in keys.values()]
    elsewhere = {"home", "config"}  # where the file is looked for
    assert sorted(fields) == sorted(
        {*NightOptions.model_fields, *Settings.model_fields} - elsewhere
    )
    assert set(PATHS) <= set(fields)
    assert all(re.fullmatch("[a-z_]{2,20}", key) for keys in SECTIONS.values() for key in keys)
    assert len(NightOptions.model_fields) <= MOST_OPTIONS


@row("accepted")
def test_a_file_sets_options(row, home):
    (home / "nightwatch.toml").write_text(row["file"])
    made = night_options().model_dump(exclude_defaults=True)
    shown = {name: str(value).replace(f"{home}/", "./") for name, value in made.items()}
    assert shown == {name: str(value) for name, value in row["options"].items()}


@row("refused")
def test_a_file_with_mistakes_is_refused(row, home):
    (home / "nightwatch.toml").write_text(row["file"])
    with pytest.raises(StopTheNight) as raised:
        night_options()
    told = str(raised.value).replace(f"{home}/", "./") + "\n"
    assert not [line for line in row["says"] if line not in told]
    assert "very-secret" not in told


def test_flag_over_environment_over_env_file_over_toml_over_default(home, monkeypatch):
    (home / "nightwatch.toml").write_text(
        """
        [publish]
        issues = 9
        [budget]
        parallel = 8
        tokens = 5000
        [code]
        github_repo = "shop/toml"
        github_url = "https://toml.example.com"
        """
    )
    (home / ".env").write_text("NIGHTWATCH_MAX_ISSUES=4\nNIGHTWATCH_CONCURRENCY=2\n")
    monkeypatch.setenv("NIGHTWATCH_MAX_ISSUES", "5")
    monkeypatch.setenv("GITHUB_REPO", "shop/environment")
    monkeypatch.setenv("GITHUB_API_URL", "")  # empty: not set
    options = night_options({"max_errors": 6})
    assert options.max_issues == 5
    assert options.concurrency == 2
    assert (options.total_token_budget, options.cost_per_night) == (5000, 6.0)
    assert night_options({"max_issues": 6}).max_issues == 6
    assert settings().github_repo == "shop/environment"
    assert settings().github_api_url == "https://toml.example.com"


def test_a_file_is_named_or_lies_in_the_current_folder_or_at_home(home, monkeypatch):
    here, named = home / "here", home / "shop.toml"
    here.mkdir()
    monkeypatch.chdir(here)
    assert configuration().file is None
    for number, file in enumerate((home / "nightwatch.toml", here / "nightwatch.toml", named)):
        file.write_text(f"[publish]\nissues = {number}\n")
        if file == named:
            monkeypatch.setenv("NIGHTWATCH_CONFIG", "../shop.toml")
        assert night_options().max_issues == number
    monkeypatch.setenv("NIGHTWATCH_CONFIG", "")
    (here / "nightwatch.toml").write_text('[model]\nurl = "https://elsewhere.example.com"\n')
    with pytest.raises(StopTheNight, match=r"\[model\] url says where keys are sent"):
        settings()
    monkeypatch.setenv("NIGHTWATCH_CONFIG", "nightwatch.toml")
    assert settings().anthropic_base_url == "https://elsewhere.example.com"
    monkeypatch.setenv("NIGHTWATCH_CONFIG", "nowhere.toml")
    with pytest.raises(StopTheNight, match=r"no settings file nowhere\.toml"):
        settings()


def test_an_application_with_a_name_has_its_own_state_and_knowledge(home, monkeypatch):
    monkeypatch.delenv("NIGHTWATCH_STATE")
    places = set()
    for name, rest in (("shop", ""), ("api", ""), ("web", 'state = "state"\nknowledge = "/srv/k"')):
        file = home / f"{name}.toml"
        file.write_text(f'[application]\nname = "{name}"\n{rest}')
        monkeypatch.setenv("NIGHTWATCH_CONFIG", str(file))
        places |= {settings().state, settings().knowledge}
    assert places == {
        *(home / ".nightwatch/shop", home / "knowledge/shop"),
        *(home / ".nightwatch/api", home / "knowledge/api"),
        *(home / "state", Path("/srv/k")),
    }
    (home / "bad.toml").write_text('[application]\nname = "../shop"\n')
    monkeypatch.setenv("NIGHTWATCH_CONFIG", str(home / "bad.toml"))
    with pytest.raises(StopTheNight, match=r"\[application\] name of .*bad\.toml"):
        settings()
