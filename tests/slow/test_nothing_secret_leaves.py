"""A whole night over errors and code that are full of secrets and people: none of it goes anywhere.

Planted in messages, traces, SQL parameters and attributes of records, in source code, a committed
`.env`, commit messages and our own settings; looked for in everything that is kept, told and sent.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from bundles.golden_bundles import clean_environment, exported, run
from git_repositories import Change, repository
from kept_files import kept_texts
from services import anthropic_mind
from services.anthropic import Anthropic
from services.slack import Slack
from tables import tables_of

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]

PLANTED, HISTORY, MESSAGES = tables_of(__file__).values()
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


def filled(text: str) -> str:
    """A text of the tables with what is planted in it."""
    own = " ".join(f"<{form}>" for one in OWN.values() for form in forms(one).values())
    return text.format(**PLANTED, own_secrets=own)


def trace(file: str, line: str, name: str, code: str, last: str) -> str:
    return (
        f'Traceback (most recent call last):\n  File "/srv/{file}", line {line}, in {name}\n'
        f"    {code}\n{last}"
    )


def export() -> str:
    rows = []
    for row in MESSAGES:
        file, line, name, code, error, message = (filled(str(value)) for value in row.values())
        for minute in range(3):
            rows.append({
                "timestamp": f"2026-11-20T10:{minute:02}:00Z",
                "error_class": error,
                "message": message,
                "transaction": f"POST /{name}",
                "stacktrace": trace(file, line, name, code, f"{error}: {message}"),
                "user": PLANTED["email"],
                "attributes": {"password": PLANTED["database"], "token": PLANTED["sql_token"]},
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
            for name, text in kept_texts(folder / place):
                self.places[f"{place}/{name}"] = text

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
    changes = (
        Change(filled(row["message"]), {path: filled(text) for path, text in row["files"].items()})
        for row in HISTORY
    )
    repository(folder / "shop", *changes)
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
        }
        clean = clean_environment(folder)
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
        (kept,) = (folder / "state/nights").glob("*/report.json")
        talk = json.loads(kept.read_text())["analyses"][0]["case"]["leader"]["fingerprint"]
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
    journal = [text for place, text in heard.places.items() if place.startswith("state/journal/")]
    assert any("<email-" in text for text in journal), (
        "what was written down is looked through, too"
    )
    assert "POST" in heard.places["nightwatch manifest"]
    assert "AttributeError" in heard.places["nightwatch report"]
    assert "<email>" in heard.places["nightwatch transcript"], "a question is kept without numbers"


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
    bundle = exported(folder)
    done = run("replay", str(bundle), environment=clean_environment(folder / "elsewhere"))
    assert done.stdout.startswith("Equal: 3 verdicts"), done.stdout + done.stderr
