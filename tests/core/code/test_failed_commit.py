""""""

from datetime import UTC, datetime, timedelta

import pytest
from twins.reading import MemoryCode, MemoryHost

from nightwatch_core.code.failed_commit import (
    Sighting,
    commit_that_fits,
    deployments,
    failed_commit,
    merged_before,
)
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import Commit, LoggedCommit, MergedPull, Release
from nightwatch_core.models.errors import ExceptionLink, Frame, Trace

DAY = datetime(2026, 11, 20, tzinfo=UTC)


def commit(letter, day):
    at = DAY + timedelta(days=day)
    return Commit(repository="shop", sha=letter * 40, branch="main", at=at, because="head of main")


def tree(letter, day):
    return MemoryCode(at=commit(letter, day))


def deployed(version, sha, day):
    return Release(version=version, sha=sha, at=DAY + timedelta(days=day))


HOST = MemoryHost(tree("d", 9), older={"v1": tree("a", 1), "v2": tree("b", 2), "v3": tree("c", 3)})
RAN = (deployed("blue", "b" * 10, 4), deployed("green", "c" * 40, 5))


@pytest.mark.parametrize(
    ("sighting", "sha", "because"),
    [
        (Sighting(release="v1", seen=DAY + timedelta(days=8)), "a", "release v1"),
        (Sighting(release="b" * 12), "b", "release bbbbbbbbbbbb"),
        (Sighting(release="1.0", commit="b" * 9), "b", "commit bbbbbbbbbb from the error record"),
        (Sighting(release="v1", commit="e" * 9), "a", "release v1"),
        (Sighting(release="blue", deployed=RAN), "b", "release blue, deployed as bbbbbbbbbb"),
        (
            Sighting(seen=DAY + timedelta(days=4.5), deployed=RAN),
            "b",
            "blue, deployed on 2026-11-24 00:00 UTC, was live when the error was last seen",
        ),
        (Sighting(seen=DAY + timedelta(days=5), deployed=RAN), "c", "green, deployed on "),
        (Sighting(seen=DAY + timedelta(days=3), deployed=RAN), "c", "when it was last seen"),
        (Sighting(seen=DAY + timedelta(days=2.5)), "b", "when it was last seen"),
        (Sighting(), "d", "head of main, neither a release nor a time is known"),
    ],
)  # fmt: skip
def test_the_first_way_that_knows_the_commit_says_why(sighting, sha, because):
    known = failed_commit(sighting, HOST)

    assert known.sha == sha * 40
    assert because in known.because


def test_a_release_that_is_not_there_is_said_before_the_next_way_answers():
    seen = DAY + timedelta(days=4.5)
    missing = "release 7\u2028.1 is not a tag or commit here".replace("\u2028", "?")
    ran = failed_commit(Sighting(release="7\u2028.1", seen=seen, deployed=RAN), HOST)
    then = failed_commit(Sighting(release="7\u2028.1", seen=DAY + timedelta(days=1.5)), HOST)
    head = failed_commit(Sighting(release="7\u2028.1"), HOST)

    assert [one.sha[0] for one in (ran, then, head)] == ["b", "a", "d"]
    assert all(one.because.endswith(missing) for one in (ran, then, head))
    assert all(one.because != missing for one in (ran, then, head))


def test_tags_ran_where_errors_name_them_as_their_releases():
    tags = (deployed("v1.2", "a" * 40, 1),)

    assert deployments(tags, RAN, frozenset({"1.2"})) == RAN
    assert deployments(tags, (), frozenset({"shop@1.2", "x"})) == tags
    assert deployments(tags, (), frozenset({"1.3"})) == ()
    assert deployments(tags, (), frozenset()) == ()


def test_what_was_merged_later_cannot_have_broken_it():
    def pull(number, day, sha=""):
        at = DAY + timedelta(days=day)
        return MergedPull(number=number, title="", sha=sha or str(number) * 40, merged_at=at)

    failing = commit("a", 2)
    pulls = (pull(1, 1), pull(2, 2), pull(3, 2.1, "a" * 40), pull(4, 2.1))

    assert [one.number for one in merged_before(pulls, failing)] == [1, 2, 3]
    undated = failing.model_copy(update={"at": None})
    assert merged_before(pulls, undated) == pulls


# The commit at which a record's own source stands, found among those around the one at hand.

COMMIT_DAY = datetime(2026, 11, 20, tzinfo=UTC)
OLD, BUGGY, FIXED = "a" * 40, "b" * 40, "c" * 40
TEXTS = {
    OLD: "def total(lines):\n    return 0\n",
    BUGGY: "\ndef total(lines):\n    return sum(one.price for one in lines)\n",
    FIXED: "\ndef total(lines):\n    return sum(one.price for one in lines or ())\n",
}
HEAD = Commit(repository="shop/shop", sha=FIXED, branch="main", at=COMMIT_DAY)
LOG = tuple(
    LoggedCommit(sha=sha, at=COMMIT_DAY - timedelta(days=n))
    for n, sha in enumerate((FIXED, BUGGY, OLD))
)


def trace(line=3, code="return sum(one.price for one in lines)", path="cart.py"):
    frame = Frame(path=path, repo_path=path, line=line, code=code, in_app=True)
    return Trace(links=(ExceptionLink(frames=(frame,)),))


def chosen(of=None, log=LOG, releases=(), seen=COMMIT_DAY, commit=HEAD, reads=None, texts=TEXTS):
    def files(at):
        def read(path):
            if reads is not None:
                reads.append((at.sha, path))
            if at.sha not in texts:
                raise GiveUp("no such commit")
            return texts[at.sha] if path == "cart.py" else None

        return read

    of = of or trace()
    return commit_that_fits(of, commit, files, lambda _path: log, releases, seen)


def test_a_record_of_the_code_before_the_fix_is_read_there():
    found = chosen()
    assert (found.sha, found.branch, found.at) == (BUGGY, "main", COMMIT_DAY - timedelta(days=1))
    assert found.because == "the source lines in the record match cart.py at bbbbbbbbbb"


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


def test_a_release_beside_the_base_branch_is_looked_at():
    release = Release(version="1.2.1", sha=BUGGY, at=COMMIT_DAY - timedelta(days=3))
    gone = Release(version="1.2.0", sha="e" * 40, at=COMMIT_DAY - timedelta(hours=1))
    short = Release(version="1.1.9", sha="bbbbbbb", at=COMMIT_DAY)
    found = chosen(log=LOG[:1], releases=(gone, short, release))
    assert found.sha == BUGGY
    assert found.because == "the source lines in the record match release 1.2.1"


def test_a_history_that_cannot_be_read_is_none():
    def history(_path):
        raise GiveUp("not here")

    read = TEXTS[FIXED]
    assert commit_that_fits(trace(), HEAD, lambda _c: lambda _p: read, history) == HEAD
