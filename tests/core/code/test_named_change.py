from datetime import UTC, datetime

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.suspects import named_change, only_named, proved_change
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import ChangedFile, CommitDiff, LoggedCommit, MergedPull, Suspect
from nightwatch_core.models.errors import Case, ErrorGroup

AT = datetime(2026, 11, 20, tzinfo=UTC)
CASE = Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError"))


def commit(letter: str, subject: str = "Count", pull: int = 0, message: str = "") -> CommitDiff:
    logged = LoggedCommit(sha=letter * 40, author="Ann", at=AT, subject=subject, pull=pull)
    return CommitDiff(commit=logged, message=message, files=(ChangedFile(path="a.py"),))


CODE = MemoryCode(
    commits=(commit("a"), commit("b", "Merge pull request #12 from x/y", 12, "Count lines\n\nAll"))
)


def pull(number: int, letter: str, commits: tuple[str, ...] = ()) -> MergedPull:
    return MergedPull(number=number, title="t", sha=letter * 40, merged_at=AT, commits=commits)


def analysis(sha: str, *pulls: MergedPull) -> Analysis:
    suspects = tuple(Suspect(pull=one, score=0.6, because=("near",)) for one in pulls)
    return Analysis(
        case=CASE,
        title="t",
        root_cause="r",
        confidence="low",
        suspect_commit=sha,
        suspects=suspects,
    )


def test_the_named_commit_is_looked_up() -> None:
    named = named_change("It came with aaaaaaaaaa.", CODE)
    assert (named.commit, named.because) == ("a" * 40, ())
    (suspect,) = named.suspects
    assert (suspect.pull.name, suspect.pull.title) == ("commit aaaaaaaaaa", "Count")
    assert suspect.pull.files == ("a.py",)


def test_a_pull_request_may_be_named_instead() -> None:
    (suspect,) = named_change("#12", CODE).suspects
    assert (suspect.pull.name, suspect.pull.title) == ("pull request #12", "Count lines")
    assert suspect.pull.sha == "b" * 40


@pytest.mark.parametrize("text", ["", "unknown", "the last deploy", "main", "HEAD~1"])
def test_nothing_is_suspected_where_none_is_named(text: str) -> None:
    assert named_change(text, CODE) == ("", (), ())


@pytest.mark.parametrize("name", ["cccccccccc", "#13"])
def test_a_commit_that_is_not_there_is_dropped_and_said_so(name: str) -> None:
    named = named_change(name, CODE)
    assert (named.commit, named.suspects) == ("", ())
    assert named.because == (
        f"{name}, which the answer names, is no commit of the history that was read",
    )


def test_what_nobody_can_look_up_stays_as_it_was_named() -> None:
    class Unwell(MemoryCode):
        def show_commit(self, sha: str, path: str = "") -> CommitDiff | None:
            raise GiveUp("away")

    assert named_change("#12", Unwell()) == ("#12", (), ())


def test_the_pull_that_brought_the_named_commit_is_the_only_suspect() -> None:
    near, guilty = pull(1, "e"), pull(2, "d", ("c" * 40,))
    (suspect,) = only_named(analysis("c" * 10, near), (near, guilty)).suspects
    assert (suspect.pull, suspect.because) == (
        guilty,
        ("brought cccccccccc, which the analysis names",),
    )
    (own,) = only_named(analysis("d" * 40, near, guilty), ()).suspects
    assert (own.pull, own.because) == (guilty, ("the analysis names it as what brought the fault",))


def test_a_number_that_nobody_could_look_up_is_found_among_the_pulls() -> None:
    (suspect,) = only_named(analysis("#2"), (pull(1, "e"), pull(2, "d"))).suspects
    assert (suspect.pull.number, suspect.because) == (
        2,
        ("the analysis names it as what brought the fault",),
    )
    assert only_named(analysis("#0"), (pull(0, "e"),)).suspects == ()


def test_what_is_only_near_is_no_suspect_of_an_analysis() -> None:
    near = pull(1, "e")
    assert only_named(analysis("", near), (near,)).suspects == ()
    assert only_named(analysis("eee", near), (near,)).suspects == ()


def test_a_change_is_proved_where_it_brought_the_commit() -> None:
    guilty = pull(2, "d", ("c" * 40,))
    assert proved_change(analysis("c" * 40, guilty)) == "pull request #2"
    assert proved_change(analysis("c" * 40, pull(0, "c"))) == "commit cccccccccc"
    assert proved_change(analysis("c" * 40, pull(1, "e"))) == ""
    assert proved_change(analysis("", guilty)) == ""
