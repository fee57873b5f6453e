""""""

from datetime import UTC, datetime, timedelta

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import Lookup
from nightwatch_core.code.candidates import (
    candidates,
    meant_definitions,
    named_definitions,
    named_templates,
    names_in_message,
)
from nightwatch_core.code.limits import NAMED, NAMED_SEARCHES
from nightwatch_core.code.releases import ago
from nightwatch_core.models.code import MergedPull, Release
from nightwatch_core.models.errors import Case, ErrorGroup, ExceptionLink, Frame, Trace
from nightwatch_core.models.research import LikelyFile
from nightwatch_core.traces.placing import PathIndex

NOW = datetime(2026, 11, 3, 2, tzinfo=UTC)
FIRST = NOW - timedelta(hours=5)


def pull(number: int, *files: str, hours: float = 2) -> MergedPull:
    """Merged that many hours before the error was first seen."""
    return MergedPull(
        number=number,
        title="",
        sha=f"{number:040}",
        merged_at=FIRST - timedelta(hours=hours),
        files=files,
    )


def case(*files: str, first: datetime | None = FIRST, last: datetime | None = NOW) -> Case:
    group = ErrorGroup(
        fingerprint="v1:1", source="file", error_class="E", first_seen=first, last_seen=last
    )
    frames = tuple(Frame(path=f"/srv/{f}", repo_path=f, in_app=True) for f in files)
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def order(found: Case, *pulls: MergedPull) -> list[int]:
    return [suspect.pull.number for suspect in candidates(found, (), pulls)]


def test_the_change_of_the_top_frame_is_suspected_first() -> None:
    found = candidates(
        case("app/a.rb", "app/b.rb"),
        (),
        (pull(1, "lib/x.rb"), pull(2, "app/b.rb"), pull(3, "app/a.rb")),
    )
    assert [suspect.pull.number for suspect in found] == [3, 2]
    assert found[0].because == (
        "changes app/a.rb, the top frame",
        "changes a file beside app/b.rb, frame 2",
        "merged 2 h before first seen",
    )
    assert 0 < found[1].score < found[0].score <= 1


def test_what_touches_nothing_near_is_no_suspect() -> None:
    assert order(case("app/a.rb"), pull(1, "lib/x.rb"), pull(2)) == []
    assert order(case(), pull(1, "lib/x.rb")) == []


@pytest.mark.parametrize(("first", "last"), [(FIRST, NOW), (None, FIRST)])
def test_merged_after_the_error_was_seen_is_out(first: datetime, last: datetime) -> None:
    found = case("a.rb", first=first, last=last)
    assert order(found, pull(1, "a.rb", hours=-1), pull(2, "a.rb", hours=1)) == [2]


def test_the_first_occurrence_of_any_group_counts() -> None:
    earlier = ErrorGroup(
        fingerprint="v1:2", source="file", error_class="E", first_seen=FIRST - timedelta(hours=9)
    )
    both = case("a.rb").model_copy(update={"others": (earlier,)})
    assert order(both, pull(1, "a.rb", hours=8), pull(2, "a.rb", hours=10)) == [2]


def test_what_is_only_near_is_no_suspect_but_in_the_first_failing_release() -> None:
    beside, test = pull(1, "app/b.rb"), pull(2, "test/a_test.rb")
    found = case("app/a.rb")
    assert order(found, beside, test) == []
    running = Release(version="7", sha="f" * 40, at=FIRST - timedelta(hours=1))
    before = Release(version="6", sha="e" * 40, at=FIRST - timedelta(hours=9))
    assert candidates(found, (), (beside, test), (running,)) == ()
    (near,) = candidates(found, (), (beside, test), (running, before))
    assert near.because == (
        "changes the test of app/a.rb, the top frame",
        "part of release 7, which was running when it was first seen",
    )


def test_a_weak_score_is_no_suspect() -> None:
    weak = (LikelyFile(path="app/l.rb", score=0.3),)
    assert candidates(case("lib/a.rb"), weak, (pull(1, "app/l.rb"),)) == ()
    strong = (LikelyFile(path="app/l.rb", score=0.9),)
    assert len(candidates(case("lib/a.rb"), strong, (pull(1, "app/l.rb"),))) == 1


def test_the_fresher_of_two_equal_changes_comes_first() -> None:
    month = 30 * 24
    assert order(case("a.rb"), pull(1, "a.rb", hours=month), pull(2, "a.rb")) == [2, 1]


def test_large_pulls_are_damped() -> None:
    many = tuple(f"lib/{n}.rb" for n in range(200))
    assert order(case("a.rb"), pull(1, "a.rb", *many), pull(2, "a.rb", hours=20)) == [2, 1]


def test_a_file_that_everybody_changes_says_less() -> None:
    crowd = tuple(pull(n, "routes.rb", hours=3) for n in range(10, 40))
    both = case("routes.rb", "rare.rb")
    found = candidates(both, (), (*crowd, pull(1, "rare.rb", hours=3)), limit=40)
    scores = {suspect.pull.number: suspect.score for suspect in found}
    alone = candidates(both, (), crowd[:1])[0].score
    assert scores[10] < alone


def test_likely_files_count_without_a_trace_and_less_beside_one() -> None:
    likely = (LikelyFile(path="app/l.rb", score=0.7),)
    bare = case().model_copy(update={"trace": None})
    (alone,) = candidates(bare, likely, (pull(1, "app/l.rb"),))
    assert alone.because[0] == "changes app/l.rb, a likely file"
    (beside,) = candidates(case("lib/a.rb"), likely, (pull(1, "app/l.rb"),))
    assert beside.score < alone.score


def test_pulls_of_the_first_failing_release_are_fresh() -> None:
    releases = (
        Release(version="2", sha="b", at=FIRST - timedelta(hours=1)),
        Release(version="1", sha="a", at=FIRST - timedelta(days=40)),
    )
    old = pull(1, "a.rb", hours=39 * 24)
    (without,) = candidates(case("a.rb"), (), (old,))
    failing = case("a.rb")
    leader = failing.leader.model_copy(update={"releases": ("2",)})
    failing = failing.model_copy(update={"leader": leader})
    (within,) = candidates(failing, (), (old,), releases)
    assert within.because[-1] == "part of release 2, the first one failing"
    assert within.score > without.score
    older = pull(2, "a.rb", hours=41 * 24)
    (before,) = candidates(case("a.rb"), (), (older,), releases)
    assert before.because[-1] == "merged 41 days before first seen"


def test_times_may_be_unknown() -> None:
    (found,) = candidates(case("a.rb", first=None, last=None), (), (pull(1, "a.rb"),))
    assert found.because == ("changes a.rb, the top frame",)
    (found,) = candidates(case("a.rb", first=None), (), (pull(1, "a.rb"),))
    assert found.because[-1] == "merged 7 h before last seen"


def test_scores_and_number_are_bounded() -> None:
    files = tuple(f"f{n}.rb" for n in range(50))
    found = candidates(case(*files), (), tuple(pull(n, *files) for n in range(20)))
    assert len(found) == 5
    assert all(0 < suspect.score <= 1 for suspect in found)
    assert candidates(case("a.rb"), (), (pull(1, "a.rb"),), limit=0) == ()


def test_ties_do_not_depend_on_the_order_of_pulls() -> None:
    pulls = tuple(pull(n, "a.rb") for n in range(4))
    assert order(case("a.rb"), *pulls) == order(case("a.rb"), *reversed(pulls))


def test_times_for_people() -> None:
    assert [ago(timedelta(hours=h)) for h in (0, 1, 47, 48)] == ["0 min", "1 h", "47 h", "2 days"]


# What messages name, at its definition.


def case_saying(message: str, error_class: str = "E") -> Case:
    group = ErrorGroup(fingerprint="v1:1", source="file", error_class=error_class, message=message)
    return Case(leader=group)


def lookup(files: dict[str, str], *frames: str) -> Lookup:
    code = MemoryCode(files)
    return Lookup(PathIndex(files), code.read_file, code.search, frames)


@pytest.mark.parametrize(
    ("error_class", "message", "expected"),
    [
        ("IntegrityError", "NOT NULL constraint failed: shop_cart.total_net", ("total_net",)),
        ("KeyError", "'unit_price'", ("unit_price",)),
        ("AttributeError", "'Console' object has no attribute 'port'", ("port", "Console")),
        ("TypeError", "f() got an unexpected keyword argument 'dry_run'", ("dry_run",)),
        (
            "PG::UniqueViolation",
            'duplicate key value violates unique constraint "index_users_on_email"',
            ("index_users_on_email",),
        ),
        ("NoMethodError", "undefined method 'city' for nil", ()),
        ("TypeError", "Cannot read properties of undefined (reading 'captureId')", ()),
        ("ValueError", "it broke", ()),
    ],
)
def test_names_of_messages(error_class: str, message: str, expected: tuple[str, ...]) -> None:
    assert names_in_message(case_saying(message, error_class)) == expected


def test_no_more_names_than_can_be_looked_for() -> None:
    message = " ".join(f"some_name_{n}" for n in range(50))
    assert len(names_in_message(case_saying(message))) == NAMED_SEARCHES


DJANGO = {
    "shop/views.py": "def show(cart):\n    cart.save()\n",
    "shop/models.py": "class Cart:\n    a = 1\n    total_net = Decimal(null=False)\n    b = 2\n",
    "shop/migrations/0001.py": "field('total_net', name='total_net')\ntotal_net = 1\n",
    "locale/de.po": 'msgid "total_net"\n',
}
NULL = case_saying("NOT NULL constraint failed: shop_cart.total_net", "IntegrityError")


def test_a_column_is_shown_where_it_is_defined_and_not_in_migrations() -> None:
    (one,) = named_definitions(NULL, lookup(DJANGO, "shop/views.py"), set())
    assert (one.path, one.start, one.kind) == ("shop/models.py", 3, "named")
    assert one.because == "the message names total_net"


def test_what_was_seen_is_not_looked_for() -> None:
    known = lookup(DJANGO, "shop/models.py")
    assert named_definitions(NULL, known, {("shop/models.py", 3)}) == ()


@pytest.mark.parametrize(
    ("path", "row"),
    [
        ("db/schema.rb", "    t.string :total_net, null: false"),
        ("app/cart.rb", '  add_index :carts, name: "total_net"'),
        ("db/a.sql", "  CONSTRAINT `total_net` CHECK (a > 1)"),
        ("src/cart.ts", "  totals = {\n    'total_net': 3,\n  }"),
    ],
)
def test_schemas_and_keys_are_shown_with_the_lines_around(path: str, row: str) -> None:
    files = {path: f"# 1\n# 2\n{row}\n# 4\n", "tests/test_a.py": "total_net = 1\n"}
    (one,) = named_definitions(NULL, lookup(files), set())
    assert one.path == path
    assert "total_net" in one.text


def test_uses_alone_say_nothing() -> None:
    files = {"a.py": "print(cart.total_net)\n", "b.rb": "puts total_net\n"}
    assert named_definitions(NULL, lookup(files), set()) == ()


def test_words_of_a_message_lead_to_what_they_name() -> None:
    files = {
        "src/dialect.ts": "export function createCteExpression(q) {\n  return q;\n}\n",
        "src/other.ts": "export function createTable(q) {\n  return q;\n}\n",
    }
    of = case_saying("Common table expression must not be empty")
    (one,) = meant_definitions(of, lookup(files), set())
    assert (one.path, one.start, one.end, one.kind) == ("src/dialect.ts", 1, 3, "guess")
    assert one.because == "the message says common table expression"


def test_words_in_full_lead_there_too_and_never_far() -> None:
    files = {
        "a.py": "def retry_lease_renewal(x):\n    return x\n",
        "b.py": "def retry_lease(x): 1\n",
    }
    (one,) = meant_definitions(case_saying("Retry lease renewal of 7"), lookup(files), set())
    assert one.path == "a.py"
    many = {f"{n}.py": "def retry_lease_renewal(x):\n    return x\n" for n in range(9)}
    assert (
        len(meant_definitions(case_saying("Retry lease renewal of 7"), lookup(many), set()))
        <= NAMED
    )
    assert meant_definitions(case_saying("it broke and the and"), lookup(files), set()) == ()


def test_hostile_messages_take_no_time() -> None:
    for text in ("'" * 90_000, "a_" * 50_000, "aA" * 50_000, "'a.b" * 20_000, "( (" * 30_000):
        named_definitions(case_saying(text), lookup(DJANGO), set())
        meant_definitions(case_saying(text), lookup(DJANGO), set())


# Templates that errors lead to.

FILES = {
    "shop/views.py": "def show(it):\n    cart = 1\n    return render(it, 'cart/show.html')\n",
    "app/Cart.php": "<?php\nfunction f() {\n  return view('cart.show');\n}\n",
    "shop/templates/cart/show.html": "<p>\n" * 50 + "{{ cart.total_net }}\n" + "</p>\n" * 50,
    "resources/views/cart/show.blade.php": "<p>\n{{ $cart->total_net }}\n",
}


def template_case(
    path: str, engine: str, message: str = "'cart' has no attribute 'total_net'"
) -> Case:
    frames = (Frame(path=engine, line=9), Frame(path=path, repo_path=path, line=3, in_app=True))
    group = ErrorGroup(fingerprint="v1:1", source="file", error_class="E", message=message)
    return Case(leader=group, trace=Trace(links=(ExceptionLink(frames=frames),)))


def shown(one: Case) -> list[tuple[str, str]]:
    code = MemoryCode(FILES)
    known = Lookup(PathIndex(FILES), code.read_file, code.search)
    return [(preview.path, preview.because) for preview in named_templates(one, known, set())]


@pytest.mark.parametrize(
    ("path", "engine", "expected"),
    [
        ("shop/views.py", "/lib/site-packages/jinja2/environment.py",
         [("shop/templates/cart/show.html", "views.py:3 renders it")]),
        ("app/Cart.php", "/app/storage/framework/views/0a1b.php",
         [("resources/views/cart/show.blade.php", "Cart.php:3 renders it")]),
        ("shop/views.py", "/lib/site-packages/django/db/models.py", []),
    ],
)  # fmt: skip
def test_what_failing_lines_render(path: str, engine: str, expected: list[tuple[str, str]]) -> None:
    assert shown(template_case(path, engine)) == expected


def test_what_the_message_names() -> None:
    message = "Undefined variable (View: /srv/app/resources/views/cart/show.blade.php)"
    assert shown(template_case("a.py", "/app/storage/framework/views/0a1b.php", message)) == [
        ("resources/views/cart/show.blade.php", "the message names it")
    ]


def test_the_line_that_the_message_is_about_is_shown() -> None:
    code = MemoryCode(FILES)
    known = Lookup(PathIndex(FILES), code.read_file, code.search)
    (one,) = named_templates(template_case("shop/views.py", "/x/jinja2/a.py"), known, set())
    assert "{{ cart.total_net }}" in one.text
    assert one.kind == "flow"


def test_hostile_messages_name_no_template() -> None:
    for text in ("a/" * 50_000, "a." * 50_000, "view('" * 20_000):
        assert shown(template_case("shop/gone.py", "/x/jinja2/a.py", text)) == []
