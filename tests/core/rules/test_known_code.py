"""Tests of what the rules remember of a conversation: nothing but what was said in it."""

from small_repo import SmallRepo, case, opening

from nightwatch_core.analysis import tools
from nightwatch_core.models.conversation import AssistantTurn, ResultsTurn, ToolCall
from nightwatch_core.rules.findings import KnownCode, Question

CASE = case("E", "m")


def after(files, *calls, research=None, **changes):
    """A code of a conversation in which these calls were made."""
    repo = SmallRepo(files)
    made = tuple(ToolCall(id=str(n), name=c[0], arguments=c[1]) for n, c in enumerate(calls))
    results = tuple(tools.run(call, repo, CASE, ()) for call in made)
    talk = opening(CASE, research, **changes)
    return KnownCode(talk.said(AssistantTurn(calls=made), ResultsTurn(results=results)))


def test_what_was_not_shown_is_wished_for_and_not_known():
    code = KnownCode(opening(CASE))
    assert code.lines("a.py", -5, 9) == {}
    assert code.whole("b.py") is None
    assert code.search("x").complete is False
    assert code.blame("a.py", 2) is None
    assert [name for name, _ in code.questions] == [
        *("read_file", "read_file", "search_code", "blame")
    ]
    asked = {"path": "a.py", "start": 1, "end": 9}
    assert code.questions[0] == Question.of("read_file", asked)


def test_what_was_shown_is_known_exactly():
    lines = ("\ta = 'b'  ", "", "# … [... 3 characters left out")
    code = after({"a.py": "\n".join(lines)}, ("read_file", {"path": "a.py"}))
    assert code.whole("a.py") == lines
    assert code.lines("a.py", 1, 99) == dict(enumerate(lines, start=1))
    assert code.questions == []


def test_a_long_file_is_asked_for_in_parts():
    files = {"a.py": "".join(f"line {n} {'x' * 60}\n" for n in range(1, 301))}
    calls = [("read_file", {"path": "a.py"})]
    for _ in range(5):
        code = after(files, *calls)
        if code.whole("a.py"):
            break
        calls += [(one.tool, dict(one.arguments)) for one in code.questions]
    assert code.whole("a.py") == tuple(files["a.py"].splitlines())


def test_a_cut_line_is_never_taken_for_a_whole_one():
    code = after({"a.js": "x = 1\n" + "y" * 30_000}, ("read_file", {"path": "a.js"}))
    assert code.lines("a.js", 1, 2) == {1: "x = 1"}
    assert code.whole("a.js") is None


def test_a_missing_file_is_asked_for_once_and_replaced_by_its_only_namesake():
    code = after({"app/a.py": "x"}, ("read_file", {"path": "srv/a.py"}))
    assert code.resolved("srv/a.py") == "app/a.py"
    two = after({"app/a.py": "x", "lib/a.py": "y"}, ("read_file", {"path": "srv/a.py"}))
    assert two.resolved("srv/a.py") == "srv/a.py"
    assert two.lines("srv/a.py", 1, 3) == {}
    assert two.whole("srv/a.py") is None
    assert two.questions == []


def test_a_search_that_was_cut_is_not_complete():
    files = {f"f{n}.py": "total = 1\n" * 20 for n in range(60)}
    assert after(files, ("search_code", {"query": "total"})).search("total").complete is False
    none = after(files, ("search_code", {"query": "gone"})).search("gone")
    assert (none.hits, none.complete) == ((), True)


def test_names_from_errors_never_become_strange_queries():
    code = KnownCode(opening(CASE))
    for query in ("", " ", "a\nb", "x" * 200, "\x1b[31m", "naïve\u202e"):
        assert code.search(query).hits == ()
    assert code.questions == []
