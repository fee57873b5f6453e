"""Imports that are missing, or name a place from which something has moved away."""

import re

from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import uses
from nightwatch_core.models.answer import Evidence
from nightwatch_core.rules.findings import FailingLine, quoted
from nightwatch_core.rules.known_code import Context
from nightwatch_core.rules.limits import HEAD_LINES, LINE

# Lines that import: which ones do, and how other files import a name.


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


# Whether an import of a file leads to another file of the repository.

_FROM = re.compile(r"\s*from\s+(?P<dots>\.*)(?P<module>[\w.]*)\s+import\s+(?P<names>[^#]+)")
_IMPORT = re.compile(r"\s*import\s+(?P<module>[\w.]+)(?:\s+as\s+(?P<alias>\w+))?\s*(?:#.*)?$")
_SUFFIX = re.compile(r"(?:\.d)?\.\w+$")


def imports_from(name: str, path: str, target: str, context: Context) -> bool:
    """Tell whether the head of the file at `path` imports the name from the file `target`."""
    rows = context.code.lines(path, 1, HEAD_LINES)
    language = language_of(path).name
    if language == "python":
        return any(_python(name, row, path, target) for row in _joined(rows))
    if language == "javascript":
        return any(_relative(name, row, path, target) for row in _joined(rows) if is_import(row))
    if language == "go":
        return any(_go(name, row[:LINE], target) for row in rows.values())
    return False


def leads_to(module: str, dots: int, path: str, target: str) -> bool:
    """Tell whether a Python module, of an import in the file at `path`, is the file `target`.

    >>> leads_to("shop.store", 0, "app/views.py", "shop/store.py")
    True
    >>> leads_to("forms", 0, "shop/views.py", "other/forms.py")
    False
    >>> leads_to("store", 1, "shop/views.py", "shop/store.py")
    True
    """
    wanted = _SUFFIX.sub("", target).removesuffix("/__init__").split("/")
    parts = [part for part in module.split(".") if part]
    own = path.split("/")[:-1]
    if dots:
        return wanted == [*own[: len(own) - dots + 1], *parts]
    if not parts or wanted[-len(parts) :] != parts:
        return False
    root = wanted[: -len(parts)]
    return own[: len(root)] == root or root in (["src"], ["lib"])


def _joined(rows: dict[int, str]) -> list[str]:
    """Rows of the file's head, an import of several rows as one."""
    text = "\n".join(row[:LINE] for row in rows.values())
    text = re.sub(r"\(([^()]{0,3000})\)", lambda m: " ".join(m[1].split()), text)
    text = re.sub(r"\{([^{}]{0,3000})\}", lambda m: "{" + " ".join(m[1].split()) + "}", text)
    return text.split("\n")


def _python(name: str, row: str, path: str, target: str) -> bool:
    match = _FROM.match(row)
    if match:
        given = (re.split(r"\s+as\s+", part.strip()) for part in match["names"].split(","))
        real = next((part[0] for part in given if part[-1] == name), "")
        dots = len(match["dots"])
        modules = (match["module"], f"{match['module']}.{real}")
        return bool(real) and any(leads_to(one, dots, path, target) for one in modules)
    plain = _IMPORT.match(row)
    if plain and (plain["alias"] or plain["module"]) == name:
        return leads_to(plain["module"], 0, path, target)
    return False


def _relative(name: str, row: str, path: str, target: str) -> bool:
    match = re.search(r"['\"](?P<module>(?:\.{1,2}|@|~|src)/[^'\"]{1,200})['\"]", row)
    if not match or not uses(name, row[: match.start()]):
        return False
    stem = _SUFFIX.sub("", target)
    stems = (stem, stem.removesuffix("/index"))
    module = re.sub(r"\.(?:[cm]?[jt]sx?)$", "", match["module"])
    if not module.startswith("."):
        return any(one.endswith("/" + module.split("/", 1)[1]) for one in stems)
    parts = path.split("/")[:-1]
    for step in module.split("/"):
        parts = parts[:-1] if step == ".." else parts if step == "." else [*parts, step]
    return "/".join(parts) in stems


def _go(name: str, row: str, target: str) -> bool:
    match = re.match(r"\s*(?:import\s+)?(?:(\w+)\s+)?\"([\w./~-]+)\"", row)
    folder = target.rpartition("/")[0]
    if not match or not folder or (match[1] or match[2].rsplit("/", 1)[-1]) != name:
        return False
    return match[2] == folder or match[2].endswith(f"/{folder}")
