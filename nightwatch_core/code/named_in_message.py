"""What a message names: members, columns, constraints, keys and classes, at their definitions."""

import re
from collections.abc import Iterable, Iterator

from nightwatch_core.code.called_names import COMMON
from nightwatch_core.code.callees import Shown, cut, mark
from nightwatch_core.code.definition_lookup import Lookup, Place
from nightwatch_core.code.definitions import defined_name, definition_of
from nightwatch_core.code.grammars import has_grammar
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.limits import (
    MESSAGE,
    NAMED,
    NAMED_AROUND,
    NAMED_HITS,
    NAMED_SEARCHES,
    PHRASE_WORDS,
    SHORTEST_NAME,
)
from nightwatch_core.code.symptoms import symptom_of
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.error import Case
from nightwatch_core.models.research import Preview
from nightwatch_core.text.error_classes import words
from nightwatch_core.text.plain_text import text_lines

_QUOTED = re.compile(r"['\"`‘“](?:\w{1,60}(?:\.|::|#))*:?(?P<name>[A-Za-z_]\w{2,60})['\"`’”]")
_SEVERAL_WORDS = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]+)\b")
_PLAIN = re.compile(r"[A-Za-z]{2,30}")
_DATA = (".sql", ".prisma", ".graphql", ".yml", ".yaml", ".xml")
_MIGRATION = re.compile(r"(^|/)(migrations?|migrate|versions|alembic)/")
_EMPTY = frozenset(
    (
        *("the", "and", "for", "with", "from", "that", "this", "not", "cannot", "could", "must"),
        *("can", "has", "have", "was", "were", "are", "but", "you", "your", "into", "than"),
        *("been", "does", "error", "failed", "when", "while", "only", "any", "all", "its", "one"),
    )
)


def names_in_message(case: Case) -> tuple[str, ...]:
    """List the names that the message says, what its wording singles out before others.

    A member that nothing has is no name to look for: its receiver is what is wrong.
    """
    message = case.leader.message[:MESSAGE]
    symptom = symptom_of(case.leader.error_class, message)
    relation = re.split(r"[\s,]+", symptom.relation)
    missing = {one.rpartition(".")[0] for one in relation}  # tables
    missing |= {symptom.name} if symptom.kind == "none receiver" else set()
    said = (symptom.key, symptom.keyword, *(one.rpartition(".")[2] for one in relation))
    quoted = (match["name"] for match in _QUOTED.finditer(message))
    names = dict.fromkeys((*said, symptom.name, *quoted, *_SEVERAL_WORDS.findall(message)))
    return tuple(
        name
        for name in names
        if re.fullmatch(r"\w+", name)
        and len(name) > SHORTEST_NAME
        and name not in COMMON
        and name not in missing
    )[:NAMED_SEARCHES]


def named_definitions(case: Case, known: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """List the definitions of what the message names; those that were `seen` are left out."""
    previews: list[Preview] = []
    for name in names_in_message(case):
        if any(_is_seen(name, path, known, seen) for path in known.frames):
            continue
        place = _place(name, known)
        preview = cut(place, known, seen, "named", f"the message names {name}") if place else None
        if preview and len(previews) < NAMED:
            mark(preview, seen)
            previews.append(preview)
    return tuple(previews)


def meant_definitions(case: Case, known: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """List definitions whose names are words of the message, in full or as their initials.

    For errors whose trace leads nowhere: "common table expression" means `createCteExpression`.
    """
    previews: list[Preview] = []
    for phrase, forms in _phrases(case.leader.message[:MESSAGE]):
        hits = [hit for form in forms for hit in known.hits(form, NAMED_HITS)]
        for hit in hits:
            name = defined_name(hit.text, language_of(hit.path))
            if len(previews) == NAMED or not _means(name, phrase):
                continue
            place = known.within(name, (hit.path,))
            because = f"the message says {' '.join(phrase)}"
            preview = cut(place, known, seen, "guess", because) if place else None
            if preview:
                mark(preview, seen)
                previews.append(preview)
    return tuple(previews)


def _is_seen(name: str, path: str, known: Lookup, seen: Shown) -> bool:
    """Whether lines were shown that define the name."""
    definition = definition_of(name, path, known.text(path) or "")
    return definition is not None and (path, definition.line) in seen


def _place(name: str, known: Lookup) -> Place | None:
    """The best place that defines the name, as a definition, or as a column or key."""
    hits = [hit for hit in known.hits(name, NAMED_HITS) if _is_source(hit.path)]
    ranked = sorted((_rank(name, hit), hit.path.count("/"), n) for n, hit in enumerate(hits))
    best = next((hits[n] for rank, _, n in ranked if rank < 9), None)
    if best is None:
        return None
    definition = definition_of(name, best.path, known.text(best.path) or "")
    if definition and definition.line <= best.line <= definition.end:
        return Place(path=best.path, line=definition.line, end=definition.end)
    last = len(text_lines(known.text(best.path) or ""))
    first = max(1, best.line - NAMED_AROUND)
    return Place(path=best.path, line=first, end=min(last, best.line + NAMED_AROUND))


def _rank(name: str, hit: SearchHit) -> int:
    """How much a line says of what the name is, smaller is more; 9 for nothing."""
    later = 2 * bool(_MIGRATION.search(hit.path))
    if defined_name(hit.text, language_of(hit.path)) == name:
        return later
    column = r"\b(?:name|column|constraint|index|unique|references|field|key|t\.\w+|CONSTRAINT)\b"
    if re.search(rf"{column}.{{0,80}}['\":`]{name}\b", hit.text[:400]):
        return 1 + later
    if re.search(rf"^\s*['\":`]?{name}['\"`]?\s*(?:=>|:|=)(?!=)", hit.text[:400]):
        return 3 + later
    return 9


def _is_source(path: str) -> bool:
    return has_grammar(path) or path.endswith(_DATA)


def _phrases(message: str) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Runs of words that may stand for one name, with the forms to search for."""
    said = [word.lower() for word in _PLAIN.findall(message)][: 3 * PHRASE_WORDS]
    told = ["" if word in _EMPTY or len(word) < 3 else word for word in said]
    runs = (tuple(told[n : n + 3]) for n in range(len(told) - 2))
    for run in [one for one in runs if all(one)][:PHRASE_WORDS]:
        yield run, ("".join(word[0] for word in run).capitalize(), f"{run[0]}_{run[1]}")


def _means(name: str, phrase: Iterable[str]) -> bool:
    """Whether a name has all the words, or their initials as one.

    >>> _means("createCteExpression", ("common", "table", "expression")), _means("x", ("a", "b"))
    (True, False)
    """
    has = {word.lower() for word in words(name)}
    initials = "".join(word[0] for word in phrase)
    return initials in has or set(phrase) <= has
