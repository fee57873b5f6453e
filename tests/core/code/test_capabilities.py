"""Tests of new capabilities: network, processes, the environment, also disguised ones."""

import tomllib
from pathlib import Path

import pytest
from tables import tables_of

from nightwatch_core.code.capabilities import Project, new_capabilities, new_capability
from nightwatch_core.errors import TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.proposals import FileChange

TABLES = tables_of(__file__)

MODULES, FILES = TABLES["powers_of_modules"], TABLES["files"]
HOSTILE = tomllib.loads(Path(__file__).with_name("disguised_changes.toml").read_text("utf-8"))
NETWORK, PROCESS, ENVIRONMENT = "talks to the network", "starts processes", "reads the environment"


def gain(text, before="", path="shop/cart.py", files=FILES, search=lambda _: ()):
    project = Project(files.get, tuple(files), search)
    return new_capability(FileChange(path=path, text=text), before, project)


@pytest.mark.parametrize(("text", "power"), TABLES["a_new_power_is_named"])
def test_a_new_power_is_named(text, power):
    assert power in gain(text)
    assert gain(f"{text}  # as before", text) == ""


@pytest.mark.parametrize("text", TABLES["ordinary_code_has_none"])
def test_ordinary_code_has_none(text):
    assert gain(text) == ""


def test_a_call_that_stands_there_already_may_change_but_not_become_two():
    before = "r = requests.get(url)\n"
    assert gain("r = requests.get(url, timeout=5)\n", before) == ""
    assert NETWORK in gain(before + "requests.get(other)\n", before)


def test_what_is_added_far_down_a_long_file_is_seen_and_too_long_a_change_is_refused():
    before = "x = 1\n" * 200_000
    assert PROCESS in gain(f"{before}os.system(x)\n", before)
    assert "too long" in gain("y = 2\n" * 100_000)


def test_an_address_that_the_file_did_not_hold_is_named_but_for_made_up_ones_in_tests():
    assert "evil.example" in gain('URL = "https://evil.example/x"')
    assert gain('URL = "https://a.shop/b"', 'URL = "https://a.shop/a"') == ""
    assert gain('get("http://localhost:80/")', path="tests/test_cart.py") == ""
    assert "attacker.net" in gain('get("https://attacker.net/")', path="tests/test_cart.py")
    for name in ('<a xmlns="http://www.sitemaps.org/0.9">', "{http://www.sitemaps.org/0.9}loc"):
        assert gain(f"read('{name}')", path="tests/test_feed.py") == ""
        assert "sitemaps.org" in gain(f"read('{name}')")


def test_a_key_is_named_and_not_shown():
    why = gain('password = "hunter2hunter2"')
    assert "key or password" in why
    assert "hunter2" not in why
    assert gain('password = "hunter2hunter2"', path="tests/test_cart.py") == ""


def test_a_deleted_file_gains_nothing_and_one_of_several_is_enough():
    gone, bad = FileChange(path="a.py", text=None), FileChange(path="b.py", text="os.system(x)")
    assert new_capabilities((gone,), {"a.py": "x"}.get) == ""
    assert new_capabilities((gone, bad), lambda _: None).startswith("the change to b.py adds")


def test_hostile_text_is_read_whole():
    for text in ("https://" + "a." * 5_000, "eval" * 5_000, "/*" * 5_000, "$_" * 5_000):
        assert isinstance(gain(text), str)


@pytest.mark.parametrize("path", HOSTILE)
def test_no_disguise_hides_a_power(path):
    before = "def total\n  one\nend\n"
    rows = {row: before.replace("one", f"one\n  {row}\n") for row in HOSTILE[path]}
    assert [row for row, text in rows.items() if not gain(text, before, path)] == []


@pytest.mark.parametrize("path", MODULES)
def test_no_module_that_the_code_does_not_use_is_new_to_a_fix(path):
    rows = MODULES[path]
    assert [row for row in rows if not gain(f"a\n{row}\nb\n", "a\nb\n", path)] == []
    assert [row for row in rows if gain(f"{row}\nb\n", f"{row}\na\n", path)] == []
    test = f"tests/test_{path.rpartition('/')[2]}"
    unseen = [row for row in rows if not gain(f"a\n{row}\nb\n", "a\nb\n", test)]
    assert unseen == TABLES["what_tests_may"].get(path, [])


@pytest.mark.parametrize(("path", "text"), TABLES["what_the_code_uses_already"])
def test_a_module_that_the_code_uses_is_not_new(path, text):
    assert "nothing here uses" in gain(text, path=path, files={})
    assert gain(text, path=path) == ""
    lines = [(name, line) for name, whole in FILES.items() for line in whole.splitlines()]
    hits = [SearchHit(path=f"far/{name}", line=1, text=line) for name, line in lines]
    assert gain(text, path=path, files={}, search=lambda _: hits) == ""


def test_what_only_tests_use_or_nobody_can_tell_is_new_to_the_code():
    text, files = "import respx\n", {"shop/test_cart.py": "import respx\n"}

    def search(_):
        raise TryLater("the service is unwell")

    assert "nothing here uses (respx)" in gain(text, files=files)
    assert gain(text, path="shop/test_tax.py", files=files) == ""
    assert "nothing here uses (respx)" in gain(text, search=search)


@pytest.mark.parametrize(("path", "text"), TABLES["what_looks_like_a_disguise_is_ordinary"])
def test_what_looks_like_a_disguise_is_ordinary(path, text):
    assert gain(text, path=path) == ""
