"""Frames of JavaScript bundles, put where their source maps say: path, line, function, source."""

from collections.abc import Callable, Iterable
from functools import cache
from posixpath import dirname

from nightwatch_core.models.errors import Frame, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.ports import SourceMaps
from nightwatch_core.traces.in_app import is_own
from nightwatch_core.traces.limits import MAPPED_FRAMES
from nightwatch_core.traces.placing import PathIndex, ReadFile, plain, repo_path

_BUNDLES = (".js", ".mjs", ".cjs", ".bundle", ".jsbundle")


def with_original_places(
    traces: Iterable[Trace],
    maps: SourceMaps,
    index: PathIndex,
    read: ReadFile,
    options: NightOptions,
) -> tuple[Trace, ...]:
    """Return traces whose frames stand in the source that bundles were built from.

    The map of a bundle is taken from the folder of maps, else from beside it in the repository. A
    frame without a column, or of which no map tells, stays as it is.
    """

    @cache
    def map_of(bundle: str) -> tuple[str, str]:
        """Return the map's text, and the folder from which its paths count."""
        text = maps.map_of(plain(bundle))
        if text is not None:
            return text, ""
        map_frame = Frame(path=f"{plain(bundle)}.map", in_app=True)
        map_path = repo_path(map_frame, index, options.app_root)
        return (read(map_path) or "", dirname(map_path)) if map_path else ("", "")

    def original(frame: Frame) -> Frame:
        path = plain(frame.path)
        if not (frame.line and frame.column and path.endswith(_BUNDLES)):
            return frame
        text, folder = map_of(frame.path)
        place = maps.original(text, frame.line, frame.column) if text else None
        if place is None or not place.path:
            return frame
        return _at(place, frame, folder)

    return tuple(_with_each(trace, original) for trace in traces)


def _at(place: Frame, frame: Frame, folder: str) -> Frame:
    """The frame in its source; a relative path counts from the map's folder."""
    is_relative = "://" not in place.path and not place.path.startswith("/")
    path = f"{folder}/{place.path}" if is_relative and folder else place.path
    path = plain(path) if folder or place.path.startswith(".") else path
    function = place.function or frame.function
    placed = place.model_copy(update={"path": path, "function": function, "module": frame.module})
    return placed.model_copy(update={"in_app": is_own(placed, "javascript")})


def _with_each(trace: Trace, change: Callable[[Frame], Frame]) -> Trace:
    if trace.language != "javascript":
        return trace
    left = MAPPED_FRAMES
    links = []
    for link in trace.links:
        changed = tuple(map(change, link.frames[:left]))
        links.append(link.with_frames((*changed, *link.frames[left:])))
        left -= len(changed)
    return trace.model_copy(update={"links": tuple(links)})
