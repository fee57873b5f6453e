"""Research for the first message: the source that is cut out, and all that is gathered."""

from datetime import UTC, datetime, timedelta

import pytest
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.analysis import previews as limits
from nightwatch_core.analysis.previews import line_of_interest, source_previews
from nightwatch_core.analysis.research import gather
from nightwatch_core.models.code import Blame, MergedPull, Release, SearchHit
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.knowledge import Lesson, Match, PriorAnalysis
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.traces.placing import PathIndex

TABLES = tables_of(__file__)
NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)


def case(*frames, transaction="", message=""):
    trace = Trace(language="ruby", links=(ExceptionLink(error_class="KeyError", frames=frames),))
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="KeyError", transaction=transaction,
        message=message, last_seen=NOW,
    )  # fmt: skip
    return Case(leader=group, trace=trace)


def frame(path, line, function="", code=""):
    return Frame(path=path, repo_path=path, line=line, function=function, code=code, in_app=True)


def numbered(count):
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def likely(*paths):
    return tuple(LikelyFile(path=path, score=1, because=("why",)) for path in paths)


def places(shown):
    return [(one.kind, one.path, one.start, one.end) for one in shown]


def test_the_innermost_frame_of_a_file_is_shown():
    one = case(frame("b.rb", 7), frame("a.rb", 250), frame("a.rb", 20))
    assert line_of_interest(one, "a.rb", numbered(300)) == 250


def test_the_action_is_shown_where_no_frame_leads():
    text = numbered(200) + "  def update\n  end\n"
    one = case(transaction="Controller/orders/update")
    assert line_of_interest(one, "a.rb", text) == 201
    assert line_of_interest(case(transaction="Controller/orders/gone"), "a.rb", text) == 1


def function(name, lines):
    return f"def {name}(x):\n" + "    x += 1\n" * (lines - 1)


def test_a_short_file_is_shown_whole_with_the_line_that_fails():
    (one,) = source_previews(case(frame("a.py", 7)), likely("a.py"), {"a.py": numbered(200)}.get)
    assert (one.kind, one.start, one.end, one.because) == ("failing", 1, 200, "line 7 fails")


def test_of_a_longer_file_the_whole_function_with_what_decorates_it():
    text = numbered(200) + "\n@once\n# why\n" + function("f", 100) + numbered(50)
    (one,) = source_previews(case(frame("a.py", 290)), likely("a.py"), {"a.py": text}.get)
    assert (one.start, one.end) == (202, 303)


def test_a_function_that_is_too_long_is_shown_around_the_line():
    text = function("f", limits.FUNCTION_LINES + 200)
    (one,) = source_previews(case(frame("a.py", 150)), likely("a.py"), {"a.py": text}.get)
    assert (one.start, one.end) == (
        150 - limits.PREVIEW_LINES // 2,
        149 + limits.PREVIEW_LINES // 2,
    )


def test_other_own_frames_come_with_their_function_or_the_lines_above_the_call():
    texts = {
        "a.py": numbered(9),
        "b.py": numbered(300) + function("g", 20) + numbered(9),
        "c.py": function("h", 300),
    }
    one = case(frame("a.py", 5), frame("b.py", 310), frame("c.py", 200))
    kinds = places(source_previews(one, likely("a.py"), texts.get))
    quarter = limits.LONG_CALLER // 4
    assert kinds == [
        ("failing", "a.py", 1, 9), ("frame", "b.py", 301, 320),
        ("frame", "c.py", 200 - 3 * quarter, 200 + quarter - 1),
    ]  # fmt: skip


def test_where_it_is_raised_on_purpose_the_caller_fails_too():
    texts = {"checks.py": "def f(x):\n    raise TypeError(x)\n", "a.py": numbered(9)}
    one = case(frame("checks.py", 2), frame("a.py", 5))
    shown = source_previews(one, likely("checks.py"), texts.get)
    assert [place[:2] for place in places(shown)] == [
        ("failing", "checks.py"), ("failing", "a.py")
    ]  # fmt: skip


def test_a_function_that_is_shown_alone_says_which_class_it_is_of():
    text = (
        "class Wrapped(Base):\n"
        + "    x = 1\n" * 300
        + "    def get(self):\n        return 1 / 0\n"
    )
    for name, told in (("a.py", "line 303 fails, in class Wrapped(Base):"), ("wrapped.py", "")):
        (one,) = source_previews(case(frame(name, 303)), likely(name), {name: text}.get)
        assert one.because == (told or "line 303 fails")


def test_what_sets_a_member_elsewhere_in_the_file_is_shown():
    text = (
        "class A:\n    def start(self):\n        self.port = listen(1)\n"
        + numbered(300)
        + "    def stop(self):\n        self.port.close()\n"
    )
    text = "class A:\n" + function("x", 250).replace("def", "    def", 1) + text
    line = text.count("\n")
    shown = source_previews(case(frame("a.py", line)), likely("a.py"), {"a.py": text}.get)
    (setter,) = [one for one in shown if one.kind == "flow"]
    assert "self.port = listen(1)" in setter.text
    assert setter.because == "sets self.port"


def test_two_files_are_guessed_and_unreadable_ones_passed_over():
    texts = {f"{n}.rb": numbered(3) for n in range(9) if n != 0} | {"1.rb": " \n"}
    asked = []

    def read(path):
        asked.append(path)
        return texts.get(path)

    shown = source_previews(case(), likely(*(f"{n}.rb" for n in range(9))), read)
    assert [(one.kind, one.path, one.because) for one in shown] == [
        ("guess", "2.rb", "why"), ("guess", "3.rb", "why")
    ]  # fmt: skip
    assert asked == [f"{n}.rb" for n in range(4)]


def test_definitions_of_what_is_called_follow_the_previews_and_files_are_read_once():
    texts = {
        "app/cart.rb": numbered(99) + "  total = net_sum(lines)\n",
        "app/sums.rb": "def net_sum(lines)\n  lines.sum\nend\n",
    }
    asked = []

    def read(path):
        asked.append(path)
        return texts.get(path)

    def search(query, path, limit):
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


OUTSIDE = TABLES["what_leads_to_a_short_trace"]


@pytest.mark.parametrize("transaction", OUTSIDE["shown"])
def test_what_leads_to_a_short_trace_is_shown(transaction):
    texts = OUTSIDE["files"]

    def search(query, path, limit):
        rows = ((p, n, row) for p in texts for n, row in enumerate(texts[p].split("\n"), 1))
        return tuple(SearchHit(path=p, line=n, text=row) for p, n, row in rows if query in row)

    def shown(*frames):
        one = case(frame("shop/tags.py", 2, "get_tags"), *frames, transaction=transaction)
        found = gather(one, PathIndex(texts), texts.get, search=search)
        return [[preview.path, preview.start, preview.because] for preview in found.previews[1:]]

    assert shown() == OUTSIDE["shown"][transaction]
    assert shown(frame("shop/tags.py", 1, "b"), frame("shop/tags.py", 3, "c")) == []


def test_everything_is_gathered():
    texts = {"app/models/order.rb": numbered(300), "app/controllers/orders_controller.rb": "x\n"}
    one = case(frame("app/models/order.rb", 250), transaction="Controller/orders/show")
    at = NOW - timedelta(hours=1)
    pull = MergedPull(number=7, title="", sha="a" * 40, merged_at=at, files=(*texts,))
    wrote = Blame(sha="a" * 40, author="Ann", at=at, subject="Count", line=250, text="line 250")
    tree = MemoryCode(texts, blames={("app/models/order.rb", 250): wrote})
    release = Release(version="1", sha="a", at=NOW - timedelta(minutes=5))
    lesson = Lesson(
        fingerprint="v1:9", error_class="E", root_cause="No.", first_detected=NOW.date()
    )
    prior = PriorAnalysis(lesson=lesson, match=Match(score=1, because=()))
    found = gather(
        one, PathIndex(texts), texts.get, (pull,), (release,), (prior,) * 5,
        code=tree,
    )  # fmt: skip
    assert [file.path for file in found.likely_files] == list(texts)
    assert [preview.start for preview in found.previews] == [250 - limits.PREVIEW_LINES // 2]
    assert [suspect.pull.number for suspect in found.suspects] == [7]
    assert found.suspects[0].because[0] == "wrote app/models/order.rb:250, the failing line"
    assert [author.commit.subject for author in found.changes.authors] == ["Count"]
    assert found.changes.candidates == (pull,)
    assert found.priors == (prior,) * 3
    assert found.leader_findings == ()


def test_nothing_is_gathered_from_nothing():
    bare = Case(leader=ErrorGroup(fingerprint="v1:1", source="file", error_class=""))
    found = gather(bare, PathIndex(()), {}.get)
    assert found == type(found)()
