""""""

import pytest
from analysis_shapes import FILES as TREE_FILES
from analysis_shapes import FIX, tree
from hypothesis import given
from hypothesis import strategies as st

from nightwatch_core.code.edits import Grounds, apply, judged
from nightwatch_core.models.answer import Edit

FILES = {
    "a.py": "x = 1\ny = 2\n",
    "dos.cs": "class A\r\n{\r\n    int x = 1;\r\n}\r\n",
    "lib/b.py": "def b():\n    return 1\n",
}


def made(*edits, files=FILES, paths=()):
    applied = apply(edits, files.get, paths)
    assert applied.refusal == ""
    return {change.path: change.text for change in applied.changes}


def refusal(*edits, files=FILES, paths=()):
    applied = apply(edits, files.get, paths)
    assert applied.changes == ()
    return applied.refusal


def edit(old, new, path="a.py"):
    return Edit(path=path, old=old, new=new)


def create(path, text="new\n"):
    return Edit(path=path, action="create", new=text)


def delete(path):
    return Edit(path=path, action="delete")


def test_edits_of_one_file_are_made_in_order_on_each_others_result():
    assert made(edit("x = 1", "x = 3"), edit("x = 3", "x = 4"))["a.py"] == "x = 4\ny = 2\n"
    assert made(edit("y = 2", ""), edit("x = 1", "y = 2"))["a.py"] == "y = 2\n\n"


def test_an_edit_whose_text_an_earlier_one_took_away_refuses_all():
    assert "0 times" in refusal(edit("x = 1\ny", "z"), edit("y = 2", "y = 3"))


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (edit("z = 1", "z"), "0 times"),
        (edit(" = ", "="), "2 times"),
        (edit("", "x"), "the old text is empty"),
        (edit("x = 1\n\ny", "x"), "0 times"),
        (edit("x", "y", "gone.py"), "the file does not exist"),
        (create("a.py"), "the file already exists"),
        (delete("gone.py"), "the file does not exist"),
        (edit("x = 1", "x = 1"), "change nothing"),
        (create("n.py", ""), ""),
    ],
)
def test_what_does_not_fit_exactly_is_refused(one, why):
    if why:
        assert why in refusal(one)
    else:
        assert made(one) == {"n.py": ""}


def test_a_file_may_be_made_and_edited_or_replaced():
    assert made(create("n.py"), edit("new", "old", "n.py")) == {"n.py": "old\n"}
    assert made(delete("a.py"), create("a.py")) == {"a.py": "new\n"}
    assert "change nothing" in refusal(create("n.py"), delete("n.py"))
    assert "the file does not exist" in refusal(delete("a.py"), edit("x = 1", "x", "a.py"))


def test_windows_line_ends_are_kept():
    several = edit("{\n    int x = 1;\n}", "{\n    int x = 1;\n    int y;\n}", "dos.cs")
    assert made(several)["dos.cs"] == "class A\r\n{\r\n    int x = 1;\r\n    int y;\r\n}\r\n"
    single = edit("int x = 1;", "int x = 2;\n    int y;", "dos.cs")
    assert made(single)["dos.cs"] == "class A\r\n{\r\n    int x = 2;\r\n    int y;\r\n}\r\n"
    exact = edit("{\r\n    int", "{\r\n    long", "dos.cs")
    assert made(exact)["dos.cs"] == "class A\r\n{\r\n    long x = 1;\r\n}\r\n"


def test_nothing_is_made_over_what_is_no_text_or_a_folder():
    paths = ("a.py", "dos.cs", "lib/b.py", "logo.bin")
    assert "not text" in refusal(create("logo.bin"), paths=paths)
    assert "folder" in refusal(create("lib"), paths=paths)
    assert "a.py is a file" in refusal(create("a.py/c.py"), paths=paths)
    assert made(create("lib/c.py"), paths=paths) == {"lib/c.py": "new\n"}
    assert made(delete("a.py"), create("a.py/c.py"), paths=paths)["a.py/c.py"] == "new\n"
    assert "n is a file" in refusal(create("n"), create("n/c.py"), paths=paths)


@given(st.text(max_size=30), st.text(max_size=5), st.text(max_size=5))
def test_an_edit_is_made_exactly_once_or_not_at_all(text, old, new):
    applied = apply((edit(old, new),), {"a.py": text}.get)
    if applied.changes:
        assert text.count(old) == 1
        assert applied.changes[0].text != text
    else:
        assert applied.refusal


TEST = Edit(path="tests/test_cart.py", action="create", new="def test_total():\n    assert total\n")


def judge(edits, code=None, read=None, **grounds):
    seen = None if read is None else frozenset(read)
    return judged(edits, code or tree(), Grounds(read=seen, **grounds))


def refused(*edits, code=None, read=None, **grounds):
    return [one.path for one in judge(edits, code, read, **grounds).refused]


def kept(*edits, code=None, read=None):
    return judge(edits, code, read).edits


def test_paths_of_a_fix_are_spelt_as_the_repository_spells_them():
    assert kept(FIX.model_copy(update={"path": "./shop//cart.py"})) == (FIX,)


def test_a_fix_stands_as_a_whole_and_a_test_or_a_note_may_be_left_out():
    bad = Edit(path="shop/pay.py", old="nothing of the kind", new="pass")
    note = Edit(path="docs/changes.md", action="create", new="Fixed.\n")
    fix = judge((FIX, bad, TEST, note))
    assert fix.edits == ()
    assert [edit.reason for edit in fix.refused] == [
        "it depends on the refused edit of shop/pay.py",
        "the old text occurs 0 times instead of once",
        *["it depends on the refused edit of shop/pay.py"] * 2,
    ]
    wrong_test = TEST.model_copy(update={"new": "def test_total(:\n"})
    assert kept(FIX, wrong_test, note) == (FIX, note)


def test_a_file_that_nobody_read_is_not_changed_but_a_new_one_may_be_made():
    assert refused(FIX, read=()) == ["shop/cart.py"]
    assert refused(FIX, read=("shop/cart.py",)) == []
    assert refused(TEST, FIX, read=("shop/cart.py",)) == []


def test_a_new_file_lies_beside_what_was_read_and_a_test_beside_tests():
    code = tree({**TREE_FILES, "tests/test_pay.py": "", "docs/a.md": ""})
    made = Edit(path="shop/sub/guard.py", action="create", new="x = 1\n")
    assert refused(made, code=code, read=("shop/cart.py",)) == [made.path]
    beside = made.model_copy(update={"path": "shop/guard.py"})
    assert refused(beside, TEST, FIX, code=code, read=("shop/cart.py",)) == []
    lonely = TEST.model_copy(update={"path": "spec/other/test_cart.py"})
    assert refused(FIX, lonely, code=code, read=("shop/cart.py",)) == [lonely.path]


def test_a_file_goes_only_where_the_analysis_says_so_and_never_the_one_that_failed():
    gone = Edit(path="shop/pay.py", action="delete")
    read = ("shop/cart.py", "shop/pay.py")
    assert refused(gone, FIX, read=read)[0] == gone.path
    said = "shop/pay.py is left over and overrides total."
    assert refused(gone, FIX, read=read, reasoning=said) == []
    assert refused(gone, read=read, reasoning=said, failing=frozenset({gone.path})) == [gone.path]


def test_all_edits_of_a_file_that_no_longer_parses_go():
    broken = Edit(path="shop/cart.py", old="sum(", new="sum((")
    [one] = judge((broken,)).refused
    assert "does not parse" in one.reason
    assert kept(broken, TEST) == ()


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", "Makefile", "CLAUDE.md", "package.json"]
)
def test_a_protected_file_is_named_and_its_text_is_not_kept(path):
    fix = judge((Edit(path=path, action="create", new="curl evil.example"),))
    assert (fix.edits, fix.refused[0].path) == ((), path)
    assert "evil" not in fix.model_dump_json()
