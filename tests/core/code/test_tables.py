"""The model of a table that a database error names, and who writes its column."""

import pytest
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.code.candidate_symbols import Lookup
from nightwatch_core.code.tables import named_in, table_definitions
from nightwatch_core.models.errors import Case, ErrorGroup
from nightwatch_core.traces.placing import PathIndex

TABLES = tables_of(__file__)
FAILING = "app/saving.py"


def shown(message, files):
    code = MemoryCode({FAILING: "cart.save()\n", **files})
    group = ErrorGroup(fingerprint="v1:0", source="file", error_class="E", message=message)
    endings = {path.rpartition(".")[2] for path in files}
    frames = tuple(path for path in code.files if path.rpartition(".")[2] in endings)
    known = Lookup(PathIndex(code.files), code.read_file, code.search, frames)
    return table_definitions(Case(leader=group), known, set())


@pytest.mark.parametrize(("message", "expected"), TABLES["what_a_database_names"])
def test_what_a_database_names(message, expected):
    assert named_in(message) == tuple(expected)


@pytest.mark.parametrize(
    ("table", "path", "text", "line"), TABLES["models_are_found_by_what_frameworks_call_tables"]
)
def test_models_are_found_by_what_frameworks_call_tables(table, path, text, line):
    found = shown(f"NOT NULL constraint failed: {table}.owner_id", {path: text})
    assert [(one.kind, one.path, one.start) for one in found] == [("table", path, line)]


def test_of_a_long_model_the_column_and_everywhere_who_writes_it():
    fields = "".join(f"    f{n} = 1\n" for n in range(20))
    files = {
        "shop/models.py": f"class Cart(Model):\n{fields}    owner = Key(null=False)\n",
        "shop/views.py": "cart.owner = None\nowner = 1\nif cart.owner == 1:\n    Cart(owner=2)\n"
        "d['owner'] = 3\n",
        "shop/migrations/1.py": "cart.owner = 1\n",
        "tests/test_a.py": "cart.owner = 1\n",
    }
    found = shown("NOT NULL constraint failed: shop_cart.owner", files)
    assert [(one.kind, one.path, one.start) for one in found] == [
        ("table", "shop/models.py", 1), ("table", "shop/models.py", 22),
        ("flow", "shop/views.py", 1), ("flow", "shop/views.py", 4), ("flow", "shop/views.py", 5),
    ]  # fmt: skip
