"""Generated source files: plausible, deterministic, of 2 to 60 KB, given lines at given places.

Sizes are drawn log-normally (median 10 KB), as sizes of source files are spread; a file that a
trace names is at least as long as the line that failed. Functions have 5 to 24 lines.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from benchmarks.tokens.words import Spot, module

_IMPORTS = {
    "python": "from {m} import {f}",
    "java": "import static {m}.{f};",
    "javascript": "const {{ {f} }} = require('../{m}');",
}
SMALLEST, LARGEST = 2_000, 60_000  # characters
_BLANK = 0.15  # share of blank lines inside functions
_ROOM = 14  # lines between two places that lie in one function
_NOUNS = (
    "account", "batch", "budget", "carrier", "channel", "charge", "client", "column", "credit",
    "delivery", "digest", "draft", "entry", "event", "export", "field", "filter", "folder",
    "format", "header", "invoice", "item", "ledger", "limit", "locale", "margin", "member",
    "notice", "offer", "option", "order", "owner", "package", "parcel", "payment", "period",
    "policy", "price", "profile", "quota", "rate", "receipt", "record", "region", "report",
    "request", "result", "route", "schedule", "section", "segment", "session", "shipment",
    "source", "stock", "subject", "summary", "supplier", "table", "target", "tariff", "tenant",
    "ticket", "token", "total", "trial", "unit", "user", "value", "vendor", "visit", "voucher",
    "warehouse", "window", "worker", "zone",
)  # fmt: skip
_VERBS = (
    "apply", "build", "check", "collect", "compare", "convert", "copy", "count", "create", "drop",
    "expand", "fetch", "find", "flush", "group", "join", "load", "map", "mark", "merge", "move",
    "normalize", "pack", "parse", "pick", "prepare", "print", "push", "queue", "read", "rebuild",
    "reduce", "refresh", "release", "render", "replace", "reset", "resolve", "restore", "save",
    "scan", "select", "send", "skip", "sort", "split", "store", "strip", "sum", "trim", "update",
    "verify", "wrap", "write",
)  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """How a language writes a file; `{n}` are names, `{v}` verbs."""

    head: tuple[str, ...]
    tail: tuple[str, ...]
    opening: str
    closing: str
    comment: str
    indent: str
    bodies: tuple[str, ...]


SHAPES: Mapping[str, Shape] = {
    "ruby": Shape(
        ("class {C}", "  LIMIT = 40", ""), ("end",), "  def {f}({n}, {m})", "  end", "  # {s}",
        "    ",
        (
            "{n} = {v}_{m}({m}.fetch(:{o}), {o}: {d})", "return {n} if {m}.{o}.nil?",
            "{n}.{v}({o}: {m}.{v2}({d})) unless {n}.{o}?", "@{n} ||= {v}_{o}({m}, {d})",
            "{m}.each {{ |{o}| {n} << {v}_{o}({o}) }}",
        ),
    ),
    "python": Shape(
        ("class {C}:", "    limit = 40", ""), ("",), "    def {f}(self, {n}, {m}):", "",
        "    # {s}", "        ",
        (
            '{n} = self.{v}_{m}({m}.get("{o}"), {o}={d})', "self.{n}_{o} = {v}_{m}({n}, {m}[{d}:])",
            '{n}.{v}({m}, key="{o}", limit={d})', "{n} = [{v}_{o}(x, {d}) for x in {m} if x.{o}]",
            'log.debug("{v} {n} of %s", {m}.{o})',
        ),
    ),
    "java": Shape(
        ("public class {C} {{", "    private static final int LIMIT = 40;", ""), ("}}",),
        "    public Object {f}(Object {n}, Object {m}) {{", "    }}", "    // {s}", "        ",
        (
            "Object {n}{d} = {v}{O}({m}, {d});", "this.{n}.{v}({m}, {o}{d}());",
            "if ({n} == null) {{ {v}{O}({m}, {d}); }}", "{v}{O}({n}, {m}, {v2}{N}({d}));",
            "{n} = ({N}) {m}.get{O}({d});",
        ),
    ),
    "javascript": Shape(
        ("'use strict';", "const LIMIT = 40;", ""), ("module.exports = {{ LIMIT }};",),
        "function {f}({n}, {m}) {{", "}}", "// {s}", "  ",
        (
            "const {n}{d} = {v}{O}({m}.{o}, {d});", "{m}.{o}.forEach((x) => {v}{O}(x, {d}));",
            "if (!{n}.{o}) {v}{O}({m}, {{ {o}: {d} }});", "{n}.{o} = await {v}{N}({m}, {d});",
            "log.debug('{v} {n}', {m}.{o}, {d});",
        ),
    ),
}  # fmt: skip


def tree(language: str, spots: Iterable[Spot], others: Iterable[str] = ()) -> dict[str, str]:
    """Files that hold the spots, and others beside them."""
    by_path: dict[str, list[Spot]] = {path: [] for path in others}
    for spot in spots:
        by_path.setdefault(spot.path, []).append(spot)
    homes = {one.function: path for path, found in by_path.items() for one in found if one.defines}
    return {
        path: text(path, language, found, _imports(path, language, found, homes))
        for path, found in sorted(by_path.items())
    }


def _imports(
    path: str, language: str, spots: Iterable[Spot], homes: Mapping[str, str]
) -> tuple[str, ...]:
    """Imports of what the spots of a file use, as the language writes them at its head."""
    used = {
        home: name
        for spot in spots
        for name, home in homes.items()
        if home != path and f"{name}(" in spot.text and module(home)
    }
    form = _IMPORTS.get(language, "")
    return tuple(form.format(f=name, m=module(home)) for home, name in used.items() if form)


def neighbours(paths: Iterable[str], each: int = 2) -> tuple[str, ...]:
    """Names of files that lie beside these."""
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
    """One file: filler functions, and those of the spots where they belong."""
    rng, shape = Random(f"text {path}"), SHAPES[language]
    size = min(LARGEST, max(SMALLEST + 500, int(1_000 * rng.lognormvariate(2.3, 0.8))))
    name = path.rpartition("/")[2].partition(".")[0].title()
    lines = [*imports, *(row.format(C=name) for row in shape.head)]
    for block in _blocks(spots):
        start = max(block[0].line - rng.randrange(2, 12), len(lines) + 1)
        _fill(lines, start - 1, shape, rng)
        lines += _function(block, start, shape, rng)
    while sum(map(len, lines)) + len(lines) < size - 100:
        lines += _filler(rng.randrange(5, 25), shape, rng)
    tail = [row.format() for row in shape.tail]
    return "\n".join((*lines, *tail)) + "\n"


def _blocks(spots: Iterable[Spot]) -> list[list[Spot]]:
    blocks: list[list[Spot]] = []
    for spot in sorted({spot.line: spot for spot in spots}.values(), key=lambda spot: spot.line):
        if blocks and spot.line - blocks[-1][-1].line < _ROOM:
            blocks[-1].append(spot)
        else:
            blocks.append([spot])
    return blocks


def _fill(lines: list[str], until: int, shape: Shape, rng: Random) -> None:
    while (gap := until - len(lines)) >= 8:
        lines += _filler(min(rng.randrange(5, 25), gap - 2), shape, rng)
    while len(lines) < until:
        lines.append(_sentence(shape.comment, rng))


def _function(block: list[Spot], start: int, shape: Shape, rng: Random) -> list[str]:
    made = [_sentence(shape.opening, rng, block[0].function)]
    wanted = {spot.line: spot.text for spot in block}
    for number in range(start + 1, block[-1].line + 4):
        body = wanted.get(number) or _sentence(rng.choice(shape.bodies), rng)
        made.append(shape.indent + body)
    return [*made, shape.closing.format()]


def _filler(length: int, shape: Shape, rng: Random) -> list[str]:
    opening = _sentence(shape.opening, rng, f"{rng.choice(_VERBS)}_{rng.choice(_NOUNS)}")
    bodies = [shape.indent + _sentence(rng.choice(shape.bodies), rng) for _ in range(length - 3)]
    bodies = [body if rng.random() > _BLANK else "" for body in bodies]
    return [opening, *bodies, shape.closing.format(), ""]


def _sentence(form: str, rng: Random, function: str = "") -> str:
    n, m, o = rng.sample(_NOUNS, 3)
    v, w = rng.sample(_VERBS, 2)
    return form.format(
        f=function, n=n, m=m, o=o, v=v, v2=w, d=rng.randrange(2, 90), N=n.title(), O=o.title(),
        s=f"{v} the {n} of every {m} before its {o}",
    )  # fmt: skip
