""""""

from datetime import UTC, datetime, timedelta

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.suspects import named_change, only_named, proved_change, suspects
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import (
    ChangedFile,
    CommitDiff,
    LoggedCommit,
    MergedPull,
    Release,
    Suspect,
)
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import CodeChanges, DependencyChange, LineAuthor, Onset, Rename

BEGAN = datetime(2026, 11, 20, 21, tzinfo=UTC)
FRAMES = (
    Frame(path="/srv/shop/cart.py", line=7, repo_path="shop/cart.py", in_app=True),
    Frame(path="/venv/lib/python3.11/site-packages/flask_sqlalchemy/model.py", line=3),
)
CASE = Case(
    leader=ErrorGroup(fingerprint="v1:1", source="file", error_class="E", first_seen=BEGAN),
    trace=Trace(links=(ExceptionLink(frames=FRAMES),)),
)


def commit(letter, days=1, pull=0):
    """Made that many days before the error began."""
    at = BEGAN - timedelta(days=days)
    return LoggedCommit(sha=letter * 40, author="Ann", at=at, subject="Count", pull=pull)


def wrote(one, kind="failing", line=7):
    return LineAuthor(path="shop/cart.py", line=line, kind=kind, commit=one)


def changes(*authors, **more):
    return CodeChanges.model_validate({"onset": Onset(at=BEGAN), "authors": authors, **more})


def merged(number, *commits, days=1):
    return MergedPull(
        number=number,
        title="Count lines",
        sha=str(number) * 40,
        merged_at=BEGAN - timedelta(days=days),
        files=("shop/cart.py",),
        commits=tuple(letter * 40 for letter in commits),
    )


def names(known, *pulls, releases=()):
    return [one.pull.name for one in suspects(CASE, known, pulls, releases)]


def test_the_commit_of_the_failing_line_is_suspected_and_not_an_old_merge_of_its_file():
    old, other = merged(1, days=20), merged(2, days=2)
    (suspect,) = suspects(CASE, changes(wrote(commit("a"))), (old, other))
    assert suspect.pull.name == "commit aaaaaaaaaa"
    assert suspect.because == ("wrote shop/cart.py:7, the failing line", "24 h before first seen")
    assert suspect.score == 0.95


def test_a_commit_stands_under_the_pull_request_that_brought_it():
    known = changes(wrote(commit("a")), wrote(commit("b", pull=9), "caller"))
    assert names(known, merged(1, "a")) == ["pull request #1", "pull request #9"]


def test_what_came_after_or_long_before_is_no_suspect():
    for days in (-0.1, 31, 400):
        assert names(changes(wrote(commit("a", days)))) == []
    assert names(changes(wrote(commit("a", 29)))) == ["commit aaaaaaaaaa"]
    assert names(changes(wrote(commit("a")), onset=None)) == []


def test_the_release_that_brought_it_counts_however_long_it_took():
    before, after = (
        Release(version=version, sha=version * 40, at=BEGAN - timedelta(days=days))
        for version, days in (("1", 60), ("2", 0.01))
    )
    (suspect,) = suspects(CASE, changes(wrote(commit("a", 40))), (), (after, before))
    assert suspect.because[-1] == (
        "part of release 2, which was running when it was first seen, made 14 min before first seen"
    )
    assert names(changes(wrote(commit("a", 61))), releases=(after, before)) == []


def test_the_better_reason_comes_first_and_all_are_told():
    known = changes(
        wrote(commit("a"), "caller", 3),
        wrote(commit("b"), "used", 5),
        wrote(commit("c", 12)),
        wrote(commit("c", 12), "used", 6),
        renames=(Rename(old="sum", new="total", path="shop/sum.py", commit=commit("d")),),
    )
    told = suspects(CASE, known, limit=9)
    assert [one.pull.sha[0] for one in told] == ["d", "c", "b", "a"]
    assert told[0].because[0] == "renames `sum` to `total` in shop/sum.py"
    assert told[1].because[1] == "wrote shop/cart.py:6, used on the failing line"
    assert len(suspects(CASE, known)) == 3
    assert suspects(CASE, known, limit=0) == ()


def test_what_the_source_suspects_is_one_voice_among_ours():
    trace = CASE.trace.model_copy(update={"suspected": ("a" * 40, "c" * 12)})
    case, known = CASE.model_copy(update={"trace": trace}), changes(wrote(commit("b")))
    old, newer, other = merged(1, "a", days=29), merged(2, "c"), merged(3, "d")
    told = suspects(case, known, (old, newer, other))
    assert [(one.pull.name, one.score) for one in told] == [
        ("commit bbbbbbbbbb", 0.95), ("pull request #2", 0.55),
    ]  # fmt: skip
    assert told[1].because[0] == "is a suspect commit of the error tracker"
    own = suspects(case, changes(wrote(commit("c"))))
    assert own[0].score == 0.95
    assert own[0].because[:2] == (
        "wrote shop/cart.py:7, the failing line", "is a suspect commit of the error tracker",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "is_suspect"),
    [("Flask-SQLAlchemy", True), ("flask", False), ("model", False), ("x", False), ("", False)],
)
def test_another_version_counts_where_the_trace_goes_through_the_library(name, is_suspect):
    one = DependencyChange(name=name, old="2.5", new="3.0", path="poetry.lock", commit=commit("a"))
    told = suspects(CASE, changes(dependencies=(one,)))
    assert [suspect.because[0] for suspect in told] == (
        [f"changes {name} from 2.5 to 3.0"] if is_suspect else []
    )
    nobody = one.model_copy(update={"commit": None})
    assert suspects(CASE, changes(dependencies=(nobody,))) == ()


AT = datetime(2026, 11, 20, tzinfo=UTC)
NAMED_CASE = Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError"))


def named_commit(letter, subject="Count", pull=0, message=""):
    logged = LoggedCommit(sha=letter * 40, author="Ann", at=AT, subject=subject, pull=pull)
    return CommitDiff(commit=logged, message=message, files=(ChangedFile(path="a.py"),))


CODE = MemoryCode(
    commits=(
        named_commit("a"),
        named_commit("b", "Merge pull request #12 from x/y", 12, "Count lines\n\nAll"),
    )
)


def pull(number, letter, commits=()):
    return MergedPull(number=number, title="t", sha=letter * 40, merged_at=AT, commits=commits)


def analysis(sha, *pulls):
    suspects = tuple(Suspect(pull=one, score=0.6, because=("near",)) for one in pulls)
    return Analysis(
        case=NAMED_CASE,
        title="t",
        root_cause="r",
        confidence="low",
        suspect_commit=sha,
        suspects=suspects,
    )


def test_the_named_commit_is_looked_up():
    named = named_change("It came with aaaaaaaaaa.", CODE)
    assert (named.commit, named.because) == ("a" * 40, ())
    (suspect,) = named.suspects
    assert (suspect.pull.name, suspect.pull.title) == ("commit aaaaaaaaaa", "Count")
    assert suspect.pull.files == ("a.py",)


@pytest.mark.parametrize("name", ["cccccccccc", "#13"])
def test_a_commit_that_is_not_there_is_dropped_and_said_so(name):
    named = named_change(name, CODE)
    assert (named.commit, named.suspects) == ("", ())
    assert named.because == (
        f"{name}, named in the answer, is not a commit in the history that was read",
    )


def test_the_pull_that_brought_the_named_commit_is_the_only_suspect():
    near, guilty = pull(1, "e"), pull(2, "d", ("c" * 40,))
    (suspect,) = only_named(analysis("c" * 10, near), (near, guilty)).suspects
    assert (suspect.pull, suspect.because) == (
        guilty,
        ("contains cccccccccc, named by the analysis",),
    )
    (own,) = only_named(analysis("d" * 40, near, guilty), ()).suspects
    assert (own.pull, own.because) == (guilty, ("the analysis names it as the cause",))


def test_a_change_is_proved_where_it_brought_the_commit():
    guilty = pull(2, "d", ("c" * 40,))
    assert proved_change(analysis("c" * 40, guilty)) == "pull request #2"
    assert proved_change(analysis("c" * 40, pull(0, "c"))) == "commit cccccccccc"
    assert proved_change(analysis("c" * 40, pull(1, "e"))) == ""
    assert proved_change(analysis("", guilty)) == ""
