"""Symbols that the failing value came from: their names, their definitions, the code to show."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, product, takewhile
from typing import NamedTuple

from inflection import camelize, singularize, underscore

from nightwatch_core.code import definitions
from nightwatch_core.code.languages import COMMON, has_grammar, language_of
from nightwatch_core.code.likely_files import TEST, class_files, only_carries
from nightwatch_core.code.symptoms import MESSAGE, symptom_of
from nightwatch_core.code.syntax import indent, masked, receiver_before, uses
from nightwatch_core.code.value_flow import FLOW_DEPTH, Step, value_flow
from nightwatch_core.errors import GiveUp, TryLater
from nightwatch_core.models.code import SearchHit
from nightwatch_core.models.errors import Case, Frame
from nightwatch_core.models.research import Preview, PreviewKind
from nightwatch_core.models.value import Value
from nightwatch_core.text.plain_text import text_lines
from nightwatch_core.text.words import words_of_name as words
from nightwatch_core.traces.placing import PathIndex, ReadFile, is_vendored
from nightwatch_core.traces.trace_text import passes_on

LINE = 400  # characters of a line in a preview, or looked at for names
SHORTEST_NAME = 3  # characters
NEAR_FRAMES, NEAR_LINES = 3, 8  # innermost own frames, lines above theirs
FEW_FRAMES, CALLED_AGAIN = 4, 6  # own frames: all of them; up to the failing function's other call
OWNERS = 4  # classes or modules that a receiver may be
NEAR_NAMES = 24  # names of one case
CALLEES, CALLEE_LINES, CALLEE_CHARACTERS = 8, 17, 9_000  # definitions; lines of each; of all
WHOLE_CALLEE = 64  # lines of one that makes the failing value
CALLEE_EXITS, EXIT_REACH = 12, 4  # exits of a longer one; lines from a condition to its exit
CALLEE_SEARCHES, CALLEE_HITS = 12, 40  # names looked for in the whole tree; lines of one search
SAME_NAME_PLACES = 3  # that may define a name; of more nobody knows which one is meant
IMPORT_LINES = 400  # lines at the beginning of a file in which imports stand
TEST_FILES = 3  # that test one file
NAMED_SEARCHES = 3  # names of a message that are followed

_CALL = re.compile(r"(?<![\w$@])(?P<name>[A-Za-z_]\w{1,80}[?!]?)(?=\s{0,2}\()")
_RAISES = re.compile(r"\b(?:raise|throw(?: new)?|rescue|except|catch \()\s*$")
_OPENS = re.compile(r"\s{0,2}\(")
_JOINTS = ("?->", "->", "?.", "&.", "::", ".")
_OWN = re.compile(r"(?:self|this|\$this|cls|static|Self|super(?:\(\))?|parent|base)$")
_CLASS = re.compile(r"[A-Z]\w{0,80}(?:(?:::|\.|\\)[A-Z]\w{0,80})*$")
_MADE = re.compile(
    r"(?:=|\bin\b|:)\s{0,4}(?:await |new |&|\*)*(?:[a-z_]\w{0,80}\.)?(?P<name>[A-Z]\w{1,80})\b"
)
_IDENTIFIER = re.compile(r"[@$]{0,2}(\w{1,80})$")


class Use(Value):
    """A name on the value's way; `owners` are what it may be a member of, the likeliest first.

    `depth` counts assignments and frames back from the failing statement; `distance` the lines.
    """

    name: str
    path: str
    line: int = 0
    receiver: str = ""  # as written; empty where it stands alone
    owners: tuple[str, ...] = ()
    depth: int = 0
    distance: int = 0
    is_call: bool = False
    sets: str = ""  # what its line sets
    column: int = 0

    @property
    def is_own(self) -> bool:
        """Return whether it is called on the object it stands in, or on nothing."""
        return not self.receiver or bool(_OWN.search(self.receiver))

    @property
    def is_telling(self) -> bool:
        """Return whether the name alone is specific enough to be searched everywhere."""
        return len(words(self.name)) > 1 or self.name[:1].isupper()


def candidate_symbols(case: Case, read: ReadFile, members: tuple[str, ...] = ()) -> tuple[Use, ...]:
    """List the names on the way of the failing value, each once, best first.

    Frames that only pass on are passed over; `members` are names that the message says.
    """
    uses_of: dict[tuple[str, bool], Use] = {}
    for number, frame in enumerate(frames_of(case)[:NEAR_FRAMES]):
        text = read(frame.repo_path) or ""
        line = frame.line or 0
        if not 0 < line <= len(text_lines(text)):
            continue
        for use in _of_frame(number, frame.repo_path, text, line, members):
            key = use.name, use.is_own
            uses_of[key] = min((uses_of.get(key, use), use), key=_rank)
    return tuple(sorted(uses_of.values(), key=_rank))[:NEAR_NAMES]


def frames_of(case: Case) -> tuple[Frame, ...]:
    """List the own frames to show whose lines are known: the innermost, plumbing behind others.

    All where they are few, and all between two calls of the failing function; else the nearest,
    without those that only pass on.
    """
    frames = case.trace.in_app if case.trace else ()
    placed = {(f.repo_path, f.line): f for f in frames if f.repo_path and f.line}
    every = list(placed.values())
    again = next((n for n, f in enumerate(every) if n and _function(f) == _function(every[0])), -1)
    telling = [frame for frame in every if not passes_on(frame)] or every
    first = every[: again + 1] if 0 < again < CALLED_AGAIN else telling[:1]
    most = NEAR_FRAMES if every[FEW_FRAMES:] else FEW_FRAMES
    outer = [frame for frame in (telling if every[FEW_FRAMES:] else every) if frame not in first]
    outer.sort(key=lambda frame: passes_on(frame) or only_carries(frame))
    return tuple((*first, *outer)[: max(len(first), most)])


def _function(frame: Frame) -> tuple[str, str]:
    return frame.repo_path, frame.function


def _rank(use: Use) -> tuple[int, int, int]:
    return use.depth + (not use.is_call), use.distance, use.column


def _of_frame(
    number: int, path: str, text: str, line: int, members: tuple[str, ...]
) -> Iterator[Use]:
    steps = value_flow(path, text, line, members)
    made = {step.sets: step for step in steps if step.sets}
    start = max(
        (definition.line for definition in definitions.functions_around(path, text, line)),
        default=1,
    )
    above = Step(max(start, line - NEAR_LINES), line, 2)
    for step in (*steps, above) if number == 0 else steps:
        yield from _on(step, step.depth + number, path, text, line, made)


def _on(
    step: Step, depth: int, path: str, text: str, failing: int, made: dict[str, Step]
) -> Iterator[Use]:
    lines = text_lines(text)
    for name, at, column, _ in _names(path, text, step.line, step.end):
        row = lines[at - 1]
        before = row[max(0, column - 200) : column].rstrip()
        joint = next((joint for joint in _JOINTS if before.endswith(joint)), "")
        receiver = receiver_before(before, len(before) - len(joint)) if joint else ""
        use = Use(
            name=name,
            path=path,
            line=at,
            receiver=receiver,
            owners=_owners(receiver, made, lines),
            depth=depth,
            distance=abs(at - failing),
            is_call=bool(_OPENS.match(row, column + len(name))),
            sets=step.sets,
            column=column,
        )
        if column <= LINE and _is_worth_a_look(use) and not _RAISES.search(before):
            yield use


def _is_worth_a_look(use: Use) -> bool:
    is_known = bool(use.owners) or use.name not in COMMON
    is_field = not use.is_call and bool(use.receiver)
    if is_field and (use.is_own or use.depth > 1) and not use.name[:1].isupper():
        return False
    return is_known and len(use.name) >= SHORTEST_NAME


def _owners(receiver: str, made: dict[str, Step], lines: tuple[str, ...]) -> tuple[str, ...]:
    if not receiver or _OWN.search(receiver):
        return ()
    if _CLASS.search(receiver) and receiver[0].isupper():
        return (receiver,)
    step = made.get(receiver)
    rows = " ".join(lines[step.line - 1 : step.end])[:LINE] if step else ""
    match, last = _MADE.search(rows), _IDENTIFIER.search(receiver)
    name = last[1] if last else ""
    same = [camelize(form) for form in (name, singularize(name)) if len(name) >= SHORTEST_NAME]
    owners = (match["name"] if match else "", name if name == receiver else "", *same)
    return tuple(dict.fromkeys(owner for owner in owners if owner))[:OWNERS]


def _names(path: str, text: str, first: int, last: int) -> Iterator[definitions.NameUse]:
    uses = definitions.uses_in(path, text, first, last)
    yield from uses
    for number, row in enumerate(() if uses else text_lines(text)[first - 1 : last], start=first):
        for found in _CALL.finditer(masked(row[:LINE], language_of(path))):
            yield definitions.NameUse(found["name"], number, found.start())


# Which files test a file: told by their names, as languages and frameworks name them.

_EVERY_FOLDERS = re.compile(r"(?:__init__|__main__|conftest|index|mod)\.")  # names no subject
_ROLES = frozenset(("test", "tests", "spec", "specs", "it", "unit", "case"))


def files_testing(path: str, paths: Iterable[str], limit: int = TEST_FILES) -> tuple[str, ...]:
    """List the tests of a file, the likeliest first: `test_cart.py` before `test_old_cart.py`.

    Their names have all words of the file's name; words that are no folder of the file's are
    counted against them.
    """
    folder, _, file = path.rpartition("/")
    whole = folder.rpartition("/")[2] if _EVERY_FOLDERS.match(file) else file
    own, language = _words(whole), language_of(path)
    folders = {word for folder in path.split("/")[:-1] for word in _words(folder)}
    ranked = []
    for test in paths if own and not TEST.search(path) else ():
        named = _words(test.rpartition("/")[2]) if is_test_file(test) else frozenset()
        more = len(named - own - folders)
        is_of_file = bool(named) and own <= named and more <= len(own)
        if is_of_file and has_grammar(test) == has_grammar(path) and language_of(test) == language:
            shared = {*path.split("/")[:-1]} & {*test.split("/")[:-1]}
            ranked.append((more, -len(named & (own | folders)), -len(shared), test))
    return tuple(test for *_, test in sorted(ranked))[:limit]


def is_test_file(path: str) -> bool:
    """Tell whether a file may hold tests: by its path, and not one that every folder has."""
    return bool(TEST.search(path)) and not _EVERY_FOLDERS.match(path.rpartition("/")[2])


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words(name.partition(".")[0])) - _ROLES


# Which files of the tree an import leads to.

_IMPORTS = re.compile(r"\s{0,20}(?:import|from|require|use|using|export|const|let|var)\b")
_MODULE = re.compile(r"[\w@.\\/-]{3,200}")


def _import_rows(name: str, lines: tuple[str, ...]) -> Iterator[str]:
    """Rows that import a name; of an import of several rows the first, or the last with `from`."""
    name_parts = [part for part in re.split(r"::|[.\\]", name) if part]
    lines = tuple(line[:LINE] for line in lines)
    for number, row in enumerate(lines):
        if not any(uses(item, row) for item in name_parts):
            continue
        if _IMPORTS.match(row):
            yield row
        elif re.fullmatch(r"\s*[\w ,{}*]+,?\s*\\?", row):
            nearby = (*lines[max(0, number - 12) : number][::-1], *lines[number + 1 : number + 12])
            yield from (row for row in nearby if re.search(r"\bfrom\s+\S", row))


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
    nearest = (sorted(ones, key=lambda item: _distance(item, path)) for ones in (modules, files))
    return tuple(dict.fromkeys(chain.from_iterable(nearest)))


def _distance(path: str, other: str) -> tuple[int, str]:
    ours, theirs = path.split("/")[:-1], other.split("/")[:-1]
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    return len(ours) + len(theirs) - 2 * len(list(shared)), path


# Where a name that code uses is defined, found at a bounded cost, the cheapest way first.
#
# A name that belongs to an object is looked for in what the object may be; else only names of
# several words are. Where many places define one, the choice is left to the analyst.

Search = Callable[[str, str, int], tuple[SearchHit, ...]]  # text, folder, how many lines at most


class Place(NamedTuple):
    """A definition of a name: lines from 1, `end` included."""

    path: str
    line: int
    end: int


class Lookup:
    """Finds definitions; each file is read once, and the tree searched a few times."""

    def __init__(
        self, index: PathIndex, read: ReadFile, search: Search | None, frames: tuple[str, ...] = ()
    ) -> None:
        """Nothing is read yet; `frames` are files that frames lie in."""
        self.index, self.text, self._search = index, cache(read), search
        self._left = CALLEE_SEARCHES
        self.frames = tuple(dict.fromkeys(frames))

    def place(self, use: Use) -> Place | None:
        """Find where a name is defined, the cheapest way first."""
        for owner in use.owners:
            found = (*self.imports(owner, use.path), *self.modules(owner, use.path))
            for path in dict.fromkeys((use.path, *found, *self.frames)):
                if place := self.member(use.name, owner, path):
                    return place
        if use.is_own:
            frames = () if use.receiver else self.frames
            imported = self.imports(use.name, use.path)
            if place := self.within(use.name, (use.path, *frames, *imported)):
                return place
        classes = class_files(use.name, self.index)[:3] if use.name[:1].isupper() else ()
        if place := self.within(use.name, classes):
            return place
        if use.name in COMMON or not (use.is_telling or (use.is_own and use.is_call)):
            return None
        paths = self.defining(use.name, use.path)
        return self.within(use.name, paths) if use.is_own or len(paths) == 1 else None

    def imports(self, name: str, path: str) -> tuple[str, ...]:
        """List the files that an import of this name in a file leads to."""
        text = self.text(path) or ""
        rows = _import_rows(name, text_lines(text)[:IMPORT_LINES])
        paths = (item for row in tuple(rows)[:2] for item in imported(row, path, self.index, name))
        return tuple(dict.fromkeys(paths))[:3]

    def modules(self, owner: str, path: str) -> tuple[str, ...]:
        """List the files that a class or a module of this name would be in, the nearest first."""
        stem = underscore(re.split(r"::|[.\\]", owner)[-1])
        suffixes = language_of(path).suffixes
        named = [file for suffix in suffixes for file in self.index.ending(f"{stem}{suffix}")]
        nearest = sorted(named, key=lambda file: _distance(file, path))[:SAME_NAME_PLACES]
        return (*class_files(owner, self.index), *nearest)

    def within(self, name: str, paths: tuple[str, ...]) -> Place | None:
        """Find the first of some files that defines the name."""
        for path in paths:
            definition = definitions.definition_of(name, path, self.text(path) or "")
            if definition:
                return Place(path, definition.line, definition.end)
        return None

    def member(self, name: str, owner: str, path: str) -> Place | None:
        """Find what the class, or the module that is the file, has under this name."""
        text, last = self.text(path) or "", re.split(r"::|[.\\]", owner)[-1]
        whole = definitions.definition_of(last, path, text)
        folder, _, file = path.rpartition("/")
        modules = (underscore(file.split(".")[0]), underscore(folder.rpartition("/")[2]))
        if whole is None and underscore(last) not in modules:
            return None
        for definition in definitions.definitions_in(path, text) if name in text else ():
            is_inside = whole is None or whole.line <= definition.line <= whole.end
            if definition.name == name and is_inside and definition != whole:
                return Place(path, definition.line, definition.end)
        return None

    def constructor(self, place: Place) -> Place | None:
        """Find what makes an object of the class that a place defines."""
        known = definitions.definitions_in(place.path, self.text(place.path) or "")
        inside = (item for item in known if place.line < item.line <= place.end)
        found = next((item for item in inside if item.name in _CONSTRUCTORS), None)
        return Place(place.path, found.line, found.end) if found else None

    def hits(self, text: str, limit: int = CALLEE_HITS) -> tuple[SearchHit, ...]:
        """Search the tree, but for tests and libraries; empty once too much was searched."""
        hits = self._searched(text, limit)
        return tuple(hit for hit in hits if not TEST.search(hit.path) and not is_vendored(hit.path))

    def _searched(self, text: str, limit: int = CALLEE_HITS) -> tuple[SearchHit, ...]:
        if self._search is None or self._left <= 0:
            return ()
        self._left -= 1
        try:
            return self._search(text, "", limit)
        except (GiveUp, TryLater):  # the analyst can still look it up
            self._left = 0
            return ()

    def tests_of(self, path: str, texts: Iterable[str], route: str = "") -> tuple[str, ...]:
        """List tests of a file: those of its name, and those that say the first of some texts.

        Without any of its name those that say the route: others may mention it as well.
        """
        named = files_testing(path, self.index)
        for text in (*texts, *([route] if route and not named else ())):
            hits = (hit for hit in self._searched(text) if is_test_file(hit.path))
            mentions = Counter(hit.path for hit in hits if _is_whole(text, hit.text))
            ranked = sorted(mentions, key=lambda test: (-mentions[test], test))
            like = [test for test in ranked if language_of(test) == language_of(path)]
            if like:
                return tuple(dict.fromkeys((*named, *like[:TEST_FILES])))
        return named

    def callers(self, name: str, path: str) -> tuple[SearchHit, ...]:
        """List the lines that use a function of a file, the nearest first; none where many do."""
        is_telling = len(name) >= SHORTEST_NAME and name not in COMMON and name[:2] != "__"
        language, hits = language_of(path), self.hits(name) if is_telling else ()
        same = [hit for hit in hits if language_of(hit.path) == language]
        uses = [hit for hit in same if _is_whole(name, hit.text) and not _IMPORTS.match(hit.text)]
        calls = [hit for hit in uses if definitions.defined_name(hit.text, language) != name]
        is_many = len(calls) > SAME_NAME_PLACES or len(hits) >= CALLEE_HITS
        nearest = sorted(calls, key=lambda hit: (_distance(hit.path, path), hit.line))
        return () if is_many else tuple(nearest)

    def defining(self, name: str, like: str) -> tuple[str, ...]:
        """List files that define a name, those near the file `like` first; none if too many do."""
        certain = ("class ",) if name[:1].isupper() else ("def ", "func ")
        head = next((head for head in language_of(like).heads if head in certain), "")
        hits = self.hits(f"{head}{name}")
        names = ((hit, definitions.defined_name(hit.text, language_of(hit.path))) for hit in hits)
        paths = dict.fromkeys(hit.path for hit, defined in names if defined == name)
        if len(paths) > SAME_NAME_PLACES or len(hits) >= CALLEE_HITS:
            return ()
        return tuple(sorted(paths, key=lambda path: _distance(path, like)))


def _is_whole(text: str, row: str) -> bool:
    return bool(re.search(rf"(?<![\w/]){re.escape(text)}(?![\w/])", row))


# Definitions on the failing value's way: what an analyst would look up first.

_CONSTRUCTORS = frozenset(("__init__", "initialize", "constructor", "__construct"))
_EXIT = re.compile(r"\s*(?:return|raise|throw)\b")

Shown = set[tuple[str, int]]


def called_definitions(
    case: Case, lookup: Lookup, seen: Shown, members: tuple[str, ...] = ()
) -> tuple[Preview, ...]:
    """List definitions of what the failing statement, and those before it, call and build.

    The likeliest to matter first; bounded in number, lines and characters. What was `seen` is left
    out, and what is shown is added to it; `members` are names that the message says.
    """
    previews: list[Preview] = []
    left, count = CALLEE_CHARACTERS, 0
    for use in candidate_symbols(case, lookup.text, members):
        place = lookup.place(use)
        parts = _previews(place, use, lookup, seen) if place else ()
        size = sum(len(part.text) for part in parts)
        if not parts or size > left:
            continue
        left, count = left - size, count + 1
        for part in parts:
            mark(part, seen)
        previews += parts
        if count == CALLEES:
            break
    return tuple(previews)


def _previews(place: Place, use: Use, lookup: Lookup, seen: Shown) -> tuple[Preview, ...]:
    """Show a definition: whole where it is short, else its head and, of a maker, its exits."""
    text = lookup.text(place.path) or ""
    lines = text_lines(text)
    if definitions.is_class_at(place.path, text, place.line):  # its head tells nothing of a value
        made = lookup.constructor(place) if use.is_call else None
        if made is None:
            return ()
        place = made
    place = place._replace(line=definitions.decorated_from(lines, place.line))
    because = f"used in {use.path.rpartition('/')[2]}:{use.line}"
    because += f", which sets {use.sets}" if use.sets else ""
    makes = use.is_call and (use.depth == 0 or (bool(use.sets) and use.depth <= FLOW_DEPTH))
    is_maker = makes and use.name[:1].islower()
    is_short = place.end - place.line < WHOLE_CALLEE
    most = WHOLE_CALLEE if is_maker and is_short else CALLEE_LINES
    head = cut(place, lookup, seen, "flow", because, most)
    if head is None or not is_maker or is_short:
        return (head,) if head else ()
    exits = [row for row in range(head.end + 1, head.until + 1) if _EXIT.match(lines[row - 1])]
    return (head, *(_exit(head, row, lines) for row in exits[:CALLEE_EXITS]))


def _exit(head: Preview, row: int, lines: tuple[str, ...]) -> Preview:
    """Show an exit of a long function from the condition that leads to it."""
    depth = indent(lines[row - 1])
    outer = (n for n in range(row - 1, head.end, -1) if lines[n - 1].strip())
    above = next((n for n in outer if indent(lines[n - 1]) < depth), row)
    start = above if row - above <= EXIT_REACH else row
    shown = cut_out(head.path, lines, start, row, head.kind, head.because)
    return shown.model_copy(update={"until": head.until})


def cut(
    place: Place,
    lookup: Lookup,
    seen: Shown,
    kind: PreviewKind,
    because: str = "",
    most: int = CALLEE_LINES,
) -> Preview | None:
    """Cut out the lines of a definition that were not shown; None where that is not half of it."""
    end = min(place.end, place.line + most - 1)
    new = [line for line in range(place.line, end + 1) if (place.path, line) not in seen]
    new = [line for n, line in enumerate(new) if line == new[0] + n]  # up to what was shown
    if len(new) < (end - place.line + 2) // 2:
        return None
    lines = text_lines(lookup.text(place.path) or "")
    rest = [line for line in range(new[-1] + 1, place.end + 1) if (place.path, line) not in seen]
    shown = cut_out(place.path, lines, new[0], new[-1], kind, because)
    return shown.model_copy(update={"until": max(rest, default=0)})


def cut_out(
    path: str, lines: tuple[str, ...], start: int, end: int, kind: PreviewKind, because: str
) -> Preview:
    """Cut lines `start` to `end` out of a file's; long ones are cut."""
    rows = "\n".join(" ".join(row.splitlines())[:LINE] for row in lines[start - 1 : end])
    span = {"start": start, "end": end, "lines": len(lines)}
    return Preview(path=path, text=rows, kind=kind, because=because, **span)


def mark(preview: Preview, seen: Shown) -> None:
    """Note the lines of a preview as seen."""
    seen |= {(preview.path, line) for line in range(preview.start, preview.end + 1)}


# What a message names: members, columns, constraints, keys and classes, at their definitions.

_QUOTED = re.compile(r"['\"`‘“](?:\w{1,60}(?:\.|::|#))*:?(?P<name>[A-Za-z_]\w{2,60})['\"`’”]")
_SEVERAL_WORDS = re.compile(r"\b(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+[A-Z][A-Za-z0-9]+)\b")


def names_in_message(case: Case) -> tuple[str, ...]:
    """List the names that the message says, what its wording singles out before others.

    A member that nothing has is no name to look for: its receiver is what is wrong.
    """
    message = case.leader.message[:MESSAGE]
    symptom = symptom_of(case.leader.error_class, message)
    relation = re.split(r"[\s,]+", symptom.relation)
    missing = {item.rpartition(".")[0] for item in relation}  # tables
    missing |= {symptom.name} if symptom.kind == "none receiver" else set()
    from_symptom = (symptom.key, symptom.keyword, *(item.rpartition(".")[2] for item in relation))
    quoted = (match["name"] for match in _QUOTED.finditer(message))
    names = dict.fromkeys((*from_symptom, symptom.name, *quoted, *_SEVERAL_WORDS.findall(message)))
    telling = (name for name in names if len(name) > SHORTEST_NAME and name not in COMMON)
    sought = (name for name in telling if re.fullmatch(r"\w+", name) and name not in missing)
    return tuple(sought)[:NAMED_SEARCHES]
