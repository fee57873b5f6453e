import pytest

from nightwatch_core.traces.placing import VENDORED_FOLDERS, PathIndex, common_tail, is_vendored


def test_files_are_found_by_name_and_by_whole_segments() -> None:
    index = PathIndex(("app/a.py", "lib/app/a.py", "myapp/a.py", "b.py"))
    assert index.named("a.py") == ("app/a.py", "lib/app/a.py", "myapp/a.py")
    assert index.ending("app/a.py") == ("app/a.py", "lib/app/a.py")
    assert index.ending("nowhere.py") == ()
    assert index.ending("") == ()
    assert "b.py" in index
    assert len(index) == 4


@pytest.mark.parametrize("folder", sorted(VENDORED_FOLDERS))
def test_vendored_files_are_not_the_applications(folder: str) -> None:
    index = PathIndex((f"{folder}/x/a.py", f"lib/{folder}/a.py", f"lib/{folder}.py"))
    assert index.named("a.py") == ()
    assert f"lib/{folder}.py" in index
    assert is_vendored(f"{folder}/a.py")


def test_common_tails_count_whole_segments() -> None:
    assert common_tail("a/b/c.py", "x/b/c.py") == 2
    assert common_tail("a/c.py", "a/xc.py") == 0
    assert common_tail("", "") == 0
    assert common_tail("/srv/a.py", "/srv/a.py") == 2


def test_the_nearest_files_share_the_longest_end() -> None:
    index = PathIndex(("a/b/c.py", "x/b/c.py", "c.py", "d/e.py"))
    assert index.nearest("/srv/a/b/c.py") == (("a/b/c.py",), 3)
    assert index.nearest("/b/c.py") == (("a/b/c.py", "x/b/c.py"), 2)
    assert index.nearest("/other/c.py") == (("a/b/c.py", "c.py", "x/b/c.py"), 1)
    assert index.nearest("/c.py") == (("a/b/c.py", "c.py", "x/b/c.py"), 1)
    assert index.nearest("e.py") == (("d/e.py",), 1)
    assert index.nearest("gone.py") == ((), 0)
