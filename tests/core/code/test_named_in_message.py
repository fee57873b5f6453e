"""What messages name, at its definition."""

import pytest
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import Lookup
from nightwatch_core.code.candidates import meant_definitions, named_definitions, names_in_message
from nightwatch_core.code.limits import NAMED, NAMED_SEARCHES
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.traces.placing import PathIndex


def case(message: str, error_class: str = "E") -> Case:
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
    assert names_in_message(case(message, error_class)) == expected


def test_no_more_names_than_can_be_looked_for() -> None:
    message = " ".join(f"some_name_{n}" for n in range(50))
    assert len(names_in_message(case(message))) == NAMED_SEARCHES


DJANGO = {
    "shop/views.py": "def show(cart):\n    cart.save()\n",
    "shop/models.py": "class Cart:\n    a = 1\n    total_net = Decimal(null=False)\n    b = 2\n",
    "shop/migrations/0001.py": "field('total_net', name='total_net')\ntotal_net = 1\n",
    "locale/de.po": 'msgid "total_net"\n',
}
NULL = case("NOT NULL constraint failed: shop_cart.total_net", "IntegrityError")


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
    of = case("Common table expression must not be empty")
    (one,) = meant_definitions(of, lookup(files), set())
    assert (one.path, one.start, one.end, one.kind) == ("src/dialect.ts", 1, 3, "guess")
    assert one.because == "the message says common table expression"


def test_words_in_full_lead_there_too_and_never_far() -> None:
    files = {
        "a.py": "def retry_lease_renewal(x):\n    return x\n",
        "b.py": "def retry_lease(x): 1\n",
    }
    (one,) = meant_definitions(case("Retry lease renewal of 7"), lookup(files), set())
    assert one.path == "a.py"
    many = {f"{n}.py": "def retry_lease_renewal(x):\n    return x\n" for n in range(9)}
    assert len(meant_definitions(case("Retry lease renewal of 7"), lookup(many), set())) <= NAMED
    assert meant_definitions(case("it broke and the and"), lookup(files), set()) == ()


def test_hostile_messages_take_no_time() -> None:
    for text in ("'" * 90_000, "a_" * 50_000, "aA" * 50_000, "'a.b" * 20_000, "( (" * 30_000):
        named_definitions(case(text), lookup(DJANGO), set())
        meant_definitions(case(text), lookup(DJANGO), set())
