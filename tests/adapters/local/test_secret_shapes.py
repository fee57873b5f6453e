"""What the kept detectors see, and what they are not to cry about."""

import pytest

from nightwatch_core.adapters.local.quiet import secret_shapes

BODY = "MIIEpAIBAAKCAQEA7Zq3kM1vT9xLw0YbQf5cXr2uNp8sHd4g"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("key AKIAQZXCVBNMASDFGHJK", "AWS Access Key"),
        ("see ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd0m", "GitHub Token"),
        ("sk_live_51HqLyjWDarjtT1zdp7dcXqQ", "Stripe Access Key"),
        ("postgres://shop:tr0ub4dor@db/shop", "Basic Auth Credentials"),
        ('password = "hunter2"', "Secret Keyword"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n", "Private Key"),
        ("a" * 1_990 + " AKIAQZXCVBNMASDFGHJK", "AWS Access Key"),
    ],
)
def test_shapes_of_keys_are_seen(text: str, kind: str) -> None:
    assert kind in {one for one, _ in secret_shapes(f"first\n{text}")}
    assert min(line for _, line in secret_shapes(f"first\n{text}")) == 2


@pytest.mark.parametrize(
    "text",
    [
        'password = "secret"',
        'config.secret_key_base = "secret_key_base"',
        "password=<secret-203036>",
        "postgres://shop:<password-203036>@db/shop",
        "-----BEGIN RSA PRIVATE KEY-----\n<pem-123456>\n-----END RSA PRIVATE KEY-----",
        "expects -----BEGIN PRIVATE KEY-----, got 3 bytes",
        'token = os.environ["API_TOKEN_2"]',
        "http://user:pass@localhost:9000/v1",
        "8f2c1d9e4b7a6c5d3e2f 10.2.0.4 v1.2.3-beta4",
    ],
)
def test_examples_masks_and_names_are_not(text: str) -> None:
    assert list(secret_shapes(text)) == []


def test_hostile_text_is_soon_looked_through() -> None:
    for piece in ("password='a1", "eyJa1.", "-a1", "://a1:", '"key" : a1 ', " " * 400 + "a1"):
        assert len(list(secret_shapes(piece * (10_000 // len(piece))))) < 10_000
