"""Names that may have been meant by one that is not there, and what is said of it."""

import difflib
import re
from collections.abc import Callable, Iterable, Sequence

from nightwatch_core.analysis.tool_arguments import Refusal
from nightwatch_core.code.code_view import name
from nightwatch_core.models.tool_values import NothingThere
from nightwatch_core.ports import CodeReader
from nightwatch_core.traces.path_index import is_vendored

_MOST = 5
_COMPARED = 2_000  # names that are compared letter by letter
_ALIKE = 0.75
_LONGEST = 100  # characters of a name that is compared
_OTHER = re.compile(r"[^a-z0-9.]")
_ENTRANCES = ("index", "__init__", "mod", "main", "base")  # what a file becomes that is split up


def near_matches(path: str, paths: Iterable[str]) -> tuple[str, ...]:
    """List up to five paths like `path`: by the first rule that knows one, nearest first.

    >>> near_matches("srv/app/order.py", ("app/order.py", "lib/order.py", "app/orders.py", "x"))
    ('app/order.py', 'lib/order.py', 'app/orders.py')
    >>> near_matches("lib/OrderItem.ts", ("web/order_item.ts", "lib/order-item.js"))
    ('web/order_item.ts', 'lib/order-item.js')
    """
    known = tuple(paths)
    found: dict[str, None] = {}
    for rule in RULES:
        near = sorted(rule(path, known), key=lambda other: _distance(path, other))
        found.update(dict.fromkeys(near))
        if len(found) >= _MOST:
            break
    return tuple(found)[:_MOST]


def _moved(path: str, known: Sequence[str]) -> Iterable[str]:
    """The same name in another folder."""
    wanted = _name(path)
    return (other for other in known if other.endswith(wanted) and _name(other) == wanted)


def _spelt_otherwise(path: str, known: Sequence[str]) -> Iterable[str]:
    """The same letters: OrderItem.ts for order_item.ts."""
    wanted = _letters(_name(path))
    return (other for other in known if _letters(_name(other)) == wanted)


def _with_another_ending(path: str, known: Sequence[str]) -> Iterable[str]:
    """The same name before the dot: order.js for order.ts, also where none was given."""
    wanted = _letters(_name(path)).split(".")[0]
    return (o for o in known if wanted and _letters(_name(o)).split(".")[0] == wanted)


def _split_up(path: str, known: Sequence[str]) -> Iterable[str]:
    """A folder of that name now: order/index.js for order.js."""
    wanted = _name(path).split(".")[0]
    ends = tuple(f"{wanted}/{entrance}." for entrance in _ENTRANCES)
    return (o for o in known if wanted and any(f"/{end}" in f"/{o}" for end in ends))


def _misspelt(path: str, known: Sequence[str]) -> Iterable[str]:
    """A name that differs in a few letters."""
    wanted = _name(path)[:_LONGEST]
    off = max(2, len(wanted) // 4)
    names = dict.fromkeys(_name(other) for other in known)
    near = [one for one in names if abs(len(one) - len(wanted)) <= off]
    near.sort(key=lambda one: (one[:2] != wanted[:2], one[-3:] != wanted[-3:]))
    alike = difflib.get_close_matches(wanted, near[:_COMPARED], n=_MOST, cutoff=_ALIKE)
    meant = [other for other in known if _name(other) in alike]
    return sorted(meant, key=lambda other: alike.index(_name(other)))


RULES: tuple[Callable[[str, Sequence[str]], Iterable[str]], ...] = (
    _moved,
    _spelt_otherwise,
    _with_another_ending,
    _split_up,
    _misspelt,
)


def folders(paths: Iterable[str]) -> tuple[str, ...]:
    """List every folder that holds one of the files.

    >>> folders(("a/b/c.py", "a/d.py"))
    ('a', 'a/b')
    """
    parts = (path.split("/") for path in paths)
    return tuple(sorted({"/".join(p[:n]) for p in parts for n in range(1, len(p))}))


def no_file(code: CodeReader, path: str) -> Refusal:
    """Say why a file cannot be read, and what to read instead."""
    paths = code.paths()
    if path in paths:
        return Refusal(f"{path} is not text, or too large to show.")
    if any(other.startswith(f"{path}/") for other in paths):
        return Refusal(f"{path} is a folder: use list_directory.")
    near = near_matches(path, paths)
    hint = sentence_of(near) or "Use find_files or search_code."
    return Refusal(f"There is no file {path} at this commit. {hint}", NothingThere(near=near))


def no_folder(code: CodeReader, path: str) -> Refusal:
    """Say why a folder cannot be looked into, and what to use instead."""
    near = near_matches(path, folders(code.paths()))
    hint = sentence_of(near) or "List the root with path ''."
    what = f"There is no folder {path or '(root)'} at this commit. {hint}"
    return Refusal(what, NothingThere(near=near))


def sentence_of(near: Iterable[str]) -> str:
    """Name near matches in a sentence; empty where there are none."""
    shown = ", ".join(map(name, near))
    return f"Near matches: {shown}." if shown else ""


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _letters(name: str) -> str:
    return _OTHER.sub("", name.lower())


def _distance(path: str, other: str) -> tuple[bool, int, int]:
    """Our own files first, then those whose folders have more in common with the path's."""
    mine, theirs = path.split("/"), other.split("/")
    ending = _common(reversed(mine), reversed(theirs))
    return is_vendored(other), -ending, -_common(mine, theirs)


def _common(one: Iterable[str], other: Iterable[str]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
