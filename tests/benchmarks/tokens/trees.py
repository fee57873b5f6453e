"""Generated source files: plausible, deterministic, of 2 to 60 KB, given lines at given places.

Sizes are drawn log-normally (median 10 KB), as sizes of source files are spread; a file that a
trace names is at least as long as the line that failed. Functions have 5 to 24 lines.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

import yaml
from benchmarks.tokens.words import Spot, module

_IMPORTS = {
    "python": "from {m} import {f}",
    "java": "import static {m}.{f};",
    "javascript": "const {{ {f} }} = require('../{m}');",
}
SMALLEST, LARGEST = 2_000, 60_000  # characters
_BLANK = 0.15  # share of blank lines inside functions
_ROOM = 14  # lines between two places that lie in one function


class Style(NamedTuple):
    """How a language writes a file; trees.yml explains the fields in braces."""

    head: list[str]
    tail: list[str]
    opening: str
    closing: str
    comment: str
    indent: str
    bodies: list[str]


_DATA = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text("utf-8"))
_NOUNS, _VERBS = _DATA["nouns"].split(), _DATA["verbs"].split()
STYLES = {name: Style(**fields) for name, fields in _DATA["languages"].items()}


def tree(language: str, spots: Iterable[Spot], others: Iterable[str] = ()) -> dict[str, str]:
    """Return texts by path: files that hold the spots, and other files without any."""
    by_path: dict[str, list[Spot]] = {path: [] for path in others}
    for spot in spots:
        by_path.setdefault(spot.path, []).append(spot)
    homes = {
        item.function: path for path, found in by_path.items() for item in found if item.defines
    }
    return {
        path: text(path, language, found, _imports(path, language, found, homes))
        for path, found in sorted(by_path.items())
    }


def _imports(
    path: str, language: str, spots: Iterable[Spot], homes: Mapping[str, str]
) -> tuple[str, ...]:
    """Return imports of what the spots of a file use, as the language writes them at its head."""
    used = {
        home: name
        for spot in spots
        for name, home in homes.items()
        if home != path and f"{name}(" in spot.text and module(home)
    }
    form = _IMPORTS.get(language, "")
    return tuple(form.format(f=name, m=module(home)) for home, name in used.items() if form)


def neighbours(paths: Iterable[str], each: int = 2) -> tuple[str, ...]:
    """Return names of files in the same folders."""
    found = []
    for path in paths:
        folder, _, name = path.rpartition("/")
        rng, ending = Random(f"beside {path}"), name.rpartition(".")[2]
        for _ in range(each):
            noun, verb = rng.choice(_NOUNS), rng.choice(_VERBS)
            stem = f"{noun.title()}{verb.title()}" if name[0].isupper() else f"{noun}_{verb}"
            found.append(f"{folder}/{stem}.{ending}")
    return tuple(dict.fromkeys(found))


def text(path: str, language: str, spots: Iterable[Spot], imports: tuple[str, ...] = ()) -> str:
    """Return one file: filler functions, and those of the spots where they belong."""
    rng, style = Random(f"text {path}"), STYLES[language]
    size = min(LARGEST, max(SMALLEST + 500, int(1_000 * rng.lognormvariate(2.3, 0.8))))
    name = path.rpartition("/")[2].partition(".")[0].title()
    lines = [*imports, *(row.format(C=name) for row in style.head)]
    for block in _blocks(spots):
        start = max(block[0].line - rng.randrange(2, 12), len(lines) + 1)
        _fill(lines, start - 1, style, rng)
        lines += _function(block, start, style, rng)
    while sum(map(len, lines)) + len(lines) < size - 100:
        lines += _filler(rng.randrange(5, 25), style, rng)
    tail = [row.format() for row in style.tail]
    return "\n".join((*lines, *tail)) + "\n"


def _blocks(spots: Iterable[Spot]) -> list[list[Spot]]:
    blocks: list[list[Spot]] = []
    for spot in sorted({spot.line: spot for spot in spots}.values(), key=lambda spot: spot.line):
        if blocks and spot.line - blocks[-1][-1].line < _ROOM:
            blocks[-1].append(spot)
        else:
            blocks.append([spot])
    return blocks


def _fill(lines: list[str], until: int, style: Style, rng: Random) -> None:
    while (gap := until - len(lines)) >= 8:
        lines += _filler(min(rng.randrange(5, 25), gap - 2), style, rng)
    while len(lines) < until:
        lines.append(_sentence(style.comment, rng))


def _function(block: list[Spot], start: int, style: Style, rng: Random) -> list[str]:
    made = [_sentence(style.opening, rng, block[0].function)]
    wanted = {spot.line: spot.text for spot in block}
    for number in range(start + 1, block[-1].line + 4):
        body = wanted.get(number) or _sentence(rng.choice(style.bodies), rng)
        made.append(style.indent + body)
    return [*made, style.closing.format()]


def _filler(length: int, style: Style, rng: Random) -> list[str]:
    opening = _sentence(style.opening, rng, f"{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}")
    bodies = [style.indent + _sentence(rng.choice(style.bodies), rng) for _ in range(length - 3)]
    bodies = [body if rng.random() > _BLANK else "" for body in bodies]
    return [opening, *bodies, style.closing.format(), ""]


def _sentence(form: str, rng: Random, function: str = "") -> str:
    n, m, o = rng.sample(_NOUNS, 3)
    v, w = rng.sample(_VERBS, 2)
    return form.format(
        f=function, n=n, m=m, o=o, v=v, v2=w, d=rng.randrange(2, 90), N=n.title(), O=o.title(),
        s=f"{v} the {n} of every {m} before its {o}",
    )  # fmt: skip
