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
LANGUAGES = tables_of(__file__)
PYTHON, RUBY, NODE = (LANGUAGES[name]["files"] for name in ("python", "ruby", "javascript"))


def asked(sandbox, files, cache, path, text):
    draft = DraftPull(
        **{"key": "k", "fingerprint": "v1:a", "branch": "b", "base": "main", "title": "t"},
        **{"body": "", "commit_message": "", "commit": COMMIT.sha},
        changes=(FileChange(path=path, text=text),),
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
    assert "old" in result.preexisting[0]


@pytest.mark.parametrize("name", ["wrong", "syntax", "running", "ending"])
def test_a_bad_fix_fails_with_what_is_wrong(project, name):
    result = project(name)
    assert result.outcome == "failed", result
    assert result.text


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
