"""Traces that somebody put on one line: every frame gets its line back."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from nightwatch_core.traces import frame_shapes
from nightwatch_core.traces.limits import JOINED_CHARACTERS
from nightwatch_core.traces.python_text import separated_tracebacks

_GAP = r"(?:(?<!\s)(?<!\d:)\s++(?:[|;\u23ce\u21b5\u2192] {0,4})?)"


class Joined(NamedTuple):
    """How the frames of a language stand behind each other on one line."""

    sign: str  # stands in every line with a frame; what costs nothing is asked first
    told_by: re.Pattern[str]  # two of these in a line: a trace was joined
    before: re.Pattern[str]  # the gap in front of what begins a line
    behind: re.Pattern[str]  # what ends a line, with the gap behind it


def _joined(sign: str, told_by: str, begins: str, ends: str) -> Joined:
    return Joined(
        sign, re.compile(told_by), re.compile(f"{_GAP}(?={begins})"), re.compile(f"({ends}){_GAP}")
    )


_CALL = (
    r"at (?:async |new )?(?:Anonymous function|[\w$.<>/@+\[\]`,-]{1,300}) ?\("
    r"|at (?:async )?[^\s()]{1,500}:\d{1,9}:\d"
)
_AT = f"{frame_shapes.JVM}|{frame_shapes.NET}|{frame_shapes.V8}"
_NET = r"at (?:[\w`<>+]{1,80}\.){2,20}[\w`<>+\[\],]{1,100}\([^()\n]{0,500}\)(?= at | ---|\s*$| in )"
_LABEL = r"(?:from )?[^\s\"'`(),|]{1,500}:\d{1,9}:in [`'][^'\n]{0,300}'(?!:)"

JOINED: Mapping[str, Joined] = {
    "rust": _joined(
        ".rs:",
        frame_shapes.RUST,
        rf"{frame_shapes.RUST}|\d{{1,4}}: \S|stack backtrace:|note: |Caused by:",
        rf"{frame_shapes.RUST}|stack backtrace:|Caused by:",
    ),
    "at": _joined(
        "at ",
        _AT,
        rf"{_CALL}|Caused by: |Suppressed: |\.\.\. \d{{1,9}} (?:more|common)|--- End of "
        r"|\[cause\]: ",
        rf"{_AT}|\.\.\. \d{{1,9}} (?:more|common frames omitted)|--- End of [\w ]{{1,60}} ---",
    ),
    "net": _joined(
        "at ",
        f"{frame_shapes.NET}|{_NET}",
        rf"{_NET}|at [\w.<>`+\[\],|$]{{3,500}} ?\([^()\n]{{0,500}}\)|--- End of ",
        rf"{frame_shapes.NET}|--- End of [\w ]{{1,60}} ---",
    ),
    "gecko": _joined("@", frame_shapes.GECKO, frame_shapes.GECKO, frame_shapes.GECKO),
    "ruby": _joined(
        ":in",
        frame_shapes.RUBY,
        rf"\d{{1,5}}: from |{frame_shapes.RUBY}|Caused by:"
        r"|(?:[A-Z]\w{0,80}::){0,6}[A-Z]\w{0,80}Error: ",
        rf"(?<!\S){_LABEL}",
    ),
    "php": _joined(
        "#",
        frame_shapes.PHP,
        rf"{frame_shapes.PHP}|Stack trace:|thrown in /|Next [\w\\]{{1,200}}: "
        r"|\[(?:stacktrace|previous exception|object)\]",
        r"Stack trace:|#\d{1,5} \{main\}|\[(?:stacktrace|previous exception)\]",
    ),
    "go": _joined(
        ".go:",
        rf"{frame_shapes.GO}|goroutine \d{{1,19}} \[",
        rf"{frame_shapes.GO}|goroutine \d{{1,19}} \[|created by |\[signal |exit status ",
        rf"{frame_shapes.GO}|goroutine \d{{1,19}} \[[^\]]{{1,100}}\]:",
    ),
    "elixir": _joined(
        ": ",
        frame_shapes.ELIXIR,
        rf"{frame_shapes.ELIXIR}|\*\* \(|Last message|State: ",
        r"an exception was raised:",
    ),
}


def separated(line: str) -> list[str]:
    """Return the lines of a trace that stand on one line; a line that is none stays whole.

    >>> separated("Error: no at f (/a.js:1:2) at g (/b.js:3:4)")
    ['Error: no', 'at f (/a.js:1:2)', 'at g (/b.js:3:4)']
    >>> separated("we met at noon (in the yard) and at one (in town)")
    ['we met at noon (in the yard) and at one (in town)']
    """
    if len(line) > JOINED_CHARACTERS or len(line) < 40:
        return [line]
    if 'File "' in line:
        lines = separated_tracebacks(line)
        if len(lines) > 1:
            return lines
    for style in JOINED.values():
        if _is_joined(style, line):
            return style.behind.sub("\\1\n", style.before.sub("\n", line)).split("\n")
    return [line]


def _is_joined(style: Joined, line: str) -> bool:
    """Whether two frames with their places stand in the line."""
    if line.count(style.sign) < (1 if style.sign == ".go:" else 2):
        return False
    places = style.told_by.finditer(line)
    return next(places, None) is not None and next(places, None) is not None
