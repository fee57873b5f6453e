"""Tests of renames: which names may stand for another, and what is changed where they do."""

import pytest
from small_repo import case, explained, frame, mended
from tables import tables_of

from nightwatch_core.rules.findings import means_something_else

TABLES = tables_of(__file__)

OLD, NEW = ("a" * 40, "2026-01-01"), ("b" * 40, "2026-02-01")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        *(("is_valid", "is_not_valid"), ("is_valid", "is_invalid"), ("active", "inactive")),
        *(("lock", "unlock"), ("price", "price_cents"), ("price_cents", "price_dollars")),
    ],
)
def test_negations_and_units_mean_something_else(name, other):
    assert means_something_else(name, other)
    assert means_something_else(other, name)


def module(asked, defined, meant=""):
    """A module's function that is asked for under another name."""
    files = {
        "shop/money.py": f"def {defined}(amount):\n    return amount\n",
        "shop/page.py": f"from shop import money\n\n\ndef page(a):\n    return money.{asked}(a)\n",
    }
    said = f"module 'shop.money' has no attribute '{asked}'"
    said += f". Did you mean: '{meant}'?" if meant else ""
    return case("AttributeError", said, frame("shop/page.py", 5, "page")), files


def an_import(asked, defined):
    """The same function, imported by its name."""
    _, files = module(asked, defined)
    page = f"from shop.money import {asked}\n\n\ndef page(a):\n    return {asked}(a)\n"
    said = f"cannot import name '{asked}' from 'shop.money' (/srv/shop/money.py)"
    failing = case("ImportError", said, frame("shop/page.py", 1, "<module>"))
    return failing, {**files, "shop/page.py": page}


def later(asked):
    """The module's function had the other name before."""
    return {("shop/money.py", 1): (*NEW, f"def {asked}(amount):"), ("shop/page.py", 5): OLD}


@pytest.mark.parametrize("asks", [module, an_import])
@pytest.mark.parametrize(
    ("asked", "defined", "fix"),
    [
        ("round_cents", "round_to_cents", True),
        ("total_of_all", "total_of", True),
        ("price_from", "price_to", False),
        ("min_price", "max_price", False),
        ("is_paid", "is_not_paid", False),
    ],
)
def test_an_added_word_is_a_rename_and_a_swapped_one_is_not(asks, asked, defined, fix):
    failing, files = asks(asked, defined)
    answer, _ = explained(failing, files, later(asked))
    assert answer.has_fix is fix
    assert not explained(failing, files)[0].has_fix
    if fix:
        after = mended(answer, files)["shop/page.py"]
        assert after == files["shop/page.py"].replace(asked, defined)
        assert f"`{asked}` is now called `{defined}`" in answer.hypotheses[0].statement


def test_an_import_from_elsewhere_says_where_the_name_is():
    failing, files = an_import("round_cents", "half")
    files["shop/cents.py"] = "def round_cents(amount):\n    return amount\n"
    answer, _ = explained(failing, files)
    assert answer.handover.look_at == ("`round_cents` is defined in shop/cents.py:1.",)
    answer, _ = explained(failing, {"shop/page.py": files["shop/page.py"]})
    assert "installed dependencies" in answer.handover.look_at[0]


VAT = "vat() got an unexpected keyword argument 'rate'"


@pytest.mark.parametrize(
    ("signature", "fix"), TABLES["a_keyword_can_only_mean_the_one_parameter_that_is_left"]
)
def test_a_keyword_can_only_mean_the_one_parameter_that_is_left(signature, fix):
    files = {
        "shop/tax.py": f"def vat({signature}):\n    return amount\n",
        "shop/page.py": "from shop.tax import vat\n\n\ndef page(a):\n    return vat(a, rate=20)\n",
    }
    failing = case("TypeError", VAT, frame("shop/page.py", 5, "page"))
    before = f"def vat({signature.replace('quota', 'rate')}):"
    written = {("shop/tax.py", 1): (*NEW, before), ("shop/page.py", 5): OLD}
    answer, _ = explained(failing, files, written)
    assert answer.has_fix is fix
    if fix:
        assert "vat(a, quota=20)" in mended(answer, files)["shop/page.py"]
        assert answer.tags == ("renamed-symbol",)
    assert not explained(failing, files)[0].has_fix


@pytest.mark.parametrize(
    ("before", "after", "fix"),
    [
        ("return amount", "return amount", False),
        ("return RATES[country_id]", "return RATES[country]", True),
        ("return RATES[country_id]", "return country.rate", False),
        ("country_id: a code", "country: a code", False),
    ],
)
def test_a_keyword_means_what_it_meant_where_its_change_renamed_it_alone(before, after, fix):
    files = {
        "shop/tax.py": f"def vat(amount, country=''):\n    {after}\n",
        "shop/page.py": "from shop.tax import vat\n\n\ndef page(a):\n    vat(a, country_id=1)\n",
    }
    message = "vat() got an unexpected keyword argument 'country_id'"
    failing = case("TypeError", message, frame("shop/page.py", 5, "page"))
    signature = (*NEW, "def vat(amount, country_id=''):")
    body = {("shop/tax.py", 2): (*NEW, f"    {before}")} if before != after else {}
    written = {("shop/tax.py", 1): signature, ("shop/page.py", 5): OLD, **body}
    answer, _ = explained(failing, files, written)
    assert answer.has_fix is fix
    assert answer.suspect_commit == NEW[0][:10]
    assert "replaced `country_id` by `country` in shop/tax.py:1" in answer.root_cause
    assert not explained(failing, files)[0].suspect_commit
    if fix:
        assert "vat(a, country=1)" in mended(answer, files)["shop/page.py"]


def test_a_misspelt_keyword_is_not_called_renamed():
    files = {
        "shop/tax.py": "def vat(amount, country='LU'):\n    return amount\n",
        "shop/page.py": "from shop.tax import vat\n\n\ndef page(a):\n    vat(a, contry='DE')\n",
    }
    message = "vat() got an unexpected keyword argument 'contry'"
    answer, _ = explained(case("TypeError", message, frame("shop/page.py", 5, "page")), files)
    assert "vat(a, country='DE')" in mended(answer, files)["shop/page.py"]
    assert "`contry` should read `country`" in answer.root_cause
    assert answer.tags == ("misspelt-name",)
