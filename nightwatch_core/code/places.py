"""The places of a case's code that every night asks for."""

from contextlib import suppress

from nightwatch_core.errors import GiveUp
from nightwatch_core.models.code import CodePlaces, Commit
from nightwatch_core.models.errors import Case
from nightwatch_core.ports import CodeReader

MOST_PLACES = 8


def places_of(case: Case, commit: Commit) -> CodePlaces:
    """Return the places of a case's own frames, the failing one first; none without a trace."""
    frames = case.trace.in_app if case.trace else ()
    places = ((frame.repo_path, frame.line) for frame in frames if frame.repo_path)
    return CodePlaces(commit=commit, places=tuple(dict.fromkeys(places))[:MOST_PLACES])


def read_places(places: CodePlaces, tree: CodeReader) -> None:
    """Read the files, and who wrote the failing line; what the tree cannot tell is left out."""
    for path in dict.fromkeys(path for path, _ in places.places):
        with suppress(GiveUp):
            tree.read_file(path)
    path, line = places.places[0]
    if line:
        with suppress(GiveUp):
            tree.blame(path, line, line)
