"""What a search tries in a file of tests: production's functions called, tests changed."""

import ast
from collections.abc import Iterator
from itertools import islice

from nightwatch_core.ports import CodeReader
from nightwatch_core.proof.search_calls import calls
from nightwatch_core.proof.search_goal import Entry
from nightwatch_core.proof.search_mutations import Candidate, mutations
from nightwatch_core.proof.search_suites import Scene, Suite
from nightwatch_core.proof.search_surroundings import surroundings

_SCENES = 14  # of one file of tests
_TURNS = (12, 40)  # calls of a function in a scene, in turns; and twice as many changes of a test
_MOST = 600  # of one file of tests

Tried = tuple[Scene, Candidate]


def candidates(
    suite: Suite,
    keywords: dict[str, tuple[str, ...]],
    listed: tuple[Entry, ...],
    values: tuple[str | int, ...],
    tree: CodeReader,
    root: str,
) -> tuple[Tried, ...]:
    """List what is tried in one of the files, each once."""
    unique: dict[tuple[object, ...], Tried] = {}
    for scene, one in _each(suite, listed, values, keywords, tree, root):
        unique.setdefault((scene.owner, scene.about, one), (scene, one))
        if len(unique) == _MOST:
            break
    return tuple(unique.values())


def _each(
    suite: Suite,
    listed: tuple[Entry, ...],
    values: tuple[str | int, ...],
    keywords: dict[str, tuple[str, ...]],
    tree: CodeReader,
    root: str,
) -> Iterator[Tried]:
    scenes, constants = _nearest(suite, listed)[:_SCENES], _constants(suite.module)
    for first, last in zip((0, *_TURNS), _TURNS, strict=False):
        for scene in scenes:
            changed = islice(mutations(scene, constants, values), 2 * first, 2 * last)
            yield from ((scene, one) for one in changed)
            around = surroundings(suite, scene, keywords, tree, root)
            for entry in listed:
                yield from (
                    (scene, one) for one in islice(calls(entry, around, values), first, last)
                )


def _nearest(suite: Suite, listed: tuple[Entry, ...]) -> tuple[Scene, ...]:
    """Scenes that name the functions first, then those whose names have most words of theirs."""
    names = [one.node.name for one in listed]
    words = {word for name in names for word in name.lower().split("_") if word}

    def far(scene: Scene) -> tuple[bool, int]:
        text = "\n".join(scene.body)
        named = any(name in text for name in names if not name.startswith("__"))
        return not named, -len(words & set(scene.name.lower().split("_")))

    return tuple(sorted(suite.scenes, key=far))


def _constants(module: ast.Module) -> dict[str, str]:
    """Texts that a file gives names."""
    named = {}
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = node.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                named[node.targets[0].id] = value.value
    return named
