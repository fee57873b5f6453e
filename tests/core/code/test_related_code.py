"""What is like the failing code in other places."""

import pytest
from analysis_shapes import case
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import Lookup
from nightwatch_core.code.diffs import file_diffs
from nightwatch_core.code.limits import CALLERS, OTHER_USES
from nightwatch_core.code.related_code import callers, other_uses, reach_of, sibling_methods
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.code import Commit, SearchHit
from nightwatch_core.models.errors import ExceptionLink, Frame, Trace
from nightwatch_core.traces.placing import PathIndex


def lookup(files: dict[str, str]) -> Lookup:
    code = MemoryCode(files)
    return Lookup(PathIndex(files), code.read_file, code.search)


@pytest.mark.parametrize(
    ("failing", "line", "files"),
    [
        (
            "app/a.py",
            3,
            {
                "app/a.py": "class Fax(Channel):\n    def deliver(self, x):\n        x.send()\n",
                "app/b.py": "class Mail(Channel):\n    def deliver(self, x):\n        pass\n",
                "app/c.py": "class Other(Thing):\n    def deliver(self, x):\n        pass\n",
            },
        ),
        (
            "app/a.rb",
            3,
            {
                "app/a.rb": "class Fax < Channel\n  def deliver(x)\n    x.push\n  end\nend\n",
                "app/b.rb": "class Mail < Channel\n  def deliver(x)\n    x&.push\n  end\nend\n",
            },
        ),
        (
            "a/Fax.java",
            3,
            {
                "a/Fax.java": "class Fax extends Channel {\n  void deliver(X x) {\n  x.go();\n}}\n",
                "a/Mail.java": "class Mail extends Channel {\n  void deliver(X x) {\n  }\n}\n",
            },
        ),
    ],
)
def test_the_method_of_a_sibling_class(failing: str, line: int, files: dict[str, str]) -> None:
    (one,) = sibling_methods(failing, line, lookup(files), set())
    assert one.path == tuple(files)[1]
    assert (one.kind, one.start) == ("sibling", 2)
    assert one.because == "deliver of a sibling class"


def test_further_siblings_are_named() -> None:
    text = "class {n}(Channel):\n    def deliver(self, x):\n        pass\n"
    files = {f"app/c{n}.py": text.format(n=f"Kind{n}") for n in range(6)}
    (one,) = sibling_methods("app/c0.py", 3, lookup(files), set())
    assert one.because == ("deliver of a sibling class; also app/c2.py:2, app/c3.py:2, app/c4.py:2")


@pytest.mark.parametrize(
    "text",
    [
        "class A(Channel):\n    def __init__(self):\n        pass\n",
        "class A:\n    def deliver(self):\n        pass\n",
        "def deliver(self):\n    x = 1\n    pass\n",
        "",
    ],
)
def test_methods_that_every_class_has_have_no_siblings(text: str) -> None:
    other = "class B(Channel):\n    def __init__(self):\n        pass\n"
    assert sibling_methods("a.py", 3, lookup({"a.py": text, "b.py": other}), set()) == ()


FILES = {
    "a.py": "import os\n\ndef f(elem):\n    x = elem.tag\n    return elem.tag.upper(os.sep)\n",
    "b.py": "def g(elem):\n    if elem.tag is not None:\n        go(elem.tags)\n",
    "tests/test_b.py": "elem.tag\n",
}


def test_other_lines_that_read_the_same() -> None:
    assert other_uses("a.py", 5, lookup(FILES), {("a.py", 5)}) == (
        SearchHit(path="a.py", line=4, text="    x = elem.tag"),
        SearchHit(path="b.py", line=2, text="    if elem.tag is not None:"),
    )
    seen = {("a.py", 4), ("a.py", 5), ("b.py", 2)}
    assert other_uses("a.py", 5, lookup(FILES), seen) == ()


def test_a_member_of_the_object_itself_is_read_in_its_file_only() -> None:
    files = {
        "a.py": "class A:\n    def f(self):\n        self.port = 1\n\n    def g(self):\n"
        "        self.port.stop()\n",
        "b.py": "class B:\n    def f(self):\n        self.port = 2\n",
    }
    hits = other_uses("a.py", 6, lookup(files), {("a.py", 6)})
    assert [(hit.path, hit.line) for hit in hits] == [("a.py", 3)]


def test_what_is_read_everywhere_says_nothing_and_a_few_are_told() -> None:
    many = FILES | {f"c{n}.py": "y = elem.tag\n" for n in range(90)}
    assert other_uses("a.py", 5, lookup(many), {("a.py", 5)}) == ()
    some = FILES | {f"c{n}.py": "y = elem.tag\n" for n in range(9)}
    assert len(other_uses("a.py", 5, lookup(some), {("a.py", 5)})) == OTHER_USES


TAGS = "def get_tags(rules):\n    return rules[0]\n"
CALLED = {
    "app/tags.py": TAGS,
    "app/views.py": "from app.tags import get_tags\n\n\ndef show():\n    return get_tags(RULES)\n",
    "tests/test_tags.py": "def test_it():\n    get_tags([])\n",
}


def called_by(*frames: Frame, files: dict[str, str] = CALLED) -> list[str]:
    link = ExceptionLink(error_class="E", message="it broke", frames=frames)
    one = case().model_copy(update={"trace": Trace(language="python", links=(link,))})
    return [f"{hit.path}:{hit.line}" for hit in callers(one, lookup(files), set())]


def frame(path: str, line: int, in_app: bool = True) -> Frame:
    return Frame(path=path, repo_path=path if in_app else "", line=line, in_app=in_app)


def test_who_calls_the_function_that_a_trace_begins_in() -> None:
    assert called_by(frame("app/tags.py", 2)) == ["app/views.py:5"]
    assert called_by(frame("app/tags.py", 2), frame("lib/web.py", 9, in_app=False)) == []


def test_of_several_functions_of_that_name_nobody_knows_which_is_called() -> None:
    assert called_by(frame("app/tags.py", 2), files=CALLED | {"app/old.py": TAGS}) == []


def test_few_callers_are_told() -> None:
    many = CALLED | {f"app/v{n}.py": "x = get_tags(y)\n" for n in range(20)}
    assert len(called_by(frame("app/tags.py", 2), files=many)) == CALLERS


# What a change reaches beyond itself.

CHANGED_FILES = {
    "shop/cart.py": "def total(lines):\n    return sum(line.list_price for line in lines)\n"
    "\n\ndef show_cart(lines):\n    return total_text(lines, customer=lines.owner)\n",
    "shop/pay.py": "from shop.cart import show_cart\n\n\ndef pay(lines):\n"
    "    return show_cart(lines), lines[0].list_price\n",
    "tests/test_cart.py": "from shop.cart import show_cart\n",
}


def reached(old, new, cited=(), files=CHANGED_FILES):
    code = MemoryCode(files, Commit(repository="shop/shop", sha="c" * 40))
    changes = file_diffs((Edit(path="shop/cart.py", old=old, new=new),), code.read_file)
    return reach_of(changes, cited, code.read_file, code.search)


def test_who_uses_a_changed_function_is_told_without_its_tests():
    (users,) = reached("customer=lines.owner", "account=lines.owner").users
    assert (users.text, users.places) == ("show_cart", ("shop/pay.py:1", "shop/pay.py:5"))


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
