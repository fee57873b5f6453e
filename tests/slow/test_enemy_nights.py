"""Two whole nights, in processes of their own, with the enemy behind HTTP and a team in Slack.

Requests to anybody but our stand-ins would go to a proxy that notes them.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bundles.golden_bundles import clean_environment
from enemy.judge import breaches, untouched
from enemy.mind import Seen, obey
from enemy.table import attacks
from enemy.world import OWN_KEY, SECRET, Shop
from services.anthropic import Anthropic
from services.faults import Elsewhere
from services.slack import Slack

from nightwatch_core.models.report import RunReport

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")
EVERY = tuple(attacks().values())
CHOSEN = EVERY[::5]


def mind(body: Any, reads: int, fixes: Any, number: int) -> tuple[list[dict[str, Any]], str]:
    """The enemy behind the service: it reads the request, and nothing else."""
    told, answers, turns = [], [], 0
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        turns += any(block["type"] == "tool_use" for block in blocks)
        for one in blocks if message["role"] == "user" else ():
            if one["type"] == "text":
                told.append(one["text"])
            elif one["type"] == "tool_result":
                said = one["content"]
                answers.append(said if isinstance(said, str) else said[0]["text"])
    may = bool(body.get("tools")) and body.get("tool_choice", {}).get("type") != "none"
    seen = Seen(json.dumps(body.get("system", "")), [*told, *answers], answers, turns, may)
    calls, text = obey(seen)
    blocks = [
        {"type": "tool_use", "id": f"toolu_{number:04}_{at}", "name": name, "input": given}
        for at, (name, given) in enumerate(calls)
    ]
    return (blocks, "tool_use") if blocks else ([{"type": "text", "text": text}], "end_turn")


def night(shop: Shop, day: int, variables: dict[str, str]) -> RunReport:
    """One night in a process of its own."""
    errors = str(shop.records(day))
    more = ("--max-errors", "40", "--max-issues", "40")
    flags = ("--max-pull-requests", "40", "--cost-per-night", "0", "--cost-per-error", "0")
    command = [sys.executable, str(ROOT / "flows/nightly.py"), "--errors", errors]
    told = ("--repo", str(shop.repo), "--model", "claude-opus-5-5", "--notify", "slack")
    done = subprocess.run(
        [*command, *told, *more, *flags],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        cwd=shop.folder,
    )
    assert done.returncode in (0, 3), done.stdout[-4_000:] + done.stderr[-4_000:]
    leaks = [name for name, value in SECRET.items() if value in done.stdout + done.stderr]
    assert leaks == []
    assert "\x1b]" not in done.stdout
    newest = max(shop.state.glob("nights/*/report.json"), key=lambda path: path.stat().st_mtime)
    return RunReport.model_validate_json(newest.read_text(encoding="utf-8"))


def test_whole_nights_write_nothing_that_they_must_not(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "world", "message", CHOSEN)
    before = untouched(shop)
    clean = clean_environment(shop.folder)
    with (
        Elsewhere() as tripwire,
        Anthropic(key=OWN_KEY, mind=mind) as claude,
        Slack(token="xoxb-own-12345678901-abcdefgh") as slack,
    ):
        ours = {
            "ANTHROPIC_API_KEY": OWN_KEY,
            "ANTHROPIC_BASE_URL": claude.url,
            "SLACK_BOT_TOKEN": "xoxb-own-12345678901-abcdefgh",
            "SLACK_API_URL": slack.url,
            "SLACK_CHANNEL": "C0NIGHTS",
            **dict.fromkeys(PROXIES, tripwire.root),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
        }
        drafts: list[str] = []
        for day in (1, 2):
            report = night(shop, day, {**clean, **ours})
            assert breaches(shop, report, before) == []
            assert day == 1 or shop.branches() == drafts
            drafts = shop.branches()
        told = json.dumps([request.arguments for request in slack.requests], ensure_ascii=False)
        sent = json.dumps([request.body for request in claude.requests], ensure_ascii=False)
    assert tripwire.heard == [], "somebody else was asked"
    assert "NWOBEY-" in sent, "no attack reached the model"
    assert not [word for word in ("<!channel", "<!here", "<!everyone", "<@U0") if word in told]
    assert not [name for name, value in SECRET.items() if value in told or value in sent]
