"""What is like the failing code in other places."""

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.definition_lookup import Lookup
from nightwatch_core.code.elsewhere import other_uses, sibling_methods
from nightwatch_core.code.limits import OTHER_USES
from nightwatch_core.models.code import SearchHit
from nightwatch_core.traces.path_index import PathIndex


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
