"""Definitions of what is called near the failing lines: which, from where, at what cost."""

import pytest
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import (
    CALLEE_CHARACTERS,
    CALLEE_SEARCHES,
    CALLEES,
    NEAR_NAMES,
    Lookup,
    called_definitions,
    candidate_symbols,
    files_testing,
    frames_of,
)
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import Preview
from nightwatch_core.traces.placing import PathIndex

TABLES = tables_of(__file__)


def case(*places):
    frames = tuple(Frame(path=path, repo_path=path, line=n, in_app=True) for path, n in places)
    leader = ErrorGroup(fingerprint="v1:0", source="file", error_class="E")
    return Case(leader=leader, trace=Trace(links=(ExceptionLink(error_class="E", frames=frames),)))


class Code(MemoryCode):
    """Notes what is searched for."""

    def __init__(self, files):
        super().__init__(files)
        self.searched = []

    def search(self, query, path="", limit=50):
        self.searched.append(query)
        return super().search(query, path, limit)


def lookup(code, one, searched=True):
    frames = tuple(frame.repo_path for frame in one.trace.in_app) if one.trace else ()
    search = code.search if searched else None
    return Lookup(PathIndex(code.files), code.read_file, search, frames)


def found(files, *places, searched=True):
    code, one = Code(files), case(*places)
    return called_definitions(one, lookup(code, one, searched), set())


def names(files, *places):
    return [use.name for use in candidate_symbols(case(*places), files.get)]


def starts(previews):
    return [(one.path, one.start) for one in previews]


RUBY = {
    "app/cart.rb": "def total\n  fields = merged_fields(lines)\n  fields.fetch(:net)\nend\n",
    "app/merging.rb": "# fields\ndef merged_fields(lines)\n  lines.map(&:net)\nend\n\ndef b\nend\n",
}


def test_a_definition_is_shown_as_it_is_with_its_lines():
    (one,) = found(RUBY, ("app/cart.rb", 3))
    text = "def merged_fields(lines)\n  lines.map(&:net)\nend"
    assert one == Preview(
        path="app/merging.rb", start=2, end=4, text=text, lines=7, kind="flow",
        because="used in cart.rb:2, which sets fields",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("files", "place"),
    [*TABLES["definitions_are_found_in_several_languages"], (RUBY, ("app/merging.rb", 2))],
)
def test_definitions_are_found_in_several_languages(files, place):
    failing = next(iter(files)), 3
    assert starts(found(files, failing)) == [tuple(place)]
    if files is not RUBY:  # nothing there says in which file
        assert starts(found(files, failing, searched=False)) == [tuple(place)]


@pytest.mark.parametrize(
    ("files", "place", "expected"),
    TABLES["what_a_value_is_read_from_is_shown_whole_from_its_decorators_and_class_heads_are_not"],
)
def test_what_a_value_is_read_from(files, place, expected):
    assert starts(found(files, tuple(place))) == [tuple(item) for item in expected]


def placed(*rows):
    frames = [Frame(path=p, repo_path=p, line=n, function=f, in_app=True) for p, n, f in rows]
    trace = Trace(links=(ExceptionLink(error_class="E", frames=tuple(frames)),))
    return [frame.line for frame in frames_of(case().model_copy(update={"trace": trace}))]


def test_few_own_frames_are_all_shown_and_plumbing_comes_last():
    rows = ("a.py", 1, "total"), ("a/utils.py", 2, "each"), ("b.py", 3, "call"), ("c.py", 4, "show")
    assert placed(*rows) == [1, 4, 2, 3]
    assert placed(*rows, ("d.py", 5, "page")) == [1, 4, 5]


def test_what_ran_between_two_calls_of_the_failing_function_is_shown():
    rows = [(f"{name}.py", n, name) for n, name in enumerate("abcdafg", start=1)]
    assert placed(*rows) == [1, 2, 3, 4, 5]


def test_tests_are_those_of_the_name_then_those_that_say_the_function():
    files = {
        "app/tags.py": "def get_tags(x):\n    pass\n",
        "tests/test_tags.py": "",
        "tests/test_bookmarks.py": "from app.tags import get_tags\nget_tags(1)\n",
        "tests/test_views.py": "get_tags_from_page()\nopen('/tags/new')\n",
        "tests/__init__.py": "get_tags",
        "tests/get_tags.js": "get_tags",
    }
    known = lookup(Code(files), case())
    named, said = "tests/test_tags.py", "tests/test_bookmarks.py"
    assert known.tests_of("app/tags.py", ("get_tags",)) == (named, said)
    assert known.tests_of("app/tags.py", ("nowhere", "app.tags")) == (named, said)
    assert known.tests_of("app/tags.py", (), "/tags/new") == (named,)
    assert known.tests_of("app/labels.py", ("nowhere",), "/tags/new") == ("tests/test_views.py",)


def test_what_was_shown_is_not_shown_again():
    one = case(("app/cart.rb", 3))
    for start, end, left in ((1, 7, []), (2, 4, []), (1, 2, [3]), (4, 7, [2]), (9, 9, [2])):
        seen = {("app/merging.rb", line) for line in range(start, end + 1)}
        rest = called_definitions(one, lookup(Code(RUBY), one), seen)
        assert [preview.start for preview in rest] == left, (start, end)


def test_a_name_that_many_places_define_is_left_to_the_analyst():
    others = {f"app/{n}/merging.rb": RUBY["app/merging.rb"] for n in range(3)}
    assert found(RUBY | others, ("app/cart.rb", 3)) == ()
    two = dict(list(others.items())[:2])
    assert starts(found(RUBY | two, ("app/cart.rb", 3))) == [("app/merging.rb", 2)]


def test_what_sets_the_failing_value_comes_first_then_the_callers():
    files = {
        "a.py": "a = net_of(0)\nb = outer_of(1)\nx = made_by(a)\ny = other_of(b)\nfail_on(x)\n",
        "b.py": "u = before_it(4)\n\nv = called_it(u)\n",
    }
    assert names(files, ("a.py", 5), ("b.py", 3)) == [
        "fail_on", "called_it", "made_by", "other_of", "before_it", "outer_of", "net_of"
    ]  # fmt: skip


def test_words_of_the_language_strings_and_comments_are_no_names():
    files = {"a.py": "if (x):\n    return len(y)  # quoted(1)\nprint('told(1)', super().go(2))\n"}
    assert names(files, ("a.py", 2)) == []


GENERIC = TABLES["GENERIC"]


@pytest.mark.parametrize(
    "row", ["rows = cursor.fetchall()", "url.host", "session.save()", "route.handler(1)"]
)
def test_names_that_everybody_has_lead_nowhere(row):
    assert found({"a.py": f"def f(cursor, url):\n    {row}\n", **GENERIC}, ("a.py", 2)) == ()


@pytest.mark.parametrize("head", TABLES["test_they_are_found_where_it_is_known_whose_they_are"])
def test_they_are_found_where_it_is_known_whose_they_are(head):
    text = f"{head}    one.save()\n"
    shown = found({"a.py": text, **GENERIC}, ("a.py", text.count("\n")))
    assert {one.path for one in shown} == {"shop/client.py"}
    assert sum("def save" in one.text for one in shown) == 1


def test_a_module_that_is_imported_is_meant_before_a_function_of_its_own_file():
    files = {
        "app/jobs.py": "from app.services import loader\n\n\ndef load_image(job):\n    pass\n\n\n"
        "def run(job):\n    image = loader.load_image(job)\n    job.save(image)\n",
        "app/services/loader.py": "def load_image(url):\n    return None\n",
    }
    assert starts(found(files, ("app/jobs.py", 10))) == [("app/services/loader.py", 1)]


def many(count):
    """A file that calls many functions, in nested calls of one line, and one that defines them."""
    call = "".join(f"step_{n}(" for n in range(count))
    body = "    x = 'abcdefgh'\n" * 30
    defined = "".join(f"def step_{n}(x):\n{body}\n" for n in range(count))
    return {"a/caller.py": call, "b/steps.py": defined}


def test_everything_is_bounded():
    code = Code(many(60))
    one = case(("a/caller.py", 1))
    shown = called_definitions(one, lookup(code, one), set())
    assert len(code.searched) == CALLEES <= CALLEE_SEARCHES
    assert code.reads == ["a/caller.py", "b/steps.py"]
    assert 0 < len(shown) <= CALLEES
    assert {preview.end - preview.start + 1 for preview in shown} == {31}
    assert sum(len(preview.text) for preview in shown) <= CALLEE_CHARACTERS
    assert len(candidate_symbols(one, code.read_file)) <= NEAR_NAMES


def test_of_a_long_function_the_head_is_shown_and_where_it_ends():
    files = {"a.py": "\n".join(("x = load(1)", "", "def load(n):", *["    a = 1"] * 71, ""))}
    (shown,) = found(files, ("a.py", 1))
    assert (shown.start, shown.end, shown.until) == (3, 19, 74)


def test_of_a_long_function_every_exit_is_shown_with_its_condition():
    body = ["    a = 1"] * 70
    body[20:23] = ["    if n:", "        a = 2", "        return None"]
    files = {"a.py": "\n".join(("x = load(1)", "", "def load(n):", *body, "    return a", ""))}
    shown = found(files, ("a.py", 1))
    assert [(part.start, part.end) for part in shown] == [(3, 19), (24, 26), (74, 74)]
    assert shown[1].text == "    if n:\n        a = 2\n        return None"


@pytest.mark.parametrize("trouble", [GiveUp, TryLater])
def test_a_search_that_fails_is_the_last_one(trouble):
    code, asked = MemoryCode(many(9)), []

    def search(query, path, limit):
        asked.append(query)
        raise trouble("too many files")

    one = case(("a/caller.py", 1))
    assert (
        called_definitions(one, Lookup(PathIndex(code.files), code.read_file, search), set()) == ()
    )
    assert len(asked) == 1


# Tests of a file, by their names.

TREE = (
    *("tests/test_cookies.py", "tests/test_downloadermiddleware_cookies.py"),
    *("tests/test_http_cookies.py", "tests/cookies.md", "docs/cookies.py"),
    *("spec/models/order_spec.rb", "spec/models/order_item_spec.rb", "app/models/order.rb"),
    *("src/pay/__tests__/dates.test.ts", "src/pay/dates.spec.tsx", "src/pay/dates.ts"),
    *("src/test/java/a/CartTest.java", "src/test/java/a/CartLineTest.java"),
    *("pay/dates_test.go", "tests/Feature/OrderTest.php", "Shop.Tests/CartTests.cs"),
)


@pytest.mark.parametrize(("path", "expected"), TABLES["tests_are_found_by_the_words_of_names"])
def test_tests_are_found_by_the_words_of_names(path, expected):
    assert files_testing(path, TREE) == tuple(expected)
