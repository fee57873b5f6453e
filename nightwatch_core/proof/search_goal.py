"""What a test has to raise: production's class and message, through production's own frames."""

import ast
import re
from typing import NamedTuple

from nightwatch_core.code.likely_files import TEST
from nightwatch_core.models.trace import Frame, Trace
from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.search_values import message_values
from nightwatch_core.text.message_templates import message_template

FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_NAMES_CODE = re.compile(r"\b(Attribute|Type|Name|Import|ModuleNotFound|UnboundLocal)Error$")


class Place(NamedTuple):
    """A line of a function of the application, as a traceback names it."""

    path: str
    function: str
    line: int


class Entry(NamedTuple):
    """A function on production's way to the crash, which a test may call."""

    place: Place
    node: FUNCTION
    owner: ast.ClassDef | None
    module: ast.Module


class Link(NamedTuple):
    """An exception that a test raised, with the lines of production's files it came through."""

    error_class: str
    message: str
    places: tuple[Place, ...]  # innermost first


class Goal(NamedTuple):
    """What production raised."""

    error_class: str
    message: str
    places: tuple[Place, ...]  # of the application, innermost first
    outer: tuple[Place, ...]  # of what was raised instead, further out

    def reached(self, link: Link) -> int:
        """Count production's frames that were gone through, from the innermost on.

        That one has production's line; whatever calls it may do so from another.

        >>> goal = Goal("KeyError", "'a'", (Place("a.py", "f", 3), Place("b.py", "g", 9)), ())
        >>> goal.reached(Link("KeyError", "'a'", (Place("a.py", "f", 3), Place("b.py", "h", 1))))
        1
        >>> goal.reached(Link("KeyError", "'a'", (Place("a.py", "f", 4),)))
        0
        """
        same = link.error_class.rpartition(".")[2] == self.error_class.rpartition(".")[2]
        if not same or self.places[:1] != link.places[:1]:
            return 0
        if message_template(self.message) != message_template(link.message):
            return 0
        pairs = list(zip(self.places, link.places, strict=False))
        other = (at for at, (one, came) in enumerate(pairs) if one[:2] != came[:2])
        return next(other, len(pairs))

    @property
    def values(self) -> tuple[str | int, ...]:
        """The values that its message gives, where it is not code that it names."""
        return () if _NAMES_CODE.search(self.error_class) else message_values(self.message)


def goal_of(trace: Trace) -> Goal | None:
    """Read the goal from a trace whose frames are placed; None where none of them is our own."""
    links = [(link, tuple(map(_place, filter(_is_own, link.frames)))) for link in trace.links]
    at = next((at for at in reversed(range(len(links))) if links[at][1]), None)
    if at is None:
        return None
    outer = tuple(place for _, places in reversed(links[:at]) for place in places)
    return Goal(links[at][0].error_class, links[at][0].message, links[at][1], outer)


def _is_own(frame: Frame) -> bool:
    path = frame.repo_path
    named = frame.function[:1] != "<" or frame.function == "<module>"  # no comprehension
    return named and frame.in_app and bool(path) and bool(frame.line) and not TEST.search(path)


def _place(frame: Frame) -> Place:
    return Place(frame.repo_path, re.split(r"[.:]", frame.function)[-1], frame.line or 0)


def entries(goal: Goal, tree: CodeReader) -> tuple[Entry, ...]:
    """The functions of its frames that can be named from outside, innermost first."""
    listed = []
    for place in dict.fromkeys((*goal.places, *goal.outer)):
        module = parsed_text(tree.read_file(place.path))
        entry = _enclosing(module, place) if module and place.path.endswith(".py") else None
        if entry is not None:
            listed.append(entry)
    return tuple(listed)


def least_reached(
    goal: Goal, listed: tuple[Entry, ...], changed: frozenset[tuple[str, str]]
) -> int:
    """How many of production's frames a test has to go through, to say anything of a fix.

    `changed` are the functions that the fix changes: a test has to enter by the outermost of them
    or further out. Where the failing line only refuses what it is given, by its caller at least.
    """
    outermost = max((at + 1 for at, one in enumerate(goal.places) if one[:2] in changed), default=1)
    refuses = any(
        isinstance(node, ast.Raise) and node.lineno <= goal.places[0].line <= (node.end_lineno or 0)
        for entry in listed[:1]
        if entry.place == goal.places[0]
        for node in ast.walk(entry.node)
    )
    return max(outermost, 2 if refuses else 1)


def changed_functions(path: str, before: str | None, after: str | None) -> set[tuple[str, str]]:
    """Path and name of the functions that a change of a file leaves other than they were."""
    old, new = _functions(parsed_text(before)), _functions(parsed_text(after))
    return {(path, name) for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


def _functions(module: ast.Module | None) -> dict[str, str]:
    functions: dict[str, str] = {}
    for node in ast.walk(module) if module else ():
        if isinstance(node, FUNCTION):
            functions[node.name] = functions.get(node.name, "") + ast.dump(node)
    return functions


def parsed_text(text: str | None) -> ast.Module | None:
    """Parse a file's text; None where that cannot be done."""
    try:
        return ast.parse(text) if text is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _enclosing(module: ast.Module, place: Place) -> Entry | None:
    """The function at a line, where a test can name it: of the module, or of one of its classes."""
    for node in module.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if not isinstance(one, FUNCTION) or one.name != place.function:
                continue
            if one.lineno <= place.line <= (one.end_lineno or one.lineno):
                owner = node if isinstance(node, ast.ClassDef) else None
                return Entry(place, one, owner, module)
    return None
