""""""

from datetime import UTC, datetime

import pytest
from git_repositories import Change, repository, tag
from small_repo import case, frame

from nightwatch_core.adapters.git.checkout import Checkout
from nightwatch_core.code.base_branch import base_branch_status, without_later_change
from nightwatch_core.models.analysis import Analysis, BaseBranchStatus
from nightwatch_core.models.answer import Evidence

FAILING = "    sums = [line.price for line in lines]\n"
CART = f"import money\n\n\ndef total(lines):\n{FAILING}    return sum(sums)\n"
PAY = "def pay(card):\n    return gateway.charge(card)\n"
PAID = Evidence(path="shop/pay.py", line=2, quote="return gateway.charge(card)", verified=True)
FIRST = Change("First", {"shop/cart.py": CART, "shop/pay.py": PAY})


def analysis(line=5, **more):
    failing = case("AttributeError", "no price", frame("shop/cart.py", line, "total"))
    fields = {"title": "t", "root_cause": "c", "confidence": "medium", "case": failing}
    return Analysis.model_validate(fields | more)


def stands(folder, *later, of=None):
    """Where the lines that failed in the first commit stand after the later ones."""
    shop = Checkout(repository(folder / "shop", FIRST, *later, more=tag("v1", 0)))
    failed = shop.commit_of("v1")
    return base_branch_status(of or analysis(), shop.reader(failed), shop.reader(shop.head()))


def kind(found):
    return found.kind if found else ""


def test_one_commit_has_no_standing(tmp_path):
    assert stands(tmp_path) is None


def test_lines_that_nobody_touched_are_live(tmp_path):
    found = stands(tmp_path, Change("Readme", {"README": "x\n"}))

    assert found == BaseBranchStatus(kind="live")


@pytest.mark.parametrize(
    "text",
    [
        CART.replace("import money", "import money\nimport tax"),
        CART.replace("import money\n\n\n", "import money\n\n"),
        CART + "\n\ndef tax(lines):\n    return 0\n",
        CART.replace("\n\ndef", "\n\ndef tax(lines):\n    return 0\n\n\ndef"),
    ],
)
def test_a_file_that_changed_around_them_has_drifted(tmp_path, text):
    found = stands(tmp_path, Change("Tax (#4)", {"shop/cart.py": text}))

    assert found == BaseBranchStatus(
        kind="drifted", detail="shop/cart.py on main differs from the code that failed."
    )


@pytest.mark.parametrize(
    "text",
    [
        CART.replace("line.price", "line.cost"),
        CART.replace(FAILING, f"    lines = lines or []\n{FAILING}"),
        CART.replace(FAILING, f"    if not lines:\n        return 0\n{FAILING}"),
        CART.replace(FAILING, f"    if lines:\n    {FAILING}"),
        CART.replace("sum(sums)", "0").replace(FAILING, ""),
        "def total(lines):\n    return 0\n",
        None,
    ],
)
def test_what_changed_the_failing_line_awaits_its_deploy(tmp_path, text):
    found = stands(
        tmp_path,
        Change("Stock (#4)", {"shop/stock.py": "1\n"}),
        Change("Guard carts (#5)", {"shop/cart.py": text}),
        Change("Pay (#6)", {"shop/pay.py": "x\n"}),
    )

    assert (found.kind, found.pull) == ("changed", 5)
    assert found.detail == "Already changed on main by #5 of 2025-11-24, awaiting its deploy."


def test_the_first_change_is_named_not_what_tidied_up_later(tmp_path):
    mended, tidied = (CART.replace("line.price", name) for name in ("line.cost", "line.costs"))
    found = stands(
        tmp_path,
        Change("Mend (#5)", {"shop/cart.py": mended}),
        Change("Tidy (#6)", {"shop/cart.py": tidied}),
        Change("Pay (#7)", {"shop/pay.py": PAY.replace("charge", "pay")}),
        of=analysis(evidence=(PAID,)),
    )

    assert (found.kind, found.pull) == ("changed", 5)


def test_evidence_that_was_looked_up_is_failing_code_too(tmp_path):
    change = Change("Pay (#6)", {"shop/pay.py": "def pay(card):\n    return 1\n"})

    cited = stands(tmp_path / "a", change, of=analysis(evidence=(PAID,)))
    guessed = PAID.model_copy(update={"verified": False})
    uncited = stands(tmp_path / "b", change, of=analysis(evidence=(guessed,)))

    assert (kind(cited), kind(uncited)) == ("changed", "live")


def test_a_renamed_file_is_followed(tmp_path):
    moved = Change("Move (#4)", {"shop/cart.py": None, "shop/basket.py": CART})
    mended = Change("Mend (#5)", {"shop/basket.py": CART.replace("line.price", "line.cost")})

    assert kind(stands(tmp_path / "a", moved)) == "drifted"
    found = stands(tmp_path / "b", moved, mended)
    assert (found.kind, found.pull) == ("changed", 5)


def test_a_base_that_is_older_than_what_failed_awaits_no_deploy(tmp_path):
    shop = Checkout(
        repository(
            tmp_path / "shop",
            FIRST,
            Change("Cost", {"shop/cart.py": CART.replace("price", "cost")}),
        )
    )
    new = shop.head()
    old = shop.commit_at(datetime.fromtimestamp(1_764_000_000, UTC))
    found = base_branch_status(analysis(), shop.reader(new), shop.reader(old))

    assert old.sha != new.sha
    assert kind(found) == "drifted"


def test_a_suspect_that_came_later_is_not_named(tmp_path):
    mended = Change("Mend (#5)", {"shop/cart.py": CART.replace("line.price", "line.cost")})
    shop = Checkout(repository(tmp_path / "shop", FIRST, mended, more=tag("v1", 0)))
    first = shop.commit_of("v1")
    then, now = shop.reader(first), shop.reader(shop.head())
    names = (now.commit.sha[:9], "#5", first.sha[:9], "0" * 40, "")
    kept = [
        without_later_change(analysis(suspect_commit=name), then, now).suspect_commit
        for name in names
    ]

    assert kept == ["", "", first.sha[:9], "0" * 40, ""]


def test_without_a_failing_line_nothing_is_said(tmp_path):
    change = Change("Guard", {"shop/cart.py": "x\n"})
    unplaced = analysis(case=case("KeyError", "x"))

    assert stands(tmp_path / "a", change, of=unplaced) is None
    assert stands(tmp_path / "b", change, of=analysis(misfit="another file")) is None
