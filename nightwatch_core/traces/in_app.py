"""Tell the application's own frames from libraries, by `rules/libraries.toml`."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules

UNKNOWN_PATH = "<unknown>"  # the path of a frame whose file the trace does not print


class Libraries(Value):
    """The file; its comments explain the fields."""

    vendored: frozenset[str]
    folders: PatternText
    files: Pattern
    no_file: tuple[str, ...]
    packages: dict[str, frozenset[str]]
    classes: dict[str, tuple[str, ...]]


LIBRARIES = load_rules("libraries", Libraries, "traces")
# A lookahead, because folders overlap: "/lib/python3/dist-packages/" names two.
_FOLDER = re.compile(rf"/(?=({LIBRARIES.folders}))", re.IGNORECASE)

# Which frames a tracker calls the application's own, said in a text for its frames.
#
# Records whose frames come as objects carry it; the lines that say it are not shown to people.

OWN_ROW = re.compile(r" {4}in app\| (?P<path>.{1,1500}):(?P<line>\d{1,9})$")
_SCHEME = re.compile(r"(?:file://|webpack:///)?(?:\./)?")

Place = tuple[str, int]  # path as printed, without a scheme; line, 0 where none is known


def own_row(path: str, line: int) -> str:
    """Write a place so that `own_places_in` knows it again.

    >>> own_row("/srv/cart.rb", 7)
    '    in app| /srv/cart.rb:7'
    """
    return f"    in app| {path}:{line}"


def own_places_in(lines: Sequence[str]) -> tuple[tuple[str, ...], frozenset[Place]]:
    """Split a text into what is no such row, and the places that the rows name.

    >>> own_places_in(("E: no", own_row("./a.rb", 7)))
    (('E: no',), frozenset({('a.rb', 7)}))
    """
    kept: list[str] = []
    places: set[Place] = set()
    for text in lines:
        row = OWN_ROW.match(text)
        if row:
            places.add((_bare(row["path"]), int(row["line"])))
        else:
            kept.append(text)
    return tuple(kept), frozenset(places)


def is_at(frame: Frame, places: frozenset[Place]) -> bool:
    """Tell whether a frame stands at one of the places."""
    return (_bare(frame.path), frame.line or 0) in places


def _bare(path: str) -> str:
    return path[_SCHEME.match(path).end() :]  # type: ignore[union-attr]  # matches every text


def is_own(frame: Frame, language: str) -> bool:
    """Tell whether a frame is the application's, as far as tables of libraries tell."""
    if frame.path.startswith(LIBRARIES.no_file) and frame.path != UNKNOWN_PATH:
        return False
    if language in LIBRARIES.classes:
        classes = frame.module.removeprefix("None.")
        is_named = bool(classes) or language == "elixir"  # which prints scripts and tests without
        if not is_named or f"{classes}.".startswith(LIBRARIES.classes[language]):
            return False
    if language == "go" and _is_go_library(frame):
        return False
    if language == "python" and frame.path.partition("/")[0] in LIBRARIES.packages["python"]:
        return False
    return not (LIBRARIES.files.fullmatch(frame.path) or _FOLDER.search(_slashed(frame.path)))


def lies_elsewhere(frame: Frame, language: str) -> bool:
    """Tell whether the path itself leads to other people's files, whatever the repository holds.

    Tables of packages and classes may be wrong about the one application that makes such a
    library; folders are not. `~/` is a home folder, except where webpack means node_modules.

    >>> lies_elsewhere(Frame(path="~/shop/app/cart.rb"), "ruby")
    False
    >>> lies_elsewhere(Frame(path="~/.rbenv/versions/3.3.0/cart.rb"), "ruby")
    True
    """
    if frame.path.startswith(LIBRARIES.no_file):
        return True
    path = frame.path if language == "javascript" else frame.path.removeprefix("~/")
    return bool(LIBRARIES.files.fullmatch(path) or _FOLDER.search(_slashed(path)))


_PRINTED = re.compile(  # a frame in the output of tests; not where Ruby ends it with the exception
    r'(?!.*\([A-Z][\w:]*\)$)(?P<indent>\s*)(?:File "|at (?:[^\s()]+ )*\(?|from |# |#\d+ )?'
    r'(?P<path>[^\s"()]+?)(?:", line |[:(])\d'
)


def without_libraries(output: str) -> str:
    """Return what a run printed without frames of libraries, code below them, and carets."""
    kept: list[str] = []
    left_out: int | None = None  # the indent of the frame that is left out
    for text in output.splitlines():
        is_below = left_out is not None and len(text) - len(text.lstrip()) > left_out
        if is_below or ("^" in text and not text.strip(" ^~")):
            continue
        frame = _PRINTED.match(text[:1_000])
        is_library = frame and lies_elsewhere(Frame(path=frame["path"]), "")
        left_out = len(frame["indent"]) if frame and is_library else None
        kept += () if is_library else (text,)
    return "\n".join(kept)


def _is_go_library(frame: Frame) -> bool:
    package = frame.module
    is_panic = not package and frame.function == "panic"
    is_listed = package.partition("/")[0] in LIBRARIES.packages["go"]
    return is_panic or (is_listed and f"/{package}/" in _slashed(frame.path))


def belongs(frame: Frame, app_prefixes: tuple[str, ...]) -> bool:
    """Tell whether a frame lies under one of the prefixes that the owner of an application gave."""
    path = _slashed(frame.path)
    library_end = max((match.end(1) for match in _FOLDER.finditer(path)), default=0)
    return any(
        frame.module.removeprefix("None.").startswith(prefix)
        or _lies_under(path, library_end, _slashed(prefix))
        for prefix in app_prefixes
        if prefix
    )


def _lies_under(path: str, library_end: int, prefix: str) -> bool:
    """Inside of a library's folder only that library itself may be meant."""
    if library_end:
        starts_inside = path.startswith(prefix, library_end - 1)
        return starts_inside or (path.startswith(prefix) and len(prefix) > library_end)
    return prefix in path


def _slashed(path: str) -> str:
    path = path.replace("\\", "/").removeprefix("./")
    return path if path.startswith("/") else f"/{path}"


def mark(
    chain: tuple[ExceptionLink, ...],
    language: str,
    app_prefixes: tuple[str, ...],
    own_places: frozenset[Place] = frozenset(),
) -> tuple[ExceptionLink, ...]:
    """Return links whose frames say whether they are the application's.

    Prefixes decide alone where one of them fits; where none does they were meant for other code.
    Then a tracker's `own_places` do, and the tables of libraries where it names none.
    """
    frames = [frame for link in chain for frame in link.frames]
    by_prefix = any(belongs(frame, app_prefixes) for frame in frames)
    by_place = any(is_at(frame, own_places) for frame in frames)
    no_files = all(frame.path == UNKNOWN_PATH for frame in frames)

    def marked(link: ExceptionLink) -> ExceptionLink:
        handling = frames_of_panic(link) if language == "go" else 0
        return link.with_frames((*link.frames[:handling], *map(decided, link.frames[handling:])))

    def decided(frame: Frame) -> Frame:
        if frame.path == UNKNOWN_PATH and not no_files:
            return frame  # leads nowhere while other frames have a file
        if by_prefix:
            own = belongs(frame, app_prefixes)
        else:
            own = is_at(frame, own_places) if by_place else is_own(frame, language)
        return frame.model_copy(update={"in_app": own})

    return tuple(marked(link) for link in chain)


def frames_of_panic(link: ExceptionLink) -> int:
    """Count how many innermost frames only handle the panic: deferred functions, panic itself.

    >>> inner, outer = Frame(path="/go/panic.go", function="panic"), Frame(path="/srv/cart.go")
    >>> frames_of_panic(ExceptionLink(frames=(inner, outer)))
    1
    """
    handling = [
        index
        for index, frame in enumerate(link.frames)
        if frame.function == "panic" and frame.module in ("", "runtime")
    ]
    return handling[-1] + 1 if handling else 0
