"""Nights whose errors are of several releases, while the branch has moved on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from git_repositories import NIGHT, Change, git, repository, tag
from night_world import CART, PAY, by_case, worlds
from twins.reading import MemoryErrors, MemoryModel
from world import World

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.errors import StopTheNight
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.answer import Answer
from nightwatch_core.models.code import Release
from nightwatch_core.models.errors import ErrorGroup
from nightwatch_core.models.report import RunReport

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_results")]

CART_V1 = "def total(lines):\n    return sum(line.price for line in lines)\n"
PAY_V1 = "def pay(card):\n    return gateway.pay(card)\n"
PAY_V2 = "def pay(card):\n    return gateway.charge(card)\n"
HISTORY = (
    Change("First", {"shop/cart.py": CART_V1, "shop/pay.py": PAY_V1}),
    Change("Charge cards (#3)", {"shop/pay.py": PAY_V2}),
    Change("Carts without prices (#5)", {"shop/cart.py": CART_V1.replace("price", "amount")}),
    Change("Readme (#6)", {"README": "x\n"}),
)
TAGS = tag("v1", 0) + tag("v2", 1)


def hour(number: float) -> datetime:
    """A commit is made at every full hour, the first at 0."""
    return datetime.fromtimestamp(NIGHT, UTC) + timedelta(hours=number)


def seen(group: ErrorGroup, release: str = "", at: float | None = None) -> ErrorGroup:
    moment = None if at is None else hour(at)
    releases = (release,) if release else ()
    update = {"release": release, "releases": releases, "first_seen": moment, "last_seen": moment}
    return group.model_copy(update=update)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", *HISTORY, more=TAGS)


def world(
    shop: Path,
    *groups: ErrorGroup,
    deployed: tuple[Release, ...] = (),
    model: MemoryModel | None = None,
) -> World:
    """A shop whose code is in a git repository."""
    memory = worlds(groups, model)
    errors = memory.reading.errors
    assert isinstance(errors, MemoryErrors)
    errors.deployed = deployed
    return replace(memory, reading=replace(memory.reading, code=Checkout(shop)))


def night(world: World, **choices: object) -> RunReport:
    return world.night(**choices)


def finding(report: RunReport, group: ErrorGroup) -> Analysis:
    names = {group.fingerprint}
    return next(
        analysis
        for analysis in report.analyses
        if {g.fingerprint for g in analysis.case.groups} & names
    )


def commit_text(shop: Path, analysis: Analysis) -> str:
    commit = analysis.case.commit
    assert commit is not None
    assert analysis.commit == commit.sha
    return git(shop, "log", "-1", "--format=%s", commit.sha)


def test_every_error_is_read_at_its_own_release(shop: Path) -> None:
    """The cart's fix is on the branch already: it is neither the failing line nor a suspect."""
    fix = git(shop, "rev-parse", "main~1")

    def names_the_fix(conversation: object) -> object:
        said = Answer.model_validate_json(str(by_case(conversation)))
        return said.model_copy(update={"suspect_commit": fix}).model_dump_json()

    model = MemoryModel([names_the_fix])
    memory = world(shop, seen(CART, "v1", 9), seen(PAY, "2", 9), model=model)
    report = night(memory)
    cart, pay = finding(report, CART), finding(report, PAY)

    assert (commit_text(shop, cart), commit_text(shop, pay)) == ("First", "Charge cards (#3)")
    assert [
        (quote.path, quote.line, quote.verified) for quote in (*cart.evidence, *pay.evidence)
    ] == [("shop/cart.py", 2, True), ("shop/pay.py", 2, True)]
    assert [cart.case.commit.because, pay.case.commit.because] == [  # type: ignore[union-attr]
        "release v1 (tag)", "release v2 (tag)",
    ]  # fmt: skip
    assert cart.has_fix
    status = cart.base_branch_status
    assert status is not None
    assert (status.kind, status.pull, status.sha) == ("changed", 5, fix)
    assert pay.base_branch_status is not None
    assert pay.base_branch_status.kind == "live"
    assert (cart.suspects, cart.suspect_commit) == ((), "")
    assert [receipt.kind for receipt in report.receipts] == ["issue", "issue"]
    outbox = memory.reading.tracker
    issues = {proposal.fingerprint: proposal.body for proposal in outbox.published}  # type: ignore[attr-defined]
    assert "Already changed on main by" in issues[CART.fingerprint]
    assert "lready changed" not in issues[PAY.fingerprint]
    skipped = [skip.reason for skip in report.skips if skip.kind == "pull"]
    assert len(skipped) == 2
    assert "already changed by #5" in skipped[0]
    assert "no fix is proposed" in skipped[1]
    assert {commit.because for commit in report.commits} == {"release v1 (tag)", "release v2 (tag)"}
    assert report.base is not None
    assert report.base.sha == git(shop, "rev-parse", "main")
    told = [turn.text for item in model.shown for turn in item.turns if hasattr(turn, "text")]
    assert any("line.price" in text for text in told)
    assert not any("line.amount" in text or "Carts without prices" in text for text in told)


def test_a_fix_is_made_on_the_base_branch(tmp_path: Path) -> None:
    """What failed is a release behind, and its lines stand elsewhere by now."""
    later = Change("Imports (#7)", {"shop/cart.py": f"import money\n\n\n{CART_V1}"})
    shop = repository(tmp_path / "shop", HISTORY[0], later, more=tag("v1", 0))
    memory = world(shop, seen(CART, "v1", 9))
    report = night(memory)
    cart = finding(report, CART)
    pull = memory.reading.tracker.published[-1]  # type: ignore[attr-defined]

    assert cart.base_branch_status is not None
    assert cart.base_branch_status.kind == "drifted"
    assert commit_text(shop, cart) == "First"
    assert (pull.kind, pull.commit) == ("pull", git(shop, "rev-parse", "main"))
    text = f"import money\n\n\n{CART_V1}".replace("line.price", "line.cost")
    assert [(change.path, change.text) for change in pull.changes] == [("shop/cart.py", text)]


def test_a_commit_that_was_chosen_is_read_for_all(shop: Path) -> None:
    for name in ("v1", git(shop, "rev-parse", "v1")[:8]):
        report = night(world(shop, seen(CART, "v2", 9), seen(PAY, at=9)), commit=name)
        assert {commit_text(shop, analysis) for analysis in report.analyses} == {"First"}
        assert {commit.because for commit in report.commits} <= {
            "release v1 (tag), as chosen",
            f"release {git(shop, 'rev-parse', 'v1')[:10]} (commit), as chosen",
        }
    report = night(world(shop, seen(CART, "v1", 9)), commit="main")
    assert commit_text(shop, finding(report, CART)) == "Readme (#6)"


def test_a_chosen_commit_that_is_not_there_says_what_to_do(shop: Path) -> None:
    with pytest.raises(StopTheNight, match=r"'v9' is not a tag, branch or commit of shop: set"):
        night(world(shop, seen(CART, "v1", 9)), commit="v9")


def test_a_lesson_is_held_against_the_code_that_failed(shop: Path) -> None:
    """The branch has other lines, production has not: what was learned of it still explains it."""
    memory = world(shop, seen(CART, "v1", 9))
    night(memory)
    again = night(memory)
    cart = finding(again, CART)

    assert cart.ending.kind == "reused"
    assert [quote.verified for quote in cart.evidence] == [True]
    assert cart.base_branch_status is not None
    assert cart.base_branch_status.kind == "changed"
    assert len(memory.reading.model.shown) == 1  # type: ignore[attr-defined]


def test_one_error_and_what_is_published_later_are_at_that_commit(shop: Path) -> None:
    memory = world(shop, seen(CART, "v1", 9))
    report = night(memory, publish="none")
    single = memory.one_error(CART.fingerprint)
    acted = memory.act(report.night.id, publish="all")

    assert commit_text(shop, finding(single, CART)) == "First"
    assert [receipt.kind for receipt in acted.receipts] == ["issue"]
    (skipped,) = (skip.reason for skip in acted.skips if skip.kind == "pull")
    assert "already changed by #5" in skipped
