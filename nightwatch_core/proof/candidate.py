"""A test that may reproduce a crash: where it goes, and what none may hold."""

import re
from collections.abc import Collection
from typing import NamedTuple

from nightwatch_core.code.edit_policy import hidden_in
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.protected_paths import refusal
from nightwatch_core.models.answer import Edit
from nightwatch_core.models.proposal import FileChange
from nightwatch_core.privacy.masks import holds_mask

LINES, CHARACTERS = 200, 12_000
_TAMPERS = re.compile(  # with what is seen of it, or with what its frames are called
    r"sitecustomize|\bsettrace\b|\bsetprofile\b|sys\.monitoring|\bTracePoint\b|\bRUBYOPT\b"
    r"|\bNODE_OPTIONS\b|\binspector\b|co_filename|__code__|CodeType|with_traceback|set_backtrace"
    r"|captureStackTrace|prepareStackTrace|\.stack\s*=|\bcompile\(|(?<![\w.])(?:exec|eval)\("
    r"|\b(?:instance|class|module)_eval\b|\bnew Function\(|\bvm\.|NIGHTWATCH|/tmp/"
)
_NAMED = re.compile(r"^(?P<stem>.*?)(?P<end>(?:[._-](?:test|spec)|Tests?)?\.\w+)$")


class Candidate(NamedTuple):
    """A test in a new file of its own."""

    path: str
    text: str  # asks for what should happen: red where the crash is raised
    asserting: str = ""  # the same file, green while it asserts the crash; empty: there is none

    @property
    def edit(self) -> Edit:
        """What puts it into the tree."""
        what = "A test that raises the production error without the fix"
        return Edit(path=self.path, action="create", new=self.text, description=what)


def refused(candidate: Candidate, paths: Collection[str]) -> str:
    """Say why a test is not run; empty where it may be. `paths` are the files of the tree."""
    for text in filter(None, (candidate.text, candidate.asserting)):
        if len(text) > CHARACTERS or text.count("\n") > LINES:
            return f"the test is longer than {LINES} lines"
        if tampering := _TAMPERS.search(text):
            return f"a test may not use {tampering[0]}"
        if holds_mask(text):
            return "the test repeats a mask: nobody was shown the value"
        change = FileChange(path=candidate.path, text=text)
        if why := hidden_in(change, ""):
            return why
    if not candidate.text.strip():
        return "there is no test"
    return refusal(candidate.path, paths, is_new=True)


def placed(wanted: str, example: str, paths: Collection[str]) -> str:
    """Give the path of a new test: the one that is wanted, if tests lie there, else the example's.

    >>> placed("tests/test_cart_empty.py", "tests/test_cart.py", ("tests/test_cart.py",))
    'tests/test_cart_empty.py'
    >>> placed("scripts/boom.py", "tests/test_cart.py", ("tests/test_cart.py",))
    'tests/test_cart_crash.py'
    >>> placed("", "spec/cart_spec.rb", ("spec/cart_spec.rb",))
    'spec/cart_crash_spec.rb'
    """
    tests = tuple(path for path in paths if TEST.search(path))
    folder = wanted.rpartition("/")[0]
    beside = any(_form(one) == _form(wanted) and one.rpartition("/")[0] == folder for one in tests)
    if beside and wanted not in paths:
        return wanted
    named = _NAMED.match(example)
    if not named:
        return ""
    stems = (f"{named['stem']}_crash{number}" for number in ("", *range(2, 9)))
    return next((p for stem in stems if (p := f"{stem}{named['end']}") not in paths), "")


def _form(path: str) -> tuple[bool, str]:
    """How tests are called there: a word before, or behind."""
    named, name = _NAMED.match(path), path.rpartition("/")[2]
    return name.startswith("test_"), named["end"] if named else ""
