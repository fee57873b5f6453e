"""Imports that are missing, or name a place from which something has moved away."""

import re

from nightwatch_core.code.edits import edits_for
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import masked, uses
from nightwatch_core.models.answer import Edit, Evidence
from nightwatch_core.models.code import SearchHit
from nightwatch_core.rules.findings import FailingLine, Finding, hypothesis, quoted
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


_PLAIN_IMPORT = {  # an import that ends on its line
    "python": r"(?:import\s+[\w., ]+|from\s+[\w.]+\s+import\s+[\w*, ]+)\s*(?:#.*)?",
    "ruby": r"require(?:_relative)?[ (]+[\"'][^\"']+[\"']\)?\s*",
    "javascript": (
        r"import\s.*\sfrom\s+['\"][^'\"]+['\"];?|(?:const|var|let)\s.*=\s*require\(.*\);?"
    ),
    "php": r"use\s+[\w\\]+(?:\s+as\s+\w+)?;",
}
_FIRST = {"python": r"from\s+__future__\s+", "ruby": r"#", "php": r"(?:<\?php|namespace\s)"}
_MEMBERS = {  # of modules whose names are good names for variables, too
    "path": r"(?:join|resolve|basename|dirname|extname|relative|sep|parse|normalize)\b",
    "url": r"(?:parse|format|resolve|URL|fileURLToPath)\b",
    "util": r"(?:promisify|inspect|format|inherits|types|isDeepStrictEqual|deprecate)\b",
    "events": r"(?:EventEmitter|once|on)\b",
    "stream": r"(?:Readable|Writable|Transform|pipeline|PassThrough|Duplex)\b",
    "querystring": r"(?:parse|stringify|escape)\b",
    "os": r"(?:tmpdir|cpus|hostname|platform|EOL|homedir|type)\b",
}
_ROOTS = ("src/", "lib/")  # folders that are no part of a module's name


def missing_standard(name: str, failing: FailingLine, context: Context) -> Finding | None:
    """Explain a name that the standard library has; None where it does not."""
    line = failing.language.standard.get(name, "")
    if not line or not failing.seen or not _is_meant(name, line, failing):
        return None
    if failing.language.name == "javascript":
        line = _node_import(name, failing, context)
    return _missing(name, line, "the standard library", failing, context)


def missing_own(
    name: str, definition: SearchHit, failing: FailingLine, context: Context
) -> Finding | None:
    """Explain a name that the repository defines once; None where no import is known."""
    is_top = not definition.text.startswith((" ", "\t")) or failing.language.name != "python"
    is_telling = name[:1].isupper() or "_" in name or importers(name, failing, context)[1]
    if not is_top or not is_telling:
        return None
    line = _import_line(name, definition, failing, context)
    where = f"{definition.path}:{definition.line}"
    return _missing(name, line, where, failing, context, definition) if line else None


def _is_meant(name: str, line: str, failing: FailingLine) -> bool:
    """Whether the name is used as one of the standard library is: a module by its members."""
    text = masked(failing.text, failing.language)
    if line.startswith("from ") or name[:1].isupper():
        return True
    members = _MEMBERS.get(name, r"\w") if failing.language.name == "javascript" else r"\w"
    return bool(re.search(rf"(?<![\w.]){re.escape(name)}\.(?:{members})", text))


def moved(
    name: str, old_module: str, definition: SearchHit, failing: FailingLine, context: Context
) -> Finding:
    """Explain `from old_module import name` where the name is now defined elsewhere."""
    new_module = python_module(definition.path)
    lines = context.code.whole(failing.path) or ()
    pattern = re.compile(rf"(\s*)from\s+{re.escape(old_module)}\s+import\s+([\w, ]+)")
    edits: tuple[Edit, ...] = ()
    match = pattern.fullmatch(failing.text[:LINE].rstrip())
    if match and lines and new_module and _known_root(new_module, old_module):
        names = [part.strip() for part in match[2].split(",")]
        rest = [part for part in names if part != name]
        new = [f"{match[1]}from {old_module} import {', '.join(rest)}"] if rest else []
        new.append(f"{match[1]}from {new_module} import {name}")
        if name in names:
            text = "\n".join(new)
            edits = edits_for(
                failing.path, lines, {failing.line: text}, f"import `{name}` from its place"
            )
    place = f"{definition.path}:{definition.line}"
    return Finding(
        because=(f"`{old_module}` does not define `{name}`; it is defined in {place}.",),
        evidence=(quoted(definition.path, definition.line, definition.text, "defined here"),),
        edits=edits,
        hypotheses=(
            hypothesis(
                f"`{name}` is to be had from `{new_module}`",
                standing="confirmed",
                because=f"{place} is its only definition",
            ),
        ),
        steps=(f"Import `{name}` from `{new_module}` wherever the old place is named.",),
        tags=("moved-symbol", "import"),
        subject=f"`{name}` is not in `{old_module}`",
        explained=True,
    )


def python_module(path: str) -> str:
    """Give the dotted name of a Python file.

    >>> python_module("src/shop/prices.py"), python_module("shop/__init__.py")
    ('shop.prices', 'shop')
    """
    for root in _ROOTS:
        path = path.removeprefix(root)
    if not path.endswith(".py"):
        return ""
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return dotted if re.fullmatch(r"[A-Za-z_][\w.]*", dotted) else ""


def relative_path(origin: str, target: str) -> str:
    """Give the path of `target` as a JavaScript file at `origin` imports it, without suffix.

    >>> relative_path("src/a/b.js", "src/lib/c.js"), relative_path("a.js", "b.ts")
    ('../lib/c', './b')
    """
    here, there = origin.split("/")[:-1], target.rsplit(".", 1)[0].split("/")
    while here and len(there) > 1 and here[0] == there[0]:
        here, there = here[1:], there[1:]
    return "/".join([".."] * len(here) + there) if here else "./" + "/".join(there)


def _missing(
    name: str,
    line: str,
    where: str,
    failing: FailingLine,
    context: Context,
    definition: SearchHit | None = None,
) -> Finding | None:
    lines = context.code.whole(failing.path)
    if lines is None:
        return Finding(subject=f"`{name}` is not imported")  # asks for the rest of the file
    if any(uses(name, text) and is_import(text) for text in lines):
        return None
    edits = _with_import(failing, lines, line)
    evidence = (
        (quoted(definition.path, definition.line, definition.text, "defined here"),)
        if definition
        else ()
    )
    return Finding(
        because=(f"{failing.path} uses `{name}` but does not import it; {where} has it.",),
        evidence=evidence,
        edits=edits,
        hypotheses=(
            hypothesis(
                f"{failing.path} lacks an import of `{name}`",
                standing="confirmed",
                because="no import line of the file names it",
            ),
        ),
        steps=(f"Add `{line}` to {failing.path}.",),
        tags=("missing-import",),
        subject=f"`{name}` is not imported",
        explained=True,
    )


def _with_import(failing: FailingLine, lines: tuple[str, ...], line: str) -> tuple[Edit, ...]:
    """The import put among the plain imports at the top of the file, in order where they are."""
    plain = re.compile(_PLAIN_IMPORT.get(failing.language.name, r"(?!)"))
    head = [n for n, text in enumerate(lines, 1) if plain.fullmatch(text[:LINE].rstrip())]
    head = [n for n in head if not re.match(r"from\s+__future__", lines[n - 1])]
    description = f"add the missing import: {line}"
    if not head:
        return _before_code(failing, lines, line, description)
    block = [n for n in head if n - head[0] == head.index(n)]
    later = [n for n in block if lines[n - 1] > line]
    if later and later[0] != block[0]:
        at, text = later[0], f"{line}\n{lines[later[0] - 1]}"
    elif later:
        at, text = block[0], f"{line}\n{lines[block[0] - 1]}"
    else:
        at, text = block[-1], f"{lines[block[-1] - 1]}\n{line}"
    return edits_for(failing.path, lines, {at: text}, description)


def _before_code(
    failing: FailingLine, lines: tuple[str, ...], line: str, description: str
) -> tuple[Edit, ...]:
    """The import as the first line of code, below what must stay above it."""
    stays = _FIRST.get(failing.language.name, r"(?!)")
    for number, text in enumerate(lines, start=1):
        plain = text.strip()
        if plain.startswith(('"""', "'''", "/*", "=begin")):
            return ()  # a docstring: where it ends is not worth a guess
        if plain and not re.match(stays, plain) and not plain.startswith(("#", "//")):
            changed = {number: f"{line}\n\n{text}"}
            return edits_for(failing.path, lines, changed, description)
    return ()


def _import_line(name: str, definition: SearchHit, failing: FailingLine, context: Context) -> str:
    """The line that imports the name as this file imports other things; empty where unknown."""
    lines = context.code.whole(failing.path) or ()
    language = failing.language.name
    if language == "python" and definition.path != failing.path:
        module = python_module(definition.path)
        others = re.findall(r"(?m)^(?:from|import)\s+([\w.]+)", "\n".join(lines))
        known = any(_known_root(module, other) for other in others)
        back = context.code.whole(definition.path) or ()
        circular = any(_imports(text, python_module(failing.path)) for text in back)
        top_level = not definition.text.startswith((" ", "\t"))
        return f"from {module} import {name}" if known and top_level and not circular else ""
    if language == "javascript" and definition.path != failing.path:
        if not re.match(r"export\s+(?!default)", definition.text):
            return ""
        target = relative_path(failing.path, definition.path)
        esm = [text for text in lines if re.match(r"import\s.*from\s", text[:500])]
        return f"import {{ {name} }} from '{target}';" if esm else ""
    if language == "php":
        spaces = context.code.search("namespace ", definition.path).hits
        match = re.match(r"\s*namespace\s+([\w\\]+);", spaces[0].text) if spaces else None
        return f"use {match[1]}\\{name};" if match else ""
    return ""


def _imports(text: str, module: str) -> bool:
    match = re.match(r"\s*(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))", text[:500])
    return bool(match and module and (match[1] or match[2]) == module)


def _known_root(module: str, other: str) -> bool:
    """Whether both modules stand below the same top-level package, so that the name is right."""
    return bool(module) and module.split(".")[0] == other.split(".")[0]


def _node_import(name: str, failing: FailingLine, context: Context) -> str:
    lines = context.code.whole(failing.path) or ()
    esm = any(re.match(r"import\s", text) for text in lines)
    return f"import {name} from 'node:{name}';" if esm else f"const {name} = require('{name}');"


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
