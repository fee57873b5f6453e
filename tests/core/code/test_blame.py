from datetime import UTC, datetime

import pytest

from nightwatch_core.code.suspects import OUTSIDE_TAGS, named_first
from nightwatch_core.models.analysis import Analysis
from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.error import Case, ErrorGroup

CASE = Case(leader=ErrorGroup(fingerprint="v1:a", source="file", error_class="KeyError"))


def pull(number: int, sha: str, commits: tuple[str, ...] = ()) -> MergedPull:
    at = datetime(2026, 11, number, tzinfo=UTC)
    return MergedPull(number=number, title="t", sha=sha * 40, merged_at=at, commits=commits)


def analysis(commit: str, *suspects: Suspect, tags: tuple[str, ...] = ()) -> Analysis:
    return Analysis(
        case=CASE,
        title="t",
        root_cause="r",
        confidence="low",
        suspect_commit=commit,
        suspects=suspects,
        tags=tags,
    )


def test_the_pull_that_brought_the_named_commit_comes_first() -> None:
    likely, guilty = pull(1, "a"), pull(2, "b", ("c" * 40,))
    told = named_first(
        analysis("c" * 10, Suspect(pull=likely, score=0.6)), (likely, guilty)
    ).suspects
    assert [one.pull.number for one in told] == [2, 1]
    assert told[0].because == ("brought cccccccccc, which the analysis names",)
    assert told[0].score == 0.6


def test_a_suspect_keeps_its_own_reasons() -> None:
    guilty = pull(2, "b")
    suspect = Suspect(pull=guilty, score=0.4, because=("changes a.py, the top frame",))
    told = named_first(analysis("b" * 40, suspect), (guilty,)).suspects
    assert len(told) == 1
    assert told[0].because[1:] == ("changes a.py, the top frame",)


def test_an_unknown_or_too_short_commit_changes_nothing() -> None:
    found = analysis("bbb", Suspect(pull=pull(1, "a"), score=0.6))
    assert named_first(found, (pull(2, "b"),)) == found
    assert named_first(analysis(""), (pull(2, "b"),)) == analysis("")


def test_a_merge_that_is_named_is_no_reason_of_its_own() -> None:
    guilty = pull(2, "b", ("c" * 40,))
    named = Suspect(pull=guilty, score=0.4, because=("changes a.py, the top frame",))
    told = named_first(analysis("b" * 10, named), (guilty,)).suspects
    assert told[0].because == ("the analysis names it", "changes a.py, the top frame")


@pytest.mark.parametrize("tag", OUTSIDE_TAGS)
def test_what_failed_outside_has_no_suspects_but_one_that_was_found(tag: str) -> None:
    near, guilty = Suspect(pull=pull(1, "a"), score=0.6), pull(2, "b", ("c" * 40,))
    told = analysis("", near, tags=("external-api", tag))
    assert named_first(told, (near.pull, guilty)).suspects == ()
    blamed = analysis("c" * 10, near, tags=(tag,))
    assert [s.pull.number for s in named_first(blamed, (near.pull, guilty)).suspects] == [2]
