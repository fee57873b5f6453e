import pytest
from analysis_shapes import analysis

from nightwatch_core.code.verdict import unseen_step

SHOWN = ("shop/pay.py:3", "app/(shop)/[id]/page.tsx:3", "routes/+page.svelte:3", ".ci/run.py:3")


@pytest.mark.parametrize(
    "text",
    [
        "A request (shop/pay.py:3) fails.",
        "A request (see shop/pay.py:3, then more) fails.",
        "A request [shop/pay.py:3] fails; ([shop/pay.py:3]), {shop/pay.py:3}, <shop/pay.py:3>.",
        "A [request](shop/pay.py:3) fails in charge(shop/pay.py:3).",
        "It calls (shop/pay.py:3)(shop/pay.py:3), (shop/pay.py:3)-shop/pay.py:3.",
        "`shop/pay.py:3`, 'shop/pay.py:3', \"shop/pay.py:3\", “shop/pay.py:3”, **shop/pay.py:3**",
        "It fails at shop/pay.py:3. At ./shop/pay.py:3; shop/pay.py:3! shop/pay.py:3: so",
        "Lines shop/pay.py:3-9, (shop/pay.py:3–9), shop/pay.py:3:12, shop/pay.py:3,9.",
        "The page (app/(shop)/[id]/page.tsx:3), app/(shop)/[id]/page.tsx:3 or [id]/page.tsx:3",
        "The page (routes/+page.svelte:3) or +page.svelte:3, and .ci/run.py:3.",
        "Once shop/pay.py:3→shop/pay.py:3->(shop/pay.py:3).",
    ],
)
def test_a_place_is_known_however_the_sentence_sets_it(text):
    assert unseen_step(analysis(root_cause=text), SHOWN) == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("A request (shop/pay.py:90) fails.", "shop/pay.py:90"),
        ("A request [shop/repay.py:3] fails.", "shop/repay.py:3"),
        ("At `shop/pay.py:90-95`, it fails.", "shop/pay.py:90"),
        ("In charge(app/(pay)/[id]/page.tsx:3).", "app/(pay)/[id]/page.tsx:3"),
        ("Both (shop/pay.py:3) and (shop/pay.py:50).", "shop/pay.py:50"),
        ("(" * 3_000 + "a.py:1", "a.py:1"),
        (")" * 3_000 + "a.py:1", "a.py:1"),
    ],
)
def test_a_place_that_was_not_shown_is_named_without_the_sentence_around_it(text, place):
    assert unseen_step(analysis(root_cause=text), SHOWN) == place
