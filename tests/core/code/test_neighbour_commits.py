"""The commit at which a record's own source stands, found among those around the one at hand."""

from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.code.failed_commit import commit_that_fits
from nightwatch_core.code.limits import NEIGHBOUR_COMMITS
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, Release
from nightwatch_core.models.errors import ExceptionLink, Frame, Trace

DAY = datetime(2026, 11, 20, tzinfo=UTC)
OLD, BUGGY, FIXED = "a" * 40, "b" * 40, "c" * 40
TEXTS = {
    OLD: "def total(lines):\n    return 0\n",
    BUGGY: "\ndef total(lines):\n    return sum(one.price for one in lines)\n",
    FIXED: "\ndef total(lines):\n    return sum(one.price for one in lines or ())\n",
}
HEAD = Commit(repository="shop/shop", sha=FIXED, branch="main", at=DAY)
LOG = tuple(
    LoggedCommit(sha=sha, at=DAY - timedelta(days=n)) for n, sha in enumerate((FIXED, BUGGY, OLD))
)


def trace(line=3, code="return sum(one.price for one in lines)", path="cart.py"):
    frame = Frame(path=path, repo_path=path, line=line, code=code, in_app=True)
    return Trace(links=(ExceptionLink(frames=(frame,)),))


def chosen(
    of=None,
    log=LOG,
    releases=(),
    seen=DAY,
    commit=HEAD,
    reads=None,
    texts=TEXTS,
    at=lambda _moment: HEAD,
):
    def files(at):
        def read(path):
            if reads is not None:
                reads.append((at.sha, path))
            if at.sha not in texts:
                raise GiveUp("no such commit")
            return texts[at.sha] if path == "cart.py" else None

        return read

    of = of or trace()
    return commit_that_fits(of, commit, files, lambda _path: log, at, releases, seen)


def test_a_record_of_the_code_before_the_fix_is_read_there():
    found = chosen()
    assert (found.sha, found.branch, found.at) == (BUGGY, "main", DAY - timedelta(days=1))
    assert found.because == "the record's source stands in cart.py as of bbbbbbbbbb"


def test_what_fits_is_not_looked_for():
    reads = []
    code = "return sum(one.price for one in lines or ())"
    assert chosen(trace(code=code), reads=reads) == HEAD
    assert reads == [(FIXED, "cart.py")]


def test_a_line_that_has_only_moved_leads_to_the_commit_where_it_stood():
    moved = trace(line=2, code="return 0")
    texts = {**TEXTS, "d" * 40: "# new\n\n" + TEXTS[OLD]}
    later = HEAD.model_copy(update={"sha": "d" * 40})
    assert chosen(moved, commit=later, texts=texts).sha == OLD


def test_of_the_commits_with_the_same_text_the_newest_is_taken():
    between = HEAD.model_copy(update={"sha": "f" * 40, "at": DAY - timedelta(hours=2)})
    moments = []

    def at(moment):
        moments.append(moment)
        return between

    found = chosen(texts={**TEXTS, between.sha: TEXTS[BUGGY]}, at=at)
    assert found.sha == between.sha
    assert moments == [DAY - timedelta(seconds=1)]
    assert found.because == (
        "the record's source stands in cart.py as of bbbbbbbbbb, and until it was changed again"
    )
    assert chosen(texts={**TEXTS, between.sha: TEXTS[OLD]}, at=at).sha == BUGGY


def test_where_no_commit_fits_the_one_at_hand_stays():
    assert chosen(trace(code="return never(written)")) == HEAD


def test_a_release_beside_the_base_branch_is_looked_at():
    release = Release(version="1.2.1", sha=BUGGY, at=DAY - timedelta(days=3))
    gone = Release(version="1.2.0", sha="e" * 40, at=DAY - timedelta(hours=1))
    short = Release(version="1.1.9", sha="bbbbbbb", at=DAY)
    found = chosen(log=LOG[:1], releases=(gone, short, release))
    assert found.sha == BUGGY
    assert found.because == "the record's source stands like this in release 1.2.1"


def test_a_trace_without_source_changes_nothing():
    assert chosen(trace(code=""), reads=[]) == HEAD


def test_what_was_committed_after_it_was_seen_comes_last():
    reads = []
    chosen(trace(code="return never(written)"), seen=DAY - timedelta(days=2), reads=reads)
    assert [sha for sha, _ in reads] == [FIXED, OLD, BUGGY]


def test_many_later_releases_leave_room_for_the_commits_before():
    later = tuple(
        Release(version=f"2.{n}", sha=f"{n:040d}", at=DAY + timedelta(hours=n))
        for n in range(1, 50)
    )
    assert chosen(releases=later, seen=DAY + timedelta(days=2)).sha == BUGGY


@pytest.mark.parametrize("known", [DAY, None])
def test_no_more_than_a_few_commits_are_read(known):
    many = tuple(LoggedCommit(sha=f"{n:040d}", at=DAY - timedelta(hours=n)) for n in range(1, 100))
    reads = []
    commit = HEAD.model_copy(update={"at": known})
    assert chosen(log=many, seen=None, commit=commit, reads=reads) == commit
    assert len(reads) == 1 + NEIGHBOUR_COMMITS


def test_a_history_that_cannot_be_read_is_none():
    def history(_path):
        raise GiveUp("not here")

    def no_moment(_moment):
        raise AssertionError

    read = TEXTS[FIXED]
    assert commit_that_fits(trace(), HEAD, lambda _c: lambda _p: read, history, no_moment) == HEAD
