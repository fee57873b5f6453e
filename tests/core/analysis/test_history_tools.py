"""Tests of blame, show_commit and history: bounded, one row a commit, nothing that hides."""

from datetime import UTC, datetime

from small_repo import SmallRepo, case, frame

from nightwatch_core.analysis import tools
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import ChangedFile, CommitDiff, LoggedCommit
from nightwatch_core.models.conversation import ToolCall

FILES = {"app/order.py": "class Order:\n    def total(self):\n        return 1\n"}
CASE = case("KeyError", "'a'", frame("app/order.py", 3, "total"))
AT = datetime(2026, 2, 1, tzinfo=UTC)


def commit(sha="a" * 40, subject="Change", files=(), message="", pull=0):
    logged = LoggedCommit(sha=sha, author="Ann", at=AT, subject=subject, pull=pull)
    return CommitDiff(commit=logged, message=message or subject, files=files, changed=len(files))


def run(tool, repo=None, **given):
    return tools.run(ToolCall(id="1", name=tool, arguments=given), repo or REPO, CASE, ())


class Told(SmallRepo):
    """A repository that answers with what it was told."""

    def __init__(self, diff=None, log=(), files=FILES, written=None):
        super().__init__(files, written)
        self.diff, self.log, self.asked = diff, log, []

    def show_commit(self, sha, path=""):
        self.asked.append((sha, path))
        return self.diff

    def history(self, path="", text="", limit=20):
        self.asked.append((path, text))
        return self.log[:limit]


REPO = Told()
OLD, NEW = ("b" * 40, "2026-01-02"), ("c" * 40, "2026-02-01")
WRITTEN = {("app/order.py", 1): OLD, ("app/order.py", 2): NEW, ("app/order.py", 3): OLD}


def test_a_range_is_blamed_by_commits_the_newest_first():
    result = run("blame", Told(written=WRITTEN), path="app/order.py", start=1, end=3)
    assert result.text == (
        "app/order.py:2 cccccccccc 2026-02-01 Ann: Change\n"
        "app/order.py lines 1, 3 bbbbbbbbbb 2026-01-02 Ann: Change"
    )
    assert sorted(one.line for one in result.value.blames) == [1, 2, 3]


def test_one_line_is_blamed_with_its_text_and_may_be_called_line():
    for given in ({"start": 2}, {"line": 2}):
        text = run("blame", Told(written=WRITTEN), path="app/order.py", **given).text
        assert text == "app/order.py:2 cccccccccc 2026-02-01 Ann: Change\n    def total(self):"


def test_a_commit_is_shown_frames_files_first_and_bulk_without_its_changes():
    files = (
        ChangedFile(path="a.lock", added=900, diff="+x"),
        ChangedFile(path="README.md", added=1, diff="+words"),
        ChangedFile(path="app/order.py", added=1, removed=1, diff="@@ -1 +1 @@\n-old\n+new"),
        ChangedFile(path="app/b.py", old_path="app/a.py", diff=""),
    )
    told = Told(commit(files=files, message="Change\n\nBecause.", pull=12))
    assert run("show_commit", told, id="a" * 40).text == (
        "aaaaaaaaaa 2026-02-01 Ann: Change (#12)\nBecause.\n4 files changed:\n"
        "--- app/order.py +1 -1\n@@ -1 +1 @@\n-old\n+new\n--- README.md +1 -0\n+words\n"
        "app/b.py (was app/a.py) +0 -0\na.lock +900 -0"
    )
    one = Told(commit(files=files[2:3], message="* one of many", subject="Squashed"))
    assert run("show_commit", one, id="a" * 40, path="app").text == (
        "aaaaaaaaaa 2026-02-01 Ann: Squashed\n1 file changed below app:\n"
        "--- app/order.py +1 -1\n@@ -1 +1 @@\n-old\n+new"
    )


def test_the_traces_file_is_shown_first_though_a_large_commit_lists_it_late():
    class Large(Told):
        def show_commit(self, sha, path=""):
            late = ChangedFile(path="app/order.py", added=1, diff="+late")
            early = tuple(ChangedFile(path=f"a/{n}.py", diff=f"+{n}") for n in range(50))
            told = commit(files=(late,) if path == "app/order.py" else early)
            return told.model_copy(update={"changed": 90})

    rows = run("show_commit", Large(), id="a" * 40).text.split("\n")
    assert rows[1:4] == ["90 files changed:", "--- app/order.py +1 -0", "+late"]


def test_a_large_commit_is_cut_at_its_end_and_says_so():
    files = tuple(
        ChangedFile(path=f"app/f{n}.py", added=300, diff="+x = 1  # and so on\n" * 300)
        for n in range(60)
    )
    text = run("show_commit", Told(commit(files=files)), id="a" * 40).text
    assert len(text) < tools.LIMITS["show_commit"] + 300
    assert "[... 40 more files, ask with path ...]" in text
    assert "more lines: show_commit aaaaaaaaaa, path app/f0.py ...]" in text


def test_hostile_commits_cannot_hide_or_begin_a_line():
    files = (ChangedFile(path="a\nb.py", added=1, diff="+x\u202e\x1b[2J"),)
    text = run("show_commit", Told(commit(subject="a\n\x1b[31mb", files=files)), id="a" * 40).text
    assert not any(sign in text for sign in "\u202e\x1b")
    assert "a\\nb.py +1 -0" in text


def test_history_is_one_row_a_commit():
    log = tuple(commit(sha=f"{n:040x}", subject=f"Change {n}").commit for n in range(30))
    told = Told(log=log)
    result = run("history", told, path="app/order.py")
    assert result.text.split("\n")[0] == "0000000000 2026-02-01 Ann: Change 0"
    assert result.text.endswith("[... there may be older ones ...]")
    assert len(result.text.split("\n")) == 12 + 1
    run("history", told, symbol="total(")
    run("history", told, text="--all", path="gone.py")
    assert told.asked == [("app/order.py", ""), ("", "total("), ("gone.py", "--all")]


def test_histories_that_cannot_be_told_are_said():
    class Without(SmallRepo):
        def history(self, path="", text="", limit=20):
            raise GiveUp("past texts cannot be searched here")

    result = run("history", Without(FILES), symbol="total")
    assert result.is_error
    assert "past texts cannot be searched here. Use blame" in result.text
    assert (
        run("history", symbol="total").text == "No commit is known that added or removed 'total'."
    )
    assert run("history", symbol="a\nb").is_error
    assert run("history", path="../x").is_error
