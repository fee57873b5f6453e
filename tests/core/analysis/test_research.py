from datetime import UTC, datetime, timedelta

import pytest

from nightwatch_core.analysis import limits
from nightwatch_core.analysis.research import (
    callers,
    gather,
    line_of_interest,
    previews,
    recent_releases,
    similar_ignored,
    window,
)
from nightwatch_core.models.code import MergedPull, Release, SearchHit
from nightwatch_core.models.error import Case, DroppedGroup, ErrorGroup
from nightwatch_core.models.knowledge import Lesson, Match, PriorAnalysis
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.models.trace import ExceptionLink, Frame, Trace
from nightwatch_core.traces.path_index import PathIndex

NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)


def group(error_class: str = "KeyError", message: str = "", transaction: str = "") -> ErrorGroup:
    return ErrorGroup(
        fingerprint=f"v1:{error_class}{message}",
        source="file",
        error_class=error_class,
        message=message,
        transaction=transaction,
        last_seen=NOW,
    )


def case(*frames: Frame, transaction: str = "", message: str = "") -> Case:
    trace = Trace(language="ruby", links=(ExceptionLink(error_class="KeyError", frames=frames),))
    return Case(leader=group(message=message, transaction=transaction), trace=trace)


def frame(path: str, line: int | None, function: str = "", code: str = "") -> Frame:
    return Frame(path=path, repo_path=path, line=line, function=function, code=code, in_app=True)


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def likely(*paths: str) -> tuple[LikelyFile, ...]:
    return tuple(LikelyFile(path=path, score=1) for path in paths)


@pytest.mark.parametrize(
    ("line", "start", "end"),
    [(150, 100, 199), (1, 1, 100), (300, 201, 300), (50, 1, 100), (52, 2, 101)],
)
def test_windows_hold_a_hundred_lines_around_the_line(line: int, start: int, end: int) -> None:
    found = window("a.rb", numbered(300), line, 100)
    assert (found.start, found.end, found.lines) == (start, end, 300)
    lines = found.text.splitlines()
    assert (lines[0], lines[-1]) == (f"line {start}", f"line {end}")


def test_windows_of_short_files_hold_all() -> None:
    found = window("a.rb", "one", 9, 100)
    assert (found.start, found.end, found.text) == (1, 1, "one")


def test_lines_of_a_window_are_bounded_and_stay_lines() -> None:
    found = window("a.js", "x" * 10_000 + "\na\x0cb\u2028c\n", 1, 100)
    assert [len(line) for line in found.text.splitlines()] == [400, 5]


def test_the_innermost_frame_of_a_file_is_shown() -> None:
    one = case(frame("b.rb", 7), frame("a.rb", 250), frame("a.rb", 20))
    assert line_of_interest(one, "a.rb", numbered(300)) == 250


def test_a_line_beyond_the_file_falls_back_on_the_function() -> None:
    text = numbered(200) + "def total(x)\nend\n"
    assert line_of_interest(case(frame("a.rb", 900, "Order#total")), "a.rb", text) == 201
    assert line_of_interest(case(frame("a.rb", None, "total")), "a.rb", text) == 201


def test_the_action_is_shown_where_no_frame_leads() -> None:
    text = numbered(200) + "  def update\n  end\n"
    one = case(transaction="Controller/orders/update")
    assert line_of_interest(one, "a.rb", text) == 201
    assert line_of_interest(case(transaction="Controller/orders/gone"), "a.rb", text) == 1


def test_four_files_are_shown_and_unreadable_ones_passed_over() -> None:
    texts = {f"{n}.rb": numbered(3) for n in range(9) if n != 2} | {"3.rb": " \n"}
    found = previews(case(), likely(*(f"{n}.rb" for n in range(9))), texts.get)
    assert [preview.path for preview in found] == ["0.rb", "1.rb", "4.rb", "5.rb"]


def test_no_more_is_read_than_shown() -> None:
    asked: list[str] = []

    def read(path: str) -> str:
        asked.append(path)
        return "x"

    names = [f"{n}.rb" for n in range(9)]
    previews(case(), likely(*names), read)
    assert asked == names[: limits.PREVIEWS]


def test_previews_beyond_the_budget_are_dropped_from_the_tail() -> None:
    long = "\n".join(["a" * 300] * 60)
    texts = {"a.rb": long, "b.rb": long, "c.rb": "c"}
    found = previews(case(), likely(*texts), texts.get)
    assert [preview.path for preview in found] == ["a.rb"]


def test_own_frames_that_no_preview_shows_get_a_small_window() -> None:
    texts = {"a.rb": numbered(300), "b.rb": numbered(20)}
    one = case(frame("a.rb", 250), frame("a.rb", 240), frame("b.rb", 7), frame("a.rb", 20))
    shown = previews(one, likely("a.rb"), texts.get)
    found = callers(one, texts.get, shown)
    assert [(one.path, one.start, one.end) for one in found] == [("b.rb", 1, 20)]
    two = case(frame("a.rb", 250), frame("a.rb", 20))
    (found_there,) = callers(two, texts.get, shown)
    assert (found_there.start, found_there.end) == (
        20 - limits.CALLER_LINES // 2,
        19 + limits.CALLER_LINES // 2,
    )
    assert callers(case(frame("a.rb", 900), frame("gone.rb", 3)), texts.get, ()) == ()


def test_definitions_of_what_is_called_follow_the_previews_and_files_are_read_once() -> None:
    texts = {
        "app/cart.rb": numbered(99) + "  total = net_sum(lines)\n",
        "app/sums.rb": "def net_sum(lines)\n  lines.sum\nend\n",
    }
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return texts.get(path)

    def search(query: str, path: str, limit: int) -> tuple[SearchHit, ...]:
        found = (
            SearchHit(path=name, line=number, text=line)
            for name, text in texts.items()
            for number, line in enumerate(text.split("\n"), start=1)
            if query in line
        )
        return tuple(found)[:limit]

    one = case(frame("app/cart.rb", 100))
    found = gather(one, PathIndex(texts), read, search=search)
    assert [preview.path for preview in found.previews] == ["app/cart.rb", "app/sums.rb"]
    assert found.previews[1].text == texts["app/sums.rb"].strip()
    assert sorted(asked) == sorted(texts)
    without = gather(one, PathIndex(texts), read)
    assert [preview.path for preview in without.previews] == ["app/cart.rb"]


def ignored(error_class: str, message: str = "", reason: str = "ignored: x") -> DroppedGroup:
    return DroppedGroup(group=group(error_class, message), reason=reason)


def test_similar_ignored_errors_share_class_or_message() -> None:
    one = case(message="order 17 has no total")
    dropped = (
        ignored("Other", "something else"),
        ignored("Shop::KeyError", "a"),
        ignored("Other", "order 4 has no total"),
        ignored("KeyError", "b", reason="rank 12 of 25 (score 0.31): 10 are traced a night"),
        ignored("KeyError", "c"),
        ignored("KeyError", "d"),
    )
    assert similar_ignored(one, dropped) == (dropped[1], dropped[2], dropped[4])


def test_empty_messages_are_not_alike() -> None:
    assert similar_ignored(case(), (ignored("Other"),)) == ()


def test_the_last_three_releases_before_the_error() -> None:
    releases = tuple(
        Release(version=str(n), sha="", at=NOW + timedelta(days=n)) for n in range(-5, 3)
    )
    assert [r.version for r in recent_releases(case(), releases)] == ["0", "-1", "-2"]


def test_everything_is_gathered() -> None:
    texts = {"app/models/order.rb": numbered(300), "app/controllers/orders_controller.rb": "x\n"}
    one = case(frame("app/models/order.rb", 250), transaction="Controller/orders/show")
    pull = MergedPull(
        number=7, title="", sha="a", merged_at=NOW - timedelta(hours=1), files=(*texts,)
    )
    release = Release(version="1", sha="a", at=NOW - timedelta(minutes=5))
    lesson = Lesson(fingerprint="v1:9", error_class="E", root_cause="", first_detected=NOW.date())
    prior = PriorAnalysis(lesson=lesson, match=Match(score=1, because=()))
    found = gather(
        one, PathIndex(texts), texts.get, (pull,), (release,), (prior,) * 5, (ignored("KeyError"),)
    )
    assert [file.path for file in found.likely_files] == list(texts)
    assert [preview.start for preview in found.previews] == [250 - limits.PREVIEW_LINES // 2, 1]
    assert [suspect.pull.number for suspect in found.suspects] == [7]
    assert found.releases == (release,)
    assert found.priors == (prior,) * 3
    assert found.similar_ignored == (ignored("KeyError"),)
    assert found.leader_findings == ()


def test_nothing_is_gathered_from_nothing() -> None:
    bare = Case(leader=ErrorGroup(fingerprint="v1:1", source="file", error_class=""))
    found = gather(bare, PathIndex(()), {}.get)
    assert found == type(found)()
