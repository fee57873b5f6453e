"""Puts traces onto the repository: the file for a printed path, the line where it stands now."""

import re
from collections.abc import Callable, Iterable

from nightwatch_core.models.assignment import Traced
from nightwatch_core.models.options import NightOptions, listed
from nightwatch_core.models.trace import Frame, Trace
from nightwatch_core.models.value import Value
from nightwatch_core.text.units import plural
from nightwatch_core.traces.in_app import is_own, lies_elsewhere
from nightwatch_core.traces.limits import PATH_CHARACTERS
from nightwatch_core.traces.path_index import PathIndex, common_tail
from nightwatch_core.traces.source_fit import ReadFile, with_fits

_SCHEME = re.compile(r"^[a-zA-Z][\w+.-]{1,40}:/{1,3}(?!/)")  # file:///, webpack:///, https://
_LAYER = re.compile(r"^\([\w-]{1,40}\)/")  # webpack-internal:///(rsc)/./src
_WEB = re.compile(r"^https?://[^/]*/?")
_DRIVE = re.compile(r"^[a-zA-Z]:/")
_QUERY = re.compile(r"[?#][^/]*$")
_PACKAGED = (".java", ".kt", ".kts", ".scala", ".groovy", ".clj")
SEVERAL = 3  # last segments that no two files share by chance
_EXACT_PACKAGES = (".java",)  # the compiler insists on the folder; Kotlin may leave some out


class Placement(Value):
    """Where the repository's root lies, as far as the settings say."""

    prefixes: tuple[str, ...] = ()
    app_root: str = ""


def plain(path: str) -> str:
    r"""Return a printed path with slashes and without scheme, host, drive, query and dots.

    >>> plain("webpack:///./src/cart.ts?ab12"), plain("file:///C:/shop/a.js")
    ('src/cart.ts', '/shop/a.js')
    >>> plain("https://shop.example/assets/app.js"), plain(r".\app\..\lib\a.rb")
    ('assets/app.js', 'lib/a.rb')
    """
    path = path[:PATH_CHARACTERS].strip().replace("\\", "/")
    path = _WEB.sub("", path) if _WEB.match(path) else _local(path)
    rooted, parts = path.startswith("/"), _resolved(_QUERY.sub("", path).split("/"))
    return ("/" if rooted else "") + "/".join(parts)


def _local(path: str) -> str:
    scheme = _SCHEME.match(path)
    if scheme:
        rest = path[scheme.end() :]
        path = f"/{rest}" if path.startswith("file:") else _LAYER.sub("", rest)
    return _DRIVE.sub("/", path.removeprefix("/") if _DRIVE.match(path[1:]) else path)


def _resolved(parts: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for part in parts:
        if part == "..":
            kept[-1:] = []
        elif part not in ("", ".", "~"):
            kept.append(part)
    return tuple(kept)


def by_package(path: str, frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return the JVM's file: it prints a bare name, the package or class says the folder."""
    if "/" in path or not path.endswith(_PACKAGED) or not frame.module:
        return ""
    parts = frame.module.split("$")[0].split(".")
    if len(parts) == 1:
        return by_tail(path, frame, index, placement)
    for depth in range(len(parts), max(0, len(parts) - 3), -1):
        file = one_of(index.ending("/".join((*parts[:depth], path))), placement)
        if file:
            return file
    if path.endswith(_EXACT_PACKAGES):
        return ""
    return by_tail("/".join((*parts[:-1], path)), frame, index, placement)


def by_prefix(path: str, frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return what follows a configured prefix, where that is a path of the repository."""
    for prefix in sorted(placement.prefixes, key=len, reverse=True):
        folder = plain(prefix).rstrip("/")
        if folder and path.startswith(f"{folder}/"):
            rest = path[len(folder) + 1 :]
            return by_exact(rest, frame, index, placement) or by_root(rest, frame, index, placement)
    return ""


def by_exact(path: str, frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return the path where the tree has it; a bare name only of a frame that is surely ours."""
    return path if path in index and ("/" in path or frame.in_app) else ""


def by_root(path: str, frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return the path below the application's folder inside a monorepo, where the tree has it."""
    root = plain(placement.app_root).strip("/")
    rooted = f"{root}/{path.lstrip('/')}"
    return rooted if root and rooted in index else ""


def by_tail(path: str, frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return the file that shares the longest end with the path, if it is the only one.

    A shared file name alone is believed only for a frame that is the application's for sure.
    """
    best, longest = index.nearest(path)
    whole = tuple(c for c in best if c.count("/") + 1 == longest)
    file = one_of(best, placement) or one_of(whole, placement)
    return file if longest > 1 or frame.in_app else ""


def one_of(candidates: tuple[str, ...], placement: Placement) -> str:
    """Return the only candidate, or the only one in the application's folder; else empty.

    >>> one_of(("a/x.py", "b/x.py"), Placement(app_root="b"))
    'b/x.py'
    """
    if len(candidates) == 1:
        return candidates[0]
    root = plain(placement.app_root).strip("/")
    inside = tuple(c for c in candidates if root and c.startswith(f"{root}/"))
    return inside[0] if len(inside) == 1 else ""


Way = Callable[[str, Frame, PathIndex, Placement], str]
WAYS: tuple[Way, ...] = (by_package, by_prefix, by_exact, by_root, by_tail)


def repo_path(frame: Frame, index: PathIndex, placement: Placement) -> str:
    """Return the repository's file for a frame, by the first way that finds one; else empty."""
    path = plain(frame.path)
    ways = WAYS
    if "/" not in path and path.endswith(_PACKAGED) and frame.module:
        ways = (by_package,)
    return next((file for way in ways if (file := way(path, frame, index, placement))), "")


def is_beyond_doubt(frame: Frame, path: str) -> bool:
    """Tell whether a file of the tree is the frame's by more than its name.

    Its whole path ends the printed one, or three segments agree; the JVM prints no folder, so
    there the frame's package has to agree.

    >>> is_beyond_doubt(Frame(path="~/shop/app/cart.rb"), "app/cart.rb")
    True
    >>> is_beyond_doubt(Frame(path="redis/client.py"), "app/redis/client.py")
    False
    """
    printed = plain(frame.path)
    if "/" not in printed:
        package = frame.module.split("$")[0].replace(".", "/")
        stem, inside = path.rpartition(".")[0], f"{package}/{printed}"
        return max(common_tail(stem, package), common_tail(path, inside)) >= SEVERAL
    is_whole = "/" in path and f"/{printed}".endswith(f"/{path}")
    return is_whole or common_tail(path, printed) >= SEVERAL


def map_frames(
    trace: Trace,
    paths: tuple[str, ...] | PathIndex,
    prefixes: tuple[str, ...] = (),
    app_root: str = "",
) -> Trace:
    """Return the trace with `repo_path` set where a frame's file is found among `paths`.

    A frame that is found is in-app; frames of libraries stay as they are and lead nowhere. A frame
    that only a table of names takes for a library's is ours where the tree holds its file beyond
    doubt. Give a `PathIndex` where many traces are mapped against one tree.
    """
    index = paths if isinstance(paths, PathIndex) else PathIndex(paths)
    placement = Placement(prefixes=prefixes, app_root=app_root)
    placed: dict[tuple[str, str, bool], str] = {}

    def place(frame: Frame) -> Frame:
        is_doubtful = not (frame.in_app or is_own(frame, trace.language))
        if is_doubtful and lies_elsewhere(frame, trace.language):
            return frame
        key = (frame.path, frame.module, frame.in_app)
        if key not in placed:
            path = repo_path(frame, index, placement)
            placed[key] = path if not is_doubtful or is_beyond_doubt(frame, path) else ""
        if not placed[key]:
            return frame
        return frame.model_copy(update={"repo_path": placed[key], "in_app": True})

    return _with_each_frame(trace, place)


def place_frames(trace: Trace, index: PathIndex, read: ReadFile, options: NightOptions) -> Trace:
    """Return the trace with repository paths, and its source compared with the files there."""
    prefixes = listed(options.path_prefixes)
    return with_fits(map_frames(trace, index, prefixes, options.app_root), read)


def untraced(traced: tuple[Traced, ...]) -> str:
    """Say so where traces could not be read; empty where all could."""
    missing = [one.trouble for one in traced if one.trouble]
    if not missing:
        return ""
    return f"traces of {plural(len(missing), 'error group')} could not be read: {missing[0]}"


def _with_each_frame(trace: Trace, change: Callable[[Frame], Frame]) -> Trace:
    links = tuple(
        link.model_copy(update={"frames": tuple(map(change, link.frames))}) for link in trace.links
    )
    return trace.model_copy(update={"links": links})
