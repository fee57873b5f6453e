"""What is like the failing code in other places."""

from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.related_code import reach_of
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit

TABLES = tables_of(__file__)

# What a change reaches beyond itself.

CHANGED_FILES = TABLES["CHANGED_FILES"]


def reached(old, new, cited=(), files=CHANGED_FILES):
    code = MemoryCode(files, Commit(repository="shop/shop", sha="c" * 40))
    changes = file_diffs((Edit(path="shop/cart.py", old=old, new=new),), code.read_file)
    return reach_of(changes, cited, code.read_file, code.search)


def test_who_uses_a_changed_function_is_told_without_its_tests():
    (users,) = reached("customer=lines.owner", "account=lines.owner").users
    assert (users.text, users.places) == ("show_cart", ("shop/pay.py:1", "shop/pay.py:5"))
    other = {"shop/basket.py": "class Basket:\n    def show_cart(self):\n        return 1\n"}
    (more,) = reached(
        "customer=lines.owner", "account=lines.owner", (), CHANGED_FILES | other
    ).users
    assert (more.places, users.defined, more.defined) == (users.places, 1, 2)


def test_what_it_takes_out_and_what_stands_elsewhere_is_a_sibling():
    (same,) = reached("line.list_price", "line.price").unmended
    assert (same.text, same.places) == (".list_price", ("shop/pay.py:5",))
    assert reached("customer=lines.owner", "account=lines.owner").unmended == ()


def test_the_failing_line_as_it_stands_in_another_file_is_a_sibling_and_a_crowd_is_none():
    line = "return rates[code.upper()]"
    for copies, siblings in ((1, 0), (3, 1), (40, 0)):
        others = {f"shop/c{n}.py": f"def of(code):\n    {line}\n" for n in range(copies)}
        old, own = "(lines):\n    return ", (("shop/c0.py", line),)
        found = reached(old, f"{old}+", own, CHANGED_FILES | others).unmended
        assert [one.text for one in found if one.text == line] == [line] * siblings
