"""Definitions of a name, and names that may have taken its place."""

import difflib
from collections.abc import Iterable
from itertools import product

from nightwatch_core.code.definitions import defined_name, definitions_in
from nightwatch_core.code.languages import Language, language_of
from nightwatch_core.code.likely_files import TEST
from nightwatch_core.code.syntax import masked, uses
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.conversation import HitsFound
from nightwatch_core.models.value import Value
from nightwatch_core.rules.known_code import KnownCode
from nightwatch_core.rules.limits import SHORTEST_WORD
from nightwatch_core.text.words import words_error_classes as words

ALIKE = 0.6  # difflib ratio from which names are similar
_SLIP = 0.8  # ratio from which one word is another, written wrongly
_FORMS = ("s", "es", "d", "ed", "r", "er", "n", "ing", "ly")  # endings that make another word

UNITS = {
    *("cents", "dollars", "euros", "amount", "percent", "ratio", "bytes", "kb", "mb", "utc"),
    *("ms", "millis", "seconds", "minutes", "hours", "days", "count", "id", "ids", "local"),
}
SHARES = {"percent", "ratio"}  # units that also stand for what they measure
# Words of one row exclude each other; one that is only added or left out says little.
OPPOSITES: tuple[tuple[str, ...], ...] = (
    *(("is", "has"), ("start", "end"), ("start", "stop"), ("min", "max"), ("open", "close")),
    *(("get", "set", "add", "remove"), ("get", "set", "add", "delete"), ("opened", "closed")),
    *(("all", "any", "one", "first", "last"), ("read", "write"), ("old", "new"), ("in", "out")),
    *(("created", "updated", "deleted"), ("enable", "disable"), ("enabled", "disabled")),
    *(("before", "after"), ("next", "previous"), ("next", "prev"), ("from", "to"), ("up", "down")),
    *(("sync", "async"), ("encode", "decode"), ("left", "right"), ("source", "target")),
)
NEGATIONS = {"not", "no", "non", "un", "never", "without", "old"}  # also where only added
_NEGATING = ("un", "in", "im", "ir", "il", "non", "dis", "de", "mis")  # beginnings of words


class Candidate(Value):
    """A definition that may be meant by a name that has none."""

    name: str
    place: SearchHit
    ratio: float
    misspelt: bool  # the names differ by a slip of the keyboard only
    is_suggested: bool = False  # the language itself suggests it in its message
    language: Language


def definitions(name: str, language: Language, code: KnownCode) -> HitsFound:
    """List lines outside tests that define the name; `complete` where no other can exist."""
    result = code.search(name)
    if not result.complete:
        parts = [code.search(f"{head}{name}") for head in language.heads]
        hits = tuple(dict.fromkeys(hit for part in (result, *parts) for hit in part.hits))
        result = HitsFound(hits=hits, complete=all(part.complete for part in parts))
    return HitsFound(
        hits=tuple(hit for hit in result.hits if _defines(hit, name) and not TEST.search(hit.path)),
        complete=result.complete,
    )


def callers(name: str, code: KnownCode) -> HitsFound:
    """List lines outside tests that use the name in code and do not define it."""
    result = code.search(name)
    hits = tuple(
        hit
        for hit in result.hits
        if uses(name, masked(hit.text, language_of(hit.path)))
        and not _defines(hit, name)
        and not TEST.search(hit.path)
    )
    return HitsFound(hits=hits, complete=result.complete)


def _defines(hit: SearchHit, name: str) -> bool:
    """Whether the line, of the language its file has, defines exactly this name."""
    return defined_name(hit.text, language_of(hit.path)) in (name, f"{name}=")


def similar_in_file(name: str, path: str, code: KnownCode) -> tuple[Candidate, ...]:
    """List similar names that a file defines."""
    lines = code.whole(path)
    if lines is None:
        return ()
    defined = definitions_in(path, "\n".join(lines))
    places = (SearchHit(path=path, line=one.line, text=lines[one.line - 1]) for one in defined)
    return _alike(name, ((one.name, place) for one, place in zip(defined, places, strict=True)))


def similar_anywhere(name: str, code: KnownCode) -> tuple[Candidate, ...]:
    """List similar names that the repository defines, found by the words of the name."""
    parts = sorted({word.lower() for word in words(name) if len(word) > SHORTEST_WORD}, key=len)
    places = [hit for part in parts[-3:] for hit in code.search(part).hits]
    own = (place for place in places if not TEST.search(place.path))
    return _alike(name, ((defined_name(one.text, language_of(one.path)), one) for one in own))


def _alike(name: str, defined: Iterable[tuple[str, SearchHit]]) -> tuple[Candidate, ...]:
    """Definitions whose names are like this one, most similar first."""
    candidates: dict[str, Candidate] = {}
    for other, place in defined:
        ratio = likeness(name, other)
        if other != name and ratio >= ALIKE and not (name[:1].isupper() ^ other[:1].isupper()):
            candidates.setdefault(other, candidate(name, other, place))
    return tuple(sorted(candidates.values(), key=lambda one: (-one.ratio, one.name)))


def candidate(name: str, other: str, place: SearchHit) -> Candidate:
    """Give the definition of `other` at the place as a candidate for `name`."""
    return Candidate(
        name=other,
        place=place,
        ratio=likeness(name, other),
        misspelt=slip(name, other),
        language=language_of(place.path),
    )


def suggested(name: str, meant: str, language: Language, code: KnownCode) -> tuple[Candidate, ...]:
    """Give the name that the message itself suggests, where it is defined exactly once."""
    mine, theirs = ({word.lower() for word in words(one)} for one in (name, meant))
    numbered = any(char.isdigit() for word in mine ^ theirs for char in word)
    if not meant or meant == name or numbered or name[:1].isupper() ^ meant[:1].isupper():
        return ()
    defined = definitions(meant, language, code)
    if len(defined.hits) != 1 or not defined.complete:
        return ()
    hint = candidate(name, meant, defined.hits[0])
    return (hint.model_copy(update={"is_suggested": True, "misspelt": True}),)


def slip(name: str, other: str) -> bool:
    """Tell whether one name is the other, written wrongly in one word, its first letter right.

    Other forms of a word (plural, past, negation) and other numbers are other names.

    >>> slip("adress_line", "address_line"), slip("userName", "username")
    (True, True)
    >>> [slip(*names) for names in (("item", "items"), ("is_valid", "is_invalid"), ("a1", "a2"))]
    [False, False, False]
    """
    mine, theirs = ([word.lower() for word in words(one)] for one in (name, other))
    if "".join(mine) == "".join(theirs):
        return name != other
    differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(differing) != 1 or max(len(name), len(other)) <= 4:
        return False
    shorter, longer = sorted(differing[0], key=len)
    if not (shorter + longer).isalpha() or shorter[0] != longer[0]:
        return False
    another_form = any(longer == shorter + ending for ending in _FORMS)
    matcher = difflib.SequenceMatcher(None, shorter, longer, autojunk=False)
    return not another_form and (matcher.ratio() >= _SLIP or _swapped(shorter, longer))


def _swapped(one: str, other: str) -> bool:
    """Whether two neighbouring letters changed places."""
    differing = [at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]]
    return len(one) == len(other) and len(differing) == 2 and sorted(one) == sorted(other)


def likeness(name: str, other: str) -> float:
    """Tell how alike two names are, 0 to 1; one that holds all words of the other is at least 0.7.

    >>> likeness("recieve_order", "receive_order") > 0.9, likeness("total", "order_total") >= 0.7
    (True, True)
    """
    if not name or not other:
        return 0.0
    ratio = difflib.SequenceMatcher(None, name[:100], other[:100], autojunk=False).ratio()
    mine, theirs = ({word.lower() for word in words(one)} for one in (name, other))
    inside = bool(mine and theirs) and (mine <= theirs or theirs <= mine)
    return max(ratio, 0.7) if inside else ratio


def means_something_else(name: str, other: str, only: bool = False) -> str:
    """Name the words that make one name mean another thing than the other; empty where none do.

    `only`: nothing else can be meant, so that a word for a share may name the thing itself.

    >>> means_something_else("start_date", "end_date"), means_something_else("totl", "total")
    ('end, start', '')
    >>> means_something_else("round_cents", "round_to_cents")
    ''
    >>> means_something_else("rate", "percent"), means_something_else("rate", "percent", only=True)
    ('percent', '')
    """
    mine, theirs = ({word.lower() for word in words(one)} for one in (name, other))
    gone, come = mine - theirs, theirs - mine
    telling = (gone | come) & ((UNITS - SHARES if only else UNITS) | NEGATIONS)
    for row in OPPOSITES:
        if gone & {*row} and come & {*row}:
            telling |= (gone | come) & {*row}
    for one, negated in [*product(gone, come), *product(come, gone)]:
        if any(negated == beginning + one for beginning in _NEGATING):
            telling |= {one, negated}
    return ", ".join(sorted(telling))
