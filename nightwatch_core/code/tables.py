"""What a database error names (table, column, constraint): its model, and who writes the column."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from inflection import camelize, singularize

from nightwatch_core.code.candidate_symbols import Lookup, Place, Shown, cut_out, mark
from nightwatch_core.code.definitions import class_around, is_class_at
from nightwatch_core.code.symptoms import MESSAGE, RULES
from nightwatch_core.models.errors import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.text.plain_text import text_lines

MODEL_LINES, WRITERS, MOST_WRITERS = 12, 4, 12  # of a model shown whole; places; more tell nothing

_IN_CODE = r"(?:db_table|__tablename__|table_?name|\$table|@Table|Table)\b[^\n]{0,40}['\"`]"
_WRITES = (  # as a member, as an argument by name, as a key
    r"[.>]COLUMN\s?=(?![=~])|[(,]\s?COLUMN=(?!=)|['\"]COLUMN['\"]\]?\s?(?::|=>|=(?!=))"
    r"|^(?!.*\b(?:def|function)\b).*[({,]\s?COLUMN: "
)
_MIGRATION = re.compile(r"(?:^|/)(?:migrations?|migrate|alembic)/")


class Named(NamedTuple):
    """What a message names; empty where it does not."""

    table: str = ""
    column: str = ""
    constraint: str = ""


def named_in(message: str) -> Named:
    """Read the table, the column and the constraint that a database's message names.

    >>> named_in("NOT NULL constraint failed: shop_cart.owner_id")
    Named(table='shop_cart', column='owner_id', constraint='')
    """
    text = message[:MESSAGE]
    match = next((found for rule in RULES.databases if (found := rule.search(text))), None)
    facts = {name: value or "" for name, value in (match.groupdict() if match else {}).items()}
    return Named(**{name: facts.get(name, "") for name in Named._fields})


def table_definitions(case: Case, lookup: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """Cut out the model of a named table and the lines that write the column; adds to `seen`."""
    links = case.trace.links if case.trace else ()
    messages = (case.leader.message, *(link.message for link in links))
    named = next(filter(any, map(named_in, messages)), Named())
    like = next(iter(lookup.frames), "")
    model = _model(named.table, lookup, like) if named.table else None
    previews = list(_of_model(model, named, lookup)) if model else []
    if named.column:
        previews += _writers(named.column, lookup, model.path if model else "")
    new = [item for item in previews if (item.path, item.start) not in seen]
    for item in new:
        mark(item, seen)
    return tuple(new)


def _model(table: str, lookup: Lookup, like: str) -> Place | None:
    """Find the class that says the table's name, else the one that is called like it."""
    for hit in lookup.hits(table):
        text = lookup.text(hit.path) or ""
        head = class_around(hit.path, text, hit.line)
        if head and re.search(rf"{_IN_CODE}{table}['\"`]", hit.text):
            return Place(hit.path, head.line, head.end)
    parts = table.split("_")
    for number in range(len(parts)):
        name = camelize(singularize("_".join(parts[number:])))
        paths = (*lookup.modules(name, like), *lookup.defining(name, like))
        place = lookup.within(name, tuple(dict.fromkeys(paths)))
        if place and is_class_at(place.path, lookup.text(place.path) or "", place.line):
            return place
    return None


def _of_model(model: Place, named: Named, lookup: Lookup) -> Iterator[Preview]:
    lines = text_lines(lookup.text(model.path) or "")
    numbers = range(model.line, model.end + 1)
    if len(numbers) > MODEL_LINES:
        names = "|".join(filter(None, (named.column, named.column.removesuffix("_id"))))
        column = re.compile(rf"\s*(?:[\w<>?$]+ ){{0,4}}[:$]?(?:{names})\b" if names else r"(?!)")
        constraint = re.compile(re.escape(named.constraint) or r"(?!)")
        firsts = [model.line]
        for holds in (column.match, constraint.search):
            firsts += [n for n in numbers[1:] if holds(lines[n - 1])][:1]
        runs = [range(n, n + 1) for n in dict.fromkeys(firsts)]
    else:
        runs = [numbers]
    for run in runs:
        because = f"the model of {named.table}"
        yield cut_out(model.path, lines, run.start, run.stop - 1, "table", because)


def _writers(column: str, lookup: Lookup, model: str) -> Iterator[Preview]:
    writes = re.compile(_WRITES.replace("COLUMN", re.escape(column)))
    others = (hit for hit in lookup.hits(column) if hit.path != model)
    hits = [h for h in others if writes.search(h.text) and not _MIGRATION.search(h.path)]
    for hit in hits[:WRITERS] if len(hits) <= MOST_WRITERS else ():
        lines = text_lines(lookup.text(hit.path) or "")
        if hit.line <= len(lines):
            yield cut_out(hit.path, lines, hit.line, hit.line, "flow", f"sets {column}")
