""""""

import pytest
from core.code.outside_paths import PATHS
from hypothesis import given
from hypothesis import strategies as st
from tables import tables_of

from nightwatch_core.adapters.git.branch import why_unsafe
from nightwatch_core.code import edit_policy
from nightwatch_core.code.edit_policy import refusal, refused
from nightwatch_core.models.proposals import FileChange

TABLES = tables_of(__file__)

OTHERS = TABLES["OTHERS"]
PROTECTED = [*PATHS["ci"], *PATHS["packages"], *PATHS["starts"], *PATHS["agents"], *OTHERS.split()]
TRAVERSALS = (
    "%252e%252e/x", "\u2025/x.rb", "\u2024\u2024/x", "\u2026/x", "Gem\u00adfile", "\ufeffGemfile",
    "Gemfile\ufe0f", "Gemfile\u034f", "\uff27emfile", "a\u00a0b.rb", "a\u3000b.rb", "a\ud800.rb",
    "$HOME/x.rb", "${HOME}/x", "$(id).rb", "file:///x.rb", "https://x/y.rb", *PATHS["escapes"],
)  # fmt: skip


def test_what_runs_decides_or_instructs_is_protected():
    assert [path for path in PROTECTED if not refusal(path)] == []


def test_no_protected_path_is_let_through_in_another_case():
    spelt = [s for path in PROTECTED for s in (path.upper(), path.lower(), path.title())]
    assert [path for path in spelt if not refusal(path)] == []


def test_a_path_that_two_programs_may_read_differently_is_refused():
    assert [path for path in TRAVERSALS if not refusal(path)] == []


def test_what_leaves_the_tree_is_refused_once_more_where_it_would_be_written():
    leaving = [p for p in PATHS["escapes"] if ".." in p or ".git/" in p.lower()]
    assert [path for path in leaving if not why_unsafe(path)] == []


def test_ordinary_files_of_real_projects_may_be_mended():
    ordinary = (*PATHS["ordinary"], *PATHS["too_common"])
    assert [(path, refusal(path)) for path in ordinary if refusal(path)] == []


@given(st.text(max_size=60))
def test_any_text_is_judged_and_what_passes_stays_inside(path):
    why = refusal(path)
    assert isinstance(why, str)
    if not why:
        assert ".." not in path.split("/")
        assert not path.startswith("/")
        assert path.isprintable()


def test_modules_of_a_package_are_no_scripts():
    assert refusal("shop/bin/worker.py")
    assert refusal("shop/bin/worker.py", ("shop/bin/__init__.py",)) == ""
    assert refusal("bin/worker.py", ("bin/__init__.py",))


def changed(path="app/a.rb", text="x = 1\n"):
    return FileChange(path=path, text=text)


def none_before(path):
    return None


def test_a_small_change_is_allowed():
    assert refused((changed(),), none_before) == ""


def test_at_most_five_files():
    files = tuple(changed(f"app/{n}.rb") for n in range(6))
    assert refused(files[:5], none_before) == ""
    assert "6 files, at most 5" in refused(files, none_before)


def test_at_most_400_lines_counted_over_all_files():
    half, more = "x\n" * 200, "x\n" * 201
    assert refused((changed(text=half), changed("app/b.rb", half)), none_before) == ""
    two = (changed(text=half), changed("app/b.rb", more))
    assert "401 changed lines" in refused(two, none_before)


def test_distant_edits_count_as_themselves_not_as_what_lies_between():
    rows = [f"line {n}" for n in range(1_000)]
    before = "\n".join(rows)
    rows[3], rows[990] = "first", "second"
    assert refused((changed(text="\n".join(rows)),), {"app/a.rb": before}.get) == ""


def test_new_bytes_are_bounded_in_new_files_and_in_old_ones():
    long_line = "x" * (edit_policy.MAX_BYTES + 1)
    assert "bytes" in refused((changed(text=long_line),), none_before)
    assert "bytes" in refused((changed(text=f"a\n{long_line}"),), {"app/a.rb": "a\nb"}.get)
    assert refused((changed(text=f"{long_line}\nb"),), {"app/a.rb": f"{long_line}\na"}.get) == ""


def test_a_huge_rewrite_is_judged_quickly():
    before, after = "\n".join(map(str, range(60_000))), "\n".join(map(str, range(60_000, 1, -1)))
    assert "changed lines" in refused((changed(text=after),), {"app/a.rb": before}.get)


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b[2K", "\U000e0041"])
def test_characters_that_no_reviewer_sees_are_not_added(hidden):
    assert "invisible characters" in refused((changed(text=f"if admin{hidden}:\n"),), none_before)
    before = {"app/a.rb": f"# {hidden}\nx = 1\n"}
    assert refused((changed(text=f"# {hidden}\nx = 2\n"),), before.get) == ""


@pytest.mark.parametrize("path", ["shop/w\u043erk.py", "\u0430pp/work.py", "shop/c\u03b1rt.py"])
def test_letters_that_look_alike_are_in_no_name(path):
    assert "look alike" in refusal(path)
    assert not refusal("shop/\u0440\u0430\u0431\u043e\u0442\u0430.txt")
