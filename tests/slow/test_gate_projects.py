"""The gate over real programs: one small project a language, good fixes and bad ones."""

import pytest
from adapters.sandbox import cells
from adapters.sandbox.cells import COMMIT
from machine import needs
from tables import tables_of
from twins.reading import MemoryCode

from nightwatch_core.models.options import NightOptions
from nightwatch_core.models.proposals import DraftPull, FileChange
from nightwatch_core.proof.environment import NightCache
from nightwatch_core.proof.gate import gated

pytestmark = [pytest.mark.slow]
TABLES = tables_of(__file__)
LANGUAGES = {name: table for name, table in TABLES.items() if "program" in table}
PYTHON, RUBY, NODE = (LANGUAGES[name]["files"] for name in ("python", "ruby", "javascript"))


def asked(sandbox, files, cache, path, text, **more):
    draft = DraftPull(
        **{"key": "k", "fingerprint": "v1:a", "branch": "b", "base": "main", "title": "t"},
        **{"body": "", "commit_message": "", "commit": COMMIT.sha},
        changes=tuple(FileChange(path=p, text=t) for p, t in {path: text, **more}.items()),
    )
    return gated(draft, MemoryCode(files, COMMIT), sandbox, NightOptions(), cache)


@pytest.fixture(scope="module", params=list(LANGUAGES))
def project(request, tmp_path_factory):
    """Asks the gate about a text of the language's file; the base is run once for all of them."""
    program, path, files, texts = LANGUAGES[request.param].values()
    state = tmp_path_factory.mktemp("state")
    needs("sandbox", program)
    sandbox, cache = cells.sandbox(state, files), NightCache()

    yield lambda name: asked(sandbox, files, cache, path, texts[name])
    sandbox.close()


def test_a_good_fix_passes_and_what_was_red_before_is_named(project):
    result = project("good")
    assert result.outcome == "passed", result
    assert len(result.preexisting) == 1
    assert "old" in result.preexisting[0].lower()


@pytest.mark.parametrize("name", ["wrong", "syntax", "running", "ending"])
def test_a_bad_fix_fails_with_what_is_wrong(project, name):
    result = project(name)
    assert result.outcome == "failed", result
    assert result.text


@pytest.mark.parametrize(("old", "executing"), [("a + b", None), ("a - b", 0)])
def test_what_is_compiled_and_runs_in_a_stopped_thread_is_known(old, executing, tmp_path):
    needs("sandbox", "node")
    files = TABLES["compiled"]
    path = "lib/cart.cjs"
    sandbox = cells.sandbox(tmp_path, files)
    result = asked(sandbox, files, NightCache(), path, files[path].replace(old, f"{old} + 0"))
    sandbox.close()
    assert (result.outcome, result.executing) == ("passed", executing), result


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("<%= form_with do |f| %>\n<% if @lines %>x<% end %>\n<% end %>\n", True),
        ("<% if @lines %>\n", False),
    ],
)
def test_a_template_is_parsed_by_what_renders_it(text, passes, tmp_path):
    needs("sandbox", "ruby")
    files = {**RUBY, "views/cart.erb": "<%= @lines %>\n"}
    sandbox = cells.sandbox(tmp_path, files)
    result = asked(sandbox, files, NightCache(), "views/cart.erb", text)
    sandbox.close()
    assert result.checks[0].name == "syntax"
    assert (result.checks[0].outcome == "passed") == passes


DATABASE = """
import socket, unittest
from shop.cart import total
class Stored(unittest.TestCase):
    def setUp(self): socket.create_connection(("127.0.0.1", 5432), 1).close()
    def test_{name}(self): self.assertEqual(total([]), 0)
"""


@pytest.mark.parametrize("name", ["good", "wrong"])
def test_new_tests_that_ask_for_a_service_that_is_not_here_say_nothing(name, tmp_path):
    needs("sandbox")
    files = {**PYTHON, "tests/test_stored.py": DATABASE.format(name="old")}
    sandbox, text = cells.sandbox(tmp_path, files), LANGUAGES["python"]["texts"][name]
    new = {"tests/test_empty.py": DATABASE.format(name="empty")}
    result = asked(sandbox, files, NightCache(), "shop/cart.py", text, **new)
    sandbox.close()
    assert result.outcome == {"good": "passed", "wrong": "failed"}[name], result
    if name == "good":
        assert result.silent == ("test_empty (tests.test_empty.Stored.test_empty)",)
        assert "test_old (tests.test_stored.Stored.test_old)" in result.preexisting
        assert result.executing == 1
