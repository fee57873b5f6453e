import pytest
from core.code.outside_paths import AGENTS, CI, ESCAPES, ORDINARY, PACKAGES, STARTS, TOO_COMMON

from nightwatch_core.adapters.git.branch import why_unsafe
from nightwatch_core.code.edit_policy import refusal

PROTECTED = {"ci": CI, "packages": PACKAGES, "starts": STARTS, "agents": AGENTS}


@pytest.mark.parametrize("kind", PROTECTED)
def test_what_is_executed_or_obeyed_is_protected_in_any_case_and_part(kind: str) -> None:
    rows = [form(path) for path in PROTECTED[kind] for form in (str, str.upper, str.lower)]
    assert [path for path in rows if not refusal(path, is_new=True)] == []


def test_no_spelling_leaves_the_tree_or_reaches_gits_own_files() -> None:
    assert [path for path in ESCAPES if not refusal(path, is_new=True)] == []


def test_what_leaves_the_tree_is_refused_once_more_where_it_would_be_written() -> None:
    leaving = [path for path in ESCAPES if ".." in path or ".git/" in path.lower()]
    assert [path for path in leaving if not why_unsafe(path)] == []


def test_ordinary_files_of_real_projects_may_be_mended() -> None:
    assert len(ORDINARY) >= 100
    assert [(path, refusal(path)) for path in (*ORDINARY, *TOO_COMMON) if refusal(path)] == []
