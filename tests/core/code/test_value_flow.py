"""Where failing values come from, in every language with a grammar."""

import pytest
from tables import tables_of

from nightwatch_core.code.syntax import STATEMENT_LINES
from nightwatch_core.code.value_flow import FLOW_STEPS, Step, value_flow

TABLES = tables_of(__file__)

PYTHON = TABLES["python"]
RUBY = TABLES["ruby"]
TYPESCRIPT = TABLES["typescript"]
GO = """\
package p

func (s *S) f(xs []X) {
	a, err := g(x)
	for _, y := range xs {
		s.z = y.w
		a.foo(y, s.z)
	}
}
"""
PHP = TABLES["php"]
C_SHARP = TABLES["c_sharp"]


@pytest.mark.parametrize(
    ("path", "text", "line", "expected"),
    [
        ("a.py", PYTHON, 14, {(5, "self.port"), (8, "file"), (10, "value"), (11, "found"),
                              (9, "row")}),
        ("a.rb", RUBY, 6, {(5, "b"), (3, "@x"), (4, "a")}),
        ("a.ts", TYPESCRIPT, 8, {(7, "q"), (3, "a"), (5, "this.z"), (4, "y")}),
        ("a.go", GO, 7, {(4, "a"), (5, "y"), (6, "s.z")}),
        ("a.php", PHP, 7, {(5, "$this->a"), (4, "$x")}),
        ("A.cs", C_SHARP, 6, {(3, "a"), (4, "y"), (5, "this.z")}),
    ],
    ids=["python", "ruby", "typescript", "go", "php", "c#"],
)  # fmt: skip
def test_what_sets_the_failing_value(path, text, line, expected):
    failing, *steps = value_flow(path, text, line)
    assert failing.line <= line <= failing.end
    assert {(step.line, step.sets) for step in steps} >= expected


def test_a_statement_of_several_lines_is_one_and_ends_where_its_body_begins():
    assert value_flow("a.py", PYTHON, 14)[0] == Step(13, 16)
    assert value_flow("a.py", PYTHON, 11)[0] == Step(11, 11)
    assert value_flow("a.py", PYTHON, 9)[0] == Step(9, 9)


def test_a_member_that_the_message_says_is_followed_on_any_object():
    text = "def f(b):\n    new = load(b)\n    b.image = new\n    b.save(1)\n"
    assert [step.line for step in value_flow("a.py", text, 4)] == [4]
    assert [step.line for step in value_flow("a.py", text, 4, ("image",))] == [4, 3, 2]


def test_everything_is_bounded():
    sets = "".join(f"    v{n} = v{n + 1}\n" for n in range(3_000))
    steps = value_flow(
        "a.py", f"def f():\n{sets}    go({', '.join(f'v{n}' for n in range(99))})\n", 3_002
    )
    assert len(steps) <= FLOW_STEPS
    long = "f(\n" + "    1,\n" * 900 + ")\n"
    failing = value_flow("a.py", long, 400)[0]
    assert failing.end - failing.line + 1 <= STATEMENT_LINES


@pytest.mark.parametrize("row", ["(" * 50_000, "a." * 50_000, "x=" * 50_000, "{" * 50_000])
def test_hostile_code_takes_no_time(row):
    for path in ("a.py", "a.js", "a.rb"):
        assert value_flow(path, f"{row}\n{row}\n", 1)
