"""Go panics and goroutine dumps."""

import re
from collections.abc import Sequence

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.traces.chains import Chain, Chains, Header, read_with

CLUES = (".go:", ".s:")

_FILE = re.compile(
    r"\s{0,200}(?P<path>[^\s:](?:[^:]|:(?=[\\/])){0,1000}\.(?:go|s|cgo)):(?P<line>\d{1,25})"
    r"(?: \+0x[0-9a-f]{1,16})?(?: [fs]p=.*)?\"?$"
)
_FUNCTION = re.compile(r"\s{0,200}(?:\d{1,4}\s{1,3})?(?P<name>[\w./*()%\[\]·{},$@~-]{1,500})")
_GOROUTINE = re.compile(r"\s{0,200}goroutine \d{1,19}(?: [^\[]{0,80})?\[(?P<state>[^\]]{1,100})\]:")
_PANIC = re.compile(
    r"(?:^|[\s\"'])(?P<kind>panic|fatal error|http: panic serving [^ ]{1,80}"
    r"|unexpected fault address): (?P<message>.*)$"
)
_CREATED_BY = re.compile(r"\s{0,200}created by ")
_RECOVERED = re.compile(r"(?: \[recovered[^\]]{0,50}\])+$")
_IN_GOROUTINE = re.compile(r" in goroutine \d{1,19}$")
_PANICKING = (("", "panic"), ("runtime", "panic"), ("runtime", "gopanic"))
_RACE_PARTNER = re.compile(r"\s{0,80}Previous (?:read|write|atomic)")


def read(lines: Sequence[str]) -> tuple[Chain, ...]:
    """Return the goroutine that panicked; the others only wait.

    >>> read(("panic: empty", "main.total(0x1)", "\\t/srv/cart.go:3 +0x1d"))[0][0].message
    'empty'
    """
    return read_with(_Goroutines(), lines)


class _Goroutines:
    """Every goroutine becomes a chain of one link; a running one comes before those that wait."""

    def __init__(self) -> None:
        self._chains = Chains()
        self._header = Header()
        self._states: list[str] = []
        self._state = ""
        self._above = ""
        self._fresh = True

    def read(self, line: str) -> None:
        if self._read_head(line):
            return
        match = _FILE.match(line) if ":" in line else None
        if match is None:
            self._above = line or self._above
            return
        if self._fresh or not self._chains:
            self._chains.begin(self._header)
            self._states.append(self._state)
            self._fresh = False
        module, function = _named(self._above)
        self._chains.add(
            Frame(path=match["path"], line=int(match["line"]), module=module, function=function)
        )

    def _read_head(self, line: str) -> bool:
        panic = _PANIC.search(line) if ": " in line else None
        if panic and not self._header.error_class:
            kind = panic["kind"] if panic["kind"] == "fatal error" else "panic"
            self._header = Header(kind, _RECOVERED.sub("", panic["message"]))
            return True
        goroutine = _GOROUTINE.match(line)
        if goroutine or _RACE_PARTNER.match(line):
            self._fresh, self._above = True, ""
            self._state = goroutine["state"] if goroutine else ""
        return bool(goroutine)

    def finish(self) -> tuple[Chain, ...]:
        chains = (tuple(map(_below_panic, chain)) for chain in self._chains.finish())
        read = list(zip(self._states, chains, strict=False))
        running = [chain for state, chain in read if state.startswith("running")]
        waiting = [chain for state, chain in read if not state.startswith("running")]
        return tuple(running + waiting)


def _below_panic(link: ExceptionLink) -> ExceptionLink:
    """The link from the line that panicked outwards: deferred handlers and the runtime are cut."""
    frames = link.frames
    started = [
        index for index, frame in enumerate(frames) if (frame.module, frame.function) in _PANICKING
    ]
    first = started[-1] + 1 if started else 0
    while 0 < first < len(frames) and frames[first].module == "runtime":
        first += 1  # panicmem, sigpanic, goPanicIndex
    return link.model_copy(update={"frames": frames[first:]}) if first < len(frames) else link


def _named(line: str) -> tuple[str, str]:
    """Package and function of the line above a file.

    >>> _named("example.org/shop/cart.(*Cart).Total(0xc000, 0x1)")
    ('example.org/shop/cart', '(*Cart).Total')
    """
    created = _CREATED_BY.match(line)
    text = _IN_GOROUTINE.sub("", line[created.end() :] if created else line)
    match = _FUNCTION.match(text)
    if match is None:
        return "", ""
    name = match["name"]
    arguments = name.rfind("(")
    if arguments > 0 and not created and not name.startswith("(*", arguments):
        name = name[:arguments]
    folder, slash, last = name.rpartition("/")
    package, _, function = last.partition(".")
    return (folder + slash + package, function) if function else ("", package)
