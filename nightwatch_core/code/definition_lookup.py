"""Where a name that code uses is defined, found at a bounded cost, the cheapest way first.

A name that belongs to an object is looked for in what the object may be; without knowing that, only
names of several words are, and where many places define one, it is left to the analyst, who can
tell which one is meant.
"""

import re
from collections.abc import Callable
from functools import cache

from inflection import underscore

from nightwatch_core.code.called_names import COMMON, Read, Use
from nightwatch_core.code.definitions import (
    Definition,
    defined_name,
    definition_of,
    definitions_in,
)
from nightwatch_core.code.imported_files import distance, imported_files
from nightwatch_core.code.languages import language_of
from nightwatch_core.code.likely_files import TEST, class_files
from nightwatch_core.code.limits import (
    CALLEE_HITS,
    CALLEE_SEARCHES,
    SAME_NAME_PLACES,
)
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.value import Value
from nightwatch_core.traces.placing import PathIndex, is_vendored

_BASES = re.compile(
    r"class\s+\w+\s*(?:\((?P<python>[^)\n]{1,200})\)|<\s*(?P<ruby>[\w:]{1,100})"
    r"|(?:extends|implements|:)\s+(?P<others>[\w.,:\\ <>]{1,200}))"
)
_CLASS_NAME = re.compile(r"\b[A-Z]\w{2,80}\b")

Search = Callable[[str, str, int], tuple[SearchHit, ...]]  # text, folder, how many lines at most


class Place(Value):
    """Where a name is defined: lines from 1, `end` included."""

    path: str
    line: int
    end: int


class Lookup:
    """Finds definitions; each file is read once, and the tree searched a few times."""

    def __init__(
        self,
        index: PathIndex,
        read: Read,
        search: Search | None,
        frames: tuple[str, ...] = (),
    ) -> None:
        """Nothing is read yet; `frames` are files that frames lie in."""
        self.index, self.text, self._search = index, cache(read), search
        self._left = CALLEE_SEARCHES
        self.frames = tuple(dict.fromkeys(frames))

    def place(self, use: Use) -> Place | None:
        """Find where the name is defined, by the first way that finds it."""
        return next((place for way in WAYS if (place := way(use, self))), None)

    def imports(self, name: str, path: str) -> tuple[str, ...]:
        """List the files that an import of this name in a file leads to."""
        return imported_files(name, path, self.text(path) or "", self.index)

    def within(self, name: str, paths: tuple[str, ...]) -> Place | None:
        """Find the first of some files that defines the name."""
        for path in paths:
            definition = definition_of(name, path, self.text(path) or "")
            if definition:
                return _place(path, definition)
        return None

    def member(self, name: str, owner: str, path: str) -> Place | None:
        """Find what the class, or the module that is the file, has under this name."""
        text, last = self.text(path) or "", re.split(r"::|[.\\]", owner)[-1]
        whole = definition_of(last, path, text)
        if whole is None and underscore(last) not in _modules(path):
            return None
        for one in definitions_in(path, text) if name in text else ():
            is_inside = whole is None or whole.line <= one.line <= whole.end
            if one.name == name and is_inside and one != whole:
                return _place(path, one)
        return None

    def hits(self, text: str, limit: int = CALLEE_HITS) -> tuple[SearchHit, ...]:
        """Search the tree, but for tests and libraries; empty once too much was searched."""
        if self._search is None or self._left <= 0:
            return ()
        self._left -= 1
        try:
            hits = self._search(text, "", limit)
        except (GiveUp, TryLater):  # the analyst can still look it up
            self._left = 0
            return ()
        return tuple(hit for hit in hits if not TEST.search(hit.path) and not is_vendored(hit.path))

    def defining(self, name: str, like: str) -> tuple[str, ...]:
        """List the files that define a name, those near the file `like` first.

        Nothing where too many do.
        """
        heads = (head for head in language_of(like).heads if _begins(head, name))
        hits = self.hits(f"{next(heads, '')}{name}")
        paths = dict.fromkeys(
            hit.path for hit in hits if defined_name(hit.text, language_of(hit.path)) == name
        )
        if len(paths) > SAME_NAME_PLACES or len(hits) >= CALLEE_HITS:
            return ()
        return tuple(sorted(paths, key=lambda one: distance(one, like)))


def in_own_file(use: Use, known: Lookup) -> Place | None:
    """Look in its own file, and for what stands alone in the files of the other frames."""
    if not use.is_own:
        return None
    own = known.within(use.name, (use.path,))
    return own if use.receiver and use.is_own else own or known.within(use.name, known.frames)


def in_base_class(use: Use, known: Lookup) -> Place | None:
    """Look in the classes that those of its file are made of."""
    if not (use.receiver and use.is_own):
        return None
    for base in bases_in(known.text(use.path) or ""):
        paths = (*known.imports(base, use.path), *class_files(base, known.index))
        for path in dict.fromkeys(paths):
            if place := known.member(use.name, base, path):
                return place
    return None


def in_owner(use: Use, known: Lookup) -> Place | None:
    """Look in the classes and modules that it may be a member of."""
    for owner in use.owners:
        paths = (use.path, *known.imports(owner, use.path))
        paths += (*class_files(owner, known.index), *known.frames)
        for path in dict.fromkeys(paths):
            if place := known.member(use.name, owner, path):
                return place
    return None


def in_imported_file(use: Use, known: Lookup) -> Place | None:
    """Look in a file that an import of this name leads to."""
    if use.receiver and not use.is_own:
        return None
    return known.within(use.name, known.imports(use.name, use.path))


def in_class_file(use: Use, known: Lookup) -> Place | None:
    """Look in the file that a class of this name would be in."""
    if not use.name[:1].isupper():
        return None
    return known.within(use.name, class_files(use.name, known.index)[:3])


def anywhere(use: Use, known: Lookup) -> Place | None:
    """Search the tree for a name that tells enough; nowhere where too many places define it."""
    if use.name in COMMON or not (use.is_telling or (use.is_own and use.is_call)):
        return None
    paths = known.defining(use.name, use.path)
    return known.within(use.name, paths) if use.is_own or len(paths) == 1 else None


def bases_in(text: str) -> tuple[str, ...]:
    """List the classes that those of a file are made of.

    >>> bases_in("class A(base.Shop, Generic[T]):"), bases_in("class A < Shop::Base")
    (('Shop', 'Generic'), ('Shop', 'Base'))
    """
    found = (match[match.lastgroup or 0] for match in _BASES.finditer(text[:100_000]))
    return tuple(dict.fromkeys(name for one in found for name in _CLASS_NAME.findall(one)))[:4]


def _modules(path: str) -> tuple[str, str]:
    """The names of the modules that a file may be: its own, and its folder's."""
    folder, _, name = path.rpartition("/")
    return underscore(name.split(".")[0]), underscore(folder.rpartition("/")[2])


def _begins(head: str, name: str) -> bool:
    """Whether the word before a definition is always there, so that it can be searched for."""
    return head in (("class ",) if name[:1].isupper() else ("def ", "func "))


def _place(path: str, definition: Definition) -> Place:
    return Place(path=path, line=definition.line, end=definition.end)


# Where a definition is looked for, the cheapest way first.
WAYS: tuple[Callable[[Use, Lookup], Place | None], ...] = (
    in_owner,
    in_own_file,
    in_imported_file,
    in_base_class,
    in_class_file,
    anywhere,
)
