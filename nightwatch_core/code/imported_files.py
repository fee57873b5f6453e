"""Which files of the tree an import leads to."""

import re
from collections.abc import Iterator
from itertools import chain, product

from nightwatch_core.code.languages import language_of
from nightwatch_core.code.limits import IMPORT_LINES, LINE
from nightwatch_core.code.syntax import uses
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.traces.placing import PathIndex

_IMPORTS = re.compile(r"\s{0,20}(?:import|from|require|use|using|export|const|let|var)\b")
_MODULE = re.compile(r"[\w@.\\/-]{3,200}")


def imported_files(name: str, path: str, text: str, index: PathIndex) -> tuple[str, ...]:
    """List at most three files that an import of this name leads to."""
    rows = _import_rows(name, text_lines(text)[:IMPORT_LINES])
    paths = (one for row in tuple(rows)[:2] for one in imported(row, path, index, name))
    return tuple(dict.fromkeys(paths))[:3]


def _import_rows(name: str, lines: tuple[str, ...]) -> Iterator[str]:
    """Rows that import a name; of an import of several rows the first, or the last with `from`."""
    wanted = [part for part in re.split(r"::|[.\\]", name) if part]
    for number, line in enumerate(lines):
        row = line[:LINE]
        if not any(uses(one, row) for one in wanted):
            continue
        if _IMPORTS.match(row):
            yield row
        elif re.fullmatch(r"\s*[\w ,{}*]+,?\s*\\?", row):
            around = (*lines[max(0, number - 12) : number][::-1], *lines[number + 1 : number + 12])
            yield from (one[:LINE] for one in around if re.search(r"\bfrom\s+\S", one[:LINE]))


def imported(row: str, path: str, index: PathIndex, name: str = "") -> tuple[str, ...]:
    """List files of the tree that an import may mean, those nearest to the importing one first.

    Before all others the file that is called `name`, where it is a module that is imported.

    >>> imported("import { a } from '../pay/b'", "src/c/d.js", PathIndex(("src/pay/b.js", "b.js")))
    ('src/pay/b.js',)
    """
    suffixes = language_of(path).suffixes
    files: list[str] = []
    modules: list[str] = []
    for word in _MODULE.findall(row):
        parts = [part for part in re.split(r"[./\\]", word.removesuffix(".js")) if part]
        is_path = len(parts) > 1 or "/" in word or word.startswith(".")
        # without the name that is taken out of it, or the root that a namespace or an alias adds
        stems = (parts, parts[:-1], parts[1:] if len(parts) > 2 else []) if is_path else ()
        for stem, suffix in product(filter(None, stems), suffixes):
            files += index.ending(f"{'/'.join(stem)}{suffix}")
            modules += index.ending(f"{'/'.join(stem)}/{name}{suffix}") if name else ()
    nearest = (sorted(ones, key=lambda one: distance(one, path)) for ones in (modules, files))
    return tuple(dict.fromkeys(chain.from_iterable(nearest)))


def distance(path: str, other: str) -> tuple[int, str]:
    """Count how many folders lead from one file to the other; the path tells equal ones apart."""
    ours, theirs = path.split("/")[:-1], other.split("/")[:-1]
    shared = next(
        (n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    return len(ours) + len(theirs) - 2 * shared, path
