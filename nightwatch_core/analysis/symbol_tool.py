"""What read_symbol shows: where a name is defined, and the whole of it."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nightwatch_core.analysis.path_suggestions import near_matches, sentence_of
from nightwatch_core.analysis.search_tool import SIFTED, defines
from nightwatch_core.analysis.shown_lines import head, part, place, spans
from nightwatch_core.analysis.tool_arguments import Refusal, ToolAnswer
from nightwatch_core.analysis.tool_context import ToolContext
from nightwatch_core.code.code_view import MARK, lines_of
from nightwatch_core.code.code_view import name as shown_name
from nightwatch_core.code.definitions import Definition, definitions_in
from nightwatch_core.code.file_kinds import BULK, is_code, kind_of, rank_of
from nightwatch_core.errors import GiveUp
from nightwatch_core.models.tool_values import DefinitionPlace, DefinitionsFound
from nightwatch_core.text.escaping import line

_LONGEST = 200  # characters of a name
_READ = 60  # files that are read for a name
_LISTED = 30  # places that are named
_MOST = 400  # lines of one definition
_OTHERS = 8_000  # characters of all bodies beyond the first
_SEPARATORS = re.compile(r"::|->|[.#\\/]")
_LAST = re.compile(r"[A-Za-z_$][\w$]*[?!=]?")
_ABOVE = ("@", "#[")  # begin a line that belongs to the definition below it


class Candidate(NamedTuple):
    """A definition of the name, with the file it stands in."""

    path: str
    lines: tuple[str, ...]
    defined: Definition
    owner: str
    is_owned: bool  # by what the question names as its owner


def read_symbol(at: ToolContext, limit: int, name: str) -> ToolAnswer:
    """Show the definitions of a name, the likeliest first, about `limit` characters."""
    parts = [one for one in _SEPARATORS.split(name.strip().removesuffix("()")) if one]
    if not parts or len(name) > _LONGEST or not _LAST.fullmatch(parts[-1]):
        raise Refusal("Give the name of a class, function or method: total, Order.total.")
    *owners, wanted = parts
    found = sorted(_candidates(at, wanted, owners), key=lambda one: _rank(at, one))
    if not found:
        raise Refusal(_nowhere(at, wanted))
    owned = [one for one in found if one.is_owned]
    notes = []
    if owners and not owned:
        notes.append(f"{owners[-1]} itself does not define {wanted}; it may inherit it.")
    shown = tuple(owned or found)
    others = [one for one in found if one not in shown]
    if len(found) > 1:
        notes += [_listed(one) for one in (*shown, *others)[:_LISTED]]
    if len(found) > _LISTED:
        notes.append(f"{MARK}{len(found) - _LISTED} more: name its owner, like Order.total ...]")
    bodies = _bodies(at, shown, limit - sum(map(len, notes)))
    value = DefinitionsFound(places=tuple(map(_place, (*shown, *others))))
    return ToolAnswer("\n".join((*notes, *bodies)), value)


def _candidates(at: ToolContext, wanted: str, owners: list[str]) -> Iterator[Candidate]:
    for path in _files(at, wanted):
        text = at.code.read_file(path)
        if not text or wanted not in text:
            continue
        lines, known = lines_of(text), definitions_in(path, text)
        for one in known:
            if one.name == wanted:
                owner = _owner(one, known)
                yield Candidate(path, lines, one, owner, _is_owned(path, lines, one, owner, owners))


def _files(at: ToolContext, wanted: str) -> tuple[str, ...]:
    """Files that may define the name: those of frames, then those a line of which looks so."""
    try:
        hits = at.code.search(wanted, "", SIFTED)
    except GiveUp as trouble:
        near = at.frame_files
        if not near:
            why = f"No search: {line(str(trouble))}. Use find_files and read_file."
            raise Refusal(why) from None
        return near
    names = {wanted}
    likely = dict.fromkeys(hit.path for hit in hits if defines(hit.path, hit.text, names))
    coded = dict.fromkeys(hit.path for hit in hits if is_code(hit.path))
    paths = (one for one in (*likely, *coded) if kind_of(one) not in BULK)
    once = dict.fromkeys((*at.frame_files, *paths))
    ranked = sorted(once, key=lambda one: (one not in likely, rank_of(one, at.frame_files), one))
    return tuple(dict.fromkeys((*at.frame_files, *ranked)))[:_READ]


def _owner(one: Definition, known: Iterable[Definition]) -> str:
    """The innermost class around a definition."""
    around = (d for d in known if d.kind == "class" and d.line < one.line and one.end <= d.end)
    return max(around, key=lambda d: d.line, default=one).name


def _is_owned(
    path: str, lines: tuple[str, ...], one: Definition, owner: str, owners: list[str]
) -> bool:
    """Whether the last owner that was named is its class, its file or folder, or its receiver."""
    if not owners:
        return True
    wanted = _plain(owners[-1])
    *folders, file = path.split("/")
    places = {_plain(owner), _plain(file.split(".")[0]), *map(_plain, folders[-1:])}
    receiver = re.match(r"\s*func\s*\(([^)]{0,200})\)", lines[one.line - 1])
    return wanted in places or bool(receiver and owners[-1] in re.findall(r"\w+", receiver[1]))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _rank(at: ToolContext, one: Candidate) -> tuple[bool, bool, tuple[int, int], str, int]:
    is_value = one.defined.kind == "value"
    return not one.is_owned, is_value, rank_of(one.path, at.frame_files), one.path, one.defined.line


def _listed(one: Candidate) -> str:
    owner = "" if one.owner == one.defined.name else f"{one.owner}."
    return f"{place(one.path, one.defined.line)} {one.defined.kind} {owner}{one.defined.name}"


def _place(one: Candidate) -> DefinitionPlace:
    owner = "" if one.owner == one.defined.name else one.owner
    start, end = one.defined.line, one.defined.end
    return DefinitionPlace(path=one.path, start=start, end=end, name=one.defined.name, owner=owner)


def _bodies(at: ToolContext, shown: tuple[Candidate, ...], room: int) -> Iterator[str]:
    """The first definition whole, the others while there is room."""
    left = _OTHERS
    for number, one in enumerate(shown):
        first = _first_line(one)
        asked = range(first, min(one.defined.end, first + _MOST - 1, len(one.lines)) + 1)
        told = part(one.path, one.lines, asked, at.known, room)
        size = sum(map(len, told.rows))
        if number and (size > left or size > room):
            return
        room, left = room - size, left - size * bool(number)
        if told.numbers:
            top = head(one.path, asked.start, asked.stop - 1, len(one.lines))
            yield "\n".join((top, *told.rows))
        else:
            yield f"{shown_name(one.path)}: shown above, lines {spans(asked)}."
        if asked.stop <= one.defined.end and not told.left:
            yield f"{MARK}it goes on to line {one.defined.end}, ask read_file for more ...]"


def _first_line(one: Candidate) -> int:
    """The first line with the decorators above."""
    first = one.defined.line
    while first > 1 and one.lines[first - 2].lstrip().startswith(_ABOVE):
        first -= 1
    return first


def _nowhere(at: ToolContext, wanted: str) -> str:
    near = near_matches(wanted, at.code.paths())
    hint = sentence_of(near) or "Use search_code for its uses, read_library for a dependency."
    return f"Nothing in the repository defines {wanted!a}. {hint}"
