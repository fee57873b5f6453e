"""Puts traces onto the repository: the file for a printed path, the line where it stands now."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from nightwatch_core.models.assignment import Traced
from nightwatch_core.models.errors import Frame, SourceFit, Trace
from nightwatch_core.models.options import NightOptions
from nightwatch_core.text.plain_text import plural, text_lines
from nightwatch_core.traces import limits
from nightwatch_core.traces.in_app import LIBRARIES, is_own, lies_elsewhere

# The files of a repository, ready to be asked for by name or by the end of their path.


def is_vendored(path: str) -> bool:
    """Tell whether a path of the repository leads into a folder of libraries."""
    return not LIBRARIES.vendored.isdisjoint(path.split("/")[:-1])


class PathIndex:
    """The repository's own files (vendored ones are left out), indexed by file name once."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._by_last_two: dict[str, list[str]] = {}
        self._paths = frozenset(path for path in paths if not is_vendored(path))
        for path in sorted(self._paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)
            self._by_last_two.setdefault(_last_two(path), []).append(path)

    def __contains__(self, path: object) -> bool:
        """Tell whether the tree has exactly this file."""
        return path in self._paths

    def __iter__(self) -> Iterator[str]:
        """Every file, sorted."""
        return iter(sorted(self._paths))

    def __len__(self) -> int:
        """Return the number of files."""
        return len(self._paths)

    def named(self, name: str) -> tuple[str, ...]:
        """Return every file of that name, sorted."""
        return tuple(self._by_name.get(name, ()))

    def nearest(self, path: str) -> tuple[tuple[str, ...], int]:
        """Return the files that share the longest end with a path, and how many segments that is.

        >>> PathIndex(("x/shop/a.py", "y/shop/a.py", "a.py")).nearest("/srv/shop/a.py")
        (('x/shop/a.py', 'y/shop/a.py'), 2)
        """
        near = self._by_last_two.get(_last_two(path), ()) if "/" in path.lstrip("/") else ()
        if not near:
            named = self.named(path.rpartition("/")[2])
            return named, 1 if named else 0
        shared = tuple((common_tail(path, item), item) for item in near)
        longest = max(count for count, _ in shared)
        return tuple(item for count, item in shared if count == longest), longest

    def ending(self, suffix: str) -> tuple[str, ...]:
        """Return every file whose path ends in these whole segments, shortest first."""
        tail = f"/{suffix}"
        ending = (p for p in self.named(suffix.rpartition("/")[2]) if f"/{p}".endswith(tail))
        return tuple(sorted(ending, key=lambda path: (path.count("/"), path)))


def _last_two(path: str) -> str:
    return "/".join(path.split("/")[-2:])


def common_tail(text: str, other: str) -> int:
    """Count how many last segments two paths share."""
    count = 0
    for left, right in zip(reversed(text.split("/")), reversed(other.split("/")), strict=False):
        if left != right or not left:
            break
        count += 1
    return count


# Compares the source that a record holds with the file at a commit, frame by frame.
#
# A record's own line is evidence of what failed: where the file holds it elsewhere, the frame moves
# there; where it holds it nowhere, the record is not of this commit. White space is not compared.

ReadFile = Callable[[str], str | None]
Lines = Mapping[int, str]  # of a file or a part of it, by number

_CUT_BEFORE = re.compile(r"^\s*(?:\{snip\}|\.{3}|…)\s?")  # how trackers mark what they cut off
_CUT_AFTER = re.compile(r"\s?(?:\{snip\}|\.{3}|…)\s*$")


def fitted(frame: Frame, lines: Lines) -> Frame:
    """Return the frame with what became of its source, at the line of `lines` that holds it.

    A frame without source or without a line stays as it is, its fit unknown.
    """
    if frame.line is None or not has_source(frame):
        return frame
    line, fit = _fit(frame, frame.line, lines)
    return frame.model_copy(update={"line": line, "fit": fit})


def lines_of(text: str) -> Lines:
    """Number the lines of a file."""
    return dict(enumerate(text_lines(text), start=1))


def has_source(frame: Frame) -> bool:
    """Tell whether the record holds the failing line, or lines above and below it."""
    return bool(_flat(frame.code) or (any(map(_flat, frame.before)) and any(frame.after)))


def with_fits(trace: Trace, read: ReadFile) -> Trace:
    """Compare a trace's frames with their files; of very deep traces the innermost ones."""
    sourced = [frame for frame in trace.frames if frame.repo_path and has_source(frame)]
    compared: dict[Frame, Frame] = {}
    paths = sorted({frame.repo_path for frame in sourced})
    files = {path: lines_of(text) for path in paths if (text := read(path)) is not None}
    for frame in sourced:
        is_full = len(compared) >= limits.FITTED_FRAMES
        if frame.repo_path in files and frame not in compared and not is_full:
            compared[frame] = fitted(frame, files[frame.repo_path])
    return trace.with_each(lambda frame: compared.get(frame, frame))


def _fit(frame: Frame, line: int, lines: Lines) -> tuple[int, SourceFit]:
    alike = _is_alike(frame.code)
    is_long = len(_flat(frame.code)) >= limits.SHORTEST_LINE
    if alike(lines.get(line, "")) and (is_long or _agreement(frame, line, lines) > 0.5):
        return line, "same"
    agreed = {n: _agreement(frame, n, lines) for n, text in lines.items() if alike(text)}
    best = max(agreed.values(), default=0.0)
    nearest = sorted((n for n in agreed if agreed[n] == best), key=lambda n: (abs(n - line), n))
    others = (*frame.before, *frame.after)
    has_others = any(map(_flat, others))
    if len(nearest) == 1:
        is_meant = is_long or best > 0.5 or not has_others
    else:
        is_meant = bool(nearest) and (best >= 0.5 if has_others else is_long)
    if is_meant:
        return nearest[0], "same" if nearest[0] == line else "moved"
    is_telling = len("".join(map(_flat, (frame.code, *others)))) >= limits.SHORTEST_LINE
    return line, "differs" if is_telling else "unknown"


def _agreement(frame: Frame, line: int, lines: Lines) -> float:
    nearby = (
        *zip(range(line - len(frame.before), line), frame.before, strict=True),
        *enumerate(frame.after, line + 1),
    )
    telling = [(number, text) for number, text in nearby if _flat(text)]
    same = sum(_is_alike(text)(lines.get(number, "")) for number, text in telling)
    return same / len(telling) if telling else 0.0


def _is_alike(code: str) -> Callable[[str], bool]:
    is_long, code = len(code) > limits.FITTED_LINE, code[: limits.FITTED_LINE]
    inner = _CUT_AFTER.sub("", _CUT_BEFORE.sub("", code))
    whole, part = _flat(code), _flat(inner)
    is_cut = part != whole and len(part) >= limits.SHORTEST_CUT
    cut_before = is_cut and _CUT_BEFORE.match(code) is not None
    cut_after = is_long or (is_cut and _CUT_AFTER.search(code) is not None)

    def holds(line: str) -> bool:
        text = _flat(line)
        if text == whole or not (cut_before or cut_after):
            return text == whole
        if cut_before:
            return part in text if cut_after else text.endswith(part)
        return text.startswith(part)

    return holds


def _flat(text: str) -> str:
    return "".join(text.split())


_SCHEME = re.compile(r"^[a-zA-Z][\w+.-]{1,40}:/{1,3}(?!/)")  # file:///, webpack:///, https://
_LAYER = re.compile(r"^\([\w-]{1,40}\)/")  # webpack-internal:///(rsc)/./src
_WEB = re.compile(r"^https?://[^/]*/?")
_DRIVE = re.compile(r"^[a-zA-Z]:/")
_QUERY = re.compile(r"[?#][^/]*$")
_PACKAGED = (".java", ".kt", ".kts", ".scala", ".groovy", ".clj")
SEVERAL = 3  # last segments that no two files share by chance
_EXACT_PACKAGES = (".java",)  # the compiler insists on the folder; Kotlin may leave some out


def plain(path: str) -> str:
    r"""Return a printed path with slashes and without scheme, host, drive, query and dots.

    >>> plain("webpack:///./src/cart.ts?ab12"), plain("file:///C:/shop/a.js")
    ('src/cart.ts', '/shop/a.js')
    >>> plain("https://shop.example/assets/app.js"), plain(r".\app\..\lib\a.rb")
    ('assets/app.js', 'lib/a.rb')
    """
    path = path[: limits.PATH_CHARACTERS].strip().replace("\\", "/")
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


def repo_path(frame: Frame, index: PathIndex, app_root: str = "") -> str:
    """Return the repository's file for a frame; empty where none is surely meant.

    `app_root` is the application's folder inside a monorepo. A bare name is believed only where
    the tree has one such file and the frame is surely ours.
    """
    path, root = plain(frame.path), plain(app_root).strip("/")
    if "/" not in path and path.endswith(_PACKAGED) and frame.module:
        return _by_package(path, frame, index, root)
    if path in index and ("/" in path or frame.in_app):
        return path
    rooted = f"{root}/{path.lstrip('/')}"
    return rooted if root and rooted in index else by_tail(path, frame.in_app, index, root)


def _by_package(path: str, frame: Frame, index: PathIndex, root: str) -> str:
    """The JVM prints a bare name; the package or class says the folder."""
    parts = frame.module.split("$")[0].split(".")
    if len(parts) == 1:
        return by_tail(path, frame.in_app, index, root)
    for depth in range(len(parts), max(0, len(parts) - 3), -1):
        file = one_of(index.ending("/".join((*parts[:depth], path))), root)
        if file:
            return file
    if path.endswith(_EXACT_PACKAGES):
        return ""
    return by_tail("/".join((*parts[:-1], path)), frame.in_app, index, root)


def by_tail(path: str, is_ours: bool, index: PathIndex, root: str = "") -> str:
    """Return the file that shares the longest end with a path, if it is the only one.

    A shared file name alone is believed only where the frame is surely ours.
    """
    best, longest = index.nearest(path)
    whole = tuple(c for c in best if c.count("/") + 1 == longest)
    return (one_of(best, root) or one_of(whole, root)) if longest > 1 or is_ours else ""


def one_of(candidates: tuple[str, ...], root: str) -> str:
    """Return the only candidate, or the only one in the folder `root`; else empty.

    >>> one_of(("a/x.py", "b/x.py"), "b")
    'b/x.py'
    """
    if len(candidates) == 1:
        return candidates[0]
    inside = tuple(c for c in candidates if root and c.startswith(f"{root}/"))
    return inside[0] if len(inside) == 1 else ""


def is_beyond_doubt(frame: Frame, path: str) -> bool:
    """Tell whether a file of the tree is the frame's by more than its name.

    Its whole path ends the printed one, or three segments agree; the JVM prints no folder, so
    there the frame's package has to agree.
    """
    printed = plain(frame.path)
    if "/" not in printed:
        package = frame.module.split("$")[0].replace(".", "/")
        stem, inside = path.rpartition(".")[0], f"{package}/{printed}"
        return max(common_tail(stem, package), common_tail(path, inside)) >= SEVERAL
    is_whole = "/" in path and f"/{printed}".endswith(f"/{path}")
    return is_whole or common_tail(path, printed) >= SEVERAL


def map_frames(trace: Trace, index: PathIndex, app_root: str = "") -> Trace:
    """Return the trace with `repo_path` set where a frame's file is found in the index.

    A frame that is found is in-app; frames of libraries stay as they are and lead nowhere. A frame
    that only a table of names takes for a library's is ours where the tree holds its file beyond
    doubt.
    """
    placed: dict[tuple[str, str, bool], str] = {}

    def place(frame: Frame) -> Frame:
        is_doubtful = not (frame.in_app or is_own(frame, trace.language))
        if is_doubtful and lies_elsewhere(frame, trace.language):
            return frame
        key = (frame.path, frame.module, frame.in_app)
        if key not in placed:
            path = repo_path(frame, index, app_root)
            placed[key] = path if not is_doubtful or is_beyond_doubt(frame, path) else ""
        if not placed[key]:
            return frame
        return frame.model_copy(update={"repo_path": placed[key], "in_app": True})

    return trace.with_each(place)


def place_frames(trace: Trace, index: PathIndex, read: ReadFile, options: NightOptions) -> Trace:
    """Return the trace with repository paths, and its source compared with the files there."""
    return with_fits(map_frames(trace, index, options.app_root), read)


def untraced(traced: tuple[Traced, ...]) -> str:
    """Say so where traces could not be read; empty where all could."""
    missing = [item.trouble for item in traced if item.trouble]
    if not missing:
        return ""
    return f"traces of {plural(len(missing), 'error group')} could not be read: {missing[0]}"
