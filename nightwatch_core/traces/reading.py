"""Reads the exceptions of a trace and their frames, with the grammar of its language."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces.grammar import LANGUAGES, Language, exception
from nightwatch_core.traces.in_app import UNKNOWN_PATH
from nightwatch_core.traces.limits import CHAINS, FRAMES, HEADER_LINES, LINKS

Chain = tuple[ExceptionLink, ...]
Read = tuple[ExceptionLink, list[Frame]]


class Relation(StrEnum):
    """Relation of an exception to the one printed before it."""

    SEPARATE = "separate"
    CAUSE = "cause"  # it caused the exception above
    WRAPPER = "wrapper"  # the exception above caused it


_RELATIONS = (
    (
        Relation.CAUSE,
        re.compile(
            r"[\s#{-]{0,80}(?:Caused by:(?: ---)?|Causes:|\[cause\]:|Information for cause:"
            r"|\[previous exception\])\s*"
        ),
    ),
    (Relation.WRAPPER, re.compile(r"\s{0,80}(?:Wrapped by:\s*|(?=Next [\w\\]{1,200}:))")),
)
_ARROW = "--->"
_END_OF_INNER = "--- End of inner exception stack trace ---"
_LISTED_AGAIN = "(Inner Exception #"  # an AggregateException lists its inner exceptions once more
_MAIN = "{main}"  # where PHP's calls begin


class _Chains:
    """Exceptions as they are read; every chain runs from the reported one to its root cause."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._chains: list[list[Read]] = []
        self._position = 0
        self._is_full = False

    def __bool__(self) -> bool:
        return bool(self._chains)

    def begin(
        self,
        header: ExceptionLink | None,
        relation: Relation = Relation.SEPARATE,
        frames: Iterable[Frame] = (),
    ) -> None:
        """Begin an exception; frames added from now on are its own."""
        link = (header or exception(""), list(frames))
        is_separate = relation is Relation.SEPARATE or not self._chains
        self._is_full = self._is_full or (is_separate and len(self._chains) == CHAINS)
        if self._is_full:
            return
        if is_separate:
            self._chains.append([link])
            self._position = 0
        elif relation is Relation.CAUSE:
            self._chains[-1].append(link)
            self._position = len(self._chains[-1]) - 1
        else:
            self._chains[-1].insert(self._position, link)

    def add(self, frame: Frame) -> None:
        """Add a frame outside of those already added."""
        if not self._is_full:
            self._chains[-1][self._position][1].append(frame)

    def drop_unless_reraised(self, raised: Frame) -> None:
        """Drop the last chain where `raised`, in its handler, is a bug of its own.

        It is none where the function that caught the exception raises another one instead.
        """
        caught = self._chains[-1][self._position][1][-1:] if self._chains else []
        places = [(frame.path, frame.function) for frame in caught]
        is_instead = raised.code.startswith("raise") and places == [(raised.path, raised.function)]
        if caught and raised.code and not is_instead:
            self._chains.pop()

    def outward(self) -> None:
        """Go back to the exception that the current one caused."""
        self._position = max(0, self._position - 1)

    @property
    def links(self) -> int:
        return len(self._chains[-1]) if self._chains else 0

    def finish(self) -> tuple[Chain, ...]:
        """Return the chains that have frames."""
        change = _FRAMES.get(self._language.name)
        chains = [
            tuple(link.with_frames(change(frames) if change else frames) for link, frames in chain)
            for chain in map(self._without_caught, self._chains)
            if any(frames for _, frames in chain)
        ]
        return tuple(map(shortened, chains))

    def _without_caught(self, chain: list[Read]) -> list[Read]:
        """Leave out what was rescued before a line that the runtime itself could not run."""
        if not self._language.has_caught_causes:
            return chain
        for place, (link, frames) in enumerate(chain, 1):
            if frames and link.error_class == self._language.class_of(link.message) != "":
                return chain[:place]
        return chain


def shortened(chain: Chain) -> Chain:
    """Return a chain with both ends of its links and of their frames, where it is too long."""
    if len(chain) > LINKS:
        chain = chain[: LINKS // 2] + chain[-LINKS // 2 :]
    if sum(len(link.frames) for link in chain) <= FRAMES:
        return chain
    half = FRAMES // len(chain) // 2
    return tuple(
        link
        if len(link.frames) <= 2 * half
        else link.model_copy(update={"frames": link.frames[:half] + link.frames[-half:]})
        for link in chain
    )


def read(language: Language, lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the chains of exceptions in a text."""
    reader = {"python": _read_tracebacks, "rust": _read_panics}.get(language.name, _read_blocks)
    rewrite = _REWRITTEN.get(language.name)
    return reader(language, list(rewrite(language, lines) if rewrite else lines))


# Exceptions printed above their frames, the innermost frame first: most languages.


def _read_blocks(language: Language, lines: Sequence[str]) -> tuple[Chain, ...]:
    chains = _Chains(language)
    above: list[str] = []
    for line in lines:
        if _LISTED_AGAIN in line and chains.links > 1:
            break
        if _END_OF_INNER in line:
            _begin(chains, language, above)
            chains.outward()
            above = []
            continue
        is_named = language.is_named_above
        name = next((text for text in reversed(above) if text), "") if is_named else ""
        frame, rest = language.frame(line, name) or (None, "")
        if frame is None:
            above.append(line)
            continue
        if rest:
            gap = chains and all(language.lines["gap"].match(text) for text in above)
            header = language.header(rest) or exception("", rest)
            chains.begin(header, Relation.CAUSE if gap else Relation.SEPARATE)
        elif above or not chains:
            _begin(chains, language, above)
        above = []
        chains.add(frame)
    _finish(chains, language, above)
    return chains.finish()


def _begin(chains: _Chains, language: Language, above: list[str]) -> None:
    """Begin the exceptions that the lines above a frame name."""
    relation, headers, place = _headers_above(language, above[-HEADER_LINES:])
    if not headers and relation is Relation.SEPARATE and chains:
        return  # the frames go on after a gap
    for header in headers or [exception("")]:
        chains.begin(header, relation)
        relation = Relation.CAUSE
    if place:
        chains.add(place)


def _finish(chains: _Chains, language: Language, below: list[str]) -> None:
    """Keep a cause whose frames were cut off, and errors that PHP prints without frames."""
    if chains:
        relation, headers, _ = _headers_above(language, below[:HEADER_LINES])
        if headers and relation is Relation.CAUSE:
            chains.begin(headers[0], relation)
        return
    for line in below if language.place else ():
        text, place = _without_place(language, line)
        header = language.header(text) if place else None
        if header:
            chains.begin(header, frames=filter(None, [place]))


def _headers_above(
    language: Language, above: list[str]
) -> tuple[Relation, list[ExceptionLink], Frame | None]:
    """Find the exceptions above a frame: the one that states a relation, else the nearest.

    Behind it come those that caused it, where arrows name them; last, where the line ends in one,
    the place that threw.
    """
    message_below = language.lines.get("message_below")
    nearest: ExceptionLink | None = None
    causes: list[ExceptionLink] = []
    place: Frame | None = None
    below = ""
    for printed in reversed(above):
        line, found = _without_place(language, printed)
        place = place or found
        relation, text = Relation.SEPARATE, line
        for stated, pattern in _RELATIONS:
            if match := pattern.match(line):
                relation, text = stated, line[match.end() :]
                break
        is_cause = "arrow" in language.lines and line.startswith(_ARROW)
        text = text.removeprefix(_ARROW).strip() if is_cause else text
        header = language.header(text)
        if header and header.error_class and not header.message:
            match = message_below.match(below) if message_below else None
            if match or text.endswith(":"):  # the message has a line of its own
                message = match["message"] if match else below
                header = exception(header.error_class, message)
        below = line.strip(" #\t") or below
        if is_cause:
            causes.insert(0, header or exception("", text))
        elif relation is not Relation.SEPARATE:
            return relation, list(filter(None, [header or nearest])), place
        else:
            nearest = nearest or header
            if nearest and causes:
                break
    relation = Relation.CAUSE if causes and not nearest else Relation.SEPARATE
    return relation, [*filter(None, [nearest]), *causes], place


def _without_place(language: Language, line: str) -> tuple[str, Frame | None]:
    match = language.place.search(line) if language.place else None
    return (
        (line[: match.start()], language.framed(match.groupdict(), "")) if match else (line, None)
    )


# Frames that have to be changed once all of an exception are read.


def _below_panic(language: Language, frames: list[Frame]) -> list[Frame]:
    """Leave out the innermost frames that only handle a panic, and the runtime's below them."""
    panicking, runtime = language.lines.get("panicking"), language.lines["runtime"]
    names = [f"{frame.module}.{frame.function}".lstrip(".") for frame in frames]
    handling = (n for n, name in enumerate(names, 1) if panicking and panicking.match(name))
    first = max(handling, default=0)
    while (first or not panicking) and first < len(names) and runtime.match(names[first]):
        first += 1
    return frames[first:] or frames


def _called_from(frames: list[Frame]) -> list[Frame]:
    """PHP prints with a place what is called there: that is the function of the frame inside."""
    if not any(frame.function for frame in frames):
        return frames
    places = [(frame.path, frame.line) for frame in frames]
    if len(places) > 1 and places[0] == places[1] and not frames[0].function:
        frames = frames[1:]
    callers = [*frames[1:], Frame(path=UNKNOWN_PATH, function=_MAIN)]
    return [
        frame.model_copy(update={"module": caller.module, "function": caller.function})
        for frame, caller in zip(frames, callers, strict=True)
        if frame.line
    ]


_FRAMES: dict[str, Callable[[list[Frame]], list[Frame]]] = {
    "go": partial(_below_panic, LANGUAGES["go"]),
    "php": _called_from,
}

# Texts written anew, so that their exceptions stand above their frames.


def _without_suppressed(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Leave out exceptions of Java's close(): they neither caused nor wrapped the thrown one."""
    depth: int | None = None
    is_flat = False  # the indentation is lost
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if language.lines["suppressed"].match(line):
            depth = indent if depth is None else min(depth, indent)
        elif depth is not None and line.strip():
            is_flat = is_flat or (indent == depth and language.frame(line) is not None)
            is_cause = (is_flat or depth == 0) and language.lines["cause"].match(line)
            depth = None if indent < depth or is_cause else depth
        if depth is None:
            yield line


def _running_first(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Put the panic above every goroutine, and those that wait behind the one that runs."""
    panic = next((line for line in lines if (h := language.header(line)) and h.error_class), "")
    sections: list[list[str]] = [[""]]
    for line in lines:
        if language.lines["section"].match(line):
            sections.append([line])
        elif line != panic:
            sections[-1].append(line)
    sections.sort(key=lambda section: not language.lines["running"].match(section[0]))
    for first, *others in sections:
        yield from (first, panic, *others)


def _innermost_first(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Turn numbered frames of Ruby 2.5 to 2.7, and Xdebug's calls, which end with the innermost.

    The exception and its place stand below Ruby's; of several such blocks the last is reported.
    """
    numbered, is_ruby = language.lines["numbered"], language.name == "ruby"
    rows = deque(line for line in lines if line.strip())
    blocks: list[str] = []
    run: list[str] = []
    while rows:
        line = rows.popleft()
        is_broken = run and rows and numbered.match(rows[0]) and not language.frame(line)
        if numbered.match(line) or is_broken:
            run.insert(0, line)
        elif run and is_ruby and language.frame(line):
            blocks[:0] = [line, *run]
            run = []
        else:
            yield from (*blocks, *run, line)
            blocks, run = [], []
    yield from (*blocks, *run)


def _ruby(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Put a message of several lines on one, without code; Rails names gems before their files."""
    rule, text = language.lines, "\n".join(lines)
    text = rule["message"].sub(lambda said: " ".join(rule["shown"].sub("", said[0]).split()), text)
    gem = partial(rule["gem"].sub, r"\g<lead>gems/\g<name>-\g<version>/", count=1)
    return _innermost_first(language, [gem(row) for row in text.split("\n")])


def _arrows_apart(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Return every inner exception of .NET a line."""
    for line in lines:
        yield from language.lines["arrow"].split(line) if _ARROW in line else [line]


def _php(language: Language, lines: Sequence[str]) -> Iterator[str]:
    """Undo JSON in the texts of Monolog; leave out the line that repeats the place."""
    for line in _innermost_first(language, lines):
        if language.lines["repeated"].match(line):
            continue
        line = line.replace("\\\\", "\\")
        yield line.replace('\\"', '"') if "[object]" in line else line


_REWRITTEN: dict[str, Callable[[Language, Sequence[str]], Iterator[str]]] = {
    "java": _without_suppressed,
    "go": _running_first,
    "ruby": _ruby,
    "php": _php,
    "csharp": _arrows_apart,
}

# Python prints the innermost frame last and the exception below it.

_SOURCE_ROWS = 12  # between two frames: statements over several lines, anchors


def _read_tracebacks(language: Language, lines: Sequence[str]) -> tuple[Chain, ...]:
    chains, rule = _Chains(language), language.lines
    found = [(n, read[0]) for n, line in enumerate(lines) if (read := language.frame(line))]
    ends = [*(n for n, _ in found[1:]), len(lines)]
    relation, above, is_innermost_first = Relation.SEPARATE, "", False
    is_handling = False  # the next exception was raised while the one before was handled
    frames: list[Frame] = []

    def close(header: ExceptionLink | None = None) -> None:
        nonlocal relation, is_handling, frames
        if frames:
            named = header or language.header(above)
            if is_handling:
                chains.drop_unless_reraised(frames[0 if is_innermost_first else -1])
            chains.begin(named, relation, frames if is_innermost_first else reversed(frames))
            relation, is_handling, frames = Relation.SEPARATE, False, []

    def read_between(rows: Iterable[str]) -> None:
        nonlocal relation, is_handling, above, is_innermost_first
        for row in rows:
            if rule["begin"].search(row):
                close()
                above, is_innermost_first = "", "most recent call first" in row
            elif frames:
                continue
            elif rule["wrapped"].search(row):
                relation, is_handling = Relation.WRAPPER, "During handling" in row
            elif rule["first_of_group"].match(row):
                relation = Relation.CAUSE
            elif rule["other_of_group"].match(row):
                relation = Relation.SEPARATE
            above = row if row.strip() and not frames else above

    read_between(lines[: found[0][0]] if found else ())
    for (n, frame), end in zip(found, ends, strict=False):
        rows = lines[n + 1 : end]
        code, header, used = _below_frame(language, lines[n], rows, end < len(lines))
        frames.append(frame.model_copy(update={"code": code}))
        if header is not None:
            close(language.header(header))
            above, is_innermost_first = "", False
        read_between(rows[used:])
    close()
    return chains.finish()


def _below_frame(
    language: Language, frame: str, rows: Sequence[str], is_inner: bool
) -> tuple[str, str | None, int]:
    """Return the source of a frame, the line that ends the traceback, and how many rows they are.

    Source is deeper than its frame. Where a ticket or a mail took the indentation, what follows
    decides: source lies between two frames, the exception below the last one.
    """
    rule, indent = language.lines, _depth(frame[: frame.index('File "')] + "F", language)
    stop = (n for n, row in enumerate(rows) if rule["break"].match(row))
    rows = rows[: next(stop, len(rows))]
    deeper = _depth(rows[0], language) - indent if rows else 0
    source = _rows_of_source(language, rows, deeper, is_inner) if rows else 0
    code = rows[0].strip(" |\t") if source else ""
    for n, row in enumerate(rows[source:], source):
        text = row.strip(" |\t")
        if not text or rule["anchors"].match(text):
            continue
        if _depth(row, language) > indent or text.startswith("[Previous line repeated "):
            code = code or text
        else:
            return code, text, n + 1
    return code, None, len(rows)


def _rows_of_source(language: Language, rows: Sequence[str], deeper: int, is_inner: bool) -> int:
    """Count the rows that are source though they are not deeper than their frame."""
    if deeper > 0 or not rows[0].strip() or is_exception(rows[0], "sure_name"):
        return 0
    filled = next((n for n, row in enumerate(rows) if not row.strip()), len(rows))
    if is_inner and len(rows) <= _SOURCE_ROWS and filled == len(rows):
        return len(rows)
    if deeper < 0:
        return 0
    near = enumerate(rows[1 : min(filled, _SOURCE_ROWS)], 1)
    named = (n for n, row in near if names_exception(row))
    return next(named, 0 if language.lines["name"].match(rows[0]) else 1)


def _depth(row: str, language: Language) -> int:
    margin = language.lines["margin"].match(row)
    text = row[margin.end() :] if margin else row
    return len(row) - len(text.lstrip())


def is_exception(text: str, names: str = "certain_name") -> bool:
    """Tell whether a line names an exception also where nothing around it says so.

    >>> is_exception("shop.Empty: no items"), is_exception("KeyError: 3"), is_exception("INFO: up")
    (True, True, False)
    """
    rule = LANGUAGES["python"].lines
    match = rule["name"].match(text)
    return match is not None and rule[names].match(match["name"]) is not None


def names_exception(text: str) -> bool:
    """Tell whether a line is surely what Python prints below the frames.

    >>> names_exception("KeyError: 'total'"), names_exception("total"), names_exception("else:")
    (True, False, False)
    """
    match = LANGUAGES["python"].lines["name"].match(text)
    return match is not None and (len(match["rest"]) > 1 or is_exception(text, "sure_name"))


# Rust prints the place of a panic with its message, and names above the places of frames.


@dataclass
class _Panic:
    error_class: str
    message: str = ""
    frames: list[Frame] = field(default_factory=list)
    causes: list[str] = field(default_factory=list)


class _PanicReader:
    def __init__(self, language: Language) -> None:
        self._language = language
        self._panics: list[_Panic] = []
        self._part = ""  # what the next lines are: "message", "causes" or "backtrace"
        self._name = ""  # of a frame whose place may follow

    def read(self, line: str) -> None:
        rule = self._language.lines
        found = self._language.frame(line, self._name)
        if found:
            if not self._panics:
                self._begin("")
            self._panics[-1].frames.append(found[0])
            self._name = ""
        elif "panicked at " in line:
            self._read_panic(line)
        elif self._part != "message" and (error := rule["error"].match(line)):
            self._begin("Error", error["message"] or "")
        elif rule["crash"].match(line):
            self._begin("panic")
        elif cause := rule["caused_by"].match(line):
            self._part = "causes"
            self._add_cause(cause["message"])
        elif rule["backtrace"].match(line):
            self._part = "backtrace"
        elif self._panics:
            self._read_below(line)

    def _read_panic(self, line: str) -> None:
        rule = self._language.lines
        match = rule["old_panic"].search(line) or rule["panic"].search(line)
        if match and match["path"]:
            self._begin("panic", match["message"] or "")
            self._panics[-1].frames.append(self._language.framed(match.groupdict(), ""))

    def _read_below(self, line: str) -> None:
        rule, panic = self._language.lines, self._panics[-1]
        numbered, label = rule["numbered"].match(line), rule["label"].match(line)
        text = numbered["text"] if numbered else line.strip()
        is_indented = line[:1].isspace()
        if label:
            if label["label"] == "Message":
                panic.message = label["message"] or ""
            elif label["path"] and not panic.frames:
                panic.frames.append(self._language.framed(label.groupdict(), ""))
            self._part = ""
        elif self._part == "message":
            panic.message, self._part = text, ""
        elif self._part == "causes" and (numbered or is_indented):
            self._add_cause(text)
        elif self._part == "backtrace" and not numbered and not rule["name"].match(text):
            return  # says how many frames are hidden
        elif (self._part == "backtrace" and is_indented) or (numbered and "::" in text):
            self._add_unplaced()
            self._name = text
        elif not numbered:
            self._part = ""

    def _begin(self, error_class: str, message: str = "") -> None:
        self._add_unplaced()
        self._panics.append(_Panic(error_class, message))
        self._part = "" if message else "message"

    def _add_unplaced(self) -> None:
        if self._name and self._panics:
            self._panics[-1].frames.append(self._language.framed({}, self._name))
        self._name = ""

    def _add_cause(self, text: str) -> None:
        if self._panics and text:
            self._panics[-1].causes.append(text)

    def finish(self) -> tuple[Chain, ...]:
        self._add_unplaced()
        chains = _Chains(self._language)
        for panic in filter(lambda panic: panic.frames, self._panics):
            frames = _with_place(self._language, panic.frames)
            chains.begin(exception(panic.error_class, panic.message), frames=frames)
            for cause in panic.causes:
                chains.begin(exception("Error", cause), Relation.CAUSE)
        return chains.finish()


def _read_panics(language: Language, lines: Sequence[str]) -> tuple[Chain, ...]:
    reader = _PanicReader(language)
    for line in filter(str.strip, lines):
        reader.read(line)
    return reader.finish()


def _with_place(language: Language, frames: list[Frame]) -> list[Frame]:
    """Return the frames from the line that panicked outwards; it may stand there twice."""
    first, *traced = frames
    if first.function:
        return _below_panic(language, frames)
    traced = _below_panic(language, traced)
    paths = [frame.path.replace("\\", "/").removeprefix("./") for frame in (first, *traced[:1])]
    is_same = [first.line] == [frame.line for frame in traced[:1]] and (
        paths[0].endswith(paths[1]) or paths[1].endswith(paths[0])
    )
    return traced if is_same else [first, *traced]
