"""Lines that import: which ones do, and how other files import a name."""

import re

from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.answer import Evidence
from nightwatch_core.rules.findings import FailingLine, quoted
from nightwatch_core.rules.known_code import Context


def is_import(text: str) -> bool:
    """Tell whether a line imports something.

    >>> is_import("from a import b"), is_import("const a = require('a')"), is_import("important()")
    (True, True, False)
    """
    return bool(re.match(r"\s*(?:import|from|require|use)\b|.*\brequire\(", text[:1_000]))


def binds(name: str, text: str) -> bool:
    """Tell whether a line imports the name itself, not only something out of what it names.

    >>> binds("a", "from b import c, a"), binds("a", "from a import b"), binds("a", "x = f(a)")
    (True, False, False)
    >>> binds("a", "const { a } = require('./b');"), binds("a", "require('./b')(a);")
    (True, False)
    """
    own = rf"(?<![\w$.]){re.escape(name)}(?![\w$])"
    python = re.match(r"\s*(?:from\s+\S+\s+)?import\s+([^'\"#]{1,300})(?:#.*)?$", text[:1_000])
    if python:
        return any(re.search(own, part.split(" as ")[-1]) for part in python[1].split(","))
    head = re.match(
        r"\s*(?:import\s+(?P<esm>.{1,300}?)\s+from\b|(?:const|let|var)\s+(?P<names>.{1,300}?)\s*="
        r"\s*require\()",
        text[:1_000],
    )
    return bool(head and re.search(own, head["esm"] or head["names"]))


def importers(
    name: str, failing: FailingLine, context: Context
) -> tuple[str, tuple[Evidence, ...]]:
    """Say how other files import the name, and quote the first that does; nothing where none do."""
    rows = [
        hit
        for hit in context.code.search(name).hits
        if binds(name, hit.text)
        and hit.path != failing.path
        and not TEST.search(hit.path)
        and language_of(hit.path) == failing.language
    ]
    if not rows:
        return "", ()
    first = rows[0]
    import_text = f"; {first.path}:{first.line} has `{first.text.strip()[:120]}`"
    return import_text, (quoted(first.path, first.line, first.text, "how another file imports it"),)
