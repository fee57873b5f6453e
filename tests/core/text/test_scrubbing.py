"""Secrets do not stay; code and prose do."""

import pytest

from nightwatch_core.text.scrubbing import LONGEST, SECRETS, scrubbed

WORD = "aB3" * 12
SECRET = {
    "Anthropic": f"sk-ant-api03-{WORD}",
    "OpenAI": f"sk-{WORD}",
    "Stripe": f"sk_live_{WORD}",
    "GitHub": f"ghp_{WORD}",
    "GitHub server": f"ghs_{WORD}",
    "GitHub fine": f"github_pat_{WORD}_{WORD}",
    "GitLab": f"glpat-{WORD}",
    "Slack": f"xoxb-1234567890-{WORD}",
    "webhook": f"https://hooks.slack.com/services/T000/B000/{WORD}",
    "New Relic": "NRAK-" + "AB12" * 7,
    "licence": "ab12" * 9 + "NRAL",
    "AWS": "AKIA" + "AB12" * 4,
    "AWS session": "ASIA" + "AB12" * 4,
    "Google": "AIza" + "x" * 35,
    "token": f"eyJhbGciOiJIUzI1NiJ9.{WORD}.{WORD}",
    "header": f"Authorization: Basic {WORD}==",
    "json header": f'{{"authorization": "token {WORD}"}}',
    "bearer": f"bearer {WORD}",
    "address": f"postgres://shop:{WORD}@db/shop",
    "redis": f"redis://:{WORD}@cache",
    "ruby": f'password: "{WORD}"',
    "hash": f"'api_key' => '{WORD}'",
    "env": f"DATABASE_PASSWORD={WORD}",
    "yaml": f"client_secret: {WORD}",
    "query": f"https://host/?access_token={WORD}&page=2",
    "AWS secret": f"aws_secret_access_key = '{WORD}'",
    "pem": f"-----BEGIN RSA PRIVATE KEY-----\n{WORD}\n{WORD}=\n-----END RSA PRIVATE KEY-----",
    "cut pem": f"-----BEGIN PRIVATE KEY-----\n   12| {WORD}\n   13| {WORD}",
    "encrypted pem": f"-----BEGIN PRIVATE KEY-----\nDEK-Info: AES-256-CBC,{WORD}\n-----END PRIVATE",
}
HARMLESS = (
    "return sum(line.price for line in lines)",
    "token = Token.find(params[:token])",
    "def login(user: str, password: str, token: int = 3) -> bool:",
    "max_tokens: 32000, input_tokens=1200",
    "sha 8f2c1d9e4b7a6c5d3e2f1a0b9c8d7e6f5a4b3c2d is the commit",
    "GET /orders/17 → 500 in OrdersController#show",
    "the bearer of bad news; basic authentication failed",
    "skip-this task-runner at app/models/secret.rb:12",
    "password = os.environ['PASSWORD']",
    "see https://example.com:8080/path?page=2#top",
)


@pytest.mark.parametrize("kind", SECRET)
def test_secrets_are_removed(kind):
    kept = scrubbed(f"before {SECRET[kind]} after")
    assert WORD not in kept
    assert "AB12AB12" not in kept
    assert "ab12ab12" not in kept
    assert "xxxxxxxx" not in kept
    assert " removed]" in kept
    assert kept.startswith("before ")


@pytest.mark.parametrize("text", HARMLESS)
def test_code_and_prose_stay(text):
    assert scrubbed(text) == text


def test_every_pattern_removes_something():
    for name, pattern in SECRETS:
        assert any(pattern.search(text) for text in SECRET.values()), name


def test_what_is_scrubbed_stays_scrubbed():
    once = scrubbed("\n".join(SECRET.values()))
    assert scrubbed(once) == once


@pytest.mark.parametrize(
    "piece",
    ["-----BEGIN PRIVATE KEY-----", "eyJ", "eyJ-", "sk-", "password", "token: ", "://a:", "bearer ",
     "secret=", "authorization: ", "-", "A", "a_", "ghp_", "xox-"],
)  # fmt: skip
def test_hostile_text_takes_no_longer(piece):
    text = piece * (LONGEST // len(piece))
    scrubbed(text)


def test_the_text_is_bounded():
    assert len(scrubbed("x y " * LONGEST)) == LONGEST
