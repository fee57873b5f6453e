"""Read a line of a trace by the grammar of its language: `rules/grammar.toml`."""

import re
from collections.abc import Iterable

from nightwatch_core.models.errors import ExceptionLink, Frame
from nightwatch_core.models.value import Value
from nightwatch_core.text.rule_files import Pattern, PatternText, load_rules
from nightwatch_core.traces.in_app import UNKNOWN_PATH
from nightwatch_core.traces.limits import LINE_CHARACTERS

_SCHEME = re.compile(r"^(?:file://|webpack:///(?:\./)?)")


class Language(Value):
    """The grammar of one language's traces; the fields are explained in the file."""

    name: str
    clues: tuple[str, ...]
    frames: tuple[Pattern, ...]
    headers: tuple[Pattern, ...]
    aliases: tuple[str, ...] = ()
    is_named_above: bool = False
    has_caught_causes: bool = False
    paths: Pattern | None = None
    removed: Pattern | None = None
    owners: tuple[Pattern, ...] = ()
    place: Pattern | None = None
    messages: dict[str, Pattern] = {}
    lines: dict[str, Pattern] = {}

    def frame(self, line: str, name: str = "") -> tuple[Frame, str] | None:
        """Return the frame that a line prints, and what stands behind it on the line.

        `name` is that of its function, where the language prints it in the line above.
        """
        match = _first(self.frames, line)
        if match is None:
            return None
        found = match.groupdict()
        if self.paths and not self.paths.search(found["path"]):
            return None
        return self.framed(found, found.get("name") or name), (found.get("rest") or "").strip()

    def framed(self, found: dict[str, str | None], name: str) -> Frame:
        """Return the frame of a pattern's groups and the name of its function."""
        module, function = self._owned(name.strip())
        line, column = found.get("line"), found.get("column")
        return Frame(
            path=_SCHEME.sub("", found.get("path") or UNKNOWN_PATH) or UNKNOWN_PATH,
            line=int(line) or None if line else None,
            column=int(column) if column else None,
            module=module,
            function=function,
        )

    def _owned(self, name: str) -> tuple[str, str]:
        name = self.removed.sub("", name) if self.removed else name
        if not self.owners:
            return "", name
        match = _first(self.owners, name)
        if match is None:
            return "", ""
        found = match.groupdict()
        function = (found.get("outer") or "") + found["function"]
        return found.get("module") or "", function.strip()

    def header(self, line: str) -> ExceptionLink | None:
        """Return the exception that a line names, without frames."""
        match = _first(self.headers, line)
        if match:
            found = match.groupdict()
            return exception(found.get("error_class"), found.get("message"))
        name = self.class_of(line)
        return exception(name, line) if name else None

    def class_of(self, message: str) -> str:
        """Return the class whose message this is; empty where it may be of several."""
        plain = message.strip()[:LINE_CHARACTERS]
        return next((name for name, text in self.messages.items() if text.match(plain)), "")


class Printed(Value):
    """A frame so strict that it is known anywhere in a line, and texts that one has to hold."""

    signs: tuple[str, ...]
    frame: Pattern


class Joined(Value):
    """Parts of a trace on one line that have a gap before or behind them; `sign` occurs twice."""

    sign: str
    frame: Pattern
    begins: PatternText
    ends: PatternText


class Grammar(Value):
    """The whole file."""

    languages: tuple[Language, ...]
    printed: dict[str, Printed]
    joined: dict[str, Joined]


GRAMMAR = load_rules("grammar", Grammar, "traces")
LANGUAGES = {language.name: language for language in GRAMMAR.languages}
ALIASES = {alias: item.name for item in GRAMMAR.languages for alias in item.aliases}
PRINTED = {name: printed.frame.pattern for name, printed in GRAMMAR.printed.items()}


def _first(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    for pattern in patterns:
        if match := pattern.search(text):
            return match
    return None


def exception(error_class: str | None, message: str | None = "") -> ExceptionLink:
    """Return an exception without frames."""
    return ExceptionLink(error_class=error_class or "", message=(message or "").strip())


def frame_row(path: str, line: int, column: int, function: str) -> str:
    """Write a frame in our own form, "other"; 0 and "" stand for what is not known."""
    place = f"{path or UNKNOWN_PATH}{f':{line}' if line else ''}"
    place += f":{column}" if line and column else ""
    return f"  frame: {place}{f' in {function}' if function else ''}"


def is_known(message: str) -> bool:
    """Tell whether a line is the message of one class alone, of whatever language."""
    return any(language.class_of(message) for language in GRAMMAR.languages)


def frame_in(line: str) -> re.Match[str] | None:
    """Return the first frame printed anywhere in a line.

    >>> frame_in("shop:   at total (/srv/cart.js:3:5)").start()
    8
    """
    every = GRAMMAR.printed.values()
    likely = (printed for printed in every if any(sign in line for sign in printed.signs))
    searches = (printed.frame.search(line) for printed in likely)
    return min(filter(None, searches), key=lambda match: match.start(), default=None)
