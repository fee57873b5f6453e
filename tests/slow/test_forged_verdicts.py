"""Whether code can write its own verdict, and what a green suite says of lines that nobody runs."""

import pytest
from adapters.sandbox import cells
from machine import needs
from slow.test_gate_projects import LANGUAGES, asked
from tables import tables_of

from nightwatch_core.code.capabilities import new_capability
from nightwatch_core.code.edit_policy import refusal
from nightwatch_core.models.proposals import FileChange
from nightwatch_core.proof.environment import NightCache

pytestmark = [pytest.mark.slow]
FORGED = [(name, text) for name, texts in tables_of(__file__).items() for text in texts]
CART = "def total(prices):\n    return sum(prices) / len(prices)\n"


@pytest.fixture(scope="module")
def gate(tmp_path_factory):
    opened = {}

    def gated(language, text, path="", more=()):
        program, own, files, _ = LANGUAGES[language].values()
        needs("sandbox", program)
        files = {**files, **dict(more)}
        if (language, more) not in opened:
            state = tmp_path_factory.mktemp("state")
            opened[language, more] = cells.sandbox(state, files), NightCache(mark="night")
        sandbox, cache = opened[language, more]
        return asked(sandbox, files, cache, path or own, text)

    yield gated
    for sandbox, _ in opened.values():
        sandbox.close()


@pytest.mark.parametrize(("language", "text"), FORGED)
def test_no_forged_verdict_is_a_proof(gate, language, text):
    path, files = LANGUAGES[language]["path"], LANGUAGES[language]["files"]
    if new_capability(FileChange(path=path, text=text), files[path]):
        return  # refused before anything runs
    result = gate(language, text)
    assert result.outcome == "failed", result


@pytest.mark.parametrize("path", ["unittest.py", "src/pytest.py", "lib/minitest.rb"])
def test_no_file_takes_a_test_frameworks_name(path):
    assert "test framework" in refusal(path)


UNTESTED = {
    "python": f"{CART}\n\ndef tax(price):\n    return price / 5\n",
    "ruby": "module Cart\n  def self.total(prices) = prices.sum / prices.size\n\n"
    "  def self.tax(price)\n    price / 5\n  end\nend\n",
    "Go": LANGUAGES["Go"]["files"]["cart.go"]
    + "\nfunc Tax(price int) int {\n\treturn price / 5\n}\n",
    "javascript": "export const total = (p) => p.reduce((a, b) => a + b) / p.length;\n"
    "export const tax = (price) => {\n  return price / 5;\n};\n"
    "export const net = (price) => price / 5;\n",
}


@pytest.mark.parametrize("language", list(UNTESTED))
def test_a_green_suite_that_never_runs_the_changed_lines_proves_nothing(gate, language):
    path, text = LANGUAGES[language]["path"], UNTESTED[language]
    result = gate(language, text.replace("price / 5", "(price + 0) / 5"), more=((path, text),))
    assert (result.outcome, result.executing) == ("passed", 0), result


@pytest.mark.parametrize("language", list(UNTESTED))
def test_tests_that_run_the_changed_lines_are_counted(gate, language):
    result = gate(language, LANGUAGES[language]["texts"]["good"])
    number = 1 if language in ("python", "Go") else None  # other recorders do not know the test
    assert (result.outcome, result.executing) == ("passed", number), result


ROW = '{"ran": "shop.test", "test": "TestMore"}'
CLAIMS = [
    f'os.Stdout.WriteString("\\nnight\\n" + `{ROW}` + "\\n")',
    'os.WriteFile("cover.out", []byte("mode: set\\nshop/cart.go:1.1,9.9 1 1\\n"), 0o600)',
    f'os.WriteFile("raised", []byte(`{ROW}` + "\\n"), 0o600)',
]


@pytest.mark.parametrize("claim", CLAIMS)
def test_go_code_cannot_claim_that_more_tests_run_it(gate, claim):
    text = LANGUAGES["Go"]["files"]["cart.go"].replace("shop\n", 'shop\n\nimport "os"\n', 1)
    result = gate("Go", text.replace("sum := 0", f"{claim}\n\tsum := 0"))
    assert (result.outcome, result.executing) == ("passed", 1), result
