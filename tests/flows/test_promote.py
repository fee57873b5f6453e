"""From notes to CLAUDE.md: what is offered, where it goes, and that it is remembered."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from core.report_fixture import complete
from git_repositories import Change, git, repository
from github_world import bare_shop
from services.github import GitHub

from flows.commands import promote as promotion
from nightwatch_core.adapters.stores.documents import KnowledgeFiles
from nightwatch_core.errors import GiveUp, StopTheNight
from nightwatch_core.learnings.offers import chosen_offers
from nightwatch_core.models.knowledge import Decision, Lesson, Notes, Problem
from nightwatch_core.settings import settings
from tasks import wiring
from tasks.wiring.opening import OpenNight

DAY = date(2026, 1, 26)
COMMAND = "import typer; from flows.commands.promote import promote; typer.run(promote)"
RULES = "# Shop\r\n\r\n- Webhooks arrive out of order. Compare timestamps.\r\n"
LESSON = Lesson(
    fingerprint="v1:aef927d4bcba742d",
    error_class="KeyError",
    root_cause="No index.",
    first_detected=DAY,
    notes=(
        Notes(
            timestamp=DAY,
            problems=(
                Problem(
                    what="Queries time out under load",
                    root_cause="Missing index on users.organization_id",
                    prevention="Run EXPLAIN ANALYZE on new queries",
                ),
            ),
        ),
        Notes(
            timestamp=date(2025, 1, 1),
            decisions=(Decision(choice="Redis for sessions", rationale="Sub-ms lookups"),),
        ),
    ),
)
TASK = """---
title: Webhooks
---
# Webhooks

<future-agent-notes>
  <timestamp>2026-01-20</timestamp>
  <gotchas>
    <gotcha>Webhooks can arrive out of order: compare their timestamps.</gotcha>
    <gotcha>Edge middleware has no `fs` - use the key-value store</gotcha>
  </gotchas>
</future-agent-notes>
"""
ENTRY = (
    "- **Queries time out under load** - Missing index on users.organization_id. Run EXPLAIN "
    "ANALYZE on new queries. (from aef927d4, 2026-01-26)"
)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Knowledge, task files, and nothing else."""
    KnowledgeFiles(tmp_path / "knowledge").write(LESSON)
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/task-abc123.md").write_text(TASK)
    return tmp_path


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose CLAUDE.md somebody has begun to change."""
    folder = repository(home / "shop", Change("Shop", {"a.rb": "1\n", "CLAUDE.md": "# Old\n"}))
    (folder / "CLAUDE.md").write_bytes(RULES.encode())
    for name, value in settings_of(home).items():
        monkeypatch.setenv(name, value)
    return folder


def settings_of(home: Path) -> dict[str, str]:
    return {
        "NIGHTWATCH_HOME": str(home),
        "NIGHTWATCH_STATE": str(home / "state"),
        "NIGHTWATCH_KNOWLEDGE_DIR": "knowledge",
        "NIGHTWATCH_TASKS_DIR": "tasks",
    }


def with_offers(opened, said, to=None):
    found = promotion.offer(opened, to)
    return promotion.add_to_rules(opened, found, chosen_offers(said, found.offers))


def opened_for(**choices: object) -> OpenNight:
    return promotion.for_promotion(choices, settings())


def test_into_the_working_tree(shop, home):
    opened = opened_for(repo=str(shop))
    found = promotion.offer(opened, None)
    assert (found.commit, found.before) == (None, RULES)
    assert [(o.number, o.headline) for o in found.offers] == [
        (1, "Queries time out under load"),
        (2, "Edge middleware has no `fs`"),
        (3, "Redis for sessions"),
        (0, "Webhooks can arrive out of order: compare their timestamps"),
    ]

    made = promotion.add_to_rules(opened, found, chosen_offers("1,2", found.offers))

    text = (shop / "CLAUDE.md").read_bytes().decode()
    assert made.done
    assert made.place == str(shop / "CLAUDE.md")
    assert text.startswith(f"{RULES}\r\n## Learnings\r\n\r\n")
    assert ENTRY in text
    assert git(shop, "log", "--format=%s") == "Shop"  # not committed
    left = promotion.offer(opened, None).offers
    assert [(o.number, o.headline) for o in left if o.number] == [(1, "Redis for sessions")]
    kept = KnowledgeFiles(home / "knowledge")
    lesson = kept.read(kept.index().solutions[0].file)
    assert lesson.promoted == (found.offers[0].digest,)
    assert lesson.notes == LESSON.notes
    assert wiring.task_store(settings()).read("task-abc123").promoted == (found.offers[1].digest,)


def test_a_link_is_refused_and_nothing_remembered(shop):
    opened = opened_for(repo=str(shop))
    found = promotion.offer(opened, None)
    (shop / "CLAUDE.md").rename(shop / "AGENTS.md")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    with pytest.raises(GiveUp, match="is a link"):
        promotion.add_to_rules(opened, found, chosen_offers("1", found.offers))
    assert (shop / "AGENTS.md").read_bytes() == RULES.encode()
    (shop / "CLAUDE.md").unlink()
    assert promotion.offer(opened, None).offers[0].digest == found.offers[0].digest


def test_a_file_that_changes_while_the_person_chooses(shop):
    opened = opened_for(repo=str(shop))
    found = promotion.offer(opened, None)
    (shop / "CLAUDE.md").write_text("theirs")
    with pytest.raises(GiveUp, match="changed meanwhile"):
        promotion.add_to_rules(opened, found, chosen_offers("all", found.offers))
    assert (shop / "CLAUDE.md").read_text() == "theirs"


def test_a_local_draft(shop):
    """Of what is committed: what somebody has not committed yet is theirs."""
    made = with_offers(opened_for(repo=str(shop)), "1", "pull")
    assert made.done, made.text
    (branch,) = git(shop, "branch", "--list", "nightwatch/*", "--format=%(refname)").splitlines()
    text = git(shop, "show", f"{branch}:CLAUDE.md")
    assert text.startswith("# Old\n\n## Learnings\n")
    assert git(shop, "diff", "--name-only", "main", branch) == "CLAUDE.md"
    assert (shop / "CLAUDE.md").read_bytes() == RULES.encode()
    document = Path(made.place).read_text()
    assert "A person chose 1 learning" in document
    assert "Queries time out under load" in document


def test_without_a_checkout_it_says_what_to_name(shop):
    with pytest.raises(StopTheNight, match="--repo"):
        opened_for()
    report = complete()
    options = report.options.model_copy(update={"source": "sample"})
    wiring.nights(settings()).keep(report.model_copy(update={"options": options}))
    sample = opened_for()
    with pytest.raises(StopTheNight, match="--to checkout needs --repo"):
        promotion.offer(sample, "checkout")
    assert promotion.offer(sample, None).offers == ()  # task files are not the sample's


@pytest.fixture
def hub(shop: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHub]:
    with GitHub(bare_shop(home / "hub")) as server:
        monkeypatch.setenv("GITHUB_TOKEN", server.token)
        monkeypatch.setenv("GITHUB_REPO", "acme/shop")
        monkeypatch.setenv("GITHUB_API_URL", server.url)
        yield server


@pytest.mark.slow
def test_a_draft_pull_request_on_github(hub):
    opened = opened_for()
    found = promotion.offer(opened, None)
    assert found.commit
    assert found.before is None
    made = promotion.add_to_rules(opened, found, chosen_offers("1", found.offers))
    assert made.done, made.text
    (pull,) = hub.pulls()
    assert pull["draft"]
    assert pull["title"] == "Learnings for CLAUDE.md: Queries time out under load"
    assert pull["labels"] == ["nightwatch"]
    assert pull["body"].startswith("<!-- nightwatch:v1 fp=promotion key=")
    (own,) = opened.reading.tracker.own_items()
    assert (own.kind, own.fingerprint) == ("pull", "promotion")
    again = promotion.add_to_rules(opened, found, chosen_offers("1", found.offers))
    assert again.done
    assert "was there already" in again.text
    assert len(hub.pulls()) == 1
    left = promotion.offer(opened, None).offers
    assert "Queries time out under load" not in [o.headline for o in left]


def run(home: Path, *flags: str, **more: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings_of(home), "PREFECT_HOME": str(home / "prefect")}
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *flags],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        **more,
    )


@pytest.mark.slow
def test_the_command_lists_then_obeys(shop, home):
    listed = run(home, "--repo", str(shop), stdin=subprocess.DEVNULL)
    assert listed.returncode == 0, listed.stderr
    assert "1. [Problem] Queries time out under load" in listed.stdout
    assert "Not offered: [Gotcha] Webhooks can arrive out of order" in listed.stdout
    assert "Choose with --yes" in listed.stdout
    assert (shop / "CLAUDE.md").read_bytes() == RULES.encode()
    done = run(home, "--repo", str(shop), "--yes", "2")
    assert done.returncode == 0, done.stderr
    assert "Added to" in done.stdout
    assert b"**Edge middleware has no `fs`**" in (shop / "CLAUDE.md").read_bytes()
    wrong = run(home, "--repo", str(shop), "--yes", "1,9")
    assert wrong.returncode == 1
    assert "9 cannot be chosen: there are 1 to 2" in wrong.stderr
    assert wrong.stdout == ""  # the list is not told again
