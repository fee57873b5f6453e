"""Tests of the rules' explanations: conversations over miniature repositories, no network."""

from datetime import UTC, datetime

import pytest
from small_repo import answered, case, explained, frame
from tables import tables_of

from nightwatch_core.models.code import MergedPull, Suspect
from nightwatch_core.models.errors import ExceptionLink
from nightwatch_core.models.research import ResearchContext

TABLES = tables_of(__file__)

OLD, NEW = ("a" * 40, "2026-01-01"), ("b" * 40, "2026-02-01")
SHOP = TABLES["shop"]
NONE = case(
    "AttributeError",
    "'NoneType' object has no attribute 'total'",
    frame("shop/orders.py", 14, "show", code="return order.total"),
)


def pull(sha, *files, number=7):
    merged = MergedPull(
        number=number, title="Faster orders", sha=sha, files=files,
        merged_at=datetime(2026, 2, 1, tzinfo=UTC),
    )  # fmt: skip
    return Suspect(pull=merged, score=0.8, because=("touches the failing file",))


def quotes_stand(answer, files):
    """Every quote is a line of the file at its number: nothing is made up."""
    for evidence in answer.evidence:
        assert files[evidence.path].split("\n")[evidence.line - 1].strip() == evidence.quote


def test_none_is_followed_to_the_function_that_gives_it():
    answer, calls = explained(NONE, SHOP)
    assert answer.title == "AttributeError: `order` is None in shop/orders.py:14"
    assert answer.root_cause == (
        "`order` is None in shop/orders.py:14. shop/orders.py:13 calls `find_order` "
        "(shop/orders.py:6), which returned it: shop/orders.py:8 returns None where "
        "`number not in store.ORDERS`."
    )
    assert [e.line for e in answer.evidence] == [14, 13, 8]
    assert answer.confidence == "medium"
    assert (answer.has_fix, answer.file_changes) == (False, ())
    assert answer.tags == ("none-receiver",)
    assert answer.learnings[0].fact == (
        "`find_order` in shop/orders.py:6 can return None (shop/orders.py:8)."
    )
    assert answer.suggested_next_steps
    assert calls[0].arguments["path"] == "shop/orders.py"
    quotes_stand(answer, SHOP)


def test_the_exit_comes_first_where_it_is_younger_than_its_caller():
    written = {("shop/orders.py", 14): OLD, ("shop/orders.py", 8): (*NEW, "        raise Gone()")}
    research = ResearchContext(suspects=(pull(NEW[0], "shop/orders.py"),))
    answer, _ = explained(seen_first("2026-02-03"), SHOP, written, research)
    assert answer.evidence[0].line == 8
    assert answer.suspect_commit == "b" * 10
    assert "pull request #7 (Faster orders, 2026-02-01)" in answer.root_cause


def seen_first(day):
    """The case of None, first seen on that day."""
    at = datetime.fromisoformat(day).replace(tzinfo=UTC)
    leader = NONE.leader.model_copy(update={"first_seen": at})
    return NONE.model_copy(update={"leader": leader})


def test_that_a_line_is_new_or_a_change_is_near_proves_no_commit():
    research = ResearchContext(suspects=(pull(NEW[0], "shop/orders.py"),))
    written = {("shop/orders.py", 14): NEW}
    answer, _ = explained(seen_first("2026-02-03"), SHOP, written, research)
    assert answer.suspect_commit == ""
    assert "shop/orders.py:14 was last written by bbbbbbbbbb" in answer.root_cause
    assert "likeliest" not in answer.root_cause


@pytest.mark.parametrize(
    ("seen", "proved"),
    [("2026-02-03", True), ("2026-02-28", True), ("2026-04-01", False), ("2026-01-15", False)],
)
def test_an_exit_that_came_long_before_or_after_the_error_names_no_commit(seen, proved):
    written = {("shop/orders.py", 14): OLD, ("shop/orders.py", 8): (*NEW, "        raise Gone()")}
    answer, _ = explained(seen_first(seen), SHOP, written)
    assert answer.suspect_commit == ("b" * 10 if proved else "")


def test_the_blamed_commit_is_named_and_not_the_merge_that_took_it_along():
    merged = pull("c" * 40, "shop/orders.py")
    known = merged.pull.model_copy(update={"commits": (NEW[0],)})
    research = ResearchContext(suspects=(merged.model_copy(update={"pull": known}),))
    written = {("shop/orders.py", 14): OLD, ("shop/orders.py", 8): (*NEW, "        raise Gone()")}
    answer, _ = explained(seen_first("2026-02-03"), SHOP, written, research)
    assert answer.suspect_commit == "b" * 10
    assert "shop/orders.py:8 was merged with pull request #7" in answer.root_cause


@pytest.mark.parametrize("files", [SHOP, {}])
def test_a_near_change_that_nothing_proves_is_something_to_look_at(files):
    research = ResearchContext(suspects=(pull(NEW[0], "shop/orders.py"),))
    answer, _ = explained(NONE, files, {}, research)
    given = answer.handover.look_at if answer.handover else answer.suggested_next_steps
    assert "Look at pull request #7 (Faster orders): touches the failing file." in given
    assert answer.suspect_commit == ""


def test_other_code_gives_another_answer_and_no_code_gives_none():
    other = {"shop/orders.py": SHOP["shop/orders.py"].replace("order.total", "basket.total")}
    answer, _ = explained(NONE, other)
    assert answer.confidence == "low"
    assert "stale-code" in answer.tags
    assert answer.evidence == ()
    answer, calls = explained(NONE, {})
    assert answer.confidence == "low"
    assert answer.evidence == ()
    assert "could not be read at this commit" in answer.root_cause
    assert answer.handover.lines == ()
    assert len(calls) == 1


def test_a_line_that_moved_is_found_again():
    moved = {"shop/orders.py": "# one\n# two\n" + SHOP["shop/orders.py"]}
    answer, _ = explained(NONE, moved)
    assert answer.evidence[0].line == 16
    assert answer.confidence == "medium"


def test_ruby_raises_a_wrong_number_of_arguments_where_the_called_function_begins():
    files = {"app/agent.rb": "class Agent\n  def reload\n    super\n  end\nend\n"}
    message = "wrong number of arguments (given 1, expected 0)"
    own = frame("app/agent.rb", 2, "reload")
    library = frame("gems/record.rb", 72, "lock!", in_app=False)
    answer, _ = explained(case("ArgumentError", message, own, library, language="ruby"), files)
    assert answer.title == (
        "ArgumentError: `reload` is called with another number of arguments in app/agent.rb:2"
    )
    assert "/srv/gems/record.rb:72 (`lock!`) calls it" in answer.root_cause
    quotes_stand(answer, files)
    answer, _ = explained(case("ArgumentError", message, library, own, language="ruby"), files)
    assert answer.root_cause.startswith("Cause unknown"), "it is no call of this function"


def test_an_error_raised_on_purpose_names_its_condition_and_its_caller():
    files = {
        "shop/check.py": (
            "def check(order):\n    if order.total < 0:\n        raise Refused('no')\n"
        ),
        "shop/page.py": "def page(order):\n    check(order)\n",
    }
    frames = (frame("shop/check.py", 3, "check"), frame("shop/page.py", 2, "page"))
    answer, _ = explained(case("shop.Refused", "no", *frames), files)
    assert answer.root_cause == "Cause unknown: why shop/check.py:3 raises Refused."
    looked = " ".join(answer.handover.look_at)
    assert "raises it, after `if order.total < 0:` in line 2" in looked
    assert "Called from shop/page.py:2" in looked
    quotes_stand(answer, files)


def test_a_timeout_is_transient_names_its_neighbour_and_has_no_fix():
    files = {"shop/pay.py": "import requests\n\n\ndef pay(o):\n    return requests.post(URL, o)\n"}
    message = "HTTPSConnectionPool(host='pay.example', port=443): Read timed out."
    frames = (frame("requests/api.py", 9, in_app=False), frame("shop/pay.py", 5, "pay"))
    answer, _ = explained(case("requests.exceptions.ReadTimeout", message, *frames), files)
    assert answer.handover.value == "pay.example timed out"
    assert "transient" in answer.tags
    assert any("Retry with backoff" in step for step in answer.handover.look_at)
    assert not answer.has_fix


@pytest.mark.parametrize(("path", "error", "code", "why", "value", "looked"), TABLES["advice"])
def test_what_is_said_without_a_cause(path, error, code, why, value, looked):
    error_class, _, message = error.partition(": ")
    marks = (("f", "shown"), ("c", "main"))
    frames = ((path, mark, function) for mark, function in marks if f"«{mark}»" in code)
    language = {"py": "python", "rb": "ruby", "js": "javascript"}[path[-2:]]
    answer = answered(error_class, message, {path: code}, *frames, language=language)
    assert answer.root_cause == f"Cause unknown: {why}."
    assert answer.handover.value == value
    assert list(answer.handover.look_at) == looked


def test_a_library_is_named_by_its_file_and_not_by_the_names_of_minified_code():
    frames = (frame("nordigen/dist/index.esm.js", 9, "request", in_app=False),)
    answer, _ = explained(case("h", "getaddrinfo ENOTFOUND x.example", *frames), {})
    assert answer.root_cause == "Cause unknown: why index.esm.js (request) raises the error."
    assert answer.title == "h in index.esm.js (request)"


def test_the_line_itself_is_not_its_caller():
    files = {"a.rb": "def closed?\n  all.detect {|one| one.closed? }\nend\n"}
    frames = (frame("a.rb", 2, "block in closed?"), frame("a.rb", 2, "closed?"))
    answer, _ = explained(case("Odd", "no", *frames, language="ruby"), files)
    assert answer.handover.look_at == ()
    called = {"a.rb": "def dig(x)\n  x.a\nrescue Odd\n  x.b\nend\n", "b.rb": "dig(1)\n"}
    own = (frame("a.rb", 4, "rescue in dig"), frame("a.rb", 1, "dig"))
    answer, _ = explained(
        case("Odd", "no", *own, frame("b.rb", 1, "<main>"), language="ruby"), called
    )
    assert answer.handover.look_at == ("Called from b.rb:1 (`dig(1)`).",)
    answer, _ = explained(case("Odd", "no", *own, language="ruby"), called)
    assert answer.handover.look_at == ()


def test_a_cause_that_the_message_names_is_not_told_again():
    root = ExceptionLink(error_class="sqlite3.E", message="b", frames=(frame("a.py", 1, "f"),))
    outer = case("db.E", "(sqlite3.E) b", frame("a.py", 1, "f"), causes=(root,))
    answer, _ = explained(outer, {"a.py": "commit()\n"})
    assert answer.handover.look_at == ()


def test_the_commit_that_began_the_history_is_not_told():
    written = {("shop/orders.py", 14): ("0" * 40, "2026-01-01")}
    answer, _ = explained(NONE, SHOP, written)
    assert "last written" not in answer.root_cause


def test_a_chain_is_explained_from_its_root():
    root = ExceptionLink(
        error_class="KeyError", message="'a'", frames=(frame("shop/rows.py", 2, "load"),)
    )
    wrapped = case("PageError", "page broke", frame("shop/page.py", 1, "page"), causes=(root,))
    files = {"shop/rows.py": 'def load(row):\n    return row["a"]\n', "shop/page.py": "load({})\n"}
    answer, _ = explained(wrapped, files)
    assert answer.evidence[0].path == "shop/rows.py"
    assert answer.root_cause == "Cause unknown: why `row` has no key `a` in shop/rows.py:2."
    assert "PageError was caused by KeyError" in answer.handover.look_at[0]


def test_an_unknown_failure_says_so():
    answer, _ = explained(
        case("PaymentDeclined", "card refused", frame("shop/orders.py", 14, "show")), SHOP
    )
    assert answer.confidence == "low"
    assert answer.root_cause == "Cause unknown: why shop/orders.py:14 raises PaymentDeclined."
    assert answer.tags == ("unknown-cause",)
    assert answer.handover.line == 14
