"""Panics and backtraces of Rust, and what anyhow and eyre print of an error that reached main."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import dropwhile

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces.chains import Chain, Header, read_with, shortened
from nightwatch_core.traces.in_app import UNKNOWN_PATH
from nightwatch_core.traces.limits import CHAINS, FRAMES, LINKS

CLUES = (".rs:",)

_PLACE = (
    r"(?P<path>(?:[A-Za-z]:)?[^\s'\":(][^'\":]{0,500}\.rs):(?P<line>\d{1,9})"
    r"(?::(?P<column>\d{1,9}))?"
)
_PANICS = (
    re.compile(rf"panicked at '(?P<message>.*)', {_PLACE}\s*$"),  # before Rust 1.73
    re.compile(rf"panicked at {_PLACE}(?::\s*(?P<message>.*))?$"),
)
_BEGUN = re.compile(r"panicked at '(?P<message>.*)$")  # an old message of several lines
_ENDED = re.compile(rf".*', {_PLACE}\s*$")
_CRASHED = re.compile(r"\s{0,20}The application panicked")
_LABELLED = re.compile(r"\s{0,20}(?P<label>Message|Location):\s{1,20}(?P<text>\S.*)$")
_ALONE = re.compile(rf"{_PLACE}\s*$")
_ERROR = re.compile(r"\s{0,20}Error:(?:\s(?P<message>.*))?$")
_CAUSED_BY = re.compile(r"\s{0,20}Caused by:\s{0,20}(?P<text>.*)$")
_BACKTRACE = re.compile(r"\s{0,20}(?:stack backtrace:|\u2501{3,}.{0,20}BACKTRACE)", re.IGNORECASE)
_NUMBERED = re.compile(r"\s{0,20}\d{1,4}: {1,20}(?:0x[0-9a-f]{1,16} - )?(?P<text>\S.*)$")
_AT = re.compile(rf"\s{{0,80}}at {_PLACE}\s*$")
_NAME = re.compile(r"[<\w]\S{0,500}(?: as \S.*)?$")
_HASH = re.compile(r"::h[0-9a-f]{16}$")
_CLOSURE = re.compile(r"::\{{1,2}[\w#:.-]{1,40}\}{1,2}")
_IMPLEMENTED = re.compile(r"<(?P<owner>[\w:]{1,300})[^\n]{0,500}>::(?P<method>\w{1,200})$")
_PANICKING = re.compile(
    r"<?(?:(?:std|core|alloc|backtrace|color_eyre|eyre|anyhow)::|_*rust_|__rust)"
)


@dataclass
class _Draft:
    header: Header
    frames: list[Frame] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text.

    >>> chains = read(("thread 'main' panicked at src/cart.rs:3:5:", "no items"))
    >>> chains[0][0].message, chains[0][0].frames[0].place
    ('no items', 'src/cart.rs:3')
    """
    return read_with(_Reader(), lines)


class _Reader:
    """The place of a panic is its innermost frame; its backtrace, where there is one, goes on."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self._part = ""  # what the next lines are: "message", "causes" or "backtrace"
        self._begun = ""  # the first line of an old message of several lines
        self._name = ""  # of a frame whose place may follow

    def read(self, line: str) -> None:
        if not line.strip():
            return
        at = _AT.match(line) if ".rs:" in line else None
        if at:
            self._add(at)
        elif not self._read_panic(line) and not self._read_heading(line):
            self._read_below(line)

    def finish(self) -> tuple[Chain, ...]:
        self._add(None)
        return tuple(_chain(draft) for draft in self._drafts if draft.frames)

    def _read_panic(self, line: str) -> bool:
        if self._begun:
            match, message = _ENDED.match(line), self._begun
        else:
            matches = (pattern.search(line) for pattern in _PANICS if "panicked at " in line)
            match = next(filter(None, matches), None)
            message = (match["message"] or "") if match else ""
        if match is None:
            begun = _BEGUN.search(line)
            self._begun = begun["message"] if begun else self._begun
            return begun is not None
        self._begin(Header("panic", message))
        self._drafts[-1].frames.append(_frame("", match))
        self._begun = ""
        return True

    def _read_heading(self, line: str) -> bool:
        error = _ERROR.match(line) if self._part != "message" else None
        cause = _CAUSED_BY.match(line)
        if error or _CRASHED.match(line):
            self._begin(Header("Error", error["message"] or "") if error else Header("panic"))
        elif cause:
            self._part = "causes"
            self._add_cause(cause["text"])
        elif _BACKTRACE.match(line):
            self._part = "backtrace"
        else:
            return False
        return True

    def _read_below(self, line: str) -> None:
        numbered, labelled = _NUMBERED.match(line), _LABELLED.match(line)
        text = numbered["text"] if numbered else line.strip()
        if labelled and self._drafts:
            self._read_labelled(labelled)
        elif self._part == "message":
            self._drafts[-1].header = Header(self._drafts[-1].header.error_class, text)
            self._part = ""
        elif self._part == "causes" and (numbered or line[:1].isspace()):
            self._add_cause(text)
        elif self._part == "backtrace" and not numbered and not _NAME.match(text):
            return  # says how many frames are hidden
        elif (self._part == "backtrace" and line[:1].isspace()) or (numbered and "::" in text):
            self._add(None)
            self._name = text
        elif not numbered:
            self._part = ""

    def _read_labelled(self, labelled: re.Match[str]) -> None:
        draft = self._drafts[-1]
        place = _ALONE.match(labelled["text"])
        if labelled["label"] == "Message":
            draft.header = Header(draft.header.error_class, labelled["text"])
        elif place and not draft.frames:
            draft.frames.append(_frame("", place))
        self._part = ""

    def _begin(self, header: Header) -> None:
        self._add(None)
        if len(self._drafts) < CHAINS or not self._drafts[-1].frames:
            self._drafts = [draft for draft in self._drafts if draft.frames]
            self._drafts.append(_Draft(header))
        self._part = "" if header.message else "message"

    def _add(self, place: re.Match[str] | None) -> None:
        """Add the frame whose name was read, with its place or without one."""
        if place and not self._drafts:
            self._begin(Header())
        if self._drafts and (place or self._name) and len(self._drafts[-1].frames) < 2 * FRAMES:
            self._drafts[-1].frames.append(_frame(self._name, place))
        self._name = ""

    def _add_cause(self, text: str) -> None:
        if self._drafts and text and len(self._drafts[-1].causes) < LINKS:
            self._drafts[-1].causes.append(text)


def _frame(name: str, place: re.Match[str] | None) -> Frame:
    module, function = _owned(name)
    return Frame(
        path=place["path"] if place else UNKNOWN_PATH,
        line=int(place["line"]) if place else None,
        column=int(place["column"]) if place and place["column"] else None,
        module=module,
        function=function,
    )


def _owned(name: str) -> tuple[str, str]:
    """Module or type, and function, without what the compiler adds.

    >>> _owned("shop::cart::total::{{closure}}::h0123456789abcdef")
    ('shop::cart', 'total')
    >>> _owned("<shop::Cart as core::ops::drop::Drop>::drop")
    ('shop::Cart', 'drop')
    """
    name = _CLOSURE.sub("", _HASH.sub("", name.strip()))
    match = _IMPLEMENTED.match(name)
    if match:
        return match["owner"], match["method"]
    module, _, function = name.rpartition("::")
    return module, function


def _chain(draft: _Draft) -> Chain:
    outer = ExceptionLink(
        error_class=draft.header.error_class,
        message=draft.header.message.strip(),
        frames=tuple(_below_panic(draft.frames)),
    )
    causes = (ExceptionLink(error_class="Error", message=cause) for cause in draft.causes)
    return shortened((outer, *causes))


def _below_panic(frames: Sequence[Frame]) -> Iterator[Frame]:
    """The frames from the line that panicked outwards; that line may stand there twice."""
    place = frames[0] if frames and not frames[0].function else None
    traced = frames[1:] if place else frames
    below = list(dropwhile(_is_panicking, traced)) or list(traced)
    if place and not any(_is_same(place, frame) for frame in below[:1]):
        yield place
    yield from below


def _is_panicking(frame: Frame) -> bool:
    return _PANICKING.match(f"{frame.module}::{frame.function}".removeprefix("::")) is not None


def _is_same(item: Frame, other: Frame) -> bool:
    paths = [frame.path.replace("\\", "/").removeprefix("./") for frame in (item, other)]
    return item.line == other.line and (paths[0].endswith(paths[1]) or paths[1].endswith(paths[0]))
