"""Tests of mechanical fixes: made where exactly one thing can be meant, never as a guard."""

import pytest
from small_repo import case, explained, frame, mended
from tables import tables_of

TABLES = tables_of(__file__)

OLD, NEW = ("a" * 40, "2026-01-01"), ("b" * 40, "2026-02-01")

PRICES = TABLES["prices"]
RENAMED = case(
    "AttributeError",
    "module 'shop.prices' has no attribute 'total_of_order'",
    frame("shop/views.py", 5, "show"),
)
LATER = {("shop/prices.py", 1): (*NEW, "def total_of_order(lines):"), ("shop/views.py", 5): OLD}


def test_a_renamed_function_is_called_by_its_new_name_everywhere():
    answer, _ = explained(RENAMED, PRICES, LATER)
    files = mended(answer, PRICES)
    assert set(files) == {"shop/views.py", "shop/jobs.py"}
    assert files["shop/views.py"] == PRICES["shop/views.py"].replace(
        "    return prices.total_of_order", "    return prices.order_total"
    )
    assert "order_total(o)" in files["shop/jobs.py"]
    assert answer.has_fix
    assert "renamed-symbol" in answer.tags
    assert answer.suspect_commit == "b" * 10


@pytest.mark.parametrize(
    "written", [None, {("shop/prices.py", 1): OLD, ("shop/views.py", 5): NEW}, {**LATER, **{
        ("shop/prices.py", 1): OLD}}],
)  # fmt: skip
def test_likeness_alone_mends_nothing(written):
    answer, _ = explained(RENAMED, PRICES, written)
    assert not answer.has_fix
    assert "neither the spelling nor a change says" in answer.handover.look_at[0]


def test_two_candidates_mend_nothing():
    files = {
        **PRICES,
        "shop/prices.py": "def order_total(a):\n    pass\n\n\ndef total_order(a):\n    pass\n",
    }
    both = (*NEW, "def total_of_order(lines):")
    written = {("shop/prices.py", 1): both, ("shop/prices.py", 5): both}
    answer, _ = explained(RENAMED, files, written)
    assert not answer.has_fix
    assert "nothing decides between it and others" in answer.handover.look_at[0]


def test_the_change_that_replaced_the_name_says_which_one_is_meant():
    files = {
        **PRICES,
        "shop/prices.py": "def total_of_orders(a):\n    pass\n\n\ndef order_total(a):\n    pass\n",
    }
    written = {
        ("shop/prices.py", 1): OLD,
        ("shop/prices.py", 5): (*NEW, "def total_of_order(a):"),
        ("shop/views.py", 5): OLD,
    }
    answer, _ = explained(RENAMED, files, written)
    assert "of 2026-02-01 replaced `total_of_order` by `order_total`" in answer.root_cause
    assert "prices.order_total(" in mended(answer, files)["shop/views.py"]


def test_other_arguments_mend_nothing():
    files = {**PRICES, "shop/prices.py": "def order_total(lines, tax, rebate):\n    pass\n"}
    answer, _ = explained(RENAMED, files, LATER)
    assert not answer.has_fix
    assert "takes other arguments" in answer.handover.look_at[0]


def test_a_misspelt_method_of_a_known_class():
    files = {
        "app/order.rb": "class Order\n  def receive_payment(amount)\n    amount\n  end\nend\n",
        "app/pay.rb": "class Pay\n  def perform(order)\n    order.recieve_payment(3)\n  end\nend\n",
    }
    message = "undefined method 'recieve_payment' for an instance of Order"
    answer, _ = explained(case("NoMethodError", message, frame("app/pay.rb", 3, "perform")), files)
    assert "order.receive_payment(3)" in mended(answer, files)["app/pay.rb"]


def test_a_renamed_keyword_of_a_call_over_several_lines():
    files = {
        "shop/mail.py": 'def send(to, subject, text_body=""):\n    pass\n',
        "shop/views.py": (
            "from shop.mail import send\n\n\n"
            "def show():\n    send(\n        'a',\n        'b',\n"
            "        body_text='x',\n    )\n\n\n"
            "def other():\n    send('a', 'b', body_text='body_text=')\n"
        ),
    }
    message = "send() got an unexpected keyword argument 'body_text'"
    before = (*NEW, 'def send(to, subject, body_text=""):')
    written = {("shop/mail.py", 1): before, ("shop/views.py", 5): OLD}
    failing = case("TypeError", message, frame("shop/views.py", 5, "show"))
    answer, _ = explained(failing, files, written)
    text = mended(answer, files)["shop/views.py"]
    assert "        text_body='x',\n" in text
    assert "send('a', 'b', text_body='body_text=')" in text
    assert not explained(failing, files)[0].has_fix


def test_fields_and_nested_names_are_no_members_of_a_module():
    prices = "class Quote:\n    tax_of_orders: int\n\n\ndef order_tax(o):\n    return 1\n"
    files = {"p.py": prices, "v.py": "import p\n\n\ndef a(o):\n    return p.tax_of_order(o)\n"}
    message = "module 'p' has no attribute 'tax_of_order'"
    before = (*NEW, "def tax_of_order(o):")
    written = {("p.py", 5): before, ("p.py", 2): NEW, ("v.py", 5): OLD}
    answer, _ = explained(case("AttributeError", message, frame("v.py", 5, "a")), files, written)
    assert "p.order_tax(o)" in mended(answer, files)["v.py"]
