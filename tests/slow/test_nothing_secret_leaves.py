"""A whole night over errors and code that are full of secrets and people: none of it goes anywhere.

Planted in messages, traces, SQL parameters and attributes of records, in source code, a committed
`.env`, commit messages and our own settings; looked for in everything that is kept, told and sent.
"""

import base64
import json
import lzma
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from bundles.golden_bundles import clean_environment, run
from git_repositories import Change, repository
from services import anthropic_mind
from services.anthropic import Anthropic
from services.slack import Slack

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

PLANTED = {
    "stripe": "sk_live_51HqLyjWDarjtT1zdp7dcXq",
    "github": "ghp_R4nd0mR4nd0mR4nd0mR4nd0mR4nd0mR4nd",
    "aws": "AKIAIOSFODNN7QZXCVBN",
    "aws secret": "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",
    "google": "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "bcrypt": "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW",
    "argon2": "c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub3bkU9fK9Wm",
    "database": "tr0ub4dor-horse",
    "basic": "c2hvcDpzM2NyM3RwYXNz",
    "cookie": "d7Xq0ZtJ8sKfW2yLbN5vRm1c",
    "pem": "MIIEpAIBAAKCAQEA7Zq3kM1vT9xLw0YbQf5cXr2uNp8sHd4g",
    "sentry": "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "planetscale": "pscale_pw_Zk3vB9mQ7xW1nL5tR8yC2dF6gH0jK4pS",
    "pdo": "Vel7et-Lantern",
    "otp": "739164",
    "sql token": "q8Wm3Zx7Kp2Rt5Vb9Nc4",
    "environment": "Mead0wFalconQuartz",
    "email": "marta.lindqvist@posteo.de",
    "phone": "+49 151 23456789",
    "card": "4539 1488 0343 6467",
    "iban": "DE89370400440532013000",
}
P = PLANTED
OWN = {
    "ANTHROPIC_API_KEY": "sk-ant-own-0123456789abcdef",
    "SLACK_BOT_TOKEN": "xoxb-own/12345678901+abcdefgh",
}


def forms(secret: str) -> dict[str, str]:
    """Our own secrets as somebody could have them written to carry them out."""
    raw = secret.encode()
    return {
        "plain": secret,
        "base64": base64.b64encode(raw).decode(),
        "base64 within": base64.b64encode(b"i:" + raw).decode()[3 : (2 + len(raw)) * 8 // 6],
        "hexadecimal": raw.hex(),
        "reversed": secret[::-1],
        "for an address": quote(secret, safe=""),
    }


CART = f'''\
import pay

SENTRY = "https://{P["sentry"]}@o1.ingest.sentry.io/7"


def total(lines):
    """Ask {P["email"]}."""
    return sum(line.price for line in lines)
'''
PAY = f'''\
KEY = """-----BEGIN RSA PRIVATE KEY-----
{P["pem"]}
-----END RSA PRIVATE KEY-----"""


def charge(card):
    return gateway.charge(card, api_key="{P["stripe"]}")
'''
HISTORY = (
    Change(
        f"The shop, for {P['email']}",
        {
            "shop/cart.py": CART,
            "shop/pay.py": PAY,
            ".env": f"SHOP_PASSWORD={P['environment']}\n",
            "config/secrets.yml": f"production:\n  key: {P['environment']}\n",
        },
    ),
    Change(f"Use token {P['github']}", {"README.md": "# Shop\n"}),
)


def trace(file: str, line: int, name: str, code: str, last: str) -> str:
    return (
        f'Traceback (most recent call last):\n  File "/srv/{file}", line {line}, in {name}\n'
        f"    {code}\n{last}"
    )


MESSAGES = (
    (
        *("shop/cart.py", 8, "total", "return sum(line.price for line in lines)"),
        "AttributeError",
        f"no price: user {P['email']}, phone {P['phone']}, card {P['card']}, iban {P['iban']}, "
        f"Authorization: Basic {P['basic']}, Cookie: sid={P['cookie']}, jwt {P['jwt']}",
    ),
    (
        *("shop/pay.py", 7, "charge", f'return gateway.charge(card, api_key="{P["stripe"]}")'),
        "PaymentError",
        f"declined {P['stripe']} {P['github']} {P['aws']} aws_secret_access_key={P['aws secret']} "
        f"{P['google']} your verification code is {P['otp']}; "
        + " ".join(f"<{form}>" for own in OWN.values() for form in forms(own).values()),
    ),
    (
        *("shop/cart.py", 8, "total", "return sum(line.price for line in lines)"),
        "IntegrityError",
        f"duplicate key [SQL: INSERT INTO users (email, password_digest, api_token) VALUES "
        f"('{P['email']}', '{P['bcrypt']}', '{P['sql token']}')] [parameters: ('{P['bcrypt']}', "
        f"'$argon2id$v=19$m=65536,t=3,p=4${P['argon2']}')] postgres://shop:{P['database']}@db/shop "
        f"{P['planetscale']} PDO->__construct('mysql:host=db', 'shop', '{P['pdo']}')",
    ),
)


def export() -> str:
    rows = []
    for file, line, name, code, error, message in MESSAGES:
        for minute in range(3):
            rows.append({
                "timestamp": f"2026-11-20T10:{minute:02}:00Z",
                "error_class": error,
                "message": message,
                "transaction": f"POST /{name}",
                "stacktrace": trace(file, line, name, code, f"{error}: {message}"),
                "user": P["email"],
                "attributes": {"password": P["database"], "token": P["sql token"]},
            })  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


def curious(body, reads, fixes, number):  # type: ignore[no-untyped-def]
    """A model that asks for every secret first, and then answers what it was shown."""
    said = [m for m in body["messages"] if m["role"] == "assistant"]
    asked = [
        ("read_file", {"path": ".env"}),
        ("read_file", {"path": "config/secrets.yml"}),
        ("read_file", {"path": "shop/pay.py"}),
        ("search_code", {"queries": ["sk_live", "PASSWORD"]}),
        ("blame", {"path": "shop/pay.py", "start": 1, "end": 7}),
        ("history", {"path": ""}),
    ]
    if said or body.get("tool_choice", {}).get("type") == "none" or not body.get("tools"):
        return anthropic_mind.turn(body, reads, fixes, number)
    calls = [
        {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(asked)
    ]
    return [{"type": "text", "text": "Let me look."}, *calls], "tool_use"


class Heard:
    """What a night left behind: name of the place, and every byte in it."""

    def __init__(self, folder: Path, output: str, claude: Anthropic, slack: Slack) -> None:
        bodies = json.dumps([request.body for request in claude.requests], ensure_ascii=False)
        told = json.dumps([request.arguments for request in slack.requests], ensure_ascii=False)
        self.places = {"terminal": output, "model": bodies, "slack": told}
        # What drafts change, and what their commits say; the code around it is as it was.
        ours = ("log", "-p", "--unified=0", "--format=%an%n%B", "--branches=nightwatch/*", "--not")
        shop = ("git", "-C", str(folder / "shop"), *ours, "main")
        self.places["commits"] = subprocess.run(shop, capture_output=True, text=True).stdout
        for place in ("state", "prefect"):
            for path in sorted((folder / place).rglob("*")):
                if path.is_file() and not path.is_symlink():
                    content = path.read_bytes()
                    content = zlib.decompress(content) if path.suffix == ".z" else content
                    if path.suffix == ".bundle":
                        content = lzma.decompress(content.partition(b"\n")[2])
                    text = content.decode("utf-8", "replace")
                    self.places[f"{place}/{path.relative_to(folder / place)}"] = text

    def leaks(self) -> list[tuple[str, str]]:
        own = {f"{name} {how}": v for name, one in OWN.items() for how, v in forms(one).items()}
        values = {**PLANTED, **own}
        return [
            (name, place)
            for place, text in self.places.items()
            for name, value in values.items()
            if value in text or json.dumps(value)[1:-1] in text
        ]


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Heard, Path]]:
    folder = tmp_path_factory.mktemp("night")
    repository(folder / "shop", *HISTORY)
    (folder / "errors.jsonl").write_text(export())
    (folder / "state").mkdir(mode=0o755)
    fixes = {"line.price": "line.cost"}
    with (
        Anthropic(key=OWN["ANTHROPIC_API_KEY"], fixes=fixes, mind=curious) as claude,
        Slack(token=OWN["SLACK_BOT_TOKEN"]) as slack,
    ):
        ours = {
            **OWN,
            "ANTHROPIC_BASE_URL": claude.url,
            "SLACK_API_URL": slack.url,
            "SLACK_CHANNEL": "C0NIGHTS",
            "NIGHTWATCH_STATE": str(folder / "state"),
            "NIGHTWATCH_KNOWLEDGE_DIR": str(folder / "state" / "knowledge"),
            "PREFECT_HOME": str(folder / "prefect"),
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DO_NOT_TRACK": "1",
        }
        not_ours = ("NIGHTWATCH_", "PREFECT_")
        clean = {n: v for n, v in os.environ.items() if not n.startswith(not_ours)}
        given = ("--errors", str(folder / "errors.jsonl"), "--repo", str(folder / "shop"))
        more = ("--model", "claude-opus-5-5", "--notify", "slack", "--verbose")
        done = subprocess.run(
            [sys.executable, str(ROOT / "flows/nightly.py"), *given, *more],
            env={**clean, **ours},
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
        assert done.returncode in (0, 2), done.stdout + done.stderr
        heard = Heard(folder, done.stdout + done.stderr, claude, slack)
        talk = next((folder / "state/transcripts").glob("*/*.jsonl")).stem.replace("-", ":")
        for verb in (["report"], ["transcript", talk, "--full"], ["manifest"]):
            command = "from flows.commands.app import main; main()"
            said = subprocess.run(
                [sys.executable, "-c", command, *verb],
                env={**clean, **ours},
                capture_output=True,
                text=True,
                check=False,
                cwd=ROOT,
            )
            heard.places[f"nightwatch {verb[0]}"] = said.stdout + said.stderr
        yield heard, folder


def test_nothing_that_was_planted_is_anywhere(night: tuple[Heard, Path]) -> None:
    heard, _ = night
    assert heard.leaks() == []


def test_the_night_did_its_work_all_the_same(night: tuple[Heard, Path]) -> None:
    heard, folder = night
    model, told = heard.places["model"], heard.places["slack"]
    assert "<email-" in model
    assert ".env holds secrets, judging by its name" in model
    assert "AttributeError" in told
    reports = [text for place, text in heard.places.items() if place.endswith("report.json")]
    (report,) = map(json.loads, reports)
    evidence = [item for a in report["analyses"] for item in a["evidence"]]
    assert any(item["verified"] and "<" in item["quote"] for item in evidence), (
        "a quote with a mask"
    )
    patches = [text for place, text in heard.places.items() if place.endswith(".patch")]
    assert any("+    return sum(line.cost for line in lines)" in text for text in patches)
    assert "+    return sum(line.cost for line in lines)" in heard.places["commits"]
    assert heard.places["commits"].startswith("NightWatch\n")
    sent = [text for place, text in heard.places.items() if "/sent/texts/" in place]
    assert any("<email-" in text for text in sent), "what left is looked through, too"
    assert "POST" in heard.places["nightwatch manifest"]
    assert "AttributeError" in heard.places["nightwatch report"]
    assert "<email-" in heard.places["nightwatch transcript"]


def test_nobody_else_can_read_what_is_kept(night: tuple[Heard, Path]) -> None:
    _, folder = night
    open_to_others = [
        path
        for path in (folder / "state", *(folder / "state").rglob("*"))
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]
    assert open_to_others == []


def test_the_night_can_be_run_again_without_the_secrets_and_comes_to_the_same(
    night: tuple[Heard, Path],
) -> None:
    _, folder = night
    (bundle,) = (folder / "state" / "bundles").glob("*.bundle")
    done = run("replay", str(bundle), environment=clean_environment(folder / "elsewhere"))
    assert done.stdout.startswith("Equal: 3 verdicts"), done.stdout + done.stderr
