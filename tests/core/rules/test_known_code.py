"""Tests of what the rules remember of a conversation: nothing but what was said in it."""

from small_repo import SmallRepo, case, opening

from nightwatch_core.analysis import tools
from nightwatch_core.models.conversation import AssistantTurn, ResultsTurn, ToolCall
from nightwatch_core.rules.findings import KnownCode

CASE = case("E", "m")


def after(files, *calls, research=None, **changes):
    """A code of a conversation in which these calls were made."""
    repo = SmallRepo(files)
    made = tuple(ToolCall(id=str(n), name=c[0], arguments=c[1]) for n, c in enumerate(calls))
    results = tuple(tools.run(call, repo, CASE, ()) for call in made)
    talk = opening(CASE, research, **changes)
    return KnownCode(talk.said(AssistantTurn(calls=made), ResultsTurn(results=results)))


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
