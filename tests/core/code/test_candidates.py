""""""

from datetime import UTC, datetime, timedelta

import pytest
from tables import tables_of

from nightwatch_core.code.candidate_symbols import names_in_message
from nightwatch_core.code.suspects import candidates
from nightwatch_core.models.code import MergedPull
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace

TABLES = tables_of(__file__)

NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)
FIRST = NOW - timedelta(hours=5)


def pull(number, *files, hours=2):
    """Merged that many hours before the error was first seen."""
    return MergedPull(
        number=number,
        title="",
        sha=f"{number:040}",
        merged_at=FIRST - timedelta(hours=hours),
        files=files,
    )


def case(*files, first=FIRST, last=NOW):
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="E", first_seen=first, last_seen=last
    )
    frames = tuple(Frame(path=f"/srv/{f}", repo_path=f, in_app=True) for f in files)
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def order(found, *pulls):
    return [pull.number for pull in candidates(found, (), pulls)]


def test_what_the_source_suspects_is_a_candidate_wherever_it_changed_something():
    found, pulls = case("app/a.rb"), (pull(1, "lib/x.rb"), pull(2, "lib/y.rb"), pull(3, "app/a.rb"))
    trace = found.trace.model_copy(update={"suspected": (pulls[1].sha,)})
    assert order(found.model_copy(update={"trace": trace}), *pulls) == [3, 2]


def test_the_change_of_the_top_frame_comes_first():
    pulls = (pull(1, "lib/x.rb"), pull(2, "app/b.rb"), pull(3, "app/a.rb"))
    assert order(case("app/a.rb", "app/b.rb"), *pulls) == [3, 2]


def test_what_touches_nothing_near_is_no_suspect():
    assert order(case("app/a.rb"), pull(1, "lib/x.rb"), pull(2)) == []
    assert order(case(), pull(1, "lib/x.rb")) == []


@pytest.mark.parametrize(("first", "last"), [(FIRST, NOW), (None, FIRST)])
def test_merged_after_the_error_was_seen_is_out(first, last):
    found = case("a.rb", first=first, last=last)
    assert order(found, pull(1, "a.rb", hours=-1), pull(2, "a.rb", hours=1)) == [2]


def test_the_fresher_of_two_equal_changes_comes_first():
    month = 30 * 24
    assert order(case("a.rb"), pull(1, "a.rb", hours=month), pull(2, "a.rb")) == [2, 1]


# What messages name, at its definition.


@pytest.mark.parametrize(("error_class", "message", "expected"), TABLES["names_of_messages"])
def test_names_of_messages(error_class, message, expected):
    group = ErrorGroup(fingerprint="v1:1", source="file", error_class=error_class, message=message)
    assert names_in_message(Case(leader=group)) == tuple(expected)
