"""What a record says and the code at its line excludes, and what only seems to."""

import pytest
from analysis_shapes import COMMIT, case, tree
from tables import tables_of

from nightwatch_core.code.record_fit import MISFIT, misfit
from nightwatch_core.models.errors import ExceptionLink, Frame, Trace

TABLES = tables_of(__file__)

PYTHON = TABLES["python"]
RUBY = TABLES["ruby"]
ERB = "<h1>Hello</h1>\n<div>\n  <% if\n  @user.alert %>\n</div>\n"
JS = TABLES["JS"]
GO = """\
package shop

func (c *Cart) Total() int {
	return c.lines.sum()
}

func Load() *Cart {
	return nil
}
"""
FILES = {
    "a.py": PYTHON, "cart.rb": RUBY, "show.html.erb": ERB, "cart.js": JS, "cart.go": GO,
}  # fmt: skip
LANGUAGES = {"py": "python", "rb": "ruby", "erb": "ruby", "js": "javascript", "go": "go"}


def failing(path, line, function="", fit="unknown", code=""):
    frame = Frame(
        path=f"/srv/{path}", repo_path=path, line=line, function=function, in_app=True, fit=fit,
        code=code,
    )  # fmt: skip
    return traced((frame,))


def traced(frames):
    link = ExceptionLink(error_class="E", message="it broke", frames=frames)
    language = LANGUAGES[frames[0].path.rpartition(".")[2]]
    named = COMMIT.model_copy(update={"is_named": True})
    update = {"trace": Trace(language=language, links=(link,)), "commit": named}
    return case().model_copy(update=update)


def why(one, files=FILES):
    return misfit(one, tree(files).read_file)


@pytest.mark.parametrize(
    ("one", "fits"),
    [
        (failing("a.py", 10), True),  # blank, and code stands near it
        (failing("a.py", 18, "total"), True),
        (failing("a.py", 300), False),
        (failing("a.py", 18, fit="differs", code="return self.size  +  1"), False),
    ],
)
def test_of_a_commit_known_by_a_time_alone_lines_may_have_moved(one, fits):
    assert why(one)
    by_time = one.model_copy(update={"commit": COMMIT})
    assert (why(by_time) == "") is fits


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (failing("a.py", 300), "a.py has 22 lines, and the record fails in line 300"),
        (failing("a.py", 10), "a.py:10 is blank"),
        (failing("a.py", 7), "a.py:7 is a comment"),
        (failing("cart.js", 6), "cart.js:6 closes what stands above it (`}`)"),
        (failing("show.html.erb", 2), "show.html.erb:2 holds markup and no code"),
        (failing("a.py", 18, "total"), "a.py:18 is not in total, which a.py defines in line 11"),
        (failing("a.py", 18, "pay"), "a.py defines no pay, in which the record fails"),
        (failing("cart.rb", 14, "block in total"), "cart.rb:14 is not in total"),
        (failing("cart.go", 8, "(*Cart).Total.func1"), "cart.go:8 is not in Total"),
        (failing("a.py", 18, fit="differs", code="return self.size  +  1"),
         "a.py:18 and the file around it do not hold the line of the record (return self.size"),
    ],
)  # fmt: skip
def test_what_speaks_against_the_commit_is_said(one, reason):
    assert why(one).startswith(f"{MISFIT}{reason}")


@pytest.mark.parametrize(
    "one",
    [
        failing("a.py", 18, "count"),
        failing("a.py", 18, "<lambda>"),
        failing("a.py", 6, "Cart"),
        failing("cart.rb", 1, "tally"),  # made for the class, like Java's bridges
        failing("a.py", 10, fit="same", code=""),  # its own line is believed
        failing("show.html.erb", 4),
        failing("cart.rb", 4, "block (2 levels) in total"),
        failing("cart.rb", 10, "Cart.build"),
        failing("cart.go", 5),  # a deferred call
        failing("cart.js", 1, "total"),  # V8 may print the name it was called by
        failing("cart.go", 4, "(*Cart).Total"), failing("cart.go", 8, "glob..func1"),
        failing("gone.py", 400),
        case(traced=False),
    ],
)  # fmt: skip
def test_what_may_be_so_is_no_contradiction(one):
    assert why(one) == ""


def frames_of(*fits):
    rows = enumerate(fits)
    return tuple(
        Frame(path="/srv/a.py", repo_path="a.py", line=8 + n, in_app=True, code="x()", fit=fit)
        for n, fit in rows
    )


@pytest.mark.parametrize(
    ("fits", "is_misfit"), TABLES["test_the_innermost_own_frame_decides_before_the_others"]
)
def test_the_innermost_own_frame_decides_before_the_others(fits, is_misfit):
    lines = "\n".join(f"call_{n}()" for n in range(20))
    assert bool(why(traced(frames_of(*fits)), {"a.py": lines})) is is_misfit
