"""Source of the first message: what is cut out, how much of it, and why."""

from nightwatch_core.analysis import previews as limits
from nightwatch_core.analysis.previews import line_of_interest, source_previews
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import LikelyFile, Preview


def case(*frames: Frame, transaction: str = "", message: str = "") -> Case:
    trace = Trace(language="ruby", links=(ExceptionLink(error_class="KeyError", frames=frames),))
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="KeyError", transaction=transaction,
        message=message,
    )  # fmt: skip
    return Case(leader=group, trace=trace)


def frame(path: str, line: int | None, function: str = "", code: str = "") -> Frame:
    return Frame(path=path, repo_path=path, line=line, function=function, code=code, in_app=True)


def numbered(count: int) -> str:
    return "".join(f"line {n}\n" for n in range(1, count + 1))


def likely(*paths: str) -> tuple[LikelyFile, ...]:
    return tuple(LikelyFile(path=path, score=1, because=("why",)) for path in paths)


def places(shown: tuple[Preview, ...]) -> list[tuple[str, str, int, int]]:
    return [(one.kind, one.path, one.start, one.end) for one in shown]


def test_the_innermost_frame_of_a_file_is_shown() -> None:
    one = case(frame("b.rb", 7), frame("a.rb", 250), frame("a.rb", 20))
    assert line_of_interest(one, "a.rb", numbered(300)) == 250


def test_the_action_is_shown_where_no_frame_leads() -> None:
    text = numbered(200) + "  def update\n  end\n"
    one = case(transaction="Controller/orders/update")
    assert line_of_interest(one, "a.rb", text) == 201
    assert line_of_interest(case(transaction="Controller/orders/gone"), "a.rb", text) == 1


def function(name: str, lines: int) -> str:
    return f"def {name}(x):\n" + "    x += 1\n" * (lines - 1)


def test_a_short_file_is_shown_whole_with_the_line_that_fails() -> None:
    (one,) = source_previews(case(frame("a.py", 7)), likely("a.py"), {"a.py": numbered(200)}.get)
    assert (one.kind, one.start, one.end, one.because) == ("failing", 1, 200, "line 7 fails")


def test_of_a_longer_file_the_whole_function_with_what_decorates_it() -> None:
    text = numbered(200) + "\n@once\n# why\n" + function("f", 100) + numbered(50)
    (one,) = source_previews(case(frame("a.py", 290)), likely("a.py"), {"a.py": text}.get)
    assert (one.start, one.end) == (202, 303)


def test_a_function_that_is_too_long_is_shown_around_the_line() -> None:
    text = function("f", limits.FUNCTION_LINES + 200)
    (one,) = source_previews(case(frame("a.py", 150)), likely("a.py"), {"a.py": text}.get)
    assert (one.start, one.end) == (
        150 - limits.PREVIEW_LINES // 2,
        149 + limits.PREVIEW_LINES // 2,
    )


def test_other_own_frames_come_with_their_function_or_the_lines_above_the_call() -> None:
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


def test_where_it_is_raised_on_purpose_the_caller_fails_too() -> None:
    texts = {"checks.py": "def f(x):\n    raise TypeError(x)\n", "a.py": numbered(9)}
    one = case(frame("checks.py", 2), frame("a.py", 5))
    shown = source_previews(one, likely("checks.py"), texts.get)
    assert [place[:2] for place in places(shown)] == [
        ("failing", "checks.py"), ("failing", "a.py")
    ]  # fmt: skip


def test_what_sets_a_member_elsewhere_in_the_file_is_shown() -> None:
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


def test_two_files_are_guessed_and_unreadable_ones_passed_over() -> None:
    texts = {f"{n}.rb": numbered(3) for n in range(9) if n != 0} | {"1.rb": " \n"}
    asked: list[str] = []

    def read(path: str) -> str | None:
        asked.append(path)
        return texts.get(path)

    shown = source_previews(case(), likely(*(f"{n}.rb" for n in range(9))), read)
    assert [(one.kind, one.path, one.because) for one in shown] == [
        ("guess", "2.rb", "why"), ("guess", "3.rb", "why")
    ]  # fmt: skip
    assert asked == [f"{n}.rb" for n in range(4)]
