"""Put traces onto the repository: paths mapped, lines moved to where the code stands now."""

from collections.abc import Callable

from nightwatch_core.models.assignment import Traced
from nightwatch_core.models.error import Frame, Trace
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.text.units import plural
from nightwatch_core.traces.path_index import PathIndex
from nightwatch_core.traces.repo_paths import map_frames, realign

Read = Callable[[str], str | None]


def place_frames(trace: Trace, index: PathIndex, read: Read, options: NightOptions) -> Trace:
    """Return the trace with repository paths; lines of an older release moved by their text."""
    in_repository = map_frames(trace, index, listed(options.path_prefixes), options.app_root)
    wanted = {frame.repo_path for frame in in_repository.frames if frame.repo_path and frame.code}
    texts = {path: read(path) for path in sorted(wanted)}

    def aligned(frame: Frame) -> Frame:
        text = texts.get(frame.repo_path) if frame.code else None
        return frame if text is None else realign(frame, text)

    links = (
        link.model_copy(update={"frames": tuple(aligned(frame) for frame in link.frames)})
        for link in in_repository.links
    )
    return in_repository.model_copy(update={"links": tuple(links)})


def untraced(traced: tuple[Traced, ...]) -> str:
    """Say so where traces could not be read; empty where all could."""
    missing = [one.trouble for one in traced if one.trouble]
    if not missing:
        return ""
    return f"traces of {plural(len(missing), 'error group')} could not be read: {missing[0]}"
